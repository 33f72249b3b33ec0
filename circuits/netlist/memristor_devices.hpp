// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "devices/device_spec.hpp"
#include "netlist/netlist_file.hpp"

namespace nudge {

/// Device of a memristor in a netlist, from what its cards say:
///     preset=NAME          a published device (`nudge devices list`)
///     file=FILE            a TOML file with [device], as `nudge devices fit` and `nudge devices import` write it, relative to the netlist
///     model=NAME           a device model with its defaults
///     name=value           any key of [device], or of the section of its model, in SI units
/// UserError at `place` for a device that cannot be, and for one whose current jumps: behind a threshold selector.
DeviceSpec memristor_device(const std::vector<DeviceSetting>& settings, const Place& place);

/// Current over voltage of a device of conductance g, in its cell: CellLaw with its derivatives and energy. Null: a resistor.
///     curve       I = g u(v) of CurrentCurve, E = g ∫ u dv
///     selector    v = v_d + v_s, g v_d = I = I_s(v_s): dI/dg = v_d (dI/dv)/g, ∂E/∂g = v_d²/2
///     1T1R        I_s = v_s/R: E = I v/2
///     1S1R        I_s = I₀ sinh(v_s/V₀): E = I v − ∫ v dI, ∫ v dI = I²/2g + V₀ (I asinh(I/I₀) − √(I² + I₀²) + I₀)
std::shared_ptr<const ConductorLaw> conductor_law(const DeviceSpec& device);

/// Gives the memristors of a netlist the curve of a device, as where a config replaces numbers of theirs.
void set_memristor_curves(Netlist& netlist, const DeviceSpec& device);

/// Device of a memristor that this program made.
DeviceSpec device_of(const MemristorLaw& law);

/// The devices of this program as memristors of a netlist. They rest at their reference conductance.
MemristorSource device_memristors();

/// Reads a netlist whose memristors are devices (read_netlist).
Netlist read_device_netlist(const std::filesystem::path& file, const NetlistLimit& limit = {});

}  // namespace nudge
