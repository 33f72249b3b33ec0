// SPDX-License-Identifier: Apache-2.0
#include "training/config/config_table.hpp"

#include <algorithm>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/read_policy.hpp"
#include "devices/device_config.hpp"
#include "devices/registry.hpp"
#include "sim/config/reading.hpp"
#include "sim/equilibrium.hpp"
#include "training/config/assembly.hpp"
#include "training/config/chip_options.hpp"
#include "training/config/chip_prices.hpp"
#include "training/config/combinations.hpp"
#include "training/config/entrants.hpp"
#include "training/config/hardware.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rows.hpp"
#include "training/config/run_options.hpp"
#include "training/config/spec_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/config/train_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/controller.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/learning/estimators/estimator_keys.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/models/model_options.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/own/own_network.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

bool settles(const Config& c) { return network_kind(c).is_circuit(); }

Condition by_network(bool (*holds)(const Config& config), const char* needs, Unread unread = Unread::refused) {
  return {"network.kind", holds, needs, unread};
}

/// Whether a run, gradcheck or comparison of this config asks the estimator.
bool asks(const Config& config, const std::string& estimator) {
  if (run_options(config).estimator == estimator || train_section().read(config).beside == estimator) return true;
  for (const char* list : {"gradcheck.estimators", "compare.entrants"}) {
    for (const std::string& entry : config.texts(list)) {
      if (entry == "all" || entry.find(estimator) != std::string::npos) return true;
    }
  }
  return false;
}

ParamTable estimator_rows(const std::string& name, ParamTable keys, bool corrects, bool leaves_out) {
  if (corrects) add_rows(keys, correction_section().rows());
  if (leaves_out) add_rows(keys, train_section().rows_of({&TrainOptions::leave_out_ratio}));
  return read_with({"estimator", [name](const Config& c) { return asks(c, name); }, name}, keys);
}

/// What can grow does not feed forward, and independent samples have a direction each where they are asked to.
ParamTable growth_rows() {
  const Condition grows =
      by_network([](const Config& c) { return !network_kind(c).feed_forward(c); }, "a network that is recurrent");
  const Condition looked_at = {
      "growth.samples",
      [](const Config& c) { return network_kind(c).couples_rows || growth_section().read(c).samples; }, "true"};
  const Condition alone =
      by_network([](const Config& c) { return !network_kind(c).couples_rows; }, "a network of independent samples");
  // Of resistors and diodes every direction decays.
  const Condition active = by_network([](const Config& c) { return !network_kind(c).bare; },
                                      "a network that is not passive", Unread::refused_always);
  const Section<GrowthOptions>& all = growth_section();
  ParamTable rows = read_with(grows, read_with(looked_at, all.rows_without({&GrowthOptions::samples})));
  add_rows(rows, read_with(active, read_with(grows, read_with(alone, all.rows_of({&GrowthOptions::samples})))));
  const Condition off = {"growth.strength", [](const Config& c) { return growth_section().read(c).strength == 0; },
                         "0"};
  add_rows(rows, read_with(off, all.rows_of({&GrowthOptions::strength})));
  return rows;
}

