// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "devices/fit/pulse_csv.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Where a pulse takes a device whose noise is known, as a normal distribution.
struct PulseEnd {
  double mean = 0, variance = 0;
};

/// Mean and variance of min(max(m + s ξ, lower), upper), ξ standard normal: what noise of a pulse leaves of a device whose bounds stop it
/// (censored normal; Tobin, Econometrica 26:24 (1958)).
inline PulseEnd clipped_normal(double m, double s, double lower, double upper) {
  constexpr double nowhere_near = 6;  // deviations: a tail of 1e-9
  if (std::min(upper - m, m - lower) > nowhere_near * s) return {m, s * s};
  if (!(s > 0)) return {std::clamp(m, lower, upper), 0};
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double a = (lower - m) / s, b = (upper - m) / s;
  const double at_a = below(a), at_b = below(-b), phi_a = density(a), phi_b = density(b);
  const double first = a * at_a + b * at_b + phi_a - phi_b;
  const double second = a * a * at_a + b * b * at_b + (1 - at_a - at_b) + a * phi_a - b * phi_b;
  return {m + s * first, s * s * std::max(second - first * first, 0.0)};
}

/// What the pulses of a record do to a device without noise, from three places at once: pulses of the model's own size, or, of a model
/// with volts (memristor_of()) and a record that has them, dx/dt = f(x, V) over the width of each (Runge–Kutta of fourth order, at most 5 % of
/// the state in a step, so that a step is right to 1e-7 of the window where the speed changes e-fold across it).
class PulseLaw {
 public:
  using Places = std::array<double, 3>;

  /// The spec must be valid.
  explicit PulseLaw(const DeviceSpec& spec);

  double lower_S() const { return lower_S_; }
  double upper_S() const { return upper_S_; }

  /// places ← where pulse i of the record (i ≥ 1) takes them; they must lie within the bounds.
  void move(const PulseRecord& record, std::size_t i, Places& places);

  /// Mean and variance of where pulse i ends that takes a device from one place to another without noise, for device.update_noise = sigma: noise
  /// of that share of what it moves, or, of has_constant_noise(), of its pulse at the reference, as far as the bounds let it.
  PulseEnd ends(const PulseRecord& record, std::size_t i, double from, double to, double sigma) const;

 private:
  void move_by_volts(double volts, double width_s, Places& places) const;
  double pulse_at_bound_S(Direction direction);

  double lower_S_, upper_S_;
  double up_at_upper_S_ = 0,
         down_at_lower_S_ = 0;  ///< with constant noise: pulses at the bound to which they lead, without it
  bool constant_noise_;
  std::unique_ptr<Memristor> memristor_;
  StateScale scale_ = StateScale::conductance;
  // The model itself: an array of it would look for faults, heat and drift at every pulse.
  std::unique_ptr<StepModel> model_;
  DeviceCells<double> cells_;
  Matrix<double> one_;
};

/// Whether a model has volts and widths of its pulses, which records of several amplitudes determine.
bool has_volts(const std::string& model);

/// Whether a model's noise of pulses is a part of the pulse at the reference, and not of what each pulse does.
bool has_constant_noise(const std::string& model);

/// A whole record replayed: the conductance after every pulse, from `first` on, without noise.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first);

/// The same from the start that leaves the least squares; a measured start has noise of reads.
std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record);

/// Slow noise of reads: a Gaussian process of this deviation whose correlation falls e-fold in so many pulses.
struct SlowReadNoise {
  double sd_S = 0, pulses = 1;
};

/// Noise of a measured record: of each pulse, of that pulse (device.update_noise), white noise of each read, and slow noise of reads; one
/// process per decade of pulses, all of one size, is 1/f noise, as devices have it (devices/slow/noise.hpp).
struct RecordNoise {
  static constexpr std::size_t most_slow = 4;
  double update = 0, read_S = 0;
  std::vector<SlowReadNoise> slow = {};  ///< up to most_slow
};

/// What each read of a record differs from its prediction by all reads before it, and the variance of that, of a state-space model
///
///     g_i = h(g_{i−1}, pulse i) + σ_u |h − g_{i−1}| ξ_i,    y_i = g_i + Σ_k b_k,i + σ_r ζ_i,    b_k,i = exp(−1/τ_k) b_k,i−1 + noise,
///
/// with no knowledge of g_0 but y_0, by a Kalman filter whose moments of h are those of three points (Gauss–Hermite: exact to fifth order; unscented
/// filter, Julier and Uhlmann, Proc. IEEE 92:401 (2004)): a linearisation would jump where a bound clips. Noise of
/// pulses is PulseLaw::ends()'. ln L = −½ Σ (e²/S + ln 2πS)
/// (prediction error decomposition, Schweppe, IEEE Trans. Inf. Theory 11:61 (1965)). error_S and variance_S2 have an entry for each pulse.
void filter_pulses(PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
                   Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2);

}  // namespace nudge
