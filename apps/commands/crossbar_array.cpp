// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <sstream>

#include "apps/commands/conductance_file.hpp"
#include "apps/commands/crossbar_parts.hpp"
#include "apps/streams.hpp"
#include "circuits/crossbar/column_scale.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stuck_maps.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Spec of a single array; device.stuck_map knows only its name.
CrossbarSpec lone_spec(CrossbarSpec spec, Index rows, Index cols) {
  check_array_memory(rows, cols, spec.mapping.kind, sizeof(double), physical_memory_bytes());
  check_stuck_names(spec, {lone_array_name});
  set_stuck_map(spec, lone_array_name, rows, cols);
  return spec;
}

/// Device of a measured conductance with only what reads need: nothing is drawn and nothing moves.
DeviceSpec bare_device(const DeviceSpec& device, double largest_S) {
  DeviceSpec bare;
  bare.model = "ideal";
  bare.curve = device.curve;
  if (device.model == digital_model) {
    bare.g_min_S = 0;
    bare.g_max_S = largest_S;
    return bare;
  }
  bare.g_min_S = device.g_min_S;
  bare.g_max_S = device.g_max_S;
  bare.read_noise = device.read_noise;
  bare.read_saturating_S = device.read_saturating_S;
  bare.read_scale_S = device.read_scale_S;
  if (device.noise.has_white()) {
    bare.noise.level_S = device.noise.level_S;
    bare.noise.white_S = device.noise.white_S;
  }
  return bare;
}

}  // namespace

void take_column_scales(CrossbarSpec& spec, Matrix<double>& weights) {
  if (spec.mapping.scale != ScalePolicy::column) return;
  spec.mapping.scale = ScalePolicy::keep;
  weights = without_scales(weights, column_scales(weights));
}

LoneArray programmed_array(const std::string& path, const std::string& columns, const CrossbarSpec& spec,
                           std::uint64_t seed) {
  LoneArray out;
  ArrayFile file = read_weights(path, columns);
  out.nominal = std::move(file.values);
  out.look = std::move(file.look);
  if (out.nominal.isZero(0) && spec.mapping.w_max == 0) {
    throw UserError(
        fmt::format("weights file \"{}\": all weights are 0 (set crossbar.w_max, the weight of the largest "
                    "conductance)",
                    path));
  }
  out.spec = lone_spec(spec, out.nominal.rows(), out.nominal.cols());
  take_column_scales(out.spec, out.nominal);
  out.array = std::make_unique<Crossbar<double>>(out.spec, out.nominal, 0, seed);
  return out;
}

LoneArray measured_array(const std::string& path, const std::string& unit, const std::string& columns,
                         const CrossbarSpec& spec, std::uint64_t seed) {
  if (spec.device.selector.any()) {
    throw UserError(fmt::format(
        "crossbar: --conductances with device.selector = {} (a measured matrix is of cells as they are read, selectors "
        "included: leave it none)",
        selector_name(spec.device.selector.kind)));
  }
  ArrayFile file = read_conductances(path, unit, columns);
  Matrix<double> g = std::move(file.values);
  if (g.isZero(0)) throw UserError(fmt::format("{}: all conductances are 0", file.name));
  LoneArray out;
  out.look = std::move(file.look);
  CrossbarSpec own = spec;
  own.device = bare_device(spec.device, g.maxCoeff());
  own.programming = {};
  own.mapping.kind = MappingKind::single;
  own.mapping.scale = ScalePolicy::keep;
  if (own.mapping.w_max == 0) own.mapping.w_max = 1;
  out.spec = lone_spec(own, g.rows(), g.cols());
  if (const auto& stuck = out.spec.stuck.first_S) g = stuck->array().isNaN().select(g, *stuck);
  out.nominal = (own.mapping.w_max / own.device.g_max_S) * g;
  out.array = std::make_unique<Crossbar<double>>(out.spec, out.nominal, 0, seed);
  // Programming rounds to and fro: the numbers of the file instead.
  for (const StateArray<double>& state : out.array->state()) {
    if (state.name == "g_plus") *state.values = g;
  }
  out.array->state_restored();
  out.spec.programming.lines = spec.programming.lines;  // of the read of one cell, which array_facts() measures
  return out;
}