/// What a network that settles reads, whatever its kind.
ParamTable circuit_rows() {
  ParamTable rows;
  for (const EstimatorKind& kind : estimator_kinds()) {
    add_rows(rows, estimator_rows(kind.name, kind.keys, kind.corrects, kind.leaves_out));
  }
  add_rows(rows, estimator_rows(own_estimator_name, estimator_section().rows(), true, true));
  const Condition numbered =
      by_network([](const Config& c) { return !network_kind(c).couples_rows; }, "a network of independent samples");
  add_rows(rows, read_with(numbered, phase_section().rows_of({&PhaseOptions::persistent_states})));
  add_rows(rows, phase_section().rows_without({&PhaseOptions::persistent_states}));
  add_rows(rows, gradcheck_section().rows());
  add_rows(rows, growth_rows());
  // What says that there is none fits every network.
  add_rows(rows, stabiliser_section().rows_of({&StabiliserOptions::control}));
  const Condition unbounded = {"memory_bound.fraction",
                               [](const Config& c) { return stabiliser_section().read(c).memory.fraction == 0; },
                               "off"};
  add_rows(rows, read_with(unbounded, stabiliser_section().rows_of(
                                          {{&StabiliserOptions::memory, &MemoryBoundOptions::fraction}})));
  const Condition digital = {"device.model", [](const Config& c) { return !on_devices(c); }, digital_model};
  add_rows(rows, read_with(digital, hardware_aware_section().rows()));
  // What asks for nothing fits every network.
  Condition levelled = devices_or_warning();
  levelled.holds = [](const Config& c) {
    return on_devices(c) || hardware_section().read(c).level == HardwareLevel::ideal;
  };
  add_rows(rows, read_with(levelled, hardware_section().rows_of({&HardwareOptions::level})));
  add_rows(rows, read_with(devices_or_warning(), hardware_section().rows_of({&HardwareOptions::amplifier})));
  add_rows(rows, device_rows());
  add_rows(rows, read_with(devices_or_warning(), chip_section().rows()));
  add_rows(rows, rows_beside(read_policy_rows(), rows));
  // Exact numbers have no noise that reads could average; terms of one's own may have some.
  Condition noisy = devices_or_warning();
  noisy.holds = [](const Config& c) { return on_devices(c) || network_kind(c).name == "own"; };
  for (ParamRow& row : rows) {
    if (section_of(row.key) == "reads") row = read_with(noisy, std::move(row));
  }
  using T = TrainOptions;
  add_rows(rows, train_section().rows_of({&T::step_time, &T::skip_ratio, &T::cosine_every}));
  const Condition with_readout = by_network([](const Config& c) { return !network_kind(c).bare; },
                                            "a network with a read-out", Unread::refused_always);
  add_rows(rows, read_with(with_readout, train_section().rows_of({&T::learns})));
  return rows;
}

ParamTable training_rows() {
  using T = TrainOptions;
  const Condition in_parts =
      by_network([](const Config& c) { return !settles(c) || network_kind(c).takes != Rows::features; },
                 "a network of sequences (held-out samples are taken whole)");
  const Condition circuit = by_network(settles, "a network that settles", Unread::refused_always);
  ParamTable rows = read_with(in_parts, train_section().rows_of({&T::evaluation_batches, &T::test_batches}));
  add_rows(rows, read_with(circuit, train_section().rows_of({&T::beside})));
  return rows;
}

/// The union of what the parts of a run read: what is read is what its part is chosen for.
ParamTable all_rows() {
  ParamTable table = run_section().rows();
  add_rows(table, task_rows());
  for (const TaskKind& kind : task_kinds()) add_rows(table, read_with(chosen("task.kind", {kind.name}), kind.keys));
  add_rows(table, network_rows());
  add_rows(table, cost_choice_section().rows());
  for (const CostKind& kind : cost_kinds()) add_rows(table, read_with(chosen("network.cost", {kind.name}), kind.keys));
  const Condition of_sequences = by_network([](const Config& c) { return network_kind(c).couples_rows; },
                                            "a network of sequences (data.side_by_side has samples at a time)");
  add_rows(table, read_with(of_sequences, model_section().rows_of({&ModelOptions::tokens})));
  for (const NetworkKind& kind : network_kinds()) {
    add_rows(table, read_with(chosen("network.kind", {kind.name}), kind.keys));
  }
  add_rows(table, own_section().rows_of({&OwnOptions::estimator, &OwnOptions::estimator_code, &OwnOptions::cost,
                                         &OwnOptions::cost_code, &OwnOptions::device, &OwnOptions::device_code}));
  add_rows(table, read_with(by_network(settles, "a network that settles"), circuit_rows()));
  add_rows(table, training_rows());
  add_rows(table, rows_beside(train_section().rows(), table));
  add_rows(table, sweep_rows());
  add_rows(table, compare_rows());
  add_rows(table, spec_section().rows());
  return table;
}

/// The texts of the presets; a name that does not exist is reported where it is written, by the choices of its row.
std::string preset_text(const std::string& name) {
  for (const Preset& preset : program_presets()) {
    if (preset.name == name) return preset.toml;
  }
  return {};
}

/// What the devices, the crossbar and the correction path require of their numbers together, and what is listed once.
std::vector<ConfigCheck> program_checks() {
  return {expect_sound_devices,
          check_kinds,
          [](const Config& config) { expect_keys_read(config); },
          [](const Config& config) { correction_spec(config).validate(); },
          [](const Config& config) { read_policy(config); },
          check_chip,
          expect_no_grid_repeats,
          check_mode_axes,
          [](const Config& config) { read_entrants(config); }};
}

