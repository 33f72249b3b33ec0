// SPDX-License-Identifier: Apache-2.0
// What hardware.level = local rules out: whatever learns with numbers that no circuit at a weight has.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"
#include "training/config/rows.hpp"
#include "training/learning/correlator.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// A key that may only be what holds() accepts, and what the message asks for.
ConfigRule local(const char* key, bool (*holds)(const Config&), const char* must) {
  return {{key, "hardware.level"}, [=](const Config& c) {
            return !is_local(c) || holds(c) ? std::string() : fmt::format("{} where hardware.level = local", must);
          }};
}

bool learns_by_pulses(const Config& c) {
  const CrossbarSpec arrays = crossbar_spec(c);
  const RuleKind* rule = find_rule(arrays.programming.update);
  return arrays.programming.update != UpdateScheme::write_verify &&
         (rule == nullptr || rule->numbers(arrays.rule) == 0);
}

bool is_nudged(const Config& c) {
  const EstimatorKind* kind = find_estimator(c.text("estimator"));
  return kind != nullptr && kind->nudge != Nudge::none;
}

/// Pulse trains on rows and columns are the product.
ConfigRule pulses_or_multipliers() {
  return {{"crossbar.update", "correlator.gain_spread", "correlator.offset", "correlator.noise"}, [](const Config& c) {
            return on_devices(c) && pulses_multiply(c) && correlator_section().read(c).on()
                       ? "must not be one whose pulses multiply at the device (coincidence), beside multipliers "
                         "(correlator.*)"
                       : "";
          }};
}

/// The product's offset and noise are those of one difference of two states that stand still.
ConfigRule multipliers_take_two_states() {
  return {{"estimator", "nudge.form", "correlator.gain_spread", "correlator.offset", "correlator.noise"},
          [](const Config& c) {
            const bool two = c.text("estimator") != "aep_npoint" && c.text("nudge.form") == "static";
            return two || !on_devices(c) || !correlator_section().read(c).on()
                       ? ""
                       : "must be one of two states that stand still (not aep_npoint, nor nudge.form = oscillating) "
                         "beside multipliers (correlator.*)";
          }};
}

bool multiplies(const NetworkKind& kind) { return find_row(kind.keys, "correlator.noise") != nullptr; }

/// Networks whose learning is products of two states.
ConfigRule kinds_that_multiply() {
  return {{"network.kind", "hardware.level"}, [](const Config& c) {
            const NetworkKind& own = network_kind(c);
            if (!is_local(c) || multiplies(own)) return std::string();
            std::vector<std::string> names;
            for (const NetworkKind& kind : network_kinds()) {
              if (multiplies(kind)) names.push_back(kind.name);
            }
            return fmt::format(
                "must be one of {}, whose learning is products of states, where hardware.level = local{}",
                fmt::join(names, ", "), own.not_local.empty() ? "" : ": " + own.not_local);
          }};
}

}  // namespace

std::vector<ConfigRule> local_rules() {
  return {
      pulses_or_multipliers(),
      multipliers_take_two_states(),
      kinds_that_multiply(),
      local(
          "hopfield.cost", [](const Config& c) { return c.text("hopfield.cost") == "squared_error"; },
          "must be squared_error (a softmax is digital)"),
      local("estimator", is_nudged, "must be one that reads nudged states"),
      local("crossbar.update", learns_by_pulses, "must be a rule without numbers beside its devices"),
      local(
          "train.optimizer", [](const Config& c) { return c.text("train.optimizer") == "sgd"; }, "must be sgd"),
      local(
          "train.momentum",
          [](const Config& c) { return c.text("train.optimizer") != "sgd" || c.real("train.momentum") == 0; },
          "must be 0 (it is a number per weight)"),
      local(
          "nudge.running_mean",
          [](const Config& c) { return c.real("nudge.running_mean") == 0; }, "must be 0 (it is a number per weight)"),
      local(
          "train.weight_decay", [](const Config& c) { return c.real("train.weight_decay") == 0; },
          "must be 0 (it reads exact weights)"),
      local(
          "train.gradient_clip", [](const Config& c) { return c.real("train.gradient_clip") == 0; },
          "must be 0 (a norm over all weights is digital)"),
      local(
          "train.skip_ratio", [](const Config& c) { return c.real("train.skip_ratio") == 0; },
          "must be off (a norm over all weights is digital)"),
      local(
          "train.leave_out_ratio", [](const Config& c) { return c.real("train.leave_out_ratio") == 0; },
          "must be off (a norm over all states is digital)"),
      local(
          "memory_bound.fraction",
          [](const Config& c) {
            return !network_reads(c, "memory_bound.fraction") || c.real("memory_bound.fraction") == 0;
          },
          "must be off (a power iteration on exact weights is digital)"),
      local(
          "damping.control", [](const Config& c) { return !c.flag("damping.control"); }, "must be false"),
      local(
          "growth.strength", [](const Config& c) { return c.real("growth.strength") == 0; }, "must be 0"),
      local(
          "nudge.form", [](const Config& c) { return c.text("nudge.form") == "static"; },
          "must be static (the lock-in of an oscillating one is digital)"),
  };
}

}  // namespace nudge
