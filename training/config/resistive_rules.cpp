// SPDX-License-Identifier: Apache-2.0
// What a network whose nodes are joined by its devices themselves has not, or is not modelled with.
#include "training/config/rows.hpp"

namespace nudge {
namespace {

/// Nodes of a resistive network hang on the lines of its arrays themselves: there is no circuit at the edge of an array, and what
/// a drop makes of wires, of curved devices and of the noise of their heat is not modelled.
ConfigRule bare_resistors(const std::string& key, const std::string& rule,
                          bool (*fits)(const Config&, const std::string&)) {
  return {{key, "network.kind", "device.model"}, [=](const Config& c) {
            const bool concerned = c.text("network.kind") == "resistive" && c.text("device.model") != "digital";
            return concerned && !fits(c, key)
                       ? rule + " for network.kind = resistive: its nodes hang on the lines of its arrays"
                       : "";
          }};
}

}  // namespace

std::vector<ConfigRule> resistive_rules() {
  const auto zero = [](const Config& c, const std::string& key) { return c.real(key) == 0; };
  const auto none = [](const Config& c, const std::string& key) { return c.integer(key) == 0; };
  const auto off = [](const Config& c, const std::string& key) { return !c.flag(key); };
  std::vector<ConfigRule> rules;
  for (const char* key :
       {"crossbar.row_resistance", "crossbar.column_resistance", "crossbar.driver_resistance",
        "crossbar.sense_resistance", "device.iv_sinh", "device.iv_cubic", "circuit.amplifier_bandwidth"}) {
    rules.push_back(bare_resistors(key, "must be 0", zero));
  }
  for (const std::string side : {"crossbar.forward_", "crossbar.transposed_"}) {
    for (const char* key :
         {"dac_range", "adc_range", "offset", "gain_error", "gain_spread", "open_loop_gain", "saturation", "noise"}) {
      rules.push_back(bare_resistors(side + key, "must be 0", zero));
    }
    for (const char* key : {"dac_bits", "adc_bits"}) rules.push_back(bare_resistors(side + key, "must be 0", none));
  }
  for (const char* key : {"circuit.thermal_noise", "circuit.shot_noise"}) {
    rules.push_back(bare_resistors(key, "must be false", off));
  }
  rules.push_back(bare_resistors("crossbar.scheme", "must be single",
                                 [](const Config& c, const std::string& key) { return c.text(key) == "single"; }));
  rules.push_back(
      {{"relaxation.solver", "network.kind"}, [](const Config& c) {
         const std::string& solver = c.text("relaxation.solver");
         const bool resistive = c.text("network.kind") == "resistive";
         if (resistive && solver != "euler" && solver != "coordinate") {
           return "must be euler or coordinate for network.kind = resistive, whose states diodes bound";
         }
         return !resistive && solver == "coordinate"
                    ? "must not be coordinate unless network.kind = resistive: units of other networks act on "
                      "each other within a node, or are loaded by what they do"
                    : "";
       }});
  rules.push_back(
      {{"relaxation.solver", "resistive.diode", "network.kind"}, [](const Config& c) {
         const bool shockley = c.text("network.kind") == "resistive" && c.text("resistive.diode") == "shockley";
         return shockley && c.text("relaxation.solver") != "coordinate"
                    ? "must be coordinate for resistive.diode = shockley: where a diode conducts its slope is "
                      "hundreds of times the load of the resistors, beyond any step of the others"
                    : "";
       }});
  rules.push_back({{"circuit.temperature", "resistive.diode", "network.kind"}, [](const Config& c) {
                     const bool shockley =
                         c.text("network.kind") == "resistive" && c.text("resistive.diode") == "shockley";
                     return shockley && c.real("circuit.temperature") == 0
                                ? "must be above 0 for resistive.diode = shockley, whose voltages are in units of k T/q"
                                : "";
                   }});
  rules.push_back({{"growth.samples", "network.kind"}, [](const Config& c) {
                     return c.text("network.kind") == "resistive" && c.flag("growth.samples")
                                ? "must be false for network.kind = resistive: resistors and diodes are passive, every "
                                  "direction of their Jacobian decays, and none can be made to grow by learning"
                                : "";
                   }});
  return rules;
}

}  // namespace nudge
