// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <vector>

#include "circuits/netlist/sparse_lu.hpp"

namespace nudge {

/// Matrices that are factorised side by side: a vector of AVX2. Twice as many were a sixth slower at 100 nodes, whose factors then leave the
/// first cache, and as fast at 1,000.
inline constexpr int kLanes = 4;
using Lanes = Eigen::Array<double, kLanes, 1>;

/// LU factors of kLanes matrices of one pattern side by side, with pivots that were chosen before (SparseLu::pivots): left-looking, column by
/// column, on the pattern of L and U (Gilbert & Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862), blocks of KLU's triangular form by
/// themselves. What a lane finds does not depend on the others. One object per thread.
class LaneLu {
 public:
  explicit LaneLu(SparseLu::Pivots pivots);

  /// Entries of the pattern of one lane's matrix.
  void set(int lane, const std::vector<double>& values);
  /// Factorises all lanes; bit k: the pivots are good for the matrix of lane k, by the measures of SparseLu.
  unsigned factor();

  /// Right-hand side of one lane, after factor(); solves all lanes, b ← A⁻¹ b; the solution of one.
  void set_right(int lane, const std::vector<double>& b);
  void solve();
  double solution(int lane, std::size_t unknown) const { return solved_[unknown][lane]; }

  /// Numbers that a lane's factors have.
  std::size_t entries() const { return lower_.size() + upper_.size() + beside_.size(); }

 private:
  SparseLu::Pivots p_;
  std::vector<Lanes> values_, scale_, lower_, upper_, diagonal_, beside_, x_, right_, solved_;
};

}  // namespace nudge
