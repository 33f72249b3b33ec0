// SPDX-License-Identifier: Apache-2.0
#include "training/data/sample_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nudge {
namespace {

void note_classes(const SampleParts& parts, std::vector<std::string>& notes) {
  std::vector<Index> counts(static_cast<std::size_t>(parts.classes), 0);
  for (const int label : parts.training.labels) ++counts[static_cast<std::size_t>(label)];
  constexpr std::size_t kNamed = 5;
  std::string names;
  std::size_t empty = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) continue;
    if (++empty <= kNamed) names += fmt::format("{}{}", names.empty() ? "" : ", ", k);
  }
  if (empty > 0) {
    notes.push_back(fmt::format("{} of {} classes have no training sample ({}{}): nothing can learn them", empty,
                                counts.size(), names, empty > kNamed ? ", ..." : ""));
  }
  if (empty + 1 == counts.size()) {
    notes.emplace_back("all training samples are of one class: there is nothing to tell apart");
  }
}

void note_features(const SampleParts& parts, std::vector<std::string>& notes) {
  const Matrix<float>& x = parts.training.features;
  if (x.rows() < 2) return;
  // Row by row, as they lie in memory.
  Eigen::Array<bool, 1, Eigen::Dynamic> varies = Eigen::Array<bool, 1, Eigen::Dynamic>::Constant(x.cols(), false);
  for (Index i = 1; i < x.rows(); ++i) varies = varies || x.row(i).array() != x.row(0).array();
  const Index constant = x.cols() - varies.count();
  if (constant == 0) return;
  notes.push_back(fmt::format("{} of {} features have one value in all training samples: they tell nothing{}", constant,
                              x.cols(), constant == x.cols() ? ", so that there is nothing to learn from" : ""));
}

}  // namespace

std::vector<std::string> sample_notes(const SampleParts& parts) {
  std::vector<std::string> notes;
  if (!parts.training.labels.empty()) note_classes(parts, notes);
  note_features(parts, notes);
  return notes;
}

}  // namespace nudge
