// SPDX-License-Identifier: Apache-2.0
#include "training/learning/optimizer.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

using nudge::make_optimizer;
using nudge::Matrix;
using nudge::OptimizerOptions;
using nudge::ParameterShape;

namespace {

const std::vector<ParameterShape> kShapes{{2, 3}, {4, 1}};

template <class S>
std::vector<Matrix<S>> gradient_of_step(std::uint64_t step) {
  std::vector<Matrix<S>> g;
  for (const auto& shape : kShapes) {
    Matrix<S> m(shape.rows, shape.cols);
    nudge::fill_normal<S>({2, nudge::Purpose::synthetic_data, static_cast<std::uint32_t>(g.size())}, step, 0,
                          std::span(m.data(), static_cast<std::size_t>(m.size())));
    g.push_back(m);
  }
  return g;
}

std::vector<Matrix<double>> scalar(double g) { return {Matrix<double>::Constant(1, 1, g)}; }
const std::vector<ParameterShape> kScalar{{1, 1}};

}  // namespace

TEST_CASE("adam equals three steps by hand") {
  // β₁ = 1/2, β₂ = 3/4, ε = 1/4, η = 1; gradients 2, −1, 4.
  //  t  m        v         1−β₁ᵗ  1−β₂ᵗ  m̂       v̂           Δ = −m̂/(√v̂ + 1/4)
  //  1  1        1         1/2    1/4    2        4           −2/2.25
  //  2  0        1         3/4    7/16   0        16/7         0
  //  3  2        19/4      7/8    37/64  16/7     304/37      −(16/7)/(√(304/37) + 1/4)
  OptimizerOptions options;
  options.beta1 = 0.5;
  options.beta2 = 0.75;
  options.epsilon = 0.25;
  const auto adam = make_optimizer<double>("adam", options, kScalar);
  std::vector<Matrix<double>> delta;
  // All inputs are exact in binary; a few roundings of numbers below 1: 1e-15.
  adam->step(scalar(2), 1.0, delta);
  CHECK(delta[0](0, 0) == Approx(-2 / 2.25).epsilon(0).margin(1e-15));
  adam->step(scalar(-1), 1.0, delta);
  CHECK(delta[0](0, 0) == 0);
  adam->step(scalar(4), 1.0, delta);
  CHECK(delta[0](0, 0) == Approx(-(16.0 / 7) / (std::sqrt(304.0 / 37) + 0.25)).epsilon(0).margin(2e-15));
}

TEMPLATE_TEST_CASE("adam's first step is −η g/(|g| + ε), the sign of g as ε → 0", "", float, double) {
  using S = TestType;
  const auto g = gradient_of_step<S>(0);
  for (const double epsilon : {1e-1, 1e-12}) {
    OptimizerOptions options;
    options.epsilon = epsilon;
    const auto adam = make_optimizer<S>("adam", options, kShapes);
    std::vector<Matrix<S>> delta;
    adam->step(g, 3e-3, delta);
    for (std::size_t p = 0; p < g.size(); ++p) {
      const auto magnitude = g[p].array().abs();
      const Matrix<S> closed = S(-3e-3) * g[p].array() / (magnitude + static_cast<S>(epsilon));
      // About ten roundings, relative; 1 − β₂ = .01 and 1/(1 − β₂) are rounded apart, each again once.
      CHECK((delta[p] - closed).cwiseAbs().maxCoeff() < S(3e-3) * 10 * std::numeric_limits<S>::epsilon());
      if (epsilon < 1e-6) {
        const Matrix<S> sign = S(-3e-3) * g[p].array().sign();
        // ε/|g| ≤ 1e-12/min|g| joins the rounding.
        const S rest = static_cast<S>(epsilon) / magnitude.minCoeff();
        CHECK((delta[p] - sign).cwiseAbs().maxCoeff() < S(3e-3) * (10 * std::numeric_limits<S>::epsilon() + rest));
      }
    }
  }
}

TEST_CASE("adam leaves a parameter without gradient where it is") {
  const auto adam = make_optimizer<double>("adam", {}, kScalar);
  std::vector<Matrix<double>> delta;
  for (int i = 0; i < 3; ++i) {
    adam->step(scalar(0), 1.0, delta);
    CHECK(delta[0](0, 0) == 0);
  }
}

