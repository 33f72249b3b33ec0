// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_estimators.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

/// Adds −Σ_k w_k ∂E/∂θ(z_k) to the gradient: z* and the nudged states side by side, as far as they have a weight.
template <class S>
void ContrastiveEstimator<S>::contrast(Example<S>& example, const Matrix<S>& nudged) {
  scales_.clear();
  if (nodes_.star_weight != 0) {
    scales_.push_back(static_cast<S>(nodes_.star_weight) * example.weight);
    all_.resize(example.state->rows() + nudged.rows(), nudged.cols());
    all_.topRows(example.state->rows()) = *example.state;
    all_.bottomRows(nudged.rows()) = nudged;
  }
  for (const double weight : nodes_.weights) scales_.push_back(static_cast<S>(weight) * example.weight);
  const Matrix<S>& z = nodes_.star_weight != 0 ? all_ : nudged;
  if (example.dynamics->accumulate_energy_gradient(z, scales_, *example.sink)) return;
  throw UserError(
      "ep_contrastive: the force is not the gradient of an energy whose terms all have the contrastive rule "
      "(take ep, or an estimator that corrects it)");
}

template <class S>
SequenceReport ContrastiveEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  nodes_.turn(example.sign);
  free_.settle(example, options_.free, report);
  const Matrix<S>& states = nudged_.run(example, nullptr, nodes_.betas, NudgeLaw::plain, false, options_, report);
  this->nudged_states_ = &states;
  const Index tokens = example.state->rows();
  this->adjoint_ = static_cast<S>(nodes_.star_weight) * *example.state;
  for (std::size_t k = 0; k < nodes_.betas.size(); ++k) {
    this->adjoint_ += static_cast<S>(nodes_.weights[k]) * states.middleRows(static_cast<Index>(k) * tokens, tokens);
  }
  this->point_ = *example.state;
  if (this->leave_out(nudged_.drive(), report)) return report;
  contrast(example, states);
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(ContrastiveEstimator)

}  // namespace nudge
