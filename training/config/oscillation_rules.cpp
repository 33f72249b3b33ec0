// SPDX-License-Identifier: Apache-2.0
// What a nudge that swings asks of the phases: time in which all nodes move at once, and steps that follow it.
#include <fmt/format.h>

#include <numbers>

#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"

namespace nudge {
namespace {

bool swings(const Config& c) { return phase_options(c).phases.oscillation.on(); }

/// A step lasts at least its epsilon (sim/read_timing.hpp).
ConfigRule steps_follow_swing() {
  return {{"nudge.frequency", "nudge.form", "nudge.harmonic", "relaxation.step", "relaxation.step_fraction"},
          [](const Config& c) {
            if (!swings(c)) return std::string();
            const Oscillation swing = phase_options(c).phases.oscillation;
            const double step = RelaxationStep(c).at(c.real("model.damping"));
            const int least = std::max(8, 2 * swing.harmonic + 1);
            const double fastest = 2 * std::numbers::pi / (least * step);
            return swing.frequency <= fastest
                       ? ""
                       : fmt::format("must be at most {:.3g}: a period must have at least {} steps of {:.3g} tau",
                                     fastest, least, step);
          }};
}

ConfigRule odd_harmonic() {
  return {{"nudge.harmonic"}, [](const Config& c) {
            return c.integer("nudge.harmonic") % 2 == 1 ? "" : "must be odd: the even ones have no slope at 0";
          }};
}

}  // namespace

std::vector<ConfigRule> oscillation_rules() { return {steps_follow_swing(), odd_harmonic()}; }

}  // namespace nudge
