// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

namespace nudge {

/// Where a square sparse matrix has entries, by columns, rows ascending within a column.
struct SparsePattern {
  int size = 0;
  std::vector<int> column_begin;  ///< size + 1
  std::vector<int> row;
  std::size_t entries() const { return row.size(); }
};

/// LU factors of matrices of one pattern, by KLU (Davis & Palamadai Natarajan, ACM TOMS 37 (2010) 36): ordered once, factorised with
/// pivots once, and from then on with these pivots alone; values for which they are poor get pivots of their own, so that what is solved is a
/// function of the values and not of what was solved before. Values that come again are not factorised again: the samples of a batch share
/// the factors of a linear circuit. One object per thread; copies share the ordering.
class SparseLu {
 public:
  explicit SparseLu(const SparsePattern& pattern);
  /// The same ordering and no factors.
  SparseLu(const SparseLu& other);
  SparseLu& operator=(const SparseLu&) = delete;
  ~SparseLu();

  /// Chooses the pivots by these values (entries). False: singular; then values get pivots of their own each time.
  bool choose_pivots(const std::vector<double>& values);
  /// False: singular.
  bool factor(const std::vector<double>& values);
  /// The first column that depends on the others; −1: unknown.
  int singular_column() const { return singular_; }

  /// b ← A⁻¹ b, b ← A⁻ᵀ b.
  void solve(double* b);
  void solve_transposed(double* b);

 private:
  struct Ordering;
  struct Factors;
  std::shared_ptr<const Ordering> ordering_;
  std::unique_ptr<Factors> factors_;
  int singular_ = -1;
};

}  // namespace nudge
