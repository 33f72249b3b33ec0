// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "apps/commands/crossbar_parts.hpp"
#include "apps/commands/fit_answers.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/config_arguments.hpp"
#include "apps/info/card_text.hpp"
#include "apps/streams.hpp"
#include "apps/work_rate.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/energy.hpp"
#include "circuits/spice/exports.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/registry.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"
#include "sim/config/toml_reader.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_reader.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stored_config.hpp"
#include "training/config/stuck_maps.hpp"
#include "training/data/raw_array.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

struct CrossbarOptions {
  ConfigArguments config;
  std::string array, spice, block, printed, out;  ///< array: name, empty for all (the first one is exported)
  std::string weights, conductances;
  std::string unit, columns;  ///< of the file of one array

  /// True if there is one matrix and no network.
  bool alone() const { return !conductances.empty() || is_matrix_file(weights); }
  /// True if nothing is asked of its arrays.
  bool block_alone() const {
    return !block.empty() && array.empty() && spice.empty() && printed.empty() && out.empty() && !json && !card;
  }
  double volts = 0.1;
  bool negative = false, json = false, card = false;
  std::optional<ProductRead> product = {};  ///< read that --card prices
};

/// Line that is kept current on a terminal while wires are solved.
class WireLine {
 public:
  explicit WireLine(std::string array)
      : array_(std::move(array)), watch_([this](Index done, Index total) { show(done, total); }) {}

 private:
  using Clock = std::chrono::steady_clock;

