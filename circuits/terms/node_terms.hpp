// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "circuits/resistive/diode_law.hpp"
#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/unit_force.hpp"

namespace nudge {

/// Bias of a node: E = −b ρ(s)ᵀ, F += ρ'(s) ⊙ b. There is one b per unit or, in a convolutional layer, one per map and
/// all its positions. The LinearMap is (1, maps), driven by a constant 1.
template <class S>
class NodeBias final : public Term<S> {
 public:
  /// Makes a bias; the node's width is a multiple of the map's. `part`: the part of the force that it counts in;
  /// nonconservative in a network that is to be driven wholly through its transpose while nudged.
  NodeBias(const LinkEnd& at, int parameter, const LinearMap<S>& map, Part part = Part::conservative);

  /// Traits; under the identity the bias is a constant current, whatever the node's state.
  TermTraits traits() const override;
  bool add_load(MatrixRef<S> /*load*/) const override { return identity(); }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  bool has(Part part) const { return part == Part::all || part == part_; }
  bool identity() const { return at_.activation == NodeActivation::identity; }

  LinkEnd at_;
  int parameter_;
  const LinearMap<S>* map_;
  Part part_;
};

/// Diodes of Shockley's law at every unit of a node, to ground: F_i = I(z_i) (DiodeLaw), conservative and of each unit alone.
/// The first `above` units are kept above 0, the others below. No map, no parameter. If units of the node do not act on each
/// other, coordinate descent has an exact step: the root of one line and one exponential.
template <class S>
class NodeDiodes final : public UnitForce<S> {
 public:
  /// Makes the diodes of node number `node` with these columns; the law in units of the state and of the force.
  NodeDiodes(int node, Columns columns, Index above, const DiodeLaw& law);

  TermTraits traits() const override;
  bool add_load(MatrixRef<S> /*load*/) const override { return true; }
  bool solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) const override;

 private:
  void add_force(ConstMatrixRef<S> z, MatrixRef<S> f) const override;
  void slope(ConstMatrixRef<S> z, MatrixRef<S> slope) const override;
  double energy(ConstMatrixRef<S> z) const override;
  void add_difference(ConstMatrixRef<S> z0, ConstMatrixRef<S> v, MatrixRef<S> f) const override;
  double sign(Index unit) const { return unit < above_ ? 1 : -1; }

  Columns columns_;
  Index above_;
  DiodeLaw law_;
};

/// Wells of the units of some nodes, which are all of the circuit: E = ¼ κ Σ s⁴, F = −κ s³. Beside a leak L such a unit is one of
/// thermodynamic computing, ½ L s² + ¼ κ s⁴ (Whitelam & Casert, arXiv:2412.17183); no weights.
template <class S>
class QuarticWell final : public UnitForce<S> {
 public:
  QuarticWell(double stiffness, std::vector<int> nodes)
      : UnitForce<S>("quartic_well", std::move(nodes)), stiffness_(static_cast<S>(stiffness)) {}

 private:
  void add_force(ConstMatrixRef<S> z, MatrixRef<S> f) const override { f.array() -= stiffness_ * z.array().cube(); }
  void slope(ConstMatrixRef<S> z, MatrixRef<S> slope) const override {
    slope.array() = S(-3) * stiffness_ * z.array().square();
  }
  double energy(ConstMatrixRef<S> z) const override {
    return 0.25 * static_cast<double>(stiffness_) * z.template cast<double>().array().square().square().sum();
  }

  S stiffness_;
};

/// Static mismatch of the clamps of a circuit's nodes: the conductance C/τ of node j is (1 + δ_j) times its nominal one,
///     F_j += −δ_j z_j,   E += ½ Σ δ_j z_j²,
/// δ (1, cols) of the whole state, the same for all rows. No parameters.
template <class S>
class LeakSpread final : public Term<S> {
 public:
  /// Makes the mismatch; `nodes`: number of nodes of its circuit.
  LeakSpread(Matrix<S> deviations, std::size_t nodes);

  const Matrix<S>& deviations() const { return deviations_; }
  TermTraits traits() const override;
  bool add_load(MatrixRef<S> load) const override {
    load += deviations_;
    return true;
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  Matrix<S> deviations_;
  std::vector<int> nodes_;
};

/// Draws normal deviations of this standard deviation for the nodes of a seed, cut at ±½, where a clamp is no clamp any more.
template <class S>
Matrix<S> drawn_deviations(double sigma, Index cols, std::uint64_t seed);

}  // namespace nudge
