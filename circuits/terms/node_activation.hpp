// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/unit_spread.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// ρ between the state of a node and what it drives its links with, element by element, with ρ' and ρ'':
///     identity      s                          1                            0
///     tanh          tanh s                     1 − r²                       −2 r (1 − r²)
///     sigmoid       1/(1 + exp(−4 (s − ½)))    4 r (1 − r)                  16 r (1 − r)(1 − 2 r)
///     relu          max(s, 0)                  1 where s > 0                0
///     hard_sigmoid  min(max(s, 0), 1)          1 where 0 < s < 1            0
///     cosine        cos s                      −sin s                       −r
///     sine          sin s                      cos s                        −r
/// The sigmoid is that of Ernoult et al. 2019 (arXiv:1905.13633), the hard one that of Scellier & Bengio 2017. The last two together are
/// what a phase drives its neighbours with: cos(a − b) = cos a cos b + sin a sin b.
enum class NodeActivation { identity, tanh, sigmoid, relu, hard_sigmoid, cosine, sine };

/// Names of those that units of a layered network can have: all but the last two, in that order.
const std::vector<std::string>& node_activations();
/// The one of a name that is in the list (contract).
NodeActivation node_activation(const std::string& name);

/// r = ρ(s).
template <class S>
void activate(NodeActivation rho, ConstMatrixRef<S> s, MatrixRef<S> r);
/// d = ρ'(s), where r = ρ(s).
template <class S>
void activation_slope(NodeActivation rho, ConstMatrixRef<S> s, ConstMatrixRef<S> r, MatrixRef<S> d);
/// c = ρ''(s), where r = ρ(s).
template <class S>
void activation_curvature(NodeActivation rho, ConstMatrixRef<S> r, MatrixRef<S> c);

/// The node at one end of a link, or under a bias: its columns of the state and its activation.
struct LinkEnd {
  int node = 0;  ///< its number; Term::kInput: what clamps the circuit, as it is
  Columns columns;
  NodeActivation activation = NodeActivation::identity;
  double gain = 1;                                    ///< r = ρ(gain s); 1 for the identity
  std::shared_ptr<const UnitSpread> units = nullptr;  ///< r_j = ρ(gain (1 + g_j) s_j + o_j); none for the identity
};

/// r, ρ' and ρ'' of one node for states side by side; nothing is computed or copied for the identity.
template <class S>
class ActivatedNode {
 public:
  ActivatedNode(const LinkEnd& end, Index max_rows);

  bool identity() const { return end_.activation == NodeActivation::identity; }
  /// Remembers r and ρ' of the node at z (rows, cols).
  void set(ConstMatrixRef<S> z);
  /// r, of the z that set() was called with.
  Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>> value(ConstMatrixRef<S> z) const;

  /// out = ρ' ⊙ x; out += scale · ρ' ⊙ x; out += ρ'' ⊙ x ⊙ y. x and out (k·rows, width) for k copies of the z of set() (k = 1
  /// where there are as many rows), y (rows, width).
  void gate(ConstMatrixRef<S> x, MatrixRef<S> out) const;
  void add_gated(ConstMatrixRef<S> x, S scale, MatrixRef<S> out) const;
  void add_curved(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> out) const;
  /// ρ'' too, once set() was called. Only then add_curved().
  void set_curvature();

 private:
  bool straight() const { return end_.gain == 1 && end_.units == nullptr; }

  LinkEnd end_;
  Matrix<S> gain_, offset_;  ///< of every unit (1, width), where it is not straight
  Index rows_ = 0;           ///< of z
  Matrix<S> value_, slope_, curvature_;
};

}  // namespace nudge