TEST_CASE("sgd under a constant gradient follows the geometric sum") {
  OptimizerOptions options;
  options.momentum = 0.5;
  const auto sgd = make_optimizer<double>("sgd", options, kScalar);
  std::vector<Matrix<double>> delta;
  for (int k = 1; k <= 20; ++k) {
    sgd->step(scalar(3), 0.25, delta);
    CHECK(delta[0](0, 0) == -0.25 * 3 * (1 - std::pow(0.5, k)) / 0.5);  // exact in binary: 1.5 (2 − 2^{1−k}) / 2
  }
  options.momentum = 0;
  const auto plain = make_optimizer<double>("sgd", options, kScalar);
  for (const double g : {1.0, -7.0, 0.0}) {
    plain->step(scalar(g), 0.5, delta);
    CHECK(delta[0](0, 0) == -0.5 * g);
  }
}

TEST_CASE("a comparator tells the sign of what it sees, offset and all, above its threshold") {
  OptimizerOptions options;
  options.threshold = 0.5;
  const auto ideal = make_optimizer<double>("comparator", options, kScalar);
  std::vector<Matrix<double>> delta;
  for (const double g : {0.6, -7.0, 0.4, 0.0}) {
    ideal->step(scalar(g), 0.25, delta);
    CHECK(delta[0](0, 0) == (std::abs(g) > 0.5 ? -0.25 * (g > 0 ? 1 : -1) : 0));
  }
  options.sign = false;
  make_optimizer<double>("comparator", options, kScalar)->step(scalar(-7), 0.25, delta);
  CHECK(delta[0](0, 0) == 1.75);
  // Offsets: normal, of their own for every element and the same in every step. Of 4000 numbers the deviation is known to 1/√8000 of
  // itself: 5 of these, a false alarm in 2e6.
  options.threshold = 0;
  options.offset = 0.3;
  const std::vector<ParameterShape> many{{40, 100}};
  const auto drawn = make_optimizer<double>("comparator", options, many);
  std::vector<Matrix<double>> again;
  const std::vector<Matrix<double>> nothing{Matrix<double>::Zero(40, 100)};
  drawn->step(nothing, 1, delta);
  drawn->step(nothing, 1, again);
  CHECK(delta[0] == again[0]);
  CHECK(std::sqrt(delta[0].squaredNorm() / 4000) == Approx(0.3).epsilon(5 / std::sqrt(8000.0)));
  options.seed = 1;
  make_optimizer<double>("comparator", options, many)->step(nothing, 1, again);
  CHECK_FALSE(delta[0] == again[0]);
}

TEMPLATE_TEST_CASE("a restored optimizer goes on with the same bits", "", float, double) {
  using S = TestType;
  for (const std::string& name : nudge::optimizer_names()) {
    const auto original = make_optimizer<S>(name, {}, kShapes);
    const auto restored = make_optimizer<S>(name, {}, kShapes);
    std::vector<Matrix<S>> a, b;
    for (std::uint64_t k = 0; k < 7; ++k) original->step(gradient_of_step<S>(k), 1e-2, a);
    const auto from = original->state();
    auto to = restored->state();
    REQUIRE(from.size() == to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      CHECK(from[i].name == to[i].name);
      CHECK_FALSE(from[i].description.empty());
      *to[i].values = *from[i].values;
    }
    for (std::uint64_t k = 7; k < 12; ++k) {
      original->step(gradient_of_step<S>(k), 1e-2, a);
      restored->step(gradient_of_step<S>(k), 1e-2, b);
      for (std::size_t p = 0; p < a.size(); ++p) CHECK(a[p] == b[p]);
    }
  }
}

TEST_CASE("optimizer errors") {
  OptimizerOptions options;
  CHECK_THROWS_WITH(make_optimizer<float>("adma", options, kShapes),
                    "unknown optimizer \"adma\" (known: adam, sgd, comparator)");
  options.beta1 = 1;
  CHECK_THROWS_WITH(make_optimizer<float>("adam", options, kShapes), "optimizer: beta1 = 1 (must be >= 0 and < 1)");
  options.beta1 = 0.9;
  options.epsilon = 0;
  CHECK_THROWS_WITH(make_optimizer<float>("adam", options, kShapes), "optimizer: epsilon = 0 (must be > 0 and finite)");
  options.momentum = -0.5;
  CHECK_THROWS_AS(make_optimizer<float>("sgd", options, kShapes), nudge::UserError);
}

TEST_CASE("decoupled weight decay shrinks the weights apart from the step") {
  std::vector<Matrix<double>> w = scalar(2.0);
  nudge::add_with_decay<double>(scalar(0.5), 0.25, w);
  CHECK(w[0](0, 0) == 2.0 * 0.75 + 0.5);
}
