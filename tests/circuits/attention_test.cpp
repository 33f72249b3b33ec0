// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "circuits/terms/causal_attention.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

struct Size {
  Index tokens, channels, heads;
};
const std::vector<Size> kSizes{{1, 4, 1}, {1, 6, 6}, {3, 8, 1}, {5, 6, 3}, {7, 8, 8}, {13, 12, 4}};

struct Loops {
  Matrix<double> o;
  std::vector<Matrix<double>> p;
};

/// Cells that differ by a tenth, the same numbers in both precisions.
constexpr AttentionErrors kErrors{true, 0.1, 0.1, 7};

/// An entry of one of the spread's matrices; `alike` where cells are.
double cell(const std::vector<Matrix<double>>& of_heads, Index head, Index i, Index j, double alike) {
  return of_heads.empty() ? alike : of_heads[static_cast<std::size_t>(head)](i, j);
}

/// The definition, entry by entry: softmax over j ≤ i of (1 + γ) q_i·k_j/√d + o times (1 + η) v_j, head by head.
Loops attention_by_loops(const Matrix<double>& h, Index heads, const AttentionSpread<double>& spread = {}) {
  const Index tokens = h.rows(), channels = h.cols() / 3, width = channels / heads;
  Loops out{Matrix<double>::Zero(tokens, channels), {}};
  for (Index head = 0; head < heads; ++head) {
    Matrix<double> p = Matrix<double>::Zero(tokens, tokens);
    for (Index i = 0; i < tokens; ++i) {
      double sum = 0;
      for (Index j = 0; j <= i; ++j) {
        double score = 0;
        for (Index c = head * width; c < (head + 1) * width; ++c) score += h(i, c) * h(j, channels + c);
        p(i, j) = std::exp(cell(spread.score_gain, head, i, j, 1) * score / std::sqrt(static_cast<double>(width)) +
                           cell(spread.score_offset, head, i, j, 0));
        sum += p(i, j);
      }
      for (Index j = 0; j <= i; ++j) {
        p(i, j) /= sum;
        const double value = cell(spread.value_gain, head, i, j, 1) * p(i, j);
        for (Index c = head * width; c < (head + 1) * width; ++c) out.o(i, c) += value * h(j, 2 * channels + c);
      }
    }
    out.p.push_back(p);
  }
  return out;
}

template <class S>
double epsilon() {
  return static_cast<double>(std::numeric_limits<S>::epsilon());
}

}  // namespace

TEMPLATE_TEST_CASE("attention is the softmax average that its loops say", "[attention]", float, double) {
  using S = TestType;
  for (const Size& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads);
    const Matrix<S> h = random_matrix<double>(size.tokens, 3 * size.channels, 3).template cast<S>();
    const Loops exact = attention_by_loops(h.template cast<double>(), size.heads);
    AttentionCore<S> core(size.tokens, size.channels, size.heads);
    Matrix<S> o(size.tokens, size.channels), again(size.tokens, size.channels);
    core.forward(h, o);
    core.linearize(h, again);
    CHECK((o == again));
    // A score of d ≤ 8 products is off by at most d·ε·|q||k|/√d ≲ 8 · 3 ε here, which enters p as a relative error; exp,
    // sum (≤ 13 terms) and the average add some 20 ε more.
    const double tolerance = 50 * epsilon<S>();
    CHECK(relative_error(o, exact.o) < tolerance);
    for (Index head = 0; head < size.heads; ++head) {
      const Matrix<S>& p = core.probabilities(head);
      CHECK(relative_error(p, exact.p[static_cast<std::size_t>(head)]) < tolerance);
      for (Index i = 0; i < size.tokens; ++i) {
        // Each of the ≤ 13 terms carries the rounding of 1/sum and of its own product.
        CHECK(std::abs(static_cast<double>(p.row(i).sum()) - 1) <= static_cast<double>(size.tokens + 2) * epsilon<S>());
        for (Index j = i + 1; j < size.tokens; ++j) CHECK(p(i, j) == S(0));
      }
    }
  }
}

