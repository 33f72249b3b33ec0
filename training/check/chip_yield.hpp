// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/config/config.hpp"
#include "training/check/stability.hpp"

namespace nudge {

/// Stability of one sampled chip.
struct ChipStability {
  std::uint64_t seed = 0;
  double abscissa = 0;   ///< largest real part of an eigenvalue of J at z*, 1/τ; NaN where none was found
  double frequency = 0;  ///< |Im λ| of the eigenvalue of `abscissa`, radians per τ; 0: real
  double residual = 0;   ///< largest ‖F‖/‖z‖ at the end of its free phases
  bool settles = false;  ///< every sequence comes to rest, and perturbations there decay
};

/// Distance of a network on devices from losing its equilibria: for the chip of the config's seed, and for others.
struct ChipYield {
  StabilityReport report;
  std::string verdict;
  double margin = 0;  ///< −abscissa: how much every leak may fall before the equilibrium is lost, 1/τ
  double hopf_frequency =
      0;          ///< |Im λ| of the leading pair, radians per τ: how fast it turns where it crosses the axis; 0: real
  HopfForm hopf;  ///< form of the bifurcation of the first chip, at its least stable equilibrium
  std::vector<ChipStability> chips;
  double yield = 0;   ///< share of the chips that settle
  Interval interval;  ///< 95 % interval of the yield, Wilson
};

/// Computes the eigenvalues of J_F(z*), without noise, at the fixed points of the first training batch, for `chips` ≥ 1
/// chips with the seeds seed, seed + 1, …. Each chip has devices, amplifiers and nodes of its own (spreads, programming
/// errors, stuck devices, offsets). Initial weights differ too where model.weights names no file. UserError for
/// networks that do not settle.
ChipYield chip_yield(const Config& config, int chips, const std::function<void(const std::string&)>& tell = {});

/// Returns |Im λ| of the leading eigenvalue, 0 below 1e-6 of |λ|: there a split double eigenvalue looks complex.
double turning_rate(const StabilityReport& report);

}  // namespace nudge
