// SPDX-License-Identifier: Apache-2.0
#include "netlist/reduced_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    if (of < 0 || by < 0 || farad == 0) return;
    between.push_back({of, by, farad});
    for (const auto& [row, n] : at.carried(of)) {
      for (const auto& [column, p] : at.set_by(by)) capacitance[{column, row}] += n * farad * p;
    }
  };
  for (int i = 0; i < equations.nodes(); ++i) join(i, i, node_capacitance_F[static_cast<std::size_t>(i)]);
  for (const Element& e : equations.netlist().elements) {
    if (e.kind != ElementKind::capacitor) continue;
    for (const std::size_t of : {0, 1}) {
      for (const std::size_t by : {0, 1}) join(e.nodes[of], e.nodes[by], of == by ? e.value : -e.value);
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
}

void ReducedMatrices::charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const {
  std::vector<double> of_nodes(v.size(), 0.0);
  for (const Between& one : between) {
    of_nodes[static_cast<std::size_t>(one.of)] += one.farad * v[static_cast<std::size_t>(one.by)];
  }
  out.assign(static_cast<std::size_t>(at.columns()), 0.0);
  at.gather(of_nodes.data(), out.data());
}

namespace {

/// Pattern of ((K, −ωM), (ωM, K)): every column of a pattern once above and once below, twice.
SparsePattern doubled(const SparsePattern& of) {
  SparsePattern both;
  both.size = 2 * of.size;
  both.column_begin = {0};
  for (int half = 0; half < 2; ++half) {
    for (int j = 0; j < of.size; ++j) {
      for (int below = 0; below < 2; ++below) {
        for (int k = of.column_begin[static_cast<std::size_t>(j)]; k < of.column_begin[static_cast<std::size_t>(j) + 1];
             ++k)
          both.row.push_back(of.row[static_cast<std::size_t>(k)] + below * of.size);
      }
      both.column_begin.push_back(static_cast<int>(both.row.size()));
    }
  }
  return both;
}

}  // namespace

SmallSignal::SmallSignal(const NodalEquations& equations, const NodeCoordinates& at,
                         const std::vector<double>& node_capacitance_F, double column_F)
    : reduced_(equations, at,
               node_capacitance_F.empty() ? std::vector<double>(static_cast<std::size_t>(equations.nodes()), 0.0)
                                          : node_capacitance_F),
      farads_(reduced_.farads),
      both_(doubled(reduced_.pattern)),
      lu_(both_) {
  const SparsePattern& one = reduced_.pattern;
  const std::size_t entries = one.entries();
  if (node_capacitance_F.empty()) {
    for (std::size_t e = 0; e < entries; ++e) farads_[e] = one.row[e] == reduced_.columns[e] ? column_F : 0;
  }
  for (std::size_t e = 0; e < entries; ++e) {
    const auto j = static_cast<std::size_t>(reduced_.columns[e]);
    const auto begin = static_cast<std::size_t>(one.column_begin[j]),
               count = static_cast<std::size_t>(one.column_begin[j + 1]) - begin;
    // Column j of the left half begins at 2 begin, of the right one behind all of the left.
    const std::size_t left = 2 * begin + (e - begin), right = 2 * entries + left;
    slope_[0].push_back(left);
    charge_[0].push_back(left + count);
    charge_[1].push_back(right);
    slope_[1].push_back(right + count);
  }
  values_.resize(both_.entries());
  right_.resize(2 * static_cast<std::size_t>(one.size));
  siemens_.resize(entries);
}

bool SmallSignal::respond(const std::vector<double>& nodal, const std::vector<double>& and_of, double omega,
                          double* c) {
  std::fill(siemens_.begin(), siemens_.end(), 0.0);
  for (const ReducedMatrices::Part& part : reduced_.slopes)
    siemens_[part.entry] += part.weight * (nodal[part.from] + and_of[part.from]);
  for (std::size_t e = 0; e < siemens_.size(); ++e) {
    values_[slope_[0][e]] = values_[slope_[1][e]] = siemens_[e];
    values_[charge_[0][e]] = omega * farads_[e];
    values_[charge_[1][e]] = -omega * farads_[e];
  }
  const std::size_t n = right_.size() / 2;
  if (!lu_.factor(values_)) {
    std::fill(c, c + n, std::numeric_limits<double>::quiet_NaN());
    return false;
  }
  std::copy(c, c + n, right_.begin());
  std::fill(right_.begin() + static_cast<std::ptrdiff_t>(n), right_.end(), 0.0);
  lu_.solve(right_.data());
  std::copy(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(n), c);
  return true;
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
