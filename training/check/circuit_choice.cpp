// SPDX-License-Identifier: Apache-2.0
// Settings of the circuit that the arrays or the first batch decide.
#include <fmt/format.h>

#include <array>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/device_config.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/check/choices.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
namespace {

/// Converter of a config, and the largest value that the first batch reached at it.
struct OpenRange {
  const char* key;
  ConverterSpec spec;
  double reached;
};

std::array<OpenRange, 4> ranges(const PeripherySpec& ports, const ConverterExtents& reached) {
  return {{{"crossbar.forward_dac_range", ports.forward.dac, reached.drive[0]},
           {"crossbar.forward_adc_range", ports.forward.adc, reached.output[0]},
           {"crossbar.transposed_dac_range", ports.transposed.dac, reached.drive[1]},
           {"crossbar.transposed_adc_range", ports.transposed.adc, reached.output[1]}}};
}

constexpr const char* turn_key = "circuit.turn_slots";
constexpr const char* average_key = "relaxation.average_nudged";
constexpr const char* steps_key = "relaxation.nudged_steps";

bool turn_is_open(const TokenSpec& tokens) {
  return tokens.use == TokenUse::multiplexed && tokens.hold_time_s > 0 && tokens.turn_slots == 0;
}

template <class S>
double heaviest_load(const Network<S>& network) {
  double load = 0;
  for (int p = 0; p < network.parameters(); ++p) load = std::max(load, network.map(p).traits().line_load);
  return load;
}

template <class S>
Config with_bandwidth(const Config& config, const Network<S>& network) {
  if (!leaves_bandwidth_open(config)) return config;
  Config chosen = config;
  chosen.set_from_text(bandwidth_key, format_quantity(bandwidth_left_Hz(config, network), Unit::hertz, 4),
                       fmt::format("circuit.gain_bandwidth divided by {:.3g}, the noise gain of the most loaded line",
                                   1 + heaviest_load(network)));
  return chosen;
}

/// True if the first batch decides a setting.
bool leaves_batch_open(const CrossbarSpec& spec) {
  bool open = turn_is_open(spec.tokens);
  for (const OpenRange& one : ranges(spec.periphery, {})) open |= spec.periphery.ranged_once && one.spec.ranges();
  return open;
}

}  // namespace

bool leaves_circuit_open(const Config& config) {
  const CrossbarSpec spec = crossbar_spec(config);
  if (spec.device.model == digital_model) return false;
  return leaves_batch_open(spec) || leaves_bandwidth_open(config);
}

template <class S>
double bandwidth_left_Hz(const Config& config, const Network<S>& network) {
  return closed_loop_bandwidth_Hz(circuit_spec(config), heaviest_load(network));
}

Config chosen_bandwidth(const Config& config, const RunParts& parts) {
  if (!leaves_bandwidth_open(config)) return config;
  const auto chosen = [&]<class S>(S /*arithmetic*/) {
    return with_bandwidth<S>(config, *make_network<S>(config, parts.plan, Weights::configured));
  };
  return run_options(config).double_precision() ? chosen(double{}) : chosen(float{});
}

std::string bandwidth_warning(const Config& config, const RunParts& parts) {
  const CircuitSpec circuit = circuit_spec(config);
  if (parts.plan == nullptr || !on_devices(config) || circuit.amplifier_bandwidth_Hz == 0 ||
      circuit.gain_bandwidth_Hz == 0)
    return "";
  const auto left = [&]<class S>(S /*arithmetic*/) {
    return bandwidth_left_Hz<S>(config, *make_network<S>(config, parts.plan, Weights::configured));
  };
  const double most = run_options(config).double_precision() ? left(double{}) : left(float{});
  if (circuit.amplifier_bandwidth_Hz <= most) return "";
  return fmt::format(
      "{} = {}: circuit.gain_bandwidth = {} leaves {} at the most loaded line. Raise it, since power follows from it, "
      "or leave the bandwidth out",
      bandwidth_key, config.as_text(bandwidth_key), config.as_text("circuit.gain_bandwidth"),
      format_quantity(most, Unit::hertz, 3));
}

template <class S>
Config chosen_circuit(const Config& asked, const Network<S>& network, const Batch& batch) {
  if (!leaves_circuit_open(asked)) return asked;
  const Config config = with_bandwidth(asked, network);
  if (!leaves_batch_open(crossbar_spec(config))) return config;
  BatchGradientOptions options = gradient_options<S>(config, "");
  options.noise_every = 0;
  options.phases.step = options.phases.free.step = RelaxationStep(config).of(network.circuit());
  BatchGradient<S> learner(network, options);
  Gradient<S> gradient(network.parameter_shapes());
  ReadMeter reads;
  try {
    reads = learner.compute(batch, 0, gradient).reads;
  } catch (const NumericalFailure&) {
    return config;  // the run's to report
  }
  Config chosen = config;
  const CrossbarSpec spec = crossbar_spec(config);
  for (const OpenRange& one : ranges(spec.periphery, reads.extents)) {
    if (!spec.periphery.ranged_once || !one.spec.ranges() || one.reached == 0) continue;
    chosen.set_from_text(one.key, fmt::format("{:.3g}", spec.mapping.headroom * one.reached),
                         "reached in the first batch");
  }
  if (turn_is_open(spec.tokens)) {
    chosen.set_from_text(turn_key, fmt::format("{:.3g}", reads.slots), "counted in the first batch");
  }
  return chosen;
}

Config chosen_circuit(const Config& config, const RunParts& parts) {
  if (!leaves_circuit_open(config)) return config;
  const auto chosen = [&]<class S>(S /*arithmetic*/) {
    const auto network = make_network<S>(config, parts.plan, Weights::configured);
    return chosen_circuit<S>(config, *network, parts.task->training(0));
  };
  return run_options(config).double_precision() ? chosen(double{}) : chosen(float{});
}

Config settled_as(const Config& stored, Config given) {
  std::vector<std::string> keys = {"beta", bandwidth_key, turn_key};
  for (const OpenRange& one : ranges({}, {})) keys.emplace_back(one.key);
  // A nudged phase that was averaged longer (choices.hpp) grew by as many steps as states.
  const auto grown = [&](const char* key) { return stored.integer(key) - given.integer(key); };
  const bool longer = given.real("beta") == 0 && given.origin(average_key).layer <= Layer::preset &&
                      given.origin(steps_key).layer <= Layer::preset && grown(average_key) > 0 &&
                      grown(average_key) == grown(steps_key);
  for (const std::string& key : keys) {
    if (given.real(key) == 0) given.set_from_text(key, stored.as_text(key));
  }
  if (longer) {
    for (const char* key : {average_key, steps_key}) given.set_from_text(key, stored.as_text(key));
  }
  return given;
}

#define NUDGE_CIRCUIT_CHOICE(S)                                                  \
  template double bandwidth_left_Hz<S>(const Config& config, const Network<S>&); \
  template Config chosen_circuit<S>(const Config&, const Network<S>&, const Batch&);
NUDGE_BOTH_PRECISIONS(NUDGE_CIRCUIT_CHOICE)

}  // namespace nudge
