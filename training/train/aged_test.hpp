// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/equilibrium.hpp"

namespace nudge {

struct AgedTestOptions {
  std::vector<double> ages_s = {0};  ///< ages in s since the devices were last written [≥ 0, at most 255 of them]
  int seeds = 1;                     ///< number of seeds 1, 2, ... [1 to 255]
  bool reprogram = false;            ///< write the weights of the file into new devices for every seed
  std::string weights = {};          ///< file of other weights (read_weights()); reprograms
  std::vector<std::string> settings = {};  ///< settings of the config; reprograms
  std::string part = "test";               ///< part of the data: "test" or "validation"
  /// Interval in seconds at which every device is written anew with the weights read at age 0; 0: only as
  /// crossbar.refresh of the run says.
  double refresh_s = 0;
  /// Temperature of the wait and the reads, in place of circuit.temperature of the run.
  std::optional<double> temperature_K = {};
};

struct AgedTestRow {
  double age_s;
  int seed;
  double loss;      ///< mean cost of a row that counts
  double score;     ///< score in the metric of the task; NaN where it has none
  double residual;  ///< mean |F|/|z| of the states read
};

struct AgedTest {
  double refresh_s = 0;
  bool reprogrammed = false;
  double temperature_K = 0;  ///< temperature of the wait and the reads
  /// Factor by which devices change faster by themselves than at the temperature of their numbers.
  double acceleration = 1;
  std::string metric;             ///< metric of the task: "accuracy", "rmse" or empty
  std::vector<AgedTestRow> rows;  ///< rows by age, then seed
  Equilibrium equilibrium;        ///< verdict on the free phases, of some samples of each row
};

/// Tests a trained network after a wait. Reads a part of its data with the network of a run file of `nudge train`.
/// Before, its devices are left alone for each of these times, or written anew at intervals. LinearMap::advance_time
/// has drift, decay, leak, relaxation, telegraph and 1/f noise. A temperature acts as circuit.temperature does:
/// relaxing and fading become heat_acceleration() times as fast, and the thermal noise of the reads follows.
///
/// Without reprogramming, the run's devices are used, and a seed is another course of their own noise and of the noise
/// of reads. With reprogramming, each seed has devices of its own (spreads, programming errors), and the same weights.
/// Resistors then have windows without room to learn (crossbar.headroom = 1) unless settings say another. Data and
/// their splits come from the run, unless settings say otherwise. Weights that do not fit a network changed by settings
/// are refused. Calls tell(what) before each seed. UserError for files that are no such run, hold no devices, or do not
/// fit. Also for a temperature if no device has an activation energy.
AgedTest aged_test(const std::filesystem::path& run, const AgedTestOptions& options,
                   const std::function<void(const std::string&)>& tell = {});

}  // namespace nudge
