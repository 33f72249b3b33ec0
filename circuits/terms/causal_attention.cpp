// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/causal_attention.hpp"

#include "circuits/terms/attention_core.hpp"

namespace nudge {
namespace {

template <class S>
struct AttentionPoint final : TermPoint {
  AttentionPoint(Index rows, Index channels, Index heads, Index max_copies)
      : tokens(rows), core(rows, channels, heads), mixed(max_copies * rows, channels), drive_at_point(rows, channels) {}

  Index tokens;
  AttentionCore<S> core;
  Matrix<S> mixed;           ///< attention outputs before W_o, or their adjoints
  Matrix<S> drive_at_point;  ///< s·o at the linearisation point: what drives W_o there
};

template <class S>
AttentionPoint<S>& attention(TermPoint& point) {
  return static_cast<AttentionPoint<S>&>(point);
}

/// Copies of the sequence in k·T rows.
template <class S>
double copies(const AttentionPoint<S>& at, Index rows) {
  return static_cast<double>(rows) / static_cast<double>(at.tokens);
}

}  // namespace

template <class S>
std::unique_ptr<TermPoint> CausalAttention<S>::make_point(Index tokens, Index max_copies) const {
  return std::make_unique<AttentionPoint<S>>(tokens, channels_, heads_, max_copies);
}

template <class S>
void CausalAttention<S>::force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f,
                               TermPoint& point, ReadContext& read) const {
  auto& at = attention<S>(point);
  auto o = at.mixed.topRows(h.rows());
  const bool derivative = dh.size() > 0;
  for (Index row = 0; row < h.rows(); row += at.tokens) {
    at.core.forward(h.middleRows(row, at.tokens), o.middleRows(row, at.tokens));
    if (derivative) at.core.jvp(dh.middleRows(row, at.tokens), o.middleRows(row, at.tokens), true);
  }
  read.work(copies(at, h.rows()) * (at.core.forward_operations() + (derivative ? at.core.derivative_operations() : 0)));
  o *= gain_;
  output_->forward(o, f, output_->all_columns(), Store::add, read);
}

template <class S>
void CausalAttention<S>::linearize(ConstMatrixRef<S> h, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& point,
                                   ReadContext& read) const {
  auto& at = attention<S>(point);
  at.core.linearize(h, at.drive_at_point);
  read.work(at.core.forward_operations());
  at.drive_at_point *= gain_;
  output_->forward(at.drive_at_point, f, output_->all_columns(), Store::add, read);
}

template <class S>
void CausalAttention<S>::jvp(ConstMatrixRef<S> dh, MatrixRef<S> /*g*/, MatrixRef<S> f, TermPoint& point,
                             ReadContext& read) const {
  auto& at = attention<S>(point);
  auto o = at.mixed.topRows(dh.rows());
  for (Index row = 0; row < dh.rows(); row += at.tokens) {
    at.core.jvp(dh.middleRows(row, at.tokens), o.middleRows(row, at.tokens), false);
  }
  read.work(copies(at, dh.rows()) * at.core.derivative_operations());
  o *= gain_;
  output_->derivative(ReadDirection::forward, Derivative::jvp, at.drive_at_point, o, f, output_->all_columns(),
                      Store::add, read);
}

template <class S>
void CausalAttention<S>::vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> /*hu*/, MatrixRef<S> g, TermPoint& point,
                             ReadContext& read) const {
  auto& at = attention<S>(point);
  auto w = at.mixed.topRows(u.rows());
  output_->derivative(ReadDirection::forward, Derivative::vjp, at.drive_at_point, u, w, output_->all_columns(),
                      Store::assign, read);
  w *= gain_;
  for (Index row = 0; row < u.rows(); row += at.tokens) {
    at.core.vjp(w.middleRows(row, at.tokens), g.middleRows(row, at.tokens));
  }
  read.work(copies(at, u.rows()) * at.core.derivative_operations());
}

template <class S>
void CausalAttention<S>::accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink,
                                    ReadContext& read) const {
  output_->correlate(ReadDirection::forward, attention<S>(point).drive_at_point, u, output_->all_columns(), scale,
                     output_parameter_, sink, read);
}

template <class S>
const Matrix<S>& CausalAttention<S>::probabilities(const TermPoint& point, Index head) const {
  return static_cast<const AttentionPoint<S>&>(point).core.probabilities(head);
}

template class CausalAttention<float>;
template class CausalAttention<double>;

}  // namespace nudge
