// SPDX-License-Identifier: Apache-2.0
#include "training/cross_entropy.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Per logit: shift, exp, sum, divide.
constexpr double softmax_operations = 4;

}  // namespace

template <class S>
CrossEntropyReadout<S>::CrossEntropyReadout(const LinearMap<S>& readout, int parameter, Index tokens, Index max_copies)
    : readout_(&readout),
      parameter_(parameter),
      tokens_(tokens),
      logits_(max_copies * tokens, readout.outputs()),
      error_(max_copies * tokens, readout.outputs()) {}

template <class S>
void CrossEntropyReadout<S>::bind(std::span<const int> targets, const ReadContext& read) {
  NUDGE_EXPECT(static_cast<Index>(targets.size()) == tokens_);
  targets_ = targets;
  read_ = read;
  memory_.clear();
  read_.memory = &memory_;
}

template <class S>
double CrossEntropyReadout<S>::value(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() == tokens_);
  auto logits = logits_.topRows(tokens_);
  const ReadingAs loss(read_, ReadClass::loss);
  read_.pass();
  readout_->forward(z, logits, readout_->all_columns(), Store::assign, read_);
  read_.work(softmax_operations * static_cast<double>(logits.size()));
  double sum = 0;
  for (Index t = 0; t < tokens_; ++t) {
    const S largest = logits.row(t).maxCoeff();
    const S log_partition = std::log((logits.row(t).array() - largest).exp().sum());
    sum += static_cast<double>(largest + log_partition - logits(t, targets_[static_cast<std::size_t>(t)]));
  }
  return sum;
}

/// error_ = softmax(z W_h) − onehot.
template <class S>
void CrossEntropyReadout<S>::error_signal(ConstMatrixRef<S> z) {
  NUDGE_EXPECT(z.rows() % tokens_ == 0 && z.rows() <= logits_.rows());
  auto logits = logits_.topRows(z.rows());
  readout_->forward(z, logits, readout_->all_columns(), Store::assign, read_);
  read_.work(softmax_operations * static_cast<double>(logits.size()));
  for (Index row = 0; row < z.rows(); ++row) {
    const S largest = logits.row(row).maxCoeff();
    auto error = error_.row(row).array();
    error = (logits.row(row).array() - largest).exp();
    error *= S(1) / error.sum();
    error_(row, targets_[static_cast<std::size_t>(row % tokens_)]) -= S(1);
  }
}

template <class S>
void CrossEntropyReadout<S>::gradient(ConstMatrixRef<S> z, MatrixRef<S> out) {
  const ReadingAs kind(read_, read_.exact ? ReadClass::stored : ReadClass::nudged);
  error_signal(z);
  readout_->forward_vjp(z.topRows(tokens_), error_.topRows(z.rows()), out, readout_->all_columns(), Store::assign,
                        read_);
}

template <class S>
void CrossEntropyReadout<S>::accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
  const ReadingAs correlation(read_, ReadClass::correlation);
  read_.pass();
  error_signal(z);
  readout_->correlate_forward(z, error_.topRows(z.rows()), readout_->all_columns(), scale, parameter_, sink, read_);
}

template class CrossEntropyReadout<float>;
template class CrossEntropyReadout<double>;

}  // namespace nudge
