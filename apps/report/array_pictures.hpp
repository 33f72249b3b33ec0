// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge::report {

/// A dataset with the role "map": one number per device.
struct DeviceMap {
  std::string array, devices;  ///< "Winput", "positive"
  std::string description;
  Matrix<double> values;  ///< (rows, columns)
};

/// A dataset with the role "series" over the columns of an array.
struct ColumnSeries {
  std::string array, name, unit, description;
  std::vector<double> column, value;
};

/// What `nudge crossbar --out` solved: a file of kind crossbar.
struct ArrayPictures {
  std::vector<DeviceMap> ir_drop;
  std::vector<ColumnSeries> currents;
};

/// UserError where a series and its axis differ in length.
ArrayPictures load_array_pictures(const H5Reader& file);

}  // namespace nudge::report
