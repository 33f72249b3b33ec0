// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_currents.hpp"

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

/// out_l = A_{l−1} v_{l−1} g^l + (1/A_l) v_{l+1} (g^{l+1})ᵀ: what the neighbours drive through the resistors of layer l.
/// Without sources the input layer is at 0.
template <class S>
void add_neighbours(const ResistiveNetwork<S>& network, const Matrix<S>* sources, ConstMatrixRef<S> v, Matrix<S>& out) {
  for (Index l = 1; l <= network.depth(); ++l) {
    const Columns at = network.columns(l);
    Matrix<S> part(v.rows(), at.count);
    if (l > 1 || sources != nullptr) {
      if (l == 1) {
        multiply<S>(*sources, network.layer(1).conductance, part);
      } else {
        const Columns below = network.columns(l - 1);
        multiply<S>(v.middleCols(below.begin, below.count), network.layer(l).conductance, part);
      }
      out.middleCols(at.begin, at.count) += network.gain(l - 1) * part;
    }
    if (l == network.depth()) continue;
    const Columns above = network.columns(l + 1);
    multiply_transposed<S>(v.middleCols(above.begin, above.count), network.layer(l + 1).conductance, part);
    out.middleCols(at.begin, at.count) += part / network.gain(l);
  }
}

/// A_l v_l of one sample's layer l ≥ 0, or v_l where no resistor follows.
template <class S>
Matrix<S> terminal(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v, Index l,
                   Index sample) {
  if (l == 0) return network.gain(0) * sources.row(sample);
  const Columns at = network.columns(l);
  return network.gain(l) * v.row(sample).middleCols(at.begin, at.count);
}

/// The sum of g d² over a row i of resistors, and of g d.
template <class S>
struct RowOfResistors {
  S power = 0, current = 0;
  template <class Conductances, class Voltages>
  RowOfResistors(S from, const Conductances& g, const Voltages& to) {
    for (Index j = 0; j < g.cols(); ++j) {
      const S drop = from - to(0, j);
      power += g(0, j) * drop * drop;
      current += g(0, j) * drop;
    }
  }
};

}  // namespace

template <class S>
Matrix<S> resistive_currents(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v,
                             const ResistiveNudge<S>& nudge) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  Matrix<S> current = -(v.array().rowwise() * network.node_conductance().row(0).array()).matrix();
  const Matrix<S> inputs = sources;
  add_neighbours<S>(network, &inputs, v, current);
  for (Index l = 1; l <= network.depth() && network.bias() != ResistiveBias::none; ++l) {
    const Matrix<S>& bias = network.layer(l).bias;
    const Matrix<S> drive =
        network.bias() == ResistiveBias::current ? bias : Matrix<S>(network.rail_V() * (bias.row(0) - bias.row(1)));
    current.middleCols(network.columns(l).begin, network.width(l)).rowwise() += drive.row(0);
  }
  if (nudge.beta != S(0)) {
    const Columns out = network.columns(network.depth());
    current.middleCols(out.begin, out.count) += nudge.beta * (nudge.target - v.middleCols(out.begin, out.count));
  }
  return current;
}

template <class S>
Matrix<S> resistive_jvp(const ResistiveNetwork<S>& network, ConstMatrixRef<S> p) {
  NUDGE_EXPECT(p.cols() == network.cols());
  Matrix<S> out = -(p.array().rowwise() * network.node_conductance().row(0).array()).matrix();
  add_neighbours<S>(network, nullptr, p, out);
  return out;
}

template <class S>
Matrix<S> resistive_energy(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  Matrix<S> energy = Matrix<S>::Zero(v.rows(), 1);
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index l = 1; l <= network.depth(); ++l) {
      const auto at = v.row(b).middleCols(network.columns(l).begin, network.width(l));
      const Matrix<S> below = terminal<S>(network, sources, v, l - 1, b);
      const auto& [g, bias] = network.layer(l);
      S sum = 0;
      for (Index i = 0; i < g.rows(); ++i) sum += S(0.5) * RowOfResistors<S>(below(0, i), g.row(i), at).power;
      if (network.bias() == ResistiveBias::rails) {
        sum += S(0.5) * RowOfResistors<S>(network.rail_V(), bias.row(0), at).power;
        sum += S(0.5) * RowOfResistors<S>(-network.rail_V(), bias.row(1), at).power;
      } else if (network.bias() == ResistiveBias::current) {
        sum -= bias.row(0).dot(at);
      }
      energy(b, 0) += network.factor(l) * sum;
    }
  }
  return energy;
}

template <class S>
ResistivePower<S> resistive_power(const ResistiveNetwork<S>& network, ConstMatrixRef<S> sources, ConstMatrixRef<S> v) {
  NUDGE_EXPECT(v.cols() == network.cols() && sources.cols() == network.width(0) && sources.rows() == v.rows());
  const Matrix<S> zero = Matrix<S>::Zero(v.rows(), 1);
  ResistivePower<S> power{zero, zero, zero, zero};
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index l = 1; l <= network.depth(); ++l) {
      const auto at = v.row(b).middleCols(network.columns(l).begin, network.width(l));
      const Matrix<S> below = terminal<S>(network, sources, v, l - 1, b);
      const auto& [g, bias] = network.layer(l);
      const S gain = network.gain(l - 1);
      for (Index i = 0; i < g.rows(); ++i) {
        const RowOfResistors<S> row(below(0, i), g.row(i), at);
        power.resistors(b, 0) += row.power;
        if (l == 1) {
          power.inputs(b, 0) += below(0, i) * row.current;
        } else {
          const S node = v(b, network.columns(l - 1).begin + i);
          power.amplifiers(b, 0) += node * (gain - S(1) / gain) * row.current;
        }
      }
      if (network.bias() == ResistiveBias::rails) {
        const RowOfResistors<S> up(network.rail_V(), bias.row(0), at), down(-network.rail_V(), bias.row(1), at);
        power.resistors(b, 0) += up.power + down.power;
        power.bias(b, 0) += network.rail_V() * (up.current - down.current);
      } else if (network.bias() == ResistiveBias::current) {
        power.bias(b, 0) += bias.row(0).dot(at);
      }
    }
  }
  return power;
}

#define NUDGE_INSTANTIATE(S)                                                                                 \
  template Matrix<S> resistive_currents<S>(const ResistiveNetwork<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>, \
                                           const ResistiveNudge<S>&);                                        \
  template Matrix<S> resistive_jvp<S>(const ResistiveNetwork<S>&, ConstMatrixRef<S>);                        \
  template Matrix<S> resistive_energy<S>(const ResistiveNetwork<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>);  \
  template ResistivePower<S> resistive_power<S>(const ResistiveNetwork<S>&, ConstMatrixRef<S>, ConstMatrixRef<S>);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
