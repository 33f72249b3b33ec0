// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "training/compare/compare.hpp"

namespace nudge {

/// A rule of crossbar.update that the config cannot have, and why.
struct RefusedRule {
  std::string rule, why;
};

/// A comparison of update rules on the devices of a config: exact numbers, then frozen devices, then every rule that the config can have,
/// each at the best of its learning rates.
struct Advice {
  ConfigSource source;  ///< what run_compare() takes
  std::vector<RefusedRule> refused;

  static constexpr const char* exact = "exact numbers";
  static constexpr const char* frozen = "frozen devices";
};

/// Names the entrants and, where neither the file nor --set has them, a grid of 1/4, 1, 4 and 16 times train.learning_rate
/// and, for rules with a fast array, of 1/4, 1 and 4 times crossbar.transfer_rate, tuning by seed 1, and test seeds 11 to 13; and but for a --set train.steps at most 500 steps. UserError: the config is wrong, or has no devices.
Advice advice_for(const ConfigSource& given);

/// Whether every test run of an entrant has ended well.
bool ended_well(const ComparedEntrant& one);

/// A rule in the order of what it leaves of the loss.
struct RankedRule {
  ComparedEntrant result;
  double regained =
      0;  ///< (frozen − rule)/(frozen − exact) of the mean test losses: 0 is a frozen array, 1 exact numbers; NaN where the seeds do not tell frozen devices from exact numbers
  PairedDifference behind = {};  ///< its test loss with that of the first
  /// In the whole run, mean over the runs; NaN: not known.
  double pulses = 0, reads = 0;  ///< of learning, and of devices and columns to learn
  double most_pulses = 0;        ///< that one device has had, of programming too
  double digital_numbers = 0;    ///< per weight
  double energy = 0;             ///< J, of those pulses and reads

  /// Whether all of its runs ended well, so that it has a mean to be ranked by; otherwise it is compared with nothing.
  bool has_result() const { return ended_well(result); }
  /// Whether the seeds do not tell it from the first: the 95 % interval holds 0, or one seed has none. Not where one of the two has no result.
  bool level() const { return std::isfinite(behind.mean) && !(behind.low > 0); }
};

/// The rules of a finished comparison of advice_for(), the least mean test loss first, those without a result behind.
std::vector<RankedRule> ranking(const Comparison& comparison);

/// Why RankedRule::regained is known of no rule, with what to do; empty: exact numbers and frozen devices both have results, and
/// the seeds tell them apart.
std::string regained_unknown(const Comparison& comparison);

}  // namespace nudge