/// Whether a sweep or a comparison chooses among values of the key.
bool varies(const Config& config, const std::string& key) {
  const auto chooses = [&](const std::string& text) {
    const auto has = [&](const char* one) { return text.find(one) != std::string::npos; };
    return has(key.c_str()) || (key == "device.model" && has("device.preset")) ||
           ((has("device.preset") || has("hardware.level")) && level_may_set(key));
  };
  const auto& entrants = config.texts("compare.entrants");
  if (std::any_of(entrants.begin(), entrants.end(), chooses)) return true;
  for (const char* grid : {"sweep.grid", "compare.grid", "spec.range"}) {
    const auto& axes = config.grid(grid);
    if (std::any_of(axes.begin(), axes.end(), [&](const GridAxis& axis) { return chooses(axis.key); })) return true;
  }
  return false;
}

/// The config of a training, which asks no estimators but its own.
Config of_training(Config config) {
  if (!settles(config)) return config;
  config.set_from_text("gradcheck.estimators", "[]");
  config.set_from_text("compare.entrants", "[]");
  return config;
}

}  // namespace

std::vector<std::string> idle_keys(const Config& config) {
  return idle_keys(config, [&](const std::string& key) { return varies(config, key); });
}

void expect_keys_read(const Config& config) {
  expect_keys_read(config, [&](const std::string& key) { return varies(config, key); });
}

void expect_training_reads(const Config& config) {
  const Config alone = of_training(config);
  expect_keys_read(alone, [&](const std::string& key) { return varies(config, key); });
}

bool training_reads(const Config& config, const std::string& key) { return reads(of_training(config), key); }

bool network_reads(const Config& config, const std::string& key) {
  return why_unread(config, key, [](const Condition& one) { return one.key != "network.kind"; }).empty();
}

std::vector<std::string> advisable_keys(const Config& config) {
  const std::string gain = "circuit.gain_bandwidth", bandwidth = "circuit.amplifier_bandwidth";
  std::vector<std::string> keys;
  for (const std::string& key : mending_keys()) {
    if (key != gain && key != bandwidth && training_reads(config, key)) keys.push_back(key);
  }
  if (!network_reads(config, bandwidth)) return keys;
  const bool follows = leaves_bandwidth_open(config) || config.origin(bandwidth).where.starts_with(gain);
  if (follows || config.real(bandwidth) > 0) keys.push_back(follows ? gain : bandwidth);
  return keys;
}

const ConfigSchema& program_schema() {
  static const ConfigSchema schema{
      all_rows(),
      program_rules(),
      {{"preset", preset_text}, device_preset_key(), {"netlist.file", netlist_device_text}},
      program_checks(),
      level_values,
      "hardware.level",
      standard_program_config};
  return schema;
}

const ParamTable& program_table() { return program_schema().table; }

const Config& standard_program_config() {
  static const Config standard(program_table());
  return standard;
}

Config load_program_config(const std::string& path, const std::vector<std::string>& settings) {
  return with_learnt_damping(load_config(program_schema(), path, settings));
}

Config parse_program_config(const std::string& name, const std::string& text,
                            const std::vector<std::string>& settings) {
  return with_learnt_damping(parse_config(program_schema(), name, text, settings));
}

ParamTable network_rows() {
  using param::choice;
  std::vector<std::string> networks;
  for (const NetworkKind& kind : network_kinds()) networks.push_back(kind.name);
  return {
      choice("network.kind", "block", networks,
             "The network. These settle. block: one node with a Hopfield memory and attention of its own state. "
             "stack: stack.layers such blocks, each clamped to the one below. transformer: layers as nodes "
             "(transformer.*). hopfield, convolutional: layers above a sample (hopfield.*, convolutional.*). "
             "resistive: layers of nodes joined by resistors (resistive.*). netlist: a circuit from a SPICE netlist "
             "(netlist.*). oscillator, thermal: coupled phases (oscillator.*) and units in a heat bath (thermal.*). "
             "These do not settle and learn by backprop with digital weights. sequence_model: blocks of "
             "sequence.mixer. free_transformer: the same with latent bits (latent.*). argmax_read: one layer for "
             "task.kind = argmax."),
  };
}

