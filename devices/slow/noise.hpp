// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices/device_part.hpp"

namespace nudge {

/// 1/f noise with memory: the relative deviation of each device is Q √h Σ_k x_k. The x_k are independent
/// Ornstein–Uhlenbeck processes of variance 1 with time constants τ_k, one per decade from `fastest` to `slowest` (h = ln
/// 10). The Lorentzians add up to S(f) = Q²/f (one-sided, relative to g²) between 1/(2π slowest) and 1/(2π fastest), with
/// a ripple of ±2 sech(π²/h) = 5.5 % from the discrete time constants. Integrated from 1/t to 1/(2 t_r) this is the
/// published σ = g Q √ln(t/(2 t_r)) of phase-change memory (Nandakumar et al., ICECS 2019, IEEE 8964852). With an
/// exponent α, or a NoiseTable of Q and α over the conductance, x_k is weighted with √v_k of flicker_variance(): S(f) =
/// Q²/f (f/1 Hz)^(1 − α).
///
/// Each process is advanced exactly, once 1 % of its time constant has gathered; its correlation is above 0.99 until
/// then. Slow processes cost nothing in short steps.
template <class S>
class Flicker final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) {
    return spec.flicker.active() || spec.noise.has_flicker();
  }
  Flicker(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t step, Gathering gathering) override;
  bool shows() const override { return true; }
  /// Adds Σ √v_k x_k (for 1/f noise Q √h Σ x_k) of each device, over the processes with τ_k ≥ split.
  void show(const DeviceCells<S>& cells, double split_s, Matrix<S>& relative, Matrix<S>& offset_S) const override;
  void append_moving(const DeviceCells<S>& cells, double split_s, std::vector<MovingDevices<S>>& out) const override;
  std::vector<SlowArray<S>> state() override;
  void restored(DeviceCells<S>& cells) override;

 private:
  /// Number of processes with τ_k < split.
  std::size_t faster_than(double split_s) const;
  /// True if all processes have the same variance.
  bool even() const { return spec_.exponent == 1 && !table_.has_flicker(); }
  /// Variance v of the process of time constant τ at the conductance g, siemens: Q² h where the variances are even.
  double relative_variance(double g, double tau_s) const;
  double q(double g) const;
  double exponent(double g) const;
  void add_weighted(const Matrix<S>& g, std::size_t first, Matrix<S>& relative) const;

  FlickerSpec spec_;
  NoiseTable table_;
  double g_max_S_;
  ArraySite site_;
  std::vector<double> times_s_;       ///< τ_k, ascending
  std::vector<double> waiting_s_;     ///< gathered time of each process
  std::vector<Matrix<S>> processes_;  ///< x_k
  Matrix<S> clock_;                   ///< (k, 3): image of waiting_s_
};

/// Random telegraph noise with memory: in a share of the devices a trap is occupied or not. The conductance is g (1 + a (s
/// − p)) with s = 1 in the higher state, p = τ_high/(τ_high + τ_low) its probability, a the amplitude. Its mean is g, its
/// variance a² g² p (1 − p), its correlation exp(−t/τ_c) with 1/τ_c = 1/τ_high + 1/τ_low. Its spectrum is the Lorentzian
/// S(f) = 4 a² g² p (1 − p) τ_c/(1 + (2π f τ_c)²) (Machlup, J. Appl. Phys. 25 (1954) 341). The state of a trap after any
/// time is drawn with the exact transition probability, so results do not depend on how time is cut. A NoiseTable gives
/// amplitude and times at the conductance of the device, multiplied by the device's own factors.
template <class S>
class Telegraph final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) {
    return spec.telegraph.active() || (spec.telegraph.share > 0 && spec.noise.has_traps());
  }
  Telegraph(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  /// Brings traps, with a table, to the shares of their states at the conductances to which devices were programmed.
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override;
  bool follows_writes() const override { return table_.has_traps(); }
  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t step, Gathering gathering) override;
  bool shows() const override { return true; }
  /// Adds a (s − p) of each device to `relative`.
  void show(const DeviceCells<S>& cells, double split_s, Matrix<S>& relative, Matrix<S>& offset_S) const override;
  /// Appends the trap noise as processes with the variance a² g² p (1 − p) and τ_c. A sum over many devices sees it as
  /// Gaussian, with the sum of these variances and the correlation exp(−t/τ_c) (central limit; times alike).
  void append_moving(const DeviceCells<S>& cells, double split_s, std::vector<MovingDevices<S>>& out) const override;
  std::vector<SlowArray<S>> state() override;

 private:
  /// Correlation time τ_c at the mean times; with a table the longest.
  double correlation_time_s() const;
  /// Trap of device i at the conductance g, without the device's factor on the times.
  TrapValues trap(double g, Index i) const;

  TelegraphSpec spec_;
  NoiseTable table_;
  ArraySite site_;
  Matrix<S> occupied_;     ///< s: 0 or 1
  Matrix<S> amplitude_;    ///< a; with a table the device's factor on it; 0 without a trap
  Matrix<S> time_factor_;  ///< factor on both times
};

/// Write noise: the seen conductance lies beside the stored one by write_noise mean pulses (standard deviation), drawn anew at each write.
template <class S>
class WriteNoise final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& spec, const ArraySite& /*site*/) { return spec.programming.write_noise > 0; }
  WriteNoise(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells);

  bool follows_writes() const override { return true; }
  void written(DeviceCells<S>& cells, const DeviceWrite<S>& write) override;
  bool shows() const override { return true; }
  void show(const DeviceCells<S>& cells, double split_s, Matrix<S>& relative, Matrix<S>& offset_S) const override;
  std::vector<SlowArray<S>> state() override;

 private:
  S width_;
  ArraySite site_;
  Matrix<S> offset_;
};

}  // namespace nudge
