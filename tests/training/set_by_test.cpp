// SPDX-License-Identifier: Apache-2.0
#include "training/config/set_by.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("what a preset, a level or nobody chose is said once, by what chose it") {
  const std::string text = "[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\n";
  const Config config =
      parse_program_config("run.toml", text, {"device.preset=ecram", "circuit.hold_offset=50 uV", "beta=0.3"});
  CHECK(set_by(config, "network.kind") == "run.toml:2:1");
  CHECK(set_by(config, "beta") == "--set");
  CHECK(set_by(config, "device.step_spread") == "device.preset ecram");
  CHECK(set_by(config, "circuit.hold_capacitance") == "hardware.level = mixed");
  const std::vector<GivenValue> given = given_values(config);
  const auto of = [&given](const std::string& key) {
    const auto at = std::find_if(given.begin(), given.end(), [&](const GivenValue& one) { return one.key == key; });
    return at == given.end() ? GivenValue{} : *at;
  };
  CHECK(of("device.model").by == "device.preset ecram");
  CHECK(of("device.model").value == "linear_step");
  CHECK(of("circuit.hold_capacitance").value == "1 pF");
  // The largest divisor of the default batch of 32 up to 16; twice the pulses; the state itself is compared.
  CHECK(of("data.side_by_side").value == "16");
  CHECK(of("hopfield.output_activation").value == "identity");
  CHECK_THAT(of("data.side_by_side").reason, Contains("the largest divisor of train.batch up to 16"));
  for (const GivenValue& one : given) {
    CAPTURE(one.key);
    CHECK_FALSE(one.value.empty());
    CHECK(one.value != "auto");
  }
  // What the user said is no choice of the program, and neither is what no training of this config reads.
  for (const char* key : {"circuit.hold_offset", "beta", "netlist.conductance"}) CHECK(of(key).key.empty());
  const auto bare = given_values(parse_program_config("run.toml", text, {}));
  CHECK(std::none_of(bare.begin(), bare.end(), [](const GivenValue& one) { return one.by != "auto"; }));
}

TEST_CASE("a run tells what it measured and why, and its file keeps it", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config({"hardware.level=mixed", "device.preset=ecram", "train.steps=2",
                                     "estimator=aep_transposed", "nudge.below_noise=true"});
  std::vector<GivenValue> told;
  const TrainSummary run = train(config, dir / "run.h5", [&told](const TrainProgress& p) {
    if (!p.given.empty()) told = p.given;
    return true;
  });
  // Two steps are too few for a forecast of the gradient's cosine, and say so.
  CHECK(std::isnan(run.of("expected_cosine")));
  CHECK(std::any_of(run.notes.begin(), run.notes.end(), [](const std::string& note) {
    return note.starts_with("no forecast of the gradient's cosine") && note.find("100 steps") != std::string::npos;
  }));
  const auto beta = std::find_if(told.begin(), told.end(), [](const GivenValue& one) { return one.key == "beta"; });
  REQUIRE(beta != told.end());
  CHECK(std::stod(beta->value) > 0);
  CHECK(beta->measured);
  CHECK_THAT(beta->reason, Contains("signal-to-noise"));
  const std::vector<GivenValue> kept = read_given(H5Reader(dir / "run.h5"));
  REQUIRE(kept.size() == told.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].key + kept[i].value + kept[i].by + kept[i].reason ==
          told[i].key + told[i].value + told[i].by + told[i].reason);
  }
}
