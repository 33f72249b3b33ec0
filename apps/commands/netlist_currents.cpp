// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/netlist_currents.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// The column of a line "i(vs12) = ..."; nothing for other lines.
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

}  // namespace nudge
