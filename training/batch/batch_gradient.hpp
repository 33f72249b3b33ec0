// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "circuits/correction_path.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/batch/sample_memory.hpp"
#include "training/data/batches.hpp"
#include "training/learning/correlator.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/learning/growth_penalty.hpp"
#include "training/models/network.hpp"

namespace nudge {

struct BatchGradientOptions {
  std::string estimator = "aep_anchored";
  EstimatorOptions phases;
  GrowthOptions growth;
  CorrectionSpec correction;  ///< path that carries J v and Jᵀ v in the nudged phases
  HoldSpec hold;              ///< circuits that hold the states of the phases
  double zero_time = 0;       ///< time of a sequence in which amplifiers sample their offsets, in units of tau
  CorrelatorSpec correlator;  ///< multipliers of the held states
  int threads = 0;            ///< number of threads; 0: all cores
  std::uint64_t seed = 0;     ///< seed of the read noise
  ReadPolicy reads;           ///< rules by which the reads of each class are made
  /// Measure the noise of the nudged states (NudgeSignal) on one of so many sequences; 0: on none.
  std::uint64_t noise_every = 16;
  bool replicated = false;  ///< give every row an array of its own
  Index slots = 1;  ///< turns in which the tokens share the arrays: every simulated time is that many times as long
  bool factors = false;  ///< maps that take factors get no gradient: see BatchGradient::take_factors
  /// Also skip forming the gradient of digital matrices whose gradient is a low-rank product (factor_products.hpp).
  bool few_factors = false;
  bool over_ranks = false;         ///< all ranks together compute every batch (training/batch/batch_ranks.hpp)
  bool persistent_states = false;  ///< start the free phase of a sample where its last visit ended
  bool all_states = false;  ///< with over_ranks: states() and adjoints() of all sequences, not of this rank's only

  /// Distance of the two states of a nudge, in β.
  double nudge_distance() const { return (phases.sides == NudgeSides::centered ? 2 : 1) * phases.beta; }
};

/// Outcome of one batch: sums and extremes over its sequences, in the order of the sequences. Where rows are
/// independent samples (NetworkPlan::couples_rows), all that concerns the circuit's time counts a sample as a sequence.
struct BatchReport {
  double loss = 0;      ///< mean cost per row that counts (token, sample): cross-entropy in nats, or squared error
  Index rows = 0;       ///< rows that count in the loss
  Index passes = 0;     ///< examples that go through the circuit one after the other: sequences, or independent samples
  double residual = 0;  ///< mean over sequences of ‖F‖/‖z‖ at the end of the free phase
  double residual_max = 0;
  double nudged_residual = 0;  ///< mean residual at the end of the nudged phases
  double nudge_ratio = 0;      ///< mean ‖z − z*‖/‖z*‖
  NudgeSignal signal = {};     ///< displacement over all sequences; noise measured on the first
  double steps = 0;            ///< mean free steps used
  double decay = 0;            ///< mean decay per free step
  double time = 0;         ///< mean simulated time of the free phase in units of tau, the slots of all tokens included
  double nudged_time = 0;  ///< mean simulated time of the nudged phases in units of tau
  double read_time = 0;    ///< mean time of the reads outside relaxations in units of tau
  double growth = 0;       ///< mean growth factor g (0 when the penalty is off)
  double growth_active = 0;   ///< share of sequences, or samples, on which the penalty acts
  double growth_drowned = 0;  ///< share on which noise hid the growth
  double energy = 0;          ///< mean energy at z* of a sequence, or of an independent sample
  double cost_in_forces = 0;  ///< mean cost of a sequence in force evaluations
  long clipped = 0;
  int left_out = 0;     ///< sequences left out of the gradient because their adjoint ran away
  AdjointSize adjoint;  ///< medians over the sequences; infinite when most have no finite adjoint
  int diverged = 0;     ///< sequences whose free or nudged phase diverged
  ReadMeter reads;      ///< reads of all crossbars in all sequences
  std::vector<SequenceReport> sequences;
};

/// Gradient of a batch. Sequences settle and are estimated in parallel. Their contributions are summed over a fixed
/// number of chunks in a fixed order, so the bits do not depend on the number of threads.
template <class S>
class BatchGradient {
 public:
  BatchGradient(const Network<S>& network, const BatchGradientOptions& options);
  ~BatchGradient();

  /// Sets `gradient` to the gradient of the mean cost over the batch's tokens, plus the growth penalty. `step` names
  /// the read noise.
  BatchReport compute(const Batch& batch, std::uint64_t step, Gradient<S>& gradient);

