// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_activation.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Computes d = ρ'(s), where r = ρ(s).
template <class S>
void activation_slope(NodeActivation rho, ConstMatrixRef<S> s, ConstMatrixRef<S> r, MatrixRef<S> d) {
  switch (rho) {
    case NodeActivation::identity: d.setOnes(); break;
    case NodeActivation::tanh: d.array() = S(1) - r.array().square(); break;
    case NodeActivation::sigmoid: d.array() = S(4) * r.array() * (S(1) - r.array()); break;
    case NodeActivation::relu: d.array() = (s.array() > S(0)).template cast<S>(); break;
    case NodeActivation::hard_sigmoid: d.array() = (s.array() > S(0) && s.array() < S(1)).template cast<S>(); break;
    case NodeActivation::softplus: d.array() = S(1) - (-r.array()).exp(); break;
    case NodeActivation::cosine: d.array() = -s.array().sin(); break;
    case NodeActivation::sine: d.array() = s.array().cos(); break;
  }
}

/// Computes c = ρ''(s), where r = ρ(s).
template <class S>
void activation_curvature(NodeActivation rho, ConstMatrixRef<S> r, MatrixRef<S> c) {
  const auto a = r.array();
  switch (rho) {
    case NodeActivation::tanh: c.array() = S(-2) * a * (S(1) - a.square()); break;
    case NodeActivation::sigmoid: c.array() = S(16) * a * (S(1) - a) * (S(1) - S(2) * a); break;
    case NodeActivation::softplus: c.array() = (-a).exp() * (S(1) - (-a).exp()); break;
    case NodeActivation::cosine:
    case NodeActivation::sine: c.array() = -a; break;
    case NodeActivation::identity:
    case NodeActivation::relu:
    case NodeActivation::hard_sigmoid: c.setZero(); break;
  }
}

}  // namespace

const std::vector<std::string>& node_activations() {
  static const std::vector<std::string> names = {"identity", "tanh", "sigmoid", "relu", "hard_sigmoid", "softplus"};
  return names;
}

NodeActivation node_activation(const std::string& name) {
  const auto& names = node_activations();
  const auto found = std::find(names.begin(), names.end(), name);
  NUDGE_EXPECT(found != names.end());
  return static_cast<NodeActivation>(found - names.begin());
}

template <class S>
void activate(NodeActivation rho, ConstMatrixRef<S> s, MatrixRef<S> r) {
  switch (rho) {
    case NodeActivation::identity: r = s; break;
    case NodeActivation::tanh: r.array() = s.array().tanh(); break;
    case NodeActivation::sigmoid: r.array() = (S(1) + (S(-4) * (s.array() - S(0.5))).exp()).inverse(); break;
    case NodeActivation::relu: r.array() = s.array().max(S(0)); break;
    case NodeActivation::hard_sigmoid: r.array() = s.array().max(S(0)).min(S(1)); break;
    case NodeActivation::softplus: r.array() = s.array().max(S(0)) + (-s.array().abs()).exp().log1p(); break;
    case NodeActivation::cosine: r.array() = s.array().cos(); break;
    case NodeActivation::sine: r.array() = s.array().sin(); break;
  }
}

template <class S>
ActivatedNode<S>::ActivatedNode(const LinkEnd& end, Index max_rows) : end_(end) {
  NUDGE_EXPECT(!identity() || straight());
  if (!straight()) {
    gain_.setConstant(1, end.columns.count, static_cast<S>(end.gain));
    offset_.setZero(1, end.columns.count);
  }
  for (Index j = 0; end.units != nullptr && j < end.columns.count; ++j) {
    gain_(0, j) *= static_cast<S>(1 + end.units->gain[static_cast<std::size_t>(j)]);
    offset_(0, j) = static_cast<S>(end.units->offset[static_cast<std::size_t>(j)]);
  }
  if (identity()) return;
  for (Matrix<S>* m : {&value_, &slope_, &curvature_}) m->resize(max_rows, end.columns.count);
}

template <class S>
void ActivatedNode<S>::set(ConstMatrixRef<S> z) {
  rows_ = z.rows();
  if (identity()) return;
  const auto s = z.middleCols(end_.columns.begin, end_.columns.count);
  auto value = value_.topRows(rows_), slope = slope_.topRows(rows_);
  if (straight()) {
    activate<S>(end_.activation, s, value);
    return activation_slope<S>(end_.activation, s, value, slope);
  }
  const Matrix<S> scaled = (s.array().rowwise() * gain_.row(0).array()).rowwise() + offset_.row(0).array();
  activate<S>(end_.activation, scaled, value);
  activation_slope<S>(end_.activation, scaled, value, slope);
  slope.array().rowwise() *= gain_.row(0).array();
}

template <class S>
void ActivatedNode<S>::set_curvature() {
  if (identity()) return;
  activation_curvature<S>(end_.activation, value_.topRows(rows_), curvature_.topRows(rows_));
  if (!straight()) curvature_.topRows(rows_).array().rowwise() *= gain_.row(0).array().square();
}

template <class S>
Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>> ActivatedNode<S>::value(ConstMatrixRef<S> z) const {
  if (identity()) return z.middleCols(end_.columns.begin, end_.columns.count);
  return value_.topRows(rows_);
}

template <class S>
void ActivatedNode<S>::gate(ConstMatrixRef<S> x, MatrixRef<S> out) const {
  if (identity()) {
    out = x;
    return;
  }
  for (Index row = 0; row < x.rows(); row += rows_) {
    out.middleRows(row, rows_).array() = slope_.topRows(rows_).array() * x.middleRows(row, rows_).array();
  }
}

template <class S>
void ActivatedNode<S>::add_gated(ConstMatrixRef<S> x, S scale, MatrixRef<S> out) const {
  if (identity()) {
    out += scale * x;
    return;
  }
  for (Index row = 0; row < x.rows(); row += rows_) {
    out.middleRows(row, rows_).array() += scale * slope_.topRows(rows_).array() * x.middleRows(row, rows_).array();
  }
}

template <class S>
void ActivatedNode<S>::add_curved(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> out) const {
  if (identity()) return;
  for (Index row = 0; row < x.rows(); row += rows_) {
    out.middleRows(row, rows_).array() +=
        scale * curvature_.topRows(rows_).array() * x.middleRows(row, rows_).array() * y.array();
  }
}

#define NUDGE_NODE_ACTIVATION(S)                                              \
  template void activate<S>(NodeActivation, ConstMatrixRef<S>, MatrixRef<S>); \
  template class ActivatedNode<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_NODE_ACTIVATION)

}  // namespace nudge