  void show(Index done, Index total) {
    if (!line_.terminal()) return;
    const auto rows = static_cast<std::size_t>(done), all = static_cast<std::size_t>(total);
    if (!rate_ || rows < last_) rate_.emplace(rows);  // another array of the pair, or another path
    last_ = rows;
    if (Clock::now() - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = Clock::now();
    line_.show(fmt::format("{}: wires of row {} of {}  {}", array_, rows, all, rate_->text(rows, all)));
  }

  std::string array_;
  ProgressLine line_;
  std::optional<WorkRate> rate_;
  std::size_t last_ = 0;
  Clock::time_point shown_ = Clock::now();
  WireWatch watch_;
};

/// Currents that the exported array must give, and those that ngspice prints.
struct Netlist {
  std::string array;
  DeviceRead read;
  std::optional<std::vector<double>> printed;
};

struct Answer {
  std::vector<ArrayFacts> facts;
  std::vector<ArrayRead> reads = {};  ///< reads for --out
  std::optional<Netlist> netlist;
  std::vector<std::pair<std::string, CardCounts>> products = {};  ///< of each array, for --card
  TableLook look = {};                                            ///< what was read in the file of one array
};

/// Throws UserError for a name that no array on devices has; for a group of columns it names the array.
void check_array(const std::string& name, const NetworkPlan& plan) {
  const std::vector<Parameter> parameters = plan.parameters();
  std::vector<std::string> arrays;
  for (const Parameter& parameter : parameters) {
    if (parameter.on_devices) arrays.push_back(parameter.name);
  }
  if (std::find(arrays.begin(), arrays.end(), name) != arrays.end()) return;
  for (const ParameterGroup& group : plan.groups()) {
    const Parameter& array = parameters[static_cast<std::size_t>(group.parameter)];
    if (group.name != name || !array.on_devices) continue;
    throw UserError(fmt::format("crossbar: \"{}\" is columns {} to {} of the array {} (take --array {})", name,
                                group.columns.begin, group.columns.end() - 1, array.name, array.name));
  }
  throw UserError(fmt::format("crossbar: unknown array \"{}\" ({})", name, did_you_mean(name, arrays)));
}

bool is_wanted(const CrossbarOptions& options, const std::string& name) {
  return options.array.empty() || options.array == name;
}

Netlist export_netlist(const CrossbarOptions& options, const std::string& name, const Crossbar<double>& array,
                       const CrossbarSpec& spec) {
  const Matrix<double>& exported = options.negative ? array.minus().conductance() : array.plus().conductance();
  if (exported.size() == 0) throw UserError("crossbar: --negative: this parameter has one array only (no pairs)");
  Netlist out{name, read_devices(exported, spec.wires, {}, spec.device.curve, options.volts, spec.device.selector), {}};
  if (!options.printed.empty()) {
    out.printed =
        printed_currents(read_file_bytes(options.printed, "output of ngspice"), exported.cols(), options.printed);
  }
  if (options.spice.empty()) return out;
  const Matrix<double> volts = Matrix<double>::Constant(1, exported.rows(), options.volts);
  const std::string text = crossbar_netlist(exported, spec.wires, volts, spec.device.curve, spec.device.selector);
  write_atomically(options.spice, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
  return out;
}

/// Adds the results that the options ask for of one array, which holds `nominal`. spec: the array's; out: gets the
/// results.
void measure_one(const CrossbarOptions& options, const std::string& name, const Crossbar<double>& array,
                 const Matrix<double>& nominal, const CrossbarSpec& spec, Answer& out) {
  out.facts.push_back(array_facts(name, array, nominal, spec));
  if (options.product) out.products.emplace_back(name, product_counts(name, array, *options.product, spec.circuit));
  if (!options.out.empty()) out.reads.push_back(array_read(name, array, spec));
  const bool exports = !options.spice.empty() || !options.printed.empty();
  if (exports && !out.netlist) out.netlist = export_netlist(options, name, array, spec);
}

/// Programs and measures the wanted arrays, one after the other. digital: the network with the weights; seed: of the
/// devices.
Answer measure(const CrossbarOptions& options, const CrossbarSpec& spec, const NetworkPlan& plan,
               const Network<double>& digital, std::uint64_t seed) {
  std::vector<Matrix<double>> weights;
  for (int p = 0; p < digital.parameters(); ++p) weights.push_back(digital.map(p).weights());
  const auto parameters = plan.parameters();
  const double largest = largest_conductance(parameters, weights);
  Answer out;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Parameter& parameter = parameters[p];
    if (!parameter.on_devices || weights[p].size() == 0 || !is_wanted(options, parameter.name)) continue;
    const WireLine line(parameter.name);
    CrossbarSpec own = parameter_array(spec, parameter, largest);
    take_column_scales(own, weights[p]);
    const Crossbar<double> array(own, weights[p], static_cast<std::uint32_t>(p), seed);
    measure_one(options, parameter.name, array, weights[p], own, out);
  }
  return out;
}

Answer measure_alone(const CrossbarOptions& options, const CrossbarSpec& spec, std::uint64_t seed) {
  const WireLine line(lone_array_name);
  const LoneArray lone = options.conductances.empty()
                             ? programmed_array(options.weights, options.columns, spec, seed)
                             : measured_array(options.conductances, options.unit, options.columns, spec, seed);
  Answer out;
  out.look = lone.look;
  measure_one(options, lone_array_name, *lone.array, lone.nominal, lone.spec, out);
  return out;
}

void print_netlist(const CrossbarOptions& options, const Netlist& netlist, const CrossbarSpec& spec) {
  const char* devices = options.negative ? "negative" : "positive";
  if (!options.spice.empty()) {
    answer("{}: netlist of the {} devices of {}{}\n", options.spice, devices, netlist.array,
           spec.tiles.rows > 0 || spec.tiles.columns > 0 ? " (one array: tiles are not cut)" : "");
  }
  answer("currents of the {} devices of {}, all rows at {:g} V, as `ngspice -b` prints them:\n{}", devices,
         netlist.array, options.volts, currents_text(netlist.read, netlist.printed));
  if (!netlist.printed) return;
  answer("{}: at most {:.2e} of the largest current off\n", options.printed,
         worst_deviation(netlist.read, *netlist.printed));
}

nlohmann::json netlist_json(const CrossbarOptions& options, const Netlist& netlist) {
  const auto list = [](const Matrix<double>& m) { return std::vector<double>(m.data(), m.data() + m.size()); };
  nlohmann::json out = {{"array", netlist.array},
                        {"devices", options.negative ? "negative" : "positive"},
                        {"volts", options.volts},
                        {"currents_A", list(netlist.read.currents_A)},
                        {"ideal_A", list(netlist.read.ideal_A)}};
  if (!options.spice.empty()) out["file"] = options.spice;
  if (netlist.printed) {
    out["ngspice_A"] = *netlist.printed;
    out["deviation"] = worst_deviation(netlist.read, *netlist.printed);
  }
  return out;
}

/// Writes the results and the run record to options.out. started, start: date and clock when the command began.
void write_file(const CrossbarOptions& options, const Config& config, const Answer& found, const std::string& started,
                std::chrono::steady_clock::time_point start) {
  H5Document file;
  write_crossbar(file, found.facts, found.reads);
  RunRecord record = record_of("crossbar", config);
  record.precision = "double";
  record.started = started;
  record.wall_time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  add_run_record(file, record);
  file.write(options.out, Overwrite::must_not_exist);
}

void check_options(const CrossbarOptions& options) {
  if (!options.conductances.empty() && !options.weights.empty()) {
    throw UserError("crossbar: --weights and --conductances: the array holds the one or the other");
  }
  if (options.conductances.empty() && !options.unit.empty()) {
    throw UserError("crossbar: --unit is the unit of --conductances FILE");
  }
  if (!options.columns.empty() && !options.alone()) {
    throw UserError("crossbar: --columns is for one array: --conductances FILE, or --weights of a matrix or table");
  }
  if (options.alone() && (!options.array.empty() || !options.block.empty())) {
    throw UserError(fmt::format("crossbar: {} is of a network; {} is one array without one",
                                options.array.empty() ? "--block" : "--array",
                                options.conductances.empty() ? options.weights : options.conductances));
  }
  if (!std::isfinite(options.volts)) throw UserError("crossbar: --volts must be a finite number of volts");
  for (const std::string& path : {options.spice, options.block, options.out}) {
    if (!path.empty()) check_output_path(path, Overwrite::must_not_exist);
  }
}

/// Loads the config: CONFIG; without one, that of the run file whose weights are asked for, or the standard one for a
/// matrix.
Config config_of(const CrossbarOptions& options) {
  std::vector<std::string> settings = options.config.settings;
  if (options.alone()) {
    if (!options.config.file.empty()) return load_config(options.config);
    return parse_program_config("no CONFIG", "", settings);
  }
  if (!options.weights.empty()) settings.push_back("model.weights=" + nudge::quoted(options.weights));
  if (!options.config.file.empty()) return load_config({options.config.file, settings});
  if (options.weights.empty()) throw UserError("crossbar: CONFIG is required (or --weights or --conductances FILE)");
  if (options.weights.ends_with(".npz") || options.weights.ends_with(".safetensors")) {
    throw UserError(fmt::format("crossbar: {}: does not say of which network its weights are: CONFIG is required",
                                options.weights));
  }
  const H5Reader file(options.weights);
  if (const std::string kind = file.text_attribute("kind"); kind != "train") {
    file.fail("attribute kind", fmt::format("\"{}\" (must be \"train\", or give CONFIG)", kind));
  }
  return config_on_top(stored_program_config(file), options.weights, settings);
}

/// Spec of the config's arrays for one matrix: no tokens share it.
CrossbarSpec lone_arrays(const Config& config) {
  CrossbarSpec spec = crossbar_spec(config);
  spec.threads = thread_count(run_options(config).threads);
  return spec;
}

struct Measured {
  Answer found;
  CircuitFacts facts;
};

Measured measure_network(const CrossbarOptions& options, const Config& config, const CrossbarSpec& spec) {
  const auto plan = circuit_parts(config).plan;
  check_arrays_fit(spec, *plan, sizeof(double));
  if (!options.array.empty()) check_array(options.array, *plan);
  const auto digital = make_network<double>(config, plan, Weights::digital);
  const double free_phase =
      static_cast<double>(phase_options(config).phases.free.max_steps) * RelaxationStep(config).of(digital->circuit());
  return {measure(options, spec, *plan, *digital, run_options(config).seed),
          {seconds(free_phase, spec.circuit), node_noise_V(spec.circuit)}};
}

void print_answer(const CrossbarOptions& options, const Config& config, const Measured& measured,
                  const CrossbarSpec& spec) {
  const auto& [found, facts] = measured;
  if (options.json) {
    nlohmann::json out = facts_json(found.facts, spec.circuit, facts);
    out["converters"] = converters_json(spec.periphery);
    if (!found.look.understood.empty()) out["understood"] = understood_json(found.look);
    if (found.netlist) out["netlist"] = netlist_json(options, *found.netlist);
    for (const auto& [name, counts] : found.products) out["cards"][name] = card_json(cost_card(config, counts));
    answer("{}\n", json_text(out, 2));
    return;
  }
  answer("{}", understood_text(found.look));
  print_facts(found.facts, spec.circuit, facts);
  const bool written =
      std::any_of(found.facts.begin(), found.facts.end(), [](const ArrayFacts& f) { return f.writes.has_value(); });
  if (!written && options.conductances.empty()) {
    answer(
        "programming: no pulses are simulated. crossbar.programming = write_verify or open_loop_pulses says what "
        "writing takes\n");
  }
  print_converters(spec.periphery);
  if (spec.mapping.scale == ScalePolicy::column) {
    answer("crossbar.scale = column: all numbers are of weights over the largest of their column\n");
  }
  if (found.netlist) print_netlist(options, *found.netlist, spec);
  if (!options.block.empty()) answer("{}: netlist of the network (ngspice -b)\n", options.block);
  if (!options.out.empty()) answer("{}\n", options.out);
  for (const auto& [name, counts] : found.products) {
    answer("\ncost card of one product of {}:\n{}", name, card_text(cost_card(config, counts)));
  }
}

ExitCode run_crossbar(CrossbarOptions options) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  check_options(options);
  const Config config = config_of(options);
  if (options.card) options.product = product_read(config);
  const CrossbarSpec spec = options.alone() ? lone_arrays(config) : model_arrays(config);
  if (spec.device.model == digital_model && options.block_alone()) {  // a network of numbers is a circuit too
    export_block(config, options.block);
    answer("{}: netlist of the network (ngspice -b)\n", options.block);
    return ExitCode::ok;
  }
  if (spec.device.model == digital_model && options.conductances.empty()) {
    throw UserError("crossbar: device.model is digital: there is no array (set device.model, for example soft_bounds)");
  }
  const Measured measured = options.alone() ? Measured{measure_alone(options, spec, run_options(config).seed),
                                                       {{}, node_noise_V(spec.circuit)}}
                                            : measure_network(options, config, spec);
  if (!options.out.empty()) write_file(options, config, measured.found, started, start);
  if (!options.block.empty()) export_block(config, options.block);
  print_answer(options, config, measured, spec);
  return ExitCode::ok;
}

