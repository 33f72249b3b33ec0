// SPDX-License-Identifier: Apache-2.0
#include "sim/spectrum.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

#include "sim/base/decompositions.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

std::vector<std::complex<double>> dense_eigenvalues(const Dense<double>& a) {
  const Eigen::VectorXcd values = eigenvalues(a);
  std::vector<std::complex<double>> list(values.begin(), values.end());
  std::sort(list.begin(), list.end(), [](auto a_value, auto b_value) {
    if (std::abs(a_value.real() - b_value.real()) > 1e-9) return a_value.real() > b_value.real();
    return a_value.imag() > b_value.imag();
  });
  return list;
}

}  // namespace

TEST_CASE("Arnoldi finds the right-most eigenvalues of non-normal matrices", "[spectrum]") {
  const auto seed = GENERATE(21U, 22U, 23U, 24U, 25U);
  // −I plus a random matrix and a strictly triangular one: far from normal.
  Dense<double> a = random_dense<double>(48, 48, seed) / std::sqrt(48.0);
  a += 0.3 * Dense<double>(random_dense<double>(48, 48, seed + 100).triangularView<Eigen::StrictlyUpper>());
  a -= 1.5 * Dense<double>::Identity(48, 48);
  auto system = linear_system<double>(6, 8, a, Vec<double>::Zero(48));
  const auto exact = dense_eigenvalues(a);
  // An eigenvalue of this matrix moves by its condition number times the residual; that is below 1e3 here.
  const double condition = eigenvector_condition(a);
  for (const int krylov : {16, 30, 48, 100}) {
    CAPTURE(seed, krylov, condition);
    const Spectrum found = leading_eigenvalues<double>(system.linearize(Matrix<double>::Zero(6, 8)), 6, 8,
                                                       {.count = 4, .krylov = krylov, .tolerance = 1e-10});
    CHECK(found.converged);
    REQUIRE(found.leading.size() >= 4);
    REQUIRE(found.leading.size() <= 5);
    CHECK(found.abscissa == found.leading.front().value.real());
    for (std::size_t i = 0; i < found.leading.size(); ++i) {
      const double scale = 1e-10 * a.norm();
      CHECK(std::abs(found.leading[i].value - exact[i]) <= condition * scale);
      CHECK(found.leading[i].residual <= scale);
    }
  }
}

TEST_CASE("Arnoldi copes with a repeated eigenvalue and with float", "[spectrum]") {
  auto uniform = linear_system<double>(3, 4, -0.5 * Dense<double>::Identity(12, 12), Vec<double>::Zero(12));
  const Spectrum found = leading_eigenvalues<double>(uniform.linearize(Matrix<double>::Zero(3, 4)), 3, 4, {.count = 3});
  CHECK(found.converged);
  REQUIRE(found.leading.size() == 3);
  for (const Eigenvalue& e : found.leading) CHECK(std::abs(e.value + 0.5) < 1e-13);

  const Dense<double> a = random_dense<double>(40, 40, 31) / std::sqrt(40.0) - Dense<double>::Identity(40, 40);
  auto system = linear_system<float>(5, 8, a.cast<float>(), Vec<float>::Zero(40));
  const Spectrum in_float =
      leading_eigenvalues<float>(system.linearize(Matrix<float>::Zero(5, 8)), 5, 8, {.krylov = 24});
  CHECK(in_float.converged);
  // 100 eps of float, times ‖a‖ near 2, times an eigenvalue condition number of at most 20.
  CHECK(std::abs(in_float.abscissa - dense_eigenvalues(a).front().real()) < 100 * 1.2e-7 * 2 * 20);
}

