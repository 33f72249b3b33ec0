// SPDX-License-Identifier: Apache-2.0
// What is physical by default as soon as there are devices, and where its numbers come from.
#include "training/config/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "circuits/crossbar/amplifier_kinds.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/reading.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/model_options.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// The row of circuit.amplifier.
ParamRow amplifier_row() {
  std::vector<std::string> names = {"none"}, sources;
  std::string doc =
      "Amplifier at the sensed lines of arrays. It sets gain-bandwidth, noise, raw offset and power, unless a key "
      "sets them. Bandwidth, noise and offset at a node follow from the load of its lines. none: an ideal one";
  for (const AmplifierKind& kind : amplifier_kinds()) {
    names.push_back(kind.name);
    doc += fmt::format("; {}: {}", kind.name, kind.summary);
    sources.push_back(fmt::format("{}: {}", kind.name, kind.citation));
  }
  return param::choice("circuit.amplifier", "none", names, doc + ".", fmt::format("{}", fmt::join(sources, "; ")));
}

const Choices<HardwareLevel> levels{
    {"ideal", HardwareLevel::ideal}, {"mixed", HardwareLevel::mixed}, {"local", HardwareLevel::local}};

/// A key and its value as TOML, or what makes the value of a config (empty: none there).
struct PhysicalValue {
  const char* key;
  std::string text;
  std::function<std::string(const Config& asked)> of = nullptr;

  std::string value(const Config& asked) const { return of != nullptr ? of(asked) : text; }
};

bool sweeps(const Config& c) { return phase_options(c).sweeps(); }

bool set_by_user(const Config& c, const char* key) { return c.origin(key).layer != Layer::standard; }

/// The amplifier that a config on devices has: the one that it names or, at a level with physics, the default. Null: none.
const AmplifierKind* amplifier(const Config& c) {
  if (!network_reads(c, "circuit.amplifier")) return nullptr;
  const HardwareOptions options = hardware_section().read(c);
  if (set_by_user(c, "circuit.amplifier")) return find_amplifier(options.amplifier);
  return options.level == HardwareLevel::ideal ? nullptr : &default_amplifier();
}

/// Text of a number of the amplifier as a quantity; empty where there is none.
std::string of_amplifier(const Config& c, double AmplifierKind::*member, Unit unit) {
  const AmplifierKind* kind = amplifier(c);
  return kind != nullptr ? fmt::format("'{}'", format_quantity(kind->*member, unit)) : "";
}

std::string noise_of(const Config& c) { return of_amplifier(c, &AmplifierKind::noise_V, Unit::volt); }
std::string offset_of(const Config& c) { return of_amplifier(c, &AmplifierKind::offset_V, Unit::volt); }
std::string gain_bandwidth_of(const Config& c) {
  return of_amplifier(c, &AmplifierKind::gain_bandwidth_Hz, Unit::hertz);
}

/// Power of the amplifier with the gain-bandwidth and noise that the config gives it.
std::string power_of(const Config& c) {
  const AmplifierKind* kind = amplifier(c);
  if (kind == nullptr) return "";
  const auto value = [&c](const char* key, double otherwise) {
    return set_by_user(c, key) && c.real(key) > 0 ? c.real(key) : otherwise;
  };
  const double power = kind->scaled_power_W(value("circuit.gain_bandwidth", kind->gain_bandwidth_Hz),
                                            value("crossbar.forward_noise", kind->noise_V));
  return fmt::format("'{}'", format_quantity(power, Unit::watt, 4));
}

/// A sweep follows the nominal leak.
std::string leak_spread(const Config& c) { return sweeps(c) ? "" : "'1 %'"; }

/// States of layers that add up, a transformer's, grow while it learns and are clipped at 8 (results/results.md).
std::string phase_range(const Config& c) { return network_kind(c).name == "transformer" ? "'auto'" : "8"; }

