// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/terms/term.hpp"

namespace nudge {

/// Drive of the rows of a layer of resistors: voltages x of a node, gain · [x, −x] or gain · x of the clamped input, or fixed rails.
struct ResistorDrive {
  enum class Kind { node, doubled_input, input, rails };
  Kind kind = Kind::node;
  int node = 0;                    ///< number of the node, for Kind::node
  Columns columns = {};            ///< columns of the node in the state
  double gain = 1;                 ///< gain of the inputs
  std::vector<double> rails = {};  ///< voltages of the rows, for Kind::rails
};

/// Layer of resistors between rows at voltages x and the nodes of a layer at v, each a conductance g_ij ≥ 0:
///     E = ½ Σ_ij g_ij (x_i − v_j)²
///     F_v = x G − v ∘ Σ_i g_i·,      F_x = v Gᵀ − x ∘ Σ_j g_·j  where the rows are nodes
/// (Kendall et al. 2020, arXiv 2006.01981). One map holds G: read forward and transposed. The load of a line is its read with all
/// lines across it at 1. It is made anew for every row of the state where reads are noisy. A resistor's noise then follows x² + v²
/// instead of (x − v)²: equal where the rows have opposite voltages in pairs. The local rule is ∂E/∂g_ij = ½ (x_i − v_j)² and ⟨a,
/// ∂F/∂g_ij⟩ = (a_j − a_i)(x_i − v_j), sums of outer products. Heat is counted in the resistors, Σ g d², in place of the reads'
/// heat.
template <class S>
class ResistiveLink final : public Term<S> {
 public:
  /// Makes the layer. The nodes `to` have `columns` of the state; map (rows, columns.count). volts: physical voltage of a
  /// drop of 1 over the read voltage (1/Π A of amplifiers that the state contains). Heat grows with its square.
  ResistiveLink(ResistorDrive from, int to, Columns columns, int parameter, const LinearMap<S>& map, double volts = 1);

  /// Traits; with a load the term reads a node even if it only acts on it.
  TermTraits traits() const override;
  bool add_load(MatrixRef<S> load) const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  const LinearMap<S>& map() const { return *map_; }

 private:
  class System;
  Matrix<S> load_to() const;
  Matrix<S> load_from() const;
  bool clamped() const { return from_.kind != ResistorDrive::Kind::node; }

  ResistorDrive from_;
  int to_;
  Columns columns_;
  int parameter_;
  const LinearMap<S>* map_;
  double volts_;
};

}  // namespace nudge
