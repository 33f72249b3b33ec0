// SPDX-License-Identifier: Apache-2.0
#include "mixers/attention/heads.hpp"

#include <limits>

#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "tests/mixers/derivative_checks.hpp"
#include "tests/support/count_allocations.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

/// The same attention by operations of one head each.
template <class S>
Value<S> chained(Value<S> q, Value<S> k, Value<S> v, Index heads, const Mask& mask) {
  const Index d = q.cols() / heads;
  const Index e = v.cols() / heads;
  std::vector<Value<S>> parts;
  for (Index h = 0; h < heads; ++h) {
    const Value<S> scores =
        affine(product_nt(columns(q, h * d, d), columns(k, h * d, d)), 1.0 / std::sqrt(static_cast<double>(d)));
    parts.push_back(product(softmax(scores, mask), columns(v, h * e, e)));
  }
  return join_columns<S>(parts);
}

/// One attention on a tape of its own, with all derivatives in random directions.
template <class S>
struct Attention {
  Tape<S> tape;
  std::vector<Value<S>> x;
  Value<S> y;
  std::vector<Matrix<S>> probabilities;

  Attention(bool fused, Index queries, Index keys, Index heads, Index width, Index value_width, const Mask& mask) {
    x = {tape.input(random_matrix<S>(queries, heads * width, 1, 2.0)),
         tape.input(random_matrix<S>(keys, heads * width, 2)),
         tape.input(random_matrix<S>(keys, heads * value_width, 3))};
    y = fused ? attend_heads(x[0], x[1], x[2], heads, mask, &probabilities) : chained(x[0], x[1], x[2], heads, mask);
  }
  void sweep() {
    tape.run();
    tape.clear_tangents();
    for (std::size_t n = 0; n < x.size(); ++n) tape.set_tangent(x[n], tangents[n]);
    tape.push_forward();
    tape.clear_cotangents();
    tape.add_cotangent(y, cotangent);
    tape.pull_back();
  }
  void choose_directions() {
    for (const auto& each : x) tangents.push_back(random_matrix<S>(each.rows(), each.cols(), 10 + tangents.size()));
    cotangent = random_matrix<S>(y.rows(), y.cols(), 20);
  }
  std::vector<Matrix<S>> tangents;
  Matrix<S> cotangent;
};

/// Both are the same sums of at most `keys` terms of order one in another order, so they differ by some roundings of each:
/// 8 √keys ulps of the norms (random signs), two orders below what a wrong term would give.
template <class S>
void check_against_chain(Index queries, Index keys, Index heads, Index width, Index value_width, const Mask& mask) {
  Attention<S> fused(true, queries, keys, heads, width, value_width, mask);
  Attention<S> chain(false, queries, keys, heads, width, value_width, mask);
  for (auto* one : {&fused, &chain}) {
    one->choose_directions();
    one->sweep();
  }
  const double tolerance =
      8 * std::sqrt(static_cast<double>(keys)) * static_cast<double>(std::numeric_limits<S>::epsilon());
  CHECK(test::relative_error(fused.y.matrix(), chain.y.matrix()) < tolerance);
  CHECK(test::relative_error(fused.tape.tangent(fused.y), chain.tape.tangent(chain.y)) < tolerance);
  for (std::size_t n = 0; n < 3; ++n) {
    CAPTURE(n);
    CHECK(test::relative_error(fused.tape.cotangent(fused.x[n]), chain.tape.cotangent(chain.x[n])) < tolerance);
  }
}

}  // namespace

TEST_CASE("attend_heads is the chain of its parts", "[causal_heads]") {
  // 150 tokens: three blocks of queries, the last of another size; a window whose blocks start behind the first key; a
  // mask with holes; more keys than queries; values of another width.
  std::vector<std::uint8_t> holes(20 * 30, 0);
  for (std::size_t n = 0; n < holes.size(); ++n) holes[n] = n % 7 == 3 || n % 30 == 11 ? 1 : 0;
  const auto all = [&](auto number) {
    using S = decltype(number);
    check_against_chain<S>(12, 12, 3, 4, 4, Mask::causal(12));
    check_against_chain<S>(64, 64, 4, 32, 32, Mask::causal(64));
    check_against_chain<S>(150, 150, 2, 8, 8, Mask::causal(150));
    check_against_chain<S>(150, 150, 2, 8, 6, Mask::causal_window(150, 20));
    check_against_chain<S>(20, 30, 2, 4, 4, Mask::from_bytes(20, 30, holes));
    check_against_chain<S>(1, 1, 2, 4, 4, Mask::causal(1));
  };
  all(double{});
  all(float{});
}

