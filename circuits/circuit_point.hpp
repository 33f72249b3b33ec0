// SPDX-License-Identifier: Apache-2.0
// Private to circuit_dynamics.cpp and circuit_point.cpp.
#pragma once

#include "circuits/circuit_dynamics.hpp"

namespace nudge {

/// Circuit linearised at a point z₀; the terms keep their caches of it in their systems.
template <class S>
class CircuitDynamics<S>::Point final : public Linearization<S> {
 public:
  explicit Point(CircuitDynamics& owner)
      : owner_(&owner),
        z0_(owner.rows_, owner.cols()),
        f0_(owner.rows_, owner.cols()),
        f0_conservative_(owner.rows_, owner.cols()),
        v_(owner.max_rows_, owner.cols()) {
    if (!owner.box_) return;
    moving_.resize(owner.rows_, owner.cols());
    direction_.resize(owner.max_rows_, owner.cols());
  }

  /// Linearises at z, by reads of the present class.
  void set(ConstMatrixRef<S> z);
  const Matrix<S>& unmasked_force() const { return f0_; }
  /// Swaps this linearisation with the one kept under that number.
  void swap(std::size_t number);
  void force(MatrixRef<S> f, Part part) override;
  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override;
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override;
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> pulled) override;
  bool law(NudgedForm form, ConstMatrixRef<S> z, MatrixRef<S> f, int node) override;
  bool node_pullback(MatrixRef<S> u, S scale, GradientSink<S>& sink, std::size_t node);
  void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node);

 private:
  /// Calls act(system) for every term that has the part.
  template <class Act>
  void for_terms(Part part, Act act) {
    for (std::size_t i = 0; i < owner_->systems_.size(); ++i) {
      if (owner_->circuit_->traits(i).has(part)) act(*owner_->systems_[i]);
    }
  }
  void leak(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) const;
  void correlate_input(ConstMatrixRef<S> u, S scale);
  /// Calls act(x) with the part of direction x that moves the state: x itself, or m ⊙ x in a box.
  template <class Act>
  void with_moving(ConstMatrixRef<S> x, Act act) {
    if (!owner_->box_) return act(x);
    auto masked = direction_.topRows(x.rows());
    masked = x;
    mask(masked);
    act(masked);
  }
  void mask(MatrixRef<S> x) const;
  void displacement(ConstMatrixRef<S> z);
  void displacement(ConstMatrixRef<S> z, Columns of);
  void start_law(NudgedForm form, const Node& node, ConstMatrixRef<S> z, MatrixRef<S> f);
  void node_law(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node);

  CircuitDynamics* owner_;
  Matrix<S> z0_, f0_, f0_conservative_;
  Matrix<S> v_;                         ///< z − z₀
  std::vector<Matrix<S>> kept_moving_;  ///< masks m of the points kept for later
  Matrix<S> moving_, direction_;        ///< in a box: m at z₀, and a direction m ⊙ x
};

}  // namespace nudge
