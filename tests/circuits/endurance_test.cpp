// SPDX-License-Identifier: Apache-2.0
// Devices of a crossbar that die: by plain pulses, by coincidences and by write-verify; counted, and the same after a restart.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

CrossbarSpec mortal(UpdateScheme update) {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.update = PulseMode::pulsed;
  spec.device.update_noise = 0.3;
  spec.device.endurance = 40;
  spec.device.endurance_spread = 0.3;
  spec.device.endurance_failure = EnduranceFailure::stuck;
  spec.mapping.w_max = 1;
  spec.programming.update = update;
  return spec;
}

Matrix<double> uniform(Index rows, Index cols, std::uint32_t which) {
  Matrix<double> out(rows, cols);
  fill_uniform<double>({12, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return (2 * out.array() - 1).matrix();
}

double reading(const Crossbar<double>& crossbar, const std::string& name) {
  for (const MapReading& r : crossbar.readings()) {
    if (r.name == name) return r.value;
  }
  FAIL("no reading " << name);
  return 0;
}

/// One update of about 5 pulses per device.
void teach(Crossbar<double>& crossbar, UpdateScheme update, std::uint32_t step) {
  if (update == UpdateScheme::coincidence) {
    crossbar.apply_factors({{{0, 24}, 1.0, uniform(4, 30, 2 * step), 2 * uniform(4, 24, 2 * step + 1)}}, 0.01);
  } else {
    crossbar.apply_update(0.01 * uniform(30, 24, step));
  }
}

}  // namespace

TEST_CASE("endurance: devices of a crossbar die of any kind of update, are counted, and stay so after a restart",
          "[circuits]") {
  for (const auto update : {UpdateScheme::pulses, UpdateScheme::coincidence, UpdateScheme::write_verify}) {
    CAPTURE(static_cast<int>(update));
    const CrossbarSpec spec = mortal(update);
    Crossbar<double> crossbar(spec, Matrix<double>::Zero(30, 24), 0, 1);
    CHECK(reading(crossbar, "worn") == 0);
    std::uint32_t step = 0;
    while (reading(crossbar, "worn") < 400 && step < 400) teach(crossbar, update, step++);
    const double some = reading(crossbar, "worn");
    CHECK(some >= 400);
    CHECK(some < 2 * 30 * 24);
    // A copy from the checkpoint goes on to the same bits.
    Crossbar<double> restored(spec, Matrix<double>::Zero(30, 24), 0, 1);
    const auto saved = crossbar.state();
    auto mine = restored.state();
    REQUIRE(saved.size() == mine.size());
    bool lives = false;
    for (std::size_t k = 0; k < saved.size(); ++k) {
      REQUIRE(saved[k].name == mine[k].name);
      *mine[k].values = *saved[k].values;
      lives = lives || saved[k].name == "g_plus_life";
    }
    CHECK(lives);
    restored.state_restored();
    CHECK(reading(restored, "worn") == some);
    for (int k = 0; k < 3; ++k, ++step) {
      teach(crossbar, update, step);
      teach(restored, update, step);
    }
    CHECK((restored.weights() == crossbar.weights()));
    // In the end all are dead and nothing moves them. Write-verify only writes what is off its target.
    for (int k = 0; k < 1500 && reading(crossbar, "worn") < 2 * 30 * 24; ++k) teach(crossbar, update, step++);
    if (update == UpdateScheme::write_verify) continue;
    CHECK(reading(crossbar, "worn") == 2 * 30 * 24);
    const Matrix<double> last = crossbar.weights();
    for (int k = 0; k < 3; ++k) teach(crossbar, update, step++);
    CHECK((crossbar.weights() == last));
  }
}
