// SPDX-License-Identifier: Apache-2.0
#include "devices/presets.hpp"

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

const std::vector<DevicePreset>& device_presets() {
  static const std::vector<DevicePreset> presets = [] {
    std::vector<DevicePreset> all;
    for (const auto& table : {pulsed_presets(), pcm_presets(), resistive_presets(), synapse_presets()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    return all;
  }();
  return presets;
}

const DevicePreset& device_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const DevicePreset& preset : device_presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw UserError("device preset \"" + name + "\" does not exist: " + did_you_mean(name, names));
}

}  // namespace nudge
