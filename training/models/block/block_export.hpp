// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/models/netlist.hpp"

namespace nudge {

/// The block as an ngspice transient of 20 τ from discharged nodes (circuits/spice/block_netlist.hpp); T C (4 C + M) terms, 5 C
/// with a coupling. UserError for other parts than the fused attention and a memory on one array.
NetlistExport block_export();

}  // namespace nudge
