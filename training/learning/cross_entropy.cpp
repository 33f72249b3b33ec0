// SPDX-License-Identifier: Apache-2.0
#include "training/learning/cross_entropy.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/softmax.hpp"

namespace nudge {
namespace {

/// Operations per logit: shift, exp, sum, divide.
constexpr double softmax_operations = 4;

}  // namespace

template <class S>
CrossEntropyReadout<S>::CrossEntropyReadout(const LinearMap<S>& readout, const NodeReadout& at, Columns node,
                                            Index tokens, Index max_copies, const LinearMap<S>* bias)
    : readout_(&readout),
      bias_(bias),
      at_(at),
      node_(node),
      tokens_(tokens),
      logits_(max_copies * tokens, readout.outputs()),
      error_(max_copies * tokens, readout.outputs()) {
  NUDGE_EXPECT(readout.inputs() == node.count);
  NUDGE_EXPECT(bias == nullptr || (bias->inputs() == 1 && bias->outputs() == readout.outputs() && at.bias >= 0));
  if (bias != nullptr) ones_.setOnes(max_copies * tokens, 1);
  if (at_.normalization == Normalization::none) return;
  measured_.resize(max_copies * tokens, node.count);
  back_.resize(max_copies * tokens, node.count);
}

template <class S>
void CrossEntropyReadout<S>::bind(std::span<const int> targets, const ReadContext& read) {
  NUDGE_EXPECT(static_cast<Index>(targets.size()) == tokens_);
  targets_ = targets;
  read_ = read;
  memory_.clear();
  read_.memory = &memory_;
  if (at_.cost == nullptr) return;
  wanted_.setZero(tokens_, readout_->outputs());
  ignored_.clear();
  for (Index t = 0; t < tokens_; ++t) {
    const int target = targets_[static_cast<std::size_t>(t)];
    if (target == Batch::kIgnored) {
      ignored_.push_back(t);
    } else {
      wanted_(t, target) = S(1);
    }
  }
}

/// Calls act(m) with the input m of the read-out: the node, or its norm.
template <class S>
template <class Act>
void CrossEntropyReadout<S>::measure(ConstMatrixRef<S> z, Act act) {
  const auto node = z.middleCols(node_.begin, node_.count);
  if (at_.normalization == Normalization::none) return act(node);
  auto m = measured_.topRows(z.rows());
  norm_.forward(node, m);
  act(m);
}

template <class S>
void CrossEntropyReadout<S>::read_logits(ConstMatrixRef<S> m, MatrixRef<S> logits) {
  readout_->forward(m, logits, readout_->all_columns(), Store::assign, read_);
  if (bias_ != nullptr) {
    bias_->forward(ones_.topRows(m.rows()), logits, bias_->all_columns(), Store::add, read_);
  }
}

template <class S>
double CrossEntropyReadout<S>::value(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == tokens_);
  auto logits = logits_.topRows(tokens_);
  const ReadingAs loss(read_, ReadClass::loss);
  read_.pass();
  measure(z, [&](ConstMatrixRef<S> m) { read_logits(m, logits); });
  if (at_.cost != nullptr) return counted_value<S>(*at_.cost, logits, wanted_, ignored_);
  read_.work(softmax_operations * static_cast<double>(logits.size()));
  double sum = 0;
  for (Index t = 0; t < tokens_; ++t) {
    const int target = targets_[static_cast<std::size_t>(t)];
    if (target == Batch::kIgnored) continue;
    error_.row(t) = logits.row(t);
    sum += static_cast<double>(cross_entropy_row(error_.row(t), target));
  }
  return sum;
}

/// Sets error_ = ∂C/∂logits, of every copy by itself.
template <class S>
void CrossEntropyReadout<S>::other_error_signal(ConstMatrixRef<S> logits) {
  for (Index row = 0; row < logits.rows(); row += tokens_) {
    counted_gradient<S>(*at_.cost, logits.middleRows(row, tokens_), wanted_, ignored_, error_.middleRows(row, tokens_));
  }
}

/// Sets error_ = softmax(m W_h) − onehot, 0 in rows that do not count; or the derivative of another cost.
template <class S>
void CrossEntropyReadout<S>::error_signal(ConstMatrixRef<S> m) {
  NUDGE_EXPECT(m.rows() % tokens_ == 0 && m.rows() <= logits_.rows());
  auto logits = logits_.topRows(m.rows());
  read_logits(m, logits);
  if (at_.cost != nullptr) return other_error_signal(logits);
  read_.work(softmax_operations * static_cast<double>(logits.size()));
  for (Index row = 0; row < m.rows(); ++row) {
    const int target = targets_[static_cast<std::size_t>(row % tokens_)];
    if (target == Batch::kIgnored) {
      error_.row(row).setZero();
      continue;
    }
    error_.row(row) = logits.row(row);
    cross_entropy_row(error_.row(row), target);
  }
}

template <class S>
void CrossEntropyReadout<S>::gradient(ConstMatrixRef<S> z, MatrixRef<S> out) {
  const ReadingAs kind(read_, read_.exact ? ReadClass::stored : ReadClass::nudged);
  if (out.cols() > node_.count) out.setZero();
  auto node = out.middleCols(node_.begin, node_.count);
  measure(z, [&](ConstMatrixRef<S> m) {
    error_signal(m);
    const auto error = error_.topRows(z.rows());
    const bool plain = at_.normalization == Normalization::none;
    MatrixRef<S> back = plain ? MatrixRef<S>(node) : MatrixRef<S>(back_.topRows(z.rows()));
    read_.reversed = true;
    readout_->derivative(ReadDirection::forward, Derivative::vjp, m.topRows(tokens_), error, back,
                         readout_->all_columns(), Store::assign, read_);
    read_.reversed = false;
    if (!plain) norm_.derivative(m, back, node);
  });
}

template <class S>
void CrossEntropyReadout<S>::accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
  const ReadingAs correlation(read_, ReadClass::correlation);
  read_.pass();
  measure(z, [&](ConstMatrixRef<S> m) {
    error_signal(m);
    readout_->correlate(ReadDirection::forward, m, error_.topRows(z.rows()), readout_->all_columns(), scale,
                        at_.parameter, sink, read_);
    if (bias_ != nullptr) {
      bias_->correlate(ReadDirection::forward, ones_.topRows(z.rows()), error_.topRows(z.rows()), bias_->all_columns(),
                       scale, at_.bias, sink, read_);
    }
  });
}

NUDGE_BOTH_PRECISIONS_OF(CrossEntropyReadout)

}  // namespace nudge
