// SPDX-License-Identifier: Apache-2.0
// A preset of devices that is chosen over a file which has a device of its own.
#include <fmt/format.h>

#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "training/config/rows.hpp"

namespace nudge {
namespace {

/// Keys of [device] replace those of a preset: `--set device.preset=reram_es` of a file with another model would give that model the numbers
/// of reram_es. Exact numbers and ideal elements have none, and a model that is chosen along with the preset is meant.
ConfigRule model_is_of_preset() {
  return {{"device.model", "device.preset"}, [](const Config& c) {
            const std::string name = c.text("device.preset"), model = c.text("device.model");
            const bool meant =
                c.origin("device.preset").layer != Layer::option || c.origin("device.model").layer != Layer::file;
            if (name.empty() || meant || model == digital_model || model == "ideal") return std::string();
            const std::string& own = device_preset(name).spec.model;
            if (model == own) return std::string();
            return fmt::format(
                "must be {} beside device.preset = {}: keys of [device] in a file replace those of a preset, and these "
                "numbers are of that model; add --set device.model={} and what else the file says of its device",
                own, name, own);
          }};
}

}  // namespace

std::vector<ConfigRule> preset_rules() { return {model_is_of_preset()}; }

}  // namespace nudge
