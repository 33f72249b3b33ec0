// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/pulse_buffer.hpp"
#include "circuits/rules/rule_kinds.hpp"

namespace nudge {

/// Arrays A_K−1, …, A_1, A_0 = C behind one another, with a buffer of numbers between neighbours: the last takes every update,
/// A_K−1 += f δ/s; every T_k updates columns of A_k are read, H_k += λ s (A_k − zero_k), and array k − 1 gets the pulses that
/// are due (PulseBuffer), T_k = every · timescale^(K−1−k). What is read of A_k besides (RuleArrays::share) tells the rules apart:
/// ttv2 (K = 2, nothing), residual (K = 2, γ), multi_tile (γ^k).
template <class S>
class Cascade final : public UpdateRule<S> {
 public:
  explicit Cascade(const CrossbarSpec& spec);

  void begin(RuleArrays<S>& arrays) override;
  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override;
  std::vector<StateArray<S>> state() override;
  void restored(const RuleArrays<S>& arrays) override;
  std::vector<MapReading> readings() const override;

 private:
  RuleSpec spec_;
  std::vector<ColumnTransfer<S>> transfers_;  ///< [k − 1]: of array k to array k − 1
  std::vector<PulseBuffer<S>> buffers_;
  std::vector<std::string> names_;
  Matrix<S> counts_;
};

}  // namespace nudge
