// SPDX-License-Identifier: Apache-2.0
#include "training/check/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/device_config.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/config/assembly.hpp"
#include "training/config/hardware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

constexpr double kWanted = 10;  // signal-to-noise of an automatic beta
constexpr double kDrowned = 1;  // a warning
constexpr double kRefused = 0.1;
constexpr double kSeen = NudgeSignal::resolved;
constexpr double kClear = 3;   // where a nudge too small to be seen is measured, and scaled back
constexpr double kNear = 1.3;  // two nudges as good as one
constexpr int kRounds = 7;     // of growing a nudge, each by at most ten
constexpr int kLonger = 4;     // times as many states averaged, at most

bool physical(const Config& config) {
  return on_devices(config) && hardware_section().read(config).level != HardwareLevel::ideal;
}

double two_digits(double x) { return std::stod(fmt::format("{:.1e}", x)); }

/// Measures a nudge that its noise hides: by one so much larger that it is seen, scaled back. `now`: the nudge as measured with `options`.
/// Where none is seen up to `largest`, the displacement up to which phases are linear, the largest one's is an upper bound.
template <class S>
NudgeChoice seen_through(const Network<S>& network, BatchGradientOptions options, const Batch& batch, NudgeChoice now,
                         double largest) {
  const double beta = now.beta;
  if (!now.measured() || now.signal.snr() >= kDrowned || now.signal.noise() == 0) return now;  // noise alone gives less
  now.seen = false;
  constexpr int kDecades = 20;  // from any beta to where phases end to be linear
  double low = beta, high = 0;  // linear, and too large; 0: none was
  for (int round = 0; round < kDecades && !now.seen && !(high > 0 && high < kNear * low); ++round) {
    options.phases.beta = high > 0 ? std::sqrt(low * high) : 10 * low;
    const NudgeChoice next = measured_nudge<S>(network, options, batch);
    const bool linear = next.measured() && next.ratio <= largest;
    (linear ? low : high) = options.phases.beta;
    if (!linear) continue;
    const double back = beta / next.beta;
    now.signal = next.signal.scaled(back);
    now.ratio = next.ratio * back;
    now.seen = next.signal.snr() >= kClear;
  }
  return now;
}

/// Factor by which a nudge may grow.
double growth_of(const NudgeChoice& now, double largest) {
  const double snr = now.signal.snr();
  const double wanted = snr > kSeen ? std::min(10.0, kWanted / snr) : 10;
  return snr > kSeen && now.ratio > 0 ? std::min(wanted, largest / now.ratio) : wanted;
}

bool open(const Config& config, const char* key) { return config.origin(key).layer <= Layer::preset; }

/// Averages more states of the nudged phase until the signal stands above the noise: independent noise falls with the
/// root of their number. `now`: the nudge measured with `options`, returned where more states do not help.
template <class S>
NudgeChoice averaged_longer(const Config& config, const Network<S>& network, const BatchGradientOptions& options,
                            const Batch& batch, const NudgeChoice& now) {
  const double snr = now.signal.snr();
  if (!now.measured() || snr >= kWanted || snr < kSeen || !open(config, "relaxation.average_nudged") ||
      !open(config, "relaxation.nudged_steps") || phase_options(config).sweeps() || options.phases.oscillation.on()) {
    return now;
  }
  BatchGradientOptions longer = options;
  const int average = options.phases.average_nudged;
  longer.phases.average_nudged =
      static_cast<int>(std::ceil(average * std::min<double>(kLonger, kWanted / snr * (kWanted / snr))));
  longer.phases.nudged_steps += longer.phases.average_nudged - average;
  NudgeChoice next = measured_nudge<S>(network, longer, batch);
  if (!(next.signal.snr() > snr)) return now;
  next.steps = longer.phases.nudged_steps;
  next.average = longer.phases.average_nudged;
  return next;
}

std::string volts(double value) { return format_quantity(value, Unit::volt, 2); }

/// True if neither the nudge nor noise moves the reads of any state (a converter of few bits): there is no ratio of the
/// two.
bool still(const NudgeSignal& signal) { return signal.known() && signal.displacement() == 0 && signal.noise() == 0; }

/// Text of the displacement: "moves the nodes by 1.2 mV beside 0.25 mV of noise: signal-to-noise 4.8"; no ratio where there is none.
std::string moved_text(const NudgeChoice& choice, double unit_V) {
  const NudgeSignal& signal = choice.signal;
  if (still(signal)) return "moves no node measurably, and noise moves none either";
  if (!choice.seen && signal.displacement() == 0) {
    return fmt::format("moves the nodes by less than their noise of {} resolves", volts(signal.noise() * unit_V));
  }
  const char* bound = choice.seen ? "" : "at most ";
  const std::string moved = fmt::format("moves the nodes by {}{}", bound, volts(signal.displacement() * unit_V));
  if (signal.noise() == 0) return moved + ", and their reads have no noise";
  return fmt::format("{} against {} of noise: signal-to-noise {}{:.2g}", moved, volts(signal.noise() * unit_V), bound,
                     signal.snr());
}

