// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void NudgedDynamics<S>::bind(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas, NudgeLaw law,
                             bool anchored, const EstimatorOptions& options) {
  example_ = &example;
  point_ = {example.dynamics, at, example.state, example.filter};
  law_ = law;
  betas_ = betas;
  anchored_ = anchored;
  frozen_ = options.frozen_cost || law == NudgeLaw::clamped;
  read_ = false;
  clipped_ = 0;
  clip_ = options.clip;
  step_ = options.step;
  nudged_ = example.cost->columns(cols());
  curvature_ = frozen_ ? 0 : example.cost->curvature();
  reversed_ = steps_in_time(options.free.solver);
  columns_.clear();
  if (base().layered() != nullptr) {
    const auto own = layered().node_columns();
    columns_.assign(own.begin(), own.end());
    if (reversed_) std::reverse(columns_.begin(), columns_.end());
  }
  inverses_.clear();
  loads_.clear();
  for (const double beta : betas_) loads_.push_back(static_cast<S>(beta * curvature_));
  bits_ = false;
  for (std::size_t node = 0; options.free.solver == SettleSolver::sample && node < columns_.size(); ++node) {
    bits_ = bits_ || (nudged_part(columns_[node]).count > 0 && binary(node));
  }
  check_solver(options);
  check_minimum(options);
  current_.setZero(rows(), cols());  // outside the columns of the cost it stays so
  if (anchored_) read_anchor();
}

/// Some solvers have a step of their own for the nudge, which needs its curvature, and one of them for the circuit's own law alone.
template <class S>
void NudgedDynamics<S>::check_solver(const EstimatorOptions& options) const {
  const SettleSolver solver = options.free.solver;
  const bool direct = solver == SettleSolver::direct;
  const bool own_law = (uncorrected() && !anchored_ && example_->filter == nullptr) || base().direct() == nullptr;
  const bool has_step = frozen_ || curvature_ > 0 || (!direct && solver != SettleSolver::coordinate);
  if (bits_ && curvature_ != 1) throw UserError("binary units in a bath are nudged only by squared error");
  if (has_step && (own_law || !direct)) return;
  throw ContractViolation("an estimator with a solver that has no step for its law (EstimatorKind::needs)");
}

/// Whether eigenvalues of J at z* lie as far out as its diagonal: J is triangular, or symmetric along an arbitrary direction.
template <class S>
bool NudgedDynamics<S>::diagonal_bounds() {
  if (base().traits().feed_forward) return true;
  Matrix<S> u(one(), cols()), forward(one(), cols()), backward(one(), cols());
  for (Index i = 0; i < u.size(); ++i) u.data()[i] = std::cos(static_cast<S>(i));
  point_.at->jvp(u, forward);
  point_.at->vjp(u, backward);
  return (forward - backward).norm() <= std::sqrt(std::numeric_limits<S>::epsilon()) * forward.norm();
}

template <class S>
Matrix<S> NudgedDynamics<S>::held_by(bool explicit_step) {
  const DynamicsTraits<S> traits = base().traits();
  Layered<S>* layers = base().layered();
  if (layers != nullptr && layers->loads() != nullptr) {
    return layers->loads()->middleCols(nudged_.begin, nudged_.count);
  }
  const bool asked = std::any_of(betas_.begin(), betas_.end(), [&](double beta) {
    const double slope = traits.leak + beta * curvature_;
    return slope <= 0 || (explicit_step && step_ * slope >= 2);
  });
  if (!asked || traits.leak <= 0 || traits.box != nullptr || traits.noisy) return {};
  linearize(*example_->state);
  if (!diagonal_bounds()) return {};
  Matrix<S> held(1, nudged_.count), unit = Matrix<S>::Zero(one(), cols()), column(one(), cols());
  for (Index j = 0; j < nudged_.count; ++j) {
    const Index at = nudged_.begin + j;
    unit(0, at) = 1;
    point_.at->jvp(unit, column);
    unit(0, at) = 0;
    held(0, j) = -column(0, at);
  }
  return held;
}

