// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "circuits/rules/rule_kinds.hpp"
#include "devices/registry.hpp"
#include "training/config/rows.hpp"
#include "training/models/hopfield/hopfield_config.hpp"

namespace nudge {

namespace {

bool layered(const Config& c) {
  return c.text("network.kind") == "hopfield" || c.text("network.kind") == "convolutional";
}

ConfigRule projected_boxes() {
  return {{"hopfield.activation", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& rho = c.text("hopfield.activation");
            const bool fits = c.text("hopfield.form") != "projected" || rho == "hard_sigmoid" || rho == "relu";
            return !layered(c) || fits ? ""
                                       : "must be hard_sigmoid or relu for hopfield.form = projected: the box it names";
          }};
}

ConfigRule projected_output() {
  return {{"hopfield.output_activation", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& rho = c.text("hopfield.output_activation");
            const bool fits =
                c.text("hopfield.form") != "projected" || rho == "hard_sigmoid" || rho == "relu" || rho == "identity";
            return !layered(c) || fits
                       ? ""
                       : "must be identity, hard_sigmoid or relu for hopfield.form = projected: the box it "
                         "names";
          }};
}

ConfigRule feedback_has_a_form() {
  return {{"hopfield.feedback", "hopfield.form", "network.kind"}, [](const Config& c) {
            const std::string& feedback = c.text("hopfield.feedback");
            const bool projected = c.text("hopfield.form") == "projected";
            const bool fits = feedback == "transpose" || (feedback == "none") == projected;
            if (!layered(c) || fits) return std::string();
            return fmt::format("must be transpose or {} for hopfield.form = {}", projected ? "none" : "separate",
                               c.text("hopfield.form"));
          }};
}

/// Links that act both ways have no law of the difference alone (TermTraits::takes_difference).
ConfigRule links_are_driven_by_states() {
  return {{"nudge.drive", "hopfield.feedback", "network.kind"}, [](const Config& c) {
            return layered(c) && c.text("nudge.drive") == "difference" && hopfield_contrasts(c)
                       ? "must be state for hopfield.feedback = transpose: its links are driven by what they couple"
                       : "";
          }};
}

ConfigRule readout_alone() {
  return {{"train.learns", "hopfield.cost", "network.kind"}, [](const Config& c) {
            return layered(c) && c.text("train.learns") == "readout" && c.text("hopfield.cost") != "cross_entropy"
                       ? "must be all unless hopfield.cost = cross_entropy: there is no read-out to learn alone"
                       : "";
          }};
}

ConfigRule odd_kernels() {
  return {{"convolutional.kernel", "network.kind"}, [](const Config& c) {
            if (c.text("network.kind") != "convolutional") return std::string();
            for (const std::int64_t side : c.integers("convolutional.kernel")) {
              if (side % 2 == 0) return fmt::format("must be odd, {} has no middle", side);
            }
            return std::string();
          }};
}

/// One entry for all layers, or one for each.
ConfigRule entry_per_layer(const std::string& key) {
  return {{key, "convolutional.maps", "network.kind"}, [key](const Config& c) {
            const std::size_t entries = c.integers(key).size(), layers = c.integers("convolutional.maps").size();
            if (c.text("network.kind") != "convolutional" || entries == 1 || entries == layers) return std::string();
            return fmt::format("must have 1 entry, or {} as convolutional.maps has", layers);
          }};
}

ConfigRule some_convolution() {
  return {{"convolutional.maps", "network.kind"}, [](const Config& c) {
            return c.text("network.kind") == "convolutional" && c.integers("convolutional.maps").empty()
                       ? "must name a layer for network.kind = convolutional (hopfield has none)"
                       : "";
          }};
}

/// Both ends of an array must be known before it is driven, and the loads of its lines be all that tells G (x − g) from two reads.
ConfigRule simultaneous_drives() {
  return {{"crossbar.directions", "network.kind", "hopfield.feedback", "relaxation.schedule", "crossbar.mapping",
           "crossbar.update", "device.model", "device.iv_sinh", "device.iv_cubic", "crossbar.row_resistance",
           "crossbar.column_resistance", "crossbar.driver_resistance", "crossbar.sense_resistance"},
          [](const Config& c) {
            if (c.text("crossbar.directions") == "sequential" || c.text("device.model") == digital_model) {
              return std::string();
            }
            const auto unless = [](const std::string& what) { return "must be sequential unless " + what; };
            if (c.text("network.kind") != "hopfield") {
              return unless("network.kind = hopfield: elsewhere what drives the columns answers what they sense");
            }
            for (const auto& [key, value] : {std::pair{"hopfield.feedback", "transpose"},
                                             {"relaxation.schedule", "parallel"},
                                             {"crossbar.mapping", "differential"}}) {
              if (c.text(key) != value) return unless(fmt::format("{} = {}", key, value));
            }
            const RuleKind* rule = find_rule(c.text("crossbar.update"));
            if (rule != nullptr && (rule->share != nullptr)) {
              return unless(
                  fmt::format("crossbar.update is none of the rules whose weights are several "
                              "arrays, as {} is",
                              rule->name));
            }
            for (const char* key :
                 {"device.iv_sinh", "device.iv_cubic", "crossbar.row_resistance", "crossbar.column_resistance",
                  "crossbar.driver_resistance", "crossbar.sense_resistance"}) {
              if (c.real(key) > 0) return unless(fmt::format("{} = 0: both drives share devices and wires", key));
            }
            return std::string();
          }};
}

}  // namespace

std::vector<ConfigRule> hopfield_rules() {
  return {projected_boxes(),
          simultaneous_drives(),
          projected_output(),
          feedback_has_a_form(),
          links_are_driven_by_states(),
          readout_alone(),
          odd_kernels(),
          some_convolution(),
          entry_per_layer("convolutional.kernel"),
          entry_per_layer("convolutional.pool")};
}

}  // namespace nudge