namespace {

void write_facts(H5Document& file, const std::vector<ArrayFacts>& all) {
  file.group("arrays", "the arrays as programmed, a row each");
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const ArrayFacts& f : all) names.push_back(f.name);
  file.column("arrays/name", names, {"1", "name of the parameter that the array holds", {"array"}});
  const auto column = [&](const char* name, const char* unit, const char* description, auto value) {
    std::vector<double> values;
    values.reserve(all.size());
    for (const ArrayFacts& f : all) values.push_back(static_cast<double>(value(f)));
    file.column(std::string("arrays/") + name, std::move(values), {unit, description, {"array"}});
  };
  using F = const ArrayFacts&;
  column("rows", "1", "inputs", [](F f) { return f.rows; });
  column("columns", "1", "outputs", [](F f) { return f.columns; });
  column("devices", "1", "devices, those of the second array or of references included", [](F f) { return f.devices; });
  column("w_max", "1", "largest weight of the window", [](F f) { return f.w_max; });
  column("siemens_per_weight", "S", "scale between weights and conductances", [](F f) { return f.siemens_per_weight; });
  column("weight_error", "1", "|W_device - W|/|W| after programming and wires", [](F f) { return f.weight_error; });
  column("read_noise", "1", "of the devices alone, rms over the rms product of a white input, per sqrt(tau)",
         [](F f) { return f.read_noise; });
  column("ir_drop_figure", "1", "L of the worst tile: up to L/(1 + L) of the signal is lost",
         [](F f) { return f.ir_drop; });
  column("mean_conductance", "S", "mean of all devices", [](F f) { return f.mean_conductance_S; });
  column("power", "W", "heat of a read through wires and selectors, for independent drives of rms 1",
         [](F f) { return f.power_W; });
  column("largest_load", "1", "of the heaviest line, over the feedback conductance of its amplifier",
         [](F f) { return f.load; });
  column("curve", "1", "curved devices: change of the currents of the first tile at the read voltage, relative",
         [](F f) { return f.curve; });
  column("curve_missed", "1", "what reads leave out of that behind wires, relative",
         [](F f) { return f.curve_missed; });
  const double none = std::numeric_limits<double>::quiet_NaN();
  column("sneak", "1", "current of the others in a read of one cell with floating lines, relative; NaN: not measured",
         [none](F f) { return f.sneak.value_or(none); });
  const auto of_writes = [&](const char* name, const char* unit, const char* description, double WriteFacts::*field) {
    column(name, unit, description, [none, field](F f) { return f.writes ? (*f.writes).*field : none; });
  };
  of_writes("write_pulses", "1", "pulses of programming; NaN: none are simulated", &WriteFacts::pulses);
  of_writes("write_energy", "J", "their heat in the devices; 0: volts or widths are not known", &WriteFacts::pulses_J);
  of_writes("write_time", "s", "their time, one after another; 0: volts or widths are not known",
            &WriteFacts::pulses_s);
  of_writes("verify_reads", "1", "reads of single devices by write-verify", &WriteFacts::reads);
  of_writes("verify_energy", "J", "of these reads, at the mean conductance, and their conversions",
            &WriteFacts::reads_J);
  of_writes("verify_time", "s", "of these reads, one after another", &WriteFacts::reads_s);
  of_writes("write_failures", "1", "devices not within tolerance when their pulses ran out", &WriteFacts::failures);
  of_writes("write_error_mean", "1", "mean error of the conductances, of the window", &WriteFacts::error_mean);
  of_writes("write_error_rms", "1", "rms error of the conductances, of the window", &WriteFacts::error_rms);
}

void write_conductances(H5Document& file, const std::string& array, const char* which, const Matrix<double>& siemens) {
  if (siemens.size() == 0) return;
  file.matrix<double>("conductance/" + array + "/" + which, siemens,
                      {"S", "conductance of each device as programmed, without its selector", {"row", "column"}});
}

void write_devices(H5Document& file, const std::string& array, const char* which, const DeviceRead& read) {
  if (read.ir_drop.size() == 0) return;
  const std::string map = "ir_drop/" + array + "/" + which;
  file.matrix<float>(map, read.ir_drop.cast<float>(),
                     {"1",
                      "1 - v/V: share of the read voltage V that wires, drivers and sense amplifiers take from each "
                      "device, all rows at V",
                      {"row", "column"}});
  file.attribute("role", std::string("map"), map);
  // Reference devices stand in one column, with an axis of their own.
  const std::string group = "current/" + array + "/";
  const std::string axis = group + (read.ir_drop.cols() == 1 ? std::string(which) + "_column" : "column");
  std::vector<double> columns;
  columns.reserve(read.ir_drop.cols());
  for (Index j = 0; j < read.ir_drop.cols(); ++j) columns.push_back(static_cast<double>(j));
  file.column(axis, columns, {"1", "number of the column", {"column"}});
  file.attribute("role", std::string("axis"), axis);
  file.attribute("x", axis, axis);
  const auto series = [&](const std::string& name, const Matrix<double>& currents, const char* description) {
    file.column(group + name, std::vector<double>(currents.data(), currents.data() + currents.size()),
                {"A", description, {"column"}});
    file.attribute("role", std::string("series"), group + name);
    file.attribute("x", axis, group + name);
  };
  series(which, read.currents_A, "current into each sense amplifier, all rows at the read voltage");
  series(std::string(which) + "_ideal", read.ideal_A, "the same without resistance of wires, drivers and amplifiers");
}

}  // namespace

ArrayRead array_read(const std::string& name, const Crossbar<double>& array, const CrossbarSpec& spec) {
  const auto read = [&](const Matrix<double>& g) {
    return read_devices(g, spec.wires, spec.tiles, spec.device.curve, spec.circuit.read_voltage_V,
                        spec.device.selector);
  };
  return {name, read(array.plus().conductance()), read(array.minus().conductance()), array.plus().conductance(),
          array.minus().conductance()};
}

