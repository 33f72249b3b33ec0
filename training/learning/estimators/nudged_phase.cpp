// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/lag.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

/// A nudged phase that still moves by more than 1 % of the displacement per τ has not settled: the truncation error of the
/// adjoint is of that order (notes on the measured decay of the nudged transient).
constexpr double kSettledNudge = 1e-2;

bool descends(const EstimatorOptions& options) { return options.free.solver == SettleSolver::coordinate; }

bool solves(const EstimatorOptions& options) { return options.free.solver == SettleSolver::direct; }

template <class S>
bool sweeps(const Example<S>& example, const EstimatorOptions& options) {
  return descends(options) || sweeping(*example.dynamics, options.free.schedule) != nullptr;
}

/// The exact step of a node needs the curvature of the nudge as well.
template <class S>
void require_descent(Example<S>& example, const EstimatorOptions& options) {
  require_coordinates(*example.dynamics);
  if (options.frozen_cost || example.cost->curvature() > 0) return;
  throw UserError(
      fmt::format("relaxation.solver = {}: a nudge by this cost has no exact step (take squared error, or "
                  "nudge.cost_current = frozen, or solver euler)",
                  to_string(SettleSolver::coordinate)));
}

/// A system that solves itself does so under its own law.
template <class S>
void require_direct(Example<S>& example, const EstimatorOptions& options, NudgeLaw law, bool anchored) {
  if (example.dynamics->direct() == nullptr) {
    throw UserError(
        "relaxation.solver = direct: this network does not solve itself (it is for network.kind = netlist)");
  }
  if (law != NudgeLaw::plain || anchored || example.filter != nullptr) {
    throw UserError(
        "relaxation.solver = direct: the circuit solves its own equations, which have no corrected or anchored force "
        "(take estimator = ep, ep_contrastive, coupled_learning or adjoint, or relaxation.solver = euler)");
  }
  if (options.frozen_cost || example.cost->curvature() > 0) return;
  throw UserError(
      "relaxation.solver = direct: a nudge by this cost is no conductance (take squared error, or nudge.cost_current = "
      "frozen)");
}

}  // namespace

template <class S>
void NudgedPhase<S>::prepare(Example<S>& example, Linearization<S>* at, Index copies, NudgeLaw law, bool anchored) {
  point_ = {example.dynamics, at, example.state, example.filter};
  const Matrix<S>& z = *example.state;
  for (Matrix<S>* m : {&states_, &force_, &cost_gradient_}) m->resize(copies * z.rows(), z.cols());
  cost_gradient_.setZero();  // outside the columns of the cost it stays so
  frozen_ = unsolved_ = false;
  solved_time_ = 0;
  if (!anchored) return;
  anchor_.resize(z.rows(), z.cols());
  const Part part = law == NudgeLaw::transposed ? Part::conservative : Part::all;
  if (example.dynamics->noisy()) {
    example.dynamics->begin_reads(ReadClass::anchor);
    example.dynamics->force(z, anchor_, part);
    if (const Box<S>* box = example.dynamics->box()) box->hold(z, anchor_, anchor_, {0, z.cols()});
  } else {
    at->force(anchor_, part);
  }
}

template <class S>
void NudgedPhase<S>::evaluate_law(NudgeLaw law, double clip, SequenceReport& report) {
  switch (law) {
    case NudgeLaw::plain: point_.dynamics->force(states_, force_); break;
    case NudgeLaw::corrected: laws_.corrected(point_, states_, force_); break;
    case NudgeLaw::transposed: laws_.transposed(point_, states_, force_); break;
    case NudgeLaw::clipped: report.clipped += laws_.clipped(point_, states_, force_, static_cast<S>(clip)); break;
  }
}

