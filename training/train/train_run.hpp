// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "training/data/scores.hpp"
#include "training/train/train_summary.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// What a caller sees of a running training.
struct TrainProgress {
  std::uint64_t done = 0;  ///< steps done
  std::uint64_t steps = 0;
  double loss = 0;        ///< of the last step's batch
  double validation = 0;  ///< last validation loss, NaN before the first
  double validated = 0;   ///< steps done when it was measured, NaN before
  double residual = 0;
  double damping = 0;
  double beside_loss = 0, beside_validation = 0;  ///< NaN without that lane
  bool finished = false;
  std::string metric = {};  ///< of a task of samples, and the last score on the validation part
  double score = 0;
  double null_loss = std::numeric_limits<double>::quiet_NaN();  ///< the same
  double null_validation = std::numeric_limits<double>::quiet_NaN();
  std::string warning = {};  ///< not empty: to be said before the first step
  std::string doing = {};    ///< not empty: no step has ended, this is being done beside the run
};

/// Called after every step, and while something is done beside the run (TrainProgress::doing); returns false to stop (the run is checkpointed and can be resumed).
using TrainObserver = std::function<bool(const TrainProgress&)>;

/// Trains from the config; writes `output` (which must not exist) at every checkpoint and at the end. No output: nothing
/// is written (sweeps). Throws UserError before the first step for anything that is wrong with the input.
TrainSummary train(const Config& config, const std::optional<std::filesystem::path>& output,
                   const TrainObserver& observer = {}, FinalTest final_test = FinalTest::evaluate);

/// A run that stands in another's file when it has ended, as a point of a sweep: until then its own file holds what is done.
struct KeptRun {
  std::filesystem::path file;
  double every_s = 60;  ///< how long at least between two writings; a run that ends sooner makes no file
  bool resume = false;  ///< go on from the file, should there be one of this config; else it is replaced
};

/// Trains, from the kept file on where that is asked for (to the same bits); writes it at checkpoints and where the observer or a
/// signal stops the run. Without references (TrainSummary::references). A file that cannot be read or written costs its steps alone. The
/// caller removes it when it has the result.
TrainSummary train_kept(const Config& config, const KeptRun& kept, const TrainObserver& observer, FinalTest final_test);

/// Continues a run from its file to the same bits that an uninterrupted run gives. `config`: the caller's config, which
/// must equal the file's (UserError listing the keys that differ; threads and output keys may), or nothing.
TrainSummary resume(const std::filesystem::path& file, const Config* config, const TrainObserver& observer = {});

/// What task.references asks for, within a tenth of the run: a sample takes a network no less than 50 times as long as one multiply-add of the linear
/// model for each of its weights (docs/scaling.md), so that a tenth of train.steps of train.batch samples are
///     5 steps batch parameters
/// multiply-adds. 2·10¹⁰, about a second of one core, are allowed in any case. A function of the config alone.
ReferenceRequest reference_request(const Config& config, Index weights,
                                   const std::function<bool(const std::string& doing)>& progress = {});

}  // namespace nudge
