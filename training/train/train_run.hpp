// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "training/config/set_by.hpp"
#include "training/data/scores.hpp"
#include "training/train/train_summary.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// Progress of a running training, for its caller.
struct TrainProgress {
  std::uint64_t done = 0;  ///< steps done
  std::uint64_t steps = 0;
  bool finished = false;
  double validated = 0;  ///< steps done at the last validation, NaN before the first
  /// Values of the last step and the last validation: loss, validation_loss, residual, damping, the score, and beside/loss,
  /// null/loss, ...
  RunValues values = {};
  std::string metric = {};   ///< metric of a task of samples
  std::string warning = {};  ///< not empty: to be said at once, beside the steps
  /// Not empty: values that the user did not set, to be said before the first step.
  std::vector<GivenValue> given = {};
  std::string doing = {};  ///< not empty: no step has ended, this is being done beside the run
};

/// Callback after every step, and during work beside the run (TrainProgress::doing). It returns false to stop; the run
/// is then checkpointed and can be resumed.
using TrainObserver = std::function<bool(const TrainProgress&)>;

/// Trains from the config; writes `output` (which must not exist) at every checkpoint and at the end. Without output
/// nothing is written (sweeps). Throws UserError before the first step for anything that is wrong with the input.
TrainSummary train(const Config& config, const std::optional<std::filesystem::path>& output,
                   const TrainObserver& observer = {}, FinalTest final_test = FinalTest::evaluate);

/// Run that is stored in another's file when it has ended, as a point of a sweep. Until then its own file holds its
/// progress.
struct KeptRun {
  std::filesystem::path file;
  double every_s = 60;  ///< least time between two writings; a run that ends sooner makes no file
  bool resume = false;  ///< continue from the file if there is one of this config; else it is replaced
};

/// Trains, continuing from the kept file where asked for (to the same bits). Writes it at checkpoints and where the
/// observer or a signal stops the run. Without references (TrainSummary::references). A file that cannot be read or
/// written costs its steps alone. The caller removes it when it has the result.
TrainSummary train_kept(const Config& config, const KeptRun& kept, const TrainObserver& observer, FinalTest final_test);

/// Continues a run from its file to the same bits that an uninterrupted run gives. `config`: the caller's config, which
/// must equal the file's (UserError listing the keys that differ; threads and output keys may), or nothing.
TrainSummary resume(const std::filesystem::path& file, const Config* config, const TrainObserver& observer = {});

/// Request for the reference scores of task.references, within a tenth of the run. For a sample, a network takes at least 50
/// times as long as the linear model takes for one multiply-add per weight of the network (docs/project/scaling.md). So a
/// tenth of train.steps of train.batch samples are
///     5 steps batch parameters
/// multiply-adds. 2·10¹⁰, about a second of one core, are allowed in any case. The request is a function of the config alone.
ReferenceRequest reference_request(const Config& config, Index weights,
                                   const std::function<bool(const std::string& doing)>& progress = {});

}  // namespace nudge
