// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "netlist/sparse_lu.hpp"

namespace nudge {

/// Solver of (K + iM) x = b with sparse real K and M of one pattern, as the real equations of both parts. One object per thread.
class ComplexLu {
 public:
  explicit ComplexLu(const SparsePattern& pattern);

  /// Replaces b by x; real and imaginary parts by rows. False, with b as it was: the matrix is singular.
  bool solve(const std::vector<double>& real, const std::vector<double>& imaginary, std::vector<double>& b_real,
             std::vector<double>& b_imaginary);

 private:
  SparsePattern both_;
  std::array<std::vector<std::size_t>, 2> real_,
      imaginary_;  ///< places in `both_` of the entries: of K twice, of M and −M
  SparseLu lu_;
  std::vector<double> values_, right_;
};

}  // namespace nudge