// Gains and clamps of 1 %: the matching of small integrated resistors and capacitors (chosen).
const std::vector<PhysicalValue>& circuit_values() {
  static const std::vector<PhysicalValue> list = {
      {"circuit.thermal_noise", "true"},
      {"circuit.hold_capacitance", "'1 pF'"},
      {"circuit.hold_offset", "'0.1 mV'"},
      {"circuit.phase_adc_bits", "12"},
      {"circuit.phase_adc_range", "", phase_range},
      {"circuit.leak_spread", "", leak_spread},
      {"crossbar.forward_gain_spread", "'1 %'"},
      {"crossbar.transposed_gain_spread", "'1 %'"},
      {"crossbar.ranging", "'once'"},
      {"device.update", "'pulsed'"},
  };
  return list;
}

/// The amplifier's own values.
const std::vector<PhysicalValue>& amplifier_values() {
  static const std::vector<PhysicalValue> list = {
      {"circuit.gain_bandwidth", "", gain_bandwidth_of}, {"crossbar.forward_noise", "", noise_of},
      {"crossbar.transposed_noise", "", noise_of},       {"crossbar.forward_offset", "", offset_of},
      {"crossbar.transposed_offset", "", offset_of},
  };
  return list;
}

/// How such an amplifier is used. Nodes are as slow as the default amplifier asks for: behind a line of load 270 its lag is 0.06 of 5 us
/// (docs/reference/amplifiers.md). Noise that moves within phases has ten times a sequence of such a circuit, as the default of a fast one.
const std::vector<PhysicalValue>& amplifier_use() {
  static const auto with = [](const char* value) {
    return [value](const Config& c) { return amplifier(c) != nullptr ? value : std::string(); };
  };
  static const std::vector<PhysicalValue> list = {
      {"circuit.amplifier", "", [](const Config& c) { return amplifier(c) ? "'" + amplifier(c)->name + "'" : ""; }},
      {"circuit.auto_zero", "",
       [](const Config& c) {  // an offset that is asked for is the line's own
         const bool asked = set_by_user(c, "crossbar.forward_offset") || set_by_user(c, "crossbar.transposed_offset");
         return amplifier(c) != nullptr && !asked ? "true" : "";
       }},
      {"circuit.amplifier_power", "", power_of},
      {"circuit.time_constant", "", with("'5 us'")},
      {"circuit.noise_within_phases", "", with("'2 ms'")},
  };
  return list;
}

