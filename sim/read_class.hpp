// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nudge {

/// What a read of an array is for. Each class has a policy of its own (circuits/read_policy.hpp).
enum class ReadClass : std::uint8_t {
  free,         ///< the free phase relaxes
  nudged,       ///< the nudged phases relax, and the linear iterations that stand for them
  stored,       ///< what is kept of the point z*: projections, gates, attention, products
  anchor,       ///< F(z*), which an anchored nudged phase subtracts
  correlation,  ///< the local correlation ⟨a, ∂F/∂θ⟩ and the read-out's own gradient
  loss,         ///< the cost that is reported, of training and of evaluation
  monitor,      ///< the residual ‖F‖/‖z‖ and what controllers conclude from it
};
inline constexpr std::size_t read_classes = 7;

/// Time of the reads of a relaxation, in units of τ (sim/read_timing.hpp says which for which solver).
struct ReadTiming {
  double interval = 1;  ///< Δ over which white noise counts: a read has the standard deviation σ/√Δ
  double duration = 1;  ///< for which the circuit is driven: what energy and time are counted by; 0: not a time
};

/// What the evaluations that follow are for, and by which clock.
struct Reading {
  ReadClass kind = ReadClass::free;
  ReadTiming relaxation = {};  ///< of free and nudged reads
  bool exact = false;  ///< derivatives are those of the noise-free circuit at its operating point, computed, not read
};

}  // namespace nudge
