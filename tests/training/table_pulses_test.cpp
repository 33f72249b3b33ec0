// SPDX-License-Identifier: Apache-2.0
// device.pulses of tabulated memristors: what the tables make of volts and widths, wherever these are set.
#include <string>

#include "devices/device_config.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"

namespace nudge {
namespace {

// The state moves alike everywhere: 1e6/s at 1 V, 1e4/s at 0.5 V. Pulses of 10 ns cross the window in 100 and in 10,000.
const std::string tables =
    "network.kind = 'hopfield'\ntask.kind = 'classification'\n[device]\nmodel = 'memristor_table'\n"
    "[device.memristor_table]\npulse_width = '10 ns'\nvolts = [-1, -0.5, 0, 0.5, 1]\n"
    "rate = [-1e6, -1e6, -1e4, -1e4, 0, 0, 1e4, 1e4, 1e6, 1e6]\n"
    "current = [-1e-6, -2e-5, -5e-7, -1e-5, 0, 0, 5e-7, 1e-5, 1e-6, 2e-5]\n";

double pulses(const std::vector<std::string>& settings) {
  return parse_program_config("c.toml", tables, settings).real("device.pulses");
}

}  // namespace

TEST_CASE("device.pulses of tables follows the volts of the pulses, until it is set", "[hardware]") {
  // Six digits are written.
  CHECK(pulses({}) == Approx(100).epsilon(1e-5));
  const std::vector<std::string> half = {"device.memristor_table.pulse_up=0.5",
                                         "device.memristor_table.pulse_down=-0.5"};
  CHECK(pulses(half) == Approx(10000).epsilon(1e-5));
  // Up at 1 V, down at 0.5 V: the mean step is (0.01 + 0.0001)/2.
  CHECK(pulses({"device.memristor_table.pulse_down=-0.5"}) == Approx(2 / 0.0101).epsilon(1e-5));
  std::vector<std::string> stale = half;
  stale.emplace_back("device.pulses=100");
  CHECK(pulses(stale) == 100);
  CHECK_THAT(stale_pulses(parse_program_config("c.toml", tables, stale)),
             Catch::Contains("device.pulses = 100") && Catch::Contains("1e+04"));
  CHECK(stale_pulses(parse_program_config("c.toml", tables, half)).empty());
  CHECK(stale_pulses(parse_program_config("c.toml", tables, {"device.pulses=150"})).empty());
}

}  // namespace nudge
