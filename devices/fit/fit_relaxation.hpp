// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/fit_volatility.hpp"

namespace nudge {

/// One level of cells at one time after programming: change of the conductance, measured and of the fitted law.
struct RelaxationRow {
  double level_S = 0, time_s = 0;
  std::size_t cells = 0;
  double sd_measured_S = 0, sd_model_S = 0;
  double mean_measured_S = 0, mean_model_S = 0;
  double tail_measured = 0, tail_model = 0;  ///< share of the cells beyond 4 standard deviations
};

struct RelaxationFit {
  RelaxationSpec spec;
  std::vector<RelaxationRow> rows;  ///< level by level
  std::size_t cells = 0;
  std::size_t left_out = 0;  ///< measurements of levels with too few cells
  /// Root of the mean squared difference of the correlations of two times of a level, measured and √(V(s)/V(t)) exp(−Δ/memory).
  double correlation_error = 0;
  VolatilityFit volatility = {};
};

/// Fits the tables of RelaxationLaw to a long table: columns cell, time, conductance and, as far as there, start (conductance as
/// programmed; else that of the cell's first measurement), level (else eight groups of equal size by start) and nominal (time that is
/// meant; else times less than a factor 1.5 apart are one). resistance is known and not used. A table without a header
/// has cell, time, resistance, conductance, start, level, nominal.
///     spread, mean: the measured ones of each level and time, then corrected by simulation (seed fixed) where cells that
///         would pass 0 S stay there, and for starts between levels;
///     volatility and its memory: fit_volatility();
///     memory: least squares of the correlations of two times over all levels.
/// sd_model_S and mean_model_S are those of other simulated cells (16000 a level, another seed): their sampling error is
/// √((k − 1)/4/16000) of an sd, 1.3 % for a kurtosis k of 11. UserError for what parse_long_table() refuses, for a level with
/// one time only or without a spread, and where no level has 20 cells.
RelaxationFit fit_relaxation(const std::string& path);
RelaxationFit parse_and_fit_relaxation(std::string_view text, const std::string& file);

/// The fit as TOML for a configuration, section [device], with the table as comments.
std::string relaxation_toml(const RelaxationFit& fit, const std::string& source);
/// The table for people, µS.
std::string relaxation_text(const RelaxationFit& fit);

}  // namespace nudge
