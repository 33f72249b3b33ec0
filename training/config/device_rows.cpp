// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_config.hpp"
#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "training/config/rows.hpp"

namespace nudge {

ParamTable device_rows() {
  std::vector<std::string> presets = {""};
  for (const DevicePreset& preset : device_presets()) presets.push_back(preset.name);
  ParamTable table = {
      param::choice("device.preset", "", presets,
                    "A published device to start from; keys of [device] in the config replace its values. "
                    "`nudge devices show NAME` tells what it is; empty: none.")};
  for (ParamRow& row : device_param_rows()) table.push_back(std::move(row));
  for (ParamRow& row : crossbar_section().rows()) table.push_back(std::move(row));
  return table;
}

}  // namespace nudge
