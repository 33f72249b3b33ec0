// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/config/section.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// Options of the section [correlator]: the analog multiplier of every weight.
struct CorrelatorSpec {
  double gain_spread = {};  ///< standard deviation of γ
  double offset = {};       ///< standard deviation of o
  double noise = {};        ///< standard deviation of ν
  bool on() const { return gain_spread > 0 || offset > 0 || noise > 0; }
};
const Section<CorrelatorSpec>& correlator_section();
/// Table of the keys of [correlator], for networks whose learning is products of states: read where there are devices.
ParamTable correlator_keys();

/// Correlations by circuits. The multiplier at weight (i, j) takes x_i, which drives the weight, and the difference δ_j
/// = z_j⁺ − z_j⁻ of the states that two holds keep. It puts
///     (1 + γ_ij) x_i δ_j + o_ij + ν
/// into a capacitor: γ, o normal and static, ν fresh in every product. A learning rule wants the mean of x δ/w over the
/// samples of a batch, with w the distance of the two states in β. A sample has P products (the positions of a kernel;
/// else 1). R samples are multiplied (rows: tokens too); B of them count in the cost and divide the sums. The gradient
/// becomes
///     G ← (1 + γ) ⊙ G + (R/B) P o/w + ν √(P R)/(w B).
/// So a small nudge has less bias and more of these errors. x δ = 1 is the product of two states of 1. The capacitors
/// are ideal.
template <class S>
class Correlators {
 public:
  /// Draws γ and o of every parameter. `products`: P of each; 0: it learns in another way.
  Correlators(const CorrelatorSpec& spec, const std::vector<ParameterShape>& shapes, std::vector<double> products,
              std::uint64_t seed);

  /// Numbers of rows in one batch.
  struct Rows {
    Index multiplied;  ///< rows that are multiplied, R
    Index counted;     ///< rows that count in the cost, B
  };

  /// Applies the multipliers' errors to the gradient G of a step, with w = `distance`: a function of (seed, parameter,
  /// step), whatever the threads.
  void pass(Gradient<S>& gradient, Rows rows, double distance, std::uint64_t step) const;

 private:
  CorrelatorSpec spec_;
  std::vector<double> products_;
  std::uint64_t seed_;
  std::vector<Matrix<S>> gain_, offset_;  ///< 1 + γ and o of each weight; empty where they are all alike
};

}  // namespace nudge
