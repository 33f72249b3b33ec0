// SPDX-License-Identifier: Apache-2.0
#include "apps/report/graph_layout.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/decompositions.hpp"

namespace nudge::report {
namespace {

constexpr int kRounds = 60;  // of majorisation, which changes little behind the first tens

/// Edges between all pairs; of what is not joined one more than the largest there is.
Matrix<double> distances(int nodes, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> next(static_cast<std::size_t>(nodes));
  for (const auto& [a, b] : edges) {
    next[static_cast<std::size_t>(a)].push_back(b);
    next[static_cast<std::size_t>(b)].push_back(a);
  }
  Matrix<double> d = Matrix<double>::Constant(nodes, nodes, -1);
  for (int from = 0; from < nodes; ++from) {
    std::vector<int> front{from};
    d(from, from) = 0;
    for (std::size_t at = 0; at < front.size(); ++at) {
      for (const int to : next[static_cast<std::size_t>(front[at])]) {
        if (d(from, to) >= 0) continue;
        d(from, to) = d(from, front[at]) + 1;
        front.push_back(to);
      }
    }
  }
  const double apart = d.maxCoeff() + 1;
  return (d.array() < 0).select(apart, d.array()).matrix();
}

Matrix<double> scaled(const Matrix<double>& d) {
  const Index n = d.rows();
  Matrix<double> gram = -0.5 * d.array().square().matrix();
  gram.rowwise() -= gram.colwise().mean().eval();
  gram.colwise() -= gram.rowwise().mean().eval();
  const SymmetricPairs pairs = symmetric_eigenpairs(gram);
  Matrix<double> x(n, 2);
  for (Index k = 0; k < 2; ++k) {
    const Index at = n - 1 - k;
    Eigen::VectorXd axis = pairs.vectors.col(at) * std::sqrt(std::max(pairs.values(at), 0.0));
    Index largest = 0;  // whose sign the numerics leave open
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis(largest) < 0) axis = -axis;
    x.col(k) = axis;
  }
  // Nodes that see all others alike would lie on one place, from where nothing moves them.
  for (Index i = 0; i < n; ++i) {
    const double turn = 2.4 * static_cast<double>(i);
    x.row(i) += 0.01 * Eigen::RowVector2d(std::cos(turn), std::sin(turn));
  }
  return x;
}

/// x_i ← Σ_j w_ij (x_j + d_ij (x_i − x_j)/|x_i − x_j|)/Σ_j w_ij, one node after the other.
void majorise(const Matrix<double>& d, Matrix<double>& x) {
  for (int round = 0; round < kRounds; ++round) {
    for (Index i = 0; i < x.rows(); ++i) {
      Eigen::RowVector2d sum = Eigen::RowVector2d::Zero();
      double weights = 0;
      for (Index j = 0; j < x.rows(); ++j) {
        if (j == i) continue;
        const Eigen::RowVector2d way = x.row(i) - x.row(j);
        const double w = 1 / (d(i, j) * d(i, j)), length = std::max(way.norm(), 1e-9);
        sum += w * (x.row(j) + d(i, j) / length * way);
        weights += w;
      }
      if (weights > 0) x.row(i) = sum / weights;
    }
  }
}

}  // namespace

Matrix<double> graph_layout(int nodes, const std::vector<std::pair<int, int>>& edges) {
  if (nodes < 2) return Matrix<double>::Constant(nodes, 2, 0.5);
  const Matrix<double> d = distances(nodes, edges);
  Matrix<double> x = scaled(d);
  majorise(d, x);
  x.rowwise() -= x.colwise().minCoeff().eval();
  const double width = x.maxCoeff();
  if (width > 0) x /= width;
  return x;
}

}  // namespace nudge::report
