// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
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

/// Counts of reads that prices make energies of. Nothing: not counted.
struct ReadCounts {
  std::optional<double> array_J;  ///< heat in the devices
  std::optional<double> dac_conversions, adc_conversions, partial_sums, amplifier_s, driven_V2, operations;
  /// Energies at the prices of the run, for files of earlier versions, which have no counts.
  std::optional<double> dac_J, adc_J, amplifier_J, driver_J, digital_J;
};

/// Counts of one inference and of one training step of a run, and its arrays. Nothing: not counted.
struct CardCounts {
  ReadCounts inference, step;
  std::optional<double> inference_s, example_s;  ///< time of an inference; of all phases of an example of a step
  std::optional<double> writes_J, pulses_s, verify_J, verify_reads, transfers_J;  ///< of a step, programming apart
  std::optional<double> mean_pulses, most_pulses;  ///< pulses that a device has received, programming included
  double steps = 1;                                ///< training steps, in which they received them
  double devices = 0;
  std::map<std::string, std::pair<Index, Index>>
      arrays;  ///< rows and columns of the weights of each; one of the copies
};

/// Reads the counts of the run's own network (lane ""). UserError, naming the file, for a run without arrays.
CardCounts card_counts(const report::RunFile& run);

/// Cost of a chip (section [chip]) in the terms of NeuroSim and CrossSim: energy, latency and area, by part.
struct CostCard {
  std::vector<CostPart> parts;
  double node_m = 0;                             ///< feature size F; 0: no chip is described
  double tiles = 0;                              ///< tiles of all arrays
  double adcs = 0, adc_rate_Hz = 0, read_s = 0;  ///< converters, conversions a second of each, time of a read
  std::optional<double> inference_s, phases_s;   ///< time of one example; of the phases of a step's examples in turn
  std::optional<double> writes_s;  ///< time of a step's pulses and verify reads one after the other: an upper bound
  double operations = 0;           ///< useful operations of an inference: 2 x weights x tokens
  std::optional<double> mean_pulses, most_pulses;  ///< pulses that a device has received, programming included
  double endurance = 0;                            ///< device.endurance; 0: not known
  std::optional<double> mean_years, least_years;   ///< time until the mean and the busiest device have had theirs
  double steps_per_day = 0;                        ///< use at which these hold
  std::vector<std::string> left_out;               ///< parts that none of these numbers includes

  double inference_J() const;  ///< sum over the parts that are known; the same for step_J() and area_m2()
  double step_J() const;
  double area_m2() const;
  double tops_per_watt() const;  ///< operations over inference_J, in 1e12 per J; NaN without energy
};

/// Makes the cost card of a chip from its config and what was counted. It needs no run file.
CostCard cost_card(const Config& config, const CardCounts& counts);

/// Makes that of the run's own network. UserError, naming the file, for a run without arrays.
CostCard cost_card(const Config& config, const report::RunFile& run);

/// Reads a run file (kind "train"); `settings` as after --set: keys of [chip]. UserError naming the file.
CostCard read_cost_card(const std::filesystem::path& path, const std::vector<std::string>& settings);

std::string card_text(const CostCard& card);
nlohmann::json card_json(const CostCard& card);

/// Rows of the table of parts: a heading first, the sums last.
std::vector<std::vector<std::string>> card_rows(const CostCard& card);
/// Notes below the table of parts, a sentence each.
std::vector<std::string> card_notes(const CostCard& card);

}  // namespace nudge
