// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/crossbar_file.hpp"

namespace nudge {
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
  column("read_noise", "1", "rms over the rms product of a white input, per sqrt(tau)",
         [](F f) { return f.read_noise; });
  column("ir_drop_figure", "1", "L of the worst tile: up to L/(1 + L) of the signal is lost",
         [](F f) { return f.ir_drop; });
  column("mean_conductance", "S", "mean of all devices", [](F f) { return f.mean_conductance_S; });
  column("power", "W", "V^2 times the sum of all conductances, for drives of rms 1", [](F f) { return f.power_W; });
  column("largest_load", "1", "of the heaviest line, over the feedback conductance of its amplifier",
         [](F f) { return f.load; });
  column("curve", "1", "curved devices: change of the currents of the first tile at the read voltage, relative",
         [](F f) { return f.curve; });
  column("curve_missed", "1", "what reads leave out of that behind wires, relative",
         [](F f) { return f.curve_missed; });
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
    return read_devices(g, spec.wires, spec.tiles, spec.device.curve, spec.circuit.read_voltage_V);
  };
  return {name, read(array.plus().conductance()), read(array.minus().conductance())};
}

void write_crossbar(H5Document& file, const std::vector<ArrayFacts>& facts, const std::vector<ArrayRead>& reads) {
  write_facts(file, facts);
  for (const ArrayRead& read : reads) {
    write_devices(file, read.name, "positive", read.positive);
    write_devices(file, read.name, "negative", read.negative);
  }
}

}  // namespace nudge