/// A nudge −β of a squared error takes β c from what holds an output: below 0 there is no state to settle in. Euler steps of
/// all nodes at once diverge where ε (D + β c) ≥ 2.
template <class S>
void NudgedDynamics<S>::check_minimum(const EstimatorOptions& options) {
  if (curvature_ == 0 || options.free.solver == SettleSolver::sample) return;
  const bool swept = sweeping(base(), options.free.schedule) != nullptr;
  const bool explicit_step = options.free.solver == SettleSolver::euler && options.free.motion.first_order() &&
                             !swept && base().box() == nullptr && base().inertia() == nullptr;
  const Matrix<S> held = held_by(explicit_step);
  for (Index j = 0; j < held.cols(); ++j) {
    for (const double beta : betas_) {
      const auto own = static_cast<double>(held(0, j));
      const double slope = own + beta * curvature_;
      if (slope <= 0) {
        throw NumericalFailure(
            fmt::format("a nudge of {:.6g} leaves output {} without a minimum to settle in: its load is {:.6g}, and "
                        "-beta must stay below that (beta, nudge.sides)",
                        beta, j, own / curvature_));
      }
      if (explicit_step && step_ * slope >= 2) {
        throw NumericalFailure(fmt::format(
            "a nudge of {:.6g} does not settle in Euler steps of {:.6g}: beta must stay below {:.6g}. Change beta "
            "or relaxation.step, or use relaxation.schedule = sweep, which has no such bound",
            beta, step_, (2 / step_ - own) / curvature_));
      }
    }
  }
}

template <class S>
void NudgedDynamics<S>::read_anchor() {
  const Matrix<S>& z = *example_->state;
  anchor_.resize(z.rows(), z.cols());
  const Part part = law_ == NudgeLaw::transposed ? Part::conservative : Part::all;
  if (!base().noisy()) return point_.at->force(anchor_, part);
  base().begin_reads(ReadClass::anchor);
  base().force(z, anchor_, part);
  if (const Box<S>* box = base().box()) box->hold(z, anchor_, anchor_, {0, z.cols()});
}

/// current_ ← ∂C/∂z of all copies: at their states, or what stays as it was read, at z* or of bits.
template <class S>
void NudgedDynamics<S>::read_current(ConstMatrixRef<S> z) {
  if (!frozen_ && !bits_) return example_->cost->own_gradient(z, current_);
  if (read_) return;
  auto first = copy(current_, 0);
  example_->cost->own_gradient(bits_ ? Matrix<S>::Constant(one(), cols(), S(0.5)) : *example_->state, first);
  for (Index k = 1; k < copies(); ++k) copy(current_, k) = first;
  read_ = true;
}

/// f ← law(z), of one node into its columns of f or of all.
template <class S>
void NudgedDynamics<S>::apply_law(ConstMatrixRef<S> z, MatrixRef<S> f, int node) {
  switch (law_) {
    case NudgeLaw::transposed: return laws_.transposed(point_, z, f, node);
    case NudgeLaw::corrected: return laws_.corrected(point_, z, f);
    case NudgeLaw::clipped: clipped_ += laws_.clipped(point_, z, f, static_cast<S>(clip_)); return;
    case NudgeLaw::plain:
    case NudgeLaw::clamped: break;
  }
  if (node == kAllNodes) return base().force(z, f);
  layered().node_force(z, f, static_cast<std::size_t>(node));
}

/// x −= β_k ∂C/∂z in the given columns; the cost acts on its own alone.
template <class S>
void NudgedDynamics<S>::add_current(MatrixRef<S> x, Columns columns) const {
  const auto [first, both] = nudged_part(columns);
  for (Index k = 0; both > 0 && k < copies(); ++k) {
    copy(x, k).middleCols(first, both) -=
        static_cast<S>(betas_[static_cast<std::size_t>(k)]) * copy(current_, k).middleCols(first, both);
  }
}

/// f −= β_k ∂C/∂z + anchor in the given columns; 0 where outputs are held.
template <class S>
void NudgedDynamics<S>::add_nudge(MatrixRef<S> f, Columns columns) const {
  if (law_ == NudgeLaw::clamped) return hold_outputs(f, columns);
  add_current(f, columns);
  for (Index k = 0; anchored_ && k < copies(); ++k) {
    copy(f, k).middleCols(columns.begin, columns.count) -= anchor_.middleCols(columns.begin, columns.count);
  }
}

