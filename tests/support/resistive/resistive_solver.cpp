// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/resistive_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/resistive/coordinate_descent.hpp"
#include "tests/support/resistive/resistive_factor.hpp"

namespace nudge::test {
namespace {

constexpr int kFirstSweeps = 8;
constexpr int kMostSweeps = 4096;  // in all; the rounds double: 8 + 16 + … + 2048 + 8
constexpr int kMostSets = 30;      // linear solves per round; the sets of semismooth Newton stand after a handful
// Products of some hundred terms and a triangular solve round by a few ε of the largest voltage.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

/// Sample being solved.
class Sample {
 public:
  Sample(const ResistiveNetwork& network, Matrix<double> sources, ResistiveNudge nudge)
      : net_(network), sources_(std::move(sources)), nudge_(std::move(nudge)) {}

  /// Tries to find a stable set of free nodes from a state v (1, N); true: v is the steady state and `free` its set.
  bool finish(Matrix<double>& v, std::vector<bool>& free) const {
    Matrix<double> x = v;
    std::vector<bool> set = held_out(x, current(x), std::vector<bool>(static_cast<std::size_t>(v.cols()), true));
    for (int i = 0; i < kMostSets; ++i) {
      const ResistiveFactor factor(net_, set, nudge_.beta);
      if (!factor.positive_definite()) return false;
      keep_free(x, set);
      for (int refine = 0; refine < 2; ++refine) x += factor.solve(weighted(current(x)));
      const std::vector<bool> next = held_out(x, current(x), set);
      if (next == set) {
        clip(net_, x);
        v = x;
        free = set;
        return true;
      }
      set = next;
    }
    return false;
  }

  /// Residual max |I|/G over the free nodes, in V.
  double residual(const Matrix<double>& v) const {
    const Matrix<double> i = current(v);
    const std::vector<bool> set = held_out(v, i, std::vector<bool>(static_cast<std::size_t>(v.cols()), true));
    double worst = 0;
    for (Index j = 0; j < v.cols(); ++j) {
      if (set[static_cast<std::size_t>(j)]) worst = std::max(worst, std::abs(i(0, j)) / conductance(j));
    }
    return worst;
  }

 private:
  Matrix<double> current(const Matrix<double>& v) const { return resistive_currents(net_, sources_, v, nudge_); }
  double conductance(Index j) const {
    return net_.node_conductance()(0, j) + (j >= net_.columns(net_.depth()).begin ? nudge_.beta : 0.0);
  }
  Matrix<double> weighted(Matrix<double> i) const {  // c_l I_l = −∂E/∂v
    for (Index l = 1; l <= net_.depth(); ++l) {
      i.middleCols(net_.columns(l).begin, net_.width(l)) *= net_.factor(l);
    }
    return i;
  }
  static void keep_free(Matrix<double>& v, const std::vector<bool>& set) {
    for (Index j = 0; j < v.cols(); ++j) v(0, j) = set[static_cast<std::size_t>(j)] ? v(0, j) : 0.0;
  }

  /// Set of free nodes that follows from voltages and currents. A free node on the wrong side of its diode is held, as
  /// is a node at 0 that its current presses against the diode; a held one that its current lifts off is freed.
  std::vector<bool> held_out(const Matrix<double>& v, const Matrix<double>& i, const std::vector<bool>& set) const {
    const double scale = std::max(v.cwiseAbs().maxCoeff(), net_.gain(0) * sources_.cwiseAbs().maxCoeff());
    std::vector<bool> next(set.size(), true);
    for (Index l = 1; l < net_.depth(); ++l) {
      for (Index n = 0; n < net_.width(l); ++n) {
        const Index j = net_.columns(l).begin + n;
        const double sign = n < net_.nodes_above_zero(l) ? 1.0 : -1.0;
        const double side = sign * v(0, j);
        const double lift = sign * i(0, j) / conductance(j);
        const bool was_free = set[static_cast<std::size_t>(j)] && v(0, j) != 0.0;
        next[static_cast<std::size_t>(j)] = was_free ? side > -kRounding * scale : lift > kRounding * scale;
      }
    }
    return next;
  }

  const ResistiveNetwork& net_;
  Matrix<double> sources_;
  ResistiveNudge nudge_;
};

}  // namespace

ResistiveSolver::ResistiveSolver(const ResistiveNetwork& network) : network_(&network), limit_S_(0) {
  if (const auto floating = network.floating_nodes(); !floating.empty()) {
    throw UserError(fmt::format("resistive network: node {} of layer {} floats: no resistor joins it to a source",
                                floating.front().node, floating.front().layer));
  }
  limit_S_ = convex_nudge_limit_S(network);
}

ResistiveState ResistiveSolver::solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge) const {
  return solve(sources, nudge, Matrix<double>::Zero(sources.rows(), network_->cols()));
}

ResistiveState ResistiveSolver::solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge,
                                      ConstMatrixRef<double> start) const {
  const ResistiveNetwork& net = *network_;
  if (!(-nudge.beta < limit_S_)) {
    throw NumericalFailure(fmt::format(
        "resistive network: the phase nudged by -beta has no minimum to settle in: beta = {:.6g} >= {:.6g}, "
        "the smallest eigenvalue of the conductance that the outputs see (the energy is convex below it)",
        -nudge.beta, limit_S_));
  }
  ResistiveState state{start, std::vector<std::vector<bool>>(static_cast<std::size_t>(start.rows()))};
  CoordinateDescent descent(net);
  descent.bind(sources);
  descent.nudge(nudge.beta, nudge.target);
  clip(net, state.voltages);
  Matrix<double> descended = state.voltages;
  int sweeps = kFirstSweeps, done = 0;
  for (std::vector<bool> solved(state.free.size(), false); done < kMostSweeps; sweeps *= 2) {
    descent.sweep(descended, sweeps);
    done += sweeps;
    bool all = true;
    for (Index b = 0; b < start.rows(); ++b) {
      const auto at = static_cast<std::size_t>(b);
      if (solved[at]) continue;
      const Sample sample(net, sources.row(b),
                          {nudge.beta, nudge.beta == 0 ? Matrix<double>() : Matrix<double>(nudge.target.row(b))});
      Matrix<double> v = descended.row(b);
      solved[at] = sample.finish(v, state.free[at]);
      state.voltages.row(b) = v;
      all = all && solved[at];
      if (!solved[at] && done + 2 * sweeps > kMostSweeps) {
        throw NumericalFailure(
            fmt::format("resistive network: sample {} does not settle: max |I|/G = {:.3g} V after {} sweeps, largest "
                        "voltage {:.3g} V",
                        b, sample.residual(v), done, v.cwiseAbs().maxCoeff()));
      }
    }
    if (all) break;
  }
  return state;
}

Matrix<double> diode_currents(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                              const ResistiveState& state, const ResistiveNudge& nudge) {
  Matrix<double> i = -resistive_currents(network, sources, state.voltages, nudge);
  for (Index b = 0; b < i.rows(); ++b) {
    for (Index j = 0; j < i.cols(); ++j) {
      if (state.free[static_cast<std::size_t>(b)][static_cast<std::size_t>(j)]) i(b, j) = 0.0;
    }
  }
  return i;
}

}  // namespace nudge::test
