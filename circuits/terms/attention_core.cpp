// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/causal_attention.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {

template <class S>
AttentionCore<S>::AttentionCore(Index tokens, Index channels, Index heads,
                                std::shared_ptr<const AttentionSpread<S>> spread)
    : tokens_(tokens),
      channels_(channels),
      heads_(heads),
      width_(channels / heads),
      inverse_root_(S(1) / std::sqrt(static_cast<S>(width_))),
      spread_(std::move(spread)),
      h_(tokens, 3 * channels),
      probabilities_(static_cast<std::size_t>(heads), Matrix<S>(tokens, tokens)),
      scores_(tokens, tokens) {
  NUDGE_EXPECT(channels % heads == 0);
}

// Row i keeps its first i + 1 entries, the rest is exactly zero.
template <class S>
void AttentionCore<S>::softmax(Matrix<S>& scores) const {
  for (Index i = 0; i < tokens_; ++i) {
    softmax_row(scores.row(i).head(i + 1), inverse_root_);
    scores.row(i).tail(tokens_ - i - 1).setZero();
  }
}

// In place: scores ← P ∘ (scores − rowsum(P ∘ scores)) / √d.
template <class S>
void AttentionCore<S>::softmax_tangent(const Matrix<S>& p, Matrix<S>& scores) const {
  for (Index i = 0; i < tokens_; ++i) {
    softmax_derivative_row(p.row(i).head(i + 1), scores.row(i).head(i + 1), inverse_root_);
    scores.row(i).tail(tokens_ - i - 1).setZero();
  }
}

template <class S>
const Matrix<S>* AttentionCore<S>::score_gain(Index head) const {
  return spread_ && !spread_->score_gain.empty() ? &spread_->score_gain[static_cast<std::size_t>(head)] : nullptr;
}

template <class S>
const Matrix<S>* AttentionCore<S>::value_gain(Index head) const {
  return spread_ && !spread_->value_gain.empty() ? &spread_->value_gain[static_cast<std::size_t>(head)] : nullptr;
}

/// Matrix that weighs the values: (1 + η) ∘ P.
template <class S>
const Matrix<S>& AttentionCore<S>::weighed(const Matrix<S>& p, Index head) {
  const Matrix<S>* gain = value_gain(head);
  if (gain == nullptr) return p;
  weighed_ = p.cwiseProduct(*gain);
  return weighed_;
}

template <class S>
void AttentionCore<S>::head_forward(ConstMatrixRef<S> h, Index head, Matrix<S>& p, MatrixRef<S> o) {
  const Index at = head * width_;
  multiply_transposed<S>(h.middleCols(at, width_), h.middleCols(channels_ + at, width_), p);
  if (const Matrix<S>* gain = score_gain(head)) p.array() *= gain->array();
  if (spread_ && !spread_->score_offset.empty()) {
    p += spread_->score_offset[static_cast<std::size_t>(head)] / inverse_root_;
  }
  softmax(p);
  multiply<S>(weighed(p, head), h.middleCols(2 * channels_ + at, width_), o.middleCols(at, width_));
}

template <class S>
void AttentionCore<S>::forward(ConstMatrixRef<S> h, MatrixRef<S> o) {
  for (Index head = 0; head < heads_; ++head) head_forward(h, head, scores_, o);
}

template <class S>
void AttentionCore<S>::linearize(ConstMatrixRef<S> h, MatrixRef<S> o) {
  h_ = h;
  for (Index head = 0; head < heads_; ++head) head_forward(h, head, probabilities_[static_cast<std::size_t>(head)], o);
}

template <class S>
void AttentionCore<S>::jvp(ConstMatrixRef<S> dh, MatrixRef<S> out, bool subtract) {
  for (Index head = 0; head < heads_; ++head) {
    const Matrix<S>& p = probabilities(head);
    const Index q = head * width_;
    const Index k = channels_ + q;
    const Index v = channels_ + k;
    multiply_transposed<S>(dh.middleCols(q, width_), h_.middleCols(k, width_), scores_);
    multiply_transposed<S>(h_.middleCols(q, width_), dh.middleCols(k, width_), scores_, Store::add);
    if (const Matrix<S>* gain = score_gain(head)) scores_.array() *= gain->array();
    softmax_tangent(p, scores_);
    if (const Matrix<S>* gain = value_gain(head)) scores_.array() *= gain->array();
    auto o = out.middleCols(q, width_);
    multiply<S>(scores_, h_.middleCols(v, width_), o, subtract ? Store::subtract : Store::assign);
    multiply<S>(weighed(p, head), dh.middleCols(v, width_), o, subtract ? Store::subtract : Store::add);
  }
}

template <class S>
void AttentionCore<S>::vjp(ConstMatrixRef<S> w, MatrixRef<S> g) {
  for (Index head = 0; head < heads_; ++head) {
    const Matrix<S>& p = probabilities(head);
    const Index q = head * width_;
    const Index k = channels_ + q;
    const Index v = channels_ + k;
    multiply_outer<S>(weighed(p, head), w.middleCols(q, width_), S(1), g.middleCols(v, width_), Store::add);
    multiply_transposed<S>(w.middleCols(q, width_), h_.middleCols(v, width_), scores_);
    if (const Matrix<S>* gain = value_gain(head)) scores_.array() *= gain->array();
    softmax_tangent(p, scores_);
    if (const Matrix<S>* gain = score_gain(head)) scores_.array() *= gain->array();
    multiply<S>(scores_, h_.middleCols(k, width_), g.middleCols(q, width_), Store::add);
    multiply_outer<S>(scores_, h_.middleCols(q, width_), S(1), g.middleCols(k, width_), Store::add);
  }
}

NUDGE_BOTH_PRECISIONS_OF(AttentionCore)

}  // namespace nudge
