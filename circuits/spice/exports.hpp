// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "circuits/circuit.hpp"
#include "circuits/resistive/diode_law.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "circuits/terms/shared_array.hpp"
#include "circuits/wires/solvers.hpp"
#include "devices/current_curve.hpp"
#include "devices/device_spec.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Formula text(begin) + … + text(end − 1), for a dependent source.
template <class Text>
std::string sum_of(Index begin, Index end, Text text) {
  std::string sum;
  for (Index k = begin; k < end; ++k) {
    if (k > begin) sum += '+';
    sum += text(k);
  }
  return sum;
}

/// Formula Σ_k w_k v(<stem><k>).
std::string combination(const std::string& stem, const Eigen::VectorXd& weights);

/// End of a netlist whose transient begins at the capacitors' voltages: wrdata writes time and the `voltages` " v(a) v(b) …" to
/// `data_file`. `options`: further ones of ngspice, as "method=gear ".
std::string transient_end(double print_step_s, double stop_s, const std::string& data_file, const std::string& voltages,
                          const char* options = "");

/// Crossbar with its wires as an ngspice netlist. The source vin<i> (volts (1, N)) drives row i. Column j ends in the 0 V source
/// vs<j>; its current is the output, positive into the amplifier. The control block prints "i(vs<j>) = ..." for every column with 15
/// digits: run with `ngspice -b FILE`. Devices of conductance 0 are left out. Devices of a curved characteristic are behavioural
/// current sources. A selector stands between its device and the column. Open lines have no source; an open column prints nothing.
std::string crossbar_netlist(const Matrix<double>& conductance_S, const WireSpec& wires, const Matrix<double>& volts,
                             const CurrentCurve& curve = {}, const SelectorSpec& selector = {},
                             const OpenLines& open = {});

/// Inputs of a transient of the block besides its weights.
struct BlockNetlist {
  Matrix<double> drive;         ///< x_in (T, C), V
  Matrix<double> start;         ///< z at t = 0 (T, C), V
  Matrix<double> nudge;         ///< added to the force (T, C): a constant nudge −β ∂C/∂z; empty: none
  CurrentCurve curve = {};      ///< curve of the devices: a drive x acts as I(x V_r)/(G V_r)
  double read_voltage_V = 0.2;  ///< V_r of `curve`
  double time_constant_s = 100e-9;
  double capacitance_F = 100e-15;  ///< capacitance of every state node
  double stop_s = 2e-6;
  double print_step_s = 1e-9;
};

/// The founding note's block, one node with one shared array, as an ngspice transient. One capacitor per state z_tc is
/// charged by a behavioural source with C/τ · F_tc(z) (plus a nudge). Projections, rectifiers and the causal softmax are
/// ideal dependent voltage sources, one volt per unit; behind curved devices every drive passes its curve first. Weights
/// come from the block's maps. The control block writes time and the T·C node voltages, row-major, to `data_file` (wrdata,
/// columns of time and value in turn). For small blocks: T·C·(4C + M) source terms, T·C² more with a coupling.
std::string block_netlist(const Circuit<double>& block, Index heads, const LinearMap<double>& output,
                          const BlockNetlist& spec, const std::string& data_file);

/// The circuit of one sample of a deep resistive network as an ngspice netlist for a DC operating point. It has an element for each
/// abstraction of the simulator:
/// - vx<i>: the source A_0 v_0i of input i; node x<i>.
/// - r<l>_<i>_<j>: the resistor 1/g^l_ij from terminal t<l−1>_<i> (x<i> for l = 1) to node n<l>_<j>; open ones have 1e20 Ohm, so that
///   `network.kind = netlist` can train them.
/// - The bidirectional amplifier of a hidden node with A ≠ 1: ea<l>_<j> has the voltage gain A, to node e<l>_<j>. va<l>_<j> (0 V)
///   carries the current drawn, to terminal t<l>_<j>. fa<l>_<j> takes 1/A of this current out of the node. With A = 1 the terminal is
///   the node.
/// - bd<l>_<j>: the ideal diode as a behavioural source, i = G_on v on the wrong side of 0 and no current on the right one. ngspice's
///   own diode keeps n V_T ln(I/I_s) across itself, which is no clamp at any n it converges with. Here a held node is |I|/G_on away
///   from 0: G_on = on_ratio × the node's conductance puts that at 1/on_ratio of the voltage it would take. With a ShockleyDiode
///   instead: d<l>_<j>, ngspice's own diode of the model `shockley`.
/// - rp<l>_<j>, rm<l>_<j>: resistors to the rails rail_p and rail_m (sources vrail_p, vrail_m); ib<l>_<j>: current sources.
/// - gy<j>, iy<j>: the nudge β (y_j − v) of an output node, a transconductance of either sign and a current.
/// The control block writes the node voltages, in the order of a state and behind one number that wrdata takes for their scale, to
/// `data_file`. sources (1, n_0), nudge target (1, n_L).
std::string resistive_netlist(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                              const ResistiveNudge& nudge, const std::string& data_file, double on_ratio = 1e12,
                              const std::optional<ShockleyDiode>& diode = std::nullopt);

/// Block of pulses in one direction.
struct PulseBlock {
  Direction direction = Direction::up;
  Index count = 0;
};

/// Reads "100 up, 50 down" as blocks in that order. UserError naming a part that is none.
std::vector<PulseBlock> read_pulse_blocks(const std::string& text);

/// Rectangular pulses that write a device, from its model or from device.pulse_voltage_*, pulse_width_*. If neither is known
/// they are 1 V and 1 us, which then only count.
struct PulseShape {
  double up_V = 1, up_s = 1e-6, down_V = 1, down_s = 1e-6;  ///< magnitudes
};
PulseShape pulse_shape(const DeviceSpec& spec);

/// Mean device as a subcircuit for ngspice with a state node:
///     .subckt NAME p n x      V(x) its state in [0, 1], starting at the parameter x0
/// A step model: i = g (the spec's curve of v), g = g_min + x (g_max − g_min). While |v| is above half a pulse's amplitude,
/// x moves by Δ(x) per width of a pulse. Δ(x) is the table of the model's own pulse at the state where the pulse began.
/// Whole pulses equal the pulses of devices/, longer ones are in proportion. A memristor (vteam, yakopcic): dx/dt = f(x, v)
/// and i(x, v) as printed, at any voltage. Spreads and noise are left out.
std::string device_subcircuit(const DeviceSpec& spec, const std::string& name);

/// Pulses of a voltage source as a piecewise linear waveform, "PWL(0 0 ...)", from `start_s` on; each pulse takes two of the
/// longer width. Sets `end_s` to the end of the last pulse; after it the waveform rises to `read_V`.
std::string pulse_waveform(const PulseShape& shape, const std::vector<PulseBlock>& blocks, double start_s,
                           double read_V, double& end_s);

/// Netlist of a transient that sends the blocks to one device from its lower bound and prints "g<k> = ..." (siemens) behind
/// block k, 0 before all. Run with `ngspice -b FILE`.
std::string pulse_netlist(const DeviceSpec& spec, const std::vector<PulseBlock>& blocks);

}  // namespace nudge
