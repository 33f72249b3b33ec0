// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// A memory with decay, what decaying_read() carries from token to token: N cells for each of G groups of channels, C channels
/// in all, channel c in group c // (C/G). Row n of the logarithms holds the masses of cell n of every group (G columns) and, where
/// free energies are read (tilted), the masses weighted with e^{β_c v_c} of every channel (C columns).
template <class S>
struct DecayingMemory {
  DecayingMemory() = default;
  DecayingMemory(Index cells, Index groups, Index channels, bool tilted);  ///< empty

  Matrix<S> log_mass;  ///< ℓ and, if tilted, Λ (N, G or G + C)
  Matrix<S> low;       ///< what their rounding has lost
  Matrix<S> mean;      ///< ν (N, C)
  Index groups = 0;
};

/// What the channels of a group share, once per channel (c is read at c // (C/G)); the same numbers where G = C.
template <class S>
const S* per_channel(const S* of_groups, Index groups, Index channels, std::vector<S>& space);
/// Adds up the channels of every group.
template <class S>
void add_channels(const S* of_channels, Index groups, Index channels, S* of_groups);

/// A token on its way into a memory. Each mass M decays to M e^{g_n} and takes in y_nc = b_n e^{β_c v_c} (b_n where it is not
/// tilted); of their sum, `kept` is the share of the old mass and `entered` that of the token. The exponentials are what a step
/// costs: they are taken over the whole memory at once.
template <class S>
class MemoryStep {
 public:
  Matrix<S> kept, entered;  ///< (N, G or G + C)

  /// From g and log b (N G, a cell's groups side by side) and β v (C, where tilted).
  void prepare(const DecayingMemory<S>& memory, const S* g, const S* log_b, const S* beta_v);
  /// Takes the token with values v (C) into the memory that prepare() saw.
  void apply(const S* v, DecayingMemory<S>& memory);

 private:
  Matrix<S> decay_, token_, gap_, growth_;
  std::vector<S> space_;
};

/// What a token reads: cell n has the share π_n = a_n M_n / Z of the mass of its group and κ_nc of the tilted mass; the token's
/// own direct weight has the rest.
template <class S>
struct MemoryShares {
  Matrix<S> cells;      ///< (N, G or G + C)
  Matrix<S> direct;     ///< (1, G or G + C)
  Matrix<S> log_total;  ///< log Z (1, G or G + C)

  /// From log a (N G), β v (C, where tilted) and the log_direct of every group, or null.
  void set(const DecayingMemory<S>& memory, const S* log_a, const S* beta_v, const S* log_direct);
};

}  // namespace nudge
