// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_network.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw UserError("resistive network: " + what); }

void check_numbers(const Matrix<double>& m, const std::string& name, bool conductance) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) {
      if (!std::isfinite(m(i, j))) refuse(fmt::format("{}[{}, {}] = {} (must be finite)", name, i, j, m(i, j)));
      if (conductance && m(i, j) < 0)
        refuse(fmt::format("{}[{}, {}] = {} (a conductance must be >= 0)", name, i, j, m(i, j)));
    }
  }
}

}  // namespace

ResistiveNetwork::ResistiveNetwork(std::vector<ResistiveLayer> layers, std::vector<double> gains, ResistiveBias bias,
                                   double rail_V)
    : layers_(std::move(layers)), gains_(std::move(gains)), bias_(bias), rail_V_(rail_V) {
  if (layers_.empty()) refuse("no layer (at least one)");
  if (gains_.size() != layers_.size()) {
    refuse(fmt::format("{} gains for {} layers (A_0 ... A_(L-1): one per layer)", gains_.size(), layers_.size()));
  }
  for (std::size_t l = 0; l < gains_.size(); ++l) {
    if (!(gains_[l] > 0) || !std::isfinite(gains_[l]))
      refuse(fmt::format("gain A_{} = {} (must be > 0)", l, gains_[l]));
  }
  if (!std::isfinite(rail_V)) refuse(fmt::format("rail voltage {} (must be finite)", rail_V));
  const Index bias_rows = bias == ResistiveBias::rails ? 2 : bias == ResistiveBias::current ? 1 : 0;
  Index begin = 0;
  for (Index l = 1; l <= depth(); ++l) {
    const auto& [g, b] = layer(l);
    const std::string name = fmt::format("g{}", l);
    if (g.rows() < 1 || g.cols() < 1) refuse(name + " is empty");
    if (l > 1 && g.rows() != width(l - 1))
      refuse(fmt::format("{} has {} rows, layer {} has {} nodes", name, g.rows(), l - 1, width(l - 1)));
    if (b.rows() != bias_rows || (bias_rows > 0 && b.cols() != g.cols()))
      refuse(fmt::format("bias of layer {} is ({}, {}), expected ({}, {})", l, b.rows(), b.cols(), bias_rows,
                         bias_rows > 0 ? g.cols() : 0));
    check_numbers(g, name, true);
    check_numbers(b, fmt::format("bias {}", l), bias == ResistiveBias::rails);
    columns_.push_back({begin, g.cols()});
    begin += g.cols();
    factors_.push_back(l == 1 ? 1.0 : factors_.back() / (gain(l - 1) * gain(l - 1)));
  }
  sum_conductances();
}

void ResistiveNetwork::sum_conductances() {
  node_conductance_.resize(1, cols());
  for (Index l = 1; l <= depth(); ++l) {
    auto sum = node_conductance_.middleCols(columns(l).begin, columns(l).count);
    sum = layer(l).conductance.colwise().sum();
    if (l < depth()) sum += layer(l + 1).conductance.rowwise().sum().transpose();
    if (bias_ == ResistiveBias::rails) sum += layer(l).bias.colwise().sum();
  }
}

std::vector<ResistiveNode> ResistiveNetwork::floating_nodes() const {
  std::vector<bool> held(static_cast<std::size_t>(cols()), false);
  std::vector<ResistiveNode> reached;
  const auto reach = [&](Index l, Index j) {
    const auto at = static_cast<std::size_t>(columns(l).begin + j);
    if (!held[at]) reached.push_back({l, j});
    held[at] = true;
  };
  for (Index l = 1; l <= depth(); ++l) {
    for (Index j = 0; j < width(l); ++j) {
      const bool source = l == 1 && layer(1).conductance.col(j).maxCoeff() > 0;
      const bool rail = bias_ == ResistiveBias::rails && layer(l).bias.col(j).maxCoeff() > 0;
      if (source || rail) reach(l, j);
    }
  }
  for (std::size_t next = 0; next < reached.size(); ++next) {  // `reached` grows as the paths are followed
    const auto [l, j] = reached[next];
    for (Index i = 0; l > 1 && i < width(l - 1); ++i) {
      if (layer(l).conductance(i, j) > 0) reach(l - 1, i);
    }
    for (Index k = 0; l < depth() && k < width(l + 1); ++k) {
      if (layer(l + 1).conductance(j, k) > 0) reach(l + 1, k);
    }
  }
  std::vector<ResistiveNode> floating;
  for (Index l = 1; l <= depth(); ++l) {
    for (Index j = 0; j < width(l); ++j) {
      if (!held[static_cast<std::size_t>(columns(l).begin + j)]) floating.push_back({l, j});
    }
  }
  return floating;
}

Matrix<double> doubled_input(ConstMatrixRef<double> x) {
  Matrix<double> v(x.rows(), 2 * x.cols());
  v << x, -x;
  return v;
}

namespace {

/// Adds to out the currents that neighbours drive through the resistors of layer l, out_l = A_{l−1} v_{l−1} g^l + (1/A_l) v_{l+1} (g^{l+1})ᵀ.
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

/// Terminal voltages A_l v_l of one sample's layer l ≥ 0, or v_l where no resistor follows.
Matrix<double> terminal(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                        Index l, Index sample) {
  if (l == 0) return network.gain(0) * sources.row(sample);
  const Columns at = network.columns(l);
  return network.gain(l) * v.row(sample).middleCols(at.begin, at.count);
}

/// Sums of g d² and of g d over a row i of resistors.
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
