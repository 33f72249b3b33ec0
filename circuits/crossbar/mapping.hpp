// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "devices/device_spec.hpp"

namespace nudge {

/// Mapping of a weight matrix (N, M) to two arrays of conductances: the first has a device per weight, the second the devices
/// that it is compared with. It is a rule without state; DevicePairs has the devices.
template <class S>
class Mapping {
 public:
  virtual ~Mapping() = default;

  /// Number of columns of the second array: M, 1 or 0.
  virtual Index second_columns(Index outputs) const = 0;

  /// Conductance k w_max: the window g_max − g_min for a pair, half of it for single devices around the middle, g_max for a bare device.
  virtual double reach_S(double g_min_S, double g_max_S) const = 0;

  /// Conductance of the devices of a weight 0.
  virtual double rest_S(double g_min_S, double g_max_S) const { return 0.5 * (g_min_S + g_max_S); }

  /// Least weight that the window can hold, where the largest is w_max.
  virtual double least(double /*g_min_S*/, double /*g_max_S*/, double w_max) const { return -w_max; }

  /// Conductances that hold w: first (N, M), second (N, second_columns), around `rest`.
  virtual void targets(const Matrix<S>& w, S rest, S k, Matrix<S>& first, Matrix<S>& second) const = 0;

  /// Changes of both arrays that change the weight by 1; second_step 0: that array is not updated.
  struct Steps {
    S first, second;
  };
  virtual Steps steps(S k) const = 0;

  /// Computes the view that the lines have of both arrays; see LineView.
  virtual void view(const Matrix<S>& first, const Matrix<S>& second, S middle, S k, bool want_total,
                    LineView<S>& out) const = 0;

  /// Number of devices at a cross point that fluctuate independently in a read: 2 or 1. A reference device is counted by the view.
  virtual int devices() const = 0;
};

template <class S>
std::unique_ptr<const Mapping<S>> make_mapping(MappingKind kind);

/// Scale of cells: reads see devices behind selectors as cells, whose conductance is c(g) = SelectorSpec::cell_S at the read
/// voltage. Weights, scales and loads belong to cells; targets are turned into targets of devices, which pulses move.
/// Without a selector cells are devices. A selector that is not straight needs drives coded in time: every pulse has the read
/// voltage, and its share of the slot is the drive.
class CellScale {
 public:
  CellScale(const DeviceSpec& device, double read_V);

  double low_S() const { return low_; }
  double high_S() const { return high_; }
  double window_S() const { return high_ - low_; }
  /// Change of devices that a change of cells takes, as a ratio, on the mean over the window.
  double devices_per_cell() const { return devices_per_cell_; }

  template <class S>
  Matrix<S> cells(const Matrix<S>& devices) const;
  /// Conductances of devices whose cells have these conductances; at most twice the window's end, where no device conducts so well.
  template <class S>
  Matrix<S> devices(const Matrix<S>& cells) const;
  /// Derivative dc/dg at a device conductance.
  double sensitivity(double g) const { return selector_.any() ? selector_.cell_sensitivity(g, read_V_) : 1; }
  bool straight() const { return !selector_.any(); }

 private:
  SelectorSpec selector_;
  double read_V_, most_, low_, high_, devices_per_cell_;
};

}  // namespace nudge
