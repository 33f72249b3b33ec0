// SPDX-License-Identifier: Apache-2.0
// Settling something of your own: anything that derives from nudge::Dynamics relaxes with every solver.
// Here: two bistable nodes with a one-way coupling, F_1 = z_1 − z_1³ + b, F_2 = z_2 − z_2³ + g (z_1 − z_2).
#include <fmt/format.h>

#include <cmath>

#include "sim/settle.hpp"

namespace {

using nudge::ConstMatrixRef;
using nudge::Index;
using nudge::Matrix;
using nudge::MatrixRef;
using nudge::Part;

/// The Jacobian at a point is a 2 × 2 matrix; jvp and vjp are products with it.
class Jacobian final : public nudge::Linearization<double> {
 public:
  void set(const Matrix<double>& j, ConstMatrixRef<double> f) { j_ = j, f_ = f; }
  void force(MatrixRef<double> f, Part) override { f = f_; }
  void jvp(ConstMatrixRef<double> v, MatrixRef<double> out, Part) override { out = v * j_.transpose(); }
  void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part) override { out = u * j_; }
  void accumulate(ConstMatrixRef<double> u, double, nudge::GradientSink<double>&, MatrixRef<double> pulled) override {
    if (pulled.size() > 0) vjp(u, pulled, Part::all);  // there are no parameters
  }

 private:
  Matrix<double> j_, f_;
};

class TwoNodes final : public nudge::Dynamics<double> {
 public:
  Index rows() const override { return 1; }
  Index cols() const override { return 2; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part) override {
    f.array() = z.array() - z.array().cube();
    f(0, 0) += bias_;
    f(0, 1) += coupling_ * (z(0, 0) - z(0, 1));
  }
  nudge::Linearization<double>& linearize(ConstMatrixRef<double> z) override {
    Matrix<double> j(2, 2);
    j << 1 - 3 * z(0, 0) * z(0, 0), 0, coupling_, 1 - 3 * z(0, 1) * z(0, 1) - coupling_;
    Matrix<double> f(1, 2);
    force(z, f, Part::all);
    jacobian_.set(j, f);
    return jacobian_;
  }

 private:
  double bias_ = 0.2, coupling_ = 0.5;
  Jacobian jacobian_;
};

}  // namespace

int main() {
  TwoNodes nodes;
  nudge::SettleWorkspace<double> scratch;
  for (const nudge::SettleSolver solver : nudge::settle_solvers()) {
    nudge::SettleOptions options;
    options.solver = solver;
    options.max_steps = 500;
    options.tolerance = 1e-10;
    Matrix<double> z = Matrix<double>::Constant(1, 2, 0.5);
    const nudge::SettleResult result = nudge::settle<double>(nodes, z, options, scratch);
    fmt::print("{:<13} {:<10} {:>4} evaluations, residual {:.1e}, z* = ({:.6f}, {:.6f})\n", nudge::to_string(solver),
               nudge::to_string(result.status), result.force_evaluations, result.residual, z(0, 0), z(0, 1));
  }
}
