// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/pulse_change.hpp"

namespace nudge {

/// Pulses that cells receive because others of their lines are written, one cell after another. Of a write that sends n_ij pulses of
/// one polarity to the cells of a tile, cell (i, j) gets
///     V/2 scheme:  r_i + c_j − 2 n_ij  of half the voltage,     r_i = Σ_j n_ij, c_j = Σ_i n_ij
///     V/3 scheme:  the same of a third, and Σ n − r_i − c_j + n_ij of minus a third.
template <class S>
struct DisturbCounts {
  Matrix<S> along;     ///< of a half or a third, of the polarity of the write
  Matrix<S> opposite;  ///< of minus a third
};
/// n (N, M): pulses of one polarity.
template <class S>
DisturbCounts<S> disturb_counts(const Matrix<S>& n, const WriteLines& lines);

/// What those pulses do to an array. They follow the pulses of the write that caused them, those that up pulses caused first, without noise
/// from cycle to cycle, and are no wear.
template <class S>
class HalfSelect {
 public:
  explicit HalfSelect(const DeviceSpec& spec) : lines_(spec.lines) {}
  bool active() const { return lines_.bias != WriteBias::isolated; }

  /// To be called before and after a write of `cells` whose pulses, changed by `change`, went up where delta > 0 and down where it is
  /// negative. Returns the heat of the pulses of half-selected cells, J.
  void begin(const DeviceCells<S>& cells);
  double end(DeviceCells<S>& cells, const DeviceSpec& spec, const UpdateRequest<S>& request, const PulseChange& change,
             ChangedPulses& kinds);

 private:
  static double send(DeviceCells<S>& cells, const Matrix<S>& n, bool up, const DeviceSpec& spec,
                     const ChangedPulses::Kind& kind, int threads);

  WriteLines lines_;
  Matrix<S> writes_;
};

}  // namespace nudge
