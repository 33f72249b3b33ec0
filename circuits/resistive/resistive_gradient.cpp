// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_gradient.hpp"

#include "circuits/resistive/resistive_factor.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// scale · Σ (A m_i − m_j)(A δ_i − δ_j), the product of two drops of every resistor of a layer, as xᵀ y + rows_i + columns_j,
/// and what the bias takes. x of the first layer is the sources, and stays empty.
template <class S>
struct Drops {
  Matrix<S> x, y, rows, columns, bias;

  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;
  View drives(ConstMatrixRef<S> sources) const { return x.size() > 0 ? View(x) : View(sources); }
};

/// Of layer l; m (B, N) above the sources, δ (B, N) above 0. Rails and current sources: their drops at m, and
/// −δ.
template <class S>
Drops<S> drops_of(const ResistiveNetwork<S>& net, const Matrix<S>& m, const Matrix<S>& delta, Index l, S scale) {
  const Columns here = net.columns(l);
  const S gain = net.gain(l - 1);
  const auto mj = m.middleCols(here.begin, here.count);
  const auto dj = delta.middleCols(here.begin, here.count);
  Drops<S> out;
  out.columns = scale * mj.cwiseProduct(dj).colwise().sum();
  if (l == 1) {
    out.y = (-scale * gain) * dj;
    out.rows = Matrix<S>::Zero(1, net.width(0));
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
  const Matrix<S> sum = scale * dj.colwise().sum();
  if (net.bias() == ResistiveBias::current) {
    out.bias = -sum;
  } else if (net.bias() == ResistiveBias::rails) {
    out.bias.resize(2, here.count);
    out.bias.row(0) = out.columns - net.rail_V() * sum;
    out.bias.row(1) = out.columns + net.rail_V() * sum;
  }
  return out;
}

template <class S>
void accumulate_drops(const ResistiveNetwork<S>& net, ConstMatrixRef<S> sources, const Matrix<S>& m,
                      const Matrix<S>& delta, const std::vector<S>& scales, ResistiveGradient<S>& gradient) {
  for (Index l = 1; l <= net.depth(); ++l) {
    auto& [g, bias] = gradient[static_cast<std::size_t>(l - 1)];
    const Drops<S> drops = drops_of<S>(net, m, delta, l, scales[static_cast<std::size_t>(l - 1)]);
    multiply_outer<S>(drops.drives(sources), drops.y, S(1), g);
    g.colwise() += drops.rows.row(0).transpose();
    g.rowwise() += drops.columns.row(0);
    if (net.bias() != ResistiveBias::none) bias += drops.bias;
  }
}

/// scale · c_l/c_L of every layer.
template <class S>
std::vector<S> rule_scales(const ResistiveNetwork<S>& net, S scale) {
  std::vector<S> scales;
  for (Index l = 1; l <= net.depth(); ++l) scales.push_back(scale * net.factor(l) / net.factor(net.depth()));
  return scales;
}

}  // namespace

template <class S>
ResistiveGradient<S> zero_gradient(const ResistiveNetwork<S>& network) {
  ResistiveGradient<S> gradient;
  for (Index l = 1; l <= network.depth(); ++l) {
    const auto& [g, bias] = network.layer(l);
    gradient.push_back({Matrix<S>::Zero(g.rows(), g.cols()), Matrix<S>::Zero(bias.rows(), bias.cols())});
  }
  return gradient;
}

template <class S>
void accumulate_half_squares(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> plus,
                             ConstMatrixRef<S> minus, S scale, ResistiveGradient<S>& gradient) {
  NUDGE_EXPECT(plus.cols() == network.cols() && minus.cols() == network.cols() && plus.rows() == minus.rows());
  const Matrix<S> mean = S(0.5) * (plus + minus);
  const Matrix<S> difference = plus - minus;
  accumulate_drops<S>(network, sources, mean, difference, rule_scales(network, scale), gradient);
}

template <class S>
void descend_half_squares(ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> plus,
                          ConstMatrixRef<S> minus, S scale, const std::vector<S>& rates) {
  NUDGE_EXPECT(plus.cols() == network.cols() && minus.cols() == network.cols() && plus.rows() == minus.rows() &&
               static_cast<Index>(rates.size()) == network.depth());
  const Matrix<S> mean = S(0.5) * (plus + minus);
  const Matrix<S> difference = plus - minus;
  const std::vector<S> scales = rule_scales(network, scale);
  for (Index l = 1; l <= network.depth(); ++l) {
    const auto at = static_cast<std::size_t>(l - 1);
    const Drops<S> drops = drops_of<S>(network, mean, difference, l, -rates[at] * scales[at]);
    network.step(l, drops.drives(sources), drops.y, drops.rows, drops.columns, drops.bias);
  }
}

Matrix<double> resistive_adjoint(const ResistiveNetwork<double>& network, const ResistiveState& state,
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

template <class S>
void accumulate_mixed(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v,
                      ConstMatrixRef<S> w, S scale, ResistiveGradient<S>& gradient) {
  NUDGE_EXPECT(v.cols() == network.cols() && w.cols() == network.cols() && v.rows() == w.rows());
  std::vector<S> scales;
  for (Index l = 1; l <= network.depth(); ++l) scales.push_back(-scale * network.factor(l));
  accumulate_drops<S>(network, sources, v, w, scales, gradient);
}

template void accumulate_mixed<float>(const ResistiveNetwork<float>&, ConstMatrixRef<float>, ConstMatrixRef<float>,
                                      ConstMatrixRef<float>, float, ResistiveGradient<float>&);
template void accumulate_mixed<double>(const ResistiveNetwork<double>&, ConstMatrixRef<double>, ConstMatrixRef<double>,
                                       ConstMatrixRef<double>, double, ResistiveGradient<double>&);
template ResistiveGradient<float> zero_gradient<float>(const ResistiveNetwork<float>&);
template ResistiveGradient<double> zero_gradient<double>(const ResistiveNetwork<double>&);
template void accumulate_half_squares<float>(const ResistiveNetwork<float>&, ConstMatrixRef<float>,
                                             ConstMatrixRef<float>, ConstMatrixRef<float>, float,
                                             ResistiveGradient<float>&);
template void descend_half_squares<float>(ResistiveNetwork<float>&, ConstMatrixRef<float>, ConstMatrixRef<float>,
                                          ConstMatrixRef<float>, float, const std::vector<float>&);
template void descend_half_squares<double>(ResistiveNetwork<double>&, ConstMatrixRef<double>, ConstMatrixRef<double>,
                                           ConstMatrixRef<double>, double, const std::vector<double>&);
template void accumulate_half_squares<double>(const ResistiveNetwork<double>&, ConstMatrixRef<double>,
                                              ConstMatrixRef<double>, ConstMatrixRef<double>, double,
                                              ResistiveGradient<double>&);

}  // namespace nudge
