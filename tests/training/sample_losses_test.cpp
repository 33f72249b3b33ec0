// SPDX-License-Identifier: Apache-2.0
// Losses of single samples, and what one network wins against another over them.
#include "training/train/sample_losses.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/training/tiny_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Five samples in two examples of three rows, the last of which does not count: classes 0, 1, 1, 2, 1.
Batch five_samples() { return side_by_side(Batch{5, 1, {}, {0, 1, 1, 2, 1}, Matrix<float>::Ones(5, 2)}, 3); }

/// Digits by a network that settles, on devices without noise that take any change.
TrainSummary digits(int rows) {
  return train(parse_program_config(
                   "digits.toml",
                   "precision = 'double'\nthreads = 1\nhardware.level = 'ideal'\nestimator = 'ep'\nbeta = 0.05\n"
                   "network.kind = 'hopfield'\nhopfield.hidden = [16]\ntask.kind = 'classification'\n"
                   "task.references = 'off'\ndevice.model = 'ideal'\n"
                   "[train]\nsteps = 12\nbatch = 16\nwarmup = 2\nevaluate_every = 0\nlearning_rate = 1e-2\n",
                   {"data.side_by_side=" + std::to_string(rows)}),
               std::nullopt);
}

}  // namespace

TEST_CASE("a gain over samples of one size is the paired t interval", "[train]") {
  // d = 1, 2, 4 over 2 rows each: per row 0.5, 1, 2, mean 7/6, deviation √(7/12), t(0.975, 2) = 4.30265.
  SampleLosses run, other;
  for (const double d : {1.0, 2.0, 4.0}) {
    run.add(3, 2);
    other.add(3 + d, 2);
  }
  const LossGain gain = loss_gain(run, other);
  const double half = 4.302652729911275 * std::sqrt(7.0 / 12) / std::sqrt(3.0);
  CHECK(gain.won == Approx(7.0 / 6).epsilon(1e-14));
  CHECK(gain.low == Approx(7.0 / 6 - half).epsilon(1e-9));
  CHECK(gain.high == Approx(7.0 / 6 + half).epsilon(1e-9));
  CHECK(gain.samples == 3);
  CHECK_FALSE(gain.significant());  // 7/6 − 1.897 < 0
  // As one of two, t(0.9875, 2) = 6.20535: F(t) = 1/2 + t/(2 √(2 + t²)) for two degrees of freedom.
  const LossGain of_two = loss_gain(run, other, 2);
  CHECK((of_two.high - of_two.won) / half == Approx(6.205346816570969 / 4.302652729911275).epsilon(1e-9));
}

TEST_CASE("samples count by their rows", "[train]") {
  // d = 2 over 1 row, 3 over 3: won 5/4; off the line 2 − 5/4 and 3 − 15/4, √(2/1 (9/16 + 9/16)) = 3/2 over 4 rows,
  // t(0.975, 1) = 12.7062.
  SampleLosses run, other;
  run.add(1, 1);
  other.add(3, 1);
  run.add(2, 3);
  other.add(5, 3);
  const LossGain gain = loss_gain(run, other);
  CHECK(gain.won == 1.25);
  CHECK(gain.high - gain.won == Approx(12.706204736432095 * 1.5 / 4).epsilon(1e-9));
}

TEST_CASE("one sample has no interval, and only a null that ran away is beaten", "[train]") {
  SampleLosses one, other;
  one.add(1, 1);
  other.add(2, 1);
  CHECK(loss_gain(one, other).won == 1);
  CHECK_FALSE(loss_gain(one, other).significant());
  other.loss[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(loss_gain(one, other).significant());
  CHECK_FALSE(loss_gain(other, one).significant());
  one.loss[0] = other.loss[0];
  CHECK_FALSE(loss_gain(one, other).significant());
}

namespace {

/// Σ |y − t|.
class Absolute final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).cwiseAbs().sum();
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).array().sign().matrix();
  }
};

/// ½ Σ (y − t)ᵀ A (y − t) + ¼ Σ |y − t|⁴ of two columns that couple.
class Coupled final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    const Matrix<double> off = y - target;
    return 0.5 * (off * a_).cwiseProduct(off).sum() + 0.25 * off.rowwise().squaredNorm().array().square().sum();
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    const Matrix<double> off = y - target;
    const Eigen::VectorXd squares = off.rowwise().squaredNorm();
    return off * a_ + squares.asDiagonal() * off;
  }

 private:
  Matrix<double> a_ = (Matrix<double>(2, 2) << 1.0, 0.9, 0.9, 1.0).finished();
};

