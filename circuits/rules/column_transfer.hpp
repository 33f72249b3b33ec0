// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"

namespace nudge {

/// Columns of an array that a rule moves to another one.
template <class S>
struct ColumnRead {
  Index first = 0;
  Matrix<S> held;  ///< (columns, inputs): row k is column first + k, modulo the width, as it was read

  Index count() const { return held.rows(); }
  Index column(Index k, Index width) const { return first + k < width ? first + k : first + k - width; }
  /// The same columns of sum (inputs, outputs) += rate (held − zero).
  void add_to(Matrix<S>& sum, S rate, const Matrix<S>& zero) const {
    for (Index k = 0; k < count(); ++k) {
      const Index at = column(k, sum.cols());
      sum.col(at) += rate * (held.row(k).transpose() - zero.col(at));
    }
  }
};

/// Every so many updates the next columns of an array are read in turn: a transposed read with one column driven each, with
/// noise and converters as in any read. Counts what these reads took.
template <class S>
class ColumnTransfer {
 public:
  /// name: of its arrays in checkpoints and readings, "" for the only transfer of a rule.
  ColumnTransfer(const CrossbarSpec& spec, std::uint64_t every, std::string name = "");

  void begin() { counters_(0, 0) = 0; }
  /// An update is done; the columns of `from` that are due with it.
  std::optional<ColumnRead<S>> after_update(const Crossbar<S>& from, std::uint64_t seed);

  void append_state(std::vector<StateArray<S>>& all);
  void restored(Index outputs);
  void append_readings(std::vector<MapReading>& all) const;

 private:
  std::uint64_t every_;
  Index columns_;
  std::string name_;
  CircuitSpec circuit_;
  Matrix<S> counters_;      ///< (1, 3): updates since the last transfer, next column, transfers done modulo 2^20
  ReadTotals spent_;        ///< since construction
  Matrix<S> spent_digits_;  ///< its image for checkpoints: (numbers, 3), summands of falling size
};

/// Asks an array for gain · what training asks for, each column times its sign: chopper (1, outputs) of ±1, or null.
template <class S>
void send_chopped(const WeightUpdate<S>& update, S gain, const Matrix<S>* chopper, Crossbar<S>& array);

}  // namespace nudge
