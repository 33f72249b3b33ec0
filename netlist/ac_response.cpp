// SPDX-License-Identifier: Apache-2.0
#include "netlist/ac_response.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <sstream>
#include <tuple>

#include "netlist/expression.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Entry of a matrix, and its parts.
struct Parts {
  double siemens = 0, farad = 0;
};
using Places = std::map<std::pair<int, int>, Parts>;  // by column and row

void add_charges(const NodalEquations& equations, const std::vector<double>& x, const std::vector<double>& node_F,
                 Places& places) {
  const Netlist& netlist = equations.netlist();
  const auto add = [&places](int row, int column, double farad) {
    if (row >= 0 && column >= 0) places[{column, row}].farad += farad;
  };
  for (std::size_t i = 0; i < node_F.size(); ++i) add(static_cast<int>(i), static_cast<int>(i), node_F[i]);
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    const Element& e = netlist.elements[k];
    const int a = e.nodes[0], b = e.nodes[1];
    if (e.kind == ElementKind::inductor) add(equations.branch(k), equations.branch(k), -e.value);
    if (e.kind != ElementKind::capacitor) continue;
    const double farad = farads_at(e, x.data());
    const auto [plus, minus] = moved_by(e);
    for (const auto& [row, column, sign] :
         {std::tuple(a, plus, 1), std::tuple(b, minus, 1), std::tuple(a, minus, -1), std::tuple(b, plus, -1)})
      add(row, column, sign * farad);
  }
  for (const CoupledInductors& of : netlist.couplings) {
    const auto i = static_cast<std::size_t>(of.first), j = static_cast<std::size_t>(of.second);
    const double mutual = of.factor * std::sqrt(netlist.elements[i].value * netlist.elements[j].value);
    add(equations.branch(i), equations.branch(j), -mutual);
    add(equations.branch(j), equations.branch(i), -mutual);
  }
}

}  // namespace

AcResponse::AcResponse(const NodalEquations& equations, const std::vector<double>& x,
                       const std::vector<double>& node_capacitance_F)
    : sources_(static_cast<std::size_t>(equations.unknowns())) {
  std::vector<double> residual, jacobian;
  equations.evaluate(x, equations.values(), {}, {}, nullptr, residual, jacobian);
  Places places;
  const SparsePattern& nodal = equations.pattern();
  for (int column = 0; column < nodal.size; ++column) {
    for (int k = nodal.column_begin[static_cast<std::size_t>(column)];
         k < nodal.column_begin[static_cast<std::size_t>(column) + 1]; ++k)
      places[{column, nodal.row[static_cast<std::size_t>(k)]}].siemens = jacobian[static_cast<std::size_t>(k)];
  }
  add_charges(equations, x, node_capacitance_F, places);
  SparsePattern pattern{nodal.size, std::vector<int>(static_cast<std::size_t>(nodal.size) + 1, 0), {}};
  for (const auto& [place, parts] : places) {
    pattern.row.push_back(place.second);
    ++pattern.column_begin[static_cast<std::size_t>(place.first) + 1];
    siemens_.push_back(parts.siemens);
    charging_.push_back(parts.farad);
  }
  for (std::size_t j = 1; j < pattern.column_begin.size(); ++j) pattern.column_begin[j] += pattern.column_begin[j - 1];
  lu_ = std::make_unique<ComplexLu>(pattern);
  turn(pattern);
  const std::vector<Element>& elements = equations.netlist().elements;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Element& e = elements[k];
    const std::complex<double> amplitude =
        std::polar(std::abs(e.ac), e.ac_degrees * std::numbers::pi / 180) * (e.ac < 0 ? -1.0 : 1.0);
    const auto add = [&](int row, double sign) {
      if (row >= 0) sources_[static_cast<std::size_t>(row)] += sign * amplitude;
    };
    if (e.kind == ElementKind::voltage) add(equations.branch(k), 1);
    if (e.kind != ElementKind::current) continue;
    add(e.nodes[0], -1);
    add(e.nodes[1], 1);
  }
}