TEMPLATE_TEST_CASE("huge logits choose one token and stay finite", "[attention]", float, double) {
  using S = TestType;
  Matrix<S> h(3, 3);  // q, k, v with C = 1: the logits are 1e4 and −1e4; exp(−5e3) underflows to 0 in both precisions
  h << S(100), S(100), S(2), S(100), S(-100), S(3), S(-100), S(50), S(5);
  AttentionCore<S> core(3, 1, 1);
  Matrix<S> o(3, 1), out(3, 1), g = Matrix<S>::Zero(3, 3);
  core.linearize(h, o);
  CHECK(o(0, 0) == S(2));  // itself
  CHECK(o(1, 0) == S(2));  // logits 1e4, −1e4
  CHECK(o(2, 0) == S(3));  // logits −1e4, 1e4, −5e3
  core.jvp(h, out, false);
  core.vjp(o, g);
  CHECK(out.allFinite());
  CHECK(g.allFinite());
  // A saturated softmax does not move: do = dv of the chosen token.
  CHECK(out(2, 0) == h(1, 2));
}

TEMPLATE_TEST_CASE("attention's vjp is the transpose of its jvp", "[attention]", float, double) {
  using S = TestType;
  for (const Size& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads);
    const Matrix<S> h = random_matrix<S>(size.tokens, 3 * size.channels, 5);
    const Matrix<S> dh = random_matrix<S>(size.tokens, 3 * size.channels, 6);
    const Matrix<S> w = random_matrix<S>(size.tokens, size.channels, 7);
    AttentionCore<S> core(size.tokens, size.channels, size.heads);
    Matrix<S> o(size.tokens, size.channels), jv(o), jtw = Matrix<S>::Zero(size.tokens, 3 * size.channels);
    core.linearize(h, o);
    core.jvp(dh, jv, false);
    core.vjp(w, jtw);
    const double forward = w.template cast<double>().cwiseProduct(jv.template cast<double>()).sum();
    const double backward = jtw.template cast<double>().cwiseProduct(dh.template cast<double>()).sum();
    const double scale = static_cast<double>(w.norm()) * static_cast<double>(jv.norm()) +
                         static_cast<double>(jtw.norm()) * static_cast<double>(dh.norm());
    CHECK(std::abs(forward - backward) < 100 * epsilon<S>() * scale);  // as check_adjoint()
    Matrix<S> rest = w;
    core.jvp(dh, rest, true);
    // w − J dh in two rounded steps per product instead of one.
    CHECK((rest - (w - jv)).norm() <= S(10) * std::numeric_limits<S>::epsilon() * (w.norm() + jv.norm()));
  }
}

TEMPLATE_TEST_CASE("attention of cells that differ is what its loops say, and its derivatives are its own",
                   "[attention]", float, double) {
  using S = TestType;
  for (const Size& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads);
    const auto exact = drawn_attention<double>(kErrors, size.tokens, size.heads, 0);
    AttentionCore<S> core(size.tokens, size.channels, size.heads,
                          drawn_attention<S>(kErrors, size.tokens, size.heads, 0));
    const Matrix<double> h = random_matrix<double>(size.tokens, 3 * size.channels, 3);
    const Matrix<double> dh = random_matrix<double>(size.tokens, 3 * size.channels, 6);
    const Matrix<S> w = random_matrix<S>(size.tokens, size.channels, 7);
    const Matrix<double> o_exact = attention_by_loops(h, size.heads, *exact).o;
    Matrix<S> o(size.tokens, size.channels), jv(o), jtw = Matrix<S>::Zero(size.tokens, 3 * size.channels);
    core.linearize(h.template cast<S>(), o);
    CHECK(relative_error(o, o_exact) < 60 * epsilon<S>());  // as without a spread, and three rounded factors more
    if (size.tokens > 1) CHECK(relative_error(o_exact, attention_by_loops(h, size.heads).o) > 1e-3);
    core.jvp(dh.template cast<S>(), jv, false);
    core.vjp(w, jtw);
    const auto wide = [](const auto& m) { return Matrix<double>(m.template cast<double>()); };
    const double forward = wide(w).cwiseProduct(wide(jv)).sum(), backward = wide(jtw).cwiseProduct(dh).sum();
    const double scale = wide(w).norm() * wide(jv).norm() + wide(jtw).norm() * dh.norm();
    CHECK(std::abs(forward - backward) < 100 * epsilon<S>() * scale);
    // Of the loops in double: h² times a third derivative of order 1, and rounding 1e-16/h.
    const double step = 1e-5;
    const Matrix<double> ahead = attention_by_loops(h + step * dh, size.heads, *exact).o;
    const Matrix<double> behind = attention_by_loops(h - step * dh, size.heads, *exact).o;
    CHECK(relative_error(jv, Matrix<double>((ahead - behind) / (2 * step))) < 1e-8 + 100 * epsilon<S>());
  }
}

