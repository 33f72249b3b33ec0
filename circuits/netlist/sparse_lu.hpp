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
  /// Least pivot, in units of the largest entry of its row: entries that cancel leave a rounding of some 1e-16 of it, and below this a
  /// solution has not three digits. ngspice's pivtol is as large, in siemens.
  static constexpr double kLeastPivot = 1e-13;
  /// Least reciprocal pivot growth, max |A| over max |U| of a column, that fixed pivots may have: rounding is then below 1e-10 of the values.
  static constexpr double kLeastGrowth = 1e-6;

  explicit SparseLu(const SparsePattern& pattern);
  /// The same ordering and no factors.
  SparseLu(const SparseLu& other);
  SparseLu& operator=(const SparseLu&) = delete;
  ~SparseLu();

  /// Chooses the pivots by these values (entries). False: singular; then values get pivots of their own each time.
  bool choose_pivots(const std::vector<double>& values);
  /// The pivots that were chosen and where the factors have entries, by columns in the order of elimination: rows are places of that order.
  /// Entries of the matrix between its diagonal blocks stand beside the factors. None (size 0) where none were found.
  struct Pivots {
    int size = 0;
    std::vector<int> row, column;                    ///< of the matrix, by place
    std::vector<int> block_begin;                    ///< first place of the block of each
    std::vector<int> lower_begin, lower_row;         ///< below the diagonal of L
    std::vector<int> upper_begin, upper_row;         ///< above the diagonal of U, ascending
    std::vector<int> beside_begin, beside_row;       ///< of entries between blocks
    std::vector<int> entry_begin, entry, entry_row;  ///< entries of the pattern in each column, and their rows
  };
  Pivots pivots() const;

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
