// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/data/batches.hpp"
#include "training/learning/cost.hpp"

namespace nudge {

/// Cost of single rows, from the outputs that a network's cost compared with the targets.
struct RowCost {
  bool cross_entropy = false;       ///< of logits, in nats
  const NodeCost* other = nullptr;  ///< in place of half the squared error; null: none

  /// Returns C of an output (1, width) for a row of a batch that counts.
  double of(ConstMatrixRef<double> output, const Batch& batch, Index row) const;
};

/// Losses of each sample in an evaluation, in the order of the part. A sample gets an answer of its own: a sequence, or
/// one row of independent samples, however many settle side by side. `loss`: its cost, summed over its rows that count;
/// `rows`: their number.
struct SampleLosses {
  std::vector<double> loss, rows;

  void add(double summed_loss, Index counted);
  /// Adds every row of an example that counts as a sample of its own; outputs (T, width).
  template <class S>
  void add_rows(const RowCost& cost, const Batch& batch, Index example, const Matrix<S>& outputs);
  std::size_t count() const { return loss.size(); }
  double mean() const;  ///< Σ loss/Σ rows; NaN without a row
  /// The losses with every `each` samples in a row as one, which has their rows (Task::samples_that_overlap).
  SampleLosses joined(Index each) const;

  /// Writes PREFIX/loss and rows; nothing where there are none.
  void write(const std::string& prefix, const std::string& unit, H5Document& document) const;
  static SampleLosses read(const std::string& prefix, const H5Reader& file);
};

/// Answer (1, width) with the least cost on the training rows when it is given to every row:
///     cross-entropy      the logarithms of (n_c + 1)/(n + width), n_c rows of class c (add-one smoothed, as text_entropy);
///     squared error      the mean of the targets (1 for the class and 0 for the others);
///     another cost       searched: bisection of ∂C/∂y between the least and the largest target, in every column at once,
///                        which is exact where the columns do not couple (median of |y − t|), then L-BFGS (minimise()).
/// For another cost the answer is never worse than the mean, on the first 4096 rows.
Matrix<double> best_constant(const std::vector<Batch>& training, const RowCost& cost, Index width);

/// Losses of one answer (1, width) to every sample of a part. coupled: a sample is a sequence.
SampleLosses constant_losses(const std::vector<Batch>& part, const RowCost& cost, const Matrix<double>& answer,
                             bool coupled);

/// Difference of the losses of two networks on the same held-out samples, with a two-sided interval over the samples.
/// With d_i = (loss of the other − loss of the one) of sample i with r_i rows,
///     won = Σ d_i / Σ r_i  ±  t(1 − 0.025/k, n − 1) √(n/(n − 1) Σ (d_i − won r_i)²) / Σ r_i,
/// the ratio estimator (Cochran, Sampling Techniques, 3rd ed., eq. 6.13); for samples of one size it is the paired t
/// interval (Student, Biometrika 6 (1908) 1). All intervals of k comparisons hold together with 95 % (Bonferroni: Dunn,
/// J. Am. Stat. Assoc. 56 (1961) 52). It says nothing about other seeds or other data. For one sample, or where the one
/// has a loss that is not finite, low and high are −∞ and +∞. Where only the other ran away, all three are +∞.
struct LossGain {
  double won = 0, low = 0, high = 0;
  int samples = 0;
  /// True if the gain is more than chance among the samples explains.
  bool significant() const { return low > 0; }
};

/// Computes the gain of `one` over `other`, both on the same samples, as one of `comparisons`; NaN without a common
/// sample.
LossGain loss_gain(const SampleLosses& one, const SampleLosses& other, int comparisons = 1);

}  // namespace nudge
