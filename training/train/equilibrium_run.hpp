// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/equilibrium.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/config/assembly.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/controller.hpp"
#include "training/models/network.hpp"
#include "training/train/conductance_histogram.hpp"
#include "training/train/learning_run.hpp"
#include "training/train/outlier_guard.hpp"
#include "training/train/weight_noise.hpp"

namespace nudge {

/// Facts of a training step that hooks see.
struct StepFacts {
  std::uint64_t step = 0;
  double epsilon = 0;     ///< step ε of its free phase
  double residual = 0;    ///< mean ‖F‖/‖z‖ at the end of the free phase
  bool accepted = false;  ///< neither skipped nor rolled back
};

/// Hook that keeps a network stable while it learns, beside the gradient: called around every training step. Its state
/// is part of the checkpoint.
template <class S>
class StepHook {
 public:
  virtual ~StepHook() = default;

  /// Called before the phases of a step or of an evaluation.
  virtual void begin(Network<S>& /*network*/) {}
  /// Called after an accepted update of the weights.
  virtual void updated(Network<S>& /*network*/, std::uint64_t /*step*/) {}
  /// Called after a step, accepted or not; the returned change is logged.
  virtual std::optional<ControlEvent> observe(const StepFacts& /*facts*/) { return std::nullopt; }

  /// State for checkpoints, with names that are unique in a network.
  virtual std::vector<StateArray<S>> arrays() { return {}; }
  virtual std::vector<ScalarState> scalars() { return {}; }
};

/// Makes the hooks that a network asks for and the config leaves on. They are damping control (damping.*) if it has
/// damped nodes, bounds of its memories (memory_bound.*), and the bound that keeps conductances from falling below 0.
template <class S>
std::vector<std::unique_ptr<StepHook<S>>> make_hooks(const Config& config, const Network<S>& network);

/// Network in training by one estimator: everything that a step changes, and its log. A run has one, or several side by
/// side (NamedRun) that see the same batches from the same initial weights.
template <class S>
class EquilibriumRun final : public LearningRun {
 public:
  EquilibriumRun(const Config& config, const std::shared_ptr<const NetworkPlan>& plan, const std::string& estimator,
                 Weights weights);

  /// Does one training step: gradient, guard, clip, optimizer, update of the maps, hooks.
  void step(std::uint64_t step, const Batch& batch) override;
  /// Logs the mean loss of the validation batches.
  void evaluate(std::uint64_t done, const std::vector<Batch>& validation) override;
  void evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) override;
  std::string stuck() const override;
  Index weights() const override { return count_weights(network_->plan()); }
  SampleLosses constant(const std::vector<Batch>& training, const std::vector<Batch>& part) const override;
  void write(H5Document& document, const std::string& prefix) override;
  void restore(const H5Reader& file, const std::string& prefix) override;

  /// Evaluation of all samples of a part: mean loss and residual, scores, and the loss of each sample. Reads draw
  /// their noise as evaluations `first` and on.
  struct Evaluation {
    double loss = 0, residual = 0;
    SampleScores scores;
    SampleLosses losses;
  };
  Evaluation evaluation(const std::vector<Batch>& batches, std::size_t first);

  /// Verdict on its free phases (judge_free_phase()), with the devices as they are now.
  Equilibrium verdict(const Batch& batch) const;

  Network<S>& network() { return *network_; }
  /// Outputs of the read-out for each sequence of a batch after settling (ExampleCost::output()), with the noise of
  /// evaluation `number`.
  const std::vector<Matrix<S>>& outputs(const Batch& batch, std::uint64_t number) {
    begin();
    learner_->evaluate(batch, number);
    return learner_->outputs();
  }

 private:
  struct GradientNorms {
    double all = 0;      ///< norm that the guard watches and the log has
    double clipped = 0;  ///< norm without arrays that take factors, whose pulses have bounds of their own
  };
  GradientNorms gradient_norms();
  void apply(std::uint64_t step, const GradientNorms& norms);
  double begin();
  BatchReport measure(std::uint64_t step, const Batch& batch);
  void let_time_pass(std::uint64_t step, const BatchReport& report);
  /// Cosines of the gradient with the exact one, per parameter group and over all groups of the equilibrium.
  struct Cosines {
    std::vector<double> of, present;
    double all = 0;
  };
  Cosines measure_cosines(std::uint64_t step, const Batch& batch, double epsilon);
  void record_margin(std::uint64_t step, const Batch& batch, const std::vector<SequenceReport>& reports,
                     double epsilon);
  void record_cosines(std::uint64_t step, const Cosines& cosines);
  void record(std::uint64_t step, const BatchReport& report, double gradient_norm, StepDecision decision);
  void record_nudge(std::uint64_t step, const NudgeSignal& signal);
  /// Judges the free phases of the first steps, the last one and some between (judge_free_phase()), into the log.
  void judge(std::uint64_t step, const Batch& batch);
  void note_unsolved(std::uint64_t step, const Batch& batch, const BatchReport& report);
  std::string settling_beta_text(const Batch& batch) const;
  void record_energy(const ReadTotals& reads, StepDecision decision);
  void record_statistics();
  std::string loss_unit() const { return network_->loss_unit(); }
  RowCost row_cost() const;
  std::vector<StateArray<S>> arrays();
  std::vector<ScalarState> scalars();

  Config config_;
  TrainOptions options_;
  RelaxationStep step_;
  std::string estimator_;
  std::unique_ptr<Network<S>> network_;
  std::unique_ptr<Optimizer<S>> optimizer_;
  std::unique_ptr<SampleMemory<S>> memory_;         ///< numbers kept of samples; null: none
  std::unique_ptr<ParameterMemory<S>> parameters_;  ///< what the estimator keeps of parameters; null: nothing
  std::unique_ptr<BatchGradient<S>> learner_,
      bare_;  ///< bare_: without growth penalty, for cosines; made when first used
  BatchGradientOptions bare_options_;
  OutlierGuard guard_;          ///< guard of the batch's gradient
  AdjointGuard adjoint_guard_;  ///< guard of the adjoints of its sequences
  SettleOptions phase_;         ///< the free phase as it is run, amplifiers too
  WeightNoise<S> noise_;        ///< hardware-aware training: weights as the phases of a step see them
  std::vector<std::unique_ptr<StepHook<S>>> hooks_;
  Gradient<S> gradient_;
  std::vector<std::vector<FactorPair<S>>> factors_;  ///< factors of the maps that take them; gradient_ has the others
  std::vector<Matrix<S>> deltas_;
  std::vector<double> rates_;                       ///< factor of the learning rate of each parameter (layer_rates())
  std::vector<ConductanceRecord<S>> conductances_;  ///< record for each map
  double alarmed_ = 0;  ///< alarm of the last margin: 1: it falls towards a value that is too small; 2: it is too small
  double noise_share_ = 0;         ///< ‖ΔW‖/‖W‖ of the last step by noise_
  std::string unsolved_;           ///< reason why the last non-finite step had no state; empty: none was non-finite
  double nonfinite_in_a_row_ = 0;  ///< a whole number; double as all scalars of a checkpoint
};

/// Makes a run in the precision of the config.
std::unique_ptr<LearningRun> make_equilibrium_run(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                                  const std::string& estimator, Weights weights);

}  // namespace nudge
