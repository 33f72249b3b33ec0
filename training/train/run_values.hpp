// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/measured.hpp"
#include "sim/config/config.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// Studies that have a number of a run as a column.
enum class Column {
  none,
  run,      ///< sweeps and comparisons of every network
  circuit,  ///< of networks that are circuits
  test,     ///< of runs that read the test split
  measure,  ///< of a network that has the measure (network_measures())
};

/// A number of a run.
struct RunValue : Measured {
  std::string json;  ///< place in `--json`, "hardware/pulses"; empty: not there
  Column column = Column::none;
  bool whole = false;  ///< a count
};

/// The numbers of a run, each by its name: `--json`, columns of sweeps and comparisons, and messages are made from this one list.
class RunValues {
 public:
  void add(RunValue one) { all_.push_back(std::move(one)); }
  const std::vector<RunValue>& all() const { return all_; }

  /// Nothing where the number was not measured, or is none of this run.
  std::optional<double> find(std::string_view name) const;
  /// NaN where the number was not measured. ContractViolation: no number of this run has the name.
  double of(std::string_view name) const;

 private:
  std::vector<RunValue> all_;
};

/// Present numbers of a run and its baseline runs; columns come in the order of a table. Without `loop` the run has not begun: only the
/// starts of counts are set.
RunValues run_values(const Config& config, const TrainingLoop* loop);

/// Final training loss of a run, everywhere: the mean over the last tenth of the steps, at least one, since one batch alone is noisy. A thinned log
/// (train_log.hpp) gives the mean over its remaining steps. Steps whose loss is not finite (rolled back, counted elsewhere) are left out; NaN if no step is
/// left.
double final_training_loss(const std::vector<double>& losses);

}  // namespace nudge
