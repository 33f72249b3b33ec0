// SPDX-License-Identifier: Apache-2.0
#include "training/learning/gradient.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "sim/base/rng.hpp"

using nudge::Gradient;
using nudge::Index;
using nudge::Matrix;
using nudge::ParameterShape;

namespace {

const std::vector<ParameterShape> kShapes{{7, 5}, {33, 200}, {1, 1}};

template <class S>
Matrix<S> random(Index rows, Index cols, std::uint64_t step) {
  Matrix<S> m(rows, cols);
  nudge::fill_normal<S>({5, nudge::Purpose::synthetic_data, 0}, step, 0,
                        std::span(m.data(), static_cast<std::size_t>(m.size())));
  return m;
}

template <class S>
Gradient<S> random_gradient(std::uint64_t step) {
  Gradient<S> g{std::span<const ParameterShape>(kShapes)};
  for (int p = 0; p < g.size(); ++p) g[p] = random<S>(g[p].rows(), g[p].cols(), 10 * step + static_cast<unsigned>(p));
  return g;
}

}  // namespace

TEMPLATE_TEST_CASE("outer products go into their columns", "", float, double) {
  using S = TestType;
  Gradient<S> g{std::span<const ParameterShape>(kShapes)};
  const Matrix<S> x = random<S>(3, 7, 1), y = random<S>(3, 2, 2);
  nudge::GradientSink<S>& sink = g;
  sink.accumulate(0, {1, 2}, S(0.5), x, y);
  sink.accumulate(0, {1, 2}, S(1.5), x, y);
  Matrix<S> expected = Matrix<S>::Zero(7, 5);
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 2; ++j) {
      for (Index n = 0; n < 3; ++n) expected(i, j + 1) += S(2) * x(n, i) * y(n, j);
    }
  }
  // Two sums of three products of numbers of size up to 4: about 10 roundings of at most 32 · 2⁻ᵖ each.
  const S tolerance = S(320) * std::numeric_limits<S>::epsilon();
  CHECK((g[0] - expected).cwiseAbs().maxCoeff() < tolerance);
  CHECK(g[0].col(0).isZero(0));
  CHECK(g[0].rightCols(2).isZero(0));
  CHECK(g[1].isZero(0));
  g.set_zero();
  CHECK(g.norm() == 0);
}

TEMPLATE_TEST_CASE("what is stored first is what is added to zero", "", float, double) {
  using S = TestType;
  const Matrix<S> x = random<S>(3, 7, 1), y = random<S>(3, 5, 2), part = random<S>(3, 2, 3);
  const Matrix<S> wide = random<S>(33, 200, 4);
  const auto contribute = [&](Gradient<S>& g, bool part_first) {
    if (part_first) g.accumulate(0, {2, 2}, S(0.5), x, part);
    g.accumulate(0, {0, 5}, S(0.5), x, y);
    g.accumulate(0, {0, 5}, S(-2), x, y);
    g.accumulate(1, S(3), wide);
    g[2](0, 0) += S(4);
  };
  for (const bool part_first : {false, true}) {
    auto zeroed = random_gradient<S>(3), begun = random_gradient<S>(4);  // whatever was there is gone
    zeroed.set_zero();
    contribute(zeroed, part_first);
    begun.begin();
    contribute(begun, part_first);
    begun.finish();
    for (int p = 0; p < zeroed.size(); ++p) CHECK(zeroed[p] == begun[p]);
    begun.begin();
    begun.accumulate(1, S(3), wide);  // what nothing has met is zero to the norm, the scale and the sum of chunks
    CHECK((begun.met(1) && !begun.met(0)));
    begun.scale(S(2));
    CHECK(begun.norm() == Approx(6 * static_cast<double>(wide.norm())));
    CHECK(begun.all_finite());
    auto total = random_gradient<S>(5);
    nudge::sum_gradients<S>(std::span<const Gradient<S>>(&begun, 1), total, 2);
    CHECK((total.met(1) && !total.met(0)));
    CHECK(total.norm() == begun.norm());
    total.finish();
    CHECK((total[1] == begun[1] && total[0].norm() == 0));
    begun.begin();
    begun.finish();
    CHECK(begun.norm() == 0);
  }
}

TEST_CASE("add, scale, norm and finiteness") {
  Gradient<double> g{std::span<const ParameterShape>(kShapes)};
  g[0](3, 2) = 3;
  g[1](0, 7) = 4;
  CHECK(g.norm() == 5);
  Gradient<double> h{std::span<const ParameterShape>(kShapes)};
  h.add(g, 2);
  h.scale(0.25);
  CHECK(h.squared_norm() == 6.25);
  CHECK(h.all_finite());
  h[2](0, 0) = std::nan("");
  CHECK_FALSE(h.all_finite());
  CHECK_FALSE(std::isfinite(h.norm()));
  // Entries whose square overflows a float still have a norm.
  Gradient<float> f{std::span<const ParameterShape>(kShapes)};
  f[2](0, 0) = 1e30F;
  CHECK(f.norm() == static_cast<double>(1e30F));
}

TEMPLATE_TEST_CASE("a sum of chunks has the same bits for any number of threads", "", float, double) {
  using S = TestType;
  std::vector<Gradient<S>> chunks;
  for (std::uint64_t c = 0; c < 5; ++c) chunks.push_back(random_gradient<S>(c));
  Gradient<S> serial = chunks[0];
  for (std::size_t c = 1; c < chunks.size(); ++c) serial.add(chunks[c]);
  for (const int threads : {1, 2, 3, 8}) {
    Gradient<S> total = chunks[3];  // old contents must not matter
    nudge::sum_gradients<S>(chunks, total, threads);
    REQUIRE(total.size() == serial.size());
    for (int p = 0; p < serial.size(); ++p) CHECK(total[p] == serial[p]);
    CHECK(total.norm() == serial.norm());
  }
  Gradient<S> one;
  nudge::sum_gradients<S>(std::span<const Gradient<S>>(chunks).first(1), one, 2);
  CHECK(one[1] == chunks[0][1]);
}

TEST_CASE("clipping keeps the direction and never lengthens") {
  Gradient<double> g = random_gradient<double>(9);
  const Gradient<double> before = g;
  const double norm = before.norm();
  CHECK(nudge::clip_by_norm(g, 2 * norm) == norm);
  CHECK(g[1] == before[1]);
  CHECK(nudge::clip_by_norm(g, 0.0) == norm);  // 0 switches it off
  CHECK(g[1] == before[1]);
  CHECK(nudge::clip_by_norm(g, 1.0) == norm);
  // Each of n = 6636 entries is rounded once, relative 2⁻⁵³, and the sums of squares by at most n · 2⁻⁵³.
  CHECK(std::abs(g.norm() - 1) < 6636 * 2.3e-16);
  CHECK((g[1] * norm - before[1]).cwiseAbs().maxCoeff() < 1e-14);  // entries below 5: a few roundings of 5 · 2⁻⁵³
  g[0](0, 0) = std::numeric_limits<double>::infinity();
  const Matrix<double> bad = g[1];
  CHECK(nudge::clip_by_norm(g, 1.0) == std::numeric_limits<double>::infinity());
  CHECK(g[1] == bad);
}