/// Number of pulses that the config's volts and widths make of the tables of their speed; nothing for devices without such tables, and
/// for devices that cannot be, which checks refuse.
std::optional<double> pulses_of_tables(const Config& c) {
  if (!on_devices(c)) return std::nullopt;
  try {
    const DeviceSpec spec = device_spec(c);
    if (spec.model != "memristor_table" || spec.tables.count("rate") == 0) return std::nullopt;
    spec.validate();
    return pulses_across(spec);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::string table_pulses(const Config& c) {
  const auto count = set_by_user(c, "device.pulses") ? std::nullopt : pulses_of_tables(c);
  return count ? fmt::format("{:.6g}", *count) : "";
}

/// Numbers of devices that follow from others.
const std::vector<PhysicalValue>& device_values() {
  static const std::vector<PhysicalValue> list = {{"device.pulses", "", table_pulses}};
  return list;
}

bool of_symbols(const Config& c) { return network_kind(c).takes == Rows::symbols; }

std::string own_estimator(const Config& c) { return of_symbols(c) ? "'aep_transposed'" : ""; }

/// Linear in beta, so that a nudge may be as large as noise asks for.
std::string cost_current(const Config& c) {
  const std::string estimator = run_options(c).estimator;
  const bool set = c.origin("estimator").layer != Layer::standard;
  const EstimatorKind* kind = find_estimator(estimator);
  const bool transposed = set ? kind != nullptr && kind->nudge == Nudge::transposed : of_symbols(c);
  return transposed ? "'frozen'" : "";
}

/// The mean of at most `most` of a phase's states, of its last part, by when it has settled.
std::string mean_of(std::int64_t steps, std::int64_t parts, std::int64_t most) {
  return std::to_string(std::clamp<std::int64_t>(steps / parts, 1, most));
}

/// How such a circuit is used, which is no part of it: what lets it learn through its noise (docs/reference/estimators.md).
const std::vector<PhysicalValue>& recipe() {
  static const std::vector<PhysicalValue> list = {
      {"estimator", "", own_estimator},
      {"nudge.cost_current", "", cost_current},
      {"relaxation.average_free", "",
       [](const Config& c) { return mean_of(c.integer("relaxation.free_steps"), 3, 8); }},
      {"relaxation.average_nudged", "",
       [](const Config& c) { return mean_of(c.integer("relaxation.nudged_steps"), 2, 12); }},
      {"reads.anchor", "'mean 8'"},
      {"reads.monitor", "'mean 8'"},
      {"reads.chopped", "true"},
      {"growth.probe", "0.1"},
      // The residual has a floor of noise, eps |F|/|z| about 1e-2 on the default circuit, that the damping must not answer.
      {"damping.low", "2e-2"},
      {"damping.high", "4e-2"},
  };
  return list;
}

/// Multipliers of the weights, where pulse trains do not multiply.
std::string multiplier(const Config& c, const char* value) { return pulses_multiply(c) ? "" : value; }

/// Of circuits that form the fused attention.
std::string attention(const Config& c, const char* value) {
  return model_options(c).mixer == MixerChoice::fused ? value : "";
}

// Multipliers and curves: gains matched to 2 %, offsets of curves of 2 mV (chosen, small transistors), which are .08 of the kT/q that an
// exponential has for a unit; a product's offset of 20 uV after
// auto-zeroing (Enz and Temes) and the kT/C of 100 fF, all over a read voltage of 0.2 V.
const std::vector<PhysicalValue>& local_values() {
  static const std::vector<PhysicalValue> list = {
      {"train.optimizer", "'sgd'"},
      {"train.momentum", "0"},
      {"train.weight_decay", "0"},
      {"train.gradient_clip", "0"},
      {"train.skip_ratio", "'off'"},
      {"train.leave_out_ratio", "'off'"},
      {"damping.control", "false"},
      {"memory_bound.fraction", "'off'"},
      {"growth.strength", "0"},
      {"correlator.gain_spread", "", [](const Config& c) { return multiplier(c, "'2 %'"); }},
      {"correlator.offset", "", [](const Config& c) { return multiplier(c, "1e-4"); }},
      {"correlator.noise", "", [](const Config& c) { return multiplier(c, "1e-3"); }},
      {"attention.products", "", [](const Config& c) { return attention(c, "'analog'"); }},
      {"attention.gain_spread", "", [](const Config& c) { return attention(c, "'2 %'"); }},
      {"attention.offset_spread", "", [](const Config& c) { return attention(c, "0.08"); }},
      {"neuron.gain_spread", "'2 %'"},
      {"neuron.offset_spread", "'1 %'"},
  };
  return list;
}

}  // namespace

const Section<HardwareOptions>& hardware_section() {
  static const Section<HardwareOptions> section = {
      field(param::named(
                "hardware.level", "mixed",
                "Default imperfections of a circuit on devices. mixed: thermal noise of nodes and arrays; noise, "
                "offset, gain and bandwidth of amplifiers; mismatch of nodes; whole pulses. It also sets the averages "
                "and the nudge that learn through them, and the learning rule is digital. local: the same, with "
                "mismatched circuits for multipliers, activations and attention, and pulses by plain gradient "
                "descent, so that nothing at a weight is digital. ideal: none of these. A key that is set wins, "
                "unless local rules it out. Digital weights have no imperfections. See "
                "docs/reference/hardware_levels.md."),
            levels, &HardwareOptions::level),
      field(read_with(with_edges(), amplifier_row()), &HardwareOptions::amplifier)};
  return section;
}

std::vector<std::string> amplifier_keys() {
  std::vector<std::string> keys = {"circuit.auto_zero", "circuit.amplifier_power"};
  for (const PhysicalValue& one : amplifier_values()) keys.emplace_back(one.key);
  return keys;
}

bool pulses_multiply(const Config& config) {
  const CrossbarSpec arrays = crossbar_spec(config);
  return arrays.programming.update == UpdateScheme::coincidence ||
         (arrays_per_matrix(arrays) > 1 && arrays.rule.coincidence);
}

bool is_local(const Config& config) {
  return on_devices(config) && hardware_section().read(config).level == HardwareLevel::local;
}

namespace {

/// Lists of the values of a level, each with those before it.
std::vector<const std::vector<PhysicalValue>*> lists_of(HardwareLevel level) {
  std::vector<const std::vector<PhysicalValue>*> lists = {&device_values(), &amplifier_values(), &amplifier_use()};
  if (level != HardwareLevel::ideal) lists.insert(lists.end(), {&circuit_values(), &recipe()});
  if (level == HardwareLevel::local) lists.push_back(&local_values());
  return lists;
}

}  // namespace

std::string level_values(const Config& asked) {
  if (!on_devices(asked)) return "";
  std::string text;
  for (const auto* list : lists_of(hardware_section().read(asked).level)) {
    for (const PhysicalValue& one : *list) {
      if (!network_reads(asked, one.key)) continue;
      const std::string value = one.value(asked);
      if (!value.empty()) text += fmt::format("{} = {}\n", one.key, value);
    }
  }
  return text;
}

bool level_may_set(const std::string& key) {
  for (const auto* list : lists_of(HardwareLevel::local)) {
    if (std::any_of(list->begin(), list->end(), [&](const PhysicalValue& one) { return key == one.key; })) return true;
  }
  return false;
}

std::string power_alone(const Config& config) {
  const bool asked = on_devices(config) && set_by_user(config, "circuit.gain_bandwidth") &&
                     circuit_section().read(config).gain_bandwidth_Hz > 0;
  if (!asked || leaves_bandwidth_open(config) || !phase_options(config).sweeps()) return "";
  return "circuit.gain_bandwidth sets the power of amplifiers alone: with relaxation.schedule = sweep their lag is not "
         "simulated; parallel would. `nudge crossbar` prints the lag";
}

std::string stale_pulses(const Config& config) {
  constexpr double most = 2;  // a controller that is wrong by so much sends twice, or half, of what is missing
  const auto count = pulses_of_tables(config);
  if (!count) return "";
  const double assumed = device_spec(config).pulses;
  if (assumed <= most * *count && *count <= most * assumed) return "";
  return fmt::format(
      "device.pulses = {:.4g}: pulses of device.memristor_table.pulse_up = {} and pulse_down = {} cross the window in "
      "{:.4g}. Leave device.pulses out: it then follows from them",
      assumed, config.as_text("device.memristor_table.pulse_up"), config.as_text("device.memristor_table.pulse_down"),
      *count);
}

std::vector<std::string> ideal_parts(const Config& config) {
  std::vector<std::string> parts;
  if (!on_devices(config)) return parts;
  if (hardware_section().read(config).level == HardwareLevel::ideal) return {"hardware.level = ideal"};
  if (network_reads(config, "circuit.amplifier") && amplifier(config) == nullptr) {
    parts.emplace_back("circuit.amplifier = none");
  }
  std::vector<PhysicalValue> all = amplifier_values();
  all.insert(all.end(), circuit_values().begin(), circuit_values().end());
  if (is_local(config)) all.insert(all.end(), local_values().begin(), local_values().end());
  for (const PhysicalValue& one : all) {
    const std::string value = one.value(config);
    if (value.empty() || !network_reads(config, one.key)) continue;
    Config physical = config;
    physical.set_from_text(one.key, value);
    if (physical.as_text(one.key) != config.as_text(one.key)) {
      parts.push_back(fmt::format("{} = {}", one.key, config.as_text(one.key)));
    }
  }
  return parts;
}

}  // namespace nudge
