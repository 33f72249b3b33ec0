// SPDX-License-Identifier: Apache-2.0
// What a run makes of the states that its free phases end in, and why it ends.
#include "training/train/equilibrium_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training/check/choices.hpp"
#include "training/check/free_phase_check.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/stability.hpp"
#include "training/config/config_table.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

/// Number of non-finite steps in a row after which a run will not recover: every such step leaves the weights as they
/// were.
constexpr int kHopeless = 50;

}  // namespace

namespace {

/// Steps between checks. One settles and differentiates some samples, about the work of two steps: 1 % of the time.
constexpr std::uint64_t kJudgedEvery = 200, kJudgedFirst = 5;
/// Steps after which a check that failed is repeated: time for the control of the damping to answer, some steps of each raise.
constexpr std::uint64_t kJudgedAgain = 20;

}  // namespace

bool is_judged(std::uint64_t step, std::uint64_t steps) {
  return step % kJudgedEvery == 0 || step + 1 == steps ||
         (step < hopeless_checks * kJudgedFirst && step % kJudgedFirst == 0);
}

bool is_doubted(std::uint64_t step, const TrainLog& log) {
  const double last = log.last("train/equilibrium_step");
  return static_cast<double>(step) >= last + kJudgedAgain && !logged_verdict(log).sound();
}

Equilibrium logged_verdict(const TrainLog& log, std::size_t before) {
  Equilibrium out;
  const auto at = [&](const char* name) {
    const std::vector<double>& values = log.values(std::string("train/equilibrium_") + name);
    return before < values.size() ? values[values.size() - 1 - before] : 0;
  };
  out.samples = static_cast<int>(at("samples"));
  if (!out.known()) return {};
  out.settled = at("settled");
  out.lost = at("lost");
  out.none = at("none");
  out.distance = at("distance");
  out.unstable = at("unstable");
  out.dead = at("dead");
  out.abscissa = at("abscissa");
  out.residual = at("residual");
  out.decay = at("decay");
  if (!log.values("train/equilibrium_ended").empty()) out.ended = static_cast<Status>(static_cast<int>(at("ended")));
  out.steps = static_cast<int>(at("free_steps"));
  out.missing_steps = static_cast<int>(at("missing_steps"));
  return out;
}

void log_verdict(std::uint64_t step, const Equilibrium& verdict, TrainLog& log) {
  log.axis("train/equilibrium_step");
  const auto add = [&log](const char* name, double value, const char* unit, const char* description) {
    log.add(std::string("train/equilibrium_") + name, value, unit, description);
  };
  add("step", static_cast<double>(step), "1", "steps in which the free phase was judged, without noise");
  add("samples", verdict.samples, "1", "samples (of coupled rows sequences) of the batch that were looked at");
  add("settled", verdict.settled, "1", "share of them within 1 % of the state from an equilibrium");
  add("lost", verdict.lost, "1", "share of them farther than 25 % from one (Equilibrium::lost_beyond), or without any");
  add("none", verdict.none, "1", "share of them without any");
  add("distance", verdict.distance, "1", "mean distance of their states to it, relative; 1 without any");
  add("unstable", verdict.unstable, "1", "share of them that end where perturbations grow");
  add("dead", verdict.dead, "1", "share of the units, columns of parameters, whose gradient is exactly 0");
  add("abscissa", verdict.abscissa, "1", "largest real part of an eigenvalue of J that was found, per tau");
  add("residual", verdict.residual, "1", "largest |F|/|z| where these phases end");
  add("ended", static_cast<int>(verdict.ended), "1",
      "what ended the phase of this residual; 0: its tolerance, 1: all steps were taken, 2: it diverged, 3: it "
      "stalled, "
      "4: it oscillates");
  add("decay", verdict.decay, "1", "largest factor of the residual per free step");
  add("free_steps", verdict.steps, "1", "free steps that were taken");
  add("missing_steps", verdict.missing_steps, "1", "free steps that are missing to settle them; 0: none, or not known");
}

template <class S>
Equilibrium EquilibriumRun<S>::verdict(const Batch& batch) const {
  return judge_free_phase(config_, *exact_copy(*network_, ExactSystem::circuit), phase_, batch);
}

