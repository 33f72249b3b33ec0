// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <utility>

#include "sim/box.hpp"
#include "sim/layered.hpp"

namespace nudge {

/// Drive of the units of a node beside their coupling, d − L z. d belongs to one copy of the system and is the same for the copies
/// side by side.
template <class S>
struct LeakyDrive {
  const S* first;  ///< row 0 of the node's columns
  Index stride;    ///< distance to the next row
  Index rows;      ///< rows of one copy
  S leak;
};

/// Takes leaky_step() in one row; returns its ‖x‖² and ‖m ⊙ F‖². A unit on a bound has a force of one sign: written with
/// limits instead of conditions it is vectorised.
template <class S>
std::pair<S, S> leaky_row(S* x, const S* coupled, const S* driven, Index count, S leak, S lower, S upper, S epsilon) {
  constexpr S kUnlimited = std::numeric_limits<S>::infinity();
  S states = 0, forces = 0;
#ifdef __clang__  // says so where it does not, as in builds with sanitizers: slower, nothing else
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#pragma omp simd reduction(+ : states, forces)
  for (Index i = 0; i < count; ++i) {
    const S at = x[i];
    const S push = (driven[i] + coupled[i]) - leak * at;
    const S least = at <= lower ? S(0) : -kUnlimited;
    const S most = at >= upper ? S(0) : kUnlimited;
    const S not_down = push < least ? least : push;
    const S force = not_down > most ? most : not_down;
    const S next = at + epsilon * force;
    const S raised = next < lower ? lower : next;
    const S kept = raised > upper ? upper : raised;
    x[i] = kept;
    states += kept * kept;
    forces += force * force;
  }
  return {states, forces};
}

/// Takes a step of a sweep in the columns of one node, all forces and bounds in one pass:
///     z ← P(z + ε m ⊙ F),  F = coupling + d − L z,  P and m as in Box.
/// Returns ‖z‖² and ‖m ⊙ F‖²; each row is summed in S, the rows in double.
template <class S>
NodeMove leaky_step(MatrixRef<S> z, ConstMatrixRef<S> coupling, const LeakyDrive<S>& drive,
                    const typename Box<S>::Bounds& bounds, S epsilon) {
  NodeMove all;
  for (Index row = 0; row < z.rows(); ++row) {
    S* x = z.data() + row * z.outerStride();
    const S* coupled = coupling.data() + row * coupling.outerStride();
    const S* driven = drive.first + (row % drive.rows) * drive.stride;
    const auto [states, forces] =
        leaky_row(x, coupled, driven, z.cols(), drive.leak, bounds.lower, bounds.upper, epsilon);
    all.state += static_cast<double>(states);
    all.force += static_cast<double>(forces);
  }
  return all;
}

}  // namespace nudge
