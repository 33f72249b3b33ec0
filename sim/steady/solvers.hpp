// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/settle.hpp"

namespace nudge {

/// What a solver of settle() is: z (rows, cols) is relaxed in place. One solver is one file; its name goes into the
/// list in sim/settle.cpp.
template <class S>
using Solver = SettleResult (*)(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                                SettleWorkspace<S>& scratch);

template <class S>
SettleResult settle_euler(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_sweep(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_rk4(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_dopri5(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_anderson(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
template <class S>
SettleResult settle_newton_gmres(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);

}  // namespace nudge
