// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/unit_spread.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Activation ρ between the state of a node and the drive of its links, element by element, with ρ' and ρ'':
///     identity      s                          1                            0
///     tanh          tanh s                     1 − r²                       −2 r (1 − r²)
///     sigmoid       1/(1 + exp(−4 (s − ½)))    4 r (1 − r)                  16 r (1 − r)(1 − 2 r)
///     relu          max(s, 0)                  1 where s > 0                0
///     hard_sigmoid  min(max(s, 0), 1)          1 where 0 < s < 1            0
///     softplus      log(1 + exp s)             1 − exp(−r)                  exp(−r) (1 − exp(−r))
///     cosine        cos s                      −sin s                       −r
///     sine          sin s                      cos s                        −r
/// Ernoult et al. 2019 (arXiv:1905.13633) have this sigmoid, Scellier & Bengio 2017 the hard one. A phase drives its
/// neighbours with the last two together: cos(a − b) = cos a cos b + sin a sin b.
enum class NodeActivation { identity, tanh, sigmoid, relu, hard_sigmoid, softplus, cosine, sine };

/// Names of the activations that units of a layered network can have: all but the last two, in that order.
const std::vector<std::string>& node_activations();
/// Activation of a name that is in the list (contract).
NodeActivation node_activation(const std::string& name);

/// Computes r = ρ(s).
template <class S>
void activate(NodeActivation rho, ConstMatrixRef<S> s, MatrixRef<S> r);

/// End of a link, or node under a bias: its columns of the state and its activation.
struct LinkEnd {
  int node = 0;  ///< number of the node; Term::kInput: the clamped input, unchanged
  Columns columns;
  NodeActivation activation = NodeActivation::identity;
  double gain = 1;                                    ///< r = ρ(gain s); 1 for the identity
  std::shared_ptr<const UnitSpread> units = nullptr;  ///< r_j = ρ(gain (1 + g_j) s_j + o_j); none for the identity
};

/// Activated node: r, ρ' and ρ'' of one node for states side by side; nothing is computed or copied for the identity.
template <class S>
class ActivatedNode {
 public:
  ActivatedNode(const LinkEnd& end, Index max_rows);

  bool identity() const { return end_.activation == NodeActivation::identity; }
  /// Remembers r and ρ' of the node at z (rows, cols).
  void set(ConstMatrixRef<S> z);
  /// Activation r, of the z that set() was called with.
  Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>> value(ConstMatrixRef<S> z) const;

  /// Gates directions by the node's slopes: gate() sets out = ρ' ⊙ x, add_gated() does out += scale · ρ' ⊙ x, and add_curved() out +=
  /// scale · ρ'' ⊙ x ⊙ y. x and out are (k·rows, width) for k copies of the z of set() (k = 1 where there are as many rows), y is
  /// (rows, width).
  void gate(ConstMatrixRef<S> x, MatrixRef<S> out) const;
  void add_gated(ConstMatrixRef<S> x, S scale, MatrixRef<S> out) const;
  void add_curved(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> out) const;
  /// Computes ρ'' too, once set() was called. add_curved() needs it.
  void set_curvature();

 private:
  bool straight() const { return end_.gain == 1 && end_.units == nullptr; }

  LinkEnd end_;
  Matrix<S> gain_, offset_;  ///< gain and offset of every unit (1, width), if not straight
  Index rows_ = 0;           ///< rows of the z of set()
  Matrix<S> value_, slope_, curvature_;
};

}  // namespace nudge
