// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Noise with memory at the sensed lines of one array in one direction: processes of variance 1, each with a state per row of
/// the drive and line. A state is NaN until its line is first read.
template <class S>
class LineMemory {
 public:
  /// The states of process k, at least (rows, lines).
  Matrix<S>& process(std::size_t k, Index rows, Index lines) {
    if (processes_.size() <= k) processes_.resize(k + 1);
    Matrix<S>& states = processes_[k];
    if (states.rows() >= rows && states.cols() >= lines) return states;
    Matrix<S> larger = Matrix<S>::Constant(std::max(rows, states.rows()), std::max(lines, states.cols()), unread());
    larger.topLeftCorner(states.rows(), states.cols()) = states;
    return states = std::move(larger);
  }
  void clear() {
    for (Matrix<S>& states : processes_) states.setConstant(unread());
  }

 private:
  static S unread() { return std::numeric_limits<S>::quiet_NaN(); }
  std::vector<Matrix<S>> processes_;
};

/// What the reads of one sequence have in common beyond their devices: owned by what reads (one per thread), cleared at every
/// sequence. A pure function of the reads in their order, so that no bit depends on threads. Memory grows at the first reads
/// of an array and is then kept.
class ReadMemory {
 public:
  template <class S>
  LineMemory<S>& at(std::uint32_t array, bool forward) {
    return std::get<Arrays<S>>(arrays_)[{array, forward}];
  }
  void clear() {
    for (auto& [place, lines] : std::get<0>(arrays_)) lines.clear();
    for (auto& [place, lines] : std::get<1>(arrays_)) lines.clear();
  }

 private:
  template <class S>
  using Arrays = std::map<std::pair<std::uint32_t, bool>, LineMemory<S>>;
  std::tuple<Arrays<float>, Arrays<double>> arrays_;
};

}  // namespace nudge