TEST_CASE("Arnoldi says when it has not converged", "[spectrum]") {
  // A dense cluster at the right end: 16 vectors and 20 products are not enough for a residual of 1e-12.
  Dense<double> a = Dense<double>::Zero(300, 300);
  for (Index i = 0; i < 300; ++i) a(i, i) = -static_cast<double>(i) / 300;
  auto system = linear_system<double>(30, 10, a, Vec<double>::Zero(300));
  auto& at = system.linearize(Matrix<double>::Zero(30, 10));
  const Spectrum some =
      leading_eigenvalues<double>(at, 30, 10, {.count = 2, .krylov = 16, .max_applications = 20, .tolerance = 1e-12});
  CHECK_FALSE(some.converged);
  CHECK_FALSE(some.leading.front().converged);
  const Spectrum all = leading_eigenvalues<double>(at, 30, 10, {.count = 2, .krylov = 30, .tolerance = 1e-10});
  CHECK(all.converged);
  // A symmetric matrix: the error of λ is at most the residual, 1e-10.
  CHECK(std::abs(all.leading[0].value) < 1e-10);
  CHECK(std::abs(all.leading[1].value + 1.0 / 300) < 1e-10);
}

TEST_CASE("Asymmetry is zero with an energy, and known without", "[spectrum]") {
  const Dense<double> r = random_dense<double>(24, 24, 41);
  auto symmetric = linear_system<double>(4, 6, Dense<double>(r + r.transpose()), Vec<double>::Zero(24));
  // Two sums of 24 products in different order, relative to ‖Jv‖.
  CHECK(asymmetry<double>(symmetric.linearize(Matrix<double>::Zero(4, 6)), 4, 6) < 1e-14);
  auto skew = linear_system<double>(4, 6, Dense<double>(r - r.transpose()), Vec<double>::Zero(24));
  CHECK(asymmetry<double>(skew.linearize(Matrix<double>::Zero(4, 6)), 4, 6) == Approx(2).epsilon(1e-14));
}

namespace {

/// J = m A m of a point whose units with m = 0 are held on the bound of a box.
class HeldPoint final : public Linearization<double> {
 public:
  HeldPoint(Dense<double> a, Matrix<double> moving) : a_(std::move(a)), moving_(std::move(moving)) {}
  void force(MatrixRef<double> f, Part /*part*/) override { f.setZero(); }
  void jvp(ConstMatrixRef<double> v, MatrixRef<double> out, Part /*part*/) override { product(a_, v, out); }
  void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part /*part*/) override {
    product(Dense<double>(a_.transpose()), u, out);
  }
  void accumulate(ConstMatrixRef<double> /*u*/, double /*scale*/, GradientSink<double>& /*sink*/,
                  MatrixRef<double> /*pulled*/) override {}

 private:
  void product(const Dense<double>& a, ConstMatrixRef<double> v, MatrixRef<double> out) const {
    const Matrix<double> x = v.cwiseProduct(moving_);
    const Vec<double> y = a * Eigen::Map<const Vec<double>>(x.data(), x.size());
    out = Eigen::Map<const Matrix<double>>(y.data(), v.rows(), v.cols()).cwiseProduct(moving_);
  }
  Dense<double> a_;
  Matrix<double> moving_;
};

}  // namespace

TEST_CASE("leading eigenvalues are those of the units that can move, not the zeros of held ones", "[spectrum]") {
  Dense<double> a = 0.3 * random_dense<double>(24, 24, 7) / std::sqrt(24.0) - Dense<double>::Identity(24, 24);
  Matrix<double> moving = Matrix<double>::Ones(4, 6);
  std::vector<Index> free;
  for (Index i = 0; i < 24; ++i) {
    if (i % 3 == 1) {
      moving.data()[i] = 0;
    } else {
      free.push_back(i);
    }
  }
  const auto exact = dense_eigenvalues(a(free, free));
  for (const int krylov : {12, 40}) {
    HeldPoint at(a, moving);
    const Spectrum found =
        leading_eigenvalues<double>(at, 4, 6, {.count = 2, .krylov = krylov, .tolerance = 1e-10}, moving);
    REQUIRE(found.converged);
    CHECK(found.abscissa == Approx(exact.front().real()).epsilon(1e-8));
    CHECK(found.abscissa < -0.3);
  }
  const Matrix<double> nothing = Matrix<double>::Zero(4, 6);
  HeldPoint none(a, nothing);
  CHECK(leading_eigenvalues<double>(none, 4, 6, {}, nothing).leading.empty());
}
