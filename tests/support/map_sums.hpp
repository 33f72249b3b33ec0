// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge::test {

/// Sums of what is correlated, by map: G_p += scale xᵀ y.
class Sums final : public GradientSink<double> {
 public:
  explicit Sums(const std::vector<std::unique_ptr<LinearMap<double>>>& maps) {
    for (const auto& map : maps) g.push_back(Matrix<double>::Zero(map->inputs(), map->outputs()));
  }
  void accumulate(int parameter, Columns columns, double scale, ConstMatrixRef<double> x,
                  ConstMatrixRef<double> y) override {
    g[static_cast<std::size_t>(parameter)].middleCols(columns.begin, columns.count) += scale * x.transpose() * y;
  }
  void accumulate(int parameter, double scale, ConstMatrixRef<double> gradient) override {
    g[static_cast<std::size_t>(parameter)] += scale * gradient;
  }
  std::vector<Matrix<double>> g;
};

}  // namespace nudge::test
