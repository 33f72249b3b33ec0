// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// A part of the config that a kind of network has no place for: its key may only be `value`.
struct Lack {
  std::string key;
  std::string value;        ///< as one would write it
  std::string why;          ///< what stands behind "for network.kind = NAME"
  bool on_devices = false;  ///< only where device.model is not digital
};

}  // namespace nudge
