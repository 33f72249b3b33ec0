// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "training/train/tape_run.hpp"

using namespace nudge;
using nudge::test::random_matrix;

namespace {

const std::vector<Field> kFields = {{"w", {3, 2}, 0.5, 0.1}, {"unused", {2}, 1, 0}};

/// loss = Σ (x w)² with x made from the number of the example.
class Quadratic final : public ExampleTape<double> {
 public:
  explicit Quadratic(const std::vector<Matrix<double>>& parameters) {
    const auto named = bind(kFields, parameters);
    x_ = tape().constant(Matrix<double>::Zero(4, 3));
    const Value<double> y = product(x_, named["w"]);
    const Value<double> loss = total(apply(Function::square, y));
    set_results(y, loss, loss);
  }
  void load(const Batch& /*batch*/, Index /*b*/, const ExampleId& id) override { tape().leaf(x_) = at(id.number); }
  static Matrix<double> at(std::uint64_t number) { return random_matrix<double>(4, 3, number + 1); }

 private:
  Value<double> x_;
};

Batch examples(std::uint64_t n) { return {static_cast<Index>(n), 1, {}, {}}; }

}  // namespace

TEST_CASE("a batch of tapes gives mean loss and gradient, however many examples and threads") {
  const std::vector<Matrix<double>> parameters = {random_matrix<double>(3, 2, 9), Matrix<double>::Ones(1, 2)};
  for (const std::uint64_t n : {1, 5, 16, 37}) {
    Matrix<double> expected = Matrix<double>::Zero(3, 2);
    double loss = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Matrix<double> x = Quadratic::at(i);
      expected += 2 * x.transpose() * x * parameters[0] / static_cast<double>(n);
      loss += (x * parameters[0]).squaredNorm() / static_cast<double>(n);
    }
    Matrix<double> first;
    for (const int threads : {1, 4}) {
      TapeBatch<double> batch([&] { return std::make_unique<Quadratic>(parameters); }, kFields, threads);
      Gradient<double> gradient;
      batch.gradient(examples(3), 0, gradient);  // leaves nothing behind
      CHECK(batch.gradient(examples(n), 0, gradient) == Approx(loss).epsilon(1e-13));
      CHECK((gradient[0] - expected).norm() <= 1e-13 * expected.norm());  // sums of up to 37·4 terms
      CHECK(gradient[1].norm() == 0);
      if (threads == 1) first = gradient[0];
      CHECK(gradient[0] == first);
    }
  }
}

TEST_CASE("every example of a batch is visited once, after it has run") {
  const std::vector<Matrix<double>> parameters = {random_matrix<double>(3, 2, 9), Matrix<double>::Ones(1, 2)};
  TapeBatch<double> batch([&] { return std::make_unique<Quadratic>(parameters); }, kFields, 2);
  std::vector<double> losses(21, -1);
  const auto visit = [&](std::size_t first) {
    return
        [&, first](Index b, ExampleTape<double>& tape) { losses[first + static_cast<std::size_t>(b)] = tape.loss(); };
  };
  batch.run(examples(16), 0, visit(0));
  batch.run(examples(5), 16, visit(16));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CHECK(losses[i] == Approx((Quadratic::at(i) * parameters[0]).squaredNorm()).epsilon(1e-13));
  }
}

TEST_CASE("initial parameters have the mean and deviation of their field and depend on seed and place") {
  const std::vector<Field> fields = {{"a", {100, 50}, 2, 0.5}, {"b", {100, 50}, 2, 0.5}, {"c", {3}, 1}};
  const auto one = initial_parameters<double>(fields, 1);
  // 5000 normal numbers: the mean is off by 0.5/√5000 = 0.007, the deviation by 0.5 %; five of either.
  CHECK(std::abs(one[0].mean() - 2) < 0.035);
  CHECK(std::abs((one[0].array() - 2).matrix().norm() / std::sqrt(5000.0) - 0.5) < 0.0125);
  CHECK(one[0] != one[1]);
  CHECK(one[2] == Matrix<double>::Ones(1, 3));
  CHECK(initial_parameters<double>(fields, 1)[0] == one[0]);
  CHECK(initial_parameters<double>(fields, 2)[0] != one[0]);
}
