// SPDX-License-Identifier: Apache-2.0
#include "sim/weight_reader.hpp"

#include "mixers/ops/operations.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "tests/mixers/derivative_checks.hpp"
#include "tests/support/count_allocations.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

using M = Matrix<double>;
using V = Value<double>;

M normal(Index rows, Index cols, std::uint64_t seed) { return random_matrix<double>(rows, cols, seed); }

/// A product that counts what it is asked and keeps the gradient; with `curved`, every output passes through tanh.
struct CountingReader final : WeightReader<double> {
  explicit CountingReader(const M& weights, bool bent = false)
      : w(weights), gradient(M::Zero(weights.rows(), weights.cols())), curved(bent) {}

  void read(const WeightPart& part, ConstMatrixRef<double> x, MatrixRef<double> y) override {
    ++forwards;
    times(part, x, y);
    if (curved) y.array() = y.array().tanh();
  }
  void read_jvp(const WeightPart& part, ConstMatrixRef<double> x0, ConstMatrixRef<double> v,
                MatrixRef<double> y) override {
    ++jvps;
    times(part, v, y);
    if (curved) y.array() *= slope(part, x0).array();
  }
  void read_vjp(const WeightPart& part, ConstMatrixRef<double> x0, ConstMatrixRef<double> u,
                MatrixRef<double> x) override {
    ++vjps;
    if (curved) {
      multiply_transposed<double>(M(u.cwiseProduct(slope(part, x0))), of(part), x);
    } else if (whole(part)) {
      multiply_transposed<double>(u, w, x);
    } else {
      multiply_transposed<double>(u, of(part), x);
    }
  }
  void correlate(const WeightPart& part, ConstMatrixRef<double> x0, ConstMatrixRef<double> u) override {
    ++correlations;
    last_x = x0;
    last_u = u;
    if (part.transposed) {
      multiply_outer<double>(u, x0, 1.0, gradient.middleRows(part.first, part.rows));
    } else {
      multiply_outer<double>(x0, u, 1.0, gradient.middleRows(part.first, part.rows));
    }
  }
  bool whole(const WeightPart& part) const { return part.rows == w.rows() && !part.transposed; }
  void times(const WeightPart& part, ConstMatrixRef<double> x, MatrixRef<double> y) const {
    if (whole(part)) {
      multiply<double>(x, w, y);
    } else {
      multiply<double>(x, of(part), y);
    }
  }
  M of(const WeightPart& part) const {
    const M rows = w.middleRows(part.first, part.rows);
    return part.transposed ? M(rows.transpose()) : rows;
  }
  M slope(const WeightPart& part, ConstMatrixRef<double> x0) const {
    return (1 - (x0 * of(part)).array().tanh().square()).matrix();
  }

  M w, gradient, last_x, last_u;
  bool curved;
  int forwards = 0, jvps = 0, vjps = 0, correlations = 0;
};

/// y = (x W)∘x W: two uses of the same weights, through a read or as numbers.
struct TwoUses {
  V x, leaf, y;
  TwoUses(Tape<double>& tape, const M& start, V weights)
      : x(tape.input(start)), leaf(weights), y(product(x * product(x, leaf), leaf)) {}
};

}  // namespace

TEST_CASE("a read is the product, bit by bit, where its reader multiplies") {
  const M w = normal(5, 5, 1);
  const M start = normal(3, 5, 2);
  CountingReader reader(w);
  Tape<double> read, known;
  TwoUses a(read, start, read.weights(w, reader));
  TwoUses b(known, start, known.parameter(w));
  CHECK(reader.forwards == 2);
  CHECK(a.y.matrix() == b.y.matrix());

  const M v = normal(3, 5, 3);
  const M u = normal(3, 5, 4);
  for (auto* one : {&a, &b}) {
    Tape<double>& tape = *one->x.tape;
    tape.set_tangent(one->x, v);
    tape.push_forward();
    tape.add_cotangent(one->y, u);
    tape.pull_back();
  }
  CHECK(reader.jvps == 2);
  CHECK(read.tangent(a.y) == known.tangent(b.y));
  // The read adds a finished product where the product adds term by term: rounding of sums of 5, 1e-15 of the sizes.
  CHECK(test::relative_error(read.cotangent(a.x), known.cotangent(b.x)) < 1e-14);
  CHECK(test::relative_error(reader.gradient, known.cotangent(b.leaf)) < 1e-14);
  CHECK(read.cotangent(a.leaf).size() == 0);
}

