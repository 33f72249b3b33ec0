// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
NodeDiodes<S>::NodeDiodes(int node, Columns columns, Index above, const DiodeLaw& law)
    : UnitForce<S>("node_diodes", {node}, columns), columns_(columns), above_(above), law_(law) {
  NUDGE_EXPECT(above >= 0 && above <= columns.count && law.saturation > 0 && law.thermal > 0);
}

template <class S>
TermTraits NodeDiodes<S>::traits() const {
  TermTraits traits = UnitForce<S>::traits();
  traits.takes_difference = true;
  return traits;
}

/// Without its diode the unit would rest at z + (f − I(z))/D.
template <class S>
bool NodeDiodes<S>::solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) const {
  if (columns.begin != columns_.begin || columns.count != columns_.count) return false;
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < columns_.count; ++i) {
      const Index at = columns_.begin + i;
      const auto share = static_cast<double>(inverse(0, at));
      if (share == 0) continue;
      const auto v = static_cast<double>(z(row, at));
      const double push = static_cast<double>(f(row, at)) - law_.current(v, sign(i));
      z(row, at) = static_cast<S>(law_.settle(v + share * push, 1 / share, sign(i)));
    }
  }
  return true;
}

template <class S>
void NodeDiodes<S>::add_force(ConstMatrixRef<S> z, MatrixRef<S> f) const {
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) {
      f(row, i) += static_cast<S>(law_.current(static_cast<double>(z(row, i)), sign(i)));
    }
  }
}

template <class S>
void NodeDiodes<S>::slope(ConstMatrixRef<S> z, MatrixRef<S> slope) const {
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) {
      slope(row, i) = -static_cast<S>(law_.slope(static_cast<double>(z(row, i)), sign(i)));
    }
  }
}

template <class S>
double NodeDiodes<S>::energy(ConstMatrixRef<S> z) const {
  double sum = 0;
  for (Index row = 0; row < z.rows(); ++row) {
    for (Index i = 0; i < z.cols(); ++i) sum += law_.energy(static_cast<double>(z(row, i)), sign(i));
  }
  return sum;
}

/// I(z₀ + v) − I(z₀), whatever drives the unit.
template <class S>
void NodeDiodes<S>::add_difference(ConstMatrixRef<S> z0, ConstMatrixRef<S> v, MatrixRef<S> f) const {
  for (Index row = 0; row < v.rows(); ++row) {
    for (Index i = 0; i < v.cols(); ++i) {
      const auto at = static_cast<double>(z0(row, i)), moved = at + static_cast<double>(v(row, i));
      f(row, i) += static_cast<S>(law_.current(moved, sign(i)) - law_.current(at, sign(i)));
    }
  }
}

NUDGE_BOTH_PRECISIONS_OF(NodeDiodes)

}  // namespace nudge