/// Advice for a nudge that no read shows.
std::string still_advice(const Config& config) {
  const int bits = circuit_spec(config).phase_adc.bits;
  return fmt::format("every gradient would be 0: use a larger beta{}",
                     bits > 0 ? fmt::format(", or raise circuit.phase_adc_bits = {}, whose steps exceed the shift "
                                            "by the nudge (0: an ideal converter)",
                                            bits)
                              : "");
}

}  // namespace

// Transposed: linear in the nudge but for gates of the memory that switch, and, live, the cost. Forward attention: the quadratic
// remainder of a softmax, whose basin ends at 2e-4 to 2e-3 in trained networks. Others: activations.
double largest_nudge(const Config& config, const std::string& estimator) {
  if (estimator_kind(estimator).nudge == Nudge::transposed)
    return phase_options(config).phases.frozen_cost ? 0.3 : 0.03;
  return network_kind(config).takes == Rows::symbols ? 2e-4 : 0.1;
}

template <class S>
NudgeChoice measured_nudge(const Network<S>& network, BatchGradientOptions options, const Batch& batch) {
  options.growth.strength = 0;
  options.noise_every = 1;
  BatchGradient<S> learner(network, options);
  Gradient<S> gradient(network.parameter_shapes());
  NudgeChoice choice{options.phases.beta};
  try {
    choice.signal = learner.compute(batch, 0, gradient).signal;
  } catch (const NumericalFailure&) {
    return choice;  // a nudge too large to settle: unmeasured here, and the run's to report
  }
  if (!std::isfinite(choice.signal.noise()) || !std::isfinite(choice.signal.displacement())) {
    choice.signal = {};  // no equilibrium to begin with: the same
    return choice;
  }
  double squares = 0, entries = 0;
  for (const Matrix<S>& state : learner.states()) {
    squares += static_cast<double>(state.squaredNorm());
    entries += static_cast<double>(state.size());
  }
  if (squares > 0) choice.ratio = choice.signal.displacement() / std::sqrt(squares / entries);
  return choice;
}

template <class S>
NudgeChoice chosen_nudge(const Config& config, const Network<S>& network, const std::string& estimator,
                         const Batch& batch) {
  BatchGradientOptions options = gradient_options<S>(config, estimator);
  NudgeChoice now{options.phases.beta};
  const Circuit<S>& circuit = network.circuit();
  const bool noisy = circuit.noisy() || circuit.sampled_noise() > 0 || !options.hold.ideal();
  if (estimator_kind(options.estimator).nudge == Nudge::none || !noisy) return now;
  options.phases.step = options.phases.free.step = RelaxationStep(config).of(network.circuit());
  now = measured_nudge<S>(network, options, batch);
  const double largest = largest_nudge(config, options.estimator);
  if (phase_options(config).phases.beta > 0 || !physical(config)) {
    return seen_through<S>(network, options, batch, now, largest);
  }
  for (int round = 0; round < kRounds && now.measured() && now.signal.snr() < kWanted; ++round) {
    const double growth = growth_of(now, largest);
    if (growth < 1.1) break;
    options.phases.beta = two_digits(now.beta * growth);
    const NudgeChoice next = measured_nudge<S>(network, options, batch);
    if (!std::isfinite(next.signal.snr()) || next.ratio > 2 * largest) break;  // unmeasured is not a number
    now = next;
  }
  options.phases.beta = now.beta;
  return averaged_longer<S>(config, network, options, batch, seen_through<S>(network, options, batch, now, largest));
}

double largest_settling_beta(const Network<double>& network, BatchGradientOptions options, const Batch& batch) {
  options.growth.strength = 0;
  options.noise_every = 0;
  const auto settles = [&](double beta) {
    options.phases.beta = beta;
    BatchGradient<double> learner(network, options);
    Gradient<double> gradient(network.parameter_shapes());
    try {
      const std::vector<SequenceReport> all = learner.compute(batch, 0, gradient).sequences;
      return std::all_of(all.begin(), all.end(),
                         [](const SequenceReport& one) { return one.nudged == Status::converged; });
    } catch (const NumericalFailure&) {
      return false;
    }
  };
  double high = options.phases.beta, low = high;
  for (int halved = 0; !settles(low); ++halved) {
    if (halved == 10) return 0;
    high = low;
    low /= 2;
  }
  for (int round = 0; round < 3 && low < high; ++round) {
    const double middle = std::sqrt(low * high);
    (settles(middle) ? low : high) = middle;
  }
  return low;
}

