// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/check/choices.hpp"
#include "training/check/free_phase_check.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

constexpr double kNothing = 0.1;
constexpr double kTold = 0.01;  // smaller shares and rises are not told
constexpr int kStretched = 4;
constexpr int kBatches = 4;
constexpr double kAssumed = 5;   // steps of training that a comparison costs which failed
constexpr double kFixed = 1e-6;  // |F|/|z| of a fixed point, a thousandth of what is told

/// A part of a circuit by the keys that describe it: at their defaults it is ideal.
struct CircuitPart {
  const char* name;
  std::vector<std::string> keys;
};

const std::vector<CircuitPart>& parts_of_circuit() {
  static const std::vector<CircuitPart> all = {
      {"noise of amplifiers", {"crossbar.forward_noise", "crossbar.transposed_noise"}},
      {"noise of drivers", {"crossbar.forward_driver_noise", "crossbar.transposed_driver_noise"}},
      {"noise of gains", {"crossbar.forward_gain_noise", "crossbar.transposed_gain_noise"}},
      {"offsets of amplifiers", {"crossbar.forward_offset", "crossbar.transposed_offset"}},
      {"bandwidth of amplifiers", {"circuit.gain_bandwidth", "circuit.amplifier_bandwidth"}},
      {"spread of gains and leaks",
       {"crossbar.forward_gain_spread", "crossbar.transposed_gain_spread", "circuit.leak_spread"}},
      {"thermal and shot noise", {"circuit.thermal_noise", "circuit.shot_noise"}},
      {"noise of device reads",
       {"device.read_noise", "device.read_saturating", "device.noise_level", "device.noise_white",
        "device.noise_exponent", "device.noise_trap_high", "device.noise_trap_low", "device.flicker_noise",
        "device.flicker_fit", "device.noise_flicker", "device.telegraph_share", "device.noise_trap"}},
      {"holds", {"circuit.hold_capacitance", "circuit.hold_offset"}},
      {"converter of the states", {"circuit.phase_adc_bits"}},
      {"INL of converters",
       {"crossbar.forward_dac_inl", "crossbar.forward_adc_inl", "crossbar.transposed_dac_inl",
        "crossbar.transposed_adc_inl"}},
      {"converters of the arrays",
       {"crossbar.forward_dac_bits", "crossbar.forward_adc_bits", "crossbar.transposed_dac_bits",
        "crossbar.transposed_adc_bits", "crossbar.forward_dac_inl", "crossbar.forward_adc_inl",
        "crossbar.transposed_dac_inl", "crossbar.transposed_adc_inl"}},
      {"resistance of wires",
       {"crossbar.row_resistance", "crossbar.column_resistance", "crossbar.driver_resistance",
        "crossbar.sense_resistance"}},
  };
  return all;
}

/// The config with the part ideal; nothing where it is.
std::optional<Config> without(const Config& config, const CircuitPart& part) {
  Config out = config;
  bool changed = false;
  for (const std::string& key : part.keys) {
    const std::string ideal = standard_program_config().as_text(key);
    if (config.as_text(key) == ideal || !network_reads(config, key)) continue;
    out.set_from_text(key, ideal);
    changed = true;
  }
  return changed ? std::optional<Config>(out) : std::nullopt;
}

struct Compared {
  double cosine = std::numeric_limits<double>::quiet_NaN();
  double noise = 0;
  double steps = 0;     ///< cost of the comparison, in steps of training
  double products = 0;  ///< of a weight and a state in a step
};

/// Exact gradient of the circuit at its fixed points. Throws NumericalFailure where it is not known: to 1e-3, a tenth of what is told.
template <class S>
Reference circuit_gradient(const Config& config, const Network<S>& network, const Batch& batch, double step,
                           int longest) {
  BatchGradientOptions options = exact_options<double>(config);
  options.phases.step = options.phases.free.step = step;
  if (moves_input(config)) return exact_gradient(*exact_copy<S>(network, ExactSystem::circuit), options, batch);
  options.phases.free.max_steps *= longest;
  options.phases.free.tolerance = kFixed;
  options.phases.free.average_last = 1;
  options.phases.adjoint_tolerance = 1e-4;
  if (options.phases.free.solver == SettleSolver::direct) options.estimator = "adjoint";
  as_visited(options);
  Reference exact = exact_gradient(*exact_copy<S>(network, ExactSystem::circuit), options, batch);
  constexpr double known = 1e-3;
  if (exact.report.left_out > 0 || !(exact.facts.residual <= known) || !(exact.facts.adjoint_residual <= known)) {
    throw NumericalFailure("the exact gradient of the first batch is not known");
  }
  return exact;
}

