// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/step_model.hpp"

namespace nudge {

/// So many pulses one way.
struct PulseBlock {
  Direction direction = Direction::up;
  Index count = 0;
};

/// "100 up, 50 down" in that order. UserError naming the part that is none.
std::vector<PulseBlock> read_pulse_blocks(const std::string& text);

/// Rectangular pulses that a device is written by: those of its model or of device.pulse_voltage_*, pulse_width_*; where neither is known 1 V
/// and 1 us, which then only count.
struct PulseShape {
  double up_V = 1, up_s = 1e-6, down_V = 1, down_s = 1e-6;  ///< magnitudes
};
PulseShape pulse_shape(const DeviceSpec& spec);

/// The mean device as a subcircuit for ngspice with a state node:
///     .subckt NAME p n x      V(x) its state in [0, 1], starting at the parameter x0
/// A step model: i = g (the spec's curve of v), g = g_min + x (g_max − g_min). While |v| is above half a pulse's amplitude x moves by the table
/// of the model's own pulse, Δ(x) of the state where the pulse began, per width of a pulse: whole pulses are those of devices/, longer ones are in
/// proportion. A memristor (vteam, yakopcic): dx/dt = f(x, v) and i(x, v) as printed, at any voltage. Spreads and noise are not in it.
std::string device_subcircuit(const DeviceSpec& spec, const std::string& name);

/// V(x) of a conductance, and back.
double netlist_state(const DeviceSpec& spec, double conductance_S);
double netlist_conductance(const DeviceSpec& spec, double state);

/// A voltage source's pulses as a piecewise linear waveform, "PWL(0 0 ...)", from `start_s` on; each pulse takes two of the longer width, and `end_s`
/// becomes when the last has ended. Behind that it rises to `read_V`.
std::string pulse_waveform(const PulseShape& shape, const std::vector<PulseBlock>& blocks, double start_s,
                           double read_V, double& end_s);

/// A transient that sends the blocks to one device from its lower bound and prints "g<k> = ..." (siemens) behind block k, 0 before all.
/// Run with `ngspice -b FILE`.
std::string pulse_netlist(const DeviceSpec& spec, const std::vector<PulseBlock>& blocks);

}  // namespace nudge
