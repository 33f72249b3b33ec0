// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/branch_balance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace nudge {
namespace {

/// Gains stand in netlists with some twelve digits, and products of several are compared.
constexpr double kSame = 1e-9;

/// p_kc/n_kc of the columns that a branch moves.
struct Ratio {
  int other;  ///< the column of a branch, or a branch of a column
  double ratio;
};

/// Differences of the rows of the two ends; what is left of rounding where they are equal is 0.
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

}  // namespace nudge
