// SPDX-License-Identifier: Apache-2.0
// Every key with every kind of network: set to another legal value it changes something that a training shows, or it is refused; or it
// stands in the list of what is exempt, with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Settings = std::vector<std::string>;

namespace {

/// Beginnings of keys that a training may leave unread, and why.
const std::vector<std::pair<std::string, std::string>>& exempt() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"sweep.", "of other commands: one config serves train, sweep, compare and gradcheck"},
      {"compare.", "the same"},
      {"spec.", "the same"},
      {"gradcheck.", "the same"},
      {"output.", "where and how often is written, not what"},
      {"threads", "results do not depend on it"},
      {"product.kernel", "a library; differs in rounding, where the processor has another"},
      {"preset", "a name for values of other keys, each of which is looked at"},
      {"device.preset", "the same"},
      {"hardware.level", "the same"},
      {"train.checkpoint_every", "when it is written"},
      {"train.test_batches", "of the test part, which the summary of a short text has whole"},
      {"train.evaluate_every", "rows of the log more"},
      {"train.margin_every", "the same"},
      {"train.null", "a lane beside devices"},
      {"relaxation.persistent_states", "of a sample's second visit: sample_memory_test.cpp"},
      {"nudge.running_mean", "of a second batch: sample_memory_test.cpp"},
      {"train.gradient_clip", "a limit that sound runs stay below"},
      {"nudge.clip", "the same"},
      {"damping.control", "off: where there is no damping it says so"},
      {"damping.high", "a limit of the residual that sound runs stay below, and what happens beyond it"},
      {"damping.raise", "the same"},
      {"damping.raise_on_skip", "the same"},
      {"damping.patience", "the same"},
      {"memory_bound.iterations", "of a bound that does not bind here"},
      {"growth.strength", "of a penalty on what does not decay: here everything does"},
      {"growth.probe", "the same"},
      {"model.embeddings", "devices: `nudge config check` warns of them where device.model = digital"},
      {"nudge.below_rounding", "allows what is refused otherwise"},
      {"nudge.below_noise", "the same"},
      {"relaxation.divergence_ratio", "a limit that sound runs stay below"},
      {"train.skip_ratio", "the same"},
      {"train.leave_out_ratio", "the same"},
      {"damping.maximum", "the same"},
      {"task.references", "trivial models beside the run"},
      {"data.", "files and their parts: tests/training/samples_test.cpp"},
      {"mixer.", "every key with every mixer: unread_keys_test.cpp"},
      {"model.weights", "a file"},
      {"netlist.elements_limit", "a limit that sound netlists stay below"},
      {"latent.pairs", "how many pairs are generated to be measured"},
      {"device.", "of devices: the second test"},
      {"crossbar.", "the same"},
      {"circuit.", "the same"},
      {"correlator.", "the same"},
      {"neuron.", "the same"},
      {"reads.", "the same"},
      {"correction.", "the same"},
      {"chip.", "of the cost card: tests/apps/chip_test.cpp"}};
  return all;
}

bool is_exempt(const std::string& key) {
  return std::any_of(exempt().begin(), exempt().end(), [&](const auto& one) {
    return one.first.ends_with('.') ? key.starts_with(one.first) : key == one.first;
  });
}

/// What a training shows: everything of its summary but times of the clock.
std::string seen(const TrainSummary& s) {
  std::string all = fmt::format("{} {} {}", s.done, s.beside, s.token_use);
  for (const RunValue& one : s.values.all()) all += fmt::format(" {}={}", one.name, s.of(one.name));
  return all;
}

const NetworkKind& find_kind(const std::string& name) { return named(network_kinds(), name); }

/// Nothing: refused.
std::optional<std::string> shown(const std::string& kind, const Settings& settings) {
  try {
    // One thread: idle ones of OpenMP spin beside the test that runs at the same time.
    Settings all{"threads=1", "train.steps=4", "train.batch=2", "train.warmup=1", "train.evaluate_every=2"};
    const auto steps = of_samples(kind) ? "60" : "12";
    if (find_kind(kind).is_circuit()) {
      all.push_back(fmt::format("relaxation.free_steps={}", steps));
      all.push_back(fmt::format("relaxation.nudged_steps={}", steps));
    }
    if (!of_samples(kind)) all.emplace_back("model.tokens=6");
    all.insert(all.end(), settings.begin(), settings.end());
    const NetworkKind& at = find_kind(kind);
    const Config config = at.is_circuit() ? small(kind, all) : [&] {
      Settings tape{"network.kind=" + kind, "precision=double"};
      if (!at.only_task.empty()) tape.push_back("task.kind=" + at.only_task);
      tape.insert(tape.end(), {"model.channels=8", "model.heads=2", "train.evaluation_batches=1"});
      tape.insert(tape.end(), all.begin(), all.end());
      return parse_program_config("tape.toml", "", tape);
    }();
    return seen(train(config, std::nullopt));
  } catch (const UserError& error) {
    UNSCOPED_INFO(error.what());
    return std::nullopt;
  } catch (const NumericalFailure&) {
    return "a numerical failure";
  }
}

