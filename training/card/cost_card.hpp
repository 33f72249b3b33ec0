// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.hpp"
#include "training/train/run_readings.hpp"

namespace nudge {

/// Part of a chip: its energy and area, and the source of the numbers. Nothing: not known, or not of this part.
struct CostPart {
  std::string part;
  std::optional<double> inference_J, step_J;  ///< energy of one example; of one training step
  std::optional<double> area_m2;
  std::string source;  ///< keys, series and citations
};

/// Operations of the converters of both ports. Nothing: not counted.
struct PortCounts {
  std::optional<double> all;
  std::optional<double> transposed;  ///< share of transposed reads; nothing: the file tells no ports apart
};

/// Counts of reads that prices make energies of. Nothing: not counted.
struct ReadCounts {
  std::optional<double> array_J;  ///< heat in the devices
  PortCounts dac_conversions, adc_conversions, partial_sums;
  std::optional<double> amplifier_s, driven_V2, operations;
  std::optional<double> cells;  ///< devices whose selectors were opened, over all reads
  /// Energies at the prices of the run, for files of earlier versions, which have no counts.
  std::optional<double> dac_J, adc_J, amplifier_J, driver_J, digital_J;
};

/// Counts of one inference and of one training step of a run, and its arrays. Nothing: not counted.
struct CardCounts {
  bool product = false;  ///< of one product of one array in place of an inference: no tokens, steps and writes
  ReadCounts inference, step;
  std::optional<double> inference_s, example_s;  ///< time of an inference; of all phases of an example of a step
  std::optional<double> writes_J, pulses_s, verify_J, verify_reads, transfers_J;  ///< of a step, programming apart
  std::optional<double> mean_pulses, most_pulses;  ///< pulses that a device has received, programming included
  double steps = 1;                                ///< training steps, in which they received them
  double devices = 0;
  std::map<std::string, std::pair<Index, Index>>
      arrays;  ///< rows and columns of the weights of each; one of the copies
};

/// Makes counts of the readings of a run of so many training steps. Nothing is counted that the readings lack.
CardCounts card_counts(const RunReadings& readings, double steps);

/// Cost of a chip (section [chip]) in the terms of NeuroSim and CrossSim: energy, latency and area, by part. What makes
/// text of it stands in apps/info/card_text.hpp.
struct CostCard {
  bool product = false;  ///< CardCounts::product
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

}  // namespace nudge
