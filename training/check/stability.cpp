// SPDX-License-Identifier: Apache-2.0
#include "training/check/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "circuits/circuit_dynamics.hpp"
#include "sim/base/parallel.hpp"
#include "sim/direct.hpp"
#include "sim/failure.hpp"
#include "sim/moving.hpp"
#include "training/check/choices.hpp"
#include "training/check/free_phase_check.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
namespace {

constexpr Index kSpectra = 4;  ///< sequences looked at: their spectra differ little, one costs some hundred jvps
constexpr double kForgotten = 1e-3;

}  // namespace

SpectrumOptions stability_spectrum(std::uint64_t seed) {
  SpectrumOptions options;
  options.tolerance = 1e-6;
  options.max_applications = 2000;
  options.seed = seed;
  return options;
}

namespace {

/// Spectrum of one sequence at z, of its units and their speeds.
Spectrum spectrum_of(Dynamics<double>& dynamics, const Matrix<double>& z, const Motion& motion, std::uint64_t seed) {
  Moving all(dynamics, motion);
  Linearization<double>& here = all.linearize(all.at_rest(z));
  return leading_eigenvalues<double>(here, all.rows(), all.cols(), stability_spectrum(seed), all.moving());
}

/// Factor by which a mode of eigenvalue λ shrinks in a parallel Euler step ε: |1 + ελ|; with a mass (speeds kept k, gained g per step)
/// of μ = λ (Γ + M λ), the larger root of m² − (1 + k + εgμ) m + k = 0. Where friction differs by node μ is not known: e^{ε Re λ}.
double factor_of(std::complex<double> lambda, double step, const Motion& motion) {
  if (motion.first_order()) return std::abs(1.0 + step * lambda);
  if (!motion.uniform()) return std::exp(step * lambda.real());
  const double gamma = motion.friction.front();
  const double kept = motion.kept(step, gamma), gained = motion.gained(step, gamma);
  const std::complex<double> half = (1 + kept + step * gained * lambda * (gamma + motion.mass * lambda)) / 2.0;
  const std::complex<double> root = std::sqrt(half * half - kept);
  return std::max(std::abs(half + root), std::abs(half - root));
}

/// Slower root of λ (Γ + M λ) = −leak at the mean friction.
std::complex<double> in_motion(double leak, const Motion& motion) {
  const double gamma = motion.mean_friction();
  if (motion.first_order()) return -leak;
  return (std::sqrt(std::complex<double>(gamma * gamma - 4 * motion.mass * leak)) - gamma) / (2 * motion.mass);
}

}  // namespace

void bind_ideally(const Network<double>& network, const Batch& batch, Index sequence,
                  CircuitDynamics<double>& dynamics) {
  Matrix<double> input;
  network.clamp(batch, sequence, input);
  ReadContext read;
  read.policy = ReadPolicy::all_ideal();
  dynamics.bind(input, read);
}

StabilityReport measure_stability(const Network<double>& network, const Batch& batch,
                                  const std::vector<Matrix<double>>& states, const std::vector<SequenceReport>& reports,
                                  const SettleOptions& phase, std::uint64_t seed, int threads) {
  const Index count = std::min(kSpectra, batch.sequences);
  std::vector<Spectrum> spectra(static_cast<std::size_t>(count));
  std::vector<double> asymmetries(spectra.size());
  std::vector<Equilibrium> verdicts(spectra.size());
  StabilityReport out;
  out.sequences = static_cast<int>(count);
  out.feed_forward = network.circuit().feed_forward();
  parallel_for(count, threads, [&](Index b, int /*thread*/) {
    const auto at = static_cast<std::size_t>(b);
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    bind_ideally(network, batch, b, dynamics);
    const bool finite = states[at].allFinite();
    asymmetries[at] = finite
                          ? asymmetry<double>(dynamics.linearize(states[at]), network.rows(), network.cols(), 8, seed)
                          : std::numeric_limits<double>::quiet_NaN();
    if (out.feed_forward) return;
    verdicts[at] = judge_point(dynamics, states[at], network.plan().couples_rows(), reports[at].free, phase.motion);
    if (!(verdicts[at].lost > 0)) spectra[at] = spectrum_of(dynamics, states[at], phase.motion, seed);
  });
  for (std::size_t b = 0; b < spectra.size(); ++b) {
    out.asymmetry += asymmetries[b] / static_cast<double>(count);
    out.at.add(verdicts[b]);
  }
  if (out.feed_forward) {
    const std::complex<double> slowest = in_motion(network.circuit().least_leak(), phase.motion);
    for (auto& spectrum : spectra) spectrum = {{{slowest, 0}}, slowest.real(), true};
  }
  if (!out.at_rest()) return out;
  out.converged = true;
  const double step = parallel_step(phase);
  for (std::size_t b = 0; b < spectra.size(); ++b) {
    out.converged = out.converged && spectra[b].converged;
    if (spectra[b].leading.empty()) continue;
    if (!(spectra[b].abscissa <= out.abscissa)) {
      out.worst = static_cast<int>(b);
      out.abscissa = spectra[b].abscissa;
      out.leading = spectra[b].leading;
    }
    for (const Eigenvalue& e : spectra[b].leading) {
      if (step > 0) out.decay = std::fmax(out.decay, factor_of(e.value, step, phase.motion));
    }
  }
  if (out.abscissa >= 0 && !phase.motion.first_order()) {
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    bind_ideally(network, batch, out.worst, dynamics);
    out.slow_amplifiers = spectrum_of(dynamics, states[static_cast<std::size_t>(out.worst)], {}, seed).abscissa < 0;
  }
  return out;
}