/// Other values of a key, the nearest to the default first.
std::vector<std::string> others(const ParamRow& row, const std::string& kind) {
  if (row.key == "precision") return {"float"};  // what the base has changed goes back
  if ((kind == "hopfield" || kind == "convolutional") && row.key == "hopfield.form") return {"projected"};
  if (kind == "resistive" && row.key == "resistive.diode") return {"ideal"};
  if (row.key == "device.read_disturb_time") return {"20 ns"};  // four steps read for some 10 us
  std::vector<std::string> candidates = row.choices;
  for (const char* one :
       {"true", "false", "2",   "3",      "1",     "4",   "0.5",   "0.2", "1.5",     "0.05",  "5e-3", "2e-4",
        "1e-8", "0",     "[3]", "[4, 3]", "[2.0]", "2 s", "20 ns", "2 V", "1e-13 A", "310 K", "[1]"}) {
    candidates.emplace_back(one);
  }
  std::vector<std::string> legal;
  for (const std::string& one : candidates) {
    std::vector<ValueProblem> problems;
    const auto value = convert(row, raw_from_text(row, one), problems);
    const bool is_standard = value && to_text(row, *value) == standard_program_config().as_text(row.key);
    if (!value || !problems.empty() || (is_standard && row.key != "device.update")) continue;  // the preset has another
    legal.push_back(one);
  }
  return legal;
}

using Keys = std::function<bool(const std::string& key)>;

/// Keys that a kind takes and that change nothing.
std::set<std::string> silent_keys(const std::string& kind, const Settings& base, const Keys& looked_at) {
  const auto plain = shown(kind, base);
  REQUIRE(plain.has_value());
  std::set<std::string> silent;
  for (const ParamRow& row : program_table()) {
    if (!looked_at(row.key) || row.key == "network.kind" || row.key == "task.kind") continue;
    bool taken = false, acts = false;
    int tried = 0;
    for (const std::string& value : others(row, kind)) {
      if (++tried > 5 || acts) break;
      Settings with = base;
      with.push_back(row.key + "=" + value);
      const auto now = shown(kind, with);
      if (!now) continue;
      taken = true;
      acts = *now != *plain;
    }
    if (taken && !acts) silent.insert(row.key);
  }
  return silent;
}

}  // namespace

TEST_CASE("a key set to another value changes what a training shows, or is refused", "[every_key]") {
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.name == "own") continue;  // of a program that lends one
    CAPTURE(kind.name);
    const std::set<std::string> silent =
        silent_keys(kind.name, {}, [](const std::string& key) { return !is_exempt(key); });
    CHECK(silent == std::set<std::string>{});
  }
}

