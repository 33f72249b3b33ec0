// SPDX-License-Identifier: Apache-2.0
// Coincidence updates against plain SGD and against their own exact order; Tiki-Taka against plain pulses.
#include <cmath>

#include "circuits/linear_map_factory.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

Matrix<double> normals(Index rows, Index cols, std::uint32_t which) {
  Matrix<double> out(rows, cols);
  fill_normal<double>({11, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

Matrix<double> uniform(Index rows, Index cols, std::uint32_t which) {
  Matrix<double> out(rows, cols);
  fill_uniform<double>({12, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return (2 * out.array() - 1).matrix();
}

CrossbarSpec coincidence(const std::string& model, PulseOrder order) {
  CrossbarSpec spec;
  spec.device.model = model;
  spec.mapping.w_max = 1;  // a pulse moves a weight by 0.002
  spec.programming.update = UpdateScheme::coincidence;
  spec.programming.order = order;
  return spec;
}

/// Pulses that a batch of 64 samples asks of a device: 2.5 per sample on average.
constexpr Index kSamples = 64;
constexpr double kRate = 0.002 * 10;  // 10 |x y| pulses, x and y uniform in (−1, 1)

std::vector<FactorPair<double>> batch_of(Index inputs, Index outputs) {
  return {{{0, outputs}, 0.5, uniform(kSamples, inputs, 1), 2 * uniform(kSamples, outputs, 2)}};
}

}  // namespace

TEST_CASE("coincidence updates are SGD on average, on their columns only", "[circuits][statistics]") {
  Crossbar<double> crossbar(coincidence("constant_step", PulseOrder::batch), Matrix<double>::Zero(50, 60), 0, 1);
  REQUIRE(crossbar.takes_factors());
  std::vector<FactorPair<double>> factors = batch_of(50, 20);
  factors[0].columns = {30, 20};
  Matrix<double> expected = Matrix<double>::Zero(50, 60);
  expected.middleCols(30, 20) = -kRate * 0.5 * factors[0].x.transpose() * factors[0].y;
  crossbar.apply_factors(factors, kRate);
  const Matrix<double> error = crossbar.weights() - expected;
  CHECK(error.leftCols(30).isZero(1e-12));
  CHECK(error.rightCols(10).isZero(1e-12));
  // Each of 64 samples adds at most BL/4 = 2.5 pulses² of variance (BL = 10 slots, p (1 − p) ≤ 1/4): a standard
  // deviation below 0.002 √160 = 0.025; six of them.
  CHECK(error.cwiseAbs().maxCoeff() < 6 * 0.0253);
  CHECK(error.cwiseAbs().maxCoeff() > 0.002);
  // Rows and columns of errors are independent of each other, mean zero: 5 standard errors over 20 independent columns.
  CHECK(std::abs(error.middleCols(30, 20).mean()) < 5 * 0.0253 / std::sqrt(20.0));
  CHECK(crossbar.writes().clipped_samples == 0);
  CHECK(crossbar.writes().slots <= 10 * kSamples);
}

TEST_CASE("counting over a batch: exact for constant steps, second order in the change otherwise", "[circuits]") {
  // Same trains in both orders, no noise: only the order of pulses differs.
  const auto difference = [](const std::string& model, Matrix<double>* pulses) -> Matrix<double> {
    Crossbar<double> batch(coincidence(model, PulseOrder::batch), Matrix<double>::Zero(50, 60), 0, 1);
    Crossbar<double> sample(coincidence(model, PulseOrder::sample), Matrix<double>::Zero(50, 60), 0, 1);
    const auto factors = batch_of(50, 60);
    batch.apply_factors(factors, kRate);
    sample.apply_factors(factors, kRate);
    CHECK((batch.plus().cells().writes == sample.plus().cells().writes));
    if (pulses != nullptr) *pulses = batch.plus().cells().writes;
    return batch.weights() - sample.weights();
  };
  // 160 pulses of numbers below 1, rounded: 1e-13.
  CHECK(difference("constant_step", nullptr).cwiseAbs().maxCoeff() < 1e-13);

  // Soft bounds: exchanging an up and a down pulse next to each other moves the device by q² of its window, q = 0.002, and
  // one order becomes any other by at most n_up n_down ≤ n²/4 exchanges: at most n² q²/4 w_max for either device of a
  // pair, whose weight moves by the mean of the two times 2.
  Matrix<double> n;
  const Matrix<double> soft = difference("soft_bounds", &n);
  const double q = 0.002;
  CHECK((soft.array().abs() <= 2 * n.array().square() * q * q / 4 * 1.0001).all());
  // All up before all down would be off by half of that in one direction on every device. Halves around the middle leave
  // no mean: devices independent of each other have a mean within 5 standard errors of the third order (n q)³/12.
  const double one_sided = (n.array().square() * q * q / 4).mean();
  const double spread = std::sqrt(soft.array().square().mean());
  CHECK(spread < one_sided);
  CHECK(std::abs(soft.mean()) < 5 * spread / std::sqrt(3000.0) + std::pow(n.mean() * q, 3) / 12);
  CHECK(std::abs(soft.mean()) < 0.1 * one_sided);
}

namespace {

/// Relative squared error of a linear regression learnt one sample at a time, mean over the last tenth of the steps.
double regression_error(const CrossbarSpec& spec, double rate, int steps) {
  constexpr Index in = 12, out = 8;
  const Matrix<double> truth = 0.3 * normals(in, out, 40);
  auto map = make_linear_map<double>(spec, Matrix<double>::Zero(in, out), 0, 1);
  double sum = 0;
  int counted = 0;
  for (int step = 0; step < steps; ++step) {
    const Matrix<double> x = normals(1, in, static_cast<std::uint32_t>(1000 + step));
    const Matrix<double> noise = 0.5 * normals(1, out, static_cast<std::uint32_t>(1000000 + step));
    const Matrix<double> error = x * map->weights() - (x * truth + noise);
    if (map->takes_factors()) {
      map->apply_factors({{{0, out}, 1.0, x, error}}, rate);
    } else {
      map->apply_update(-rate * x.transpose() * error);
    }
    if (step < steps - steps / 10) continue;
    sum += (map->weights() - truth).squaredNorm() / truth.squaredNorm();
    ++counted;
  }
  return sum / counted;
}

}  // namespace

TEST_CASE("Tiki-Taka learns where plain pulses on asymmetric devices stall", "[circuits]") {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.pulses = 400;
  spec.device.step_spread = 0.2;
  spec.device.asymmetry_spread = 0.2;
  spec.device.update_noise = 0.3;
  spec.device.update = PulseMode::pulsed;
  spec.mapping.w_max = 1;
  constexpr double rate = 0.01;
  const double plain = regression_error(spec, rate, 6000);
  CrossbarSpec exact = spec;
  exact.device.model = "ideal";
  CHECK(regression_error(exact, rate, 6000) < 0.25 * plain);  // plain pulses stall on their devices, not on the noise
  CrossbarSpec two = spec;
  two.programming.update = UpdateScheme::tiki_taka;
  const double transferred = regression_error(two, rate, 6000);
  CHECK(transferred < 0.25 * plain);
  two.rule.zero_shift = 0;  // with a wrong symmetry point it is worse by more than a half
  CHECK(regression_error(two, rate, 6000) > 1.5 * transferred);
  two.rule.zero_shift = 8;
  two.rule.coincidence = true;
  CHECK(regression_error(two, rate, 6000) < 0.25 * plain);
}

TEST_CASE("rules with a digital buffer learn where plain pulses stall", "[rules]") {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.pulses = 400;
  spec.device.step_spread = 0.2;
  spec.device.asymmetry_spread = 0.2;
  spec.device.update_noise = 0.3;
  spec.device.update = PulseMode::pulsed;
  spec.mapping.w_max = 1;
  const double plain = regression_error(spec, 0.01, 6000);
  const auto by = [&](UpdateScheme update) {
    spec.programming.update = update;
    return regression_error(spec, 0.01, 6000);
  };
  // What knows its symmetry point is rid of the pull towards it; signs that change take most of it out, a threshold of one pulse
  // saves writes, whose noise it spares, and leaves the pull.
  const double ttv2 = by(UpdateScheme::ttv2), agad = by(UpdateScheme::agad);
  CHECK(ttv2 < 0.25 * plain);
  CHECK(by(UpdateScheme::residual) < 0.25 * plain);
  CHECK(agad < 0.5 * plain);
  CHECK(by(UpdateScheme::c_ttv2) < 0.75 * plain);
  CHECK(by(UpdateScheme::accumulate) < 0.75 * plain);
  CHECK(by(UpdateScheme::multi_tile) < plain);
  spec.rule.zero_shift = 0;  // a wrong symmetry point: worse than one that is found on the way
  CHECK(by(UpdateScheme::ttv2) > agad);
}

TEST_CASE("Tiki-Taka: the symmetry point is where alternating pulses leave a device", "[circuits]") {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.pulses = 100;
  spec.device.asymmetry_spread = 0.2;
  spec.programming.update = UpdateScheme::residual;
  spec.rule.share = 0.999;
  const Matrix<double> w = normals(6, 5, 0);
  const RuledMap<double> map(spec, w, 0, 1);
  const Crossbar<double>& fast = *map.arrays().all.back();
  const Matrix<double>& zero = map.arrays().zero.back();
  // Fixed point of up and down pulses to first order: upper and lower bound weighted with s_up and s_down (soft_bounds.cpp),
  // here g_min + window s_up/(s_up + s_down); one pulse of either device is 0.02 w_max of the pair.
  const auto balance = [](const DeviceArray<double>& array) -> Eigen::ArrayXXd {
    return array.cells().step_up.array() / (array.cells().step_up + array.cells().step_down).array();
  };
  const Eigen::ArrayXXd expected = (balance(fast.plus()) - balance(fast.minus())) * static_cast<double>(fast.w_max());
  // The bursts that find it are no learning: nothing has been learnt yet.
  for (const MapReading& one : map.readings()) {
    if (one.name != "fast_programming_pulses") continue;
    CHECK(one.value > 0);
    CHECK(one.value == static_cast<double>(fast.pulses().up + fast.pulses().down));
  }
  CHECK((zero.array() - expected).abs().maxCoeff() < 0.02 * fast.w_max());
  CHECK(zero.cwiseAbs().maxCoeff() > 0.05 * fast.w_max());
  // Left at the symmetry point, the fast array adds nothing but what the last single pulse is off its mean: half a pulse.
  CHECK((map.weights() - w).cwiseAbs().maxCoeff() < 0.02 * fast.w_max());
  const Matrix<double> x = normals(3, 6, 1);
  Matrix<double> y = Matrix<double>::Zero(3, 5);
  ReadContext read;
  map.forward(x, y, {0, 5}, Store::subtract, read);
  CHECK((y + x * map.weights()).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("Tiki-Taka: a bound on the weights acts at once, an update only through transfers", "[circuits]") {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.mapping.w_max = 1;
  Crossbar<double> plain(spec, 0.1 * normals(6, 5, 0), 0, 1);
  spec.programming.update = UpdateScheme::tiki_taka;
  spec.rule.every = 1000;
  RuledMap<double> map(spec, 0.1 * normals(6, 5, 0), 0, 1);
  const Matrix<double> before = map.weights();
  const Matrix<double> delta = 0.05 * normals(6, 5, 1);
  map.apply_update(delta);
  CHECK((map.weights() == before));
  map.apply({.direction = &delta, .kind = UpdateKind::immediate});
  plain.apply_update(delta);  // the slow array alone
  CHECK((map.weights() == plain.weights()));
  CHECK((map.weights() != before));
}