template <class S>
void NudgedDynamics<S>::hold_outputs(MatrixRef<S> f, Columns columns) const {
  const auto [first, both] = nudged_part(columns);
  if (both > 0) f.middleCols(first, both).setZero();
}

template <class S>
void NudgedDynamics<S>::force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) {
  if (part != Part::all) throw ContractViolation("a part of a nudged force");
  apply_law(z, f, kAllNodes);
  read_current(z);
  add_nudge(f, {0, cols()});
}

template <class S>
void NudgedDynamics<S>::node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) {
  if (node == 0) read_current(z);
  apply_law(z, f, static_cast<int>(of(node)));
  add_nudge(f, columns_[node]);
}

template <class S>
NodeMove NudgedDynamics<S>::node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) {
  const Columns columns = columns_[node];
  const auto [first, both] = nudged_part(columns);
  if (uncorrected() && !anchored_ && both <= 0) {  // free but for the nudge of another node
    if (node == 0) read_current(z);
    return layered().node_step(z, f, of(node), epsilon);
  }
  node_force(z, f, node);
  for (Index k = 0; both > 0 && k < copies(); ++k) {
    const double beta = betas_[static_cast<std::size_t>(k)];
    if (implicit(beta)) copy(f, k).middleCols(first, both) /= static_cast<S>(1 + step_ * beta * curvature_);
  }
  auto state = z.middleCols(columns.begin, columns.count);
  const auto moves = f.middleCols(columns.begin, columns.count);
  if (const Box<S>* box = base().box()) {
    box->step(z, f, epsilon, columns);
  } else {
    state += epsilon * moves;
  }
  return {squared_norm<S>(state), squared_norm<S>(moves)};
}

template <class S>
void NudgedDynamics<S>::solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& /*inverse*/, Columns columns) {
  if (inverses_.empty()) {
    for (const double beta : betas_) {
      Matrix<S> load = *layered().loads();
      load.middleCols(nudged_.begin, nudged_.count).array() += static_cast<S>(beta * curvature_);
      inverses_.push_back((load.array() > S(0)).select(load.array().inverse(), S(0)).matrix());
    }
  }
  for (Index k = 0; k < copies(); ++k) {
    layered().solve_node(copy(z, k), copy(f, k), inverses_[static_cast<std::size_t>(k)], columns);
  }
}

/// A draw of a node, whose leak is larger by what the cost adds.
template <class S>
void NudgedDynamics<S>::move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step,
                             std::span<const S> /*added*/) {
  const bool loaded = nudged_part(columns_[node]).count > 0;
  base().capabilities().bath->move(z, f, of(node), step, loaded ? std::span<const S>(loads_) : std::span<const S>());
}

/// Every copy to where F(z) − β (C'(z*) + c (z − z*)) = 0: the cost is a current and a conductance at the outputs. Or to where they
/// are held.
template <class S>
DirectResult NudgedDynamics<S>::solve(MatrixRef<S> z, const DirectLoad<S>& /*load*/) {
  const Matrix<S>& star = *example_->state;
  auto first = copy(current_, 0);
  example_->cost->own_gradient(star, first);
  const auto c = static_cast<S>(curvature_);
  const Matrix<S> current =
      first.middleCols(nudged_.begin, nudged_.count) - c * star.middleCols(nudged_.begin, nudged_.count);
  DirectResult all;
  for (Index k = 0; k < copies(); ++k) {
    const auto beta = static_cast<S>(betas_[static_cast<std::size_t>(k)]);
    DirectLoad<S> load{DirectLoad<S>::Kind::driven, nudged_, -beta * current, beta * c};
    if (law_ == NudgeLaw::clamped) {
      load = {DirectLoad<S>::Kind::held, nudged_, copy(z, k).middleCols(nudged_.begin, nudged_.count), S(0)};
    }
    const DirectResult found = base().direct()->solve(copy(z, k), load);
    if (found.status != Status::converged) all.status = found.status;
    all.iterations += found.iterations;
    all.time += found.time;
  }
  return all;
}

