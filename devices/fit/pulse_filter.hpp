// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include "devices/fit/pulse_law.hpp"
#include "devices/fit/record_noise.hpp"

namespace nudge {

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