/// cost_gradient_ ← ∂C/∂z of all copies: at their states, or as it was stored at z*.
template <class S>
void NudgedPhase<S>::cost_current(Example<S>& example, bool frozen) {
  if (!frozen) return example.cost->own_gradient(states_, cost_gradient_);
  if (frozen_) return;
  const Index rows = example.state->rows();
  example.cost->own_gradient(*example.state, cost_gradient_.topRows(rows));
  for (Index row = rows; row < states_.rows(); row += rows) {
    cost_gradient_.middleRows(row, rows) = cost_gradient_.topRows(rows);
  }
  frozen_ = true;
}

/// force_ −= β_k ∂C/∂z + anchor, in the given columns; the cost acts on those of `nudged` alone.
template <class S>
void NudgedPhase<S>::add_nudge(const std::vector<double>& betas, bool anchored, Index rows, Columns columns,
                               Columns nudged) {
  const auto [begin, count] = columns;
  const Index first = std::max(begin, nudged.begin);
  const Index both = std::max<Index>(0, std::min(columns.end(), nudged.end()) - first);
  for (std::size_t k = 0; k < betas.size(); ++k) {
    const Index row = static_cast<Index>(k) * rows;
    if (both > 0) {
      force_.middleRows(row, rows).middleCols(first, both) -=
          static_cast<S>(betas[k]) * cost_gradient_.middleRows(row, rows).middleCols(first, both);
    }
    if (anchored) force_.middleRows(row, rows).middleCols(begin, count) -= anchor_.middleCols(begin, count);
  }
}

/// force_ ← f(z) − anchor − β_k ∂C/∂z(z) of all copies.
template <class S>
void NudgedPhase<S>::evaluate(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                              const EstimatorOptions& options, SequenceReport& report) {
  evaluate_law(law, options.clip, report);
  cost_current(example, options.frozen_cost);
  add_nudge(betas, anchored, example.state->rows(), {0, states_.cols()}, example.cost->columns(states_.cols()));
}

/// One sweep: the cost's current of its beginning, then node after node from the last to the first by Euler steps, or every
/// second node and then the others, each to where nothing pushes it.
template <class S>
void NudgedPhase<S>::sweep(Example<S>& example, const std::vector<double>& betas, NudgeLaw law, bool anchored,
                           const EstimatorOptions& options, SequenceReport& report) {
  cost_current(example, options.frozen_cost);
  const Box<S>* box = example.dynamics->box();
  Layered<S>& layered = *example.dynamics->layered();
  const std::size_t nodes = layered.nodes();
  const Columns nudged = example.cost->columns(states_.cols());
  const bool free = law == NudgeLaw::plain && !anchored && !descends(options);  // but for the nudge
  for (std::size_t k = 0; k < nodes; ++k) {
    const std::size_t node = descends(options) ? alternating_node(k, nodes) : nodes - 1 - k;
    const Columns columns = layered.node_columns(node);
    if (free && (columns.end() <= nudged.begin || nudged.end() <= columns.begin)) {
      layered.node_step(states_, force_, node, static_cast<S>(options.step));
      continue;
    }
    if (law == NudgeLaw::transposed) {
      laws_.transposed(point_, states_, force_, static_cast<int>(node));
    } else if (law == NudgeLaw::plain) {
      layered.node_force(states_, force_, node);
    } else {
      evaluate_law(law, options.clip, report);
    }
    add_nudge(betas, anchored, example.state->rows(), columns, nudged);
    if (descends(options)) {
      descend(example, betas, options, columns);
      if (box != nullptr) box->project(states_, columns);
    } else if (box != nullptr) {
      box->step(states_, force_, static_cast<S>(options.step), columns);
    } else {
      states_.middleCols(columns.begin, columns.count) +=
          static_cast<S>(options.step) * force_.middleCols(columns.begin, columns.count);
    }
  }
}