template <class S>
void EquilibriumRun<S>::judge(std::uint64_t step, const Batch& batch) {
  if (!is_judged(step, options_.rate.steps) && !is_doubted(step, log_)) return;
  const Equilibrium found = verdict(batch);
  if (!found.known()) return;
  const bool clean = logged_verdict(log_).clean();
  log_verdict(step, found, log_);
  if (clean && !found.clean()) log_.event(step, sentence(found));
}

/// Notes the reason why a circuit that solves itself failed in a step, or why nothing is left of the step: of the first of steps in a
/// row, and of the last before the run ends.
template <class S>
void EquilibriumRun<S>::note_unsolved(std::uint64_t step, const Batch& batch, const BatchReport& report) {
  if (nonfinite_in_a_row_ != 1 && nonfinite_in_a_row_ != kHopeless) return;
  unsolved_ = why_unsolved(*exact_copy(*network_, ExactSystem::circuit), batch, report.sequences);
  if (!unsolved_.empty()) return log_.event(step, "no solution: " + unsolved_);
  if (report.left_out == static_cast<int>(report.sequences.size())) {
    const AdjointSize limit = adjoint_guard_.limit();
    const auto times = [](double size) { return std::isfinite(size) ? fmt::format("{:.2g}", size) : "without bound"; };
    unsolved_ = fmt::format(
        "all {} sequences are left out: their adjoints are {} and {} times dC/dz (at most {} or {} by "
        "train.leave_out_ratio). The read-out depends on no state, or the equilibrium is nearly lost",
        report.left_out, times(report.adjoint.norm), times(report.adjoint.gain), times(limit.norm), times(limit.gain));
    log_.event(step, "no gradient: " + unsolved_);
  }
  const auto lost = std::count_if(report.sequences.begin(), report.sequences.end(), [](const SequenceReport& one) {
    return one.nudged == Status::diverged && one.free.status != Status::diverged;
  });
  if (lost == 0) return;
  unsolved_ = fmt::format("nudged phases of {} of {} sequences diverge or oscillate", lost, report.sequences.size());
  if (lost == report.diverged && (step == 0 || nonfinite_in_a_row_ == kHopeless)) {
    unsolved_ += settling_beta_text(batch);  // up to 14 gradients
  }
  log_.event(step, "no gradient: " + unsolved_);
}

/// Text of the largest beta at which the phases of a batch settle, without noise; empty: none was found.
template <class S>
std::string EquilibriumRun<S>::settling_beta_text(const Batch& batch) const {
  const auto network = exact_copy(*network_, ExactSystem::circuit);
  BatchGradientOptions options = gradient_options<double>(config_, estimator_);
  options.phases.step = options.phases.free.step = RelaxationStep(config_).of(network->circuit());
  const double beta = largest_settling_beta(*network, options, batch);
  const double unit = std::pow(10.0, std::floor(std::log10(std::max(beta, 1e-300))) - 1);
  const double below = unit * std::floor(beta / unit);  // two digits, not rounded up beyond what settles
  return beta > 0 && beta < options.phases.beta
             ? fmt::format(". At beta = {:.2g} all of them settle, at {:.2g} not", below, options.phases.beta)
             : "";
}

template <class S>
std::string EquilibriumRun<S>::stuck() const {
  if (nonfinite_in_a_row_ < kHopeless) {
    for (std::size_t k = 0; k < hopeless_checks; ++k) {
      if (logged_verdict(log_, k).sound()) return "";
    }
    Equilibrium last = logged_verdict(log_);
    last.keys = advisable_keys(config_);
    return sentence(last);
  }
  return fmt::format("the gradient was not finite {} steps in a row{}{}", kHopeless, unsolved_.empty() ? "" : ": ",
                     unsolved_);
}

#define NUDGE_VERDICT(S)                                                                                  \
  template Equilibrium EquilibriumRun<S>::verdict(const Batch&) const;                                    \
  template void EquilibriumRun<S>::judge(std::uint64_t, const Batch&);                                    \
  template void EquilibriumRun<S>::note_unsolved(std::uint64_t, const Batch&, const BatchReport& report); \
  template std::string EquilibriumRun<S>::settling_beta_text(const Batch&) const;                         \
  template std::string EquilibriumRun<S>::stuck() const;
NUDGE_BOTH_PRECISIONS(NUDGE_VERDICT)

}  // namespace nudge
