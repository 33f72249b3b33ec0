// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/effects.hpp"
#include "devices/fit/long_table.hpp"

namespace nudge {

/// Moments of the cells' changes.
struct Moments {
  double mean = 0, sd = 0, kurtosis = 3, skewness = 0;
  double absolute = 0;  ///< mean distance from the mean
  double tail = 0;      ///< share of cells beyond 4 standard deviations
};

Moments moments_of(const std::vector<double>& x);

/// Cells of one level: their conductances as programmed, and their changes since, changes[time][cell].
struct LevelCells {
  std::vector<double> starts_S;
  std::map<std::size_t, std::map<double, double>> changes;
};

/// Changes of the cells at one time, without the cells' numbers.
std::vector<double> changes_of(const std::map<double, double>& cells);

/// Changes of simulated cells of level `number` at all times of the tables, [time][cell], starting from the measured starts in turn.
std::vector<std::vector<double>> simulated_changes(const RelaxationSpec& spec, const LevelCells& level,
                                                   std::size_t number, std::uint64_t seed, std::size_t cells);

/// Changes of the same cells at two times.
struct PairedChanges {
  std::vector<double> early, late;
};
PairedChanges paired(const std::map<double, double>& early, const std::map<double, double>& late);

/// Pearson's correlation of early and late changes.
double correlation_of(const PairedChanges& x);

/// Tails and persistence of the cells, and of a fitted law.
struct VolatilityFit {
  double persistence_measured = 0, persistence_model = 0;  ///< persistence_of(), mean over levels and pairs of times
  double persistence_error = 0;                            ///< rms over the pairs of times
  double skew_measured = 0, skew_model = 0;                ///< rms of L_skewness() over levels and times
  bool skewed = false;                                     ///< the skew of the cells is significant, so the law has one
};

/// Third L-moment over the second, τ₃ in (−1, 1): 0 of symmetric values, 1/3 of an exponential distribution (Hosking, J. R. Stat. Soc. B
/// 52:105 (1990)). Few far values move it less than a skewness. 0 for values that are all alike.
double L_skewness(std::vector<double> values);

/// Fits skew, volatility and its memory (RelaxationLaw) to the cells, of at least 20 at each time of each level.
///     volatility: a normal number times exp(½ ω h − ¼ ω²) has ⟨|x|⟩/sd = √(2/π) exp(−ω²/8), which unlike a kurtosis is not decided by the two or
///         three farthest cells. A level of 500 cells still knows ω² to 0.3 only, so the fit meets the straight line of ω² over the conductances
///         at each time. The table is moved until simulated cells have the same lines, ω² = 4 w² staying below 3.24 (kurtosis 77): 16000
///         cells know the sd of such a law to 3 %;
///     skew: none where the cells' skew is not significant at 1 %. Else the fit meets, at each time, the parabola of least squares of
///         L_skewness() over the conductances; with fewer than four levels each level's own. 250 cells know τ₃ to 0.05, which one level cannot tell from 0;
///     memory: of 0.5 to 4 decades by factors of √2 the one with the least squares of persistence_of(), means over levels, of all pairs of times.
VolatilityFit fit_volatility(const std::vector<LevelCells>& levels, RelaxationSpec& spec);

/// Row of the fit's report: one level of cells at one time after programming, with the change measured and the fitted law's.
struct RelaxationRow {
  double level_S = 0, time_s = 0;
  std::size_t cells = 0;
  double sd_measured_S = 0, sd_model_S = 0;
  double mean_measured_S = 0, mean_model_S = 0;
  double tail_measured = 0, tail_model = 0;  ///< share of the cells beyond 4 standard deviations
  /// Quantiles 1 % and 99 % of the change, S.
  double low_measured_S = 0, low_model_S = 0, high_measured_S = 0, high_model_S = 0;
  double low_error_S = 0, high_error_S = 0;  ///< standard errors of the measured ones, from the errors of their shares
};

/// Pearson's correlation of the changes of a level's cells at two times, measured and of the law.
struct RelaxationPair {
  double level_S = 0, early_s = 0, late_s = 0;
  std::size_t cells = 0;
  double measured = 0, model = 0;
};

/// Level whose cells are of two kinds (failed_levels()): no part of the law.
struct FailedLevel {
  double level_S = 0, sd_S = 0;  ///< mean start, and standard deviation of the change at the last time
  std::size_t cells = 0;
};

/// Distances of a law from the cells, over the times of one level or over all; of quantiles and correlations what their sampling
/// errors leave.
struct RelaxationErrors {
  double sd = 0;  ///< rms of model/measured − 1
  double quantile =
      0;  ///< rms of the distance of the quantiles 1 % and 99 %, of the measured one or of sd where that is more
  double quantile_sampling = 0;  ///< rms of the sampling error of these quantiles, in the same units
  double correlation = 0;        ///< rms
  /// True if the sampling error leaves the quantiles to be judged: it is below their limit.
  bool judges_quantiles() const { return quantile_sampling <= 0.3; }
  /// True if the law describes the cells, as far as they tell: 12 %, 30 % and 0.15.
  bool describes() const { return sd <= 0.12 && quantile <= 0.3 && correlation <= 0.15; }
};

struct RelaxationFit {
  static constexpr std::size_t least_cells = 20;  ///< of a level: its sd is then known to 16 % (Gaussian)
  RelaxationSpec spec;
  std::vector<RelaxationRow> rows;         ///< level by level
  std::vector<RelaxationPair> pairs = {};  ///< level by level, all pairs of times
  std::vector<FailedLevel> failed = {};
  std::size_t cells = 0;
  std::size_t left_out = 0;  ///< measurements of levels with too few cells
  /// Root of the mean squared difference of the correlations of two times of a level, measured and √(V(s)/V(t)) exp(−Δ/memory).
  double correlation_error = 0;
  VolatilityFit volatility = {};