/// z ← z + f/(D + β c) in the given columns: there f is 0, other nodes fixed.
template <class S>
void NudgedPhase<S>::descend(Example<S>& example, const std::vector<double>& betas, const EstimatorOptions& options,
                             Columns columns) {
  const Index rows = example.state->rows();
  const Columns nudged = example.cost->columns(states_.cols());
  const double curvature = options.frozen_cost ? 0 : example.cost->curvature();
  for (std::size_t k = 0; k < betas.size(); ++k) {
    inverse_ = *example.dynamics->layered()->loads();
    inverse_.middleCols(nudged.begin, nudged.count).array() += static_cast<S>(betas[k] * curvature);
    inverse_ = (inverse_.array() > S(0)).select(inverse_.array().inverse(), S(0)).matrix();
    const Index row = static_cast<Index>(k) * rows;
    example.dynamics->layered()->balance(states_.middleRows(row, rows), force_.middleRows(row, rows), inverse_,
                                         columns);
  }
}

/// A nudge −β of a squared error takes β from the load of its units: below 0 there is no state to settle in.
template <class S>
void NudgedPhase<S>::check_minimum(Example<S>& example, const std::vector<double>& betas,
                                   const EstimatorOptions& options) const {
  const double curvature = options.frozen_cost ? 0 : example.cost->curvature();
  Layered<S>* layered = example.dynamics->layered();
  const Matrix<S>* loads = layered != nullptr ? layered->loads() : nullptr;
  if (loads == nullptr || curvature == 0) return;
  const Columns nudged = example.cost->columns(states_.cols());
  for (const double beta : betas) {
    for (Index j = 0; j < nudged.count; ++j) {
      const double load = static_cast<double>((*loads)(0, nudged.begin + j));
      if (load + beta * curvature > 0) continue;
      throw NumericalFailure(
          fmt::format("a nudge of {:.6g} leaves output {} no minimum to settle in: it is loaded with {:.6g}, and -beta "
                      "must stay below that (beta, nudge.sides)",
                      beta, j, load));
    }
  }
}

/// One sweep with εL = 1 leaves of a feed-forward system only the change of the cost's current: then that is force_.
template <class S>
bool NudgedPhase<S>::settled_by_sweep(Example<S>& example, const std::vector<double>& betas, NudgeLaw law,
                                      const EstimatorOptions& options) {
  const DynamicsTraits<S> traits = example.dynamics->traits();
  const bool exact = law == NudgeLaw::transposed && example.filter == nullptr && traits.feed_forward && !traits.noisy &&
                     options.step * traits.leak == 1.0;
  if (!exact) return false;
  force_.setZero();
  if (options.frozen_cost) return true;
  anchor_before_ = cost_gradient_;
  example.cost->own_gradient(states_, cost_gradient_);
  cost_gradient_ -= anchor_before_;
  const Columns nudged = example.cost->columns(states_.cols());
  add_nudge(betas, false, example.state->rows(), nudged, nudged);
  return true;
}

/// Every copy to where nothing pushes it, F(z) − β (C'(z*) + c (z − z*)) = 0, by the system itself.
template <class S>
void NudgedPhase<S>::solve(Example<S>& example, const std::vector<double>& betas, const EstimatorOptions& options) {
  const Matrix<S>& z = *example.state;
  const Columns nudged = example.cost->columns(z.cols());
  const auto curvature = static_cast<S>(options.frozen_cost ? 0 : example.cost->curvature());
  example.cost->own_gradient(z, cost_gradient_.topRows(z.rows()));
  const auto own = [&](const auto& x) { return x.middleCols(nudged.begin, nudged.count); };
  const Matrix<S> current = own(cost_gradient_).topRows(z.rows()) - curvature * own(z);
  for (std::size_t k = 0; k < betas.size(); ++k) {
    const auto beta = static_cast<S>(betas[k]);
    const DirectLoad<S> load{DirectLoad<S>::Kind::driven, nudged, -beta * current, beta * curvature};
    auto copy = states_.middleRows(static_cast<Index>(k) * z.rows(), z.rows());
    const DirectResult solved = example.dynamics->direct()->solve(copy, load);
    unsolved_ = unsolved_ || solved.status != Status::converged;
    solved_time_ += solved.time;
  }
}

