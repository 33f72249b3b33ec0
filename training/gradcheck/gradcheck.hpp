// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/stability.hpp"
#include "training/data/task.hpp"
#include "training/gradcheck/phase_record.hpp"

namespace nudge {

/// A network that has learnt on exact numbers and exact circuits, before anything is written into devices.
struct TrainedStart {
  std::vector<Matrix<double>> weights;  ///< by number of the parameter; float weights are exact in double
  double damping = 0;
};

/// Config with exact numbers and circuits. The sections device, crossbar, circuit, correction and reads are at their defaults,
/// and so are the sections of studies (gradcheck, sweep, compare) and files. Two configs that agree in it train the same network.
Config exact_training_config(const Config& config);

/// Trains every such network once and keeps it: the points of a sweep over imperfections start from the same one. Any thread
/// may ask; the first that asks trains, the others wait.
class TrainedStarts {
 public:
  /// The network after gradcheck.train_steps steps on exact_training_config(config) with the batches of `task`.
  std::shared_ptr<const TrainedStart> of(const Config& config, const Task& task);

  /// Number of networks that were trained.
  std::size_t trained() const;

 private:
  using Made = std::shared_ptr<const TrainedStart>;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Made>> made_;  ///< by the config as text, and the steps
};

/// One line of the table: an estimator against the exact gradient at the fixed point, mean over the batches.
struct GradcheckRow {
  std::string estimator;
  std::string group;    ///< tok, pos, Wm, Wq, Wk, Wv, Wo, Wh, or all: the equilibrium's parameters, all but Wh
  Agreement agreement;  ///< means over the batches in which the group has a gradient; has_gradient: in any of them
  int counted = 0;      ///< number of these batches
  double force_evaluations = 0;  ///< work per sequence; a jvp or vjp counts as one
};

/// Facts of an estimator's phases, mean over the batches.
struct EstimatorFacts {
  std::string name;
  double beta = 0;             ///< per token; 0 where the estimator has none
  double free_residual = 0;    ///< ‖F‖/‖z‖ after T1 steps
  double nudged_residual = 0;  ///< ‖f‖/‖z − z*‖ after T2 steps; implicit: of its linear solve
  double nudge_ratio = 0;      ///< ‖z − z*‖/‖z*‖
  NudgeSignal signal = {};     ///< beside the noise of the nodes, of all sequences
  double flipped_gates = 0;  ///< share of the memory's ReLU gates with β |(a W_m)_i| > |(z W_m)_i|: those that differ
                             ///< between the two nudged states, to first order in β
  int diverged = 0;          ///< sequences, all batches
  std::string cause = {};    ///< error_cause() of a cosine below 0.99 on devices; empty: not looked for, or none
};

struct GradcheckReport {
  std::vector<GradcheckRow> rows;
  std::vector<EstimatorFacts> estimators;
  std::vector<ReferenceFacts> references;  ///< one per batch
  StabilityReport stability;               ///< of the first batch
  Equilibrium equilibrium;                 ///< of its free phases
  std::string verdict;
  std::string failure;                    ///< why it is no result, and what helps; empty: it is one
  MultistabilityReport multistability;    ///< of the first batch, where gradcheck.starts asks for it
  double loss = 0;                        ///< cost per token or sample after T1 steps
  std::string loss_unit;                  ///< of the cost: Network::loss_unit()
  double residual = 0, residual_max = 0;  ///< ‖F‖/‖z‖ after T1 steps: mean and largest, over all batches
  double settled = 0;                     ///< share of sequences with residual ≤ settled_at
  double settled_at = 0;                  ///< relaxation.tolerance, or 1e-3 where that is 0
  double step = 0, damping = 0;           ///< ε and c, after the training steps
  int difference_entries = 0;             ///< entries of the rows finite_difference; 0: none
  int difference_sequences = 0;           ///< 0: none were asked for
  double difference_residual = 0;         ///< largest ‖F‖/‖z‖ of their fixed points
  bool difference_settled = true;
  std::optional<PhaseRecord> record;  ///< record of the phases, if gradcheck.record asks for it and the whole report is
                                      ///< wanted

  bool reference_converged() const;
  double snr(const std::string& estimator) const;  ///< signal-to-noise ratio of its nudge; NaN without noise or nudge
  bool finite() const;                             ///< every row is; groups without gradient have no cosine
  const GradcheckRow* find(const std::string& estimator, const std::string& group) const;  ///< or nullptr
};

/// Wanted parts of the report; the rows are always made.
struct GradcheckScope {
  std::vector<std::string> estimators;  ///< empty: gradcheck.estimators, with bptt
  bool finite_differences = true;
  bool stability = true;
  TrainedStarts* starts = nullptr;  ///< networks that checks may share (gradcheck.weights = programmed)
};

/// Compares the estimators of the configured model, after gradcheck.train_steps steps of training, with the exact adjoint
/// at the fixed point. `say` is called for each part that starts. UserError for wrong input. The report has whatever does
/// not converge or is not finite.
GradcheckReport gradcheck(const Config& config, const GradcheckScope& scope = {},
                          const std::function<void(const std::string&)>& say = {});

/// Estimators of gradcheck.estimators without duplicates, with "all" spelled out, and bptt, which every table has.
/// Dense ones are included only if they fit a state of so many unknowns.
std::vector<std::string> gradcheck_estimators(const Config& config, Index unknowns);

/// /rows and /diagnostics as docs/reference/files.md says.
void write_gradcheck(const GradcheckReport& report, H5Document& document);

}  // namespace nudge
