// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/array_identity.hpp"
#include "devices/device_cells.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "devices/slow/slow_array.hpp"

namespace nudge {

/// RelaxationLaw for an array: each cell counts the time since its own last write. A write gives a cell a number of 24 bits;
/// with the seed, the array and the place it names the z of the law, so that the state is that of the last write and its
/// age alone, whenever and however often the cell was looked at since. The conductance is set to that of the law, in place;
/// later writes start from there. Ages are those at the reference temperature: time passes RelaxationSpec::acceleration() times
/// as fast. It gathers to 0.1 % of the youngest age (0.1 % of the first time of the table at least)
/// before it is applied.
template <class S>
class Relaxation {
 public:
  Relaxation(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads);

  bool active() const { return active_; }
  /// Device i of conductance g was written; `draw` is uniform in [0, 1).
  void restart(Index i, S g, double draw);
  /// Time passes. Returns whether cells.g changed.
  bool advance_time(DeviceCells<S>& cells, double seconds, Gathering gathering = Gathering::allowed);
  void append_state(std::vector<SlowArray<S>>& out);
  void state_restored() { waiting_s_ = load_double(clock_, 0); }

 private:
  bool active_;
  RelaxationLaw law_;
  double first_s_ = 0;
  double acceleration_ = 1;
  ArrayIdentity identity_;
  int threads_;
  double waiting_s_ = 0;
  Matrix<S> clock_;  ///< (1, 3): image of waiting_s_
  Matrix<S> age_s_;
  Matrix<S> start_S_;  ///< as written
  Matrix<S> write_;    ///< number of the write, a whole number below 2^24
};

}  // namespace nudge
