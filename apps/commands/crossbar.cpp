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

#include "apps/commands/array_facts.hpp"
#include "apps/commands/block_export.hpp"
#include "apps/commands/crossbar_file.hpp"
#include "apps/commands/netlist_currents.hpp"
#include "apps/commands/text_table.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "apps/work_rate.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_config.hpp"
#include "circuits/energy.hpp"
#include "circuits/spice/crossbar_netlist.hpp"
#include "circuits/wires/wire_watch.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/json_text.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/data/file_bytes.hpp"

namespace nudge {
namespace {

struct CrossbarOptions {
  ConfigArguments config;
  std::string array, spice, block, printed, out;  ///< array: empty, all; exported: the first
  double volts = 0.1;
  bool negative = false, json = false;
};

/// A line that is kept current on a terminal while wires are solved.
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

/// What the exported array must give, and what ngspice says that it gives.
struct Netlist {
  std::string array;
  DeviceRead read;
  std::optional<std::vector<double>> printed;
};

/// What the command found.
struct Answer {
  std::vector<ArrayFacts> facts;
  std::vector<ArrayRead> reads = {};  ///< for --out
  std::optional<Netlist> netlist;
};

/// UserError for a name that no array on devices has; a group of columns in one is told which.
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

/// The arrays that the options ask for, in the order of the plan.
bool is_wanted(const CrossbarOptions& options, const std::string& name) {
  return options.array.empty() || options.array == name;
}

Netlist export_netlist(const CrossbarOptions& options, const std::string& name, const Crossbar<double>& array,
                       const CrossbarSpec& spec) {
  const Matrix<double>& exported = options.negative ? array.minus().conductance() : array.plus().conductance();
  if (exported.size() == 0) throw UserError("crossbar: --negative: this parameter has one array only (no pairs)");
  Netlist out{name, read_devices(exported, spec.wires, {}, spec.device.curve, options.volts), {}};
  if (!options.printed.empty()) {
    out.printed =
        printed_currents(read_file_bytes(options.printed, "output of ngspice"), exported.cols(), options.printed);
  }
  if (options.spice.empty()) return out;
  const Matrix<double> volts = Matrix<double>::Constant(1, exported.rows(), options.volts);
  const std::string text = crossbar_netlist(exported, spec.wires, volts, spec.device.curve);
  write_atomically(options.spice, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
  return out;
}

/// Programs and measures the wanted arrays, one after the other.
Answer measure(const CrossbarOptions& options, const CrossbarSpec& spec, const NetworkPlan& plan,
               const Network<double>& digital, std::uint64_t seed) {
  std::vector<Matrix<double>> initial;
  plan.initial(seed, initial);
  const auto parameters = plan.parameters();
  const double largest = largest_conductance(parameters, initial);
  Answer out;
  for (int p = 0; p < digital.parameters(); ++p) {
    const Parameter& parameter = parameters[static_cast<std::size_t>(p)];
    const Matrix<double>& nominal = digital.map(p).weights();
    if (!parameter.on_devices || nominal.size() == 0 || !is_wanted(options, parameter.name)) continue;
    const WireLine line(parameter.name);
    const CrossbarSpec own = parameter_array(spec, parameter, largest);
    const Crossbar<double> array(own, nominal, static_cast<std::uint32_t>(p), seed);
    out.facts.push_back(array_facts(parameter.name, array, nominal, own));
    if (!options.out.empty()) out.reads.push_back(array_read(parameter.name, array, own));
    const bool exports = !options.spice.empty() || !options.printed.empty();
    if (exports && !out.netlist) out.netlist = export_netlist(options, parameter.name, array, own);
  }
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

void check(const CrossbarOptions& options, const CrossbarSpec& spec) {
  if (spec.device.model == "digital") {
    throw UserError("crossbar: device.model is digital: there is no array (set device.model, for example soft_bounds)");
  }
  if (!std::isfinite(options.volts)) throw UserError("crossbar: --volts must be a finite number of volts");
  for (const std::string& path : {options.spice, options.block, options.out}) {
    if (!path.empty()) check_output_path(path, Overwrite::must_not_exist);
  }
}

ExitCode run_crossbar(const CrossbarOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  const Config config = load_config(options.config);
  const CrossbarSpec spec = model_arrays(config);
  check(options, spec);
  const auto plan = circuit_parts(config).plan;
  check_arrays_fit(spec, *plan, sizeof(double));
  if (!options.array.empty()) check_array(options.array, *plan);
  const auto digital = make_network<double>(config, plan, Weights::digital);
  const Answer found = measure(options, spec, *plan, *digital, run_options(config).seed);
  if (!options.out.empty()) write_file(options, config, found, started, start);
  if (!options.block.empty()) export_block(config, options.block);
  const double free_phase =
      static_cast<double>(phase_options(config).phases.free.max_steps) * RelaxationStep(config).of(digital->circuit());
  const CircuitFacts facts = {seconds(free_phase, spec.circuit), node_noise_V(spec.circuit)};
  if (options.json) {
    nlohmann::json out = facts_json(found.facts, spec.circuit, facts);
    if (found.netlist) out["netlist"] = netlist_json(options, *found.netlist);
    answer("{}\n", json_text(out, 2));
    return ExitCode::ok;
  }
  print_facts(found.facts, spec.circuit, facts);
  if (found.netlist) print_netlist(options, *found.netlist, spec);
  if (!options.block.empty()) answer("{}: netlist of the network (ngspice -b)\n", options.block);
  if (!options.out.empty()) answer("{}\n", options.out);
  return ExitCode::ok;
}

std::function<ExitCode()> add_crossbar(CLI::App& app) {
  const auto options = std::make_shared<CrossbarOptions>();
  add_config_arguments(app, options->config);
  app.add_option("--array", options->array,
                 "The one array to solve, show and export: a parameter of the network (Winput, Wo or Wh of the block). "
                 "Not given: all are shown, the first is exported");
  app.add_option("--spice", options->spice, "Write an ngspice netlist of the array to this file, which must not exist");
  app.add_option("--ngspice", options->printed,
                 "What ngspice -b printed for that netlist: shown beside the currents solved here");
  app.add_option("--out", options->out,
                 "HDF5 file with the IR drop at every device, which must not exist; nudge report draws it");
  app.add_flag("--negative", options->negative, "Export the negative devices of pairs, or the reference column");
  app.add_option(
      "--block", options->block,
      "Write the network, on the first example of the first batch, for ngspice to this file, which must not exist "
      "(block, transformer, hopfield, convolutional: a transient; resistive: an operating point)");
  app.add_option("--volts", options->volts, "Voltage of all rows in the netlist")->capture_default_str();
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_crossbar(*options); };
}

}  // namespace

Command crossbar_command() {
  return {"crossbar", "Show what the configured arrays make of the weights; export them to SPICE",
          "nudge crossbar examples/train_charlm.toml --spice array.cir", add_crossbar};
}

}  // namespace nudge
