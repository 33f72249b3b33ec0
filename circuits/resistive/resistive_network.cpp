// SPDX-License-Identifier: Apache-2.0
#include "circuits/resistive/resistive_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/conductance_pass.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/product.hpp"

namespace nudge {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw UserError("resistive network: " + what); }

template <class S>
void check_numbers(const Matrix<S>& m, const std::string& name, bool conductance) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) {
      if (!std::isfinite(m(i, j))) refuse(fmt::format("{}[{}, {}] = {} (must be finite)", name, i, j, m(i, j)));
      if (conductance && m(i, j) < 0)
        refuse(fmt::format("{}[{}, {}] = {} (a conductance must be >= 0)", name, i, j, m(i, j)));
    }
  }
}

/// g_ij ← max(0, g_ij + r_i + c_j), of a layer above sources without r.
template <class S>
struct Lift {
  const S *rows, *columns;
  template <int Lanes>
  auto at(Index j) const {
    using Numbers = Eigen::Array<S, Lanes, 1>;
    return [rows = rows, shared = Numbers(Eigen::Map<const Numbers>(columns + j))](Index i, const Numbers& g) {
      Numbers lifted = g + shared;
      if (rows != nullptr) lifted += rows[i];
      return at_least_zero(lifted);
    };
  }
};

}  // namespace

template <class S>
ResistiveNetwork<S>::ResistiveNetwork(std::vector<ResistiveLayer<S>> layers, std::vector<S> gains, ResistiveBias bias,
                                      S rail_V)
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
    factors_.push_back(l == 1 ? S(1) : factors_.back() / (gain(l - 1) * gain(l - 1)));
    row_sums_.push_back(l > 1 ? Matrix<S>(g.rowwise().sum().transpose()) : Matrix<S>());
    column_sums_.push_back(g.colwise().sum());
  }
  sum_conductances();
}

template <class S>
void ResistiveNetwork<S>::sum_conductances() {
  node_conductance_.resize(1, cols());
  for (Index l = 1; l <= depth(); ++l) {
    auto sum = node_conductance_.middleCols(columns(l).begin, columns(l).count);
    sum = column_sums_[static_cast<std::size_t>(l - 1)];
    if (l < depth()) sum += row_sums_[static_cast<std::size_t>(l)];
    if (bias_ == ResistiveBias::rails) sum += layer(l).bias.colwise().sum();
  }
}

template <class S>
void ResistiveNetwork<S>::set_layer(Index l, ResistiveLayer<S> numbers) {
  const auto at = static_cast<std::size_t>(l - 1);
  NUDGE_EXPECT(numbers.conductance.rows() == layer(l).conductance.rows() &&
               numbers.conductance.cols() == layer(l).conductance.cols() &&
               numbers.bias.size() == layer(l).bias.size());
  layers_[at] = std::move(numbers);
  if (l > 1) row_sums_[at] = layers_[at].conductance.rowwise().sum().transpose();
  column_sums_[at] = layers_[at].conductance.colwise().sum();
  sum_conductances();
}

template <class S>
void ResistiveNetwork<S>::step(Index l, ConstMatrixRef<S> x, ConstMatrixRef<S> y, const Matrix<S>& r,
                               const Matrix<S>& c, const Matrix<S>& b) {
  const auto at = static_cast<std::size_t>(l - 1);
  Matrix<S>& g = layers_[at].conductance;
  NUDGE_EXPECT(x.rows() == y.rows() && x.cols() == g.rows() && y.cols() == g.cols() && r.cols() == g.rows() &&
               c.cols() == g.cols() && b.size() == layers_[at].bias.size());
  multiply_outer<S>(x, y, S(1), g);
  S* const sums = column_sums_[at].data();
  if (l > 1) {
    const Lift<S> lift{r.data(), c.data()};
    pass_conductances<PassSums::rows_and_columns>(g, lift, row_sums_[at].data(), sums);
  } else {  // sources take no lift of their own and feel no load, so that nobody reads the sums of their rows
    NUDGE_EXPECT(r.isZero(0));
    pass_conductances<PassSums::columns, S>(g, Lift<S>{nullptr, c.data()}, nullptr, sums);
  }
  layers_[at].bias += b;
  if (bias_ == ResistiveBias::rails) layers_[at].bias = layers_[at].bias.cwiseMax(S(0));
  sum_conductances();
}

template <class S>
void ResistiveNetwork<S>::clip_layer(MatrixRef<S> v, Index l) const {
  if (!has_diodes(l)) return;
  const Index begin = columns(l).begin;
  const Index above = nodes_above_zero(l);
  auto first = v.middleCols(begin, above);
  first = first.cwiseMax(S(0));
  auto rest = v.middleCols(begin + above, width(l) - above);
  rest = rest.cwiseMin(S(0));
}

template <class S>
void ResistiveNetwork<S>::clip(MatrixRef<S> v) const {
  NUDGE_EXPECT(v.cols() == cols());
  for (Index l = 1; l <= depth(); ++l) clip_layer(v, l);
}

template <class S>
std::vector<ResistiveNode> ResistiveNetwork<S>::floating_nodes() const {
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

template <class S>
Matrix<S> doubled_input(ConstMatrixRef<S> x) {
  Matrix<S> v(x.rows(), 2 * x.cols());
  v << x, -x;
  return v;
}

template class ResistiveNetwork<float>;
template class ResistiveNetwork<double>;
template Matrix<float> doubled_input<float>(ConstMatrixRef<float>);
template Matrix<double> doubled_input<double>(ConstMatrixRef<double>);

}  // namespace nudge
