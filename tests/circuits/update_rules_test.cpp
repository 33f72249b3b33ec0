// SPDX-License-Identifier: Apache-2.0
// Update rules against closed forms and against plain loops that write the same devices: what a rule sends, gathers and keeps.
#include <cmath>

#include "sim/base/errors.hpp"
#include "tests/circuits/ruled_maps.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("accumulate: constant changes send floor(sum/q) pulses, in steps of the threshold", "[rules]") {
  CrossbarSpec spec = even(UpdateScheme::accumulate);
  const double q = 0.002;
  const Matrix<double> delta = Matrix<double>::Constant(kInputs, kOutputs, 0.37 * q);
  const double pairs = 2.0 * kInputs * kOutputs;
  SECTION("of one pulse") {
    RuledMap<double> map(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
    CHECK(map.arrays().all.front()->weight_per_pulse() == Approx(q).epsilon(1e-12));
    for (int t = 0; t < 25; ++t) map.apply_update(delta);
    // 25 · 0.37 = 9.25: 9 pulses up on one device of each pair and 9 down on the other.
    CHECK(reading(map, "pulses_up") + reading(map, "pulses_down") == 9 * pairs);
    CHECK((map.weights().array() - 9 * q).abs().maxCoeff() < 1e-12);
    CHECK((state_of(map, "accumulator").array() - 0.25 * q).abs().maxCoeff() < 1e-12);
    CHECK(reading(map, "digital_numbers") == 1);
  }
  SECTION("of four") {
    spec.rule.threshold = 4;
    RuledMap<double> map(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
    // 4.07 after 11 changes, 0.07 + 4.07 after 22 (21: 3.77): 4 pulses each; 1.25 are left after 25.
    for (int t = 0; t < 10; ++t) map.apply_update(delta);
    CHECK(reading(map, "pulses_up") == 0);
    for (int t = 10; t < 25; ++t) map.apply_update(delta);
    CHECK(reading(map, "pulses_up") + reading(map, "pulses_down") == 8 * pairs);
    CHECK((state_of(map, "accumulator").array() - 1.25 * q).abs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("accumulate: every device moves as a plain loop over its weight says", "[rules]") {
  CrossbarSpec spec = even(UpdateScheme::accumulate);
  spec.device.step_spread = 0.3;
  spec.device.asymmetry_spread = 0.1;
  spec.rule.threshold = 3;
  RuledMap<double> map(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
  const Crossbar<double>& array = *map.arrays().all.front();
  const double q = 0.002, k = array.siemens_per_weight();
  const DeviceCells<double>&plus = array.plus().cells(), &minus = array.minus().cells();
  Matrix<double> w = map.weights();
  std::vector<double> chi(static_cast<std::size_t>(w.size()));
  for (int t = 0; t < 40; ++t) {
    const Matrix<double> delta = change(t, 0.7 * q);
    map.apply_update(delta);
    for (Index i = 0; i < w.size(); ++i) {
      double& gathered = chi[static_cast<std::size_t>(i)];
      gathered += delta.data()[i];
      if (std::abs(gathered) < 3 * q) continue;
      const double n = std::trunc(gathered / q);
      gathered -= n * q;
      // Up pulses of one device with its own step, down pulses of the other.
      const double moved = n > 0 ? plus.step_up.data()[i] + minus.step_down.data()[i]
                                 : plus.step_down.data()[i] + minus.step_up.data()[i];
      w.data()[i] += n * moved / k;
    }
  }
  CHECK(reading(map, "pulses_up") > 100);
  // Forty sums of numbers below 1.
  CHECK((map.weights() - w).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("accumulate: with read-back what a device missed stays to be sent", "[rules]") {
  CrossbarSpec spec = even(UpdateScheme::accumulate);
  spec.device.step_spread = 0.3;
  spec.rule.threshold = 2;
  const auto missed = [&](bool read_back) {
    spec.rule.read_back = read_back;
    RuledMap<double> map(spec, Matrix<double>::Zero(kInputs, kOutputs), 0, kSeed);
    const Matrix<double> start = map.weights();
    Matrix<double> asked = Matrix<double>::Zero(kInputs, kOutputs);
    for (int t = 0; t < 60; ++t) {
      const Matrix<double> delta = change(t, 0.002);
      asked += delta;
      map.apply_update(delta);
    }
    // Two devices, before and after.
    CHECK((reading(map, "verify_reads") > 0) == read_back);
    CHECK(std::fmod(reading(map, "verify_reads"), 4) == 0);
    return (map.weights() - start + state_of(map, "accumulator") - asked).cwiseAbs().maxCoeff();
  };
  CHECK(missed(true) < 1e-13);  // reads without noise: nothing is lost
  CHECK(missed(false) > 0.01);  // a spread of 30 % of the steps over some 60 of them
}

TEST_CASE("accumulate: a random start is uniform within the threshold and a function of the seed",
          "[rules][statistics]") {
  CrossbarSpec spec = even(UpdateScheme::accumulate);
  spec.rule.threshold = 5;
  spec.rule.random_start = true;
  const auto start = [&](std::uint32_t id, std::uint64_t seed) {
    RuledMap<double> map(spec, Matrix<double>::Zero(40, 50), id, seed);
    return state_of(map, "accumulator");
  };
  const Matrix<double> chi = start(0, kSeed) / (5 * 0.002);
  CHECK(chi.cwiseAbs().maxCoeff() <= 1);
  // 2000 draws: 5 standard errors of the mean (1/√3)/√2000 and of the mean square √(4/45)/√2000.
  CHECK(std::abs(chi.mean()) < 5 * 0.0129);
  CHECK(std::abs(chi.array().square().mean() - 1.0 / 3) < 5 * 0.0067);
  CHECK((start(0, kSeed) == start(0, kSeed)));
  CHECK((start(1, kSeed) != start(0, kSeed)));
  CHECK((start(0, kSeed + 1) != start(0, kSeed)));
}

namespace {

/// The rules with a fast array, written out on two arrays of the same numbers as those of the map.
class PlainLoop {
 public:
  PlainLoop(const CrossbarSpec& spec, const Matrix<double>& weights, bool buffered)
      : rule_(spec.rule),
        buffered_(buffered),
        slow_(pulsed(spec), weights, 0, kSeed),
        fast_(pulsed(spec), 0 * weights, 1U << 16U, kSeed),
        sum_(0 * weights) {}

  /// The reference, found by the pulses that the map sends too.
  void set_reference(const Matrix<double>& zero) { reference_ = zero; }
  void take_fast(Crossbar<double>& array) {
    auto mine = fast_.state();
    auto theirs = array.state();
    for (std::size_t i = 0; i < mine.size(); ++i) *mine[i].values = *theirs[i].values;
    fast_.state_restored();
  }

  void step(const Matrix<double>& delta, double s, const Matrix<double>& signs) {
    fast_.apply_update(rule_.fast_gain / s * delta * signs.row(0).asDiagonal());
    if (++updates_ % rule_.every != 0) return;
    Matrix<double> counts = 0 * sum_;
    for (int c = 0; c < rule_.columns; ++c) {
      const Index j = next_++ % kOutputs;
      const Eigen::VectorXd held = rule_.rate * s * signs(0, j) * (fast_.weights().col(j) - reference_.col(j));
      if (!buffered_) {
        counts.col(j) = held / slow_.weight_per_pulse();
        continue;
      }
      for (Index i = 0; i < kInputs; ++i) {
        sum_(i, j) += held(i);
        if (std::abs(sum_(i, j)) < rule_.threshold * slow_.weight_per_pulse()) continue;
        counts(i, j) = std::trunc(sum_(i, j) / slow_.weight_per_pulse());
        sum_(i, j) -= (1 - rule_.momentum) * counts(i, j) * slow_.weight_per_pulse();
      }
    }
    slow_.apply_update(slow_.weight_per_pulse() * counts);  // continuous devices: n pulses are n pulses
  }

  Matrix<double> weights(double share) const { return slow_.weights() + share * (fast_.weights() - reference_); }
  const Crossbar<double>& fast() const { return fast_; }

 private:
  static CrossbarSpec pulsed(CrossbarSpec spec) {
    spec.programming.update = UpdateScheme::pulses;
    return spec;
  }

  RuleSpec rule_;
  bool buffered_;
  Crossbar<double> slow_, fast_;
  Matrix<double> sum_, reference_;
  int updates_ = 0;
  Index next_ = 0;
};

/// A large rate and gain: many pulses in few updates.
CrossbarSpec travelling(UpdateScheme update) {
  CrossbarSpec spec = bending(update);
  spec.rule.rate = 0.1;
  spec.rule.fast_gain = 3;
  spec.rule.every = 2;
  spec.rule.columns = 2;
  spec.rule.threshold = 2;
  return spec;
}

// Sixty updates of numbers below 1 and rounding of reads.
constexpr double kRounding = 1e-12;

}  // namespace

TEST_CASE("tiki_taka, ttv2 and residual are the loop that their equations say", "[rules]") {
  const UpdateScheme update = GENERATE(UpdateScheme::tiki_taka, UpdateScheme::ttv2, UpdateScheme::residual);
  CrossbarSpec spec = travelling(update);
  spec.rule.momentum = update == UpdateScheme::ttv2 ? 0.1 : 0;
  const Matrix<double> w = random_matrix<double>(kInputs, kOutputs, 1, 0.3);
  RuledMap<double> map(spec, w, 0, kSeed);
  PlainLoop loop(spec, w, update != UpdateScheme::tiki_taka);
  loop.take_fast(*map.arrays().all.back());
  loop.set_reference(state_of(map, "symmetry_point"));
  REQUIRE(state_of(map, "symmetry_point").cwiseAbs().maxCoeff() > 0.02);
  const Matrix<double> ones = Matrix<double>::Ones(1, kOutputs);
  for (int t = 0; t < 60; ++t) {
    const Matrix<double> asked = schedule(t) * change(t, 0.01);
    map.apply({.direction = &asked, .schedule = schedule(t)});
    loop.step(asked, schedule(t), ones);
  }
  CHECK((map.weights() - loop.weights(update == UpdateScheme::residual ? 0.1 : 0)).cwiseAbs().maxCoeff() < kRounding);
  CHECK((map.weights() - w).cwiseAbs().maxCoeff() > 0.05);  // it went somewhere
  CHECK(reading(map, "transfer_reads") == 60);              // 2 columns every 2 updates
}

TEST_CASE("chopped rules are the loop that their equations say", "[rules]") {
  const UpdateScheme update = GENERATE(UpdateScheme::c_ttv2, UpdateScheme::agad);
  CrossbarSpec spec = travelling(update);
  spec.rule.chopper = 0.3;
  spec.rule.chopper_period = 4;
  const Matrix<double> w = random_matrix<double>(kInputs, kOutputs, 1, 0.3);
  RuledMap<double> map(spec, w, 0, kSeed);
  PlainLoop loop(spec, w, true);
  Matrix<double> reference = 0 * w, mean = 0 * w;
  loop.set_reference(reference);
  Matrix<double> signs = Matrix<double>::Ones(1, kOutputs);
  std::vector<int> reads(kOutputs, 0);
  int flips = 0;
  Index next = 0;
  for (int t = 0; t < 80; ++t) {
    const Matrix<double> asked = schedule(t) * change(t, 0.01);
    map.apply({.direction = &asked, .schedule = schedule(t)});
    loop.step(asked, schedule(t), signs);
    const Matrix<double> now = state_of(map, "chopper");
    if (update == UpdateScheme::c_ttv2) {
      flips += static_cast<int>((now.array() != signs.array()).count());
      signs = now;  // at random: their number is checked below
      continue;
    }
    if (t % 2 == 0) continue;  // reads every second update
    for (int c = 0; c < 2; ++c) {
      const Index j = next++ % kOutputs;
      mean.col(j) += loop.fast().weights().col(j) - mean.col(j);  // 5/4 of a read: all of it
      if (++reads[static_cast<std::size_t>(j)] % 4 != 0) continue;
      signs(0, j) = -signs(0, j);
      reference.col(j) = mean.col(j);
    }
    loop.set_reference(reference);
    CHECK((now == signs));
  }
  CHECK((map.weights() - loop.weights(0)).cwiseAbs().maxCoeff() < kRounding);
  CHECK((map.weights() - w).cwiseAbs().maxCoeff() > 0.05);
  // 80 reads of columns at p = 0.3: 24 ± 4.1; five of these.
  if (update == UpdateScheme::c_ttv2) CHECK(std::abs(flips - 24) < 5 * 4.1);
}

TEST_CASE("multi_tile of two arrays is residual learning, bit by bit, of three it weighs by powers", "[rules]") {
  const Matrix<double> w = random_matrix<double>(kInputs, kOutputs, 1, 0.3);
  CrossbarSpec spec = travelling(UpdateScheme::multi_tile);
  spec.rule.arrays = 2;
  CrossbarSpec other = travelling(UpdateScheme::residual);
  RuledMap<double> two(spec, w, 0, kSeed), residual(other, w, 0, kSeed);
  spec.rule.arrays = 3;
  spec.rule.share = 0.2;
  RuledMap<double> three(spec, w, 0, kSeed);
  for (int t = 0; t < 60; ++t) {
    for (RuledMap<double>* map : {&two, &residual, &three}) map->apply_update(change(t, 0.01));
  }
  CHECK((two.weights() == residual.weights()));
  const auto& arrays = three.arrays();
  Matrix<double> sum = arrays.all[0]->weights();
  sum += 0.2 * (arrays.all[1]->weights() - state_of(three, "tile1_symmetry_point"));
  sum += 0.04 * (arrays.all[2]->weights() - state_of(three, "tile2_symmetry_point"));
  CHECK((three.weights() - sum).cwiseAbs().maxCoeff() < 1e-15);
  const Matrix<double> x = random_matrix<double>(4, kInputs, 7);
  Matrix<double> y = Matrix<double>::Zero(4, kOutputs);
  ReadContext read;
  three.forward(x, y, three.all_columns(), Store::subtract, read);
  CHECK((y + x * three.weights()).cwiseAbs().maxCoeff() < 1e-13);
  // Out of the finest array every 2 updates, out of the middle one every 8 (timescale 4).
  CHECK(reading(three, "tile2_transfers") == 30);
  CHECK(reading(three, "tile1_transfers") == 7);
  CHECK(reading(three, "digital_numbers") == 4);
}

TEST_CASE("rules do what their noise-free circuits do, and shrink at once where a bound asks", "[rules]") {
  for (const RuleKind& kind : rule_kinds()) {
    CAPTURE(kind.name);
    CrossbarSpec spec = travelling(kind.update);
    if (kind.one_sided) spec.mapping.kind = MappingKind::one_sided;
    RuledMap<double> map(spec, random_matrix<double>(kInputs, kOutputs, 1, 0.3), 0, kSeed);
    for (int t = 0; t < 10; ++t) map.apply_update(change(t, 0.01));
    const auto circuit = map.noise_free();
    CHECK((circuit->weights() - map.weights()).cwiseAbs().maxCoeff() < 1e-13);
    const Matrix<double> before = map.weights(), shrunk = -0.1 * before;
    map.apply({.direction = &shrunk, .kind = UpdateKind::immediate});
    // Steps of soft bounds at |w| < 0.7 are 0.3 to 1.7 times the nominal one, with a spread of 0.2 and an asymmetry of 0.2.
    const double share = -(map.weights() - before).cwiseProduct(before).sum() / before.squaredNorm();
    CHECK(share > 0.03);
    CHECK(share < 0.25);
  }
}