TEST_CASE("attend_heads: adjoint, single arguments, central difference across blocks", "[causal_heads]") {
  const Mask mask = Mask::causal_window(70, 9);
  test::check_derivatives(
      {{random_matrix<double>(70, 4, 1), random_matrix<double>(70, 4, 2), random_matrix<double>(70, 6, 3)},
       [mask](const std::vector<Value<double>>& x) {
         return std::vector<Value<double>>{attend_heads(x[0], x[1], x[2], 2, mask)};
       }});
}

TEST_CASE("attend_heads: cotangents of some operands only", "[causal_heads]") {
  const Mask mask = Mask::causal(6);
  const auto q = random_matrix<double>(6, 4, 1);
  const auto k = random_matrix<double>(6, 4, 2);
  const auto v = random_matrix<double>(6, 4, 3);
  const auto u = random_matrix<double>(6, 4, 4);
  Tape<double> whole;
  const std::vector<Value<double>> all = {whole.input(q), whole.input(k), whole.input(v)};
  whole.add_cotangent(attend_heads(all[0], all[1], all[2], 2, mask), u);
  whole.pull_back();
  const std::vector<Matrix<double>> leaves = {q, k, v};
  for (std::size_t wanted = 0; wanted < 3; ++wanted) {
    CAPTURE(wanted);
    Tape<double> tape;
    std::vector<Value<double>> x;
    for (std::size_t n = 0; n < 3; ++n) x.push_back(n == wanted ? tape.input(leaves[n]) : tape.constant(leaves[n]));
    tape.add_cotangent(attend_heads(x[0], x[1], x[2], 2, mask), u);
    tape.pull_back();
    CHECK(tape.cotangent(x[wanted]) == whole.cotangent(all[wanted]));
  }
}

TEST_CASE("attend_heads leaves its probabilities, and later keys do not matter", "[causal_heads]") {
  const Index tokens = 9;
  Attention<double> one(true, tokens, tokens, 2, 4, 4, Mask::causal(tokens));
  REQUIRE(one.probabilities.size() == 2);
  for (std::size_t h = 0; h < 2; ++h) {
    const Matrix<double>& p = one.probabilities[h];
    const auto column = static_cast<Index>(h) * 4;
    CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-15 * static_cast<double>(tokens));
    CHECK(Matrix<double>(p.triangularView<Eigen::StrictlyUpper>()).norm() == 0);
    const Matrix<double> y = p * one.x[2].matrix().middleCols(column, 4);
    CHECK(test::relative_error(Matrix<double>(one.y.matrix().middleCols(column, 4)), y) < 1e-15 * tokens);
  }
  const Matrix<double> first = one.probabilities[0];
  const Matrix<double> before = one.y.matrix();
  one.tape.leaf(one.x[1]).row(tokens - 1).array() += 3;
  one.tape.leaf(one.x[2]).row(tokens - 1).array() -= 5;
  one.tape.run();
  CHECK(one.y.matrix().topRows(tokens - 1) == before.topRows(tokens - 1));
  CHECK(one.y.matrix().row(tokens - 1) != before.row(tokens - 1));
  CHECK(one.probabilities[0].topRows(tokens - 1) == first.topRows(tokens - 1));
  CHECK(one.probabilities[0].row(tokens - 1) != first.row(tokens - 1));  // filled again by each run
}

TEST_CASE("attend_heads allocates nothing when the tape runs again", "[causal_heads]") {
  // 40 tokens in double, so that no product library with buffers of its own takes part.
  Attention<double> one(true, 40, 40, 2, 4, 4, Mask::causal(40));
  one.choose_directions();
  one.sweep();
  const long before = test::allocations();
  one.sweep();
  CHECK(test::allocations() == before);
}