Batch of_values(const Matrix<float>& values) {
  return Batch{values.rows(), 1, {}, {}, Matrix<float>::Ones(values.rows(), 1), values};
}

}  // namespace

TEST_CASE("the best constant answer has the least cost on the training part: frequencies, mean, median", "[train]") {
  const std::vector<Batch> part{five_samples()};
  // Frequencies with one added: (2, 4, 2)/8.
  const Matrix<double> logits = best_constant(part, {true, nullptr}, 3);
  const SampleLosses nats = constant_losses(part, {true, nullptr}, logits, false);
  REQUIRE(nats.count() == 5);
  for (const std::size_t i : {0, 3}) CHECK(nats.loss[i] == Approx(std::log(4.0)).epsilon(1e-14));
  for (const std::size_t i : {1, 2, 4}) CHECK(nats.loss[i] == Approx(std::log(2.0)).epsilon(1e-14));
  // Mean (1, 3, 1)/5: half of (4/5)² + (3/5)² + (1/5)² for class 0, half of (1/5)² + (2/5)² + (1/5)² for class 1.
  const SampleLosses squares = constant_losses(part, {}, best_constant(part, {}, 3), false);
  CHECK(squares.loss[0] == Approx(0.52).epsilon(1e-14));
  CHECK(squares.loss[1] == Approx(0.12).epsilon(1e-14));
  const SampleLosses sequences = constant_losses(part, {true, nullptr}, logits, true);
  REQUIRE(sequences.count() == 2);
  CHECK(sequences.rows == std::vector<double>{3, 2});
  CHECK(sequences.loss[1] == Approx(std::log(4.0) + std::log(2.0)).epsilon(1e-14));
  // Medians 2 and 0.5 where the means are 21.6 and 2.5.
  const Absolute absolute;
  Matrix<float> values(5, 2);
  values << 1, 0.5F, 2, -3, 3, 14, 100, 0.25F, 2, 0.75F;
  const Matrix<double> median = best_constant({of_values(values)}, {false, &absolute}, 2);
  CHECK(median(0, 0) == Approx(2).margin(1e-9));
  CHECK(median(0, 1) == Approx(0.5).margin(1e-9));
}

TEST_CASE("a constant answer is searched where columns couple", "[train]") {
  // Targets in pairs about a centre: its gradient is 0 there, and the cost is convex.
  const Coupled coupled;
  Matrix<float> values(4, 2);
  values << 1, 5, 3, -1, 2.5F, 1.5F, 1.5F, 2.5F;
  const Matrix<double> centre = best_constant({of_values(values)}, {false, &coupled}, 2);
  CHECK(centre(0, 0) == Approx(2).epsilon(1e-5));
  CHECK(centre(0, 1) == Approx(2).epsilon(1e-5));
  // Without the symmetry, no step of 1e-3 along any direction lowers the cost.
  values(0, 0) = 9;
  const std::vector<Batch> part{of_values(values)};
  const Matrix<double> best = best_constant(part, {false, &coupled}, 2);
  const auto cost = [&](double dx, double dy) {
    const Matrix<double> moved = best + (Matrix<double>(1, 2) << dx, dy).finished();
    const SampleLosses all = constant_losses(part, {false, &coupled}, moved, false);
    double sum = 0;
    for (const double one : all.loss) sum += one;
    return sum;
  };
  for (int k = 0; k < 8; ++k) {
    const double angle = 0.785398 * k;
    CHECK(cost(1e-3 * std::cos(angle), 1e-3 * std::sin(angle)) > cost(0, 0));
  }
}

TEST_CASE("samples count one by one, however many settle side by side", "[train]") {
  const TrainSummary alone = digits(1), beside = digits(16);
  REQUIRE(alone.null.has_value());
  REQUIRE(beside.null.has_value());
  REQUIRE(alone.null->gains.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const LossGain &a = alone.null->gains[i].gain, &b = beside.null->gains[i].gain;
    CHECK(a.samples == 90);  // a twentieth of 1797, in groups of 16 they would be 6
    CHECK(a.samples == b.samples);
    // The gradient of a step is summed in another order: 1e-16 a step, which 12 steps of Adam amplify. 1e-9 is far
    // below what groups of 16 would change, a factor of about 4 of the interval.
    CHECK(a.won == Approx(b.won).epsilon(1e-9));
    CHECK(a.low == Approx(b.low).epsilon(1e-9));
    CHECK(a.high == Approx(b.high).epsilon(1e-9));
  }
}