/// The copies of z* and what they are taken through T2 steps to: the last states, or the mean of the last.
template <class S>
const Matrix<S>& NudgedPhase<S>::relax(Example<S>& example, const std::vector<double>& betas, NudgeLaw law,
                                       bool anchored, const EstimatorOptions& options, SequenceReport& report) {
  const Matrix<S>& z = *example.state;
  for (Index row = 0; row < states_.rows(); row += z.rows()) states_.middleRows(row, z.rows()) = z;
  if (example.filter != nullptr) example.filter->restart();
  Lag<S> lag(options.free.lag, options.step, example.dynamics->inertia());
  lag.start(states_.rows(), states_.cols(), flow_);
  const int averaged = solves(options) ? 1 : std::clamp(options.average_nudged, 1, options.nudged_steps);
  if (averaged > 1) mean_.setZero(states_.rows(), states_.cols());
  const Box<S>* box = example.dynamics->box();
  if (solves(options)) solve(example, betas, options);
  for (int n = 0; n < options.nudged_steps && !solves(options); ++n) {
    if (sweeps(example, options)) {
      sweep(example, betas, law, anchored, options, report);
    } else {
      evaluate(example, betas, law, anchored, options, report);
      lag.advance(states_, force_, flow_);
      if (box != nullptr) box->project(states_, {0, states_.cols()});
    }
    if (averaged > 1 && n >= options.nudged_steps - averaged) mean_ += states_ / static_cast<S>(averaged);
  }
  if (example.hold == nullptr) return averaged > 1 ? mean_ : states_;
  if (averaged == 1) mean_ = states_;
  example.hold->take(mean_, averaged);
  return mean_;
}

/// One copy through all periods of the nudge: z* + d, what the lock-in makes of samples as the holds take them.
template <class S>
const Matrix<S>& NudgedPhase<S>::oscillate(Example<S>& example, NudgeLaw law, bool anchored,
                                           const EstimatorOptions& options, SequenceReport& report) {
  const Matrix<S>& z = *example.state;
  states_ = z;
  if (example.filter != nullptr) example.filter->restart();
  Lag<S> lag(options.free.lag, options.step, example.dynamics->inertia());
  lag.start(states_.rows(), states_.cols(), flow_);
  lock_in_.start(options.oscillation, timing_.duration, z.rows(), z.cols());
  const Box<S>* box = example.dynamics->box();
  std::vector<double> beta(1);
  for (int n = 0; n < lock_in_.steps(); ++n) {
    beta[0] = options.beta * lock_in_.drive(n);
    evaluate(example, beta, law, anchored, options, report);
    lag.advance(states_, force_, flow_);
    if (box != nullptr) box->project(states_, {0, states_.cols()});
    displacement_ = states_;
    // A sample of the state: offsets stand still, and noise falls with how many there are.
    if (example.hold != nullptr && n >= lock_in_.steps() - lock_in_.listened()) example.hold->take(displacement_, 1);
    displacement_ -= z;
    lock_in_.take(n, displacement_);
  }
  mean_ = z + lock_in_.output();
  return mean_;
}

template <class S>
const Matrix<S>& NudgedPhase<S>::phase(Example<S>& example, const std::vector<double>& betas, NudgeLaw law,
                                       bool anchored, const EstimatorOptions& options, SequenceReport& report) {
  return options.oscillation.on() ? oscillate(example, law, anchored, options, report)
                                  : relax(example, betas, law, anchored, options, report);
}

