// SPDX-License-Identifier: Apache-2.0
#include "sim/base/errors.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"

namespace nudge {

/// In a bath the free state is a phase of β = 0, drawn as the others are.
template <class S>
ContrastiveEstimator<S>::ContrastiveEstimator(NudgeLaw law, Nodes nodes, const EstimatorOptions& options)
    : GradientEstimator<S>(options), law_(law), nodes_(std::move(nodes)) {
  if (!drawn() || nodes_.star_weight == 0) return;
  nodes_.betas.push_back(0);
  nodes_.weights.push_back(std::exchange(nodes_.star_weight, 0));
}

/// Adds −share Σ_k w_k ∂E/∂θ(z_k) to the gradient: z* and the nudged states side by side, as far as they have a weight.
template <class S>
void ContrastiveEstimator<S>::contrast(Example<S>& example, ConstMatrixRef<S> nudged, GradientSink<S>& sink, S share) {
  scales_.clear();
  const bool starred = nodes_.star_weight != 0;
  if (starred) {
    scales_.push_back(static_cast<S>(nodes_.star_weight) * example.weight * share);
    all_.resize(example.state->rows() + nudged.rows(), nudged.cols());
    all_.topRows(example.state->rows()) = *example.state;
    all_.bottomRows(nudged.rows()) = nudged;
  }
  for (const double weight : nodes_.weights) scales_.push_back(static_cast<S>(weight) * example.weight * share);
  if (example.dynamics->accumulate_energy_gradient(starred ? ConstMatrixRef<S>(all_) : nudged, scales_, sink)) return;
  throw UserError(
      "the force has terms without an energy or without the contrastive rule. Use estimator = ep, or one with a "
      "correction");
}

template <class S>
bool ContrastiveEstimator<S>::correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) {
  contrast(example, nudged, sink, S(1));
  return true;
}

template <class S>
SequenceReport ContrastiveEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  nodes_.turn(example.sign);
  free_.settle(example, options_.free, report);
  const int drawn_states = drawn() ? nudged_settling(options_).average_last : 0;
  if (drawn()) {
    nudged_.each_step = [&](ConstMatrixRef<S> states, int steps) {
      if (steps <= options_.nudged_steps - drawn_states) return;
      contrast(example, states, *example.sink, S(1) / static_cast<S>(drawn_states));
    };
  }
  const Matrix<S>& states = nudged_.run(example, nullptr, nodes_.betas, law_, false, options_, report);
  this->nudged_states_ = &states;
  nodes_.combine(*example.state, states, this->adjoint_);
  this->point_ = *example.state;
  if (this->leave_out(nudged_.drive(), report)) return report;
  if (!drawn()) contrast(example, states, *example.sink, S(1));
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(ContrastiveEstimator)

}  // namespace nudge
