// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "circuits/rules/rule_spec.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Columns of an array that a rule moves to another one.
template <class S>
struct ColumnRead {
  Index first = 0;
  Matrix<S> held;  ///< (columns, inputs): row k is column first + k, modulo the width, as read

  Index count() const { return held.rows(); }
  Index column(Index k, Index width) const { return first + k < width ? first + k : first + k - width; }
  /// Adds rate (held − zero) to the same columns of sum (inputs, outputs).
  void add_to(Matrix<S>& sum, S rate, const Matrix<S>& zero) const {
    for (Index k = 0; k < count(); ++k) {
      const Index at = column(k, sum.cols());
      sum.col(at) += rate * (held.row(k).transpose() - zero.col(at));
    }
  }
};

/// Transfer of columns: after every so many updates the next columns of an array are read in turn. Each is a transposed read
/// with one column driven, with noise and converters as in any read. Counts the cost of these reads.
template <class S>
class ColumnTransfer {
 public:
  /// Makes a transfer; name: name of its arrays in checkpoints and readings, "" for the only transfer of a rule.
  ColumnTransfer(const CrossbarSpec& spec, std::uint64_t every, std::string name = "");

  void begin() { counters_(0, 0) = 0; }
  /// Counts an update and returns the columns of `from` that are due with it.
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
  ReadTotals spent_;        ///< cost of its reads since construction
  Matrix<S> spent_digits_;  ///< image of `spent_` for checkpoints: (numbers, 3), summands of falling size
};

/// Asks an array for `gain` times the change that training asks for, each column times its sign: chopper (1, outputs) of ±1, or null.
template <class S>
void send_chopped(const WeightUpdate<S>& update, S gain, const Matrix<S>* chopper, Crossbar<S>& array);

/// Rule with one transfer of columns, from the fast array to the slow one.
template <class S>
class TransferRule : public UpdateRule<S> {
 public:
  explicit TransferRule(const CrossbarSpec& spec)
      : spec_(spec.rule), transfer_(spec, static_cast<std::uint64_t>(spec.rule.every)) {}

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all;
    transfer_.append_state(all);
    return all;
  }
  void restored(const RuleArrays<S>& arrays) override { transfer_.restored(arrays.all.front()->outputs()); }
  std::vector<MapReading> readings() const override {
    std::vector<MapReading> all;
    transfer_.append_readings(all);
    return all;
  }

 protected:
  /// Sends the change to the fast array at a constant rate, each column times its sign in `chopper` (or null). Returns the columns of
  /// the fast array that are due with it.
  std::optional<ColumnRead<S>> take(const WeightUpdate<S>& update, const Matrix<S>* chopper, RuleArrays<S>& arrays) {
    send_chopped<S>(update, static_cast<S>(spec_.fast_gain) / update.schedule, chopper, arrays.fast());
    return transfer_.after_update(arrays.fast(), arrays.seed);
  }
  /// Learning rate of the transfer, λ s.
  S rate(const WeightUpdate<S>& update) const { return static_cast<S>(spec_.rate) * update.schedule; }

  RuleSpec spec_;
  ColumnTransfer<S> transfer_;
};

/// Buffer with a number per weight that gathers changes until they are worth pulses: H += δ. Where |H| ≥ θ q, n = trunc(H/q) pulses are
/// due and H −= (1 − m) n q; q is the change of a weight by one pulse. With m = 0 no request is lost: requests that add up to Σ have sent
/// trunc-wise all of it but a rest below θ q. Mixed precision: Nandakumar et al., Front. Neurosci. 14:406 (2020),
/// doi:10.3389/fnins.2020.00406 (θ = 1); the buffer of TTv2: Gokmen, Front. Artif. Intell. 4:699148 (2021), doi:10.3389/frai.2021.699148.
template <class S>
class PulseBuffer {
 public:
  PulseBuffer(double threshold, double momentum)
      : threshold_(static_cast<S>(threshold)), kept_(static_cast<S>(momentum)) {}

  void begin(Index rows, Index cols) { sum_.setZero(rows, cols); }

  /// Takes the pulses that are due in the columns first, first + 1, … (count of them, modulo the width), signed; all other
  /// columns get 0. False: none are due.
  bool take(S pulse, Index first, Index count, Matrix<S>& counts);

  Matrix<S>& sum() { return sum_; }

 private:
  S threshold_, kept_;
  Matrix<S> sum_;
};

/// Weights at which alternating up and down pulses leave the devices of an array. Bursts of falling length (256, 128, …, 1
/// pulses, `cycles` each) are sent. The result is the mean of the noise-free weights over 128 more cycles of single pulses.
/// This stands for the reference array that holds them (idea: Kim et al., arXiv:1907.10228). The array stays there, and the
/// pulses count as programming. cycles = 0: nothing is sent, and 0 returned.
template <class S>
Matrix<S> find_symmetry_point(Crossbar<S>& array, int cycles);

/// True if alternating pulses leave a nominal device (no spreads, no noise) at a point of its window. For this the ratio of
/// its up to its down step must change along the window.
bool has_symmetry_point(const DeviceSpec& spec);

}  // namespace nudge