HopfForm hopf_of(const Network<double>& network, const Batch& batch, Index sequence, const Matrix<double>& state,
                 const Motion& motion) {
  if (network.circuit().feed_forward()) return {};
  CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
  bind_ideally(network, batch, sequence, dynamics);
  Moving all(dynamics, motion);
  const Matrix<double> x = all.at_rest(state);
  all.linearize(x);
  return hopf_normal_form(all, x, all.moving());
}

std::string stability_alarm(const StabilityReport& report, int free_steps) {
  if (report.feed_forward || report.leading.empty()) return "";
  const double left = std::pow(report.decay, free_steps);
  const bool stays = left > kForgotten;
  if (!stays && report.abscissa < 0) return "";
  return fmt::format(
      "margin {:.3g} per tau: {}", -report.abscissa,
      stays ? fmt::format("{} free steps leave {:.2g} of a perturbation, above {:.0e}", free_steps, left, kForgotten)
            : "perturbations of the equilibrium grow");
}

std::string decay_forecast(const std::vector<double>& steps, const std::vector<double>& decays, int free_steps) {
  constexpr std::size_t kLast = 5;
  constexpr double kAhead = 8;
  NUDGE_EXPECT(free_steps > 0);
  const std::size_t known = std::min(steps.size(), decays.size());  // a file of an older version has none of the first
  if (known < kLast) return "";
  const auto x = Eigen::Map<const Eigen::ArrayXd>(steps.data() + steps.size() - kLast, kLast) - steps.back();
  const Eigen::ArrayXd y = -Eigen::Map<const Eigen::ArrayXd>(decays.data() + decays.size() - kLast, kLast).log();
  const double least = -std::log(kForgotten) / free_steps;
  if (!y.allFinite() || y(kLast - 1) <= least) return "";
  const double slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum();
  const double now = y.mean() - slope * x.mean();
  const double interval = -x(0) / (kLast - 1);
  if (!(slope < 0) || now + slope * kAhead * interval > least) return "";
  return fmt::format(
      "a free step leaves {:.3g} of a perturbation, and this grows during training: above {:.3g} a perturbation "
      "survives {} free steps",
      decays.back(), std::exp(-least), free_steps);
}

double measured_decay(const Equilibrium& phases) {
  return phases.known() && phases.steps > 0 ? std::pow(phases.residual, 1.0 / phases.steps) : Equilibrium::unknown;
}

namespace {

/// What mends amplifiers that are too slow: the key of their bandwidth that the network reads.
std::string quickening(const Equilibrium& phases) {
  for (const char* key : {"circuit.gain_bandwidth", "circuit.amplifier_bandwidth"}) {
    if (phases.may_name(key)) return std::string("raise ") + key;
  }
  return steadying(phases);
}

/// Verdict on phases whose longer ones do not come to rest.
std::string restless_verdict(Equilibrium phases, const Equilibrium& longer) {
  const std::string unknown = "; nothing is known of stability: longer phases end ";
  if (longer.ended == Status::converged)
    return sentence(phases) + unknown + "where the Jacobian is nearly singular, " + ended_text(longer);
  if (phases.settled < 1 && longer.ended != Status::max_steps) {  // no number of steps settles them
    phases.none = 1;
    phases.abscissa = Equilibrium::unknown;
    phases.missing_steps = 0;
  }
  return sentence(phases) + unknown + "at no equilibrium, " + ended_text(longer);
}

}  // namespace

