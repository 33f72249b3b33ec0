// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sim/base/statistics.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// Answer to whether a loss still falls when training ends: its slope over the last fifth of the steps, by least
/// squares, with a 95 % interval. Losses of neighbouring steps resemble each other. The line is therefore fitted to the
/// means ȳ_b at x̄_b of ten blocks in a row (batch means: Schmeiser, Oper. Res. 30 (1982) 556),
///     slope = Σ (x̄_b − x̄)(ȳ_b − ȳ)/S,  S = Σ (x̄_b − x̄)²,  ± t(0.975, 8) √(Σ residual²/(8 S)).
/// Slope and interval are NaN where there are fewer than ten losses.
struct Plateau {
  std::string of;    ///< "validation" or "training": the loss that is meant
  std::string unit;  ///< unit of the loss
  double slope_per_1000_steps = 0;
  Interval interval = {};  ///< interval of the slope
  /// True where as many more steps would change the loss by less than 1 % of it, or by 0.1 % of its fall since the first step. Both ends
  /// of the interval count. Else false where the upper end is below 0, and nothing where the scatter hides it. False too where the
  /// upper end alone is worth 1 % of the fall so far: a slow training changes little of its loss and much of what it has learnt.
  std::optional<bool> reached = {};

  /// The learning rate at the end is below half of that where the last fifth begins, as train.schedule = cosine makes it. A loss then stops
  /// falling whether or not there is more to learn: a new run of more steps may end lower.
  bool rate_fell = false;

  bool rises() const { return interval.low > 0; }
  /// "the validation loss still falls by 0.012 nat per 100 steps. Unfinished: train longer before you compare". Log, `nudge info`
  /// and reports say it; tables of many runs take the same words (tools/results/intervals.py).
  std::string text() const;
};

/// Fits losses at ascending steps; those before the last fifth and those that are not finite are left out.
Plateau plateau_of(std::span<const double> steps, std::span<const double> losses);

/// Plateau of a log: of the validation loss, or with fewer than ten evaluations in the last fifth of the training loss.
Plateau plateau_of(const TrainLog& log);

/// Writes the attributes plateau_of, plateau_slope, plateau_low and plateau_high (per 1000 steps), plateau_text, and
/// plateau_reached where it is known, of /train.
void write_plateau(const Plateau& plateau, H5Document& document);

}  // namespace nudge
