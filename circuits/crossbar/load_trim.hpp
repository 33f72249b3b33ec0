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
/// A conductance at every line takes its own drive off again. It is trimmed, with the error ε drawn once per line with the standard
/// deviation crossbar.load_trim, either once, to the load (1 + ε) n (g_min + g_max)/k of n pairs around the middle of their window, or
/// after every write to the line's own, (1 + ε) Σ (G⁺ + G⁻)/k, which a read of each line by itself tells. What is left, δ, loads the
/// node that drives the line like a leak. Pulses up and down that differ move G⁺ + G⁻, so that a trim made once does not last.
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
  bool present_, follows_;
  double pair_S_;                 ///< g_min + g_max
  LineValues<S> columns_, rows_;  ///< 1 + ε
  WeightSums<S> residue_;
};

}  // namespace nudge
