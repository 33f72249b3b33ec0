// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resistive/shockley_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/resistive/resistive_energy.hpp"
#include "tests/support/resistive/resistive_factor.hpp"
#include "tests/support/resistive/resistive_solver.hpp"

namespace nudge::test {
namespace {

constexpr int kNewtonSteps = 400;  // far starts come nearer by n V_T per step: 10 V of it at room temperature
constexpr int kHalvings = 60;
constexpr double kDescent = 1e-4;  // of Armijo's rule: the customary constant
// A step below this share of the largest voltage is rounding of sums of some hundred products.
constexpr double kResolved = 64 * std::numeric_limits<double>::epsilon();

}  // namespace

ShockleySolver::ShockleySolver(const ResistiveNetwork& network, const ShockleyDiode& diode)
    : network_(&network), diode_(diode), signs_(Matrix<double>::Zero(1, network.cols())), factors_(1, network.cols()) {
  diode.validate();
  for (Index l = 1; l <= network.depth(); ++l) {
    factors_.middleCols(network.columns(l).begin, network.width(l)).setConstant(network.factor(l));
    for (Index j = 0; network.has_diodes(l) && j < network.width(l); ++j) {
      signs_(0, network.columns(l).begin + j) = j < network.nodes_above_zero(l) ? 1 : -1;
    }
  }
}

Matrix<double> ShockleySolver::currents(ConstMatrixRef<double> sources, const ResistiveNudge& nudge,
                                        ConstMatrixRef<double> v) const {
  Matrix<double> i = resistive_currents(*network_, sources, v, nudge);
  for (Index b = 0; b < i.rows(); ++b) {
    for (Index j = 0; j < i.cols(); ++j) {
      if (sign(j) != 0) i(b, j) += diode_.current_A(v(b, j), sign(j));
    }
  }
  return i;
}

/// Energy of one sample, the nudge's β c_L C included.
double ShockleySolver::energy(ConstMatrixRef<double> sources, const ResistiveNudge& nudge,
                              ConstMatrixRef<double> v) const {
  double sum = resistive_energy(*network_, sources, v)(0, 0);
  const Columns out = network_->columns(network_->depth());
  if (nudge.beta != 0) {
    const double cost = 0.5 * (v.middleCols(out.begin, out.count) - nudge.target).squaredNorm();
    sum += nudge.beta * network_->factor(network_->depth()) * cost;
  }
  for (Index j = 0; j < v.cols(); ++j) {
    if (sign(j) != 0) sum += factors_(0, j) * diode_.energy_W(v(0, j), sign(j));
  }
  return sum;
}

double ShockleySolver::residual(ConstMatrixRef<double> sources, const ResistiveNudge& nudge,
                                ConstMatrixRef<double> v) const {
  const Matrix<double> i = currents(sources, nudge, v);
  double worst = 0;
  for (Index b = 0; b < i.rows(); ++b) {
    const double volts = std::max(v.row(b).cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    for (Index j = 0; j < i.cols(); ++j) {
      worst = std::max(worst, std::abs(i(b, j)) / (network_->node_conductance()(0, j) * volts));
    }
  }
  return worst;
}

void ShockleySolver::solve_one(ConstMatrixRef<double> sources, const ResistiveNudge& nudge, Matrix<double>& v) const {
  const std::vector<bool> all(static_cast<std::size_t>(v.cols()), true);
  Matrix<double> extra = Matrix<double>::Zero(1, v.cols());
  const double scale = network_->gain(0) * sources.cwiseAbs().maxCoeff();
  for (int n = 0; n < kNewtonSteps; ++n) {
    for (Index j = 0; j < v.cols(); ++j) {
      if (sign(j) != 0) extra(0, j) = diode_.slope_S(v(0, j), sign(j));
    }
    const ResistiveFactor factor(*network_, all, nudge.beta, extra);
    NUDGE_EXPECT(factor.positive_definite());
    const Matrix<double> force = factors_.cwiseProduct(currents(sources, nudge, v));  // −∂(E + Σ c Φ)/∂v
    const Matrix<double> step = factor.solve(force);
    const double size = step.cwiseAbs().maxCoeff();
    const double before = energy(sources, nudge, v), slope = force.cwiseProduct(step).sum();
    double share = 1;
    int halved = 0;
    // Near the minimum the energy no longer resolves the step: full steps are Newton's and end quadratically.
    const bool resolved = slope > kResolved * std::abs(before);
    while (resolved && halved < kHalvings) {
      const double after = energy(sources, nudge, v + share * step);
      if (std::isfinite(after) && after <= before - kDescent * share * slope) break;
      share *= 0.5;
      ++halved;
    }
    v += share * step;
    if (size <= kResolved * std::max(scale, v.cwiseAbs().maxCoeff())) return;
  }
  throw NumericalFailure(
      fmt::format("resistive network with diodes: Newton's method leaves {:.3g} of the currents after {} steps",
                  residual(sources, nudge, v), kNewtonSteps));
}

Matrix<double> ShockleySolver::solve(ConstMatrixRef<double> sources, const ResistiveNudge& nudge) const {
  const ResistiveState ideal = ResistiveSolver(*network_).solve(sources, nudge);
  const Matrix<double> carried = diode_currents(*network_, sources, ideal, nudge);
  Matrix<double> v = ideal.voltages;
  for (Index b = 0; b < v.rows(); ++b) {
    for (Index j = 0; j < v.cols(); ++j) {
      if (sign(j) == 0 || carried(b, j) == 0.0) continue;
      v(b, j) = -sign(j) * diode_.thermal_V() * std::log1p(std::abs(carried(b, j)) / diode_.saturation_A);
    }
    Matrix<double> one = v.row(b);
    const ResistiveNudge own{nudge.beta, nudge.beta == 0 ? Matrix<double>() : Matrix<double>(nudge.target.row(b))};
    solve_one(sources.row(b), own, one);
    v.row(b) = one;
  }
  return v;
}

}  // namespace nudge::test
