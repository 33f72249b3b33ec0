// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/programming/write_devices.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

constexpr Index n = 60;

DeviceSpec rough() {
  DeviceSpec spec;
  spec.pulses = 200;
  spec.asymmetry = 0.3;
  spec.step_spread = 0.15;  // the slowest of thousands (4 standard deviations) still make 0.4 of the nominal step
  spec.upper_bound_spread = 0.2;
  spec.lower_bound_spread = 0.2;
  spec.update_noise = 0.3;
  return spec;
}

/// Targets evenly over the window.
Matrix<double> targets(const DeviceSpec& spec) {
  Matrix<double> out(n, n);
  for (Index i = 0; i < out.size(); ++i) {
    out.data()[i] = spec.g_min_S + spec.window_S() * static_cast<double>(i) / static_cast<double>(out.size() - 1);
  }
  return out;
}

Matrix<double> normals(Index rows, Index cols, std::uint32_t which) {
  Matrix<double> out(rows, cols);
  fill_normal<double>({11, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

double reading(const Crossbar<double>& crossbar, const std::string& name) {
  for (const MapReading& r : crossbar.readings()) {
    if (r.name == name) return r.value;
  }
  FAIL("no reading " << name);
  return 0;
}

}  // namespace

TEST_CASE("cells with levels are programmed to the nearest one", "[circuits]") {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.pulses = 300;  // 20 pulses from level to level
  spec.levels = 16;
  const Matrix<double> target = targets(spec);
  const double apart = spec.window_S() / 15;
  Matrix<double> nearest = target;
  for (double& g : nearest.reshaped()) g = spec.g_min_S + apart * std::round((g - spec.g_min_S) / apart);
  for (const ProgrammingScheme scheme :
       {ProgrammingScheme::open_loop_error, ProgrammingScheme::open_loop_pulses, ProgrammingScheme::write_verify}) {
    DeviceArray<double> array(spec, n, n, {3, 1, 0});
    ProgrammingSpec how;
    how.scheme = scheme;
    std::uint64_t operation = 0;
    const WriteReport report = write_array(array, target, how, 0, operation);
    const double off = (array.conductance() - nearest).cwiseAbs().maxCoeff() / spec.window_S();
    // The error is exact without pulses; pulses end within half of one, write-verify within its tolerance.
    CHECK(off <= (scheme == ProgrammingScheme::open_loop_error    ? 1e-12
                  : scheme == ProgrammingScheme::open_loop_pulses ? 0.51 / 300
                                                                  : how.tolerance));
    // Errors are of what was asked for: uniform within half a level, 1/(15 √12) of the window rms, and the ends of the writing.
    CHECK(report.error_rms() >= 0.99 / (15 * std::sqrt(12.0)));
    CHECK(report.error_rms() <= 1.01 * std::hypot(1 / (15 * std::sqrt(12.0)), off));
  }
  spec.levels = 1;
  CHECK_THROWS_WITH(spec.validate(), Contains("device.levels = 1 (must be 0, or a whole number from 2 on"));
  spec.levels = 2.5;
  CHECK_THROWS_AS(spec.validate(), UserError);
}

TEST_CASE("write-verify: every device is within tolerance or reported as a failure", "[circuits]") {
  const DeviceSpec spec = rough();
  const Matrix<double> target = targets(spec);
  DeviceArray<double> array(spec, n, n, {3, 1, 0});
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::write_verify;
  std::uint64_t operation = 0;
  const WriteReport report = write_array(array, target, how, 0, operation);
  const Eigen::ArrayXXd error = (array.conductance() - target).array().abs() / spec.window_S();
  // Reads without noise: who is accepted is within tolerance, who fails is not.
  CHECK(report.failures == static_cast<std::uint64_t>((error > how.tolerance).count()));
  CHECK(report.devices == n * n);
  CHECK(operation > 1);
  CHECK(report.error_rms() == Approx(std::sqrt(error.square().mean())));
  // Whose bound lies short of the target by more than the tolerance cannot get there.
  const auto& cells = array.cells();
  const Eigen::ArrayXXd short_of = (target - cells.upper).cwiseMax(cells.lower - target).array() / spec.window_S();
  CHECK(report.failures >= static_cast<std::uint64_t>((short_of > how.tolerance).count()));
  CHECK(report.failures > 0);
  CHECK(report.failures < n * n / 4);
  // Pulses are counted per device too.
  CHECK(cells.writes.sum() == Approx(static_cast<double>(report.pulses.up + report.pulses.down)));
  CHECK(cells.writes.maxCoeff() <= how.pulse_limit(spec));
  // Reads: one per device and round it took part in, hence at least one each and at most one per pulse and the last.
  CHECK(report.reads >= n * n);
  CHECK(report.reads <= n * n + report.pulses.up + report.pulses.down);
}

TEST_CASE("write-verify: single pulses need more reads than bursts, stuck devices fail", "[circuits]") {
  DeviceSpec spec = rough();
  spec.upper_bound_spread = spec.lower_bound_spread = 0;
  const Matrix<double> middle = Matrix<double>::Constant(n, n, spec.g_reference_S());
  ProgrammingSpec how;
  std::vector<WriteReport> reports;
  for (const double burst : {0.0, 0.5}) {
    DeviceArray<double> array(spec, n, n, {3, 1, 0});
    for (Index i = 0; i < 10; ++i) {  // stuck low: no room to move
      array.cells().upper.data()[i] = array.cells().lower.data()[i];
    }
    how.burst = burst;
    how.scheme = ProgrammingScheme::write_verify;
    std::uint64_t operation = 0;
    reports.push_back(write_array(array, middle, how, 0, operation));
    CHECK(reports.back().failures == 10);
  }
  // Half of what is missing each time: about log2(100 pulses) reads instead of 100.
  CHECK(reports[1].reads * 3 < reports[0].reads);
}

TEST_CASE("write-verify with noisy reads: the error is that of the reads, longer reads mend it", "[circuits]") {
  DeviceSpec spec = rough();
  spec.upper_bound_spread = spec.lower_bound_spread = 0;
  spec.read_noise = 0.03;
  const Matrix<double> middle = Matrix<double>::Constant(n, n, spec.g_reference_S());
  const auto rms = [&](double read_time) {
    DeviceArray<double> array(spec, n, n, {3, 1, 0});
    ProgrammingSpec how;
    how.scheme = ProgrammingScheme::write_verify;
    how.read_time = read_time;
    std::uint64_t operation = 0;
    return write_array(array, middle, how, 0, operation).error_rms();
  };
  // Without noise every error is below the tolerance 0.01. With σ = 0.03, three times the tolerance, a device is accepted
  // by a lucky read: errors of the order of σ. 10⁴ times longer reads have σ = 3e-4: tolerance plus 5 σ.
  CHECK(rms(1) > 0.01);
  CHECK(rms(1) < 0.06);
  CHECK(rms(1e4) < 0.01 + 5 * 3e-4);
}

TEST_CASE("open loop: exact for the nominal device, off by the spread of the pulses otherwise", "[circuits]") {
  DeviceSpec spec;
  spec.pulses = 200;
  spec.asymmetry = 0.3;
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::open_loop_pulses;
  const Matrix<double> target = targets(spec);
  std::uint64_t operation = 0;
  DeviceArray<double> nominal(spec, n, n, {3, 1, 0});
  write_array(nominal, target, how, 0, operation);
  // The nearest of the reachable states: half of the largest step, 2/200 of the window at the lower bound, as long as the
  // 400 pulses reach: 1 − exp(−400/100) = 98 % of the window.
  const double reach = spec.g_min_S + 0.98 * spec.window_S();
  for (Index i = 0; i < target.size(); ++i) {
    if (target.data()[i] < reach) {
      REQUIRE(std::abs(nominal.conductance().data()[i] - target.data()[i]) <= 0.0051 * spec.window_S());
    }
  }
  CHECK(operation == 2);
  spec.step_spread = 0.2;
  DeviceArray<double> spread(spec, n, n, {3, 1, 0});
  const WriteReport report = write_array(spread, target, how, 0, operation);
  // Soft bounds: 1 − g scales as exp(−k s): d(1 − g) = −(1 − g) ln(1/(1 − g)) 0.2, whose mean square over targets is
  // 0.04 ∫ x² ln² x dx = 0.04 · 2/27, hence rms 0.054; 20 % for the second order in 0.2 and the cut-off.
  CHECK(report.error_rms() == Approx(0.2 * std::sqrt(2.0 / 27)).epsilon(0.2));
  // Write-verify: 1 % of the window from the bound takes 100 ln 100 = 460 nominal pulses, five times that of the slowest.
  how.scheme = ProgrammingScheme::write_verify;
  how.limit = 2500;
  DeviceArray<double> verified(spec, n, n, {3, 1, 0});
  CHECK(write_array(verified, target, how, 0, operation).error_rms() < 0.01);
}

TEST_CASE("in-situ write-verify follows the digital weights", "[circuits]") {
  CrossbarSpec spec;
  spec.device = rough();
  spec.device.upper_bound_spread = spec.device.lower_bound_spread = 0;
  spec.programming.scheme = ProgrammingScheme::write_verify;
  spec.programming.update = UpdateScheme::write_verify;
  spec.mapping.headroom = 4;
  const Matrix<double> w = normals(20, 30, 0);
  Crossbar<double> crossbar(spec, w, 0, 1);
  const double w_max = crossbar.w_max();
  Matrix<double> digital = w;
  // Each device is within the tolerance of its target, or will be as soon as the target has moved by another tolerance:
  // two of them for either device of the pair, 4 · 0.01 w_max.
  const double bound = 4 * 0.01 * w_max * (1 + 1e-9);
  CHECK((crossbar.weights() - digital).cwiseAbs().maxCoeff() <= bound / 2);
  SECTION("changes") {
    for (std::uint64_t step = 0; step < 10; ++step) {
      const Matrix<double> delta = 0.05 * normals(20, 30, static_cast<std::uint32_t>(step + 1));
      crossbar.apply_update(delta);
      digital += delta;
      CHECK((crossbar.weights() - digital).cwiseAbs().maxCoeff() <= bound);
    }
    CHECK(crossbar.writes().failures == 0);
    CHECK(reading(crossbar, "write_error_rms") < 0.01);
    CHECK(reading(crossbar, "verify_reads") == static_cast<double>(crossbar.writes().verify_reads));
  }
  SECTION("changes below the tolerance wait in the digital copy") {
    // A device moves by the tolerance when the weight moves by 0.02 w_max.
    const Matrix<double> delta = Matrix<double>::Constant(20, 30, 0.006 * w_max);
    const Matrix<double> before = crossbar.weights();
    for (std::uint64_t step = 0; step < 3; ++step) crossbar.apply_update(delta);
    CHECK((crossbar.weights() == before));
    crossbar.apply_update(delta);
    digital += 4 * delta;
    CHECK((crossbar.weights() - digital).cwiseAbs().maxCoeff() <= bound / 2);
  }
}

TEST_CASE("no two updates share random numbers, whatever the training step", "[circuits]") {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.device.update_noise = 0.5;
  Crossbar<double> crossbar(spec, Matrix<double>::Zero(4, 4), 0, 1);
  const Matrix<double> delta = Matrix<double>::Constant(4, 4, 0.05);
  crossbar.apply_update(delta);
  const Matrix<double> first = crossbar.weights();
  crossbar.apply_update(delta);
  CHECK(((crossbar.weights() - first) - first).cwiseAbs().minCoeff() > 1e-9);
}

TEST_CASE("stochastic rounding is unbiased, saturation and wear are counted", "[circuits][statistics]") {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.device.update = PulseMode::pulsed;
  spec.device.endurance = 500;
  Crossbar<double> crossbar(spec, Matrix<double>::Zero(200, 200), 0, 1);
  CHECK(reading(crossbar, "saturated") == 0);
  // w_max = 1: a pulse on each device is 0.002. 0.37 of it: the pair moves by (r⁺ + r⁻)/2 pulses, r = 0 or 1 with mean
  // 0.37, standard deviation √(0.37 · 0.63/2) of the 0.002. 40000 pairs, 5 standard errors: false alarm 6e-7.
  crossbar.apply_update(Matrix<double>::Constant(200, 200, 0.37 * 0.002));
  const double error = 0.002 * std::sqrt(0.37 * 0.63 / 2) / 200;
  CHECK(std::abs(crossbar.weights().mean() - 0.37 * 0.002) < 5 * error);
  CHECK(reading(crossbar, "device_pulses_mean") == Approx(0.37).epsilon(0.02));
  CHECK(reading(crossbar, "device_pulses_max") == 1);
  CHECK(reading(crossbar, "worn") == 0);
  crossbar.apply_update(Matrix<double>::Constant(200, 200, 3.0));
  CHECK(reading(crossbar, "saturated") == 1);
  CHECK(reading(crossbar, "worn") == 2 * 40000);
}

TEST_CASE("bad input to programming", "[circuits]") {
  CrossbarSpec spec;
  spec.device.pulses = 20;
  const Matrix<double> w = Matrix<double>::Ones(2, 2);
  CHECK_NOTHROW(Crossbar<double>(spec, w, 0, 1));
  spec.programming.scheme = ProgrammingScheme::write_verify;
  CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1),
                    Contains("crossbar.verify_tolerance = 0.01") && Contains("half a pulse") && Contains("0.025"));
  spec.programming.tolerance = 0.03;
  CHECK_NOTHROW(Crossbar<double>(spec, w, 0, 1));
  spec.programming.train = 65;
  CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1), Contains("crossbar.pulse_train = 65"));
  spec.programming.train = 31;
  spec.programming.limit = -1;
  CHECK_THROWS_WITH(Crossbar<double>(spec, w, 0, 1), Contains("crossbar.verify_limit = -1"));
  spec.programming.limit = 0;
  spec.rule.rate = 0;
  CHECK_THROWS_AS(Crossbar<double>(spec, w, 0, 1), UserError);
}

