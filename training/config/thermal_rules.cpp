// SPDX-License-Identifier: Apache-2.0
// What drawing states of a bath asks of the network, and of what else would move them.
#include "training/config/rows.hpp"

namespace nudge {
namespace {

bool samples(const Config& c) { return c.text("relaxation.solver") == "sample"; }

}  // namespace

std::vector<ConfigRule> thermal_rules() {
  return {{{"relaxation.solver", "network.kind"},
           [](const Config& c) {
             return samples(c) && c.text("network.kind") != "thermal"
                        ? "must not be sample unless network.kind = thermal: other networks are in no bath"
                        : "";
           }},
          {{"relaxation.step", "relaxation.solver"},
           [](const Config& c) {
             return samples(c) && c.real("relaxation.step") >= 2 ? "must be below 2, over the leak of 1 of its units"
                                                                 : "";
           }},
          {{"circuit.thermal_noise", "relaxation.solver", "device.model"},
           [](const Config& c) {
             return samples(c) && c.flag("circuit.thermal_noise") && c.text("device.model") != "digital"
                        ? "must be false for relaxation.solver = sample, whose bath is the noise of the nodes"
                        : "";
           }},
          {{"train.beside", "network.kind"}, [](const Config& c) {
             const std::string& kind = c.text("network.kind");
             return c.text("train.beside") == "feed_forward" && (kind == "thermal" || kind == "oscillator")
                        ? "must not be feed_forward for network.kind = " + kind + ", whose units no perceptron has"
                        : "";
           }}};
}

}  // namespace nudge
