// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/resistive_factor.hpp"

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge::test {

ResistiveFactor::ResistiveFactor(const ResistiveNetwork& network, const std::vector<bool>& free, double beta,
                                 const Matrix<double>& extra)
    : cols_(network.cols()) {
  NUDGE_EXPECT(static_cast<Index>(free.size()) == network.cols());
  for (Index l = 1; l <= network.depth(); ++l) {
    Block block;
    const Columns at = network.columns(l);
    for (Index i = at.begin; i < at.end(); ++i) {
      if (free[static_cast<std::size_t>(i)]) block.free.push_back(i);
    }
    const auto n = static_cast<Index>(block.free.size());
    Matrix<double> diagonal(1, n);
    for (Index j = 0; j < n; ++j) {
      const Index node = block.free[static_cast<std::size_t>(j)];
      const double other = (l == network.depth() ? beta : 0.0) + (extra.size() > 0 ? extra(0, node) : 0.0);
      diagonal(0, j) = network.factor(l) * (network.node_conductance()(0, node) + other);
    }
    if (l == 1) {
      block.complement = diagonal;
      positive_definite_ = positive_definite_ && (diagonal.array() > 0).all();
    } else {
      const Block& below = blocks_.back();
      const auto m = static_cast<Index>(below.free.size());
      block.coupling.resize(m, n);
      const double scale = network.factor(l) * network.gain(l - 1);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n; ++j) {
          block.coupling(i, j) = scale * network.layer(l).conductance(
                                             below.free[static_cast<std::size_t>(i)] - network.columns(l - 1).begin,
                                             block.free[static_cast<std::size_t>(j)] - at.begin);
        }
      }
      block.complement = diagonal.row(0).asDiagonal();
      if (m > 0) block.complement.noalias() -= block.coupling.transpose() * solve_block(below, block.coupling);
      block.llt.emplace(block.complement);
      positive_definite_ = positive_definite_ && (n == 0 || block.llt->info() == Eigen::Success);
    }
    blocks_.push_back(std::move(block));
    if (!positive_definite_ && l < network.depth()) break;
  }
}

Matrix<double> ResistiveFactor::solve_block(const Block& block, const Matrix<double>& b) const {
  if (block.free.empty() || b.size() == 0) return b;
  if (&block == &blocks_.front()) {
    return (b.array().colwise() / block.complement.row(0).transpose().array()).matrix();
  }
  return block.llt->solve(b);
}

Matrix<double> ResistiveFactor::solve(ConstMatrixRef<double> b) const {
  NUDGE_EXPECT(positive_definite_ && b.rows() == 1 && b.cols() == cols_);
  std::vector<Matrix<double>> x(blocks_.size());
  for (std::size_t l = 0; l < blocks_.size(); ++l) {
    const Block& block = blocks_[l];
    x[l].resize(static_cast<Index>(block.free.size()), 1);
    for (std::size_t i = 0; i < block.free.size(); ++i) x[l](static_cast<Index>(i), 0) = b(0, block.free[i]);
    if (l > 0 && block.coupling.size() > 0) {
      x[l] += block.coupling.transpose() * solve_block(blocks_[l - 1], x[l - 1]);
    }
  }
  Matrix<double> out = Matrix<double>::Zero(1, cols_);
  for (std::size_t l = blocks_.size(); l-- > 0;) {
    if (l + 1 < blocks_.size() && blocks_[l + 1].coupling.size() > 0) x[l] += blocks_[l + 1].coupling * x[l + 1];
    x[l] = solve_block(blocks_[l], x[l]);
    for (std::size_t i = 0; i < blocks_[l].free.size(); ++i)
      out(0, blocks_[l].free[i]) = x[l](static_cast<Index>(i), 0);
  }
  return out;
}

double convex_nudge_limit_S(const ResistiveNetwork& network) {
  const ResistiveFactor factor(network, std::vector<bool>(static_cast<std::size_t>(network.cols()), true), 0);
  const double c = network.factor(network.depth());
  if (network.depth() == 1) return factor.output_complement().minCoeff() / c;
  if (!factor.positive_definite()) return 0;
  return symmetric_eigenvalues(factor.output_complement()).minCoeff() / c;
}

}  // namespace nudge::test
