// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/learning/controller.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/dense.hpp"

using nudge::Index;
using nudge::Matrix;
using nudge::MemoryBound;

namespace {

template <class S>
Matrix<S> random(Index rows, Index cols, std::uint64_t step) {
  Matrix<S> m(rows, cols);
  nudge::fill_normal<S>({17, nudge::Purpose::synthetic_data, 0}, step, 0,
                        std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

/// Measures w and sets delta = (scale − 1) w where w is too large.
template <class S>
nudge::MemoryBoundResult enforce(MemoryBound<S>& bound, std::type_identity_t<nudge::ConstMatrixRef<S>> w, double gain,
                                 double damping, std::type_identity_t<nudge::MatrixRef<S>> delta) {
  const nudge::MemoryBoundResult result = bound.measure(w, nullptr, gain, damping);
  if (result.bound) delta = static_cast<S>(result.scale - 1) * w;
  return result;
}

template <class S>
double spectral_norm(const Matrix<S>& w) {
  return nudge::test::singular_values(w.template cast<double>())(0);
}

}  // namespace

TEMPLATE_TEST_CASE("the warm estimate reaches the spectral norm from below", "", float, double) {
  using S = TestType;
  const Matrix<S> w = random<S>(12, 40, 1);
  const double truth = spectral_norm(w);
  const Eigen::VectorXd sigma = nudge::test::singular_values(w.template cast<double>());
  MemoryBound<S> bound(12, {0.5, 2}, 3);
  Matrix<S> delta(12, 40);
  double last = 0;
  // Rounding of a norm over 40 products of 12 terms: well below 100 units in the last place.
  const double rounding = 100 * static_cast<double>(std::numeric_limits<S>::epsilon());
  for (int step = 0; step < 200; ++step) {
    const auto result = enforce(bound, w, 1e6, 1.0, delta);  // a limit far away: measure only
    CHECK_FALSE(result.bound);
    CHECK(result.norm <= truth * (1 + rounding));
    CHECK(result.norm >= last * (1 - rounding));
    last = result.norm;
  }
  // 400 iterations shrink the second direction by (σ₂/σ₁)^800.
  REQUIRE(std::pow(sigma(1) / sigma(0), 800) < 1e-8);
  CHECK(std::abs(last / truth - 1) < rounding);
}

TEMPLATE_TEST_CASE("delta scales the memory to its limit and spares the rest of the array", "", float, double) {
  using S = TestType;
  Matrix<S> array = random<S>(8, 50, 2);
  MemoryBound<S> bound(8, {0.5, 2}, 1);
  Matrix<S> delta = Matrix<S>::Zero(8, 50);
  for (int step = 0; step < 300; ++step) {
    delta.setZero();
    const auto result = enforce(bound, array.middleCols(24, 26), 2.0, 1.5, delta.middleCols(24, 26));
    CHECK(result.limit == 1);  // √(.5 (1 + 2 · 1.5)/2)
    CHECK(result.bound == (result.scale < 1));
    CHECK(result.bound == (result.norm > 1));
    CHECK(delta.leftCols(24).isZero(0));
    array += delta;
  }
  const Matrix<S> w = array.middleCols(24, 26);
  CHECK(spectral_norm(w) == Approx(1.0).epsilon(100 * static_cast<double>(std::numeric_limits<S>::epsilon())));
  delta.setZero();
  const Matrix<S> inside = S(0.5) * w;
  CHECK_FALSE(enforce(bound, inside, 2.0, 1.5, delta.middleCols(24, 26)).bound);
  CHECK(delta.isZero(0));
}

TEST_CASE("a cold estimate on a random memory keeps the clamp, a warm one is close") {
  // 2‖W‖² ≤ φ(1 + sc)/r² with r = estimate/truth; φ = .5 keeps 2‖W‖² < 1 + sc as long as r > √.5.
  double worst_cold = 1, worst_warm = 1;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Matrix<float> w = random<float>(64, 256, 100 + seed);
    const double truth = spectral_norm(w);
    MemoryBound<float> bound(64, {0.5, 2}, seed);
    Matrix<float> delta(64, 256);
    worst_cold = std::min(worst_cold, enforce(bound, w, 1e9, 1.0, delta).norm / truth);
    for (int step = 0; step < 20; ++step) enforce(bound, w, 1e9, 1.0, delta);
    worst_warm = std::min(worst_warm, enforce(bound, w, 1e9, 1.0, delta).norm / truth);
  }
  INFO("worst cold " << worst_cold << ", worst warm " << worst_warm);
  CHECK(worst_cold > std::sqrt(0.5));
  CHECK(worst_cold < 0.99);
  CHECK(worst_warm > 0.98);
}

TEST_CASE("a norm that grows step by step is followed and held") {
  // As in training: a rank-one direction is reinforced in a random memory until it would leave the clamp.
  const Index channels = 32, memories = 96;
  Matrix<double> w = random<double>(channels, memories, 7) * (0.3 / (std::sqrt(32.0) + std::sqrt(96.0)));
  const Matrix<double> u = random<double>(channels, 1, 8).normalized();
  const Matrix<double> v = random<double>(memories, 1, 9).normalized();
  MemoryBound<double> bound(channels, {0.5, 2}, 4);
  Matrix<double> delta(channels, memories);
  double worst = 0, limit = 0;
  int held = 0;
  for (int step = 0; step < 200; ++step) {
    w += 0.01 * u * v.transpose();
    const auto result = enforce(bound, w, 1.0, 1.0, delta);
    limit = result.limit;
    if (result.bound) {
      w += delta;
      ++held;
    }
    worst = std::max(worst, spectral_norm(w));
  }
  CHECK(held > 50);
  // The estimate lags by at most one step's growth once the direction stands out: .01 of a limit of .71.
  CHECK(worst < limit * (1 + 0.01 / 0.7));
  CHECK(worst > 0.99 * limit);
}

TEST_CASE("zero and non-finite memories are left alone, and the direction survives them") {
  MemoryBound<float> bound(4, {0.5, 2}, 1);
  const Matrix<float> good = random<float>(4, 6, 5) * 10.0F;
  Matrix<float> delta = Matrix<float>::Constant(4, 6, 7.0F);
  const auto zero = enforce(bound, Matrix<float>::Zero(4, 6), 1, 1, delta);
  CHECK(zero.norm == 0);
  CHECK_FALSE(zero.bound);
  Matrix<float> bad = good;
  bad(2, 3) = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(std::isfinite(enforce(bound, bad, 1, 1, delta).norm));
  bad(2, 3) = std::numeric_limits<float>::infinity();
  const auto infinite = enforce(bound, bad, 1, 1, delta);
  CHECK_FALSE(std::isfinite(infinite.norm));
  CHECK_FALSE(infinite.bound);
  CHECK((delta.array() == 7.0F).all());
  const auto again = enforce(bound, good, 1, 1, delta);
  CHECK(again.bound);
  MemoryBound<float> fresh(4, {0.5, 2}, 1);
  CHECK(again.norm == enforce(fresh, good, 1, 1, delta).norm);
}

TEST_CASE("a restored bound goes on with the same bits") {
  const Matrix<float> w = random<float>(6, 10, 1);
  MemoryBound<float> original(6, {0.5, 1}, 1), restored(6, {0.5, 1}, 2);
  Matrix<float> delta(6, 10);
  for (int i = 0; i < 3; ++i) enforce(original, w, 1, 1, delta);
  *restored.state()[0].values = *original.state()[0].values;
  for (int i = 0; i < 3; ++i) CHECK(enforce(original, w, 1, 1, delta).norm == enforce(restored, w, 1, 1, delta).norm);
}

TEST_CASE("memory bound errors") {
  CHECK_THROWS_WITH(MemoryBound<float>(4, {1.0, 2}, 1), "memory bound: fraction = 1 (must be > 0 and < 1)");
  CHECK_THROWS_WITH(MemoryBound<float>(4, {0.5, 0}, 1), "memory bound: iterations = 0 (must be at least 1)");
}

TEST_CASE("a memory on two arrays is bounded by the product of both norms") {
  // W_m alone is far inside its bound and R is not: 2 |W_m| |R| = 2 * .2 * 10 against phi (1 + sc) = 1. Judged by W_m alone
  // nothing would be done, and the force 2 relu(z W_m) R would drive the state away.
  Matrix<double> w = random<double>(6, 20, 11), back = random<double>(20, 6, 12);
  w *= 0.2 / spectral_norm(w);
  back *= 10 / spectral_norm(back);
  MemoryBound<double> bound(6, {0.5, 2}, 3, 20);
  CHECK(bound.state().size() == 2);
  for (int step = 0; step < 400; ++step) {
    const auto result = bound.measure(w, &back, 1.0, 1.0);
    CHECK(result.bound == (result.scale < 1));
    if (result.bound) {
      w *= result.scale;
      back *= result.scale;
    }
  }
  CHECK(2 * spectral_norm(w) * spectral_norm(back) == Approx(1.0).epsilon(1e-6));
  CHECK(spectral_norm(back) / spectral_norm(w) == Approx(50.0));  // both by the same factor
  const auto inside = bound.measure(0.5 * w, &back, 1.0, 1.0);
  CHECK_FALSE(inside.bound);
  CHECK(inside.norm == Approx(std::sqrt(spectral_norm(w) / 2 * spectral_norm(back))).epsilon(1e-6));
}

TEST_CASE("two arrays that mirror each other are bounded as one") {
  const Matrix<double> w = random<double>(5, 9, 13);
  const Matrix<double> mirrored = w.transpose();
  MemoryBound<double> one(5, {0.5, 2}, 3), two(5, {0.5, 2}, 3, 9);
  for (int step = 0; step < 200; ++step) {
    one.measure(w, nullptr, 1, 1);
    two.measure(w, &mirrored, 1, 1);
  }
  CHECK(one.measure(w, nullptr, 1, 1).norm == Approx(two.measure(w, &mirrored, 1, 1).norm).epsilon(1e-9));
}
