// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/mapping.hpp"

#include <algorithm>

namespace nudge {

CellScale::CellScale(const DeviceSpec& device, double read_V)
    : selector_(device.selector),
      read_V_(read_V),
      most_(2 * device.g_max_S),
      low_(selector_.cell_S(device.g_min_S, read_V)),
      high_(selector_.cell_S(device.g_max_S, read_V)),
      devices_per_cell_(selector_.any() ? device.window_S() / window_S() : 1) {}

template <class S>
Matrix<S> CellScale::cells(const Matrix<S>& devices) const {
  if (straight()) return devices;
  return devices.unaryExpr([this](S g) { return static_cast<S>(selector_.cell_S(static_cast<double>(g), read_V_)); });
}

template <class S>
Matrix<S> CellScale::devices(const Matrix<S>& cells) const {
  if (straight()) return cells;
  return cells.unaryExpr(
      [this](S c) { return static_cast<S>(std::min(selector_.device_S(static_cast<double>(c), read_V_), most_)); });
}

template Matrix<float> CellScale::cells<float>(const Matrix<float>&) const;
template Matrix<double> CellScale::cells<double>(const Matrix<double>&) const;
template Matrix<float> CellScale::devices<float>(const Matrix<float>&) const;
template Matrix<double> CellScale::devices<double>(const Matrix<double>&) const;

}  // namespace nudge
