// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "circuits/wires/nonlinear_solver.hpp"

namespace nudge {

/// The crossbar with its wires as an ngspice netlist: row i is driven by the source vin<i> (volts (1, N)), column j ends in
/// the 0 V source vs<j>, whose current is the output, positive into the amplifier. The control block prints
/// "i(vs<j>) = ..." for every column with 15 digits: run with `ngspice -b FILE`. Devices of conductance 0 are left out;
/// devices of a curved characteristic are behavioural current sources. A selector stands between its device and the column. Open
/// lines have no source; an open column prints nothing.
std::string crossbar_netlist(const Matrix<double>& conductance_S, const WireSpec& wires, const Matrix<double>& volts,
                             const CurrentCurve& curve = {}, const SelectorSpec& selector = {},
                             const OpenLines& open = {});

}  // namespace nudge
