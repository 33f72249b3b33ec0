// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/config/section.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// The section [correlator]: the analog multiplier of every weight.
struct CorrelatorSpec {
  double gain_spread = {};  ///< standard deviation of γ
  double offset = {};       ///< of o
  double noise = {};        ///< of ν
  bool on() const { return gain_spread > 0 || offset > 0 || noise > 0; }
};
const Section<CorrelatorSpec>& correlator_section();
/// Its keys, for networks whose learning is products of states: read where there are devices.
ParamTable correlator_keys();

/// Correlations by circuits. The multiplier at weight (i, j) takes what drives the weight, x_i, and the difference δ_j = z_j⁺ − z_j⁻
/// of the states that two holds keep, and puts
///     (1 + γ_ij) x_i δ_j + o_ij + ν
/// into a capacitor: γ, o normal and static, ν fresh in every product. A learning rule wants the mean of x δ/w over the samples of a
/// batch, w the distance of the two states in β, so of P products a sample (the positions of a kernel; else 1), R samples (rows: tokens
/// too) that are multiplied and B of them that count in the cost, by whose number sums are divided,
///     G ← (1 + γ) ⊙ G + (R/B) P o/w + ν √(P R)/(w B):
/// what a small nudge saves in bias it pays here. x δ = 1 is the product of two states of 1. The capacitors are ideal.
template <class S>
class Correlators {
 public:
  /// `products`: P of every parameter; 0: it learns in another way.
  Correlators(const CorrelatorSpec& spec, const std::vector<ParameterShape>& shapes, std::vector<double> products,
              std::uint64_t seed);

  /// Rows of one batch.
  struct Rows {
    Index multiplied;  ///< R
    Index counted;     ///< B
  };

  /// G of a step, of w = `distance`: a function of (seed, parameter, step), whatever the threads.
  void pass(Gradient<S>& gradient, Rows rows, double distance, std::uint64_t step) const;

 private:
  CorrelatorSpec spec_;
  std::vector<double> products_;
  std::uint64_t seed_;
  std::vector<Matrix<S>> gain_, offset_;  ///< 1 + γ, o; empty where they are all alike
};

}  // namespace nudge