/// Makes the transposed matrix.
void AcResponse::turn(const SparsePattern& pattern) {
  std::vector<std::tuple<int, int, std::size_t>> entries;  // row, column and number of each entry
  for (int column = 0; column < pattern.size; ++column) {
    const auto begin = static_cast<std::size_t>(pattern.column_begin[static_cast<std::size_t>(column)]);
    const auto end = static_cast<std::size_t>(pattern.column_begin[static_cast<std::size_t>(column) + 1]);
    for (std::size_t k = begin; k < end; ++k) entries.emplace_back(pattern.row[k], column, k);
  }
  std::sort(entries.begin(), entries.end());
  SparsePattern turned{pattern.size, std::vector<int>(static_cast<std::size_t>(pattern.size) + 1, 0), {}};
  for (const auto& [row, column, k] : entries) {
    turned.row.push_back(column);
    ++turned.column_begin[static_cast<std::size_t>(row) + 1];
    order_.push_back(k);
  }
  for (std::size_t j = 1; j < turned.column_begin.size(); ++j) turned.column_begin[j] += turned.column_begin[j - 1];
  turned_ = std::make_unique<ComplexLu>(turned);
}

/// Solves for the right side right_.
bool AcResponse::solve(double hertz, bool turned, std::vector<std::complex<double>>& y) {
  const double omega = 2 * std::numbers::pi * hertz;
  scaled_.resize(charging_.size());
  for (std::size_t e = 0; e < charging_.size(); ++e) scaled_[e] = omega * charging_[turned ? order_[e] : e];
  if (turned) {
    turned_siemens_.resize(siemens_.size());
    for (std::size_t e = 0; e < siemens_.size(); ++e) turned_siemens_[e] = siemens_[order_[e]];
  }
  if (!(turned ? turned_ : lu_)->solve(turned ? turned_siemens_ : siemens_, scaled_, right_[0], right_[1]))
    return false;
  y.resize(sources_.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = {right_[0][i], right_[1][i]};
  return true;
}

bool AcResponse::at(double hertz, std::vector<std::complex<double>>& y) {
  for (std::vector<double>& part : right_) part.resize(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    right_[0][i] = sources_[i].real();
    right_[1][i] = sources_[i].imag();
  }
  return solve(hertz, false, y);
}

bool AcResponse::adjoint_at(double hertz, const NodePair& output, std::vector<std::complex<double>>& y) {
  for (std::vector<double>& part : right_) part.assign(sources_.size(), 0.0);
  if (output.plus >= 0) right_[0][static_cast<std::size_t>(output.plus)] += 1;
  if (output.minus >= 0) right_[0][static_cast<std::size_t>(output.minus)] -= 1;
  return solve(hertz, true, y);
}

std::vector<double> sweep_frequencies(const std::string& text, const std::string& where) {
  std::istringstream stream(text);
  std::string form, word, rest;
  double numbers[3] = {0, 0, 0};
  stream >> form;
  bool good = form == "dec" || form == "oct" || form == "lin";
  for (double& number : numbers) {
    std::size_t used = 0;
    good = good && (stream >> word) && read_spice_number(word, 0, number, used) && used == word.size();
  }
  const auto [points, from, to] = numbers;
  good = good && !(stream >> rest) && points >= 1 && points == std::floor(points) && to >= from &&
         (from > 0 || (form == "lin" && from == 0));
  if (!good) {
    throw UserError(fmt::format(
        "{}: \"{}\" must be a sweep, as \"dec 10 1 1meg\": dec, oct or lin, points, first and last frequency in Hz",
        where, text));
  }
  constexpr double kMostPoints = 1e5;
  const double base = form == "oct" ? 2 : 10,
               steps = form == "lin" ? points - 1 : points * std::log(to / from) / std::log(base);
  if (steps > kMostPoints)
    throw UserError(fmt::format("{}: \"{}\" is more than {:g} points", where, text, kMostPoints));
  std::vector<double> all;
  for (int k = 0; k <= static_cast<int>(steps + 1e-9); ++k)
    all.push_back(form == "lin" ? from + (steps > 0 ? (to - from) * k / steps : 0) : from * std::pow(base, k / points));
  return all;
}

}  // namespace nudge
