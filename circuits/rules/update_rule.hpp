// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"

namespace nudge {

/// The arrays that hold one matrix for a rule to write, W = C + Σ share_k (A_k − zero_k): the first, C, is what learning
/// ends up in; the last takes what training asks for. One array is both.
template <class S>
struct RuleArrays {
  std::vector<std::unique_ptr<Crossbar<S>>> all;
  std::vector<S> share;         ///< of what is read; 1 for the first
  std::vector<Matrix<S>> zero;  ///< what an array holds at rest, as the digital side knows it; empty: 0
  std::uint64_t seed = 0;

  Crossbar<S>& slow() { return *all.front(); }
  Crossbar<S>& fast() { return *all.back(); }
  bool alone() const { return all.size() == 1; }
};

/// How the changes that training asks for reach the arrays of a matrix. One object per matrix, which keeps what is gathered on
/// the way; every change of a device goes through the arrays, which count pulses, reads and wear.
template <class S>
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// The arrays have just been programmed: C to the weights, the others to 0.
  virtual void begin(RuleArrays<S>& arrays) = 0;

  /// A step of training.
  virtual void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) = 0;

  /// What is gathered, for checkpoints; after writing into it call restored().
  virtual std::vector<StateArray<S>> state() = 0;
  virtual void restored(const RuleArrays<S>& /*arrays*/) {}

  /// What the rule itself has taken.
  virtual std::vector<MapReading> readings() const { return {}; }
};

}  // namespace nudge
