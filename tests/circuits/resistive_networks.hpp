// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "circuits/resistive/resistive_network.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

/// What a made-up deep resistive network is like.
struct ResistiveMake {
  std::vector<Index> widths = {6, 5, 4, 3};  ///< n_0 … n_L
  std::vector<double> gains = {3.0, 2.0, 1.5};
  ResistiveBias bias = ResistiveBias::rails;
  double unit_S = 1.0;  ///< of every conductance; current sources are in unit_S · V
  double rail_V = 0.7;
  std::uint64_t seed = 1;
};

/// Conductances |N(0, 1)|/√n_{l−1} in the unit, a quarter of them exactly 0; rails a tenth as large; currents of either sign.
inline ResistiveNetwork make_resistive(const ResistiveMake& make) {
  std::vector<ResistiveLayer> layers;
  for (std::size_t l = 1; l < make.widths.size(); ++l) {
    const Index below = make.widths[l - 1], here = make.widths[l];
    const std::uint64_t seed = 100 * make.seed + 10 * l;
    const Matrix<double> g = random_matrix<double>(below, here, seed).cwiseAbs() / std::sqrt(below);
    const Matrix<double> keep = random_matrix<double>(below, here, seed + 1);
    ResistiveLayer layer{make.unit_S * (keep.array() > -0.67).select(g.array(), 0.0).matrix(), {}};
    if (make.bias == ResistiveBias::rails) {
      layer.bias = make.unit_S * random_matrix<double>(2, here, seed + 2, 0.1).cwiseAbs();
    } else if (make.bias == ResistiveBias::current) {
      layer.bias = make.unit_S * random_matrix<double>(1, here, seed + 2, 0.3);
    }
    layers.push_back(std::move(layer));
  }
  return ResistiveNetwork(std::move(layers), make.gains, make.bias, make.rail_V);
}

/// The network with other numbers in layer l.
inline ResistiveNetwork with_layer(const ResistiveNetwork& net, Index l, const ResistiveLayer& numbers) {
  std::vector<ResistiveLayer> layers;
  std::vector<double> gains;
  for (Index k = 1; k <= net.depth(); ++k) {
    layers.push_back(k == l ? numbers : net.layer(k));
    gains.push_back(net.gain(k - 1));
  }
  return ResistiveNetwork(std::move(layers), std::move(gains), net.bias(), net.rail_V());
}

/// A random state that respects the diodes: nodes on the wrong side are mirrored.
inline Matrix<double> make_state(const ResistiveNetwork& net, Index samples, std::uint64_t seed) {
  Matrix<double> v = random_matrix<double>(samples, net.cols(), seed);
  for (Index l = 1; l < net.depth(); ++l) {
    for (Index j = 0; j < net.width(l); ++j) {
      auto node = v.col(net.columns(l).begin + j);
      node = j < net.nodes_above_zero(l) ? Matrix<double>(node.cwiseAbs()) : Matrix<double>(-node.cwiseAbs());
    }
  }
  return v;
}

inline Matrix<double> make_sources(const ResistiveNetwork& net, Index samples, std::uint64_t seed) {
  return doubled_input(random_matrix<double>(samples, net.width(0) / 2, seed));
}

/// Shallow and deep, with and without amplifiers, every kind of bias, units of 1 and of 10 µS.
inline std::vector<ResistiveMake> resistive_kinds() {
  using Bias = ResistiveBias;
  return {{{4, 3}, {2.0}, Bias::none, 1.0, 0.7, 2},
          {{6, 6, 4}, {1.0, 1.0}, Bias::current, 1.0, 0.7, 3},
          {{6, 5, 4, 3}, {3.0, 2.0, 1.5}, Bias::rails, 1e-5, 0.7, 4},
          {{8, 7, 1, 5, 3}, {20.0, 0.5, 4.0, 1.3}, Bias::rails, 1e-5, -0.4, 5},
          {{6, 5, 4, 3}, {3.0, 2.0, 1.5}, Bias::current, 1e3, 0.7, 6},
          {{10, 8, 6, 2}, {100.0, 3.0, 3.0}, Bias::none, 1.0, 0.0, 7}};
}

}  // namespace nudge::test
