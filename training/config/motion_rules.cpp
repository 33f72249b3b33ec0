// SPDX-License-Identifier: Apache-2.0
// Rules of how nodes move: steps that are stable, friction that lets them settle, inputs that change in time, nudges that swing.
#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/data/data_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Euler on dz/dt = -(1 + s c) z, the stiffest part that is always there, is stable for eps (1 + s c) < 2, and that for
/// every c that a run may come to: with damping.control up to damping.maximum.
std::string unstable_step(const Config& c) {
  const bool controlled = c.flag("damping.control");
  const double rate = network_kind(c).leak(c).at(c.real(controlled ? "damping.maximum" : "model.damping"));
  const PhaseOptions phases = phase_options(c);
  const Motion& motion = phases.phases.free.motion;
  if (!steps_in_time(phases.phases.free.solver) || motion.euler_step(phases.fixed_step) * rate < 2) return "";
  const std::string limit = fmt::format("{}{}", motion.first_order() ? "2/(1 + s c) = " : "",
                                        format_quantity(motion.step_like(2 / rate), Unit::none, 4));
  if (!controlled) return fmt::format("must be < {}, or 0 for relaxation.step_fraction", limit);
  return fmt::format(
      "must be < {} for every c up to damping.maximum = {}, which damping.control may reach. Lower "
      "damping.maximum, switch damping.control off, or set 0 for relaxation.step_fraction",
      limit, c.as_text("damping.maximum"));
}

/// Without any friction a state swings for ever.
std::string no_friction(const Config& c) {
  const SettleOptions free = phase_options(c).phases.free;
  const bool damped = free.motion.first_order() || free.motion.mean_friction() > 0 || moves_input(c);
  return damped ? "" : "must be above 0 for one node at least: without friction no state settles";
}

/// A nudge that swings asks for steps that follow it. A step lasts at least its epsilon (sim/read_timing.hpp).
std::string slow_steps(const Config& c) {
  const Oscillation swing = phase_options(c).phases.oscillation;
  if (!swing.on()) return "";
  const double step = initial_step(c);
  const int least = std::max(8, 2 * swing.harmonic + 1);
  const double fastest = 2 * std::numbers::pi / (least * step);
  return swing.frequency <= fastest
             ? ""
             : fmt::format("must be at most {:.3g}: a period must have at least {} steps of {:.3g} tau", fastest, least,
                           step);
}

}  // namespace

double initial_step(const Config& c) { return RelaxationStep(c).at(c.real("model.damping")); }

std::vector<ConfigRule> motion_rules() {
  return {
      {{"relaxation.step", "relaxation.solver", "relaxation.mass", "relaxation.friction", "model.attention_gain",
        "model.damping", "damping.control", "damping.maximum"},
       unstable_step},
      {{"relaxation.friction", "relaxation.solver", "data.frames"}, no_friction},
      must({"data.frames", "relaxation.free_steps"}, "must be <= {relaxation.free_steps}: a frame lasts a step or more",
           [](const Config& c) { return data_options(c).frames <= c.integer("relaxation.free_steps"); }),
      must({"relaxation.tolerance", "data.frames"}, "must be off: inputs that change in time are followed to their end",
           [](const Config& c) { return !moves_input(c) || phase_options(c).phases.free.tolerance == 0; }),
      must({"relaxation.average_free", "relaxation.free_steps"}, "must be <= {relaxation.free_steps}",
           [](const Config& c) { return c.integer("relaxation.average_free") <= c.integer("relaxation.free_steps"); }),
      must({"relaxation.average_nudged", "relaxation.nudged_steps"}, "must be <= {relaxation.nudged_steps}",
           [](const Config& c) {
             return c.integer("relaxation.average_nudged") <= c.integer("relaxation.nudged_steps");
           }),
      {{"nudge.frequency", "nudge.form", "nudge.harmonic", "relaxation.step", "relaxation.step_fraction"}, slow_steps},
      must({"nudge.harmonic"}, "must be odd: even ones have no slope at 0",
           [](const Config& c) { return c.integer("nudge.harmonic") % 2 == 1; }),
  };
}

}  // namespace nudge
