// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/device_cells.hpp"
#include "devices/device_draws.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "devices/slow/slow_array.hpp"

namespace nudge {

/// What stored conductances lose with time: power-law drift g (t/t₀)^−ν, logarithmic decay
/// g + m ln(t/t₁) + ξ (s + s′ ln(t/t₁)), and exponential leak towards a rest value. Drift and decay count the time t of
/// each device since its last write and begin at t₀ and t₁: a conductance as programmed is the one seen until then. ν and
/// ξ are drawn at each write, ν with mean and spread of the state just written.
///
/// Changes are applied in place, so that later pulses start from what is left, and exactly: two spans of time equal their
/// sum. They are applied when enough time has gathered: 0.1 % of the youngest age (at least of t₀, t₁) or 0.01 % of the
/// shortest leak time, so that a float array follows steps of any size; until then a conductance lags by less than
/// 0.1 % ν or 0.01 %.
template <class S>
class Retention {
 public:
  Retention(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads);

  bool active() const { return spec_.drifts() || spec_.decays() || spec_.leaks(); }
  /// Whether writes must be told: they restart drift and decay.
  bool counts_from_writes() const { return spec_.drifts() || spec_.decays(); }

  /// Device i of g was written; `draw` holds a standard normal number per device for ν, and another for ξ.
  void restart(Index i, S g, S drift_draw, S decay_draw);

  /// Time passes. Returns whether cells.g changed.
  bool advance_time(DeviceCells<S>& cells, double seconds, Gathering gathering = Gathering::allowed);

  void append_state(std::vector<SlowArray<S>>& out);
  void state_restored() { waiting_s_ = load_double(clock_, 0); }

 private:
  void leak(DeviceCells<S>& cells) const;
  void age(DeviceCells<S>& cells);
  double gather() const;

  RetentionSpec spec_;
  double g_max_S_;
  double rest_S_;
  int threads_;
  double waiting_s_ = 0;
  double shortest_leak_s_ = 0;
  Matrix<S> clock_;       ///< (1, 3): image of waiting_s_
  Matrix<S> age_s_;       ///< since the last write
  Matrix<S> exponent_;    ///< ν
  Matrix<S> decay_draw_;  ///< ξ
  Matrix<S> leak_s_;      ///< T of each device
};

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
