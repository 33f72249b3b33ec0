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
  circuit,  ///< those of circuits
  test,     ///< those that read the test part
  measure,  ///< those of a network that has it (network_measures())
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

/// The numbers of the lanes of a run at present, those that are columns in the order of a table. No `loop`: of a run that has not begun,
/// nothing measured but what a count starts from.
RunValues run_values(const Config& config, const TrainingLoop* loop);

/// The final training loss of a run, everywhere: the mean over the last tenth of the steps, at least one, since one batch
/// alone is noisy; of a thinned log (train_log.hpp), of those that it has. Steps whose loss is not finite (rolled back, counted elsewhere) are left out; NaN when none is left.
double final_training_loss(const std::vector<double>& losses);

}  // namespace nudge
