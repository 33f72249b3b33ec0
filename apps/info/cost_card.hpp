// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// Part of a chip: its energy and area, and the source of the numbers. Nothing: not known, or not of this part.
struct CostPart {
  std::string part;
  std::optional<double> inference_J, step_J;  ///< energy of one example; of one training step
  std::optional<double> area_m2;
  std::string source;  ///< keys, series and citations
};

/// Cost of the circuit of a run, in the terms of NeuroSim and CrossSim: energy, latency and area, by part.
struct CostCard {
  std::vector<CostPart> parts;
  double node_m = 0;                            ///< feature size F
  std::optional<double> inference_s, phases_s;  ///< time of one example; of the phases of a step's examples in turn
  std::optional<double> writes_s;  ///< time of a step's pulses and verify reads one after the other: an upper bound
  double operations = 0;           ///< useful operations of an inference: 2 x weights x tokens
  std::optional<double> mean_pulses, most_pulses;  ///< pulses that a device has received, programming included
  double endurance = 0;                            ///< device.endurance; 0: not known
  std::vector<std::string> left_out;               ///< parts that none of these numbers includes

  double inference_J() const;  ///< sum over the parts that are known; the same for step_J() and area_m2()
  double step_J() const;
  double area_m2() const;
  double tops_per_watt() const;  ///< operations over inference_J, in 1e12 per J; NaN without energy
};

/// Makes the cost card of the run's own network (lane "") on devices. UserError, naming the file, for a run without
/// arrays.
CostCard cost_card(const Config& config, const report::RunFile& run);

/// Reads a run file (kind "train"); `settings` as after --set: keys of [cost]. UserError naming the file.
CostCard read_cost_card(const std::filesystem::path& path, const std::vector<std::string>& settings);

std::string card_text(const CostCard& card);
nlohmann::json card_json(const CostCard& card);

/// Rows of the table of parts: a heading first, the sums last.
std::vector<std::vector<std::string>> card_rows(const CostCard& card);
/// Notes below the table of parts, a sentence each.
std::vector<std::string> card_notes(const CostCard& card);

}  // namespace nudge
