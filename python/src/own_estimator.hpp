// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/base/errors.hpp"
#include "training/learning/estimators/nudged_phase.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// Estimator whose nudged phase is estimate(example) of a Python object (nudge.Estimator). The program does the free
/// phase, the storing of z* and the learning of the read-out. estimate() returns the adjoint a (rows, cols), which then
/// correlates with ∂F/∂θ at z*; None means that it has added its gradient itself.
template <class S>
class OwnEstimator final : public GradientEstimator<S> {
 public:
  OwnEstimator(const nb::object& object, const EstimatorOptions& options);
  ~OwnEstimator() override;
  SequenceReport estimate(Example<S>& example) override;
  Index keeps() const override { return keeps_; }
  Index parameter_matrices() const override {
    return matrices_ > 0 ? matrices_ : GradientEstimator<S>::parameter_matrices();
  }
  void finish(double before, Matrix<S>& gradient, std::span<Matrix<S>> kept) override;

 private:
  nb::object object_;
  Index keeps_ = 0, matrices_ = 0;  ///< attributes `keeps` and `keeps_of_parameters` of the object
  FreePhase<S> free_;
};

/// Makes an EstimatorKind; nudge, beta and its requests are attributes of the object.
EstimatorKind own_estimator_kind(const nb::object& object);

/// Force that a user's estimator gives, on the state of a circuit, for settle() to relax. Time, amplifiers,
/// capacitances and nodes are those of the circuit, and so is the box if it relaxes a state (an adjoint is kept in
/// none). In a sweep the nodes move one after the other, from the last to the first, as in every nudged phase.
template <class S>
class GivenForce final : public Dynamics<S>, public Layered<S> {
 public:
  using Force = std::function<void(ConstMatrixRef<S> z, MatrixRef<S> f)>;

  /// Makes the force. `fixed`: columns of the state that stay as they are, and outside the box; none: count 0.
  GivenForce(Dynamics<S>& circuit, Force force, bool is_state, Columns fixed = {0, 0})
      : circuit_(circuit), force_(std::move(force)), fixed_(fixed) {
    const Box<S>* box = is_state ? circuit.box() : nullptr;
    if (box != nullptr) box_ = fixed.count == 0 ? *box : without(*box, circuit.cols(), fixed);
    boxed_ = box != nullptr;
    if (circuit.layered() == nullptr) return;
    const auto own = circuit.layered()->node_columns();
    columns_.assign(own.rbegin(), own.rend());
  }

  Index rows() const override { return circuit_.rows(); }
  Index cols() const override { return circuit_.cols(); }
  DynamicsTraits<S> traits() const override {
    DynamicsTraits<S> own = circuit_.traits();
    own.feed_forward = false;
    own.box = boxed_ ? &box_ : nullptr;
    return own;
  }
  Capabilities<S> capabilities() override {
    const Capabilities<S> own = circuit_.capabilities();
    Capabilities<S> all;
    all.reading = own.reading;
    all.inertia = own.inertia;
    if (!columns_.empty()) all.layered = this;
    return all;
  }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part /*part*/ = Part::all) override {
    force_(z, f);
    f.middleCols(fixed_.begin, fixed_.count).setZero();
  }
  Linearization<S>& linearize(ConstMatrixRef<S>) override {
    throw UserError("a force of an own estimator has no Newton step (take relaxation.solver = euler or anderson)");
  }
  std::span<const Columns> node_columns() const override { return columns_; }
  void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t /*node*/) override { force(z, f); }
  NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) override {
    return step_of_node<S>(*this, boxed_ ? &box_ : nullptr, z, f, node, epsilon);
  }
  void node_vjp(ConstMatrixRef<S>, MatrixRef<S>, std::size_t) override {
    throw ContractViolation("node_vjp of a given force");
  }

 private:
  static Box<S> without(const Box<S>& box, Index cols, Columns fixed) {
    std::vector<typename Box<S>::Range> kept;
    for (Index j = 0; j < cols; ++j) {
      if (j >= fixed.begin && j < fixed.end()) continue;
      const auto bounds = *box.bounds({j, 1});
      kept.push_back({{j, 1}, bounds.lower, bounds.upper});
    }
    return Box<S>(std::move(kept));
  }

  Dynamics<S>& circuit_;
  Force force_;
  Columns fixed_;
  Box<S> box_;
  bool boxed_ = false;
  std::vector<Columns> columns_;
};

/// Relaxes z under a given force as a nudged phase of these options does. UserError of settle() for a solver without a step for it.
template <class S>
Status relax_given(GivenForce<S>& system, const EstimatorOptions& options, int steps, double step, Matrix<S>& z) {
  SettleOptions settling = nudged_settling(options);
  settling.average_last = 1;
  settling.max_steps = steps;
  settling.step = step;
  SettleWorkspace<S> scratch;
  const Status ends = settle<S>(system, z, settling, scratch).status;
  return ends == Status::diverged || !z.allFinite() ? Status::diverged : Status::converged;
}

}  // namespace nudge::python
