// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/linear_map.hpp"

namespace nudge {

/// What a line senses of its own drive where an array of pairs is driven at both ends at once, rows at x and the columns of a pair at
/// ±g. Every device carries G (x ∓ g), so that column pair j and row i sense, over k,
///     Σ_i w_ij x_i − g_j Σ_i (G⁺ + G⁻)_ij/k,      Σ_j w_ij g_j − x_i Σ_j (G⁺ + G⁻)_ij/k.
/// A fixed conductance at every line takes its own drive off again, trimmed to the load of pairs around the middle of their window, which
/// is the same whatever they hold: (1 + ε) n (g_min + g_max)/k for n pairs, ε drawn once per line with the standard deviation
/// crossbar.load_trim. What is left, δ = Σ (G⁺ + G⁻)/k − (1 + ε) n (g_min + g_max)/k, loads the node that drives the line like a leak.
template <class S>
class LoadTrim {
 public:
  /// Nothing where the array is driven one way at a time.
  LoadTrim(const CrossbarSpec& spec, Index rows, Index cols, std::uint64_t seed, std::uint32_t id);

  /// The devices or the scale k, siemens per unit of weight, have changed.
  void renew(const LineView<S>& view, double siemens_per_weight);

  /// δ of columns and rows; null: one way at a time.
  const WeightSums<S>* residue() const { return present_ ? &residue_ : nullptr; }

 private:
  bool present_;
  double pair_S_;                 ///< g_min + g_max
  LineValues<S> columns_, rows_;  ///< 1 + ε
  WeightSums<S> residue_;
};

}  // namespace nudge