void write_crossbar(H5Document& file, const std::vector<ArrayFacts>& facts, const std::vector<ArrayRead>& reads) {
  write_facts(file, facts);
  for (const ArrayRead& read : reads) {
    write_conductances(file, read.name, "positive", read.positive_S);
    write_conductances(file, read.name, "negative", read.negative_S);
    write_devices(file, read.name, "positive", read.positive);
    write_devices(file, read.name, "negative", read.negative);
  }
}

namespace {

/// Reads the column of a line "i(vs12) = ..."; nothing for other lines.
std::optional<long long> column_of(const std::string& line) {
  if (line.rfind("i(vs", 0) != 0) return std::nullopt;
  char* end = nullptr;
  const long long column = std::strtoll(line.c_str() + 4, &end, 10);
  return std::string_view(end).substr(0, 1) == ")" ? std::optional(column) : std::nullopt;
}

}  // namespace

std::string currents_text(const DeviceRead& read, const std::optional<std::vector<double>>& printed) {
  std::string out;
  for (Index j = 0; j < read.currents_A.size(); ++j) {
    const double own = read.currents_A(0, j), ideal = read.ideal_A(0, j);
    out += fmt::format("i(vs{}) = {:.15e}", j, own);
    if (ideal != 0) out += fmt::format("   {:+.4g} % off ideal wires", 100 * (own / ideal - 1));
    if (printed) {
      const double theirs = (*printed)[static_cast<std::size_t>(j)];
      out += fmt::format("   ngspice {:.15e}, {:+.2e} relative", theirs, own != 0 ? theirs / own - 1 : theirs - own);
    }
    out += "\n";
  }
  return out;
}

std::vector<double> printed_currents(std::string_view text, Index columns, const std::string& file) {
  std::vector<double> currents(static_cast<std::size_t>(columns), std::numeric_limits<double>::quiet_NaN());
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto column = column_of(line);
    if (!column) continue;
    const std::string where = fmt::format("{}:{}: i(vs{})", file, number, *column);
    if (*column < 0 || *column >= columns) {
      throw UserError(fmt::format("{}: the array has {} columns (is this the output of its netlist?)", where, columns));
    }
    double& own = currents[static_cast<std::size_t>(*column)];
    if (!std::isnan(own)) throw UserError(where + " occurs twice");
    const std::size_t equals = line.find('=');
    const std::string value = equals == std::string::npos ? "" : line.substr(equals + 1);
    char* end = nullptr;
    own = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || !std::isfinite(own)) throw UserError(where + ": not a finite number of amperes");
  }
  for (std::size_t j = 0; j < currents.size(); ++j) {
    if (!std::isnan(currents[j])) continue;
    throw UserError(fmt::format(
        "{}: no line \"i(vs{}) = ...\" (what `ngspice -b NETLIST` prints for an array of {} columns is needed)", file,
        j, columns));
  }
  return currents;
}

double worst_deviation(const DeviceRead& read, const std::vector<double>& printed) {
  double worst = 0, largest = 0;
  for (Index j = 0; j < read.currents_A.size(); ++j) {
    worst = std::max(worst, std::abs(printed[static_cast<std::size_t>(j)] - read.currents_A(0, j)));
    largest = std::max(largest, std::abs(read.currents_A(0, j)));
  }
  return largest > 0 ? worst / largest : worst;
}

namespace {

/// Most terms of all behavioural sources, or resistors (chosen: a netlist of a few megabytes; ngspice is for small
/// networks).
constexpr double most_terms = 5e4;

/// Names of the network kinds with a netlist: "block, transformer".
std::string exported_kinds() {
  std::string names;
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.netlist) names += (names.empty() ? "" : ", ") + kind.name;
  }
  return names;
}

void check_size(const Config& config, const NetlistExport& netlist, double terms) {
  if (terms <= most_terms) return;
  std::string keys;
  for (const std::string& key : netlist.sizes) {
    keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", key, config.as_text(key));
  }
  throw UserError(fmt::format("crossbar: --block: {:g} source terms or resistors (must be <= {:g}): make {} smaller",
                              terms, most_terms, keys));
}

}  // namespace

void export_block(const Config& config, const std::filesystem::path& path) {
  const NetworkKind& kind = network_kind(config);
  if (!kind.netlist) {
    throw UserError(
        fmt::format("crossbar: --block: network.kind = {} is not exported ({} are)", kind.name, exported_kinds()));
  }
  const auto [task, plan] = circuit_parts(config);
  check_size(config, *kind.netlist, kind.netlist->terms(*plan));
  const auto network = make_network<double>(config, plan, Weights::configured);
  const CrossbarSpec arrays = crossbar_spec(config);
  NetlistOptions options{{}, arrays.circuit, arrays.device.curve, path.filename().string() + ".data"};
  network->clamp(task->training(0), 0, options.clamp);
  const ExportedNetwork exported = kind.netlist->write(*network, options);
  write_atomically(path, std::as_bytes(std::span(exported.text)), Overwrite::must_not_exist);
  if (!exported.note.empty()) say("{}\n", exported.note);
}

}  // namespace nudge
