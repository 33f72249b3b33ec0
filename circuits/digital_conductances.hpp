// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/digital_matrix.hpp"

namespace nudge {

/// Conductances held as floating-point numbers: a DigitalMatrix whose updates stop at 0, W ← max(W + delta, 0), and which keeps
/// the sums that load the nodes at both ends. program() and restored states are taken as they are.
template <class S>
class DigitalConductances final : public DigitalMatrix<S> {
 public:
  explicit DigitalConductances(Matrix<S> weights);

  void apply(const WeightUpdate<S>& update) override;
  void program(const Matrix<S>& target) override;
  void state_restored() override;

  MapTraits<S> traits() const override { return {.plain = true, .sums = &sums_}; }

 private:
  WeightSums<S> sums_;
};

}  // namespace nudge
