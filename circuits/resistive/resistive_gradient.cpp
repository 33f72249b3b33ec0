// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_gradient.hpp"

#include "circuits/resistive/resistive_factor.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// gradient_l += scales[l − 1] · Σ (A m_i − m_j)(A δ_i − δ_j), the product of two drops of every resistor; m (B, N) with the
/// sources below it, δ (B, N) with 0 below it. Rails and current sources: their drops at m, and −δ.
template <class S>
void accumulate_drops(const ResistiveNetwork<S>& net, ConstMatrixRef<S> sources, const Matrix<S>& m,
                      const Matrix<S>& delta, const std::vector<S>& scales, ResistiveGradient<S>& gradient) {
  for (Index l = 1; l <= net.depth(); ++l) {
    const Columns here = net.columns(l);
    const S scale = scales[static_cast<std::size_t>(l - 1)];
    const S gain = net.gain(l - 1);
    auto& [g, bias] = gradient[static_cast<std::size_t>(l - 1)];
    const auto mj = m.middleCols(here.begin, here.count);
    const auto dj = delta.middleCols(here.begin, here.count);
    if (l == 1) {
      multiply_outer<S>(sources, dj, -scale * gain, g);
    } else {
      const Columns below = net.columns(l - 1);
      const auto mi = m.middleCols(below.begin, below.count);
      const auto di = delta.middleCols(below.begin, below.count);
      multiply_outer<S>(mi, dj, -scale * gain, g);
      multiply_outer<S>(di, mj, -scale * gain, g);
      const Matrix<S> rows = (scale * gain * gain) * mi.cwiseProduct(di).colwise().sum();
      g.colwise() += rows.row(0).transpose();
    }
    const Matrix<S> columns = scale * mj.cwiseProduct(dj).colwise().sum();
    g.rowwise() += columns.row(0);
    if (net.bias() == ResistiveBias::none) continue;
    const Matrix<S> sum = scale * dj.colwise().sum();
    if (net.bias() == ResistiveBias::current) {
      bias -= sum;
    } else {
      bias.row(0) += columns.row(0) - net.rail_V() * sum.row(0);
      bias.row(1) += columns.row(0) + net.rail_V() * sum.row(0);
    }
  }
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
  std::vector<S> scales;
  for (Index l = 1; l <= network.depth(); ++l) {
    scales.push_back(scale * network.factor(l) / network.factor(network.depth()));
  }
  const Matrix<S> mean = S(0.5) * (plus + minus);
  const Matrix<S> difference = plus - minus;
  accumulate_drops<S>(network, sources, mean, difference, scales, gradient);
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

void accumulate_implicit(const ResistiveNetwork<double>& network, ConstMatrixRef<double> sources,
                         ConstMatrixRef<double> v, ConstMatrixRef<double> adjoint, double scale,
                         ResistiveGradient<double>& gradient) {
  NUDGE_EXPECT(v.cols() == network.cols() && adjoint.cols() == network.cols() && v.rows() == adjoint.rows());
  std::vector<double> scales;
  for (Index l = 1; l <= network.depth(); ++l) scales.push_back(-scale * network.factor(l));
  accumulate_drops<double>(network, sources, v, adjoint, scales, gradient);
}

template ResistiveGradient<float> zero_gradient<float>(const ResistiveNetwork<float>&);
template ResistiveGradient<double> zero_gradient<double>(const ResistiveNetwork<double>&);
template void accumulate_half_squares<float>(const ResistiveNetwork<float>&, ConstMatrixRef<float>,
                                             ConstMatrixRef<float>, ConstMatrixRef<float>, float,
                                             ResistiveGradient<float>&);
template void accumulate_half_squares<double>(const ResistiveNetwork<double>&, ConstMatrixRef<double>,
                                              ConstMatrixRef<double>, ConstMatrixRef<double>, double,
                                              ResistiveGradient<double>&);

}  // namespace nudge
