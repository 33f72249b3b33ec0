// SPDX-License-Identifier: Apache-2.0
#include "training/config/step_stages.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <set>

#include "tests/training/network_kinds.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const StepStage* find(const std::vector<StepStage>& stages, const std::string& name) {
  const auto at = std::find_if(stages.begin(), stages.end(), [&](const StepStage& s) { return s.stage == name; });
  return at == stages.end() ? nullptr : &*at;
}

std::vector<StepStage> stages_of(const Config& config) {
  return step_stages(config, *network_plan(config, sizes_for(config)));
}

}  // namespace

TEST_CASE("every weight, node and force of an assembled network is a stage of its step", "[stages]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const std::string model : {"digital", "soft_bounds"}) {
      CAPTURE(kind.name, model);
      const Config config = small(kind.name, {"device.model=" + model});
      const std::vector<StepStage> stages = stages_of(config);
      const auto network = make_network<double>(config, network_plan(config, sizes_for(config)), Weights::configured);
      for (int p = 0; p < network->parameters(); ++p) {
        const Parameter parameter = network->plan().parameters()[static_cast<std::size_t>(p)];
        const StepStage* stage = find(stages, "weights " + parameter.name);
        REQUIRE(stage != nullptr);
        const bool devices = !network->map(p).plain() && parameter.on_devices;
        CHECK((stage->home == StageHome::device) == (devices && model != "digital"));
      }
      for (const Node& node : network->circuit().nodes()) CHECK(find(stages, "node " + node.name) != nullptr);
      for (const auto& term : network->circuit().terms()) {
        CHECK(find(stages, "force " + std::string(term->traits().name)) != nullptr);
      }
      std::set<std::string> names;
      for (const StepStage& stage : stages) names.insert(stage.stage);
      CHECK(names.size() == stages.size());
      const bool all_digital =
          std::all_of(stages.begin(), stages.end(), [](const StepStage& s) { return s.home == StageHome::digital; });
      CHECK(all_digital == (model == "digital"));
    }
  }
}

TEST_CASE("a key that makes a stage physical moves it from digital to circuit", "[stages]") {
  struct Move {
    const char *setting, *stage;
    StageHome home;
  };
  for (const Move& move :
       {Move{"circuit.hold_capacitance=100 fF", "z* and the nudged states, kept between phases", StageHome::circuit},
        Move{"circuit.phase_adc_bits=12", "read-out of these states", StageHome::circuit},
        Move{"crossbar.forward_adc_bits=8", "converters at the arrays", StageHome::circuit}}) {
    CAPTURE(move.setting);
    const Config before = small("block", {"device.model=soft_bounds"});
    const Config after = small("block", {"device.model=soft_bounds", move.setting});
    REQUIRE(find(stages_of(before), move.stage) != nullptr);
    CHECK(find(stages_of(before), move.stage)->home == StageHome::digital);
    CHECK(find(stages_of(after), move.stage)->home == move.home);
  }
  const auto update = [](const std::string& mode) {
    const Config config = small("block", {"device.model=soft_bounds", "device.update=" + mode});
    return find(stages_of(config), "changes of weights")->how;
  };
  CHECK(update("pulsed") == "whole pulses");
  CHECK(update("continuous") == "fractions of pulses (not physical)");
}
