// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/shared_file.hpp"

namespace {

using namespace nudge;
using namespace nudge::test;

/// System F(z) = tanh(z A), J v = ((v A) ∘ (1 − F²)); `transpose_error` spoils the vjp to show that the check sees it.
template <class S>
class TanhDynamics final : public Dynamics<S>, public Linearization<S> {
 public:
  explicit TanhDynamics(Matrix<S> a, S transpose_error = 0) : a_(std::move(a)), transpose_error_(transpose_error) {}

  Index rows() const override { return 3; }
  Index cols() const override { return a_.rows(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part) override { f = (z * a_).array().tanh(); }
  Linearization<S>& linearize(ConstMatrixRef<S> z) override {
    const Matrix<S> f = (z * a_).array().tanh();
    slope_ = 1 - f.array().square();
    return *this;
  }

  void force(MatrixRef<S>, Part) override {}
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part) override {
    out = (v * a_).cwiseProduct(slope_.replicate(v.rows() / rows(), 1));
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part) override {
    out = u.cwiseProduct(slope_.replicate(u.rows() / rows(), 1)) * a_.transpose();
    out(0, 0) += transpose_error_ * u(0, 0);
  }
  void accumulate(ConstMatrixRef<S>, S, GradientSink<S>&, MatrixRef<S>) override {}

 private:
  Matrix<S> a_;
  Matrix<S> slope_;
  S transpose_error_;
};

TEST_CASE("order_of_convergence finds the exponent of a power law", "[support]") {
  std::vector<double> steps;
  std::vector<double> errors;
  for (double h = 0.1; h > 0.01; h /= 2) {
    steps.push_back(h);
    errors.push_back(7.0 * std::pow(h, 4.0));
  }
  CHECK(order_of_convergence(errors, steps) == Approx(4.0).epsilon(1e-12));  // exact but for the rounding of log
  CHECK_THROWS_AS(order_of_convergence({1.0, 2.0}, {0.1, 0.1}), std::invalid_argument);
  CHECK_THROWS_AS(order_of_convergence({1.0, 0.0}, {0.1, 0.2}), std::invalid_argument);
}

TEST_CASE("relative_error is relative to the second argument", "[support]") {
  const Matrix<float> a = Matrix<float>::Constant(2, 2, 3.0F);
  const Matrix<double> b = Matrix<double>::Constant(2, 2, 2.0);
  CHECK(relative_error(a, b) == 0.5);
  CHECK(relative_error(b, Matrix<double>::Zero(2, 2)) == 4.0);
  CHECK_THROWS_AS(relative_error(b, Matrix<double>::Zero(2, 3)), std::invalid_argument);
}

TEMPLATE_TEST_CASE("central_difference and check_adjoint accept a right Jacobian", "[support]", float, double) {
  using S = TestType;
  TanhDynamics<S> dynamics(random_matrix<S>(4, 4, 11, 0.5));
  const Matrix<S> z = random_matrix<S>(3, 4, 12);
  const Matrix<S> v = random_matrix<S>(3, 4, 13);
  Matrix<S> jv(3, 4);
  Linearization<S>& linearization = dynamics.linearize(z);
  linearization.jvp(v, jv);
  // ε^(2/3) times a few: F and its derivatives are of order one here.
  const double tolerance = 10.0 * std::pow(static_cast<double>(std::numeric_limits<S>::epsilon()), 2.0 / 3.0);
  CHECK(relative_error(central_difference(dynamics, z, v), jv) < tolerance);
  check_adjoint(linearization, 3, 4);
}

TEST_CASE("adjoint_mismatch sees one wrong entry of the transpose", "[support]") {
  TanhDynamics<double> dynamics(random_matrix<double>(4, 4, 11, 0.5), 1e-3);
  CHECK(adjoint_mismatch(dynamics.linearize(random_matrix<double>(3, 4, 12)), 3, 4) > 1e-6);
}

TEST_CASE("the reference cases of a bare clone are those of the data folder", "[support]") {
  const std::filesystem::path own = std::filesystem::path(NUDGE_SOURCE_DIR) / "tests/reference";
  const std::filesystem::path shared = std::filesystem::path(NUDGE_SHARED_DIR) / "cases";
  const auto bytes = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(own)) {
    if (entry.path().extension() != ".h5") continue;
    ++seen;
    CAPTURE(entry.path().filename().string());
    if (std::filesystem::exists(shared)) CHECK(bytes(entry.path()) == bytes(shared / entry.path().filename()));
  }
  CHECK(seen >= 50);  // of every kind
}

TEST_CASE("shared_file finds a file that exists", "[support]") {
  // An absolute path replaces the folder in front of it, so this works without the folder.
  CHECK(shared_file(NUDGE_SOURCE_DIR "/CMakeLists.txt").has_value());
}

}  // namespace
