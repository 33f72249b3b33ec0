// SPDX-License-Identifier: Apache-2.0
#include "training/config/hardware_aware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/config/config_table.hpp"

namespace nudge {

const Section<HardwareAwareOptions>& hardware_aware_section() {
  using param::quantity, param::real, param::text, param::zero_is;
  static const Section<HardwareAwareOptions> section = {
      field(zero_is("off",
                    real("hardware_aware.weight_noise", "off", at_least(0),
                         "Numbers that learn for devices: every step sees its weights with fresh normal noise of this "
                         "share of the largest of their matrix, in all phases, and moves them without.",
                         "Rasch et al., Nat. Commun. 14 (2023) 5282; aihwkit's ADD_NORMAL with rel_to_actual_wmax")),
            &HardwareAwareOptions::weight_noise),
      field(text("hardware_aware.devices", "",
                 "The same with what devices make of them: every step sees its weights as they are read from new "
                 "devices into which they were written. A preset of devices, or a file of keys of [device] and "
                 "[crossbar] (`nudge devices fit FILE --out`). Empty: none."),
            &HardwareAwareOptions::devices),
      field(read_with(
                any_changed({"hardware_aware.devices"}),
                quantity(
                    "hardware_aware.age", "0 s", Unit::second, at_least(0),
                    "For how long these devices have been left alone when they are read: drift, decay, relaxation.")),
            &HardwareAwareOptions::age_s)};
  return section;
}

std::optional<CrossbarSpec> hardware_aware_devices(const Config& config) {
  const std::string devices = hardware_aware_section().read(config).devices;
  if (devices.empty() || on_devices(config)) return std::nullopt;
  std::vector<std::string> names;
  for (const DevicePreset& one : device_presets()) names.push_back(one.name);
  const bool named = std::find(names.begin(), names.end(), devices) != names.end();
  if (!named && !std::filesystem::exists(devices)) {
    throw UserError(fmt::format("hardware_aware.devices = {}: no preset of devices and no file ({})", devices,
                                did_you_mean(devices, names)));
  }
  // What the file itself says of devices to learn for is not asked: it might name itself.
  const Config described = named ? parse_program_config("hardware_aware.devices", "", {"device.preset=" + devices})
                                 : load_program_config(devices, {"hardware_aware.devices="});
  if (!on_devices(described)) {
    throw UserError(
        fmt::format("hardware_aware.devices = {}: it has device.model = digital, which are no devices", devices));
  }
  return crossbar_spec(described);
}

}  // namespace nudge
