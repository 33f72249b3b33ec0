// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "tests/mixers/derivative_checks.hpp"

using namespace nudge;
using test::Differentiable;
using test::random_matrix;

namespace {

using M = Matrix<double>;
using V = Value<double>;
using X = std::vector<V>;

M normal(Index rows, Index cols, std::uint64_t seed) { return random_matrix<double>(rows, cols, seed); }
M positive(Index rows, Index cols, std::uint64_t seed) {
  return (normal(rows, cols, seed).array().abs() + 0.3).matrix();
}

Differentiable unary(const M& x, V (*f)(V)) {
  return {{x}, [f](const X& v) { return X{f(v[0])}; }};
}

Differentiable of_function(Function function, const M& x) {
  return {{x}, [function](const X& v) { return X{apply(function, v[0])}; }};
}

/// One example or more per operation of mixers/ops. A new operation gets its line here.
std::map<std::string, Differentiable> examples() {
  std::map<std::string, Differentiable> all;
  all["product"] = {{normal(4, 3, 1), normal(3, 5, 2)}, [](const X& v) { return X{product(v[0], v[1])}; }};
  all["product_nt"] = {{normal(4, 3, 1), normal(5, 3, 2)}, [](const X& v) { return X{product_nt(v[0], v[1])}; }};
  all["product_tn"] = {{normal(3, 4, 1), normal(3, 5, 2)}, [](const X& v) { return X{product_tn(v[0], v[1])}; }};
  all["product with itself"] = {{normal(4, 3, 1)}, [](const X& v) { return X{product_nt(v[0], v[0])}; }};
  for (const auto& [name, rows, cols] :
       {std::tuple("", 4, 3), std::tuple(" row", 1, 3), std::tuple(" column", 4, 1), std::tuple(" number", 1, 1)}) {
    const M a = normal(4, 3, 3);
    const M b = positive(rows, cols, 4);
    all[std::string("add") + name] = {{a, b}, [](const X& v) { return X{v[0] + v[1]}; }};
    all[std::string("subtract") + name] = {{a, b}, [](const X& v) { return X{v[0] - v[1]}; }};
    all[std::string("multiply") + name] = {{a, b}, [](const X& v) { return X{v[0] * v[1]}; }};
    all[std::string("divide") + name] = {{a, b}, [](const X& v) { return X{v[0] / v[1]}; }};
  }
  all["affine"] = {{normal(3, 4, 5)}, [](const X& v) { return X{affine(v[0], -1.5, 0.25)}; }};
  all["row_sum"] = unary(normal(3, 4, 5), row_sum<double>);
  all["total"] = unary(normal(3, 4, 5), total<double>);
  all["relu"] = of_function(Function::relu, normal(3, 4, 6));
  all["sigmoid"] = of_function(Function::sigmoid, 3 * normal(3, 4, 6));
  all["softplus"] = of_function(Function::softplus, 3 * normal(3, 4, 6));
  all["silu"] = of_function(Function::silu, normal(3, 4, 6));
  all["gelu"] = of_function(Function::gelu, normal(3, 4, 6));
  all["exponential"] = of_function(Function::exponential, normal(3, 4, 6));
  all["logarithm"] = of_function(Function::logarithm, positive(3, 4, 6));
  all["sine"] = of_function(Function::sine, normal(3, 4, 6));
  all["square"] = of_function(Function::square, normal(3, 4, 6));
  all["inverse_root"] = of_function(Function::inverse_root, positive(3, 4, 6));
  all["squared_relu"] = of_function(Function::squared_relu, normal(3, 4, 6));
  all["bit_information"] = of_function(Function::bit_information, 3 * normal(3, 4, 6));
  all["columns"] = {{normal(3, 5, 7)}, [](const X& v) { return X{columns(v[0], 1, 3)}; }};
  all["rows"] = {{normal(5, 3, 7)}, [](const X& v) { return X{rows(v[0], 2, 2)}; }};
  all["join_columns"] = {{normal(3, 2, 7), normal(3, 4, 8)}, [](const X& v) {
                           return X{join_columns<double>({v[0], v[1]})};
                         }};
  all["gather_rows"] = {{normal(4, 3, 7)}, [](const X& v) { return X{gather_rows(v[0], {2, 0, 2, 3, 2})}; }};
  all["delta_read"] = {{normal(5, 3, 1), 0.5 * normal(5, 3, 2), normal(5, 2, 3), positive(5, 1, 4), -positive(5, 1, 5)},
                       [](const X& v) { return X{delta_read(v[0], v[1], v[2], v[3], v[4])}; }};
  all["causal_convolution"] = {{normal(5, 3, 1), normal(3, 3, 2)},
                               [](const X& v) { return X{causal_convolution(v[0], v[1])}; }};
  all["causal_convolution of a long filter"] = {{normal(4, 3, 1), normal(6, 3, 2)},
                                                [](const X& v) { return X{causal_convolution(v[0], v[1])}; }};
  const Mask window = Mask::causal_window(5, 2);
  all["softmax"] = {{normal(5, 5, 9)}, [window](const X& v) { return X{softmax(v[0], window)}; }};
  all["log_sum_exp"] = {{normal(5, 5, 9)}, [window](const X& v) { return X{log_sum_exp(v[0], window)}; }};
  all["masked"] = {{normal(5, 5, 9)}, [window](const X& v) { return X{masked(v[0], window)}; }};
  const Mask own = Mask::causal(5);
  all["attend_heads"] = {{normal(5, 6, 50), normal(5, 6, 51), normal(5, 6, 52)},
                         [own](const X& v) { return X{attend_heads(v[0], v[1], v[2], 3, own)}; }};
  all["attend_heads of itself"] = {{normal(5, 6, 53)},
                                   [own](const X& v) { return X{attend_heads(v[0], v[0], v[0], 2, own)}; }};
  all["layer_norm"] = {{normal(3, 6, 10)}, [](const X& v) { return X{layer_norm(v[0])}; }};
  all["rms_norm"] = {{normal(3, 6, 10)}, [](const X& v) { return X{rms_norm(v[0], 2)}; }};
  all["rotate_positions"] = {{normal(4, 8, 11)}, [](const X& v) { return X{rotate_positions(v[0], 2, 3)}; }};
  all["rotate_positions halves"] = {{normal(4, 12, 11)},
                                    [](const X& v) { return X{rotate_positions(v[0], 2, 3, RotaryPairs::halves)}; }};
  all["squared_distance"] = {{normal(4, 3, 12), normal(5, 3, 13)},
                             [](const X& v) { return X{squared_distance(v[0], v[1])}; }};
  all["solve"] = {{normal(3, 3, 14) + 4 * M::Identity(3, 3), normal(3, 2, 15)},
                  [](const X& v) { return X{solve(v[0], v[1])}; }};
  all["covariance_solve"] = {{positive(4, 5, 16), normal(5, 3, 17), normal(4, 3, 18)}, [](const X& v) {
                               return X{covariance_solve(v[0] / row_sum(v[0]), v[1], v[2], 4.0, 0.7)};
                             }};
  all["decay_matrix"] = {{-positive(6, 1, 19)}, [](const X& v) { return X{decay_matrix(v[0])}; }};
  all["decayed_sum"] = {{-positive(6, 2, 20), normal(6, 2, 21)}, [](const X& v) { return X{decayed_sum(v[0], v[1])}; }};
  const Mask causal = Mask::causal(6);
  const auto read = [causal](const X& v) { return X{free_energy_read(v[0], v[1], v[2], causal)}; };
  all["free_energy_read"] = {{normal(6, 6, 22), normal(6, 3, 23), positive(1, 3, 24)}, read};
  M steep = normal(6, 3, 23);
  steep.row(4).array() += 500;  // rows 0..3 of P E underflow: they go through their own log-sum-exp
  all["free_energy_read beyond underflow"] = {{normal(6, 6, 22), steep, positive(1, 3, 24)}, read};
  // 150 tokens whose values rise by 3·2·150: three blocks of queries, each with its maximum, and rows of their own inside.
  M rising = normal(150, 2, 45);
  for (Index t = 0; t < 150; ++t) rising.row(t).array() += 3.0 * static_cast<double>(t);
  const Mask long_causal = Mask::causal(150);
  all["free_energy_read in blocks"] = {
      {normal(150, 150, 44), rising, 2 * positive(1, 2, 46)},
      [long_causal](const X& v) { return X{free_energy_read(v[0], v[1], v[2], long_causal)}; }};
  // 70 tokens: the adjoint sweep crosses a chunk.
  const std::vector<M> memory = {normal(70, 2, 25), normal(70, 2, 26),  -positive(70, 2, 27),
                                 normal(70, 3, 28), positive(1, 3, 29), normal(1, 1, 30)};
  all["decaying_read"] = {{memory.begin(), memory.end() - 1},
                          [](const X& v) { return X{decaying_read<double>(1, v[0], v[1], v[2], v[3], v[4])}; }};
  all["decaying_read direct"] = {
      memory, [](const X& v) { return X{decaying_read<double>(1, v[0], v[1], v[2], v[3], v[4], v[5])}; }};
  all["decaying_read previous"] = {
      memory,
      [](const X& v) { return X{decaying_read<double>(1, v[0], v[1], v[2], v[3], v[4], v[5], MemoryRead::previous)}; }};
  all["decaying_read of means"] = {
      {memory[0], memory[1], memory[2], memory[3], memory[5]}, [](const X& v) {
        return X{decaying_read<double>(1, v[0], v[1], v[2], v[3], std::nullopt, v[4], MemoryRead::previous)};
      }};
  // Two groups of three channels, two cells each.
  all["decaying_read in groups"] = {
      {normal(20, 4, 50), normal(20, 4, 51), -positive(20, 4, 52), normal(20, 6, 53), positive(1, 6, 54),
       normal(1, 2, 55)},
      [](const X& v) { return X{decaying_read<double>(2, v[0], v[1], v[2], v[3], v[4], v[5])}; }};
  all["gather_columns"] = {{normal(4, 3, 56)}, [](const X& v) { return X{gather_columns(v[0], {2, 0, 2, 1})}; }};
  all["as_row"] = {{normal(4, 3, 57)}, [](const X& v) { return X{as_row(v[0])}; }};
  all["cross_entropy"] = {{normal(4, 5, 31)}, [](const X& v) { return X{cross_entropy(v[0], {2, 0, -1, 4})}; }};
  return all;
}

}  // namespace

