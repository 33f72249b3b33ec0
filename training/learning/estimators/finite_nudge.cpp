// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_estimators.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

/// f −= β ∂C/∂z of every copy. What ½ |s − y|² rises by from s = 0 to 1 is its slope in the middle.
template <class S>
void FiniteNudgeEstimator<S>::pull(Example<S>& example, MatrixRef<S> f, bool binary) {
  const Index rows = example.state->rows();
  const Columns columns = example.cost->columns(f.cols());
  if (binary && example.cost->curvature() != 1) {
    throw UserError("finite_nudge: binary units learn from squared error alone");
  }
  example.cost->own_gradient(binary ? middle_ : states_, cost_);
  for (std::size_t k = 0; k < nodes_.betas.size(); ++k) {
    const auto of = [&](MatrixRef<S> m) {
      return m.middleRows(static_cast<Index>(k) * rows, rows).middleCols(columns.begin, columns.count);
    };
    of(f) -= static_cast<S>(nodes_.betas[k]) * of(cost_);
  }
}

/// Draws states of all phases side by side, correlates the last ones, and keeps their mean.
template <class S>
void FiniteNudgeEstimator<S>::sample(Example<S>& example) {
  const Capabilities<S> capabilities = example.dynamics->capabilities();
  const Columns columns = example.cost->columns(states_.cols());
  const int averaged = std::min(options_.average_nudged, options_.nudged_steps);
  const S share = S(1) / static_cast<S>(averaged);
  scales_.clear();
  loads_.clear();
  for (const double beta : nodes_.betas) loads_.push_back(static_cast<S>(beta * example.cost->curvature()));
  for (const double weight : nodes_.weights) scales_.push_back(static_cast<S>(weight) * example.weight * share);
  const auto push = [&](MatrixRef<S> f, std::size_t node) {
    const Columns own = capabilities.layered->node_columns(node);
    const bool nudged = own.begin <= columns.begin && columns.end() <= own.end();
    if (nudged) pull(example, f, capabilities.bath->binary(node));
    return nudged ? std::span<const S>(loads_) : std::span<const S>();
  };
  for (int step = 0; step < options_.nudged_steps; ++step) {
    bath_sweep<S>(*capabilities.layered, *capabilities.bath, states_, force_, static_cast<S>(options_.step), push);
    if (step < options_.nudged_steps - averaged) continue;
    means_ += share * states_;
    if (example.dynamics->accumulate_energy_gradient(states_, scales_, *example.sink)) continue;
    throw UserError(
        "finite_nudge: the force is not the gradient of an energy whose terms all have the contrastive rule");
  }
}

template <class S>
SequenceReport FiniteNudgeEstimator<S>::estimate(Example<S>& example) {
  if (example.dynamics->capabilities().bath == nullptr) {
    throw UserError("finite_nudge: this system has no bath (network.kind = thermal, relaxation.solver = sample)");
  }
  SequenceReport report;
  nodes_.turn(example.sign);
  free_.settle(example, options_.free, report);
  const Matrix<S>& z = *example.state;
  const auto copies = static_cast<Index>(nodes_.betas.size());
  states_ = z.replicate(copies, 1);
  means_.setZero(states_.rows(), states_.cols());
  cost_.setZero(states_.rows(), states_.cols());
  middle_.setConstant(states_.rows(), states_.cols(), S(0.5));
  force_.resize(states_.rows(), states_.cols());
  example.dynamics->begin_reads(ReadClass::nudged);
  example.dynamics->set_read_timing({options_.step, options_.step});
  sample(example);
  report.nudged = states_.allFinite() ? Status::max_steps : Status::diverged;
  report.nudged_time = options_.nudged_steps * options_.step;
  report.cost_in_forces += static_cast<double>(copies) * options_.nudged_steps;
  this->nudged_states_ = &means_;
  this->adjoint_.setZero(z.rows(), z.cols());
  for (std::size_t k = 0; k < nodes_.betas.size(); ++k) {
    this->adjoint_ += static_cast<S>(nodes_.weights[k]) * means_.middleRows(static_cast<Index>(k) * z.rows(), z.rows());
  }
  this->point_ = z;
  const auto size = static_cast<double>(z.norm());
  report.nudge_ratio = size > 0 ? static_cast<double>((means_.topRows(z.rows()) - z).norm()) / size : 0;
  report.adjoint.norm = static_cast<double>(this->adjoint_.norm());
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

template <class S>
typename NudgedEstimator<S>::Nodes finite_nodes(NudgeSides sides, double beta) {
  typename NudgedEstimator<S>::Nodes nodes = sided_nodes<S>(sides, beta);
  if (nodes.star_weight == 0) return nodes;
  nodes.betas.push_back(0);
  nodes.weights.push_back(nodes.star_weight);
  nodes.star_weight = 0;
  return nodes;
}

#define NUDGE_FINITE_NUDGE(S)             \
  template class FiniteNudgeEstimator<S>; \
  template typename NudgedEstimator<S>::Nodes finite_nodes<S>(NudgeSides, double);
NUDGE_BOTH_PRECISIONS(NUDGE_FINITE_NUDGE)

}  // namespace nudge
