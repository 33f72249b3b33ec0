// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <memory>
#include <vector>

namespace nudge {

/// Places of the entries of a square sparse matrix, by columns, rows ascending within a column.
struct SparsePattern {
  int size = 0;
  std::vector<int> column_begin;  ///< size + 1
  std::vector<int> row;
  std::size_t entries() const { return row.size(); }
};

/// LU factors of matrices of one pattern, by KLU (Davis & Palamadai Natarajan, ACM TOMS 37 (2010) 36). The pattern is ordered
/// once; the first values choose the pivots, and later ones keep them. Values for which they are poor get pivots of their
/// own, so that a solution is a function of the values and not of earlier solutions. Values that come again are not factorised
/// again: the samples of a batch share the factors of a linear circuit. One object per thread; copies share the ordering.
class SparseLu {
 public:
  /// Least pivot, in units of the largest entry of its row. Entries that cancel leave a rounding of some 1e-16 of it. Below
  /// this limit a solution does not have three digits. ngspice's pivtol is as large, in siemens.
  static constexpr double kLeastPivot = 1e-13;
  /// Least reciprocal pivot growth, max |A| over max |U| of a column, that fixed pivots may have: rounding is then below 1e-10 of the values.
  static constexpr double kLeastGrowth = 1e-6;

  explicit SparseLu(const SparsePattern& pattern);
  /// Makes a solver with the ordering of another one and no factors.
  SparseLu(const SparseLu& other);
  SparseLu& operator=(const SparseLu&) = delete;
  ~SparseLu();

  /// Chooses the pivots by these values (entries). False: singular; then values get pivots of their own each time.
  bool choose_pivots(const std::vector<double>& values);
  /// Chosen pivots and the pattern of the factors, by columns in the order of elimination: rows are places of that order.
  /// Entries of the matrix between its diagonal blocks stand beside the factors. None (size 0) if no pivots were found.
  struct Pivots {
    int size = 0;
    std::vector<int> row, column;                    ///< row and column of the matrix, by place
    std::vector<int> block_begin;                    ///< first place of each place's block
    std::vector<int> lower_begin, lower_row;         ///< below the diagonal of L
    std::vector<int> upper_begin, upper_row;         ///< above the diagonal of U, ascending
    std::vector<int> beside_begin, beside_row;       ///< entries between blocks
    std::vector<int> entry_begin, entry, entry_row;  ///< entries of the pattern in each column, and their rows
  };
  Pivots pivots() const;

  /// Factorises the matrix of these values. False: singular. `refined`: pivots above the rounding of their own sums will do, for
  /// a solution that is refined by its residual; coarse() then tells that some are below kLeastPivot.
  bool factor(const std::vector<double>& values, bool refined = false);
  bool coarse() const;
  /// First column that depends on the others; −1: unknown.
  int singular_column() const { return singular_; }

  /// Solves b ← A⁻¹ b; solve_transposed(): b ← A⁻ᵀ b.
  void solve(double* b);
  void solve_transposed(double* b);

 private:
  struct Ordering;
  struct Factors;
  std::shared_ptr<const Ordering> ordering_;
  std::unique_ptr<Factors> factors_;
  int singular_ = -1;
};

/// Number of matrices that are factorised side by side: a vector of AVX2. Twice as many were a sixth slower at 100 nodes,
/// whose factors then leave the first cache, and as fast at 1,000.
inline constexpr int kLanes = 4;
using Lanes = Eigen::Array<double, kLanes, 1>;

/// LU factors of kLanes matrices of one pattern side by side, with pivots that were chosen before (SparseLu::pivots).
/// Left-looking, column by column, on the pattern of L and U (Gilbert & Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862),
/// blocks of KLU's triangular form by themselves. The result of a lane does not depend on the others. One object per thread.
class LaneLu {
 public:
  explicit LaneLu(SparseLu::Pivots pivots);

  /// Sets one lane's matrix by its entries of the pattern.
  void set(int lane, const std::vector<double>& values);
  /// Factorises all lanes; bit k: the pivots are good for the matrix of lane k, by the measures of SparseLu.
  unsigned factor();

  /// Sets the right-hand side of one lane, after factor(). solve() then solves all lanes, b ← A⁻¹ b; solution() reads one.
  void set_right(int lane, const std::vector<double>& b);
  void solve();
  double solution(int lane, std::size_t unknown) const { return solved_[unknown][lane]; }

  /// Count of the numbers in a lane's factors.
  std::size_t entries() const { return lower_.size() + upper_.size() + beside_.size(); }

 private:
  SparseLu::Pivots p_;
  std::vector<Lanes> values_, scale_, lower_, upper_, diagonal_, beside_, x_, right_, solved_;
};

}  // namespace nudge