TEST_CASE("every operation: adjoint, single arguments, central difference") {
  for (const auto& [name, example] : examples()) {
    CAPTURE(name);
    test::check_derivatives(example);
  }
}

TEST_CASE("every operation: cotangents replace what an earlier pull_back left, or add to what is kept") {
  for (const auto& [name, example] : examples()) {
    CAPTURE(name);
    Tape<double> tape;
    X x;
    for (const M& leaf : example.leaves) x.push_back(tape.input(leaf));
    const V y = example.build(x)[0];
    const auto pull = [&](double scale, Leaves kept) {
      tape.clear_cotangents(kept);
      tape.add_cotangent(y, scale * normal(y.rows(), y.cols(), 60));
      tape.pull_back();
      std::vector<M> all;
      for (const V& each : x) all.push_back(tape.cotangent(each));
      return all;
    };
    const auto once = pull(1, Leaves::none);
    pull(std::nan(""), Leaves::none);
    const auto again = pull(1, Leaves::none);
    const auto twice = pull(1, Leaves::inputs);
    for (std::size_t k = 0; k < x.size(); ++k) {
      CAPTURE(k);
      CHECK(again[k] == once[k]);
      // Terms of one sum in another order: 1e-12 of the sizes as in check_derivatives.
      CHECK((twice[k] - 2 * once[k]).norm() <= 1e-12 * once[k].norm());
    }
  }
}

