// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Which devices of one array are stuck, and at what conductance: as measured, for good, whatever is written.
struct StuckMap {
  std::vector<std::string> files = {};  ///< of all arrays, as device.stuck_map names them
  /// Of the two arrays of devices of a crossbar (Mapping): siemens, NaN where a device is free; null: all are.
  std::shared_ptr<const Matrix<double>> first_S = nullptr, second_S = nullptr;
};

}  // namespace nudge
