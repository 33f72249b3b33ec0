// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/device_part.hpp"

namespace nudge {

/// Devices that never move. Some are stuck from the beginning, drawn by FaultSpec or measured (ArraySite::stuck_S), within
/// their bounds or not. Others have received as many pulses as they last (endurance_failure = stuck) and stay where the last
/// one left them. The number of pulses that a device lasts is lognormal with the mean of the source, in DeviceCells::life.
template <class S>
class FixedDevices final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& site) {
    return spec.faults.any() || site.stuck_S != nullptr || spec.endurance_failure != EnduranceFailure::none;
  }
  FixedDevices(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  bool follows_writes() const override { return mortal_; }
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override;
  void hold(DeviceCells<S>& cells) override;
  void restored(DeviceCells<S>& cells) override;

 private:
  struct Fixed {
    Index place;
    S g;
  };
  bool mortal_;
  std::vector<Fixed> stuck_;
  std::vector<Fixed> worn_;
};

}  // namespace nudge
