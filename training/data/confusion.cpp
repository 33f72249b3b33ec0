// SPDX-License-Identifier: Apache-2.0
#include "training/data/confusion.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
int chosen_class(std::span<const S> logits) {
  int best = -1;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (std::isnan(logits[c])) return -1;
    if (best < 0 || logits[c] > logits[static_cast<std::size_t>(best)]) best = static_cast<int>(c);
  }
  return best;
}

template <class S>
void ConfusionMatrix::add(ConstMatrixRef<S> logits, std::span<const int> labels) {
  NUDGE_EXPECT(logits.cols() == classes() && logits.rows() == static_cast<Index>(labels.size()));
  for (Index i = 0; i < logits.rows(); ++i) {
    const int truth = labels[static_cast<std::size_t>(i)];
    NUDGE_EXPECT(truth >= 0 && truth < classes());
    const int choice = chosen_class<S>({logits.data() + i * logits.outerStride(), static_cast<std::size_t>(classes())});
    if (choice < 0) {
      ++undecided_;
    } else {
      ++counts_(truth, choice);
    }
  }
}

void ConfusionMatrix::add(const ConfusionMatrix& other) {
  NUDGE_EXPECT(other.classes() == classes());
  counts_ += other.counts_;
  undecided_ += other.undecided_;
}

double ConfusionMatrix::accuracy() const {
  return samples() > 0 ? static_cast<double>(correct()) / static_cast<double>(samples()) : 0.0;
}

double ConfusionMatrix::macro_accuracy() const {
  double shares = 0, occurring = 0;
  for (Index c = 0; c < classes(); ++c) {
    const std::int64_t asked = counts_.row(c).sum();
    if (asked == 0) continue;
    shares += static_cast<double>(counts_(c, c)) / static_cast<double>(asked);
    occurring += 1;
  }
  return occurring > 0 ? shares / occurring : 0;
}

void ConfusionMatrix::write(const std::string& path, H5Document& document) const {
  document.dataset(path, std::vector<std::int64_t>(counts_.data(), counts_.data() + counts_.size()),
                   {classes(), classes()},
                   {"1", "samples of class t that were taken for class p", {"truth", "choice"}});
  document.attribute("undecided", undecided_, path);
}

std::optional<ConfusionMatrix> ConfusionMatrix::read(const std::string& path, const H5Reader& file) {
  if (!file.has(path)) return std::nullopt;
  const H5Shape shape = file.shape(path);
  if (shape.size() != 2 || shape[0] != shape[1]) file.fail(path, "a square matrix expected, found " + to_string(shape));
  const std::vector<std::int64_t> counts = file.integers(path);
  ConfusionMatrix out(shape[0]);
  std::copy(counts.begin(), counts.end(), out.counts_.data());
  out.undecided_ = file.integer_attribute("undecided", path);
  return out;
}

template int chosen_class(std::span<const float>);
template int chosen_class(std::span<const double>);
template void ConfusionMatrix::add<float>(ConstMatrixRef<float>, std::span<const int>);
template void ConfusionMatrix::add<double>(ConstMatrixRef<double>, std::span<const int>);

}  // namespace nudge
