// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/coordinate_descent.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge::test {

void clip_layer(const ResistiveNetwork& network, MatrixRef<double> v, Index l) {
  if (!network.has_diodes(l)) return;
  const Index begin = network.columns(l).begin, above = network.nodes_above_zero(l);
  auto first = v.middleCols(begin, above);
  first = first.cwiseMax(0.0);
  auto rest = v.middleCols(begin + above, network.width(l) - above);
  rest = rest.cwiseMin(0.0);
}

void clip(const ResistiveNetwork& network, MatrixRef<double> v) {
  for (Index l = 1; l <= network.depth(); ++l) clip_layer(network, v, l);
}

void CoordinateDescent::bind(ConstMatrixRef<double> sources) {
  const ResistiveNetwork& net = *network_;
  NUDGE_EXPECT(sources.cols() == net.width(0));
  const auto depth = static_cast<std::size_t>(net.depth());
  drive_.resize(depth);
  inverse_.resize(depth);
  part_.resize(depth);
  for (Index l = 1; l <= net.depth(); ++l) {
    const auto at = static_cast<std::size_t>(l - 1);
    drive_[at].resize(sources.rows(), net.width(l));
    part_[at].resize(sources.rows(), net.width(l));
    if (l == 1) {
      multiply<double>(sources, net.layer(1).conductance, drive_[at]);
      drive_[at] *= net.gain(0);
    } else {
      drive_[at].setZero();
    }
    const Matrix<double>& bias = net.layer(l).bias;
    for (Index b = 0; b < sources.rows(); ++b) {  // row by row: a broadcast expression would allocate
      if (net.bias() == ResistiveBias::current) drive_[at].row(b) += bias.row(0);
      if (net.bias() == ResistiveBias::rails) drive_[at].row(b) += net.rail_V() * (bias.row(0) - bias.row(1));
    }
    const auto g = net.node_conductance().middleCols(net.columns(l).begin, net.width(l)).array();
    inverse_[at] = (g > 0.0).select(1.0 / g, 0.0).matrix();
  }
  output_drive_ = drive_.back();
}

void CoordinateDescent::nudge(double beta, ConstMatrixRef<double> target) {
  NUDGE_EXPECT(beta == 0.0 || (target.rows() == output_drive_.rows() && target.cols() == output_drive_.cols()));
  const ResistiveNetwork& net = *network_;
  const Columns out = net.columns(net.depth());
  for (Index j = 0; j < out.count; ++j) {
    const double g = net.node_conductance()(0, out.begin + j);
    if (beta < 0.0 && !(g + beta > 0.0)) {
      throw NumericalFailure(fmt::format(
          "resistive network: a nudge of {:.6g} double leaves output node {} no minimum: its conductance is {:.6g} "
          "S, and -beta must be below it",
          beta, j, g));
    }
    inverse_.back()(0, j) = g + beta > 0.0 ? 1.0 / (g + beta) : 0.0;
  }
  drive_.back() = output_drive_;
  if (beta != 0.0) drive_.back() += beta * target;
}

void CoordinateDescent::update(MatrixRef<double> v, Index l) {
  const ResistiveNetwork& net = *network_;
  const auto at = static_cast<std::size_t>(l - 1);
  const Columns here = net.columns(l);
  auto layer = v.middleCols(here.begin, here.count);
  Matrix<double>& part = part_[at];
  layer = drive_[at];
  if (l > 1) {
    const Columns below = net.columns(l - 1);
    multiply<double>(v.middleCols(below.begin, below.count), net.layer(l).conductance, part);
    layer += net.gain(l - 1) * part;
  }
  if (l < net.depth()) {
    const Columns above = net.columns(l + 1);
    multiply_transposed<double>(v.middleCols(above.begin, above.count), net.layer(l + 1).conductance, part);
    layer += part / net.gain(l);
  }
  layer.array().rowwise() *= inverse_[at].row(0).array();
  clip_layer(net, v, l);
}

void CoordinateDescent::sweep(MatrixRef<double> v, int n) {
  NUDGE_EXPECT(v.cols() == network_->cols() && v.rows() == output_drive_.rows());
  for (int i = 0; i < n; ++i) {
    for (Index l = 1; l <= network_->depth(); l += 2) update(v, l);
    for (Index l = 2; l <= network_->depth(); l += 2) update(v, l);
  }
}

}  // namespace nudge::test