TEST_CASE("reads: each use is read once per direction, and only what is wanted") {
  const M w = normal(4, 4, 5);
  CountingReader reader(w);
  Tape<double> tape;
  TwoUses one(tape, normal(3, 4, 6), tape.weights(w, reader));
  const M u = normal(3, 4, 7);
  const auto pull = [&](Leaves wanted) {
    reader.vjps = reader.correlations = 0;
    tape.clear_cotangents();
    tape.add_cotangent(one.y, u);
    tape.pull_back(wanted);
  };
  pull(Leaves::inputs);
  CHECK(reader.vjps == 2);
  CHECK(reader.correlations == 0);
  pull(Leaves::all);
  CHECK(reader.vjps == 2);
  CHECK(reader.correlations == 2);
  // The first use is the last to be pulled back: x₀ = x, and its cotangent came through x ∘ (x W).
  CHECK(reader.last_x == one.x.matrix());
  CHECK(test::relative_error(reader.last_u, M(one.x.matrix().cwiseProduct(u * w.transpose()))) < 1e-14);
  pull(Leaves::parameters);
  CHECK(reader.vjps == 1);  // back to the first use; x is not wanted
  CHECK(reader.correlations == 2);
  CHECK(tape.cotangent(one.x).size() == 0);
  CHECK(tape.cotangent(one.leaf).size() == 0);
}

TEST_CASE("reads: derivatives of a reader that is not linear") {
  const M w = normal(4, 3, 8);
  CountingReader reader(w, true);
  test::check_derivatives({{normal(5, 4, 9), normal(5, 3, 10)}, [&](const std::vector<V>& x) {
                             return std::vector<V>{x[1] * product(x[0], x[0].tape->weights(w, reader))};
                           }});
  CHECK(reader.correlations > 0);
}

TEST_CASE("reads: any other operation on weights that are read is a broken contract") {
  const M w = normal(4, 4, 11);
  CountingReader reader(w);
  Tape<double> tape;
  const V x = tape.input(normal(4, 4, 12));
  const V weights = tape.weights(w, reader);
  CHECK(tape.reader(weights) == &reader);
  CHECK(tape.reader(x) == nullptr);
  CHECK_THROWS_AS(product_nt(weights, x), ContractViolation);
  CHECK_THROWS_AS(product_tn(x, weights), ContractViolation);
  CHECK_THROWS_AS(product(weights, x), ContractViolation);
  CHECK_THROWS_AS(product(weights, weights), ContractViolation);
  CHECK_THROWS_AS(columns(weights, 0, 2), ContractViolation);
  CHECK_THROWS_AS(x + weights, ContractViolation);
  CHECK_THROWS_AS(affine(weights, 2.0), ContractViolation);
  CHECK_THROWS_AS(tape.set_tangent(weights, w), ContractViolation);
  CHECK_THROWS_AS(tape.add_cotangent(weights, w), ContractViolation);
  CHECK_NOTHROW(product(x, weights));
}

TEST_CASE("reads from the other side and of some rows are the products of those rows") {
  const M w = normal(6, 4, 21);
  CountingReader reader(w);
  const auto record = [](V x, V weights) {
    const V head = rows(weights, 2, 3);
    return product(product_nt(x, head), head) + product(product_nt(x, weights), weights);
  };
  Tape<double> read, known;
  const M start = normal(5, 4, 22), v = normal(5, 4, 23), u = normal(5, 4, 24);
  const V xa = read.input(start), xb = known.input(start), leaf = known.parameter(w);
  const V a = record(xa, read.weights(w, reader)), b = record(xb, leaf);
  CHECK(test::relative_error(a.matrix(), b.matrix()) < 1e-14);
  for (const auto& [x, y] : {std::pair(xa, a), std::pair(xb, b)}) {
    Tape<double>& tape = *x.tape;
    tape.set_tangent(x, v);
    tape.push_forward();
    tape.add_cotangent(y, u);
    tape.pull_back();
  }
  // Sums of some tens of products in another order.
  CHECK(test::relative_error(read.tangent(a), known.tangent(b)) < 1e-14);
  CHECK(test::relative_error(read.cotangent(xa), known.cotangent(xb)) < 1e-14);
  CHECK(test::relative_error(reader.gradient, known.cotangent(leaf)) < 1e-14);
  CountingReader bent(w, true);
  test::check_derivatives({{normal(5, 4, 25), normal(5, 4, 26)}, [&](const std::vector<V>& x) {
                             return std::vector<V>{x[1] * record(x[0], x[0].tape->weights(w, bent))};
                           }});
}

TEST_CASE("reads allocate nothing when the tape runs again") {
  const M w = normal(4, 4, 13);
  CountingReader reader(w);
  Tape<double> tape;
  TwoUses one(tape, normal(3, 4, 14), tape.weights(w, reader));
  const M v = normal(3, 4, 15);
  const M u = normal(3, 4, 16);
  const auto sweep = [&] {
    tape.run();
    tape.clear_tangents();
    tape.set_tangent(one.x, v);
    tape.push_forward();
    tape.clear_cotangents();
    tape.add_cotangent(one.y, u);
    tape.pull_back();
  };
  sweep();
  const long before = test::allocations();
  sweep();
  CHECK(test::allocations() == before);
}
