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
                         "Hardware-aware training of digital weights: each step computes its gradient with fresh "
                         "normal noise on the weights and updates them without it. Standard deviation relative to "
                         "the largest weight of the matrix.",
                         "Rasch et al., Nat. Commun. 14 (2023) 5282; aihwkit's ADD_NORMAL with rel_to_actual_wmax")),
            &HardwareAwareOptions::weight_noise),
      field(text("hardware_aware.devices", "",
                 "The same with the errors of devices: each step uses the weights as read from new devices into "
                 "which they were written. A preset of devices, or a file of keys of [device] and [crossbar] "
                 "(`nudge devices fit FILE --out`). Empty: none."),
            &HardwareAwareOptions::devices),
      field(read_with(any_changed({"hardware_aware.devices"}),
                      quantity("hardware_aware.age", "0 s", Unit::second, at_least(0),
                               "Time between writing and reading these devices: drift, decay, relaxation.")),
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
    throw UserError(fmt::format("hardware_aware.devices = {}: neither a preset of devices nor a file ({})", devices,
                                did_you_mean(devices, names)));
  }
  // What the file itself says of devices to learn for is not asked: it might name itself.
  const Config described = named ? parse_program_config("hardware_aware.devices", "", {"device.preset=" + devices})
                                 : load_program_config(devices, {"hardware_aware.devices="});
  if (!on_devices(described)) {
    throw UserError(fmt::format("hardware_aware.devices = {}: it has device.model = digital. Name devices", devices));
  }
  return crossbar_spec(described);
}

}  // namespace nudge
