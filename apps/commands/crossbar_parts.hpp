// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/fit/long_table.hpp"
#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/card/cost_card.hpp"

namespace nudge {

/// Cost and result of programming an array: pulses, verify reads, and the errors that are left. Energies and times of pulses are 0 where the device's
/// pulses have no volts and widths.
struct WriteFacts {
  double pulses = 0, reads = 0;          ///< of the whole array
  double verified = 0, failures = 0;     ///< devices written by write-verify; of these, not within tolerance
  double error_mean = 0, error_rms = 0;  ///< of the conductances of the last write, of the window
  double pulses_J = 0, pulses_s = 0;     ///< heat and time of the pulses, one after another
  double reads_J = 0, reads_s = 0;       ///< of the verify reads
};

/// Facts of one array as programmed: how far its weights are from the nominal ones, and the errors of its reads.
struct ArrayFacts {
  std::string name;
  Index rows = 0, columns = 0;
  double w_max = 0, siemens_per_weight = 0;
  double weight_error = 0;  ///< ‖W_device − W‖_F/‖W‖_F
  double read_noise = 0;    ///< read noise: rms noise over rms product for white inputs, per sqrt(tau)
  double ir_drop = 0;       ///< ir_drop_figure of the worst tile
  double mean_conductance_S = 0;
  double devices = 0;
  double power_W = 0;  ///< power, driven by numbers of rms 1
  double load = 0;     ///< load of the heaviest line, over the feedback conductance of its amplifier
  double curve = 0;    ///< curved devices: change of the currents of the first tile at the read voltage, relative
  /// Sneak currents: one cell is read with all other lines floating; the others' current, relative.
  std::optional<double> sneak = {};
  double curve_missed = 0;  ///< error of reads that leave out curvature behind wires, relative
  std::optional<WriteFacts> writes =
      {};  ///< programming; none where no pulses are simulated, or conductances are given
};

/// Physical scale of the whole circuit.
struct CircuitFacts {
  std::optional<double> phase_s = {};  ///< duration of the config's free phase; none: there is no network
  double node_noise_V = 0;
};

/// Measures an array that holds `nominal`. NumericalFailure where curved devices behind wires are not solved.
ArrayFacts array_facts(const std::string& name, const Crossbar<double>& array, const Matrix<double>& nominal,
                       const CrossbarSpec& spec);

/// Prints tables for people on standard output, warnings on standard error.
void print_facts(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts);

nlohmann::json facts_json(const std::vector<ArrayFacts>& all, const CircuitSpec& circuit, const CircuitFacts& facts);

/// Prints a line for each converter whose INL was measured: INL, DNL, missing codes. The JSON has a list of them.
void print_converters(const PeripherySpec& periphery);
nlohmann::json converters_json(const PeripherySpec& periphery);

/// Conductances of the devices of an array, and voltages and currents that they see in a read with all rows at the read voltage.
struct ArrayRead {
  std::string name;
  DeviceRead positive;
  DeviceRead negative;  ///< second array of pairs, or the reference column; of no size where there is none
  Matrix<double> positive_S, negative_S;
};

/// Solves one read of both arrays, tile by tile.
ArrayRead array_read(const std::string& name, const Crossbar<double>& array, const CrossbarSpec& spec);

/// Writes the groups of a file of kind crossbar (docs/reference/files.md): `arrays`, a row per array; `conductance/<array>` and
/// `ir_drop/<array>`, maps; and `current/<array>`, over the columns.
void write_crossbar(H5Document& file, const std::vector<ArrayFacts>& facts, const std::vector<ArrayRead>& reads);

/// One product of an array, as its cost card counts it.
struct ProductRead {
  double time_constants = 1;  ///< duration of the read, in units of circuit.time_constant
  bool bits = false;          ///< inputs are bits with signs: 0 half of the time. Else they are even in [-1, 1]
};

/// Read that a config asks for: one slot; bits with chip.input_pulses above 1.
ProductRead product_read(const Config& config);

/// Counts of one forward product, means over 256 inputs of an equidistributed sequence.
CardCounts product_counts(const std::string& name, const Crossbar<double>& array, const ProductRead& read,
                          const CircuitSpec& circuit);

/// Array of its own that holds one matrix of a file, without a network.
struct LoneArray {
  CrossbarSpec spec;
  Matrix<double> nominal;  ///< weights that the array should hold
  std::unique_ptr<Crossbar<double>> array;
  TableLook look = {};  ///< what was read in its file
};

/// Divides the columns of the weights by their scales where crossbar.scale = column asks for that. The array then holds
/// them with one scale.
void take_column_scales(CrossbarSpec& spec, Matrix<double>& weights);

/// Makes an array as `spec` has it and writes the weights of a file (read_weights()) into it. UserError naming file, place
/// and rule.
LoneArray programmed_array(const std::string& path, const std::string& columns, const CrossbarSpec& spec,
                           std::uint64_t seed);

/// Makes an array that holds exactly the conductances of a file (read_conductances()). Each cross
/// point has one bare device (MappingKind::single), with the wires, circuits, read noise and curve of `spec`. A number
/// of device.stuck_map replaces the device's conductance. A weight of 1 (crossbar.w_max) is device.g_max, or the
/// largest of the file where the spec has no device. UserError naming file, place and rule: not a number, negative, all
/// 0.
LoneArray measured_array(const std::string& path, const std::string& unit, const std::string& columns,
                         const CrossbarSpec& spec, std::uint64_t seed);

/// Text of the currents that an exported array (crossbar_netlist) must give, in the words of ngspice, one line per
/// column:
///     i(vs0) = 1.839...e-04   -12.4 % off ideal wires
/// With `printed`, each line also has the number that ngspice printed and its relative difference.
std::string currents_text(const DeviceRead& read, const std::optional<std::vector<double>>& printed);

/// Reads the numbers of the lines "i(vs<j>) = ..." that `ngspice -b` printed, for `columns` columns. UserError naming
/// `file` for a column that is missing, occurs twice, is not a finite number, or lies beyond the array.
std::vector<double> printed_currents(std::string_view text, Index columns, const std::string& file);

/// Largest difference of two lists of currents, over the largest current.
double worst_deviation(const DeviceRead& read, const std::vector<double>& printed);

/// Writes the configured network for ngspice, as its kind does (NetworkKind::netlist), with programmed weights, for the
/// first example of the first training batch. Notes of the kind go to stderr. ngspice writes the state to `path` with
/// ".data" appended. UserError for a kind that has no netlist, a network that is too large, or parts that are not
/// exported.
void export_block(const Config& config, const std::filesystem::path& path);

}  // namespace nudge
