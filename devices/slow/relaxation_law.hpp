// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "devices/effects.hpp"

namespace nudge {

/// Law of a cell's conductance t seconds after it was written with g₀: g(t) = max(g₀ + m(g₀, t) + X(t), 0).
///
/// V(g₀, t), the variance of X, and m come from the tables. They are linear in g₀ between levels, and beyond them equal to the end levels.
/// In time they are linear in ln t between times and, V as far as it grows, beyond the last. From 0 to the first time they are linear in t,
/// so that nothing jumps. X is a Markov process in ln t with knots t_k = t₁ 10^(k/2), k = 0, 1, ... From one knot to any time before the
/// next
///     X(t) = a X(t_k) + √(V(t) − a² V(t_k)) z_{k+1},   a = min(exp(−log₁₀(t/t_k)/memory), √(V(t)/V(t_k))),
/// so that the variance is V at all times, and X is a function of the z alone, at whatever times it is read. The correlation of a knot s
/// with a later t is √(V(s)/V(t)) exp(−log₁₀(t/s)/memory) where a is not cut. For an s between knots it is larger, by up to the factor of
/// one interval.
///
/// z_k has variance 1: with probability p it is of variance 1 − q + q/p (a jump), else of 1 − q. Here q = jump_share, p = 1/(1 + J²/(q²
/// ΔV)), J = jump_S, and ΔV is the variance that the whole interval adds. The excess kurtosis of z is then 3 J²/ΔV, and about 3 J²/V for X.
/// Jumps of fixed size that come with ΔV have the same (a Lévy process in ln t).
///
/// With a table w(g₀, t) of volatility z_k is multiplied by S_k = exp(w h_k − w²), with w at t_k; the first time's w holds before it, the
/// last's beyond. h_k is normal, an autoregression of first order in ln t that keeps 10^(−½/m log₁₀e) from knot to knot, m =
/// volatility_memory. ⟨S²⟩ = 1, so V and correlations stay the same. A cell that has gone far goes on in larger steps (stochastic
/// volatility: Taylor, Modelling Financial Time Series (1986), ch. 3). Tails and persistence of measured cells: results/devices.md.
///
/// With a table k(g₀, t) of skew the normal number of z_k, positive or negative, is made 1 + k or 1 − k times as long. That is the two-piece
/// normal distribution of Fechner (Wallis, Statistical Science 29:106 (2014)). Its mean 2k/√(2π) is taken off, and it is divided by
/// √(1 + k² − 2k²/π): mean, variance and correlations stay the same. The table is read at t_k, like w.
class RelaxationLaw {
 public:
  /// Step of X to the next knot or to t, from a knot or the last knot before t: X ← kept X + width z. z has variance 1 and is
  /// made from a normal and a uniform number.
  struct Stretch {
    double kept = 0, width = 0;
    double jump_probability = 0;             ///< p; 0: no jumps
    double scale_still = 1, scale_jump = 1;  ///< scales of the normal number, without and with a jump
    double volatility = 0;                   ///< w; 0: all cells alike
    double skew = 0;                         ///< k; 0: as long up as down
  };
  /// Random numbers of a cell, all independent, at least one of each kind for a stretch; volatilities (normal) where is_volatile().
  struct Draws {
    std::span<const double> normals, uniforms, volatilities = {};
  };
  /// Path of the cells of one start to one time: the part that is the same for all cells of that start.
  struct Path {
    double start_S = 0, mean_S = 0;
    std::vector<Stretch> stretches = {};
    double volatility_kept = 0;  ///< share of h_k kept from stretch to stretch

    /// Conductance g(t) of a cell with these random numbers.
    double conductance_S(const Draws& draws) const;
  };

  explicit RelaxationLaw(RelaxationSpec spec);

  /// Variance V(g₀, t) in S².
  double variance_S2(double start_S, double t_s) const;
  double mean_S(double start_S, double t_s) const;
  /// Count of numbers z on which the change at time t depends: at least 1.
  std::size_t draws(double t_s) const;
  bool is_volatile() const { return !spec_.volatility.empty(); }
  /// Conductance g(t), from at least draws(t) numbers of each kind; use the same ones at all times of one cell.
  double conductance_S(double start_S, double t_s, const Draws& draws) const;
  /// Path from start_S to t_s; needs t > 0.
  Path path(double start_S, double t_s) const;

 private:
  /// Value of a table at (g₀, t).
  double at(const std::vector<double>& table, double start_S, double t_s) const;
  double knot_s(std::size_t k) const;

  RelaxationSpec spec_;
  std::vector<double> variance_S2_;  ///< spread_S squared
};

/// Error text of the tables; empty: none.
const char* relaxation_problem(const RelaxationSpec& spec);

}  // namespace nudge
