// SPDX-License-Identifier: Apache-2.0
// Block coordinate descent of convex quadratic energies: exact over a node, down all the way, within a box; and what it refuses.
#include <Eigen/Core>

#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// F = b − z A with A symmetric, positive definite and diagonal within each of four nodes of two units; one row per sample.
class Quadratic final : public Dynamics<double>, private Layered<double> {
 public:
  explicit Quadratic(Index rows) : b_(random_matrix<double>(rows, 8, 2)) {
    a_ = random_matrix<double>(8, 8, 1, 0.3);
    a_ = (a_ + a_.transpose()).eval();
    for (Index node = 0; node < 8; node += 2) a_.block(node, node, 2, 2).setZero();
    for (Index i = 0; i < 8; ++i) a_(i, i) = a_.row(i).cwiseAbs().sum() + 0.1 + 0.2 * static_cast<double>(i);
    loads_ = a_.diagonal().transpose();
  }
  Index rows() const override { return b_.rows(); }
  Index cols() const override { return 8; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part /*part*/) override { f = b_ - z * a_; }
  Linearization<double>& linearize(ConstMatrixRef<double> /*z*/) override { throw std::logic_error("not needed"); }
  DynamicsTraits<double> traits() const override { return {.noisy = reads_noise, .box = boxed ? &box_ : nullptr}; }
  Capabilities<double> capabilities() override { return {.layered = this}; }
  double energy_at(const Matrix<double>& z) const {
    return 0.5 * (z * a_).cwiseProduct(z).sum() - b_.cwiseProduct(z).sum();
  }

  bool has_loads = true, boxed = false, reads_noise = false;
  Matrix<double> a_, b_;

 private:
  std::span<const Columns> node_columns() const override {
    static constexpr Columns pairs[] = {{0, 2}, {2, 2}, {4, 2}, {6, 2}};
    return pairs;
  }
  void node_force(ConstMatrixRef<double> z, MatrixRef<double> f, std::size_t /*node*/) override {
    force(z, f, Part::all);
  }
  NodeMove node_step(MatrixRef<double> z, MatrixRef<double> f, std::size_t node, double epsilon) override {
    return step_of_node<double>(*this, box(), z, f, node, epsilon);
  }
  void node_vjp(ConstMatrixRef<double> /*u*/, MatrixRef<double> /*out*/, std::size_t /*node*/) override {
    throw std::logic_error("not needed");
  }
  const Matrix<double>* loads() override { return has_loads ? &loads_ : nullptr; }

  Matrix<double> loads_;
  Box<double> box_{{{{0, 4}, 0.0, 0.3}, {{6, 2}, -0.2, 0.1}}};
};

SettleOptions sweeps(int n, double tolerance = 0) {
  return {.solver = SettleSolver::coordinate, .max_steps = n, .tolerance = tolerance};
}

}  // namespace

TEST_CASE("coordinate descent: never climbs and ends where nothing pushes", "[settle]") {
  for (const bool boxed : {false, true}) {
    CAPTURE(boxed);
    Quadratic system(3);
    system.boxed = boxed;
    Matrix<double> z = Matrix<double>::Zero(3, 8);
    SettleWorkspace<double> scratch;
    double before = system.energy_at(z);
    for (int n = 0; n < 20; ++n) {
      const SettleResult result = settle<double>(system, z, sweeps(1), scratch);
      CHECK(result.steps == 1);
      CHECK(result.time == 0);
      const double now = system.energy_at(z);
      CHECK(now <= before + 1e-14);
      before = now;
    }
    const SettleResult result = settle<double>(system, z, sweeps(500, 1e-13), scratch);
    CHECK(result.status == Status::converged);
    CHECK(result.steps < 500);
    if (!boxed) CHECK(relative_error(z, system.b_ * inverse_of(system.a_)) < 1e-12);
    Matrix<double> f(3, 8), moving(3, 8);
    system.force(z, f, Part::all);
    moving = f;
    int held = 0;
    if (boxed) {
      system.box()->hold(z, f, moving, {0, 8});
      held = static_cast<int>((moving.array() == 0.0).count());
      CHECK(held > 0);
      CHECK(z.leftCols(4).minCoeff() >= 0);
      CHECK(z.leftCols(4).maxCoeff() <= 0.3);
    }
    CHECK(moving.norm() < 1e-12);
  }
}

TEST_CASE("coordinate descent: a node ends at its minimum for the others as they stand", "[settle]") {
  Quadratic system(2);
  Matrix<double> z = random_matrix<double>(2, 8, 3), expected = z;
  for (const Index node : {0, 2, 1, 3}) {  // every second node, then the others
    for (Index row = 0; row < 2; ++row) {
      for (Index i = 2 * node; i < 2 * node + 2; ++i) {
        expected(row, i) = 0;
        expected(row, i) = (system.b_(row, i) - expected.row(row).dot(system.a_.col(i))) / system.a_(i, i);
      }
    }
  }
  SettleWorkspace<double> scratch;
  settle<double>(system, z, sweeps(1), scratch);
  CHECK(relative_error(z, expected) < 1e-14);
}

TEST_CASE("coordinate descent: refuses what it is not exact for", "[settle]") {
  Quadratic system(1);
  Matrix<double> z = Matrix<double>::Zero(1, 8);
  SettleWorkspace<double> scratch;
  system.reads_noise = true;
  CHECK_THROWS_WITH(settle<double>(system, z, sweeps(1), scratch), Catch::Contains("fresh noise"));
  system.reads_noise = system.has_loads = false;
  CHECK_THROWS_WITH(settle<double>(system, z, sweeps(1), scratch),
                    Catch::Contains("units of one node act on each other"));
  system.has_loads = system.boxed = true;
  CHECK_THROWS_WITH(settle<double>(system, z, {.solver = SettleSolver::anderson}, scratch),
                    Catch::Contains("only euler, second_order and coordinate"));
}
