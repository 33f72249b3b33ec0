// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "devices/device_spec.hpp"
#include "netlist/netlist_file.hpp"

namespace nudge {

/// Device of a memristor in a netlist, from what its cards say:
///     preset=NAME          a published device (`nudge devices list`)
///     file=FILE            a TOML file with [device], as `nudge devices fit` and `nudge devices import` write it, relative to the netlist
///     model=NAME           a device model with its defaults
///     name=value           any key of [device], or of the section of its model, in SI units
/// UserError at `place` for a device that cannot be, and for one that is no resistor: with a curve or a selector.
DeviceSpec memristor_device(const std::vector<DeviceSetting>& settings, const Place& place);

/// The devices of this program as memristors of a netlist. They rest at their reference conductance.
MemristorSource device_memristors();

/// Reads a netlist whose memristors are devices (read_netlist).
Netlist read_device_netlist(const std::filesystem::path& file, const NetlistLimit& limit = {});

}  // namespace nudge