  /// Distances over all levels, or over one level by its start.
  RelaxationErrors errors(std::optional<double> level_S = {}) const;
};

/// Fits the tables of RelaxationLaw to a long table with the columns cell, time and conductance. Optional columns are start, level
/// and nominal. start is the conductance as programmed; without it the cell's first measurement counts. Without levels there are
/// eight groups of equal size by start. nominal is the intended time; without it times less than a factor 1.5 apart are one. Levels that failed are left out. Their cells are of two kinds
/// by has_two_modes(), which heavy tails do not trouble. Their sd is more than 1.5 times
/// the median of the six levels beside. Both hold at the last time. A law between levels would lend their variance to the others. A
/// table without a header has cell, time, resistance, conductance, start, level, nominal.
///     spread, mean: the measured ones of each level and time, then corrected by simulation (seed fixed) where cells that
///         would pass 0 S stay there, and for starts between levels;
///     skew, volatility and its memory: fit_volatility();
///     memory: least squares of the correlations of two times over all levels.
/// sd_model_S and mean_model_S come from other simulated cells (16000 a level, another seed): their sampling error is √((k −
/// 1)/4/16000) of an sd, 1.3 % for a kurtosis k of 11. UserError for tables that parse_long_table() refuses, for a level with
/// one time only or without a spread, and where no level has 20 cells.
RelaxationFit fit_relaxation(const std::string& path, TableLook* look = nullptr);
RelaxationFit parse_and_fit_relaxation(std::string_view text, const std::string& file, TableLook* look = nullptr);

/// Fit as TOML for a configuration, section [device], with the table as comments.
std::string relaxation_toml(const RelaxationFit& fit, const std::string& source);
/// Table of the fit for people, µS, with the verdict.
std::string relaxation_text(const RelaxationFit& fit);
/// Says whether the law describes the levels, and which it does not.
std::string relaxation_verdict(const RelaxationFit& fit);

}  // namespace nudge