ParamTable compare_rows() {
  using param::choice, param::distinct, param::grid, param::integers, param::texts;
  return {
      choice("compare.equal", "steps", {"steps", "energy"},
             "What all methods of `nudge compare` have alike. energy: each gets so many steps that its training takes "
             "the energy of the first method's train.steps. A step's energy is measured over four steps at the first "
             "point of the grid (`nudge info --card` has its parts). All methods need devices."),
      texts("compare.entrants", "bptt, aep_anchored", {},
            "Methods that `nudge compare` compares; the first is the baseline. A method is an estimator, or a name "
            "with its own settings, as in \"ecram: estimator=aep_anchored; device.preset=ecram\"."),
      distinct(
          integers("compare.tuning_seeds", "[1, 2, 3]", at_least(0),
                   "Seeds of the runs that choose the point of compare.grid for each method, by the mean validation "
                   "loss.",
                   "a choice by one seed may be chance: in results/results.md one of five fresh seeds failed at "
                   "such a rate")),
      distinct(
          integers("compare.test_seeds", "[11, 12, 13, 14, 15]", at_least(0),
                   "Fresh seeds of the reported runs; none may be in compare.tuning_seeds.",
                   "5 seeds: the 95 % interval of a mean is 1.24 standard deviations to either side; 3 seeds: 2.48")),
      grid("compare.grid",
           "Grid that is tuned for every method: keys of this table and their values, as in "
           "`\"train.learning_rate\" = [1e-3, 3e-3]`. Every combination is run, without keys that the method does "
           "not read."),
  };
}

ParamTable sweep_rows() {
  using param::choice, param::distinct, param::flag, param::grid, param::integer, param::integers, param::texts,
      param::zero_is;
  return {
      choice("sweep.run", "train", {"train", "gradcheck", "stability"},
             "What each point of the sweep runs. stability: the stability margin of its equilibria, as `nudge "
             "stability` of one chip."),
      flag("sweep.test", "false",
           "Whether every training is also tested on the test split at its end (columns test_*). Choose by the "
           "validation split: the test split cannot judge what it chose."),
      choice("sweep.mode", "grid", {"grid", "one_at_a_time", "zip", "sobol", "random"},
             "How points are made from the axes. grid: every combination of values. one_at_a_time: the config, and "
             "every other value of one axis at a time. zip: the first values of all axes together, then the second "
             "ones. sobol, random: sweep.samples points drawn from the axes; two numbers are a range, longer lists "
             "and texts are choices."),
      integer("sweep.samples", "64", between(1, 1000000),
              "Number of points that sweep.mode = sobol or random draws. A larger number keeps the earlier points. "
              "A repeated point is run once."),
      texts("sweep.logarithmic", "[]", {},
            "Axes of sobol and random that are drawn evenly in the logarithm, as in `[\"train.learning_rate\"]`."),
      choice("sweep.invalid", "refuse", {"refuse", "skip"},
             "Combinations that break a rule of the config. refuse: stop before the sweep runs. skip: leave them "
             "out and record the rule."),
      distinct(integers("sweep.seeds", "[1]", at_least(0), "Every point is run with each of these seeds.")),
      zero_is(
          "auto",
          integer(
              "sweep.parallel", "auto", between(0, 4096),
              "Runs at the same time, each on one thread; auto: one per thread, and one per process under mpirun.")),
      grid("sweep.grid",
           "Axes: keys of this table and their values, as in `\"device.read_noise\" = [0, \"1 %\"]`. Every "
           "combination is run."),
  };
}

const std::vector<Preset>& program_presets() {
  static const std::vector<Preset> presets = {
      {"founding_note",
       "the algorithm of the founding note: correction at z* without anchor, only the damping "
       "regulated",
       "estimator = 'aep'\n"
       "[memory_bound]\nfraction = 0\n"
       "[growth]\nstrength = 0\n"
       "[train]\nskip_ratio = 0\n"},
      // In the prototype this trained through reads with noise of 1 % of the rms of each product within +0.1, +2.7 and
      // -0.3 % of the noise-free loss on three seeds; the un-transposed forms did not train.
      {"noisy_reads", "training through read noise: transposed attention, averaged states, a large nudge",
       "estimator = 'aep_transposed'\nbeta = 0.1\n"
       "[relaxation]\naverage_free = 8\naverage_nudged = 12\n"
       "[reads]\nanchor = 'mean 8'\n"
       "[growth]\nprobe = 0.1\n"},
  };
  return presets;
}

}  // namespace nudge
