// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_estimators.hpp"

#include <cmath>
#include <numbers>

namespace nudge {

template <class S>
void NudgedEstimator<S>::Nodes::turn(double to) {
  if (to == sign) return;
  sign = to;
  for (double& beta : betas) beta = -beta;
  for (double& weight : weights) weight = -weight;
  star_weight = -star_weight;
}

template <class S>
void NudgedEstimator<S>::Nodes::combine(const Matrix<S>& star, const Matrix<S>& states, Matrix<S>& a) const {
  a = static_cast<S>(star_weight) * star;
  for (std::size_t k = 0; k < betas.size(); ++k) {
    a += static_cast<S>(weights[k]) * states.middleRows(static_cast<Index>(k) * star.rows(), star.rows());
  }
}

template <class S>
SequenceReport NudgedEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  nodes_.turn(example.sign);
  at_ = &free_.run(example, options_.free, report);
  const Matrix<S>& states = nudged_.run(example, at_, nodes_.betas, law_, anchored_, options_, report);
  this->nudged_states_ = &states;
  nodes_.combine(*example.state, states, this->adjoint_);
  this->point_ = *example.state;
  if (this->leave_out(nudged_.drive(), report)) return report;
  at_->accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  return report;
}

template <class S>
bool NudgedEstimator<S>::correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) {
  Matrix<S> a;
  nodes_.combine(*example.state, nudged, a);
  at_->accumulate_parameter_gradient(a, example.weight, sink);
  return true;
}

template <class S>
typename NudgedEstimator<S>::Nodes sided_nodes(NudgeSides sides, double beta) {
  switch (sides) {
    case NudgeSides::random:  // turned as a batch asks
    case NudgeSides::positive: return {{beta}, {-1.0 / beta}, 1.0 / beta};
    case NudgeSides::negative: return {{-beta}, {1.0 / beta}, -1.0 / beta};
    case NudgeSides::centered: break;
  }
  return {{beta, -beta}, {-0.5 / beta, 0.5 / beta}, 0};
}

// The derivative at 0 of the k-th Lagrange polynomial on nodes symmetric about 0 (no node is 0 for even N):
//     l_k'(0) = l_k(0) Σ_{j≠k} 1/(0 − x_j),   l_k(0) = Π_{j≠k} x_j/(x_j − x_k);   the sign makes it the adjoint.
template <class S>
typename NudgedEstimator<S>::Nodes chebyshev_nodes(int points, double beta) {
  typename NudgedEstimator<S>::Nodes nodes;
  for (int k = 0; k < points; ++k)
    nodes.betas.push_back(beta * std::cos((2 * k + 1) * std::numbers::pi / (2 * points)));
  for (int k = 0; k < points; ++k) {
    double value = 1;
    double slope = 0;
    const double own = nodes.betas[static_cast<std::size_t>(k)];
    for (int j = 0; j < points; ++j) {
      if (j == k) continue;
      const double other = nodes.betas[static_cast<std::size_t>(j)];
      value *= other / (other - own);
      slope -= 1 / other;
    }
    nodes.weights.push_back(-value * slope);
  }
  return nodes;
}

#define NUDGE_NUDGED_ESTIMATORS(S)                                                \
  template class NudgedEstimator<S>;                                              \
  template typename NudgedEstimator<S>::Nodes sided_nodes<S>(NudgeSides, double); \
  template typename NudgedEstimator<S>::Nodes chebyshev_nodes<S>(int, double);
NUDGE_BOTH_PRECISIONS(NUDGE_NUDGED_ESTIMATORS)

}  // namespace nudge
