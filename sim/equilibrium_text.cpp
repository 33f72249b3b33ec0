// SPDX-License-Identifier: Apache-2.0
// What is said of a verdict on free phases, and what mends it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/equilibrium.hpp"

namespace nudge {

/// Residual that the sentence names: below it a gradient is exact to some 1e-3. Less where a slow mode leaves a state far away: |F| =
/// |abscissa| times the distance.
double Equilibrium::aim() const {
  constexpr double enough = 1e-3;
  return std::min(enough, settled_within * std::abs(abscissa));
}

namespace {

/// True if more steps of the phase may bring its states to equilibria.
bool too_short(const Equilibrium& e) { return e.decay < 1 && (e.stable() || !(e.none > 0.5)); }

/// True if all samples have a stable equilibrium near them, which smaller steps would reach.
bool overshoots(const Equilibrium& e) { return e.stable() && !(e.none > 0); }

/// True if its tolerance ended the phase of a state that is not there yet.
bool stopped_early(const Equilibrium& e) { return e.ended == Status::converged && e.settled < 1; }

/// What ended the phase, where it was not that its steps were taken.
std::string end_of(Status ended) {
  switch (ended) {
    case Status::converged: return ", where its tolerance ended it";
    case Status::stalled: return ", where it no longer falls";
    case Status::oscillating: return ", where it goes up and down";
    case Status::diverged: return ", where it diverged";
    case Status::max_steps: break;
  }
  return "";
}

std::string reached_text(const Equilibrium& e) {
  return std::isfinite(e.residual) ? fmt::format("residual {:.2g} after {} steps", e.residual, e.steps)
                                   : fmt::format("states that are not finite after {} steps", e.steps);
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

std::string finding(const Equilibrium& e) {
  if (!e.known()) return "";
  if (!e.lives()) return fmt::format("dead: {} of the units have a gradient of exactly 0", percent(e.dead));
  if (e.unstable > 0) {
    return fmt::format(
        "unstable: {} of the samples end at or around an equilibrium where perturbations grow ({:+.3g} per tau)",
        percent(e.unstable), e.abscissa);
  }
  const bool near = e.distance > Equilibrium::settled_within && e.distance < 1 && !(e.none > 0);
  const std::string away = near ? fmt::format(", {:.2g} % from equilibrium in the mean", 100 * e.distance) : "";
  if (e.settled == 1) return "settled: " + reached_text(e);
  return fmt::format("{}: {}{}, {} of the samples settle",
                     stopped_early(e) ? "free phase stopped early"
                     : too_short(e)   ? "free phase too short"
                     : overshoots(e)  ? "the steps overshoot a stable equilibrium"
                                      : "no equilibrium found",
                     ended_text(e), away, percent(e.settled));
}

std::string ended_text(const Equilibrium& e) { return reached_text(e) + end_of(e.ended); }

const std::vector<std::string>& mending_keys() {
  static const std::vector<std::string> all = {"relaxation.free_steps",  "relaxation.step",
                                               "relaxation.tolerance",   "model.damping",
                                               "circuit.gain_bandwidth", "circuit.amplifier_bandwidth",
                                               "hopfield.activation",    "train.learning_rate"};
  return all;
}

bool Equilibrium::may_name(const std::string& key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string steadying(const Equilibrium& e) {
  std::string raised;
  for (const char* key : {"model.damping", "circuit.gain_bandwidth", "circuit.amplifier_bandwidth"}) {
    if (e.may_name(key)) raised += (raised.empty() ? "raise " : " or ") + std::string(key);
  }
  return (raised.empty() ? "" : raised + ", or ") + "start elsewhere";
}

std::string remedy(const Equilibrium& e) {
  if (e.clean()) return "";
  if (!e.lives()) {
    return std::string(e.may_name("hopfield.activation")
                           ? "start where activations have a slope (a bias, or sigmoid or tanh)"
                           : "start with other weights (seed)") +
           ", or lower train.learning_rate if training lost it";
  }
  if (e.unstable > 0) {
    const bool strides = e.settled < 1 && e.may_name("relaxation.step");
    return steadying(e) + (strides ? ", or lower relaxation.step" : "") +
           (e.may_name("train.learning_rate") ? ", or lower train.learning_rate if training lost it" : "");
  }
  if (stopped_early(e)) {
    const std::string key = e.may_name("relaxation.tolerance") ? "relaxation.tolerance" : "its tolerance";
    const std::string reached =
        e.missing_steps > 0 ? fmt::format("; {} steps reach it", e.steps + e.missing_steps) : "";
    return fmt::format("lower {} to {:.0e}{}", key, e.aim(), reached);
  }
  if (e.may_name("relaxation.free_steps")) {
    if (e.missing_steps > 0)
      return fmt::format("{} steps (relaxation.free_steps) reach {:.0e}", e.steps + e.missing_steps, e.aim());
    if (too_short(e) && e.stable()) return "raise relaxation.free_steps";
    if (too_short(e)) return "raise relaxation.free_steps: more steps tell whether there is an equilibrium";
  }
  const bool steps = e.may_name("relaxation.step");
  if (overshoots(e) && steps) return "lower relaxation.step";
  return std::string("lower ") + (steps ? "relaxation.step, " : "") + "the weights or train.learning_rate";
}

std::string sentence(const Equilibrium& e) {
  const std::string mends = remedy(e);
  return finding(e) + (mends.empty() ? "" : "; ") + mends;
}

}  // namespace nudge