TEST_CASE("cells are a function of seed and number, equal where nothing is to differ", "[attention]") {
  CHECK(drawn_attention<double>({}, 4, 2, 0) == nullptr);
  const auto alike = drawn_attention<double>({true, 0, 0, 1}, 4, 2, 0);
  REQUIRE(alike != nullptr);
  CHECK(alike->score_gain.empty());
  CHECK(alike->score_offset.empty());
  const auto one = drawn_attention<double>({true, 0.02, 0.08, 1}, 64, 2, 0);
  CHECK(one->score_gain[1] == drawn_attention<double>({true, 0.02, 0, 1}, 64, 2, 0)->score_gain[1]);
  CHECK_FALSE(one->score_gain[1] == one->score_gain[0]);
  CHECK_FALSE(one->score_gain[1] == one->value_gain[1]);
  CHECK_FALSE(one->score_gain[1] == drawn_attention<double>({true, 0.02, 0, 1}, 64, 2, 1)->score_gain[1]);
  CHECK_FALSE(one->score_gain[1] == drawn_attention<double>({true, 0.02, 0, 2}, 64, 2, 0)->score_gain[1]);
  // Of n = 4096 normal numbers a standard deviation is known within 1/√(2n): five of these.
  const auto sd = [](const Matrix<double>& m) { return std::sqrt((m.array() - m.mean()).square().mean()); };
  const double tolerance = 5 / std::sqrt(2 * 4096.0);
  CHECK(sd(one->score_gain[0]) == Approx(0.02).epsilon(tolerance));
  CHECK(sd(one->score_offset[0]) == Approx(0.08).epsilon(tolerance));
}

TEMPLATE_TEST_CASE("the attention force is s Attn(z) W_o", "[attention]", float, double) {
  using S = TestType;
  for (const Size& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads);
    TinyBlock<S> tiny({size.tokens, size.channels, size.heads, 0});
    const Matrix<S> z = random_matrix<double>(size.tokens, size.channels, 11).template cast<S>();
    const auto wide = [](const auto& m) { return Matrix<double>(m.template cast<double>()); };
    const Matrix<double> exact =
        0.8 * attention_by_loops(wide(z) * wide(tiny.input.weights()), size.heads).o * wide(tiny.output.weights());
    Matrix<S> f(z.rows(), z.cols());
    tiny.dynamics.force(z, f, Part::nonconservative);
    // As above, and two more products of at most 12 terms.
    CHECK(relative_error(f, exact) < 100 * epsilon<S>());
    check_adjoint(tiny.dynamics.linearize(z), size.tokens, size.channels, Part::nonconservative);
  }
}

