// SPDX-License-Identifier: Apache-2.0
// Devices that die of their pulses: when, of how many, and what can still move them (nothing).
#include <cmath>

#include "devices/device_array.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

DeviceSpec mortal(double endurance, double spread) {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.pulses = 1000;
  spec.endurance = endurance;
  spec.endurance_spread = spread;
  spec.endurance_failure = EnduranceFailure::stuck;
  return spec;
}

}  // namespace

TEST_CASE("endurance: a device takes its last pulse and then stays where it is for good", "[devices]") {
  DeviceSpec spec = mortal(10, 0);
  spec.retention.drift_exponent = 0.1;
  spec.retention.leak_time_s = 1;
  DeviceArray<double> array(spec, 2, 3, {1, 2, 0});
  const Matrix<double> ones = Matrix<double>::Ones(2, 3);
  array.program(5e-6 * ones, 0);
  const double step = spec.window_S() / spec.pulses;
  array.pulse(4 * ones, 0);
  CHECK(array.worn_out() == 0);
  // Sent 30 down of which 6 act, half of them in a part of the array first.
  array.pulse(std::vector<Index>{1, 4}, -3 * Matrix<double>::Ones(1, 2), 1);
  CHECK(array.worn_out() == 0);
  const PulseCount sent = array.pulse(-30 * ones, 2);
  CHECK(sent.down == 180);  // those without effect are sent all the same
  CHECK(array.worn_out() == 6);
  CHECK((array.cells().writes.array() == 10).all());
  const Matrix<double> last = array.conductance();
  // 4 up and 6 down: 10 roundings of 5 uS.
  CHECK((last.array() - (5e-6 - 2 * step)).abs().maxCoeff() < 10 * 2.2e-16 * 5e-6);
  array.pulse(20 * ones, 3);
  array.pulse_both(5 * ones, 7 * ones, 4);
  array.update(ones, 3e-6, 7);
  array.pulse(std::vector<Index>{0}, 9 * Matrix<double>::Ones(1, 1), 8);
  array.program(9e-6 * ones, 1);
  array.advance_time(1e4, 0);
  CHECK((array.conductance() == last));
  CHECK((array.cells().writes.array() == 10).all());
  // Without the failure the same pulses are counted and act.
  spec.endurance_failure = EnduranceFailure::none;
  DeviceArray<double> immortal(spec, 1, 1, {1, 2, 0});
  immortal.pulse(Matrix<double>::Constant(1, 1, 30), 0);
  CHECK(immortal.worn_out() == 0);
  CHECK(immortal.cells().writes(0, 0) == 30);
}

TEST_CASE("endurance: lives are lognormal around the published mean, by seed, and survive a checkpoint",
          "[devices][statistics]") {
  constexpr Index n = 128;
  const DeviceSpec spec = mortal(1e4, 0.5);
  DeviceArray<double> array(spec, n, n, {1, 2, 0});
  const auto life = array.cells().life.array();
  // 16384 lives: 5 standard errors (false alarms 6e-7). Variance of a lognormal: mean² (exp(σ²) − 1).
  const double sd = 1e4 * std::sqrt(std::expm1(0.25));
  CHECK(std::abs(life.mean() - 1e4) < 5 * sd / n);
  const auto logs = life.log().eval();
  CHECK(std::abs(std::sqrt((logs - logs.mean()).square().mean()) / 0.5 - 1) < 5 / std::sqrt(2.0 * n * n));
  CHECK((DeviceArray<double>(spec, n, n, {1, 2, 0}, 3).cells().life == array.cells().life));
  CHECK((DeviceArray<double>(spec, n, n, {2, 2, 0}).cells().life != array.cells().life));
  // At the median, exp(−σ²/2) of the mean, half are dead: binomial, 5 standard errors.
  array.pulse(Matrix<double>::Constant(n, n, std::ceil(1e4 * std::exp(-0.125))), 0);
  CHECK(std::abs(static_cast<double>(array.worn_out()) / (n * n) - 0.5) < 5 * 0.5 / n);
  // A checkpoint holds lives and pulses: another array that takes them over has the same dead.
  DeviceArray<double> restored(spec, n, n, {9, 9, 0});
  restored.cells().g = array.cells().g;
  restored.cells().writes = array.cells().writes;
  bool found = false;
  for (const SlowArray<double>& saved : array.slow_state()) {
    for (const SlowArray<double>& mine : restored.slow_state()) {
      if (saved.name == mine.name) *mine.values = *saved.values;
    }
    found = found || saved.name == "life";
  }
  CHECK(found);
  restored.state_restored();
  CHECK(restored.worn_out() == array.worn_out());
  array.pulse(Matrix<double>::Constant(n, n, -100), 1);
  restored.pulse(Matrix<double>::Constant(n, n, -100), 1);
  CHECK(restored.worn_out() == array.worn_out());
}

TEST_CASE("endurance: a request that is not finite shows, and failing needs a number of pulses", "[devices]") {
  DeviceArray<double> array(mortal(10, 0), 1, 2, {1, 2, 0});
  Matrix<double> delta = Matrix<double>::Zero(1, 2);
  delta(0, 0) = std::numeric_limits<double>::quiet_NaN();
  const PulseCount sent = array.update(delta, 1e-6, 0);
  CHECK(std::isnan(array.conductance()(0, 0)));
  CHECK(std::isfinite(array.conductance()(0, 1)));
  CHECK(sent.up + sent.down == 0);
  DeviceSpec spec = mortal(0, 0);
  CHECK_THROWS_WITH(spec.validate(), Contains("device.endurance_failure") && Contains("device.endurance = 0"));
}