TEST_CASE("a cotangent that an operation leaves alone is zero") {
  struct Ignore final : Operation<double> {
    std::string_view name() const override { return "ignore"; }
    void forward(Arguments<double> /*x*/, M& y) override { y.setOnes(1, 1); }
    void jvp(Arguments<double> /*x*/, const M& /*y*/, Arguments<double> /*dx*/, M& dy) const override { dy.setZero(); }
    void vjp(Arguments<double> /*x*/, const M& /*y*/, const M& /*dy*/, Cotangents<double> /*dx*/) const override {}
  };
  Tape<double> tape;
  const V x = tape.input(normal(2, 3, 1));
  const V y = tape.record(std::make_unique<Ignore>(), {x});
  tape.add_cotangent(x, M::Ones(2, 3));
  tape.clear_cotangents();
  tape.add_cotangent(y, M::Ones(1, 1));
  tape.pull_back();
  CHECK(tape.cotangent(x) == M::Zero(2, 3));
}

TEST_CASE("the derivative check fails where a derivative is wrong") {
  // A wrong jvp is simulated by differentiating through a constant copy: f(x) = x ∘ const(x) has half the slope of x².
  const M x = normal(3, 3, 1);
  Tape<double> tape;
  const V leaf = tape.input(x);
  const V y = leaf * tape.constant(x);
  tape.set_tangent(leaf, M::Ones(3, 3));
  tape.push_forward();
  CHECK((tape.tangent(y) - 2 * x).norm() > 0.4 * x.norm());
}