TEST_CASE("the attention's jvp is what central differences converge to at second order", "[attention]") {
  for (const Size& size : kSizes) {
    if (size.tokens == 1) continue;  // softmax over one token: the force is linear, the difference has no leading error
    CAPTURE(size.tokens, size.channels, size.heads);
    TinyBlock<double> tiny({size.tokens, size.channels, size.heads, 0});
    const Matrix<double> z = random_matrix<double>(size.tokens, size.channels, 12);
    const Matrix<double> v = random_matrix<double>(size.tokens, size.channels, 13);
    Matrix<double> jv(z.rows(), z.cols());
    tiny.dynamics.linearize(z).jvp(v, jv, Part::nonconservative);
    const std::vector<double> steps{0.02, 0.01, 0.005, 0.0025};
    std::vector<double> errors;
    for (const double h : steps) {
      errors.push_back((central_difference(tiny.dynamics, z, v, Part::nonconservative, h) - jv).norm());
    }
    // The next term is smaller by (h |dlogit|)² ≤ 1e-2, and rounding, 1e-16/h = 4e-14, is far below the errors.
    CHECK(order_of_convergence(errors, steps) == Approx(2.0).margin(0.05));
    CHECK(errors.back() < 1e-3 * jv.norm());
  }
}

TEST_CASE("attention of one token is linear: no gradient of W_q and W_k", "[attention]") {
  TinyBlock<double> tiny({1, 6, 2, 0});
  const Matrix<double> z = random_matrix<double>(1, 6, 14), a = random_matrix<double>(1, 6, 15);
  SummingSink<double> sink({&tiny.input, &tiny.output});
  tiny.dynamics.linearize(z).accumulate_parameter_gradient(a, 1.0, sink);
  CHECK((sink.sums[0].leftCols(12).array() == 0).all());
  CHECK(sink.sums[0].rightCols(6).norm() > 0);
}

TEST_CASE("attention's parameter gradients agree with central differences of every weight", "[attention]") {
  for (const Size& size : {Size{1, 4, 1}, Size{5, 6, 3}, Size{4, 4, 4}}) {
    CAPTURE(size.tokens, size.channels, size.heads);
    TinyBlock<double> tiny({size.tokens, size.channels, size.heads, 0});
    const Matrix<double> z = random_matrix<double>(size.tokens, size.channels, 16);
    const Matrix<double> a = random_matrix<double>(size.tokens, size.channels, 17);
    SummingSink<double> sink({&tiny.input, &tiny.output});
    tiny.dynamics.linearize(z).accumulate_parameter_gradient(a, 2.0, sink);
    const auto value = [&] {
      Matrix<double> f(z.rows(), z.cols());
      tiny.dynamics.force(z, f);
      return 2.0 * a.cwiseProduct(f).sum();
    };
    // h = 1e-5: truncation h²/6 · value''' ~ 1e-10 and rounding ε |value|/h ~ 2e-16 · 30/1e-5 = 6e-10 per entry, beside
    // gradients of order 1.
    CHECK(relative_error(sink.sums[0], difference_quotients(tiny.input, 1e-5, value)) < 1e-8);
    CHECK(relative_error(sink.sums[1], difference_quotients(tiny.output, 1e-5, value)) < 1e-8);
    CHECK((tiny.dynamics.input_gradient() - 2.0 * a).norm() == 0);
  }
}

TEST_CASE("float and double attention are the same force", "[attention]") {
  TinyBlock<float> narrow({13, 12, 4, 0});
  TinyBlock<double> wide({13, 12, 4, 0});
  const Matrix<double> z = random_matrix<double>(13, 12, 18), v = random_matrix<double>(13, 12, 19);
  const Matrix<float> zf = z.cast<float>(), vf = v.cast<float>();
  Matrix<float> ff(13, 12), jf(13, 12);
  Matrix<double> fd(13, 12), jd(13, 12);
  auto& at = wide.dynamics.linearize(z);
  auto& at_float = narrow.dynamics.linearize(zf);
  at.force(fd);
  at_float.force(ff);
  // Inputs are rounded to float (ε/2 each), logits of order 3 multiply that by as much: some tens of ε = 1.2e-7.
  CHECK(relative_error(ff, fd) < 1e-5);
  at.jvp(v, jd);
  at_float.jvp(vf, jf);
  CHECK(relative_error(jf, jd) < 1e-5);
  at.vjp(v, jd);
  at_float.vjp(vf, jf);
  CHECK(relative_error(jf, jd) < 1e-5);
}
