// SPDX-License-Identifier: Apache-2.0
#include "training/train/sample_scores.hpp"

#include <cmath>

namespace nudge {

template <class S>
void SampleScores::add(const Batch& batch, const std::vector<Matrix<S>>& outputs) {
  if (!scored_) return;
  const bool classes = batch.values.size() == 0;
  if (classes && !confusion_ && outputs.front().cols() <= kMostConfused) confusion_.emplace(outputs.front().cols());
  for (Index b = 0; b < batch.sequences; ++b) {
    const Matrix<S>& out = outputs[static_cast<std::size_t>(b)];
    for (Index t = 0; t < batch.tokens; ++t) {
      const Index row = b * batch.tokens + t;
      if (!batch.counts(row)) continue;
      if (classes) {
        const auto label = batch.targets_of(b).subspan(static_cast<std::size_t>(t), 1);
        const S* const scores = out.row(t).data();
        right_ += chosen_class<S>({scores, static_cast<std::size_t>(out.cols())}) == label.front() ? 1 : 0;
        ++counted_;
        if (confusion_) confusion_->add<S>(out.middleRows(t, 1), label);
      } else {
        squares_ += (out.row(t).template cast<double>() - batch.values.row(row).cast<double>()).squaredNorm();
        numbers_ += static_cast<double>(out.cols());
      }
    }
  }
}

std::optional<double> SampleScores::value() const {
  if (of_classes()) return static_cast<double>(right_) / static_cast<double>(counted_);
  if (numbers_ > 0) return std::sqrt(squares_ / numbers_);
  return std::nullopt;
}

template void SampleScores::add(const Batch&, const std::vector<Matrix<float>>&);
template void SampleScores::add(const Batch&, const std::vector<Matrix<double>>&);

}  // namespace nudge
