// SPDX-License-Identifier: Apache-2.0
// What presets say of their sources: what was measured, what was not, and how far each is from its record.
#include <algorithm>
#include <cmath>

#include "devices/device_config.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "devices/fit/pulse_law.hpp"
#include "devices/presets.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

bool says(const DevicePreset& preset, Aspect aspect) {
  return std::find(preset.measured.begin(), preset.measured.end(), aspect) != preset.measured.end();
}

/// Root mean square distance of a replay from the pulses of one direction, of the window.
double distance(const PulseRecord& record, const std::vector<double>& replayed, Direction direction, double window_S) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 1; i < replayed.size(); ++i) {
    if (record.direction[i] != direction) continue;
    sum += std::pow((record.conductance_S[i] - replayed[i]) / window_S, 2);
    ++count;
  }
  return std::sqrt(sum / count);
}

}  // namespace

TEST_CASE("presets: what no source measured is in no spec", "[devices]") {
  const DeviceSpec none;
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    const DeviceSpec& s = preset.spec;
    const bool requirement = preset.measured.empty();
    CHECK(preset.measured.size() + preset.not_measured().size() == aspects);
    CHECK(requirement == (preset.note.find("not a measured device") != std::string::npos ||
                          preset.summary == "capacitor cell of three transistors"));
    if (requirement) continue;
    if (!says(preset, Aspect::read_noise)) CHECK((s.read_noise == 0 && s.read_saturating_S == 0));
    if (!says(preset, Aspect::slow_noise)) CHECK((s.flicker.noise == 0 && s.telegraph.amplitude == 0));
    if (!says(preset, Aspect::retention))
      CHECK((s.retention.decay_slope_S == 0 && s.retention.drift_start_s == none.retention.drift_start_s));
    if (!says(preset, Aspect::pulse)) CHECK((s.pulse_up.voltage_V == 0 && s.pulse_down.voltage_V == 0));
    if (!says(preset, Aspect::iv)) CHECK(s.curve.linear());
    if (!says(preset, Aspect::endurance)) CHECK(s.endurance == 0);
    if (!says(preset, Aspect::update_noise)) CHECK((s.update_noise == 0 && s.update_noise_floor == 0));
    if (!says(preset, Aspect::spread))
      CHECK((s.step_spread == 0 && s.step_log_spread == 0 && s.upper_bound_spread == 0));
    if (!says(preset, Aspect::programming)) CHECK((s.programming_error == 0 && s.programming.write_noise == 0));
    if (says(preset, Aspect::read_noise)) CHECK(s.read_sigma_S(s.g_max_S) > 0);
    if (says(preset, Aspect::pulse)) CHECK(s.pulse_up.voltage_V > 0);
    if (says(preset, Aspect::spread)) CHECK((s.step_spread > 0 || s.step_log_spread > 0 || s.upper_bound_spread > 0));
    CHECK_THAT(device_show_text(preset.name), Contains("not_measured  " + aspects_text(preset.not_measured())));
  }
}

TEST_CASE("presets: the distance of a preset from its record is what it says", "[devices]") {
  int records = 0;
  for (const DevicePreset& preset : device_presets()) {
    if (!preset.record) continue;
    CAPTURE(preset.name);
    ++records;
    const std::string path = NUDGE_SOURCE_DIR "/devices/records/" + preset.record->file;
    const PulseRecord record = read_lab_csv(path, {preset.spec.g_min_S, preset.spec.g_max_S}).front().pulses;
    CHECK(record.pulses() >= 1998);
    const std::vector<double> replayed = replay(preset.spec, record, record.conductance_S.front());
    const double window = preset.spec.window_S();
    // Printed with two digits.
    CHECK(distance(record, replayed, Direction::up, window) == Approx(preset.record->rms_up).epsilon(0.01));
    CHECK(distance(record, replayed, Direction::down, window) == Approx(preset.record->rms_down).epsilon(0.01));
    CHECK_THAT(device_show_text(preset.name), Contains(preset.record->file) && Contains(preset.record->licence));
  }
  CHECK(records == 2);
}

TEST_CASE("presets: devices that learn on the chip have their authors' constants", "[devices]") {
  const DeviceSpec& reset = device_preset("hfox_reset").spec;
  // R0 = 6988 ohm, spread 381.7; ln R rises by 3.7416e-5 + 6.5647e-4 a pulse on the mean, for 515.08 pulses of
  // the median device: 542.54 of the whole log-normal law (σ = 0.80338), which the source cuts off at 41 and 2000.
  const double m1 = 3.7416e-5 + 6.5647e-4;
  CHECK(1 / reset.g_max_S == Approx(6988));
  CHECK(std::log(reset.g_max_S / reset.g_min_S) == Approx(m1 * 515.08));
  const auto below = [](double t) { return 0.5 * std::erfc(-std::log(t / 542.53852) / 0.80338177 / std::sqrt(2.0)); };
  CHECK(below(515.08) == Approx(0.5 * (below(41) + below(2000))).epsilon(1e-5));
  const double top = reset.upper_bound_spread * (reset.g_max_S - reset.g_reference_S());
  CHECK(top / reset.g_max_S == Approx(381.7 / 6988));
  // A log-normal size has the mean exp(s^2/2) of its median and the relative deviation sqrt(exp(s^2) - 1).
  const double s2 = reset.step_log_spread * reset.step_log_spread;
  const double middle = reset.g_reference_S();
  const double mean_step = reset.window_S() / reset.pulses * std::exp(0.5 * s2);
  CHECK(mean_step / middle == Approx(m1));
  CHECK(std::sqrt(std::expm1(s2)) == Approx(6.5647e-4 / m1));
  // The mean device loses the share m1 of its conductance with every pulse, everywhere: g_n = g_0 (1 - m1)^n.
  DeviceSpec mean = reset;
  mean.pulses /= std::exp(0.5 * s2);
  mean.step_log_spread = 0;
  PulseRecord record{std::vector<double>(401, reset.g_max_S), std::vector<Direction>(401, Direction::down)};
  const std::vector<double> fallen = replay(mean, record, reset.g_max_S);
  for (const int n : {1, 100, 400})
    CHECK(fallen[static_cast<std::size_t>(n)] / reset.g_max_S == Approx(std::pow(1 - m1, n)).epsilon(1e-9));
  // Pink noise of 15 terms of uniform numbers (variance 1/12): 0.025 sqrt(1.92301/12) = 0.0100 of ln R.
  CHECK(reset.programming.write_noise * reset.window_S() / reset.pulses / middle == Approx(0.0100078).epsilon(1e-4));
  const DeviceSpec& gate = device_preset("hfo2_1t1r").spec;
  CHECK(gate.g_min_S == Approx(100e-6 / 3));
  CHECK(gate.g_max_S == Approx(500e-6 / 3));
  CHECK(gate.programming.write_noise * gate.window_S() / gate.pulses == Approx(8e-6));
}
