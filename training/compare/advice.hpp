// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "training/compare/compare.hpp"
#include "training/train/null_runs.hpp"

namespace nudge {

/// Update rule of crossbar.update that the config cannot have, and the reason.
struct RefusedRule {
  std::string rule, why;
};

/// Methods of a comparison on the devices of a config.
struct DeviceMethods {
  std::vector<std::string> entrants;  ///< as compare.entrants has them
  std::vector<RefusedRule> refused;
  std::vector<std::string> rules;  ///< the update rules alone
  bool transfers = false;          ///< true if a rule among them has a fast array

  std::string setting() const;  ///< "compare.entrants=[...]"
};

/// Lists digital weights, the nulls that the config can have, and the rules that it can have. UserError: the config is
/// wrong, or has no devices.
DeviceMethods device_methods(const ConfigSource& given, const std::vector<NullKind>& nulls,
                             const std::vector<std::string>& rules);

/// All values of crossbar.update that learn.
std::vector<std::string> all_rules();

/// Comparison of update rules on the devices of a config: exact numbers, frozen devices, and every rule that the config
/// can have. Each method runs at the best of its learning rates.
struct Advice {
  ConfigSource source;  ///< input of run_compare()
  std::vector<RefusedRule> refused;

  static constexpr const char* exact = "exact numbers";
  static constexpr const char* frozen = "frozen devices";
};

/// Prepares the comparison: names the methods and, unless --set gives train.steps, limits it to 500. Where neither the
/// file nor --set has them, takes tuning seed 1, test seeds 11 to 15, and a grid. The grid has 1/4, 1, 4 and 16 times
/// train.learning_rate. For rules with a fast array it also has 1/4, 1 and 4 times crossbar.transfer_rate. UserError:
/// the config is wrong, or has no devices.
Advice advice_for(const ConfigSource& given);

/// Results of a method's test runs, by seed: failed_value() where a run failed.
std::map<std::int64_t, double> results_by_seed(const Sweep& test, const std::string& entrant,
                                               const std::string& metric);
/// Mean of the finite ones among them; NaN without one.
double mean_result(const Sweep& test, const std::string& entrant, const std::string& metric);

/// True if every test run of a method has ended well.
bool ended_well(const ComparedEntrant& one);

/// Update rule in a ranking by test loss.
struct RankedRule {
  ComparedEntrant result;
  /// Share of the loss regained, (frozen − rule)/(frozen − exact) of the mean test losses: 0 is a frozen array, 1 exact
  /// numbers. NaN if frozen devices and exact numbers are not significantly different.
  double regained = 0;
  /// Test loss minus the first rule's, one of all pairs of rules with a result (comparisons_with_best()).
  PairedDifference behind = {};
  /// Counts over the whole run, mean over the runs; NaN: not known.
  double pulses = 0, reads = 0;  ///< pulses of learning, and reads of devices and columns for learning
  double most_pulses = 0;        ///< most pulses that one device has had, programming included
  double digital_numbers = 0;    ///< numbers kept digitally, per weight
  double energy = 0;             ///< energy of those pulses and reads, J

  /// True if all test runs ended well, so that there is a mean to rank by; without it the rule is compared with
  /// nothing.
  bool has_result() const { return ended_well(result); }
  /// True if the rule is level with the first: the interval of the difference holds 0, or there is only one seed.
  /// False where one of the two has no result.
  bool level() const { return std::isfinite(behind.mean) && !(behind.low > 0); }
};

/// Ranks the rules of a finished comparison of advice_for(): least mean test loss first, rules without a result last.
std::vector<RankedRule> ranking(const Comparison& comparison);

/// Reason why RankedRule::regained is NaN for every rule, with what to do. Empty: exact numbers and frozen devices both
/// have results, and the seeds tell them apart.
std::string regained_unknown(const Comparison& comparison);

}  // namespace nudge
