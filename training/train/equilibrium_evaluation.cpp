// SPDX-License-Identifier: Apache-2.0
// Held-out parts in the eyes of a run: loss, scores, and the loss of each sample.
#include "sim/base/interrupts.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {

template <class S>
typename EquilibriumRun<S>::Evaluation EquilibriumRun<S>::evaluation(const std::vector<Batch>& batches,
                                                                     std::size_t first) {
  begin();
  Index rows = 0;
  for (const Batch& batch : batches) rows += batch.counted();
  Evaluation all{0, 0, SampleScores(!score_metric(config_).empty()), {}};
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const BatchReport report = learner_->evaluate(batches[i], first + i);
    // Each token or sample counts the same: the last batch of a part may be smaller.
    const double batches_of_it = static_cast<double>(rows) / static_cast<double>(report.rows);
    all.loss += report.loss / batches_of_it;
    all.residual += report.residual / batches_of_it;
    all.scores.add(batches[i], learner_->outputs());
    for (std::size_t b = 0; b < report.sequences.size(); ++b) {
      const auto example = static_cast<Index>(b);
      if (network_->plan().couples_rows()) {
        all.losses.add(report.sequences[b].loss, batches[i].counted(example));
      } else {
        all.losses.template add_rows<S>(row_cost(), batches[i], example, learner_->outputs()[b]);
      }
    }
  }
  return all;
}

template <class S>
RowCost EquilibriumRun<S>::row_cost() const {
  const NodeReadout readout = network_->plan().readout();
  const NodeCost* other = network_->own_cost() ? network_->own_cost().get() : readout.cost.get();
  return {readout.parameter >= 0 && other == nullptr, other};
}

template <class S>
SampleLosses EquilibriumRun<S>::constant(const std::vector<Batch>& training, const std::vector<Batch>& part) const {
  const NodeReadout readout = network_->plan().readout();
  const Index width = readout.parameter >= 0
                          ? network_->map(readout.parameter).outputs()
                          : network_->circuit().nodes()[static_cast<std::size_t>(readout.node)].columns.count;
  const RowCost cost = row_cost();
  return constant_losses(part, cost, best_constant(training, cost, width), network_->plan().couples_rows());
}

template <class S>
void EquilibriumRun<S>::evaluate(std::uint64_t done, const std::vector<Batch>& validation) {
  Evaluation all = evaluation(validation, 0);
  const Interruptible kept(false);
  record_part("validation", done, all.loss, loss_unit(), all.scores, std::move(all.losses));
  log_.add("train/validation_residual", all.residual, "1", "mean |F|/|z| on the validation split");
  record_statistics();
}

template <class S>
void EquilibriumRun<S>::evaluate_test(std::uint64_t done, const std::vector<Batch>& test, std::size_t first) {
  Evaluation all = evaluation(test, first);
  const Interruptible kept(false);
  record_part("test", done, all.loss, loss_unit(), all.scores, std::move(all.losses));
}

#define NUDGE_EQUILIBRIUM_EVALUATION(S)                                                                          \
  template typename EquilibriumRun<S>::Evaluation EquilibriumRun<S>::evaluation(const std::vector<Batch>&,       \
                                                                                std::size_t);                    \
  template SampleLosses EquilibriumRun<S>::constant(const std::vector<Batch>&, const std::vector<Batch>&) const; \
  template void EquilibriumRun<S>::evaluate(std::uint64_t, const std::vector<Batch>&);                           \
  template void EquilibriumRun<S>::evaluate_test(std::uint64_t, const std::vector<Batch>&, std::size_t);
NUDGE_BOTH_PRECISIONS(NUDGE_EQUILIBRIUM_EVALUATION)

}  // namespace nudge
