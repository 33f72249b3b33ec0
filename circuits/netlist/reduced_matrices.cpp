// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/reduced_matrices.hpp"

#include <map>

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

}  // namespace nudge
