// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/benchmark/protocol.hpp"
#include "training/benchmark/share.hpp"

namespace nudge {

/// Test scores of a method, one per seed; NaN: the run failed.
struct SeedScores {
  std::string name;
  std::vector<double> scores;
};

/// Update rule on a device, at the rate that the tuning chose for it.
struct BenchmarkRule : SeedScores {
  std::string chosen = {};     ///< "train.learning_rate = 4e-3"
  double validation_loss = 0;  ///< loss by which rules are chosen: mean over the tuning seeds
  std::string failure = {};    ///< why there is no score: the first run that failed; empty: all ended well
  /// Means over the runs; NaN: not known.
  double pulses = 0, most_pulses = 0;  ///< pulses of learning in all; most of one device, with programming
  double learning_energy = 0;          ///< heat of these pulses and of the reads for them, J
  double array_energy = 0;             ///< heat in the devices in the reads of a training step, J
  double seconds = 0;                  ///< duration of a run
  double plateau = 0;                  ///< share of the runs whose loss has stopped falling, by train's own verdict
};

/// Results of one device on one network.
struct BenchmarkResult {
  std::string network;
  std::string metric;  ///< "test_accuracy", "test_loss"
  std::vector<std::int64_t> seeds;
  std::vector<double> exact;      ///< scores of digital weights
  std::vector<SeedScores> nulls;  ///< frozen devices, …; models without training have one score for all seeds
  std::vector<BenchmarkRule> rules;
  std::vector<RefusedRule> refused;  ///< rules that the device cannot have

  /// Null of the best mean score, of those whose runs all ended well. The same runs chose it, which makes shares
  /// smaller, if anything. Nothing without one.
  const SeedScores* strongest_null() const;
  /// Rule with the least validation loss in the tuning. The runs of the tuning do not enter the score. Nothing if no
  /// rule has such a loss.
  const BenchmarkRule* chosen_rule() const;
  /// Share that a rule learns of what digital weights learn beyond the strongest null, one of a family.
  Share share(const BenchmarkRule& rule, int comparisons) const;
};

/// Result of a device: what results/benchmark/DEVICE.json holds.
struct BenchmarkEntry {
  std::string device;
  std::vector<std::string> settings;  ///< of the device
  std::string protocol, digest;       ///< BenchmarkProtocol: name and digest()
  std::string commit, machine, date;  ///< provenance of the runs
  std::vector<BenchmarkResult> networks;

  /// Score: mean over the networks of the share of the rule that the tuning chose. `devices`: number of scores that
  /// are looked at together; the intervals of all their networks hold at once with 95 %.
  Share score(int devices = 1) const;
  /// Share of a rule, mean over the networks that can have it; all rules of the entry and all networks are one family.
  /// Unknown: no network can have it, or the share of one is unknown.
  Share rule_share(const std::string& rule) const;
};

/// Results of a finished comparison of a part.
BenchmarkResult benchmark_result(const BenchmarkPart& part, const Comparison& comparison);

/// Place of an entry among others.
struct RankedEntry {
  const BenchmarkEntry* entry = nullptr;
  Share score;          ///< with the interval that holds for all ranked entries together; infinite ends: it has none
  RankRange rank = {};  ///< no rank (0) without a score
};

/// Ranks the entries that have the digest: the best first, those without a score last.
std::vector<RankedEntry> ranked_entries(const std::vector<BenchmarkEntry>& entries, const std::string& digest);

}  // namespace nudge
