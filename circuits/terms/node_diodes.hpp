// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/diode_law.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// A diode of Shockley's law at every unit of a node, to ground: F_i = I(z_i) (DiodeLaw), conservative and of each unit alone. The first
/// `above` units are kept above 0, the others below. No map, no parameter. Where units of the node do not act on each other it gives
/// coordinate descent its exact step: the root of one line and one exponential.
template <class S>
class NodeDiodes final : public Term<S> {
 public:
  /// Of node number `node`, whose columns these are; the law in units of the state and of the force.
  NodeDiodes(int node, Columns columns, Index above, const DiodeLaw& law);

  TermTraits traits() const override {
    return {.name = "node_diodes", .conservative = true, .sources = {node_}, .targets = {node_}};
  }
  bool add_load(MatrixRef<S> /*load*/) const override { return true; }
  bool balance(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  double sign(Index unit) const { return unit < above_ ? 1 : -1; }

  int node_;
  Columns columns_;
  Index above_;
  DiodeLaw law_;
};

}  // namespace nudge
