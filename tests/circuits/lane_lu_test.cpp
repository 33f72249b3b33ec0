// SPDX-License-Identifier: Apache-2.0
// Matrices that are factorised side by side, against dense factors of each.
#include "netlist/sparse_lu.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/base/matrix.hpp"
#include "sim/base/rng.hpp"

using namespace nudge;

namespace {

/// Two blocks that each have a few entries beside the diagonal, an entry between them, and rows that are far apart in size.
struct Sparse {
  SparsePattern pattern;
  std::vector<std::vector<double>> values;  // per lane
  std::vector<Matrix<double>> dense;
};

Sparse drawn(int n, std::uint64_t seed) {
  std::vector<double> numbers(static_cast<std::size_t>(n * n * (kLanes + 1)));
  fill_uniform<double>({seed, Purpose::probe, 3}, 0, 0, numbers);
  Sparse made;
  made.pattern.size = n;
  made.pattern.column_begin = {0};
  made.values.resize(kLanes);
  made.dense.assign(kLanes, Matrix<double>::Zero(n, n));
  const int cut = n / 3;
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < n; ++row) {
      const auto at = static_cast<std::size_t>(row * n + column);
      const bool below = row >= cut && column < cut;  // nothing there: two blocks
      if (row != column && (below || numbers[at] > 3.0 / n)) continue;
      made.pattern.row.push_back(row);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double u = numbers[(lane + 1) * static_cast<std::size_t>(n * n) + at];
        const double value = std::pow(10.0, row % 4 - 2) * (row == column ? 3 + u : 2 * u - 1);
        made.values[lane].push_back(value);
        made.dense[lane](row, column) = value;
      }
    }
    made.pattern.column_begin.push_back(static_cast<int>(made.pattern.row.size()));
  }
  return made;
}

}  // namespace

TEST_CASE("matrices side by side are solved as each alone", "[netlist][lane_lu]") {
  for (const int n : {1, 2, 7, 40}) {
    const Sparse made = drawn(n, static_cast<std::uint64_t>(n));
    SparseLu lu(made.pattern);
    REQUIRE(lu.choose_pivots(made.values[0]));
    LaneLu lanes(lu.pivots());
    for (int lane = 0; lane < kLanes; ++lane) lanes.set(lane, made.values[static_cast<std::size_t>(lane)]);
    REQUIRE(lanes.factor() == (1U << kLanes) - 1);
    std::vector<double> right(static_cast<std::size_t>(n));
    fill_normal<double>({1, Purpose::probe, 4}, 0, 0, right);
    for (int lane = 0; lane < kLanes; ++lane) lanes.set_right(lane, right);
    lanes.solve();
    const Eigen::Map<const Eigen::VectorXd> b(right.data(), n);
    for (int lane = 0; lane < kLanes; ++lane) {
      Eigen::VectorXd x(n);
      for (int i = 0; i < n; ++i) x(i) = lanes.solution(lane, static_cast<std::size_t>(i));
      // Backward error: a few roundings of every row's largest product.
      const Matrix<double>& a = made.dense[static_cast<std::size_t>(lane)];
      const Eigen::VectorXd off = a * x - b;
      const Eigen::VectorXd size = a.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs();
      for (int i = 0; i < n; ++i) CHECK(std::abs(off(i)) <= 1e-13 * size(i));
    }
  }
}

TEST_CASE("matrices side by side: a lane whose pivots are poor is told from the others and changes none",
          "[netlist][lane_lu]") {
  const int n = 12;
  Sparse made = drawn(n, 5);
  SparseLu lu(made.pattern);
  REQUIRE(lu.choose_pivots(made.values[0]));
  LaneLu lanes(lu.pivots());
  std::vector<double> right(static_cast<std::size_t>(n), 1.0);
  const auto solved = [&](int lane) {
    for (int k = 0; k < kLanes; ++k) lanes.set(k, made.values[static_cast<std::size_t>(k)]);
    const unsigned good = lanes.factor();
    for (int k = 0; k < kLanes; ++k) lanes.set_right(k, right);
    lanes.solve();
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(lanes.solution(lane, static_cast<std::size_t>(i)));
    return std::pair(good, x);
  };
  const auto [all, before] = solved(2);
  CHECK(all == (1U << kLanes) - 1);
  std::fill(made.values[3].begin(), made.values[3].end(), 0.0);  // no matrix
  made.values[1][0] *= 1e-15;                                    // a pivot that is nothing but rounding, or another one
  const auto [some, after] = solved(2);
  CHECK((some & (1U << 3)) == 0);
  CHECK((some & (1U << 2)) != 0);
  CHECK(after == before);
}
