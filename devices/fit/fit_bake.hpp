// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/effects.hpp"
#include "devices/fit/fit_relaxation.hpp"

namespace nudge {

/// A temperature and a time since the write at which cells were measured.
struct BakePoint {
  double temperature_K = 0, time_s = 0;
};

/// Cells of one level at one temperature and time.
struct BakedCells {
  std::vector<double> starts_S = {};   ///< conductances as written
  std::vector<double> changes_S = {};  ///< changes of the conductance since the write
};

/// Cells that were written and left at temperatures: cells[level][point], levels by mean start.
struct BakeData {
  std::vector<BakePoint> points = {};  ///< points in the order of temperature, then time
  std::vector<std::vector<BakedCells>> cells = {};
  std::size_t left_out = 0;  ///< measurements of levels with fewer than least_baked_cells at some point
};

inline constexpr std::size_t least_baked_cells = 20;  // an sd is then known to 16 % (Gaussian)

/// Reads one or two tables of long_table.hpp. The first has the columns cell, time, conductance, temperature_C or temperature_K
/// and, optionally, start (else the first measurement of the cell at that temperature) and level. Without a header: cell, time,
/// resistance, conductance, temperature_C. A cell is written anew for each temperature. The second has the same columns without
/// temperatures, all at reference_K; without a header as for fit_relaxation(). Without levels cells are in groups of equal size by
/// start: as many groups as leave 200 cells to each point, up to 32. Times of one temperature closer than a factor 1.5 are one.
///
/// UserError with file:line for tables that parse_long_table() refuses and for temperatures not above 0 K; also for fewer
/// than 2 temperatures, or no level with enough cells.
BakeData parse_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files, double reference_K,
                    TableLook& look);

/// Source of an activation energy.
enum class ActivationSource {
  measured,  ///< from times at several temperatures that fall onto one curve
  kinetics,  ///< from the attempt frequency alone: the table has one time at each temperature
  no_curve,  ///< from the attempt frequency alone: times at several temperatures fall onto no curve
  given,     ///< given by the user
};

struct ActivationEstimate {
  double value_eV = 0, low_eV = 0, high_eV = 0;  ///< 95 % interval; for kinetics the range over the points
  ActivationSource source = ActivationSource::measured;
};

/// Attempt frequency of an activated step of atoms, kT/h at 480 K, a usual assumption for oxides (10^13 per second).
inline constexpr double attempt_Hz = 1e13;

/// Activation energy of relaxation; moments[level][point].
///
/// If some temperature was measured at times a factor 3 apart, E lies between 0 and 4 eV. With it variance and mean of each level are a
/// cubic in ln(t exp(−E/kT)), with bends of the size of their range. The fit is a weighted least-squares fit with
/// sampling errors and 3 % of the spread as errors; the interval ends where the squares have risen by 3.84 times their mean.
///
/// Otherwise, and where the best E is above 3.9 eV, the table does not tell how a time compares with a temperature (a free curve
/// fits any E). Then E = kT ln(ν t), the barrier that a step of attempt frequency ν passes within the time, mean over the points.
ActivationEstimate activation_of(const BakeData& data, const std::vector<std::vector<Moments>>& moments);

/// Row of the fit's report: one level of cells after a time at a temperature, with the measured change and the fitted law's.
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
  std::size_t left_out = 0;           ///< measurements of levels with too few cells
  double onset_s = 0;                 ///< time put before the measured ones; 0: none

  double worst_sd() const;      ///< largest |model/measured − 1|
  double worst_mean_S() const;  ///< largest |model − measured|
};

/// Temperature of the tables that fit_bake() writes: the default of circuit.temperature.
inline constexpr double bake_reference_K = 300;
/// Time after a write at which cells are taken to begin to change if they were first looked at much later. At room
/// temperature the variance of the cells of RRAM-Relaxation-Master-Model grows as ln(t · 400 Hz/2) (its analysis.ipynb).
inline constexpr double relaxation_onset_s = 5e-3;

/// Fits RelaxationLaw with an activation energy to tables of parse_bake(). Each temperature and time is a time t exp(E/k (1/T₀
/// − 1/T)) at T₀, with E of activation_of() or as given; times less than a factor 2 apart are one. There the law has the
/// measured spread and mean of each level. Both are corrected by simulation (seed fixed) until cells that stay at 0 S, and
/// levels between the table's, are as measured. If the first of these times is above 10 onsets, the tables begin with 0
/// at relaxation_onset_s. Jumps as fit_relaxation(); no memory is lost (a bake looks once). sd_model_S and mean_model_S come
/// from other simulated cells: 32768 antithetic pairs, an sd known to √((k − 1)/4/65536) (0.4 % for a kurtosis k of 5).
BakeFit parse_and_fit_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files,
                           std::optional<double> activation_eV = {}, TableLook* look = nullptr);
BakeFit fit_bake(const std::vector<std::string>& paths, std::optional<double> activation_eV = {},
                 TableLook* look = nullptr);

/// Fit as TOML for a configuration, section [device], with the findings as comments.
std::string bake_toml(const BakeFit& fit, const std::string& source);
/// Table of the fit for people, µS and °C.
std::string bake_text(const BakeFit& fit);

}  // namespace nudge
