// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/resistive_energy.hpp"

#include "sim/base/errors.hpp"

namespace nudge::test {
namespace {

/// Voltages of one sample at the lower ends of layer l's resistors. v (B, N), sources (B, n_0).
Matrix<double> below_layer(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                           Index l, Index sample) {
  if (l == 1) return network.gain(0) * sources.row(sample);
  return network.gain(l - 1) * v.row(sample).middleCols(network.columns(l - 1).begin, network.width(l - 1));
}

/// Energy Σ ½ g d² over a row of resistors.
double half_squares(double from, const Matrix<double>& g, const Matrix<double>& to) {
  double sum = 0;
  for (Index j = 0; j < g.cols(); ++j) sum += 0.5 * g(0, j) * (from - to(0, j)) * (from - to(0, j));
  return sum;
}

}  // namespace

/// Uses that the currents are linear: those of p minus those of 0.
Matrix<double> resistive_jvp(const ResistiveNetwork& network, ConstMatrixRef<double> p) {
  const Matrix<double> sources = Matrix<double>::Zero(p.rows(), network.width(0));
  return resistive_currents(network, sources, p) -
         resistive_currents(network, sources, Matrix<double>::Zero(p.rows(), p.cols()));
}

Matrix<double> resistive_energy(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                                ConstMatrixRef<double> v) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  Matrix<double> energy = Matrix<double>::Zero(v.rows(), 1);
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index l = 1; l <= network.depth(); ++l) {
      const auto at = v.row(b).middleCols(network.columns(l).begin, network.width(l));
      const Matrix<double> below = below_layer(network, sources, v, l, b);
      const auto& [g, bias] = network.layer(l);
      double sum = 0;
      for (Index i = 0; i < g.rows(); ++i) sum += half_squares(below(0, i), g.row(i), at);
      if (network.bias() == ResistiveBias::rails) {
        sum += half_squares(network.rail_V(), bias.row(0), at);
        sum += half_squares(-network.rail_V(), bias.row(1), at);
      } else if (network.bias() == ResistiveBias::current) {
        sum -= bias.row(0).dot(at);
      }
      energy(b, 0) += network.factor(l) * sum;
    }
  }
  return energy;
}

}  // namespace nudge::test
