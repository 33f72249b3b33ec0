// SPDX-License-Identifier: Apache-2.0
#include "reference/letnet_problem.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

std::vector<Matrix<double>> samples_from_nodes(std::span<const double> values, const LetnetSizes& s) {
  NUDGE_EXPECT(values.size() == static_cast<std::size_t>(s.batch * s.tokens * s.width()));
  std::vector<Matrix<double>> samples(static_cast<std::size_t>(s.batch), Matrix<double>(s.tokens, s.width()));
  const double* at = values.data();
  for (Matrix<double>& sample : samples) {
    for (Index node = 0; node < s.nodes; ++node, at += s.tokens * s.channels) {
      sample.middleCols(node * s.channels, s.channels) = Eigen::Map<const Matrix<double>>(at, s.tokens, s.channels);
    }
  }
  return samples;
}

std::vector<double> nodes_from_samples(const std::vector<Matrix<double>>& samples, const LetnetSizes& s) {
  NUDGE_EXPECT(samples.size() == static_cast<std::size_t>(s.batch));
  std::vector<double> values(static_cast<std::size_t>(s.batch * s.tokens * s.width()));
  double* at = values.data();
  for (const Matrix<double>& sample : samples) {
    NUDGE_EXPECT(sample.rows() == s.tokens && sample.cols() == s.width());
    for (Index node = 0; node < s.nodes; ++node, at += s.tokens * s.channels) {
      Eigen::Map<Matrix<double>>(at, s.tokens, s.channels) = sample.middleCols(node * s.channels, s.channels);
    }
  }
  return values;
}

std::vector<Matrix<double>> unstack(std::span<const double> values, Index count, Index rows, Index cols) {
  NUDGE_EXPECT(values.size() == static_cast<std::size_t>(count * rows * cols));
  std::vector<Matrix<double>> matrices;
  matrices.reserve(count);
  for (Index i = 0; i < count; ++i) {
    matrices.emplace_back(Eigen::Map<const Matrix<double>>(values.data() + i * rows * cols, rows, cols));
  }
  return matrices;
}

}  // namespace nudge