std::string stability_verdict(const StabilityReport& report, const Equilibrium& phases) {
  std::string out = sentence(phases);
  if (report.feed_forward) {
    return out +
           "; stable for any weights, because J is lower triangular. One sweep, or one unit step per node, settles "
           "it exactly";
  }
  if (!report.at_rest()) return restless_verdict(phases, report.at);
  if (report.leading.empty()) return "no verdict: the eigenvalues could not be computed; " + out;
  if (report.abscissa >= 0) {
    out = fmt::format("unstable: perturbations of the equilibrium grow ({:+.3g} per tau); {}", report.abscissa,
                      report.slow_amplifiers ? "the amplifiers are too slow: " + quickening(phases)
                                             : "a circuit leaves it: " + steadying(phases));
  } else if (phases.known() && phases.settled < 1 && std::isnan(phases.abscissa) && report.decay >= 1) {
    out += "; the equilibrium is stable, but Euler steps of this size overshoot";
    if (phases.may_name("relaxation.step")) out += ": lower relaxation.step";
  }
  const double frequency = turning_rate(report);
  if (frequency == 0) return out;
  return out + fmt::format(
                   "; the leading pair is complex and turns once in {:.3g} tau, so beyond the margin the state "
                   "oscillates (Hopf bifurcation)",
                   2 * std::numbers::pi / frequency);
}

std::string why_unsolved(const Network<double>& network, const Batch& batch,
                         const std::vector<SequenceReport>& reports) {
  for (std::size_t b = 0; b < reports.size(); ++b) {
    if (reports[b].free.status != Status::diverged) continue;
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    const auto* tells = dynamic_cast<const TellsFailure*>(dynamics.direct());
    if (tells == nullptr) return "";
    bind_ideally(network, batch, static_cast<Index>(b), dynamics);
    Matrix<double> z = Matrix<double>::Zero(network.rows(), network.cols());
    static_cast<void>(dynamics.direct()->solve(z, {}));
    return tells->failure();
  }
  return "";
}

namespace {

struct ChipStudy {
  ChipStability chip;
  HopfForm hopf;
  StabilityReport report;
  Equilibrium phases;
};

template <class S>
ChipStudy study_chip(const Config& config, const RunParts& parts, const Batch& batch, bool first) {
  const auto network = make_network<S>(config, parts.plan, Weights::configured);
  const auto exact = exact_copy(*network, ExactSystem::circuit);
  SettleOptions phase = gradient_options<double>(config, "").phases.free;
  phase.step = RelaxationStep(config).of(network->circuit());
  const Reference points = reference_gradient(config, *exact, phase.step, batch);
  const RunOptions run = run_options(config);
  ChipStudy out;
  out.chip.seed = run.seed;
  out.chip.residual = points.facts.residual;
  out.chip.abscissa = std::numeric_limits<double>::quiet_NaN();
  out.report = measure_stability(*exact, batch, points.states, points.report.sequences, phase, run.seed, run.threads);
  if (first) out.phases = judge_free_phase(config, *exact, phase, batch);
  if (out.report.leading.empty()) return out;
  out.chip.abscissa = out.report.abscissa;
  out.chip.frequency = turning_rate(out.report);
  const int worst = out.report.worst;
  if (first && out.chip.frequency > 0)
    out.hopf = hopf_of(*exact, batch, worst, points.states[static_cast<std::size_t>(worst)], phase.motion);
  out.chip.settles = points.facts.settled == points.facts.sequences && out.report.abscissa < 0;
  return out;
}

}  // namespace

void expect_equilibrium(const Config& config) {
  if (moves_input(config)) {
    throw UserError(
        "data.frames is above 1: inputs that change in time leave no equilibrium whose stability could be told");
  }
}

double turning_rate(const StabilityReport& report) {
  if (report.leading.empty()) return 0;
  const auto& first = report.leading.front().value;
  const double frequency = std::abs(first.imag());
  return frequency > 1e-6 * std::abs(first) ? frequency : 0;
}

ChipYield chip_yield(const Config& asked, int chips, const std::function<void(const std::string&)>& tell) {
  expect_equilibrium(asked);
  const RunParts parts = circuit_parts(asked);
  const Config config = leaves_circuit_open(asked) ? chosen_circuit(asked, parts) : asked;
  const Batch batch = parts.task->training(0);
  const std::uint64_t first = run_options(config).seed;
  ChipYield out;
  int settled = 0;
  for (int k = 0; k < chips; ++k) {
    if (tell) tell(fmt::format("chip {} of {}", k + 1, chips));
    Config own = config;
    own.set_from_text("seed", std::to_string(first + static_cast<std::uint64_t>(k)));
    const ChipStudy study = run_options(own).double_precision() ? study_chip<double>(own, parts, batch, k == 0)
                                                                : study_chip<float>(own, parts, batch, k == 0);
    if (k == 0) {
      out.report = study.report;
      out.phases = study.phases;
      out.hopf = study.hopf;
    }
    settled += study.chip.settles ? 1 : 0;
    out.chips.push_back(study.chip);
  }
  out.verdict = stability_verdict(out.report, out.phases);
  out.margin = -out.chips.front().abscissa;
  out.hopf_frequency = out.chips.front().frequency;
  out.yield = static_cast<double>(settled) / chips;
  out.interval = share_interval(out.yield, chips);
  return out;
}

}  // namespace nudge
