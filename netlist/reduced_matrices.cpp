// SPDX-License-Identifier: Apache-2.0
#include "netlist/reduced_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Entry = std::pair<int, int>;  // column, row of z

}  // namespace

ReducedMatrices::ReducedMatrices(const NodalEquations& equations, const NodeCoordinates& at,
                                 const std::vector<double>& node_capacitance_F) {
  std::map<Entry, double> capacitance;
  const auto join = [&](int of, int by, double farad) {
    if (of < 0 || by < 0) return;
    between.push_back({of, by, farad});
    for (const auto& [row, n] : at.carried(of)) {
      for (const auto& [column, p] : at.set_by(by)) capacitance[{column, row}] += n * farad * p;
    }
  };
  for (int i = 0; i < equations.nodes(); ++i) {
    if (const double farad = node_capacitance_F[static_cast<std::size_t>(i)]; farad != 0) join(i, i, farad);
  }
  const std::vector<Element>& elements = equations.netlist().elements;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Element& e = elements[k];
    if (e.kind != ElementKind::capacitor || (!e.charge && e.value == 0)) continue;
    if (e.charge) curved.push_back({k, e.value});
    const auto [plus, minus] = moved_by(e);
    for (const std::size_t of : {0, 1}) {
      for (const bool positive : {true, false}) {
        const double sign = (of == 0) == positive ? 1 : -1;
        const std::size_t place = between.size();
        join(e.nodes[of], positive ? plus : minus, sign * e.value);
        if (e.charge && between.size() > place) curved.back().between.emplace_back(place, sign);
      }
    }
  }
  std::map<Entry, std::vector<Part>> all;
  const SparsePattern& nodal = equations.pattern();
  for (int by = 0; by < equations.nodes(); ++by) {
    for (int k = nodal.column_begin[static_cast<std::size_t>(by)];
         k < nodal.column_begin[static_cast<std::size_t>(by) + 1]; ++k) {
      const auto from = static_cast<std::size_t>(k);
      if (nodal.row[from] >= equations.nodes()) break;
      for (const auto& [row, n] : at.carried(nodal.row[from])) {
        for (const auto& [column, p] : at.set_by(by)) all[{column, row}].push_back({0, from, n * p});
      }
    }
  }
  for (const auto& [place, farad] : capacitance) all[place];
  for (int i = 0; i < at.columns(); ++i) all[{i, i}];
  pattern.size = at.columns();
  pattern.column_begin.assign(static_cast<std::size_t>(at.columns()) + 1, 0);
  for (auto& [place, parts] : all) {
    for (Part& part : parts) {
      part.entry = pattern.row.size();
      slopes.push_back(part);
    }
    const auto found = capacitance.find(place);
    farads.push_back(found == capacitance.end() ? 0 : found->second);
    pattern.row.push_back(place.second);
    columns.push_back(place.first);
    ++pattern.column_begin[static_cast<std::size_t>(place.first) + 1];
  }
  for (std::size_t j = 1; j < pattern.column_begin.size(); ++j) pattern.column_begin[j] += pattern.column_begin[j - 1];
  share_junctions(at);
}

void ReducedMatrices::share_junctions(const NodeCoordinates& at) {
  std::map<Entry, std::size_t> entries;
  for (std::size_t e = 0; e < columns.size() && !curved.empty(); ++e) entries[{columns[e], pattern.row[e]}] = e;
  for (Curved& one : curved) {
    for (const auto& [place, sign] : one.between) {
      const Between& of = between[place];
      for (const auto& [row, n] : at.carried(of.of)) {
        for (const auto& [column, p] : at.set_by(of.by))
          one.shares.emplace_back(entries.at({column, row}), n * p * sign);
      }
    }
  }
}

void ReducedMatrices::set_junctions(const NodalEquations& equations, const double* v) {
  for (Curved& one : curved) {
    const double farad = farads_at(equations.netlist().elements[one.element], v);
    for (const auto& [entry, weight] : one.shares) farads[entry] += weight * (farad - one.farad);
    for (const auto& [place, sign] : one.between) between[place].farad = sign * farad;
    one.farad = farad;
  }
}

void ReducedMatrices::charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const {
  std::vector<double> of_nodes(v.size(), 0.0);
  for (const Between& one : between) {
    of_nodes[static_cast<std::size_t>(one.of)] += one.farad * v[static_cast<std::size_t>(one.by)];
  }
  out.assign(static_cast<std::size_t>(at.columns()), 0.0);
  at.gather(of_nodes.data(), out.data());
}

SmallSignal::SmallSignal(const NodalEquations& equations, const NodeCoordinates& at,
                         const std::vector<double>& node_capacitance_F, double column_F)
    : reduced_(equations, at,
               node_capacitance_F.empty() ? std::vector<double>(static_cast<std::size_t>(equations.nodes()), 0.0)
                                          : node_capacitance_F),
      farads_(reduced_.farads),
      lu_(reduced_.pattern) {
  const SparsePattern& one = reduced_.pattern;
  for (std::size_t e = 0; node_capacitance_F.empty() && e < one.entries(); ++e)
    farads_[e] = one.row[e] == reduced_.columns[e] ? column_F : 0;
  right_.resize(static_cast<std::size_t>(one.size));
  siemens_.resize(one.entries());
  charging_.resize(one.entries());
}

bool SmallSignal::respond(const std::vector<double>& nodal, const std::vector<double>& and_of, double omega,
                          double* c) {
  std::fill(siemens_.begin(), siemens_.end(), 0.0);
  for (const ReducedMatrices::Part& part : reduced_.slopes)
    siemens_[part.entry] += part.weight * (nodal[part.from] + and_of[part.from]);
  for (std::size_t e = 0; e < siemens_.size(); ++e) charging_[e] = omega * farads_[e];
  const std::size_t n = right_.size();
  right_.assign(c, c + n);
  quadrature_.assign(n, 0.0);
  const bool solved = lu_.solve(siemens_, charging_, right_, quadrature_);
  if (!solved) std::fill(right_.begin(), right_.end(), std::numeric_limits<double>::quiet_NaN());
  std::copy(right_.begin(), right_.end(), c);
  return solved;
}

ColumnCharges::ColumnCharges(const NodalEquations& equations, const NodeCoordinates& at,
                             const ReducedMatrices& matrices, const std::vector<std::string>& output_names)
    : equations_(&equations), at_(&at), matrices_(&matrices), output_names_(&output_names), lu_(matrices.pattern) {}

void ColumnCharges::refuse_singular() const {
  const int column = lu_.singular_column();
  std::string name = "a node";
  if (column >= at_->inner()) {
    name = "output " + (*output_names_)[static_cast<std::size_t>(column - at_->inner())];
  } else if (column >= 0) {
    name = "node " + equations_->netlist().nodes[static_cast<std::size_t>(at_->node_of(column))];
  }
  throw UserError(
      fmt::format("netlist.node_capacitance: {} has no capacitance of its own and follows at once, in no step of time "
                  "(give it one, or take relaxation.solver = direct)",
                  name));
}

void ColumnCharges::rates(double* x) {
  if (!factored_ && !lu_.factor(matrices_->farads)) refuse_singular();
  factored_ = true;
  lu_.solve(x);
}

}  // namespace nudge