/// What still pushes the states, over how far the nudge has moved them; what the last period of an oscillating one changed. Returns
/// whether the states are finite.
template <class S>
bool NudgedPhase<S>::measure_settling(Example<S>& example, const std::vector<double>& betas, NudgeLaw law,
                                      bool anchored, const EstimatorOptions& options, SequenceReport& report) {
  const Matrix<S>& z = *example.state;
  if (options.oscillation.on()) {
    report.nudged_residual = lock_in_.change();
    const auto size = static_cast<double>(lock_in_.output().norm());
    report.nudge_ratio = size / static_cast<double>(z.norm());
    return std::isfinite(size);
  }
  // What the last step saw has the noise of that step in it; what a sweep saw is not of one state.
  if (example.dynamics->noisy() || solves(options) ||
      (sweeps(example, options) && !settled_by_sweep(example, betas, law, options))) {
    example.dynamics->begin_reads(ReadClass::monitor);
    evaluate(example, betas, law, anchored, options, report);
  }
  if (const Box<S>* box = example.dynamics->box()) box->hold(states_, force_, force_, {0, states_.cols()});
  const double force_norm = static_cast<double>(force_.norm());
  double squares = 0;
  for (Index row = 0; row < states_.rows(); row += z.rows()) {
    squares += static_cast<double>((states_.middleRows(row, z.rows()) - z).squaredNorm());
  }
  const double displacement = std::sqrt(squares), copies = static_cast<double>(betas.size());
  report.nudged_residual = displacement > 0 ? force_norm / displacement : force_norm;
  report.nudge_ratio = displacement / (std::sqrt(copies) * static_cast<double>(z.norm()));
  return std::isfinite(force_norm) && std::isfinite(displacement);
}

template <class S>
const Matrix<S>& NudgedPhase<S>::run(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas,
                                     NudgeLaw law, bool anchored, const EstimatorOptions& options,
                                     SequenceReport& report) {
  const auto copies = static_cast<double>(betas.size());
  const bool swings = options.oscillation.on();
  prepare(example, at, static_cast<Index>(betas.size()), law, anchored);
  if (swings && (sweeps(example, options) || solves(options))) {
    throw UserError(
        "nudge.form = oscillating: it takes time, in which all nodes move at once (set relaxation.schedule = "
        "parallel and relaxation.solver = euler)");
  }
  check_minimum(example, betas, options);
  if (descends(options)) require_descent(example, options);
  if (solves(options)) require_direct(example, options, law, anchored);
  timing_ = begin_nudged_reads(example, options);
  const bool timeless = descends(options) || solves(options);
  if (timeless) example.dynamics->set_read_timing({options.step, 0});  // no circuit's way: it takes no time
  const bool twice = example.measures_noise && (example.dynamics->noisy() || example.hold != nullptr);
  if (twice) again_ = phase(example, betas, law, anchored, options, report);
  const Matrix<S>& taken = phase(example, betas, law, anchored, options, report);
  add_displacement<S>(taken, *example.state, betas, options.beta, displacement_, report.signal);
  if (twice) add_noise<S>(taken, again_, betas, options.beta, report.signal);
  drive_ = static_cast<double>(cost_gradient_.norm()) / std::sqrt(copies);
  report.nudged = Status::max_steps;
  if (!measure_settling(example, betas, law, anchored, options, report)) {
    report.nudged = Status::diverged;
  } else if (unsolved_) {
    report.nudged = Status::stalled;
  } else if (report.nudged_residual <= kSettledNudge) {
    report.nudged = Status::converged;
  }
  const int steps = swings ? lock_in_.steps() : options.nudged_steps;
  const double visits = sweeps(example, options) ? static_cast<double>(example.dynamics->layered()->nodes()) : 1.0;
  report.nudged_time = timeless ? solved_time_ : timing_.duration * visits * copies * steps * (twice ? 2 : 1);
  const double per_step = law == NudgeLaw::plain ? 1 : (law == NudgeLaw::transposed ? 2 : 3);
  report.cost_in_forces += per_step * copies * steps;
  return taken;
}

template class NudgedPhase<float>;
template class NudgedPhase<double>;

}  // namespace nudge
