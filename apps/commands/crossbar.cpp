// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/crossbar.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/commands/block_export.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_config.hpp"
#include "circuits/energy.hpp"
#include "circuits/spice/crossbar_netlist.hpp"
#include "circuits/wires/nonlinear_solver.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/setup.hpp"

namespace nudge {
namespace {

struct Options {
  ConfigArguments config;
  std::string array, spice, block;  ///< array: empty, the first
  double volts = 0.1;
  bool negative = false, json = false;
};

/// One array as programmed: how far its weights are from the nominal ones, and what its reads add.
struct ArrayFacts {
  std::string name;
  Index rows = 0, columns = 0;
  double w_max = 0, siemens_per_weight = 0;
  double weight_error = 0;  ///< ‖W_device − W‖_F/‖W‖_F
  double read_noise = 0;    ///< rms noise over rms product for white inputs, per sqrt(tau)
  double ir_drop = 0;       ///< ir_drop_figure of the worst tile
  double mean_conductance_S = 0;
  double devices = 0;
  double power_W = 0;       ///< driven by numbers of rms 1
  double load = 0;          ///< of the heaviest line, over the feedback conductance of its amplifier
  double curve = 0;         ///< curved devices: change of the currents of the first tile at the read voltage, relative
  double curve_missed = 0;  ///< what reads leave out of that behind wires, relative
};

/// Physical scale of the whole circuit.
struct CircuitFacts {
  double phase_s = 0;  ///< the free phase of the config
  double node_noise_V = 0;
};

/// The first tile of the positive devices with all rows at the read voltage, as Newton's method finds it on all nodes:
/// against straight devices, and against what a read makes of the curve (the straight network, driven harder).
void compare_curve(const Matrix<double>& conductance_S, const CrossbarSpec& spec, ArrayFacts& f) {
  const CurrentCurve& curve = spec.device.curve;
  if (curve.linear()) return;
  const Index rows = spec.tiles.rows > 0 ? std::min(spec.tiles.rows, conductance_S.rows()) : conductance_S.rows();
  const Index cols = spec.tiles.columns > 0 ? std::min(spec.tiles.columns, conductance_S.cols()) : conductance_S.cols();
  const Matrix<double> tile = conductance_S.topLeftCorner(rows, cols);
  const double volts = spec.circuit.read_voltage_V;
  const auto exact = NonlinearSolver(tile, curve, spec.wires).solve(Matrix<double>::Constant(1, rows, volts));
  if (exact.status != Status::converged) throw NumericalFailure(f.name + ": the curved devices have not been solved");
  const Matrix<double> straight = effective_conductance(tile, spec.wires, {}, spec.threads).colwise().sum() * volts;
  f.curve = (exact.currents_A - straight).norm() / straight.norm();
  f.curve_missed = (exact.currents_A - straight * (curve.current(volts) / volts)).norm() / exact.currents_A.norm();
}

ArrayFacts facts_of(const std::string& name, const Crossbar<double>& array, const Matrix<double>& nominal,
                    const CrossbarSpec& spec) {
  ArrayFacts f{name, nominal.rows(), nominal.cols()};
  f.w_max = array.w_max();
  f.siemens_per_weight = array.siemens_per_weight();
  f.weight_error = (array.weights() - nominal).norm() / nominal.norm();
  // A white input x gives a product of variance |x|² |W|_F²/(N M) and noise of variance d σ² |x|²/k² per output, d the
  // devices of a weight, its reference included.
  const double rms_weight = array.weights().norm() / std::sqrt(static_cast<double>(nominal.size()));
  const bool alone = spec.mapping.kind == MappingKind::offset || spec.mapping.kind == MappingKind::single;
  const double devices = alone ? 1 : 2;
  const double uniform = devices * std::pow(spec.device.read_noise * spec.device.window_S() / f.siemens_per_weight, 2);
  const double of_state = array.view().variance.size() > 0 ? array.view().variance.mean() : 0;
  f.read_noise = std::sqrt(uniform + of_state) / rms_weight;
  f.ir_drop = worst_ir_drop(array.plus().conductance(), spec.wires, spec.tiles);
  f.devices = static_cast<double>(array.plus().conductance().size() + array.minus().conductance().size());
  f.power_W = unit_drive_power_W(array.view(), f.siemens_per_weight, spec.circuit);
  f.load = static_cast<double>(std::max(array.view().column_load.maxCoeff(), array.view().row_load.maxCoeff()));
  compare_curve(array.plus().conductance(), spec, f);
  f.mean_conductance_S = (array.plus().conductance().sum() + array.minus().conductance().sum()) / f.devices;
  return f;
}

void print(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts) {
  answer("{:<8} {:>16} {:>10} {:>12} {:>13} {:>12} {:>9} {:>11} {:>11}\n", "array", "devices", "w_max", "scale",
         "weight error", "read noise", "IR drop", "mean G", "power");
  for (const ArrayFacts& f : all) {
    answer("{:<8} {:>16} {:>10.4f} {:>12} {:>12.3f}% {:>11.3f}% {:>9.3f} {:>11} {:>11}\n", f.name,
           fmt::format("{}x{}: {:.0f}", f.rows, f.columns, f.devices), f.w_max,
           format_quantity(f.siemens_per_weight, Unit::siemens, 4), 100 * f.weight_error, 100 * f.read_noise, f.ir_drop,
           format_quantity(f.mean_conductance_S, Unit::siemens, 4), format_quantity(f.power_W, Unit::watt, 4));
  }
  answer(
      "weight error: |W_device - W|/|W| after programming and wires; read noise: rms over the rms product of a white\n"
      "input, per sqrt(tau); IR drop: L of the worst tile, up to L/(1 + L) of the signal is lost;\n"
      "power: V^2 times the sum of all conductances, for drives of rms 1\n");
  answer("circuit: {} stands for 1, tau = {}: a free phase takes {}; thermal noise of a node of {}: {} rms\n",
         format_quantity(circuit.read_voltage_V, Unit::volt, 4),
         format_quantity(circuit.time_constant_s, Unit::second, 4), format_quantity(facts.phase_s, Unit::second, 4),
         format_quantity(circuit.node_capacitance_F, Unit::farad, 4),
         format_quantity(facts.node_noise_V, Unit::volt, 3));
  double load = 0;
  for (const ArrayFacts& f : all) load = std::max(load, f.load);
  if (circuit.amplifier_bandwidth_Hz > 0) {
    answer("amplifiers: a lag of {:.3g} tau; the heaviest line asks for a gain-bandwidth product of {}\n",
           amplifier_lag(circuit), format_quantity((1 + load) * circuit.amplifier_bandwidth_Hz, Unit::hertz, 3));
  }
  for (const ArrayFacts& f : all) {
    if (f.curve == 0) continue;
    answer(
        "curved devices, {}: currents at the read voltage {:.3g} % off straight ones; reads behind wires miss {:.2g} "
        "%\n",
        f.name, 100 * f.curve, 100 * f.curve_missed);
  }
  for (const ArrayFacts& f : all) {
    if (f.ir_drop > 0.5)
      say("warning: {}: wire resistance makes this array nearly useless; cut it into tiles\n", f.name);
  }
}

nlohmann::json to_json(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts) {
  nlohmann::json arrays = nlohmann::json::array();
  for (const ArrayFacts& f : all) {
    arrays.push_back({{"name", f.name},
                      {"rows", f.rows},
                      {"columns", f.columns},
                      {"devices", f.devices},
                      {"w_max", f.w_max},
                      {"siemens_per_weight", f.siemens_per_weight},
                      {"weight_error", f.weight_error},
                      {"read_noise", f.read_noise},
                      {"ir_drop", f.ir_drop},
                      {"mean_conductance_S", f.mean_conductance_S},
                      {"power_W", f.power_W},
                      {"largest_load", f.load},
                      {"curve", f.curve},
                      {"curve_missed", f.curve_missed}});
  }
  return {{"arrays", arrays},
          {"circuit",
           {{"read_voltage_V", circuit.read_voltage_V},
            {"time_constant_s", circuit.time_constant_s},
            {"free_phase_s", facts.phase_s},
            {"node_noise_V", facts.node_noise_V},
            {"amplifier_lag", amplifier_lag(circuit)}}}};
}

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

ExitCode run(const Options& options) {
  const Config config = load_config(options.config);
  const CrossbarSpec spec = model_arrays(config);
  if (spec.device.model == "digital") {
    throw UserError("crossbar: device.model is digital: there is no array (set device.model, for example soft_bounds)");
  }
  if (!std::isfinite(options.volts)) throw UserError("crossbar: --volts must be a finite number of volts");
  for (const std::string& path : {options.spice, options.block}) {
    if (!path.empty()) check_output_path(path, Overwrite::must_not_exist);
  }
  const auto plan = network_plan(config, make_task(config)->sizes());
  check_arrays_fit(spec, *plan, sizeof(double));
  const auto digital = make_network<double>(config, plan, Weights::digital);
  const auto seed = static_cast<std::uint64_t>(config.integer("seed"));
  const auto parameters = plan->parameters();
  if (!options.array.empty()) check_array(options.array, *plan);
  std::vector<Matrix<double>> initial;
  plan->initial(seed, initial);
  const double largest = largest_conductance(parameters, initial);
  std::vector<ArrayFacts> all;
  std::vector<std::string> arrays;
  for (int p = 0; p < digital->parameters(); ++p) {
    const std::string& name = parameters[static_cast<std::size_t>(p)].name;
    const Matrix<double>& nominal = digital->map(p).weights();
    if (!parameters[static_cast<std::size_t>(p)].on_devices || nominal.size() == 0) continue;
    const CrossbarSpec own = parameter_array(spec, parameters[static_cast<std::size_t>(p)], largest);
    const Crossbar<double> array(own, nominal, static_cast<std::uint32_t>(p), seed);
    all.push_back(facts_of(name, array, nominal, own));
    arrays.push_back(name);
    const bool chosen = options.array.empty() ? arrays.size() == 1 : options.array == name;
    if (options.spice.empty() || !chosen) continue;
    const Matrix<double> volts = Matrix<double>::Constant(1, nominal.rows(), options.volts);
    const Matrix<double>& exported = options.negative ? array.minus().conductance() : array.plus().conductance();
    if (exported.size() == 0) throw UserError("crossbar: --negative: this parameter has one array only (no pairs)");
    const std::string text = crossbar_netlist(exported, spec.wires, volts, spec.device.curve);
    write_atomically(options.spice, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
  }
  if (!options.block.empty()) export_block(config, options.block);
  const double free_phase = static_cast<double>(config.integer("relaxation.free_steps")) *
                            relaxation_step<double>(config, digital->circuit());
  const CircuitFacts facts = {seconds(free_phase, spec.circuit), node_noise_V(spec.circuit)};
  if (options.json) {
    answer("{}\n", to_json(all, spec.circuit, facts).dump(2));
  } else {
    print(all, spec.circuit, facts);
    if (!options.spice.empty()) {
      answer("{}: netlist of the {} devices of {}\n", options.spice, options.negative ? "negative" : "positive",
             options.array.empty() ? arrays.front() : options.array);
    }
    if (!options.block.empty()) answer("{}: netlist of the network (ngspice -b)\n", options.block);
  }
  return ExitCode::ok;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_config_arguments(app, options->config);
  app.add_option("--array", options->array,
                 "Array to export: a parameter of the network (Winput, Wo or Wh of the block); the first if not given");
  app.add_option("--spice", options->spice, "Write an ngspice netlist of the array to this file, which must not exist");
  app.add_flag("--negative", options->negative, "Export the negative devices of pairs, or the reference column");
  app.add_option("--block", options->block,
                 "Write the network (block, transformer: of the first tokens, a transient; resistive: of the first "
                 "training sample, an operating point) for ngspice to this file, "
                 "which must not exist");
  app.add_option("--volts", options->volts, "Voltage of all rows in the netlist")->capture_default_str();
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run(*options); };
}

}  // namespace

Command crossbar_command() {
  return {"crossbar", "Show what the configured arrays make of the weights; export them to SPICE",
          "nudge crossbar examples/train_charlm.toml --spice array.cir", add};
}

}  // namespace nudge
