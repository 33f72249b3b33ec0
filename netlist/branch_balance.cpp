// SPDX-License-Identifier: Apache-2.0
#include "netlist/node_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace nudge {
namespace {

/// Tolerance of equal ratios: gains stand in netlists with some twelve digits, and products of several are compared.
constexpr double kSame = 1e-9;

/// Ratio p_kc/n_kc of a column that a branch moves.
struct Ratio {
  int other;  ///< column of a branch, or branch of a column
  double ratio;
};

/// Difference of the rows of the two ends; rounding is set to 0 where they are equal.
std::map<int, double> difference(const std::vector<std::vector<Share>>& rows, const NodePair& between) {
  std::map<int, double> sum;
  double largest = 0;
  for (const auto& [node, sign] : {std::pair(between.plus, 1.0), std::pair(between.minus, -1.0)}) {
    if (node < 0) continue;
    for (const Share& share : rows[static_cast<std::size_t>(node)]) {
      sum[share.number] += sign * share.weight;
      largest = std::max(largest, std::abs(share.weight));
    }
  }
  std::erase_if(sum, [&](const auto& one) { return std::abs(one.second) <= kSame * largest; });
  return sum;
}

}  // namespace

std::optional<BranchBalance> branch_balance(const std::vector<std::vector<Share>>& p,
                                            const std::vector<std::vector<Share>>& n,
                                            const std::vector<NodePair>& branches, int columns, int first_output) {
  std::vector<std::vector<Ratio>> of_branch(branches.size()), of_column(static_cast<std::size_t>(columns));
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const std::map<int, double> seen = difference(p, branches[k]), moved = difference(n, branches[k]);
    if (moved.empty()) continue;
    if (seen.size() != moved.size()) return std::nullopt;
    for (const auto& [column, charge] : moved) {
      const auto volts = seen.find(column);
      if (volts == seen.end() || volts->second / charge < 0) return std::nullopt;
      of_branch[k].push_back({column, volts->second / charge});
      of_column[static_cast<std::size_t>(column)].push_back({static_cast<int>(k), volts->second / charge});
    }
  }
  BranchBalance found{std::vector<double>(of_column.size(), 0.0), std::vector<double>(branches.size(), 0.0)};
  std::vector<int> open;  // columns whose d is known
  const auto set = [&](int column, double d) {
    found.scale[static_cast<std::size_t>(column)] = d;
    open.push_back(column);
  };
  for (int column = first_output; column < columns; ++column) set(column, 1);
  for (int first = 0; first <= columns; ++first) {
    while (!open.empty()) {
      const int column = open.back();
      open.pop_back();
      const double d = found.scale[static_cast<std::size_t>(column)];
      for (const Ratio& of : of_column[static_cast<std::size_t>(column)]) {
        double& weight = found.weight[static_cast<std::size_t>(of.other)];
        if (weight > 0) continue;
        weight = d / of.ratio;
        for (const Ratio& to : of_branch[static_cast<std::size_t>(of.other)]) {
          if (found.scale[static_cast<std::size_t>(to.other)] == 0) set(to.other, weight * to.ratio);
        }
      }
    }
    if (first < columns && found.scale[static_cast<std::size_t>(first)] == 0) set(first, 1);
  }
  for (std::size_t k = 0; k < branches.size(); ++k) {
    for (const Ratio& of : of_branch[k]) {
      const double d = found.scale[static_cast<std::size_t>(of.other)];
      if (std::abs(found.weight[k] * of.ratio / d - 1) > kSame) return std::nullopt;
    }
  }
  for (double& scale : found.scale) scale = std::sqrt(scale);
  return found;
}

std::vector<bool> reached_outputs(const NodalEquations& equations, const std::vector<std::size_t>& sources) {
  const std::vector<Element>& elements = equations.netlist().elements;
  const auto nodes = static_cast<std::size_t>(equations.nodes());
  const auto feeds = [&](std::size_t k) { return std::find(sources.begin(), sources.end(), k) != sources.end(); };
  std::vector<bool> held(nodes, false), reached(nodes, false);
  std::vector<std::vector<std::size_t>> of(nodes);  // elements at a node
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Element& e = elements[k];
    if (e.kind == ElementKind::capacitor || e.kind == ElementKind::current) continue;
    for (const int node : e.nodes) {
      if (node < 0) continue;
      of[static_cast<std::size_t>(node)].push_back(k);
      const bool grounded = std::find(e.nodes.begin(), e.nodes.end(), kGround) != e.nodes.end();
      if (e.kind == ElementKind::voltage && grounded && !feeds(k)) held[static_cast<std::size_t>(node)] = true;
    }
  }
  std::vector<std::size_t> open;
  const auto visit = [&](const Element& e) {
    for (const int node : e.nodes) {
      if (node < 0 || reached[static_cast<std::size_t>(node)] || held[static_cast<std::size_t>(node)]) continue;
      reached[static_cast<std::size_t>(node)] = true;
      open.push_back(static_cast<std::size_t>(node));
    }
  };
  const auto follow = [&](std::size_t k) {
    visit(elements[k]);
    for (const Element& e : elements) {  // whose current controls others
      const bool controls =
          e.control == static_cast<int>(k) && (e.kind == ElementKind::cccs || e.kind == ElementKind::ccvs);
      if (controls) visit(e);
    }
  };
  for (const std::size_t k : sources) follow(k);
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const std::size_t k : of[open[i]]) {
      elements[k].kind == ElementKind::voltage ? follow(k) : visit(elements[k]);
    }
  }
  std::vector<bool> all;
  const auto at = [&](int node) { return node >= 0 && reached[static_cast<std::size_t>(node)]; };
  for (const NodePair& output : equations.outputs()) all.push_back(at(output.plus) || at(output.minus));
  return all;
}

}  // namespace nudge
