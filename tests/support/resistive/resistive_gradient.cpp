// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/resistive_gradient.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"
#include "tests/support/resistive/resistive_factor.hpp"

namespace nudge::test {
namespace {

/// Sum scale · Σ (A m_i − m_j)(A δ_i − δ_j), the product of two drops of every resistor of a layer, as xᵀ y + rows_i +
/// columns_j, and the part of the bias. x of the first layer is the sources, and stays empty.
struct Drops {
  Matrix<double> x, y, rows, columns, bias;

  using View = Eigen::Ref<const Matrix<double>, 0, Eigen::OuterStride<>>;
  View drives(ConstMatrixRef<double> sources) const { return x.size() > 0 ? View(x) : View(sources); }
};

/// Computes the drops of layer l; m (B, N) above the sources, δ (B, N) above 0. Rails and current sources: their drops
/// at m, and −δ. scale: factor of the sum.
Drops drops_of(const ResistiveNetwork& net, const Matrix<double>& m, const Matrix<double>& delta, Index l,
               double scale) {
  const Columns here = net.columns(l);
  const double gain = net.gain(l - 1);
  const auto mj = m.middleCols(here.begin, here.count);
  const auto dj = delta.middleCols(here.begin, here.count);
  Drops out;
  out.columns = scale * mj.cwiseProduct(dj).colwise().sum();
  if (l == 1) {
    out.y = (-scale * gain) * dj;
    out.rows = Matrix<double>::Zero(1, net.width(0));
  } else {
    const Columns below = net.columns(l - 1);
    const auto mi = m.middleCols(below.begin, below.count);
    const auto di = delta.middleCols(below.begin, below.count);
    out.x.resize(2 * m.rows(), below.count);
    out.x << mi, di;
    out.y.resize(2 * m.rows(), here.count);
    out.y << (-scale * gain) * dj, (-scale * gain) * mj;
    out.rows = (scale * gain * gain) * mi.cwiseProduct(di).colwise().sum();
  }
  const Matrix<double> sum = scale * dj.colwise().sum();
  if (net.bias() == ResistiveBias::current) {
    out.bias = -sum;
  } else if (net.bias() == ResistiveBias::rails) {
    out.bias.resize(2, here.count);
    out.bias.row(0) = out.columns - net.rail_V() * sum;
    out.bias.row(1) = out.columns + net.rail_V() * sum;
  }
  return out;
}

/// Adds the drops of every layer to the gradient. m (B, N): voltages; delta (B, N): δ; scales: one for each layer.
void accumulate_drops(const ResistiveNetwork& net, ConstMatrixRef<double> sources, const Matrix<double>& m,
                      const Matrix<double>& delta, const std::vector<double>& scales, ResistiveGradient& gradient) {
  for (Index l = 1; l <= net.depth(); ++l) {
    auto& [g, bias] = gradient[static_cast<std::size_t>(l - 1)];
    const Drops drops = drops_of(net, m, delta, l, scales[static_cast<std::size_t>(l - 1)]);
    multiply_outer<double>(drops.drives(sources), drops.y, 1.0, g);
    g.colwise() += drops.rows.row(0).transpose();
    g.rowwise() += drops.columns.row(0);
    if (net.bias() != ResistiveBias::none) bias += drops.bias;
  }
}

/// Returns scale · c_l/c_L of every layer.
std::vector<double> rule_scales(const ResistiveNetwork& net, double scale) {
  std::vector<double> scales;
  for (Index l = 1; l <= net.depth(); ++l) scales.push_back(scale * net.factor(l) / net.factor(net.depth()));
  return scales;
}

}  // namespace

ResistiveGradient zero_gradient(const ResistiveNetwork& network) {
  ResistiveGradient gradient;
  for (Index l = 1; l <= network.depth(); ++l) {
    const auto& [g, bias] = network.layer(l);
    gradient.push_back({Matrix<double>::Zero(g.rows(), g.cols()), Matrix<double>::Zero(bias.rows(), bias.cols())});
  }
  return gradient;
}

void accumulate_half_squares(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                             ConstMatrixRef<double> plus, ConstMatrixRef<double> minus, double scale,
                             ResistiveGradient& gradient) {
  NUDGE_EXPECT(plus.cols() == network.cols() && minus.cols() == network.cols() && plus.rows() == minus.rows());
  const Matrix<double> mean = 0.5 * (plus + minus);
  const Matrix<double> difference = plus - minus;
  accumulate_drops(network, sources, mean, difference, rule_scales(network, scale), gradient);
}

Matrix<double> resistive_adjoint(const ResistiveNetwork& network, const ResistiveState& state,
                                 ConstMatrixRef<double> target) {
  const Columns out = network.columns(network.depth());
  NUDGE_EXPECT(target.rows() == state.voltages.rows() && target.cols() == out.count);
  Matrix<double> adjoint(state.voltages.rows(), network.cols());
  for (Index b = 0; b < adjoint.rows(); ++b) {
    Matrix<double> cost = Matrix<double>::Zero(1, network.cols());
    cost.middleCols(out.begin, out.count) = state.voltages.row(b).middleCols(out.begin, out.count) - target.row(b);
    adjoint.row(b) = ResistiveFactor(network, state.free[static_cast<std::size_t>(b)], 0).solve(cost);
  }
  return adjoint;
}

void accumulate_mixed(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                      ConstMatrixRef<double> w, double scale, ResistiveGradient& gradient) {
  NUDGE_EXPECT(v.cols() == network.cols() && w.cols() == network.cols() && v.rows() == w.rows());
  std::vector<double> scales;
  for (Index l = 1; l <= network.depth(); ++l) scales.push_back(-scale * network.factor(l));
  accumulate_drops(network, sources, v, w, scales, gradient);
}

}  // namespace nudge::test
