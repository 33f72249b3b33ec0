// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/base/matrix.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// The class that logits (k of them) choose: the largest one's, the first of equals; −1 where one is not a number.
template <class S>
int chosen_class(std::span<const S> logits);

/// How often a classifier took class t (row) for class p (column).
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(Index classes = 0) : counts_(Matrix<std::int64_t>::Zero(classes, classes)) {}

  Index classes() const { return counts_.rows(); }

  /// Adds n samples: logits (n, k), labels (n) in [0, k). Rows with a NaN choose nothing and count as wrong.
  template <class S>
  void add(ConstMatrixRef<S> logits, std::span<const int> labels);
  /// Adds what another part of the same samples counted.
  void add(const ConfusionMatrix& other);

  const Matrix<std::int64_t>& counts() const { return counts_; }
  std::int64_t undecided() const { return undecided_; }
  std::int64_t samples() const { return counts_.sum() + undecided_; }
  std::int64_t correct() const { return counts_.trace(); }
  /// Share of samples whose class was found; 0 without samples.
  double accuracy() const;
  /// Mean over the classes that occur of the share of their samples that was found; 0 without samples.
  double macro_accuracy() const;

  /// Writes PATH, (truth, choice), with the attribute undecided.
  void write(const std::string& path, H5Document& document) const;
  /// The same from a file; nothing when it has none.
  static std::optional<ConfusionMatrix> read(const std::string& path, const H5Reader& file);

 private:
  Matrix<std::int64_t> counts_;
  std::int64_t undecided_ = 0;
};

}  // namespace nudge
