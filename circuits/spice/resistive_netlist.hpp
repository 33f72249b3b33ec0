// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "circuits/resistive/resistive_network.hpp"
#include "circuits/resistive/shockley_diode.hpp"

namespace nudge {

/// The circuit of one sample of a deep resistive network as an ngspice netlist for a DC operating point; what the simulator
/// abstracts stands in it as elements:
/// - vx<i>: the source A_0 v_0i of input i; node x<i>.
/// - r<l>_<i>_<j>: the resistor 1/g^l_ij from terminal t<l−1>_<i> (x<i> for l = 1) to node n<l>_<j>; open ones have 1e20 Ohm, so that
///   `network.kind = netlist` can train them.
/// - The bidirectional amplifier of a hidden node with A ≠ 1: ea<l>_<j> (voltage gain A, to node e<l>_<j>), va<l>_<j> (0 V:
///   the current drawn, to terminal t<l>_<j>) and fa<l>_<j> (1/A of that current out of the node). With A = 1 the terminal
///   is the node.
/// - bd<l>_<j>: the ideal diode as a behavioural source, i = G_on v on the wrong side of 0 and no current on the right one.
///   ngspice's own diode keeps n V_T ln(I/I_s) across itself, which is no clamp at any n it converges with. Here a held node
///   is |I|/G_on away from 0: G_on = on_ratio × the node's conductance puts that at 1/on_ratio of the voltage it would take.
///   With a ShockleyDiode instead: d<l>_<j>, ngspice's own diode of the model `shockley`.
/// - rp<l>_<j>, rm<l>_<j>: resistors to the rails rail_p and rail_m (sources vrail_p, vrail_m); ib<l>_<j>: current sources.
/// - gy<j>, iy<j>: the nudge β (y_j − v) of an output node, a transconductance of either sign and a current.
/// The control block writes the node voltages, in the order of a state and behind one number that wrdata takes for their
/// scale, to `data_file`. sources (1, n_0), nudge target (1, n_L).
std::string resistive_netlist(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                              const ResistiveNudge& nudge, const std::string& data_file, double on_ratio = 1e12,
                              const std::optional<ShockleyDiode>& diode = std::nullopt);

}  // namespace nudge