  /// Factors of the last compute()'s gradient, in an order that does not depend on the threads. With options.factors:
  /// of maps that take factors, whose `gradient` stays zero. With options.few_factors: also of digital matrices, whose
  /// `gradient` is then unwritten (Gradient::met). Empty where `gradient` holds everything.
  std::vector<FactorPair<S>> take_factors(int parameter);

  /// Mean loss and residual of a batch, by free phases only.
  BatchReport evaluate(const Batch& batch, std::uint64_t step);

  /// Numbers kept of every sample (BatchGradientOptions::persistent_states, GradientEstimator::keeps()). 0: none.
  Index keeps() const;
  /// Makes compute() read and write the kept numbers in `memory`; without a memory every visit is a sample's first.
  /// compute() then throws UserError for a task that does not number its samples (Batch::samples).
  void keep_in(SampleMemory<S>* memory) {
    NUDGE_EXPECT(memory == nullptr || memory->columns() == keeps());
    memory_ = memory;
  }
  /// Matrices kept of every parameter (GradientEstimator::parameter_matrices()). 0: none, and nothing to finish.
  Index parameter_matrices() const { return estimator().parameter_matrices(); }
  /// Lets the estimator finish the gradient of a batch from which something will learn (GradientEstimator::finish()).
  void finish(ParameterMemory<S>& memory, Gradient<S>& gradient) { memory.finish(estimator(), gradient); }

  /// Shows the phases of each sequence, on its thread, to whom `who` returns; null: to nobody.
  void watch(std::function<PhaseWatch<S>*(Index sequence)> who) { watch_ = std::move(who); }

  /// Sets the step ε of all phases.
  void set_step(double step);

  /// Calls GradientEstimator::set_adjoint_limit in all threads.
  void set_adjoint_limit(const AdjointSize& limit);

  /// States z* and adjoints of the last compute(), one (rows, cols) matrix per sequence.
  const std::vector<Matrix<S>>& states() const { return states_; }
  const std::vector<Matrix<S>>& adjoints() const { return adjoints_; }
  /// Outputs (ExampleCost::output()) of the last evaluate(), one matrix per sequence.
  const std::vector<Matrix<S>>& outputs() const { return outputs_; }

 private:
  struct Worker;
  GradientEstimator<S>& estimator() const;
  Worker& worker(int thread);
  /// Factors of one chunk, a list for each parameter.
  using Factors = std::vector<std::vector<FactorPair<S>>>;
  class MapSink;
  struct SinkOptions {
    bool factors = false;  ///< BatchGradientOptions::factors
    bool keep = false;     ///< keep factors of few rows, to multiply them once per batch
    bool few = false;      ///< keep only as many factors as a digital matrix would take
  };
  SequenceReport learn(Worker& w, const Batch& batch, Index sequence, std::uint64_t step, Gradient<S>& gradient,
                       Factors& factors, GrowthReport& growth);
  void bind(Worker& w, const Batch& batch, Index sequence, std::uint64_t step, bool evaluates);
  /// Results that compute() keeps of each sequence.
  struct Outcomes {
    std::vector<SequenceReport> reports;
    std::vector<GrowthReport> growth;
    std::vector<double> energy;
    std::vector<ReadMeter> meters;
    std::vector<Matrix<S>> kept;  ///< numbers for the memory; empty: none to keep
  };
  double rows_at_a_time() const;
  void take_slots(Worker& w, SequenceReport& report) const;
  void recall(Worker& w, const Batch& batch, Index sequence) const;
  void collect(Worker& w, const SequenceReport& report, Matrix<S>& kept) const;
  bool measures_noise(const Batch& batch, Index sequence, std::uint64_t step) const;
  void sum_chunks(Index chunks, Gradient<S>& gradient);
  void add_kept(Gradient<S>& gradient);
  void exchange_outcomes(Index chunks, Outcomes& all);
  void exchange_evaluations(std::vector<SequenceReport>& reports);

  const Network<S>* network_;
  BatchGradientOptions options_;
  std::optional<Correlators<S>> correlators_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SinkOptions sinks_;
  std::vector<Gradient<S>> chunks_;  ///< one gradient for each chunk of this rank
  std::vector<Factors> factors_;     ///< factors of each chunk
  std::vector<Matrix<S>> states_, adjoints_, outputs_;
  SampleMemory<S>* memory_ = nullptr;
  std::function<PhaseWatch<S>*(Index)> watch_;
};

}  // namespace nudge
