// SPDX-License-Identifier: Apache-2.0
// What devices and their arrays refuse when they are made. One device is made to ask it: it knows its own rules.
#include <fmt/format.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/errors.hpp"
#include "sim/steady/solvers.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/models/registry.hpp"

namespace nudge {

void expect_sound_devices(const Config& config) {
  const CrossbarSpec spec = crossbar_spec(config);
  validate_linear_map(spec);
  CrossbarSpec resistors = spec;
  const SettleSolver solver = phase_options(config).phases.free.solver;
  const bool coordinate = solver == SettleSolver::coordinate;
  const bool exact = coordinate || solver == SettleSolver::dopri5 || solver == SettleSolver::anderson ||
                     solver == SettleSolver::newton_gmres;
  const bool netlist = network_kind(config).name == "netlist";
  if (coordinate || netlist) resistors.circuit.thermal_noise = false;  // that of their nodes, which is sampled
  const auto one = make_linear_map<float>(resistors, Matrix<float>::Ones(1, 1), 0, 0);
  if (!(exact || netlist) || !one->noisy()) return;
  if (netlist) {
    throw UserError(
        "network.kind = netlist (must have reads without fresh noise: device.read_noise = 0, device.read_saturating = "
        "0, "
        "device.noise_white empty, and no slow noise that circuit.noise_within_phases lets move; a solved circuit has "
        "no "
        "reads to average)");
  }
  throw UserError(
      fmt::format("relaxation.solver = {} (must be euler, or reads without fresh noise: device.read_noise = 0, "
                  "device.read_saturating = 0, device.noise_white empty, and no slow noise that "
                  "circuit.noise_within_phases lets move; the other solvers follow no noise)",
                  to_string(solver)));
}

}  // namespace nudge
