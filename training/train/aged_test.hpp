// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nudge {

struct AgedTestOptions {
  std::vector<double> ages_s = {0};        ///< s since the devices were last written  [≥ 0, at most 255 of them]
  int seeds = 1;                           ///< 1, 2, ...  [1 to 255]
  bool reprogram = false;                  ///< the weights of the file are written into new devices for every seed
  std::string weights = {};                ///< a file of weights instead (read_weights()); reprograms
  std::vector<std::string> settings = {};  ///< of the config; reprograms
  std::string part = "test";               ///< or "validation"
  /// Seconds after which every device is written anew, with the weights that it was read with at age 0, from then on again and again; 0: only as
  /// crossbar.refresh of the run says.
  double refresh_s = 0;
  std::optional<double> temperature_K =
      {};  ///< at which it is kept and read, in place of circuit.temperature of the run
};

struct AgedTestRow {
  double age_s;
  int seed;
  double loss;      ///< mean cost of a row that counts
  double score;     ///< in the metric of the task; NaN where it has none
  double residual;  ///< mean |F|/|z| of the states that were read
};

struct AgedTest {
  double refresh_s = 0;
  bool reprogrammed = false;
  double temperature_K = 0;  ///< of the wait and the reads
  double acceleration =
      1;               ///< how much faster devices change there by themselves than at the temperature of their numbers
  std::string metric;  ///< "accuracy", "rmse" or empty
  std::vector<AgedTestRow> rows;  ///< by age, then seed
};

/// What is left of a trained network after a wait: reads a part of its data with the network of a run file of `nudge train`, after its
/// devices have been left alone for each of these times (LinearMap::advance_time: drift, decay, leak, relaxation, telegraph and 1/f noise), or
/// written anew at intervals.
/// A temperature acts as circuit.temperature does: on what relaxes or fades, heat_acceleration() times as fast, and on the thermal
/// noise of the reads.
///
/// As they are in the file, devices are those of the run, and seeds are other courses of their own noise and of that of reads.
/// Reprogrammed, each seed has devices of its own (spreads, programming errors), and the same weights; resistors have windows without room to
/// learn (crossbar.headroom = 1) unless settings say another. Data and their parts are those of
/// the run, unless settings say otherwise; weights that do not fit a network that they have changed are refused. tell(what) before each
/// seed. UserError for files that are no such run, hold no devices, or do not fit, and
/// for a temperature where no device has an activation energy.
AgedTest aged_test(const std::filesystem::path& run, const AgedTestOptions& options,
                   const std::function<void(const std::string&)>& tell = {});

}  // namespace nudge
