// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/effects.hpp"
#include "devices/fit/bake_activation.hpp"

namespace nudge {

/// One level of cells after a time at a temperature: change of the conductance, measured and of the fitted law.
struct BakeRowFit {
  double level_S = 0, temperature_K = 0, time_s = 0;
  std::size_t cells = 0;
  double sd_measured_S = 0, sd_model_S = 0;
  double mean_measured_S = 0, mean_model_S = 0;
};

struct BakeFit {
  RelaxationSpec spec = {};
  ActivationEstimate activation = {};
  std::vector<BakeRowFit> rows = {};  ///< level by level
  std::size_t cells = 0;              ///< measurements after a time above 0 s
  std::size_t left_out = 0;           ///< of levels with too few cells
  double onset_s = 0;                 ///< time that was put before the measured ones; 0: none

  double worst_sd() const;      ///< largest |model/measured − 1|
  double worst_mean_S() const;  ///< largest |model − measured|
};

/// Temperature of the tables that fit_bake() writes: the default of circuit.temperature.
inline constexpr double bake_reference_K = 300;
/// Time after a write at which cells that were first looked at much later are taken to begin to change: at room temperature the variance of the
/// cells of RRAM-Relaxation-Master-Model grows as ln(t · 400 Hz/2) (its analysis.ipynb).
inline constexpr double relaxation_onset_s = 5e-3;

/// Fits RelaxationLaw with an activation energy to tables of parse_bake(). Each temperature and time is a time t exp(E/k (1/T₀ − 1/T))
/// at T₀, E of activation_of() or as given; those less than a factor 2 apart are one. There the law has the measured spread and mean of
/// each level, corrected by simulation (seed fixed) until cells that stay at 0 S, and levels between those of the table, are as measured. Where the
/// first of these times is above 10 onsets, the tables begin with 0 at relaxation_onset_s. Jumps as fit_relaxation(), no memory lost (a bake looks once).
/// sd_model_S and mean_model_S are those of other simulated cells: 32768 antithetic pairs, an sd known to √((k − 1)/4/65536) (0.4 % for a kurtosis k of 5).
BakeFit parse_and_fit_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files,
                           std::optional<double> activation_eV = {});
BakeFit fit_bake(const std::vector<std::string>& paths, std::optional<double> activation_eV = {});

/// The fit as TOML for a configuration, section [device], with what was found as comments.
std::string bake_toml(const BakeFit& fit, const std::string& source);
/// The table for people, µS and °C.
std::string bake_text(const BakeFit& fit);

}  // namespace nudge