template <class S>
double weights_of(const Network<S>& network) {
  double weights = 0;
  for (const auto& shape : network.parameter_shapes()) weights += static_cast<double>(shape.rows * shape.cols);
  return weights;
}

template <class S>
Compared measure_as(const Config& config, const RunParts& run, int longest, std::uint64_t number) {
  const auto network = make_network<S>(config, run.plan, Weights::configured);
  const double step = RelaxationStep(config).of(network->circuit());
  const Batch batch = run.task->training(number);
  BatchGradientOptions options = gradient_options<S>(config, "");
  options.growth.strength = 0;
  options.noise_every = 1;
  const double once = options.phases.free.max_steps;
  as_visited(options);
  options.phases.step = options.phases.free.step = step;
  Compared out;
  try {
    Gradient<S> estimate(network->parameter_shapes());
    BatchGradient<S> learner(*network, options);
    const BatchReport report = learner.compute(batch, number, estimate);
    if (report.signal.known() && std::isfinite(report.signal.noise())) out.noise = report.signal.noise();
    const Reference exact = circuit_gradient<S>(config, *network, batch, step, longest);
    out.cosine = agreement<double>(in_double(estimate), exact.gradient, equilibrium_groups(network->plan())).cosine;
    const double nudged = std::max(0.0, report.cost_in_forces - report.steps);
    const double forces = report.steps * once / options.phases.free.max_steps + nudged;  // of a step of training
    constexpr double double_precision = std::is_same_v<S, float> ? 2 : 1;
    const double spent =
        report.cost_in_forces + nudged + double_precision * exact.report.cost_in_forces;  // noise: twice
    out.steps = forces > 0 ? spent / forces : 0;
    out.products = weights_of<S>(*network) * static_cast<double>(batch.sequences * network->rows()) * forces;
  } catch (const NumericalFailure&) {
    return {};  // the run's to report
  }
  return out;
}

Compared measure(const Config& config, const RunParts& run, int longest, std::uint64_t number = 0) {
  return run_options(config).double_precision() ? measure_as<double>(config, run, longest, number)
                                                : measure_as<float>(config, run, longest, number);
}

/// Takes the mean over further batches, of cosines that are no good.
void take_more_batches(const Config& config, const RunParts& run, const Compared& first, LookAt what,
                       GradientForecast& out) {
  double sum = first.cosine;
  for (std::uint64_t b = 1; b < kBatches && out.cosine < fair_cosine; ++b) {
    const bool free = first.products <= what.products || static_cast<double>(b + 1) * first.steps <= what.steps;
    if (!free && !(out.cosine < kNothing)) return;
    const Compared more = measure(config, run, what.longest, b);
    if (std::isnan(more.cosine)) continue;
    sum += more.cosine;
    ++out.batches;
    out.cosine = sum / out.batches;
  }
}

/// Adds what is left without a part.
void look_at(const std::string& name, const Config& ideal, const RunParts& run, const Compared& all, int longest,
             std::vector<ErrorPart>& parts) {
  const Compared left = measure(ideal, run, longest);
  if (std::isnan(left.cosine)) return;  // nothing is known without it
  const double share = all.noise > 0 ? std::max(0.0, 1 - std::pow(left.noise / all.noise, 2)) : 0;
  if (left.cosine > all.cosine + kTold || share > kTold || (std::isnan(all.cosine) && !std::isnan(left.cosine))) {
    parts.push_back({name, left.cosine, share});
  }
}

}  // namespace

bool is_forecast(const Config& config) {
  const EstimatorKind* kind = find_estimator(run_options(config).estimator);
  return on_devices(config) && train_options(config).learns == "all" && kind != nullptr &&
         (kind->nudge != Nudge::none || kind->name == own_estimator_name);
}

namespace {

/// Share of a run that a look at all parts of the circuit may cost, and least steps of a run that begins with a forecast, which costs three
/// to five of them (docs/reference/estimators.md).
constexpr double kForecastShare = 0.05;
constexpr std::uint64_t kForecastSteps = 100;

std::uint64_t least_steps(const Config& config) {
  return kForecastSteps * (phase_options(config).persistent_states ? judged_visits : 1);
}

}  // namespace

LookAt LookAt::of_run(const Config& config) {
  return {kForecastShare * static_cast<double>(train_options(config).rate.steps)};
}

