// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/settle.hpp"

namespace nudge {

/// Solver of settle(): relaxes z (rows, cols) in place. One solver is one file; its name goes into the lists of
/// sim/settle.cpp.
template <class S>
using Solver = SettleResult (*)(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                                SettleWorkspace<S>& scratch);

template <class S>
SettleResult settle_euler(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_sweep(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_coordinate(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_rk4(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_dopri5(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_anderson(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_newton_gmres(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);

template <class S>
SettleResult settle_direct(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_sample(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);

/// The node that coordinate descent visits k-th: every second one, then the others. Layers joined to their neighbours alone thus
/// move in two groups.
inline std::size_t alternating_node(std::size_t k, std::size_t nodes) {
  const std::size_t first = (nodes + 1) / 2;
  return k < first ? 2 * k : 2 * (k - first) + 1;
}

}  // namespace nudge
