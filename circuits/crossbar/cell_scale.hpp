// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/device_spec.hpp"

namespace nudge {

/// What reads see of devices behind selectors: cells, whose conductance is c(g) = SelectorSpec::cell_S at the read voltage. Weights, scales and
/// loads are of cells; targets are turned into those of devices, which pulses move. Without a selector cells are devices. A selector that is
/// not straight takes drives that are coded in time: every pulse has the read voltage, and its share of the slot is the drive.
class CellScale {
 public:
  CellScale(const DeviceSpec& device, double read_V);

  double low_S() const { return low_; }
  double high_S() const { return high_; }
  double window_S() const { return high_ - low_; }
  /// What a change of cells takes of devices, on the mean over the window.
  double devices_per_cell() const { return devices_per_cell_; }

  template <class S>
  Matrix<S> cells(const Matrix<S>& devices) const;
  /// Devices whose cells have these conductances; at most twice the window's end, where no device conducts so well.
  template <class S>
  Matrix<S> devices(const Matrix<S>& cells) const;
  /// dc/dg, of devices.
  double sensitivity(double g) const { return selector_.any() ? selector_.cell_sensitivity(g, read_V_) : 1; }
  bool straight() const { return !selector_.any(); }

 private:
  SelectorSpec selector_;
  double read_V_, most_, low_, high_, devices_per_cell_;
};

}  // namespace nudge
