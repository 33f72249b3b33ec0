// SPDX-License-Identifier: Apache-2.0
// What devices and their arrays refuse when they are made. One device is made to ask it: it knows its own rules.
#include <fmt/format.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/errors.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/models/registry.hpp"

namespace nudge {

void expect_sound_devices(const Config& config) {
  const CrossbarSpec spec = crossbar_spec(config);
  validate_linear_map(spec);
  CrossbarSpec resistors = spec;
  const SettleSolver solver = phase_options(config).phases.free.solver;
  const bool netlist = network_kind(config).name == "netlist";
  // That of their nodes is sampled.
  if (solver == SettleSolver::coordinate || netlist) resistors.circuit.thermal_noise = false;
  const bool noisy = make_linear_map<float>(resistors, Matrix<float>::Ones(1, 1), 0, 0)->noisy();
  if (noisy && netlist) {
    throw UserError(
        "network.kind = netlist (must have reads without fresh noise: device.read_noise = 0, device.read_saturating = "
        "0, device.noise_white empty, no noise of device.model's own, and no slow noise that "
        "circuit.noise_within_phases lets move; a solved circuit has no reads to average)");
  }
  const std::string misfit = phase_misfit(config, "relaxation.solver", noisy);
  if (!misfit.empty()) throw UserError(fmt::format("relaxation.solver = {} ({})", to_string(solver), misfit));
}

}  // namespace nudge
