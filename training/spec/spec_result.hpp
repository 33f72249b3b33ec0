// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "training/spec/spec.hpp"

namespace nudge {

/// Scores of one training over the seeds of a specification; not finite where a run failed.
struct SpecScores {
  std::string name;
  std::vector<double> scores;
  bool complete = false;  ///< every seed was run
  double mean() const;
};

/// Share of what digital weights learn that something loses, with its interval; NaN: not known.
struct SpecLoss {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double value = none, low = none, high = none;
};

/// One axis of the sheet.
struct SpecRow {
  SpecAxis axis;
  SpecLimit alone, together;
  /// Cost at the requirement together with the others, divided by the cost of the design, in the order of
  /// cost_measures(). NaN: not known, or no training meets the requirement.
  std::array<double, 4> cost;
};

/// Design of the front: settings on top of the config, and means over the seeds.
struct SpecDesign {
  std::string label;
  std::vector<std::string> settings;
  double score;
  SpecLoss loss;
  std::array<double, 4> cost;  ///< as cost_measures()
  bool front;  ///< no other design is as good in score, inference energy, latency and area, and better in one
};

/// Result of a specification.
struct SpecSheet {
  std::string unknown;  ///< reason why there are no requirements; empty: there are
  SpecScores exact, null, clean, design;
  double learnt = 0;   ///< mean distance of exact numbers from the strongest null, above 0 where they are better
  double samples = 0;  ///< answers behind a test accuracy; 0: the score is none
  SpecLoss clean_loss = {}, design_loss = {};  ///< of clean against exact numbers; of the design against clean
  std::vector<SpecRow> rows = {};
  std::vector<SpecDesign> designs = {};
  std::array<double, 4> design_cost = {};
};

/// Reads a sheet off the trainings that a run has so far.
SpecSheet spec_sheet(const SpecRun& run);

/// Trials of an axis: alone, or with all others as specified.
enum class SpecMode { alone, together };
std::vector<SpecTrial> spec_trials(const SpecRun& run, const SpecAxis& axis, SpecMode mode);

/// True if the first of two designs is at least as good in all of these objectives and better in one. Objectives are
/// better when smaller. An objective that neither has does not count; one that only one has makes them incomparable.
bool dominates(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace nudge
