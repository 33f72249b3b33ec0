// SPDX-License-Identifier: Apache-2.0
#include "devices/presets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

std::string aspect_words(Aspect aspect) {
  switch (aspect) {
    case Aspect::window: return "window in siemens";
    case Aspect::curve: return "curve over pulses";
    case Aspect::spread: return "spread of devices";
    case Aspect::update_noise: return "noise of pulses";
    case Aspect::programming: return "error of writes";
    case Aspect::read_noise: return "read noise";
    case Aspect::slow_noise: return "1/f and telegraph noise";
    case Aspect::retention: return "retention";
    case Aspect::pulse: return "volts and width of a pulse";
    case Aspect::iv: return "current over voltage";
    case Aspect::endurance: return "endurance";
    case Aspect::temperature: return "temperature";
  }
  return "";
}

std::string aspects_text(const std::vector<Aspect>& list) {
  std::vector<std::string> words;
  for (const Aspect one : list) words.push_back(aspect_words(one));
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::vector<Aspect> DevicePreset::not_measured() const {
  std::vector<Aspect> left;
  for (int i = 0; i < aspects; ++i) {
    const auto one = static_cast<Aspect>(i);
    if (std::find(measured.begin(), measured.end(), one) == measured.end()) left.push_back(one);
  }
  return left;
}

const std::vector<DevicePreset>& device_presets() {
  static const std::vector<DevicePreset> presets = [] {
    std::vector<DevicePreset> all;
    for (const auto& table :
         {pulsed_presets(), pcm_presets(), resistive_presets(), synapse_presets(), learner_presets()}) {
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
