// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "apps/report/pictures.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::report;

TEST_CASE("graph layout: a chain lies on a line, in equal steps", "[report]") {
  std::vector<std::pair<int, int>> edges;
  constexpr int n = 9;
  for (int i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
  const Matrix<double> x = graph_layout(n, edges);
  CHECK(x.minCoeff() >= 0);
  CHECK(x.maxCoeff() <= 1 + 1e-12);
  // Stress 0 is reached by |x_i − x_j| = d_ij alone, whose distances are those of a line; sixty rounds come as close as 1 %.
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      const double shown = (x.row(i) - x.row(j)).norm() / (x.row(n - 1) - x.row(0)).norm();
      CHECK(shown == Approx((i - j) / (n - 1.0)).margin(0.01));
    }
  }
}

TEST_CASE("graph layout: a grid is a grid, and what is not joined lies apart", "[report]") {
  std::vector<std::pair<int, int>> edges;
  constexpr int side = 5;
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      if (c + 1 < side) edges.emplace_back(side * r + c, side * r + c + 1);
      if (r + 1 < side) edges.emplace_back(side * r + c, side * (r + 1) + c);
    }
  }
  const Matrix<double> x = graph_layout(side * side, edges);
  double shortest = INFINITY, longest = 0;
  for (const auto& [a, b] : edges) {
    shortest = std::min(shortest, (x.row(a) - x.row(b)).norm());
    longest = std::max(longest, (x.row(a) - x.row(b)).norm());
  }
  CHECK(longest < 2 * shortest);
  for (int i = 0; i < side * side; ++i) {  // no node lies nearer to another than the shortest wire, by half
    for (int j = 0; j < i; ++j) CHECK((x.row(i) - x.row(j)).norm() > 0.5 * shortest);
  }
  const Matrix<double> two = graph_layout(4, {{0, 1}, {2, 3}});
  CHECK((two.row(0) - two.row(1)).norm() < (two.row(0) - two.row(2)).norm());
  CHECK((graph_layout(side * side, edges) - x).norm() == 0);
  CHECK(graph_layout(1, {}).rows() == 1);
  CHECK(graph_layout(0, {}).rows() == 0);
}
