// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "devices/state_tables.hpp"

namespace nudge {

/// A programming pulse across one device; 0: unknown, its energy is not counted.
struct WritePulse {
  double voltage_V = 0;  ///< magnitude
  double width_s = 0;
};

/// Error by which a programmed conductance misses its target, drawn once per programming (static).
struct ProgrammingErrorSpec {
  std::vector<double> fit_S = {};    ///< c₀, c₁, ... of σ(g) = Σ c_k (g/g_max)ᵏ, siemens
  double saturating_S = 0;           ///< A of σ(g) = A (1 − exp(−g/B)), added to the polynomial
  double saturating_scale_S = 1e-6;  ///< B
  double write_noise =
      0;  ///< std of the distance of the seen from the stored conductance, in mean pulses, drawn anew at each write

  /// Standard deviation σ(g) ≥ 0 in siemens; 0 when no fit is given.
  double sigma_S(double g_S, double g_max_S) const {
    const double g = std::max(g_S, 0.0);
    double sigma = polynomial(fit_S, g / g_max_S);
    if (saturating_S > 0) sigma += saturating_S * -std::expm1(-g / saturating_scale_S);
    return std::max(sigma, 0.0);
  }
  bool state_dependent() const { return !fit_S.empty() || saturating_S > 0; }
};

/// Change of a stored conductance with time since its last write.
struct RetentionSpec {
  double drift_exponent = 0;        ///< mean ν of g(t) = g (t/t₀)^−ν for t > t₀
  double drift_spread = 0;          ///< device to device and write to write, of ν (absolute)
  StateFit drift_fit = {};          ///< mean of ν over the state; replaces drift_exponent
  StateFit drift_spread_fit = {};   ///< spread of ν over the state; replaces drift_spread
  double drift_start_s = 1;         ///< t₀
  double decay_slope_S = 0;         ///< m of g(t) = g + m ln(t/t₁) + ξ (s + s′ ln(t/t₁)) for t > t₁
  double decay_spread_S = 0;        ///< s, of decay
  double decay_spread_slope_S = 0;  ///< s′, of decay
  double decay_start_s = 1;         ///< t₁
  double leak_time_s = 0;           ///< T of dg/dt = −(g − g_rest)/T; 0: none
  double leak_spread = 0;           ///< device to device, of T (relative)
  double leak_rest = 0.5;           ///< place of g_rest in the window
  double read_disturb_time_s =
      0;  ///< T_r of dg = −(g − g_r) dt/T_r while the read voltage stands across a device; 0: none
  double read_disturb_target = 1;  ///< place of g_r in the window

  bool drifts() const { return drift_exponent != 0 || drift_spread > 0 || drift_fit.given(); }
  bool decays() const { return decay_slope_S != 0 || decay_spread_S > 0 || decay_spread_slope_S > 0; }
  bool leaks() const { return leak_time_s > 0; }
  bool disturbs() const { return read_disturb_time_s > 0; }
  double mean_exponent(double r) const { return drift_fit.given() ? drift_fit.at(r) : drift_exponent; }
  double exponent_spread(double r) const { return drift_spread_fit.given() ? drift_spread_fit.at(r) : drift_spread; }
};

/// Boltzmann's constant in eV/K: 1.380649e-23 J/K over 1.602176634e-19 C, both exact in the SI.
inline constexpr double boltzmann_eV_per_K = 1.380649e-23 / 1.602176634e-19;

/// Arrhenius' factor by which a process of activation energy E goes faster at T than at T₀: exp(E/k (1/T₀ − 1/T)); 1 without activation.
inline double arrhenius_factor(double activation_eV, double reference_K, double temperature_K) {
  if (activation_eV == 0) return 1;
  return std::exp(activation_eV / boltzmann_eV_per_K * (1 / reference_K - 1 / temperature_K));
}

/// Relaxation: a cell wanders from the conductance it was written to. The mean and the random amount grow with the
/// logarithm of the time t since its last write. At another temperature than the tables' own t counts arrhenius_factor()
/// times. Tables over the conductance as written (rows, level_S) and time (columns, time_s), both ascending, row by row.
/// Values between and beyond their points: slow/relaxation_law.hpp.
struct RelaxationSpec {
  std::vector<double> level_S = {};     ///< conductances as written
  std::vector<double> time_s = {};      ///< times since the write
  std::vector<double> spread_S = {};    ///< standard deviation of the change, per level and time
  std::vector<double> mean_S = {};      ///< mean change, per level and time
  std::vector<double> jump_S = {};      ///< typical size of a jump, per level: heavy tails; empty: Gaussian
  std::vector<double> volatility = {};  ///< standard deviation of ln of a cell's own scale of steps, per level and
                                        ///< time; empty: 0
  std::vector<double> skew = {};  ///< k in [−1, 1]: steps up are 1 + k, those down 1 − k times as long, per level
                                  ///< and time; empty: 0
  double volatility_memory_decades = 0;  ///< decades of time after which 1/e of ln of that scale is left; 0: it stays
  double memory_decades = 0;             ///< decades of time after which 1/e of a change is left; 0: it stays
  double jump_share = 0.9;               ///< share of the variance that comes in jumps
  double activation_eV = 0;              ///< E; 0: temperature does not matter
  double reference_K = 300;              ///< T₀: temperature of the tables

  bool active() const { return !time_s.empty(); }
  double acceleration(double temperature_K) const {
    return arrhenius_factor(activation_eV, reference_K, temperature_K);
  }
};

/// Random telegraph noise: one trap in some devices switches the conductance between two values.
struct TelegraphSpec {
  double share = 0;             ///< share of devices with an active trap
  double amplitude = 0;         ///< mean distance of the two values, of the conductance
  double amplitude_spread = 0;  ///< device to device, of the amplitude (relative)
  double time_high_s = 1e-3;    ///< mean time in the higher value
  double time_low_s = 1e-3;     ///< mean time in the lower value
  double time_spread = 0;       ///< device to device, standard deviation of ln of both times

  bool active() const { return share > 0 && amplitude > 0; }
};

/// 1/f noise of the conductance, S_G(f) = G² Q²/f (f/1 Hz)^(1 − α) (one-sided) between 1/(2π slowest) and 1/(2π fastest).
struct FlickerSpec {
  double noise = 0;         ///< q of Q = min(q (g/g_max)^−p, limit)
  double power = 0;         ///< p
  double limit = 1;         ///< largest Q
  double exponent = 1;      ///< α
  StateFit fit = {};        ///< Q over the state; replaces noise, power and limit
  double fastest_s = 1e-6;  ///< shortest time constant
  double slowest_s = 1e4;   ///< longest time constant

  bool active() const { return noise > 0 || fit.given(); }
  double q(double r) const {
    if (fit.given()) return std::max(fit.at(r), 0.0);
    return power == 0 ? std::min(noise, limit) : std::min(noise * std::pow(std::max(r, 1e-7), -power), limit);
  }
};

/// Devices that do not answer: their conductance never changes.
struct FaultSpec {
  double low = 0;     ///< share stuck at the lower bound
  double high = 0;    ///< share stuck at the upper bound
  double random = 0;  ///< share stuck anywhere between the bounds, uniformly

  bool any() const { return low + high + random > 0; }
};

}  // namespace nudge
