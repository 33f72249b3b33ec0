// SPDX-License-Identifier: Apache-2.0
#include "devices/device_part.hpp"

#include "devices/slow/drift.hpp"
#include "devices/slow/fixed.hpp"
#include "devices/slow/noise.hpp"

namespace nudge {

const std::vector<DevicePartKind>& device_parts() {
  static const std::vector<DevicePartKind> all = {
      part_kind<FixedDevices>(), part_kind<Retention>(), part_kind<ReadDisturb>(), part_kind<Relaxation>(),
      part_kind<Flicker>(),      part_kind<Telegraph>(), part_kind<WriteNoise>()};
  return all;
}

}  // namespace nudge
