// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/device_part.hpp"
#include "devices/slow/relaxation_law.hpp"

namespace nudge {

/// Loss of stored conductances with time: power-law drift g (t/t₀)^−ν, logarithmic decay g + m ln(t/t₁) + ξ (s + s′ ln(t/t₁)), and
/// exponential leak towards a rest value. Drift and decay count the time t of each device since its last write. They begin at t₀ and t₁;
/// until then the programmed conductance is seen. ν and ξ are drawn at each write, ν with mean and spread of the state just written.
///
/// Changes are applied in place, so later pulses start from the changed conductance. They are exact: two spans of time equal their sum. They
/// are applied when enough time has gathered: 0.1 % of the youngest age (at least of t₀, t₁) or 0.01 % of the shortest leak time. A float
/// array thus follows steps of any size. Until then a conductance lags by less than 0.1 % ν or 0.01 %.
template <class S>
class Retention final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) {
    return counts_ages(spec.retention) || spec.retention.leaks();
  }
  Retention(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  bool follows_writes() const override { return counts_ages(spec_); }
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override;
  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t step, Gathering gathering) override;
  std::vector<SlowArray<S>> state() override;
  void restored(DeviceCells<S>& /*cells*/) override { waiting_.restored(); }

 private:
  static bool counts_ages(const RetentionSpec& spec) { return spec.drifts() || spec.decays(); }
  void leak(DeviceCells<S>& cells) const;
  void age(DeviceCells<S>& cells);
  double needed_s() const;

  RetentionSpec spec_;
  double g_max_S_;
  double rest_S_;
  ArraySite site_;
  double shortest_leak_s_ = 0;
  GatheredTime<S> waiting_;
  Matrix<S> age_s_;       ///< time since the last write
  Matrix<S> exponent_;    ///< ν
  Matrix<S> decay_draw_;  ///< ξ
  Matrix<S> leak_s_;      ///< T of each device
};

/// Read disturb: while the read voltage stands across a device its conductance approaches a target g_r exponentially,
///     g ← g_r + (g − g_r) exp(−t_r/T_r)         t_r: time of reading
/// exactly, however t_r is cut. HfO₂ cells show growth with saturation (Shim et al., IRPS 2020, doi:10.1109/IRPS45951.2020.9129252); the
/// exponential is ours. T_r belongs to circuit.read_voltage, whatever lower voltages a read has: an upper bound of the change. Applied
/// when 0.01 % of T_r has gathered.
template <class S>
class ReadDisturb final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) { return spec.retention.disturbs(); }
  ReadDisturb(const DeviceSpec& spec, const ArraySite& /*site*/, DeviceCells<S>& /*cells*/)
      : time_s_(spec.retention.read_disturb_time_s),
        target_S_(static_cast<S>(spec.g_min_S + spec.retention.read_disturb_target * spec.window_S())) {}

  Passed read(DeviceCells<S>& cells, double seconds, Gathering gathering) override;
  std::vector<SlowArray<S>> state() override { return {reading_.state("read_disturb_time", "read disturb")}; }
  void restored(DeviceCells<S>& /*cells*/) override { reading_.restored(); }

 private:
  double time_s_;
  S target_S_;
  GatheredTime<S> reading_;
};

/// RelaxationLaw for an array: each cell counts the time since its own last write. A write gives a cell a number of 24 bits,
/// which with the seed, the array and the place determines the z of the law. So the state depends on the last write and its
/// age alone, however often the cell was looked at since. The conductance is set to the law's value in place, and later
/// writes start from there. Ages are those at the reference temperature: time passes RelaxationSpec::acceleration() times as
/// fast. Time gathers to 0.1 % of the youngest age (at least 0.1 % of the first time of the table) before it is applied.
template <class S>
class Relaxation final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) { return spec.relaxation.active(); }
  Relaxation(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  bool follows_writes() const override { return true; }
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override;
  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t step, Gathering gathering) override;
  std::vector<SlowArray<S>> state() override;
  void restored(DeviceCells<S>& /*cells*/) override { waiting_.restored(); }

 private:
  RelaxationLaw law_;
  double first_s_;
  double acceleration_;
  ArraySite site_;
  GatheredTime<S> waiting_;
  Matrix<S> age_s_;
  Matrix<S> start_S_;  ///< conductance as written
  Matrix<S> write_;    ///< number of the write, a whole number below 2^24
};

}  // namespace nudge
