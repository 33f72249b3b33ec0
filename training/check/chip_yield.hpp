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

/// What became of one sampled chip.
struct ChipStability {
  std::uint64_t seed = 0;
  double abscissa = 0;   ///< largest real part of an eigenvalue of J at z*, 1/τ; NaN where none was found
  double frequency = 0;  ///< |Im λ| of that eigenvalue, radians per τ; 0: real
  double residual = 0;   ///< largest ‖F‖/‖z‖ that its free phases ended at
  bool settles = false;  ///< every sequence comes to rest, and perturbations there decay
};

/// How far a network on devices is from losing its equilibria: of the chip of the config's seed, and of others.
struct ChipYield {
  StabilityReport report;
  std::string verdict;
  double margin = 0;  ///< −abscissa: what every leak could lose before the equilibrium does, 1/τ
  double hopf_frequency =
      0;          ///< of the leading pair, radians per τ: how fast it turns where it crosses the axis; 0: real
  HopfForm hopf;  ///< of the first chip, at its least stable equilibrium
  std::vector<ChipStability> chips;
  double yield = 0;   ///< share of the chips that settle
  Interval interval;  ///< 95 %, Wilson
};

/// The eigenvalues of J_F(z*) at the fixed points of the first training batch, noise-free, of `chips` ≥ 1 chips with the seeds
/// seed, seed + 1, …: each has devices, amplifiers and nodes of its own (spreads, programming errors, stuck devices, offsets),
/// and where model.weights names no file initial weights too. UserError for networks that do not settle.
ChipYield chip_yield(const Config& config, int chips, const std::function<void(const std::string&)>& tell = {});

/// |Im λ| of the leading eigenvalue, 0 where the angle is not seen: below 1e-6 of |λ| a split double eigenvalue looks complex.
double turning_rate(const StabilityReport& report);

}  // namespace nudge
