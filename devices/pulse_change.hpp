// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <compare>
#include <map>
#include <memory>
#include <utility>

#include "devices/step_model.hpp"

namespace nudge {

/// Pulses other than a model's own: V ← share V ± add_V away from 0, width ← longer · width.
struct PulseChange {
  double share = 1;
  double add_V = 0;
  double longer = 1;
  bool swapped = false;  ///< up pulses have the amplitude of down pulses, and the other way round

  bool none() const { return *this == PulseChange{}; }
  double volts(double own_V) const { return share * own_V + std::copysign(add_V, own_V); }
  /// This pulse as a cell sees it that gets the share `part` of its voltage.
  PulseChange seen_by(double part) const { return {part * share, part * add_V, longer, swapped}; }
  auto operator<=>(const PulseChange&) const = default;
};

/// The spec of a model that has a differential equation (DeviceModel::memristor), with other pulses.
DeviceSpec with_change(const DeviceSpec& spec, const PulseChange& change);

/// What pulses other than a model's own do to devices of one kind: each made when first asked for.
class ChangedPulses {
 public:
  struct Kind {
    std::shared_ptr<const StepModel> model;
    std::pair<WritePulse, WritePulse> pulses;  ///< up, down
  };
  /// A pulse that moves nothing is one. Needs DeviceModel::memristor.
  const Kind& at(const DeviceSpec& spec, const PulseChange& change);

 private:
  std::map<PulseChange, Kind> kinds_;
};

}  // namespace nudge
