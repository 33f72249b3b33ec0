// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/crossbar_parts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <sstream>

#include "apps/streams.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/registry.hpp"

namespace nudge {
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
  NetlistOptions options{Matrix<double>(network->rows(), network->circuit().inputs()), arrays.circuit,
                         arrays.device.curve, path.filename().string() + ".data"};
  network->clamp(task->training(0), 0, options.clamp);
  const ExportedNetwork exported = kind.netlist->write(*network, options);
  write_atomically(path, std::as_bytes(std::span(exported.text)), Overwrite::must_not_exist);
  if (!exported.note.empty()) say("{}\n", exported.note);
}

}  // namespace nudge
