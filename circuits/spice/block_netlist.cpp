// SPDX-License-Identifier: Apache-2.0
#include "circuits/spice/block_netlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// "(0.5)*v(z0_0)+(-0.2)*v(z0_1)": a linear combination of the node voltages prefix<row>_<k>.
std::string combination(const std::string& prefix, Index row, const Eigen::VectorXd& weights) {
  std::string sum;
  for (Index k = 0; k < weights.size(); ++k) {
    sum += fmt::format("{}({:.17g})*v({}{}_{})", k > 0 ? "+" : "", weights(k), prefix, row, k);
  }
  return sum;
}

}  // namespace

std::string block_netlist(const Circuit<double>& block, Index heads, const LinearMap<double>& output,
                          const BlockNetlist& spec, const std::string& data_file) {
  const auto* found = block.find<SharedArray<double>>();
  NUDGE_EXPECT(found != nullptr && block.nodes().size() == 1);
  const SharedArray<double>& array = *found;
  const Index tokens = spec.drive.rows();
  const Index channels = block.cols();
  NUDGE_EXPECT(spec.drive.cols() == channels && spec.start.rows() == tokens && channels % heads == 0);
  const Matrix<double>& w = array.input().weights();
  const bool coupled = std::ranges::any_of(array.terms(), [](const auto& at) { return at.traits.name == "coupling"; });
  const Index memories = w.cols() - (coupled ? 4 : 3) * channels;
  const Index width = channels / heads;
  const double gain = block.damping().gain;
  const double root = std::sqrt(static_cast<double>(width));
  std::string text = fmt::format("equilibrium block, {} tokens, {} channels, written by nudge\n", tokens, channels);
  const auto source = [&text](const std::string& node, const std::string& value) {
    text += fmt::format("b{0} {0} 0 v={1}\n", node, value);
  };
  // What drives the devices: the node itself, or behind curved devices the straight drive of the same current.
  const bool curved = !spec.curve.linear();
  const auto bend = [&](const std::string& node, const std::string& bent) {
    if (!curved) return;
    const std::string volts = fmt::format("({:.17g}*v({}))", spec.read_voltage_V, node);
    const std::string odd =
        spec.curve.sinh_V > 0 ? fmt::format("{0:.17g}*sinh({1}/{0:.17g})", spec.curve.sinh_V, volts) : volts;
    source(bent, fmt::format("({0}+{1:.17g}*{2}*{2}*{2})/{3:.17g}", odd, spec.curve.cubic_per_V2, volts,
                             spec.read_voltage_V));
  };
  const std::string z = curved ? "y" : "z", r = curved ? "s" : "r", o = curved ? "p" : "o";
  for (Index t = 0; t < tokens; ++t) {
    for (Index k = 0; k < channels; ++k) bend(fmt::format("z{}_{}", t, k), fmt::format("y{}_{}", t, k));
    for (Index k = 0; k < channels; ++k) {
      source(fmt::format("q{}_{}", t, k), combination(z, t, w.col(k)));
      source(fmt::format("k{}_{}", t, k), combination(z, t, w.col(channels + k)));
      source(fmt::format("v{}_{}", t, k), combination(z, t, w.col(2 * channels + k)));
    }
    for (Index m = 0; m < memories; ++m) {
      source(fmt::format("r{}_{}", t, m), fmt::format("2*max({},0)", combination(z, t, w.rightCols(memories).col(m))));
      bend(fmt::format("r{}_{}", t, m), fmt::format("s{}_{}", t, m));
    }
    for (Index h = 0; h < heads; ++h) {
      std::string total;
      for (Index s = 0; s <= t; ++s) {
        std::string score;
        for (Index k = h * width; k < (h + 1) * width; ++k) {
          score += fmt::format("{}v(q{}_{})*v(k{}_{})", k > h * width ? "+" : "", t, k, s, k);
        }
        source(fmt::format("e{}_{}_{}", h, t, s), fmt::format("exp(({})/{:.17g})", score, root));
        total += fmt::format("{}v(e{}_{}_{})", s > 0 ? "+" : "", h, t, s);
      }
      for (Index k = h * width; k < (h + 1) * width; ++k) {
        std::string mixed;
        for (Index s = 0; s <= t; ++s)
          mixed += fmt::format("{}v(e{}_{}_{})*v(v{}_{})", s > 0 ? "+" : "", h, t, s, s, k);
        source(fmt::format("o{}_{}", t, k), fmt::format("({:.17g})*({})/({})", gain, mixed, total));
        bend(fmt::format("o{}_{}", t, k), fmt::format("p{}_{}", t, k));
      }
    }
    for (Index c = 0; c < channels; ++c) {
      const Eigen::VectorXd back = w.row(c).rightCols(memories).transpose();
      std::string linear = memories > 0 ? fmt::format("+{}", combination(r, t, back)) : std::string();
      if (coupled) linear += fmt::format("+{}", combination(z, t, w.col(3 * channels + c)));
      const std::string attention = combination(o, t, output.weights().col(c));
      const double constant = spec.drive(t, c) + (spec.nudge.size() > 0 ? spec.nudge(t, c) : 0.0);
      text += fmt::format("cz{0}_{1} z{0}_{1} 0 {2:.17g} ic={3:.17g}\n", t, c, spec.capacitance_F, spec.start(t, c));
      text += fmt::format("bf{0}_{1} 0 z{0}_{1} i={2:.17g}*({3:.17g}-({4:.17g})*v(z{0}_{1}){5}+({6}))\n", t, c,
                          spec.capacitance_F / spec.time_constant_s, constant, block.leak(block.nodes().front()),
                          linear, attention);
    }
  }
  text += fmt::format(
      ".options reltol=1e-6 abstol=1e-15 vntol=1e-9\n.control\nset numdgt=15\nset wr_singlescale\n"
      "tran {:.17g} {:.17g} uic\nwrdata {}",
      spec.print_step_s, spec.stop_s, data_file);
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < channels; ++c) text += fmt::format(" v(z{}_{})", t, c);
  }
  return text + "\nquit 0\n.endc\n.end\n";
}

}  // namespace nudge
