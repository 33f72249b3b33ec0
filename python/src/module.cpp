// SPDX-License-Identifier: Apache-2.0
#include "python/src/bindings.hpp"

NB_MODULE(_core, m) {
  using namespace nudge::python;
  m.doc() = "What the package nudge is made of; use nudge itself.";
  bind_errors(m);
  bind_program(m);
  bind_devices(m);
  bind_crossbar(m);
  bind_network(m);
  bind_dynamics(m);
  bind_statistics(m);
  bind_netlist(m);
  bind_own(m);
}
