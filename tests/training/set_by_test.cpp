// SPDX-License-Identifier: Apache-2.0
#include "training/config/set_by.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;

TEST_CASE("what a preset, a level or nobody chose is said once, by what chose it") {
  const std::string text = "[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\n";
  const Config config =
      parse_program_config("run.toml", text, {"device.preset=ecram", "circuit.hold_offset=50 uV", "beta=0.3"});
  CHECK(set_by(config, "network.kind") == "run.toml:2:1");
  CHECK(set_by(config, "beta") == "--set");
  CHECK(set_by(config, "device.step_spread") == "device.preset ecram");
  CHECK(set_by(config, "circuit.hold_capacitance") == "hardware.level = mixed");
  const std::string said = choices_text(config);
  CHECK_THAT(said, Contains("\n  device.preset ecram: device.model, ") && Contains("\n  hardware.level = mixed: ") &&
                       Contains("\n  left to the program (auto): "));
  CHECK(std::count(said.begin(), said.end(), '\n') <= 10);
  // What the user said is no choice of the program, and neither is what no training of this config reads.
  for (const char* key : {"circuit.hold_offset", "beta", "netlist."}) CHECK_THAT(said, !Contains(key));
  CHECK_THAT(choices_text(parse_program_config("run.toml", text, {})), !Contains("hardware.level"));
}
