// SPDX-License-Identifier: Apache-2.0
#include "training/config/idle_keys.hpp"

#include <algorithm>

#include "devices/device_config.hpp"
#include "training/config/config_table.hpp"

namespace nudge {
namespace {

bool chooses_device(const std::string& text) {
  return text.find("device.model") != std::string::npos || text.find("device.preset") != std::string::npos;
}

bool is_of_device(const std::string& key) {
  return key.starts_with("device.") || key.starts_with("crossbar.") || key.starts_with("cost.") ||
         key == "model.embeddings";
}

}  // namespace

std::vector<std::string> idle_device_keys(const Config& config) {
  std::vector<std::string> keys;
  if (on_devices(config)) return keys;
  std::vector<GridAxis> axes = config.grid("sweep.grid");
  const auto& tuned = config.grid("compare.grid");
  axes.insert(axes.end(), tuned.begin(), tuned.end());
  const auto& entrants = config.texts("compare.entrants");
  if (std::any_of(axes.begin(), axes.end(), [](const GridAxis& axis) { return chooses_device(axis.key); }) ||
      std::any_of(entrants.begin(), entrants.end(), chooses_device)) {
    return keys;
  }
  for (const ConfigDifference& change : difference(standard_program_config(), config)) {
    if (is_of_device(change.key)) keys.push_back(change.key);
  }
  for (const GridAxis& axis : axes) {
    if (is_of_device(axis.key) && std::find(keys.begin(), keys.end(), axis.key) == keys.end()) keys.push_back(axis.key);
  }
  return keys;
}

}  // namespace nudge
