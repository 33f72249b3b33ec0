// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "python/src/bindings.hpp"
#include "sim/base/parallel.hpp"

NB_MODULE(_core, m) {
  using namespace nudge::python;
  pthread_atfork(nullptr, nullptr, [] { nudge::in_forked_process = true; });
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
