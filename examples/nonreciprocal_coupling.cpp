// SPDX-License-Identifier: Apache-2.0
// When does plain equilibrium propagation stop working? A linear network F(z) = x − z + z W on a crossbar, W = S (P + Pᵀ)/2 +
// A (P − Pᵀ)/2: the gain A of the antisymmetric part is raised, and the gradients of EP and AEP are compared with the closed
// form. z* = x (1 − W)⁻¹, C = |z* − t|²/2, dC/dW = z*ᵀ (z* − t)(1 − Wᵀ)⁻¹.
//   build/release/examples/example_nonreciprocal_coupling
#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>

#include "circuits/coupling.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "sim/base/rng.hpp"
#include "sim/spectrum.hpp"
#include "training/estimators/estimator.hpp"

namespace {

using nudge::ConstMatrixRef;
using nudge::Index;
using nudge::Matrix;
using nudge::MatrixRef;

constexpr Index kNodes = 32, kSequence = 16;

Matrix<double> normal(Index rows, Index cols, std::uint32_t entity, double scale) {
  Matrix<double> x(rows, cols);
  nudge::fill_normal<double>({1, nudge::Purpose::weight_init, entity}, 0, 0,
                             {x.data(), static_cast<std::size_t>(x.size())});
  return scale * x;
}

/// C = |z − t|²/2; nothing of its own to learn.
class Distance final : public nudge::Cost<double> {
 public:
  explicit Distance(Matrix<double> target) : target_(std::move(target)) {}
  double value(ConstMatrixRef<double> z) override { return 0.5 * (z - target_).squaredNorm(); }
  void gradient(ConstMatrixRef<double> z, MatrixRef<double> out) override {
    for (Index row = 0; row < z.rows(); row += target_.rows()) {
      out.middleRows(row, target_.rows()) = z.middleRows(row, target_.rows()) - target_;
    }
  }
  void accumulate_parameter_gradient(ConstMatrixRef<double>, double, nudge::GradientSink<double>&) override {}

 private:
  Matrix<double> target_;
};

struct Sum final : nudge::GradientSink<double> {
  Matrix<double> g = Matrix<double>::Zero(kNodes, kNodes);
  void accumulate(int, nudge::Columns, double scale, ConstMatrixRef<double> x, ConstMatrixRef<double> y) override {
    g += scale * x.transpose() * y;
  }
  void accumulate(int, double scale, ConstMatrixRef<double> gradient) override { g += scale * gradient; }
};

Matrix<double> learnt(const std::string& estimator, nudge::Coupling<double>& network, Distance& cost) {
  nudge::EstimatorOptions options;
  options.free.max_steps = options.nudged_steps = 400;
  options.step = options.free.step = 0.2;
  Matrix<double> z = Matrix<double>::Zero(kSequence, kNodes), initial = z;
  Sum sink;
  nudge::SequenceTask<double> task{&network, &cost, &z, &initial, 1, &sink};
  nudge::make_estimator<double>(estimator, options)->estimate(task);
  return sink.g;
}

double cosine(const Matrix<double>& a, const Matrix<double>& b) {
  return a.cwiseProduct(b).sum() / (a.norm() * b.norm());
}

}  // namespace

int main() {
  const Matrix<double> pattern = normal(kNodes, kNodes, 1, 0.5 / std::sqrt(static_cast<double>(kNodes)));
  const Matrix<double> drive = normal(kSequence, kNodes, 2, 1), target = normal(kSequence, kNodes, 3, 1);
  fmt::print("{:>5} {:>14} {:>12} {:>12}\n", "A", "|Jv-J'v|/|Jv|", "cosine EP", "cosine AEP");
  for (const double gain : {0.0, 0.25, 0.5, 1.0, 2.0}) {
    nudge::CrossbarSpec spec;
    spec.device.programming_error = 0.005;  // of the window: breaks the symmetry a little even at A = 0
    const nudge::Crossbar<double> array(spec, nudge::coupling_matrix(pattern, 1, gain), 0, 1);
    nudge::Coupling<double> network(array, 0, drive);
    Distance cost(target);
    const Matrix<double> inverse = (Matrix<double>::Identity(kNodes, kNodes) - array.weights()).inverse();
    const Matrix<double> z = drive * inverse;
    const Matrix<double> exact = z.transpose() * (z - target) * inverse.transpose();
    fmt::print(
        "{:>5} {:>14.3f} {:>12.6f} {:>12.6f}\n", gain, nudge::asymmetry(network.linearize(z), kSequence, kNodes, 8),
        cosine(learnt("ep_anchored", network, cost), exact), cosine(learnt("aep_anchored", network, cost), exact));
  }
}