NudgeChoice chosen_nudge(const Config& config, const RunParts& parts) {
  if (!on_devices(config)) return {};
  const auto chosen = [&]<class S>(S /*arithmetic*/) {
    const auto network = make_network<S>(config, parts.plan, Weights::configured);
    return chosen_nudge<S>(config, *network, "", parts.task->training(0));
  };
  return run_options(config).double_precision() ? chosen(double{}) : chosen(float{});
}

Config with_nudge(const Config& config, const NudgeChoice& choice) {
  Config chosen = config;
  if (phase_options(config).phases.beta > 0 || !choice.measured() || !physical(config)) return chosen;
  const std::string why = "chosen for its signal-to-noise";
  chosen.set_from_text("beta", fmt::format("{}", choice.beta), why);
  if (choice.average > 0) {
    chosen.set_from_text("relaxation.average_nudged", std::to_string(choice.average), why);
    chosen.set_from_text("relaxation.nudged_steps", std::to_string(choice.steps), why);
  }
  return chosen;
}

std::string nudge_text(const Config& config, const NudgeChoice& choice) {
  const double unit = circuit_spec(config).read_voltage_V;
  return fmt::format("beta = {}{} {}", choice.beta,
                     choice.average > 0
                         ? fmt::format(" and the mean of the last {} of {} nudged steps", choice.average, choice.steps)
                         : "",
                     moved_text(choice, unit));
}

std::string nudge_warning(const Config& config, const NudgeChoice& choice) {
  if (!choice.measured() || choice.signal.snr() >= kDrowned) return "";
  if (still(choice.signal)) return fmt::format("{}; {}", nudge_text(config, choice), still_advice(config));
  const PhaseOptions options = phase_options(config);
  const double snr = choice.signal.snr();
  if (!choice.seen) {
    return fmt::format(
        "{}: below the noise of the nodes, even at the largest beta at which {} is linear; lower the "
        "noise",
        nudge_text(config, choice), run_options(config).estimator);
  }
  const double lift = kWanted / snr;
  std::string advice;
  const double largest = largest_nudge(config, run_options(config).estimator);
  if (choice.ratio * lift <= largest) {
    advice = fmt::format("beta = {} lifts it to {}", two_digits(choice.beta * lift), kWanted);
  } else {
    const Oscillation& swing = options.phases.oscillation;
    const double longer = 1 / (snr * snr);
    advice = fmt::format(
        "a larger beta leaves the linear range of {} (|z - z*|/|z*| = {}): use nudge.cost_current = frozen with "
        "aep_transposed, which allows a larger beta, or average the noise with {}",
        run_options(config).estimator, largest,
        swing.on() ? fmt::format("nudge.periods = {}", std::ceil(swing.periods * longer))
                   : fmt::format("relaxation.average_nudged = {} with as many more nudged_steps",
                                 std::ceil(options.phases.average_nudged * longer)));
  }
  return fmt::format("{}: below the noise of the nodes; {}", nudge_text(config, choice), advice);
}

std::string drowned_note(double snr) {
  return fmt::format(
      "the nudge ends below the noise of its nodes: signal-to-noise {}{}. Raise beta or average longer; `nudge config "
      "check` says which",
      snr_text(snr), snr < kSeen ? ", which its reads do not resolve" : "");
}

std::string snr_text(double snr) {
  if (!std::isfinite(snr)) return "-";
  return snr < kSeen ? fmt::format("below {}", kSeen) : fmt::format("{:.2g}", snr);
}

bool reads_below_noise(const Config& config) {
  const EstimatorKind* kind = find_estimator(run_options(config).estimator);
  return kind != nullptr && find_row(kind->keys, "nudge.below_noise") != nullptr;
}

void check_nudge(const Config& config, const NudgeChoice& choice) {
  if (!choice.measured() || choice.signal.snr() >= kRefused || phase_options(config).phases.below_noise) return;
  throw UserError(fmt::format("beta = {} ({}{})", config.as_text("beta"), nudge_warning(config, choice),
                              reads_below_noise(config) ? "; nudge.below_noise = true runs it anyway" : ""));
}

#define NUDGE_NUDGE_CHOICE(S)                                                                    \
  template NudgeChoice measured_nudge<S>(const Network<S>&, BatchGradientOptions, const Batch&); \
  template NudgeChoice chosen_nudge<S>(const Config&, const Network<S>&, const std::string&, const Batch&);
NUDGE_BOTH_PRECISIONS(NUDGE_NUDGE_CHOICE)

}  // namespace nudge
