// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <array>
#include <span>
#include <vector>

#include "devices/fit/pulse_law.hpp"

namespace nudge {

/// Slow noise of reads: a Gaussian process of this deviation whose correlation falls e-fold in so many pulses.
struct SlowReadNoise {
  double sd_S = 0, pulses = 1;
};

/// Noise of a measured record. Pulses have it as a share of each (device.update_noise), and of the pulse at the reference
/// (device.update_noise_floor, of each direction). Reads have white noise, also as a share of the conductance (relative device.read_noise),
/// and slow noise. One slow process per decade of pulses, all of one size, is 1/f noise, as devices have it (devices/slow/noise.hpp).
struct RecordNoise {
  static constexpr std::size_t most_slow = 4;
  double update = 0, read_S = 0;
  std::vector<SlowReadNoise> slow = {};  ///< up to most_slow
  double floor_up = 0, floor_down = 0, read_share = 0;

  double floor_of(Direction direction) const { return direction == Direction::up ? floor_up : floor_down; }
};

/// Errors of a state-space model that predicts each read from all reads before it, and their variances, with an entry for each read:
///
///     g'_i = g_r + (g_{i−1} − g_r) exp(−Δt_i/T),    g_i = h(g'_i, pulse i) + (σ_u² |h − g'_i|² + φ² s²)^½ ξ_i,    a wait has no pulse,
///     y_i = g_i + Σ_k b_k,i + (σ_r² + ρ² g_i²)^½ ζ_i,    b_k,i = exp(−1/τ_k) b_k,i−1 + noise,
///
/// with no knowledge of g_0 but y_0. Δt_i is the pause since the reading before. It is a Kalman filter that takes the moments of h from three
/// points (Gauss–Hermite: exact to fifth order; unscented filter, Julier and Uhlmann, Proc. IEEE 92:401 (2004)). A linearisation would jump
/// where a bound clips. Noise of pulses is PulseLaw::ends()'. Slow noise counts a wait as a pulse. A record with goes_on begins with
/// the mean and variance in which its predecessor ends.
/// ln L = −½ Σ (e²/S + ln 2πS) (prediction error decomposition, Schweppe, IEEE Trans. Inf. Theory 11:61 (1965)).
void filter_pulses(const PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
                   Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2);

/// Laws that are filtered side by side: the steps of one filter wait for each other.
constexpr std::size_t filter_lanes = 8;

/// Filters the records of one device by 1 or filter_lanes laws of one model at once. Entry r · laws + l of the results is read r of law l.
void filter_records(std::span<const PulseLaw> laws, std::span<const RecordNoise> noise,
                    std::span<const PulseRecord> records, std::span<double> error_S, std::span<double> variance_S2);

}  // namespace nudge
