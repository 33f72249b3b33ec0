// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "sim/motion.hpp"

namespace nudge {

/// Purpose of a read of an array. Each class has a policy of its own (circuits/read_policy.hpp).
enum class ReadClass : std::uint8_t {
  free,         ///< the free phase relaxes
  nudged,       ///< the nudged phases relax, and the linear iterations that stand for them
  stored,       ///< values kept of the point z*: projections, gates, attention, products
  anchor,       ///< F(z*), which an anchored nudged phase subtracts
  correlation,  ///< the local correlation ⟨a, ∂F/∂θ⟩ and the read-out's own gradient
  loss,         ///< the cost reported for training and evaluation
  monitor,      ///< the residual ‖F‖/‖z‖ and the decisions of controllers that use it
};
inline constexpr std::size_t read_classes = 7;

/// Timing of the reads of a relaxation, in units of τ; each solver sets it.
struct ReadTiming {
  double interval = 1;  ///< Δ over which white noise counts: a read has the standard deviation σ/√Δ
  double duration = 1;  ///< time for which the circuit is driven, which counts in energy and time; 0: not a time
};

/// Purpose and clock of the evaluations that follow.
struct Reading {
  ReadClass kind = ReadClass::free;
  ReadTiming relaxation = {};  ///< timing of free and nudged reads
  bool exact = false;  ///< compute derivatives of the noise-free circuit at its operating point instead of reading them
};

/// Time that passes without writes.
struct Elapsed {
  Elapsed(double all_s, double reading_s = 0)
      : seconds(all_s), read_s(reading_s) {}  // NOLINT: a time is one without reads

  double seconds;
  double read_s;  ///< time for which the read voltage stood across the devices

  /// Part of it that lasts so many seconds.
  Elapsed part(double share_s) const { return {share_s, seconds > 0 ? read_s * (share_s / seconds) : 0}; }
};

/// Share of a deviation assumed to remain after a step that leaves none (εL = 1). A circuit would take for ever; the time to
/// 8 bits is taken instead.
inline constexpr double least_remainder = 1.0 / 256;

/// Time of the reads of z ← z + ε F(z), F = −L z + N(z) + σξ with white noise ξ (times in τ, L = `leak`).
///
/// z ← (1 − εL) z + ε N is the exponential step (ETD1; Cox & Matthews, J. Comput. Phys. 176 (2002) 430) of the duration
///     h = −ln(1 − εL)/L,    e^{−Lh} = 1 − εL,    (1 − e^{−Lh})/L = ε:
/// it follows leak and clamp exactly, and N as if it stood still for h. To be exact for noise too, it must add the variance
/// that an Ornstein–Uhlenbeck process gathers in h, σ² (1 − e^{−2Lh})/2L = σ² ε (2 − εL)/2. A read adds ε² σ²/Δ; hence
///     Δ = 2ε/(2 − εL),
/// and the stationary variance is σ²/2L at every step. (Δ = ε, Euler–Maruyama, gives 2/(2 − εL) times too much.)
///
/// With a mass M and friction Γ (sim/motion.hpp) the state is autoregressive of order 2,
///     y ← (1 − s) y + s/Γ F,   z ← z + ε y,   s = 1 − e^{−Γε/M},
///     z″ = φ z′ − (1 − s) z + εs/Γ σξ/√Δ,   φ = 2 − s − εLs/Γ,
/// of variance (σ²/Δ) ε (2 − s)/(L (4Γ − 2Γs − εLs)). The circuit's variance is σ²/2ΓL whatever M, hence
///     Δ = 2ε/(2 − (εL/Γ) tanh(Γε/2M)).
/// h is the time in which the slowest mode shrinks by as much as in a step. It follows from ln|μ| = h Re λ, with the larger
/// root μ of μ² = φ μ − (1 − s) and the slower root of λ (Γ + Mλ) = −L. It is ε where the two oscillate. Nodes of unequal
/// friction are taken at its mean.
///
/// εL > 1 turns deviations around, which no circuit does. Δ still gives the right variance, and h is the time in which they
/// shrink by as much. Without a leak, or where the leak alone makes steps diverge ((εL/Γ) tanh ≥ 2), Δ = h = ε.
inline ReadTiming euler_timing(double step, double leak, const Motion& motion = {}) {
  const double gamma = motion.mean_friction(), kept = motion.kept(step, gamma), gained = motion.gained(step, gamma);
  const double excess = step * leak * gained / (1 + kept);  // (εL/Γ) tanh(Γε/2M)
  if (!(leak > 0) || !(excess < 2)) return {step, step};
  const double interval = 2 * step / (2 - excess);
  if (!(gamma > 0)) return {interval, step};
  const double phi = 1 + kept - step * leak * gained;
  const double discrete = phi * phi - 4 * kept;
  const double factor = discrete < 0 ? std::sqrt(kept) : (std::abs(phi) + std::sqrt(discrete)) / 2;
  const double continuous = gamma * gamma - 4 * motion.mass * leak;
  const double rate = continuous < 0 ? gamma / (2 * motion.mass) : 2 * leak / (gamma + std::sqrt(continuous));
  return {interval, -std::log(std::max(factor, least_remainder)) / rate};
}

/// Time of the reads of one stage of the classical Runge–Kutta method. With x = εL a step keeps R = 1 − x + x²/2 − x³/6 + x⁴/24
/// of z and takes the noise of its stages with the weights ε (1 − x + x²/2 − x³/4)/6, ε (1 − x/2 + x²/4)/3, ε (1 − x/2)/3, ε/6.
/// The variance is σ²/2L for
///     Δ = 2L Σ (weights)²/(1 − R²)    (ε/3.6 for x → 0, and there for what does not leak).
/// Four stages make one step. R is e^{−x} to fifth order, so the step equals its duration.
inline ReadTiming rk4_timing(double step, double leak) {
  const double x = step * leak;
  const double lost = x * (1 - x / 2 + x * x / 6 - x * x * x / 24);  // 1 − R
  if (!(leak > 0) || !(lost > 0 && lost < 2)) return {step / 3.6, step / 4};
  const double first = (1 - x + x * x / 2 - x * x * x / 4) / 6;
  const double second = (1 - x / 2 + x * x / 4) / 3;
  const double third = (1 - x / 2) / 3;
  const double squares = first * first + second * second + third * third + 1.0 / 36;
  return {2 * x * step * squares / (lost * (2 - lost)), step / 4};
}

}  // namespace nudge