namespace {

/// Keys of devices and their circuits that change nothing on ecram as it is, and settings beside which they act.
const std::map<std::string, Settings>& act_beside() {
  static const Settings drift{"device.drift_exponent=0.1", "device.drift_spread=0.02", "train.step_time=100 s"};
  static const Settings decay{"device.decay_slope=10 nS", "train.step_time=100 s"};
  static const Settings flicker{"device.flicker_noise=0.05", "device.flicker_power=0.3", "train.step_time=100 s"};
  static const Settings verify{"crossbar.update=write_verify", "crossbar.programming=write_verify",
                               "device.read_noise=0.002"};
  static const Settings converters{"crossbar.forward_dac_bits=5", "crossbar.forward_adc_bits=5"};
  static const Settings coincidence{"crossbar.update=coincidence", "train.optimizer=sgd"};
  static const Settings both_ways{"crossbar.transposed_dac_bits=5", "crossbar.transposed_adc_bits=5"};
  static const Settings rewritten{"train.step_time=100 s", "device.programming_error=0.01"};
  static const Settings thermal{"circuit.thermal_noise=true"};
  static const Settings pulses{"device.pulse_voltage_up=1 V", "device.pulse_voltage_down=1 V",
                               "device.pulse_width_up=1 us", "device.pulse_width_down=1 us"};
  static const std::map<std::string, Settings> all = {{"device.drift_spread", drift},
                                                      {"device.drift_exponent", drift},
                                                      {"device.decay_slope", decay},
                                                      {"device.decay_spread", decay},
                                                      {"device.decay_spread_slope", decay},
                                                      {"device.endurance", {"device.endurance_failure=stuck"}},
                                                      {"crossbar.verify_burst", verify},
                                                      {"crossbar.verify_limit", verify},
                                                      {"crossbar.verify_time", verify},
                                                      {"crossbar.verify_tolerance", verify},
                                                      {"crossbar.scale", {"crossbar.update=write_verify"}},
                                                      {"crossbar.ranging", converters},
                                                      {"crossbar.pulse_train", coincidence},
                                                      {"crossbar.pulse_order", coincidence},
                                                      {"crossbar.transposed_adc_range", both_ways},
                                                      {"crossbar.transposed_dac_range", both_ways},
                                                      {"circuit.adc_energy", converters},
                                                      {"circuit.dac_energy", converters},
                                                      {"circuit.auto_zero", {"crossbar.forward_offset=5 mV"}},
                                                      {"circuit.amplifier_power", converters},
                                                      {"circuit.line_capacitance", converters},
                                                      {"circuit.temperature", thermal},
                                                      {"circuit.node_capacitance", thermal},
                                                      {"circuit.noise_within_phases", flicker},
                                                      {"crossbar.refresh", rewritten},
                                                      {"device.leak_time", {"train.step_time=1 s"}},
                                                      {"device.pulse_voltage_up", pulses},
                                                      {"device.pulse_voltage_down", pulses},
                                                      {"device.pulse_width_up", pulses},
                                                      {"device.pulse_width_down", pulses}};
  return all;
}

/// And those that need not act, with the reason.
const std::map<std::string, std::string>& devices_exempt() {
  static const std::map<std::string, std::string> all = {
      {"crossbar.scale", "read where weights are programmed again: `nudge test --reprogram`, tests/circuits"},
      {"crossbar.tile_rows", "sums of tiles without converters or wires are those of the array"},
      {"crossbar.tile_columns", "the same"},
      {"circuit.node_capacitance", "nodes of resistors have no clamp: tau is theirs whatever charges them"},
      {"circuit.hold_time", "rows that are independent wait for nobody"},
      {"correction.", "of the estimators that correct, where something is not reciprocal: decorated_test.cpp"}};
  return all;
}

void check_device_keys(const std::string& kind) {
  CAPTURE(kind);
  const Settings base{"device.preset=ecram"};
  const auto of_devices = [](const std::string& key) {
    const auto in = [&](const char* section) { return key.starts_with(section); };
    return key != "device.preset" && (in("device.") || in("crossbar.") || in("circuit.") || in("reads.") ||
                                      in("correction.") || in("correlator.") || in("neuron."));
  };
  std::set<std::string> left;
  for (const std::string& key : silent_keys(kind, base, of_devices)) {
    const auto beside = act_beside().find(key);
    Settings with = base;
    if (beside != act_beside().end()) with.insert(with.end(), beside->second.begin(), beside->second.end());
    const bool acts =
        beside != act_beside().end() &&
        (!shown(kind, with) || silent_keys(kind, with, [&](const std::string& one) { return one == key; }).empty());
    const bool excused = std::any_of(devices_exempt().begin(), devices_exempt().end(), [&](const auto& one) {
      return one.first.ends_with('.') ? key.starts_with(one.first) : key == one.first;
    });
    if (!acts && !excused) left.insert(key);
  }
  CHECK(left == std::set<std::string>{});
}

}  // namespace

TEST_CASE("so do those of devices, arrays, nodes and reads, alone or beside what they are of", "[every_key]") {
  check_device_keys("hopfield");
}

TEST_CASE("so do those of update rules, each with the rules that read it", "[every_key][slow]") {
  for (const RuleKind& rule : rule_kinds()) {
    CAPTURE(rule.name);
    // Many pulses in four steps; plain SGD, which trains of pulses need.
    Settings with{"device.preset=ecram", "crossbar.update=" + rule.name, "train.optimizer=sgd",
                  "train.learning_rate=0.5"};
    if (rule.arrays(RuleSpec{}) > 1) {
      with.insert(with.end(), {"crossbar.transfer_rate=0.2", "crossbar.transfer_columns=4"});
    }
    if (rule.one_sided) with.insert(with.end(), {"crossbar.mapping=one_sided", "crossbar.refresh_every=1"});
    std::vector<Member<CrossbarSpec>> options;
    for (const auto& option : rule.options) options.push_back(option.within<CrossbarSpec>(&CrossbarSpec::rule));
    const ParamTable read = crossbar_section().rows_of(options);
    REQUIRE(read.size() == options.size());
    const auto own = [&](const std::string& key) { return find_row(read, key) != nullptr; };
    std::set<std::string> silent = silent_keys("hopfield", with, own);
    // No pair rises so far within four steps (tests/circuits/update_rules_test.cpp).
    if (rule.one_sided) {
      silent.erase("crossbar.refresh_high");
      silent.erase("crossbar.refresh_low");
    }
    CHECK(silent == std::set<std::string>{});
  }
}

TEST_CASE("so do those of devices, arrays, nodes and reads in other networks", "[every_key][slow]") {
  for (const char* kind : {"block", "resistive"}) check_device_keys(kind);
}