bool begins_with_forecast(const Config& config) {
  return is_forecast(config) && train_options(config).rate.steps >= least_steps(config);
}

std::string no_forecast_text(const Config& config) {
  if (!is_forecast(config) || begins_with_forecast(config)) return "";
  return fmt::format(
      "{}it costs up to five steps, so only runs of {} steps or more make it. `nudge config check` makes it",
      no_forecast_begins, least_steps(config));
}

std::string forecast_warning(const Config& config, const GradientForecast& forecast) {
  if (!begins_with_forecast(config) || !(warns(forecast) || std::isnan(forecast.cosine))) return "";
  return forecast_text(forecast) +
         (forecast.looked ? "" : " (`nudge config check` examines every part of the circuit)");
}

std::optional<Config> longer(const Config& config, int times) {
  Config out = config;
  for (const char* key : {"relaxation.free_steps", "relaxation.nudged_steps"}) {
    if (!network_reads(config, key)) return std::nullopt;
    out.set_from_text(key, std::to_string(times * config.integer(key)));
  }
  return out;
}

double first_cosine(const Config& config, const RunParts& run) {
  return measure(config, run, LookAt::quick_parts.longest).cosine;
}

GradientForecast forecast_gradient(const Config& config, const RunParts& run, LookAt what) {
  const Compared all = measure(config, run, what.longest);
  GradientForecast out;
  out.cosine = out.first = all.cosine;
  out.noise_V = all.noise * circuit_spec(config).read_voltage_V;
  out.steps = all.steps;
  take_more_batches(config, run, all, what, out);
  std::vector<std::pair<const char*, Config>> parts;
  for (const CircuitPart& part : parts_of_circuit()) {
    if (const auto ideal = without(config, part)) parts.emplace_back(part.name, *ideal);
  }
  const double each = all.steps > 0 ? all.steps : kAssumed;
  double cost = static_cast<double>(parts.size() + 1) * each;
  if (const auto slower = longer(config, kStretched)) {
    parts.emplace_back("short phases", *slower);
    cost += kStretched * each;
  }
  out.looked = cost <= what.steps || all.products <= what.products;
  if (!out.looked) return out;
  for (const auto& [name, ideal] : parts) look_at(name, ideal, run, all, what.longest, out.parts);
  std::stable_sort(out.parts.begin(), out.parts.end(),
                   [](const ErrorPart& a, const ErrorPart& b) { return a.cosine > b.cosine; });
  return out;
}

bool warns(const GradientForecast& forecast) { return forecast.cosine < fair_cosine; }

std::string forecast_text(const GradientForecast& forecast) {
  std::string text =
      std::isnan(forecast.cosine)
          ? std::string("the gradient of the first batch cannot be compared: it is 0, or its phases do not settle")
      : forecast.batches == 1
          ? fmt::format("the gradient of the first batch has a cosine of {:.3f} with the exact one", forecast.cosine)
          : fmt::format("the gradients of the first {} batches have a mean cosine of {:.3f} with the exact ones",
                        forecast.batches, forecast.cosine);
  const auto& parts = forecast.parts;
  if (parts.empty() || parts.front().cosine < forecast.first + kTold) return text;
  text += fmt::format("; without {} ", parts.front().name);
  return text + (forecast.batches == 1
                     ? fmt::format("it is {:.3f}", parts.front().cosine)
                     : fmt::format("the first has {:.3f} instead of {:.3f}", parts.front().cosine, forecast.first));
}

std::string noise_text(const GradientForecast& forecast) {
  std::vector<std::string> shares;
  std::vector<ErrorPart> parts = forecast.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const ErrorPart& a, const ErrorPart& b) { return a.noise_share > b.noise_share; });
  for (const ErrorPart& part : parts) {
    if (part.noise_share > kTold)
      shares.push_back(fmt::format("{:.0f} % without {}", 100 * part.noise_share, part.name));
  }
  if (forecast.noise_V == 0 || shares.empty()) return "";
  return fmt::format("{}{}; its variance falls by {}", noise_text_begins,
                     format_quantity(forecast.noise_V, Unit::volt, 3), fmt::join(shares, ", "));
}

void check_forecast(const Config& config, const GradientForecast& forecast) {
  const bool allowed = phase_options(config).phases.below_noise || !reads_below_noise(config);
  if (!(forecast.cosine < kNothing) || allowed) return;
  throw UserError(fmt::format("estimator = {} ({}; nudge.below_noise = true runs it anyway)",
                              run_options(config).estimator, forecast_text(forecast)));
}

}  // namespace nudge
