// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
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
  CorrectionSpec correction;  ///< of the path that carries J v and Jᵀ v in the nudged phases
  HoldSpec hold;              ///< of the states of the phases
  CorrelatorSpec correlator;  ///< of what multiplies them
  int threads = 0;            ///< 0: all
  std::uint64_t seed = 0;     ///< of the read noise
  ReadPolicy reads;           ///< how the reads of each class are made
  std::uint64_t noise_every =
      16;                   ///< sequences, of which one tells the noise of its nudged states (NudgeSignal); 0: none
  bool replicated = false;  ///< every row has an array of its own
  Index slots = 1;  ///< in which the tokens take turns at the arrays: every simulated time is that many times as long
  bool factors = false;      ///< maps that take factors get no gradient: see BatchGradient::take_factors
  bool few_factors = false;  ///< numbers get none either where all of it is factors of few rows (factor_products.hpp)
  bool over_ranks = false;   ///< every batch is computed by all ranks together (training/batch/batch_ranks.hpp)
  bool persistent_states = false;  ///< free phases of samples start where those of their last visit ended
  bool all_states = false;  ///< over ranks: states() and adjoints() of all sequences, and not of this rank's only

  /// Of the two states of a nudge, in β.
  double nudge_distance() const { return (phases.sides == NudgeSides::centered ? 2 : 1) * phases.beta; }
};

/// One batch's outcome: sums and extremes over its sequences, in the order of the sequences. Of networks whose rows are
/// independent samples (NetworkPlan::couples_rows), a sequence of the circuit's time is one of them.
struct BatchReport {
  double loss = 0;      ///< mean cost per row that counts (token, sample): cross-entropy in nats, or squared error
  Index rows = 0;       ///< that count
  Index passes = 0;     ///< examples that go through the circuit one after the other: sequences, or such samples
  double residual = 0;  ///< mean over sequences of ‖F‖/‖z‖ at the end of the free phase
  double residual_max = 0;
  double nudged_residual = 0;  ///< mean
  double nudge_ratio = 0;      ///< mean ‖z − z*‖/‖z*‖
  NudgeSignal signal = {};     ///< of all sequences; the noise is that of the first
  double steps = 0;            ///< mean free steps used
  double decay = 0;            ///< mean decay per free step
  double time = 0;         ///< mean simulated time of the free phase in units of tau, the slots of all tokens included
  double nudged_time = 0;  ///< mean simulated time of the nudged phases in units of tau
  double read_time = 0;    ///< mean time of the reads outside relaxations in units of tau
  double growth = 0;       ///< mean growth factor g (0 when the penalty is off)
  double growth_active = 0;   ///< share of sequences, or samples, on which the penalty acts
  double growth_drowned = 0;  ///< share on which noise hid what it measures
  double energy = 0;          ///< mean energy of a sequence at z*, or of such a sample
  double cost_in_forces = 0;  ///< mean
  long clipped = 0;
  int left_out = 0;     ///< sequences whose adjoint ran away: not in the gradient
  AdjointSize adjoint;  ///< medians over the sequences; infinite when most have none that is finite
  int diverged = 0;     ///< sequences whose free or nudged phase diverged
  ReadMeter reads;      ///< of all crossbars and all sequences
  std::vector<SequenceReport> sequences;
};

/// Gradient of a batch: every sequence settles and is estimated on its own, in parallel; contributions are summed over a
/// fixed number of chunks in a fixed order, so the bits do not depend on the threads.
template <class S>
class BatchGradient {
 public:
  BatchGradient(const Network<S>& network, const BatchGradientOptions& options);
  ~BatchGradient();

  /// gradient of the mean cost over the batch's tokens (plus the growth penalty); step names the read noise.
  BatchReport compute(const Batch& batch, std::uint64_t step, Gradient<S>& gradient);

  /// With options.factors: what the last compute() would have added up for a map that takes factors (its gradient stays zero), in
  /// an order that does not depend on the threads. With options.few_factors also of maps of numbers, whose gradient is then
  /// unwritten (Gradient::met); empty where the gradient has it all.
  std::vector<FactorPair<S>> take_factors(int parameter);

  /// Free phases only: mean loss and residual of a batch.
  BatchReport evaluate(const Batch& batch, std::uint64_t step);

  /// Numbers that it keeps of every sample: BatchGradientOptions::persistent_states, GradientEstimator::keeps(). 0: none.
  Index keeps() const;
  /// From now on compute() reads and writes them there; without it every visit is a sample's first. UserError, of compute(): samples of a task
  /// that have no numbers (Batch::samples).
  void keep_in(SampleMemory<S>* memory);

  /// ε of all phases from now on.
  void set_step(double step);

  /// GradientEstimator::set_adjoint_limit of all threads.
  void set_adjoint_limit(const AdjointSize& limit);

  /// z* and adjoints of the last compute(), one (rows, cols) matrix per sequence.
  const std::vector<Matrix<S>>& states() const { return states_; }
  const std::vector<Matrix<S>>& adjoints() const { return adjoints_; }
  /// ExampleCost::output() of the last evaluate(), one matrix per sequence.
  const std::vector<Matrix<S>>& outputs() const { return outputs_; }

 private:
  struct Worker;
  Worker& worker(int thread);
  /// Factors of one chunk, by parameter.
  using Factors = std::vector<std::vector<FactorPair<S>>>;
  class MapSink;
  struct SinkOptions {
    bool factors = false;  ///< BatchGradientOptions::factors
    bool keep = false;     ///< factors of few rows, for one product of the batch
    bool few = false;      ///< only as many as a map of numbers would take
  };
  SequenceReport learn(Worker& w, const Batch& batch, Index sequence, std::uint64_t step, Gradient<S>& gradient,
                       Factors& factors, GrowthReport& growth);
  void bind(Worker& w, const Batch& batch, Index sequence, std::uint64_t step, bool evaluates);
  /// What compute() keeps of each sequence.
  struct Outcomes {
    std::vector<SequenceReport> reports;
    std::vector<GrowthReport> growth;
    std::vector<double> energy;
    std::vector<ReadMeter> meters;
    std::vector<Matrix<S>> kept;  ///< for the memory; empty: nothing, or what is not to be kept
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
  std::vector<Gradient<S>> chunks_;  ///< of this rank
  std::vector<Factors> factors_;     ///< of each chunk
  std::vector<Matrix<S>> states_, adjoints_, outputs_;
  SampleMemory<S>* memory_ = nullptr;
};

}  // namespace nudge