void add_file_options(CLI::App& app, CrossbarOptions& options) {
  app.add_option(
         "--weights", options.weights,
         "Weights for the arrays of the network, by name: a run file (whose config stands in for CONFIG), .npz or "
         ".safetensors. One matrix (CSV, .npy), or a table with row, column and weight, makes an array of its own")
      ->type_name("FILE");
  app.add_option(
         "--conductances", options.conductances,
         "Measured conductances, which one array holds as they are. A matrix (CSV, .npy): rows are driven, columns "
         "sensed. Or a table with the columns row, column and conductance or resistance")
      ->type_name("FILE");
  app.add_option("--unit", options.unit, "Unit of a matrix of --conductances. Not given: the one in its file, else uS")
      ->check(CLI::IsMember({"S", "mS", "uS", "nS", "pS", "Ohm", "kOhm", "MOhm"}));
  app.add_option("--columns", options.columns,
                 "Columns of such a table, if their names do not tell: \"row=COL1,column=COL2,g=COL3 uS\"");
}

std::function<ExitCode()> add_crossbar(CLI::App& app) {
  const auto options = std::make_shared<CrossbarOptions>();
  add_config_arguments(app, options->config)->get_option("CONFIG")->required(false);
  add_file_options(app, *options);
  app.add_option("--array", options->array,
                 "The one array to solve, show and export: a parameter of the network (Winput, Wo or Wh of the block). "
                 "Not given: all are shown, the first is exported");
  app.add_option("--spice", options->spice, "Write an ngspice netlist of the array to this file, which must not exist");
  app.add_option("--ngspice", options->printed,
                 "What ngspice -b printed for that netlist: shown beside the currents solved here");
  app.add_option("--out", options->out,
                 "HDF5 file with conductance and IR drop of every device, which must not exist; nudge report draws it");
  app.add_flag("--negative", options->negative, "Export the negative devices of pairs, or the reference column");
  app.add_option(
      "--block", options->block,
      "Write the network, on the first example of the first batch, for ngspice to this file, which must not exist "
      "(block, transformer, hopfield, convolutional: a transient; resistive: an operating point)");
  app.add_option("--volts", options->volts, "Voltage of all rows in the netlist")->capture_default_str();
  app.add_flag("--card", options->card, "Cost card of one product of each array, by section [chip]");
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_crossbar(*options); };
}

}  // namespace

Command crossbar_command() {
  return {"crossbar", "Show what the configured arrays make of the weights; export them to SPICE",
          "nudge crossbar examples/train_charlm.toml --spice array.cir", add_crossbar};
}

}  // namespace nudge