TEST_CASE("pull_back reaches only the leaves that are wanted") {
  const M w = normal(3, 3, 2);
  Tape<double> tape;
  const V x = tape.input(normal(2, 3, 1));
  const V parameter = tape.parameter(w);
  const V y = product(x, parameter);
  tape.add_cotangent(y, M::Ones(2, 3));
  tape.pull_back(Leaves::inputs);
  CHECK(tape.cotangent(x).size() == 6);
  CHECK(tape.cotangent(parameter).size() == 0);
}

TEST_CASE("free energy read: a large future value leaves past rows alone") {
  const Mask causal = Mask::causal(3);
  M v(3, 1);
  v << 0.0, 800.0, -800.0;
  Tape<double> tape;
  const V y = free_energy_read(tape.input(M::Zero(3, 3)), tape.input(v), tape.input(M::Constant(1, 1, 2.0)), causal);
  CHECK(y.matrix()(0, 1) == Approx(0).margin(1e-12));
  CHECK(y.matrix()(1, 1) == Approx(800 - std::log(2.0) / 2).epsilon(1e-14));
  CHECK(y.matrix()(2, 1) == Approx(800 - std::log(3.0) / 2).epsilon(1e-14));
}

TEST_CASE("rotary positions need an even head width, masks a key per query and a window") {
  Tape<double> tape;
  const V x = tape.input(normal(2, 6, 1));
  CHECK_THROWS_AS(rotate_positions(x, 2), UserError);
  CHECK_THROWS_AS(Mask::causal_window(3, 0), UserError);
  CHECK_THROWS_AS(Mask::from_bytes(2, 2, {1, 0, 0, 0}), UserError);
}

TEST_CASE("rotary positions depend on differences of positions, and keep lengths") {
  // q_t·k_i after turning both by their positions equals that with both positions moved by 7. Tolerance: rounding of
  // sums.
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves}) {
    Tape<double> tape;
    const V q = tape.input(normal(4, 6, 1));
    const V k = tape.input(normal(4, 6, 2));
    const auto turned = [pairs](V x, Index first) { return rotate_positions(x, 1, first, pairs); };
    const V here = product_nt(turned(q, 0), turned(k, 0));
    const V moved = product_nt(turned(q, 7), turned(k, 7));
    CHECK((here.matrix() - moved.matrix()).norm() < 1e-13 * here.matrix().norm());
    const M lengths = q.matrix().rowwise().norm();
    CHECK((turned(q, 7).matrix().rowwise().norm() - lengths).norm() < 1e-15 * 6 * lengths.norm());
    CHECK((turned(q, 7).matrix() - q.matrix()).norm() > 0.1 * q.matrix().norm());
  }
}

TEST_CASE("rotary halves are the adjacent pairs with the columns of each head in another order") {
  constexpr Index half = 3;
  const M x = normal(5, 4 * half, 1);
  const auto shuffled = [](const M& from, bool back) {
    M to(from.rows(), from.cols());
    for (Index c = 0; c < from.cols(); ++c) {
      const Index i = c % (2 * half);
      const Index adjacent = c - i + 2 * (i % half) + i / half;
      if (back) {
        to.col(c) = from.col(adjacent);
      } else {
        to.col(adjacent) = from.col(c);
      }
    }
    return to;
  };
  Tape<double> tape;
  const M halves = rotate_positions(tape.input(x), 2, 2, RotaryPairs::halves).matrix();
  const M adjacent = rotate_positions(tape.input(shuffled(x, false)), 2, 2).matrix();
  CHECK((halves - shuffled(adjacent, true)).norm() < 1e-15 * x.norm());
  // And one number by hand: row 1 at position 3, channel 1 of head 0 with channel 4, angle 3·10000^(−1/3).
  const double angle = 3 * std::pow(10000.0, -2.0 / 6.0);
  CHECK(halves(1, 1) == Approx(x(1, 1) * std::cos(angle) - x(1, 4) * std::sin(angle)).epsilon(1e-14));
  CHECK(halves(1, 4) == Approx(x(1, 1) * std::sin(angle) + x(1, 4) * std::cos(angle)).epsilon(1e-14));
}

TEST_CASE("gelu is the form with erf, squared relu the square of the positive part") {
  for (const double x : {-3.0, -0.7, 0.0, 0.4, 2.5}) {
    CHECK(evaluate(Function::gelu, x) ==
          Approx(0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))).epsilon(1e-14).margin(1e-17));
    CHECK(evaluate(Function::squared_relu, x) == (x > 0 ? x * x : 0));
    Tape<double> tape;
    CHECK(apply(Function::squared_relu, tape.input(M::Constant(1, 1, x))).matrix()(0, 0) == (x > 0 ? x * x : 0));
  }
}
