// SPDX-License-Identifier: Apache-2.0
#include "netlist/complex_lu.hpp"

#include <algorithm>

namespace nudge {
namespace {

/// Pattern of ((K, −M), (M, K)): every column of a pattern once above and once below, twice.
SparsePattern doubled(const SparsePattern& of) {
  SparsePattern both;
  both.size = 2 * of.size;
  both.column_begin = {0};
  for (int half = 0; half < 2; ++half) {
    for (int j = 0; j < of.size; ++j) {
      for (int below = 0; below < 2; ++below) {
        for (int k = of.column_begin[static_cast<std::size_t>(j)]; k < of.column_begin[static_cast<std::size_t>(j) + 1];
             ++k)
          both.row.push_back(of.row[static_cast<std::size_t>(k)] + below * of.size);
      }
      both.column_begin.push_back(static_cast<int>(both.row.size()));
    }
  }
  return both;
}

}  // namespace

ComplexLu::ComplexLu(const SparsePattern& pattern) : both_(doubled(pattern)), lu_(both_) {
  const std::size_t entries = pattern.entries();
  for (std::size_t j = 0; j < static_cast<std::size_t>(pattern.size); ++j) {
    const auto begin = static_cast<std::size_t>(pattern.column_begin[j]),
               end = static_cast<std::size_t>(pattern.column_begin[j + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      // Column j of the left half begins at 2 begin, of the right one behind all of the left.
      const std::size_t left = 2 * begin + (e - begin), right = 2 * entries + left, below = end - begin;
      real_[0].push_back(left);
      imaginary_[0].push_back(left + below);
      imaginary_[1].push_back(right);
      real_[1].push_back(right + below);
    }
  }
  values_.resize(both_.entries());
  right_.resize(2 * static_cast<std::size_t>(pattern.size));
}

bool ComplexLu::solve(const std::vector<double>& real, const std::vector<double>& imaginary,
                      std::vector<double>& b_real, std::vector<double>& b_imaginary) {
  for (std::size_t e = 0; e < real.size(); ++e) {
    values_[real_[0][e]] = values_[real_[1][e]] = real[e];
    values_[imaginary_[0][e]] = imaginary[e];
    values_[imaginary_[1][e]] = -imaginary[e];
  }
  if (!lu_.factor(values_)) return false;
  const auto half = static_cast<std::ptrdiff_t>(b_real.size());
  std::copy(b_real.begin(), b_real.end(), right_.begin());
  std::copy(b_imaginary.begin(), b_imaginary.end(), right_.begin() + half);
  lu_.solve(right_.data());
  std::copy(right_.begin(), right_.begin() + half, b_real.begin());
  std::copy(right_.begin() + half, right_.end(), b_imaginary.begin());
  return true;
}

}  // namespace nudge
