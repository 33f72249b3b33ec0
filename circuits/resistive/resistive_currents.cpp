// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_currents.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// out_l = A_{l−1} v_{l−1} g^l + (1/A_l) v_{l+1} (g^{l+1})ᵀ: what the neighbours drive through the resistors of layer l.
void add_neighbours(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                    Matrix<double>& out) {
  for (Index l = 1; l <= network.depth(); ++l) {
    const Columns at = network.columns(l);
    Matrix<double> part(v.rows(), at.count);
    if (l == 1) {
      multiply<double>(sources, network.layer(1).conductance, part);
    } else {
      const Columns below = network.columns(l - 1);
      multiply<double>(v.middleCols(below.begin, below.count), network.layer(l).conductance, part);
    }
    out.middleCols(at.begin, at.count) += network.gain(l - 1) * part;
    if (l == network.depth()) continue;
    const Columns above = network.columns(l + 1);
    multiply_transposed<double>(v.middleCols(above.begin, above.count), network.layer(l + 1).conductance, part);
    out.middleCols(at.begin, at.count) += part / network.gain(l);
  }
}

/// A_l v_l of one sample's layer l ≥ 0, or v_l where no resistor follows.
Matrix<double> terminal(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                        Index l, Index sample) {
  if (l == 0) return network.gain(0) * sources.row(sample);
  const Columns at = network.columns(l);
  return network.gain(l) * v.row(sample).middleCols(at.begin, at.count);
}

/// The sum of g d² over a row i of resistors, and of g d.
struct RowOfResistors {
  double power = 0, current = 0;
  template <class Conductances, class Voltages>
  RowOfResistors(double from, const Conductances& g, const Voltages& to) {
    for (Index j = 0; j < g.cols(); ++j) {
      const double drop = from - to(0, j);
      power += g(0, j) * drop * drop;
      current += g(0, j) * drop;
    }
  }
};

}  // namespace

Matrix<double> resistive_currents(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                                  ConstMatrixRef<double> v, const ResistiveNudge& nudge) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  Matrix<double> current = -(v.array().rowwise() * network.node_conductance().row(0).array()).matrix();
  add_neighbours(network, sources, v, current);
  for (Index l = 1; l <= network.depth() && network.bias() != ResistiveBias::none; ++l) {
    const Matrix<double>& bias = network.layer(l).bias;
    const Matrix<double> drive = network.bias() == ResistiveBias::current
                                     ? bias
                                     : Matrix<double>(network.rail_V() * (bias.row(0) - bias.row(1)));
    current.middleCols(network.columns(l).begin, network.width(l)).rowwise() += drive.row(0);
  }
  if (nudge.beta != 0.0) {
    const Columns out = network.columns(network.depth());
    current.middleCols(out.begin, out.count) += nudge.beta * (nudge.target - v.middleCols(out.begin, out.count));
  }
  return current;
}

ResistivePower resistive_power(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                               ConstMatrixRef<double> v) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  const Matrix<double> zero = Matrix<double>::Zero(v.rows(), 1);
  ResistivePower power{zero, zero, zero, zero};
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index l = 1; l <= network.depth(); ++l) {
      const auto at = v.row(b).middleCols(network.columns(l).begin, network.width(l));
      const Matrix<double> below = terminal(network, sources, v, l - 1, b);
      const auto& [g, bias] = network.layer(l);
      const double gain = network.gain(l - 1);
      for (Index i = 0; i < g.rows(); ++i) {
        const RowOfResistors row(below(0, i), g.row(i), at);
        power.resistors(b, 0) += row.power;
        if (l == 1) {
          power.inputs(b, 0) += below(0, i) * row.current;
        } else {
          const double node = v(b, network.columns(l - 1).begin + i);
          power.amplifiers(b, 0) += node * (gain - 1.0 / gain) * row.current;
        }
      }
      if (network.bias() == ResistiveBias::rails) {
        const RowOfResistors up(network.rail_V(), bias.row(0), at), down(-network.rail_V(), bias.row(1), at);
        power.resistors(b, 0) += up.power + down.power;
        power.bias(b, 0) += network.rail_V() * (up.current - down.current);
      } else if (network.bias() == ResistiveBias::current) {
        power.bias(b, 0) += bias.row(0).dot(at);
      }
    }
  }
  return power;
}

}  // namespace nudge
