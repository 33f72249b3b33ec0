// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "circuits/drive_products.hpp"
#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "sim/read_timing.hpp"

namespace nudge {

/// Rule by which the reads of one class are made.
struct ReadRule {
  int reads = 1;  ///< 1: one read with its noise; n > 1: the mean of n of them; 0: ideal, without fresh noise
  bool ideal() const { return reads == 0; }
  bool operator==(const ReadRule&) const = default;
};

/// Read policy: one rule per class of reads, and the length of a read that belongs to no relaxation. The default is physical:
/// every read has its noise once. An ideal read is a statement about the model, not about the circuit. It counts in time and
/// energy like a noisy one. Only ideal loss and monitor reads belong to the experimenter and cost nothing.
struct ReadPolicy {
  std::array<ReadRule, read_classes> rules = {};
  bool chopped = false;  ///< correlation reads are half the difference of a read and one of the opposite drive
  double time = 1;       ///< time of one stored, anchor, correlation, loss or monitor read, in units of τ

  const ReadRule& of(ReadClass kind) const { return rules[static_cast<std::size_t>(kind)]; }
  ReadRule& of(ReadClass kind) { return rules[static_cast<std::size_t>(kind)]; }
  /// Policy without fresh noise in any class: for references and exact numbers.
  static ReadPolicy all_ideal();
};

/// Names of the classes in their order, "free", "nudged", ...; the keys of the section [reads].
const std::array<const char*, read_classes>& read_class_names();

/// Reads a rule, "noisy", "ideal" or "mean N" (2 ≤ N ≤ 4096). Returns the error text, naming the rule, or an empty text.
std::string parse_read_rule(const std::string& text, ReadRule& rule);

/// Rows of the section [reads]; read_policy_row(): the row of one class.
ParamTable read_policy_rows();
ParamRow read_policy_row(ReadClass kind);

/// Read policy of a configuration whose rules hold.
ReadPolicy read_policy(const Config& config);

/// Noise with memory at the sensed lines of one array in one direction. It consists of processes of variance 1, each with a
/// state per row of the drive and line. A state is NaN until its line is first read.
template <class S>
class LineMemory {
 public:
  /// States of process k, at least (rows, lines).
  Matrix<S>& process(std::size_t k, Index rows, Index lines) {
    if (processes_.size() <= k) processes_.resize(k + 1);
    Matrix<S>& states = processes_[k];
    if (states.rows() >= rows && states.cols() >= lines) return states;
    Matrix<S> larger = Matrix<S>::Constant(std::max(rows, states.rows()), std::max(lines, states.cols()), unread());
    larger.topLeftCorner(states.rows(), states.cols()) = states;
    return states = std::move(larger);
  }
  /// Products of the drive that the array was last read with in this direction.
  DriveProducts<S>& drive() { return drive_; }
  void clear() {
    for (Matrix<S>& states : processes_) states.setConstant(unread());
    drive_.clear();
  }

 private:
  static S unread() { return std::numeric_limits<S>::quiet_NaN(); }
  std::vector<Matrix<S>> processes_;
  DriveProducts<S> drive_;
};

/// Memory that the reads of one sequence share beyond their devices: owned by the reader (one per thread), cleared at every sequence. A pure
/// function of the reads in their order, so that no bit depends on threads. Memory grows at the first reads of an array and is then kept.
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