template <class S>
Capabilities<S> NudgedDynamics<S>::capabilities() {
  const Capabilities<S> own = base().capabilities();
  Capabilities<S> all;
  all.reading = own.reading;
  all.inertia = own.inertia;
  if (own.layered != nullptr) all.layered = this;
  if (own.direct != nullptr) all.direct = this;
  if (own.bath != nullptr) all.bath = this;
  return all;
}

template <class S>
void NudgedDynamics<S>::start(MatrixRef<S> z) {
  for (Index k = 0; k < copies(); ++k) copy(z, k) = *example_->state;
  if (law_ != NudgeLaw::clamped) return;
  read_current(z);
  add_current(z, nudged_);
}

template <class S>
double NudgedDynamics<S>::drive() const {
  return static_cast<double>(current_.norm()) / std::sqrt(static_cast<double>(copies()));
}

template <class S>
bool NudgedDynamics<S>::settled_by_sweep() const {
  const DynamicsTraits<S> traits = base().traits();
  return law_ == NudgeLaw::transposed && example_->filter == nullptr && traits.feed_forward && !traits.noisy &&
         step_ * traits.leak == 1.0;
}

template <class S>
double NudgedDynamics<S>::left_by_sweep(ConstMatrixRef<S> z) {
  if (frozen_) return 0;
  before_ = current_;
  read_current(z);
  before_ = current_ - before_;
  double squares = 0;
  for (Index k = 0; k < copies(); ++k) {
    const double beta = betas_[static_cast<std::size_t>(k)];
    if (implicit(beta)) continue;  // such a step ends where nothing is left
    squares += beta * beta * static_cast<double>(copy(before_, k).squaredNorm());
  }
  return std::sqrt(squares);
}

template <class S>
Linearization<S>& NudgedDynamics<S>::linearize(ConstMatrixRef<S> /*z*/) {
  if (point_.at == nullptr) point_.at = &base().linearize(*example_->state);
  return slope_;
}

template <class S>
void NudgedDynamics<S>::Slope::jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part /*part*/) {
  if (owner_.uncorrected()) {
    owner_.point_.at->jvp(v, out);
  } else {  // all corrected laws have the Jacobian Jᵀ at z*
    owner_.laws_.vjp(owner_.point_, v, out);
  }
  if (owner_.law_ == NudgeLaw::clamped) owner_.hold_outputs(out, owner_.nudged_);
  const auto [begin, count] = owner_.nudged_;
  for (Index k = 0; k < owner_.copies(); ++k) {
    owner_.copy(out, k).middleCols(begin, count) -=
        static_cast<S>(owner_.betas_[static_cast<std::size_t>(k)] * owner_.curvature_) *
        owner_.copy(v, k).middleCols(begin, count);
  }
}

// What no solver asks of a nudged phase.
template <class S>
void NudgedDynamics<S>::node_vjp(ConstMatrixRef<S>, MatrixRef<S>, std::size_t) {
  throw ContractViolation("node_vjp of a nudged phase");
}
template <class S>
DirectResult NudgedDynamics<S>::solve_transposed(ConstMatrixRef<S>, MatrixRef<S>) {
  throw ContractViolation("solve_transposed of a nudged phase");
}
template <class S>
DirectResult NudgedDynamics<S>::respond(ConstMatrixRef<S>, double, MatrixRef<S>) {
  throw ContractViolation("respond of a nudged phase");
}
template <class S>
void NudgedDynamics<S>::Slope::force(MatrixRef<S>, Part) {
  throw ContractViolation("stored force of a nudged phase");
}
template <class S>
void NudgedDynamics<S>::Slope::vjp(ConstMatrixRef<S>, MatrixRef<S>, Part) {
  throw ContractViolation("vjp of a nudged phase");
}
template <class S>
void NudgedDynamics<S>::Slope::accumulate(ConstMatrixRef<S>, S, GradientSink<S>&, MatrixRef<S>) {
  throw ContractViolation("parameter gradient of a nudged phase");
}

NUDGE_BOTH_PRECISIONS_OF(NudgedDynamics)

}  // namespace nudge
