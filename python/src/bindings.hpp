// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace nudge::python {

namespace nb = nanobind;

// One function per theme, each in a file of its name.
void bind_program(nb::module_& m);
void bind_devices(nb::module_& m);
void bind_crossbar(nb::module_& m);
void bind_network(nb::module_& m);
void bind_dynamics(nb::module_& m);
void bind_statistics(nb::module_& m);
void bind_netlist(nb::module_& m);
void bind_own(nb::module_& m);

}  // namespace nudge::python