TEST_CASE("pulses and reads of programming are told apart from those of learning, over a restart too", "[circuits]") {
  CrossbarSpec spec;
  spec.device = rough();
  spec.device.pulse_up = {1, 1e-6};
  spec.device.pulse_down = {1, 1e-6};
  spec.programming.scheme = ProgrammingScheme::write_verify;
  const Matrix<double> w = Matrix<double>::Random(6, 5);
  const auto reading = [](const LinearMap<double>& map, const std::string& name) {
    for (const MapReading& one : map.readings()) {
      if (one.name == name) return one.value;
    }
    return std::nan("");
  };
  const auto sent = [&](const LinearMap<double>& map) {
    return reading(map, "pulses_up") + reading(map, "pulses_down");
  };
  Crossbar<double> map(spec, w, 0, 1);
  const double written = reading(map, "programming_energy");
  const double first = sent(map), reads = reading(map, "verify_reads");
  CHECK((first > 0 && reads > 0));
  CHECK(reading(map, "programming_pulses") == first);
  CHECK(reading(map, "programming_reads") == reads);
  CHECK(reading(map, "programming_energy") == reading(map, "write_energy"));
  CHECK(reading(map, "programming_reads_energy") == reading(map, "verify_energy"));
  map.apply_update(Matrix<double>::Constant(6, 5, 0.05));
  const double learnt = sent(map) - first;
  CHECK(learnt > 0);
  CHECK(reading(map, "programming_pulses") == first);  // what learning sends is no part of it
  CHECK(reading(map, "programming_energy") == written);
  CHECK(reading(map, "write_energy") > written);
  map.program(w);
  CHECK(reading(map, "programming_pulses") == Approx(sent(map) - learnt));
  Crossbar<double> other(spec, w, 0, 2);
  auto from = map.state(), to = other.state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) *to[i].values = *from[i].values;
  other.state_restored();
  for (const char* name : {"programming_pulses", "programming_reads", "programming_energy", "pulses_up"})
    CHECK(reading(other, name) == reading(map, name));
}
