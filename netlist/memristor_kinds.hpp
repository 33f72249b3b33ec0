// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "netlist/parameter_scope.hpp"

namespace nudge {

/// Setting of a memristor's device in a card, "preset=ecram g_max={k*1u}": a number in SI units, or a word as it is written.
struct DeviceSetting {
  std::string name, value;
};

/// Function that makes the device of a memristor from its settings, the last of one name counts. UserError for devices that there are not. Files
/// are relative to the netlist at `place`.
using MemristorSource = std::function<MemristorLaw(const std::vector<DeviceSetting>& settings, const Place& place)>;

/// Reads one setting. A word that is no number and no parameter stays as it is.
DeviceSetting device_setting(const Assignment& one, ParameterScope& scope);

/// Devices of the memristors of one netlist, each kind made once.
class MemristorKinds {
 public:
  explicit MemristorKinds(MemristorSource source) : source_(std::move(source)) {}

  /// Device of these settings. UserError at `place` for a device that there is not.
  std::shared_ptr<const MemristorLaw> of(const std::vector<DeviceSetting>& settings, const Place& place);

 private:
  MemristorSource source_;
  std::map<std::string, std::shared_ptr<const MemristorLaw>> made_;  ///< by their settings and the file that has them
};

}  // namespace nudge
