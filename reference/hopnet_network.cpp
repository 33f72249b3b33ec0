// SPDX-License-Identifier: Apache-2.0
#include "reference/hopnet_network.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "circuits/digital_matrix.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr int kMostSteps = 100000;     // a decay of 2e-4 per step is followed to kNearlyRests
constexpr double kNearlyRests = 1e-9;  // ‖F‖/‖z‖ from which Newton goes on: far below any margin of the active set
constexpr double kSettled = 1e-13;     // that counts as settled
constexpr int kMostNewton = 20;        // quadratic: 1e-9, 1e-18; the rest is for rounding

HopfieldShape linear_shape(HopfieldShape shape) {
  shape.form = HopfieldForm::energy;
  shape.activation = shape.output = NodeActivation::identity;
  return shape;
}

std::unique_ptr<Circuit<double>> circuit_of(const HopfieldPlan& plan, const Maps<double>& maps, bool bounded) {
  std::vector<Node> nodes = plan.nodes();
  for (Node& node : nodes) {
    if (bounded) break;
    node.lower = -std::numeric_limits<double>::infinity();
    node.upper = -node.lower;
  }
  return std::make_unique<Circuit<double>>(std::move(nodes), plan.inputs(), plan.terms(maps), plan.damping());
}

Maps<double> digital(const std::vector<Matrix<double>>& weights) {
  Maps<double> maps;
  for (const Matrix<double>& w : weights) maps.push_back(std::make_unique<DigitalMatrix<double>>(w));
  return maps;
}

}  // namespace

HopnetNetwork::HopnetNetwork(const HopnetProblem& problem)
    : p_(problem),
      plan_(problem.shape),
      maps_(digital(problem.weights)),
      output_(plan_.columns(problem.shape.layers())),
      squared_error_(output_) {
  circuits_.push_back(circuit_of(plan_, maps_, true));
  circuits_.push_back(circuit_of(plan_, maps_, false));
  circuits_.push_back(circuit_of(HopfieldPlan(linear_shape(problem.shape)), maps_, false));
  for (const auto& circuit : circuits_) each_.push_back(std::make_unique<CircuitDynamics<double>>(*circuit, 1, 2));
  settles_ = each_[0].get();
  unbounded_ = each_[1].get();
  linear_ = each_[2].get();
  if (!problem.cross_entropy()) return;
  const NodeReadout at = plan_.readout();
  const auto map = [this](int parameter) { return maps_[static_cast<std::size_t>(parameter)].get(); };
  cross_entropy_ = std::make_unique<CrossEntropyReadout<double>>(*map(at.parameter), at, output_, 1, 2, map(at.bias));
}

void HopnetNetwork::bind(Index sample) {
  sample_ = sample;
  for (const auto& dynamics : each_) dynamics->bind(p_.x.row(sample), ReadContext{});
  if (cross_entropy_) {
    cross_entropy_->bind(std::span(p_.targets).subspan(static_cast<std::size_t>(sample), 1), ReadContext{});
  } else {
    squared_error_.bind(p_.y.row(sample));
  }
}

Cost<double>& HopnetNetwork::cost() {
  if (cross_entropy_) return *cross_entropy_;
  return squared_error_;
}

Matrix<double> HopnetNetwork::logits(const Matrix<double>& z) {
  cross_entropy_->value(z);
  return cross_entropy_->logits().topRows(1);
}

Matrix<double> HopnetNetwork::cost_gradient(const Matrix<double>& z) {
  Matrix<double> g(z.rows(), z.cols());
  cost().gradient(z, g);
  return g;
}

Matrix<double> HopnetNetwork::drive(const Matrix<double>& z) {
  Matrix<double> r(z), f(z);
  for (int l = 1; l <= p_.shape.layers(); ++l) {
    const auto [begin, count] = plan_.columns(l);
    activate<double>(plan_.activation(l), z.middleCols(begin, count), r.middleCols(begin, count));
  }
  linear_->force(r, f);
  return f + r;
}

Matrix<double> HopnetNetwork::dense_jacobian(const Matrix<double>& z) {
  const Index n = z.cols();
  Linearization<double>& at = unbounded_->linearize(z);
  Matrix<double> j(n, n), unit = Matrix<double>::Zero(1, n), column(1, n);
  for (Index i = 0; i < n; ++i) {
    unit(0, i) = 1;
    at.jvp(unit, column);
    unit(0, i) = 0;
    j.col(i) = column.row(0).transpose();
  }
  return j;
}

void HopnetNetwork::freeze(const Matrix<double>& z) {
  fixed_ = z;
  frozen_ = dense_jacobian(z);
}

/// ∂²C/∂s_L²: 1, or Wo (diag(p) − pᵀ p) Woᵀ with the softmax p.
Matrix<double> HopnetNetwork::cost_curvature(const Matrix<double>& z) {
  if (!cross_entropy_) return Matrix<double>::Identity(output_.count, output_.count);
  const Matrix<double> scores = logits(z);
  Matrix<double> p = (scores.array() - scores.maxCoeff()).exp().matrix();
  p /= p.sum();
  Matrix<double> inner = -p.transpose() * p;
  inner.diagonal() += p.row(0).transpose();
  const Matrix<double>& w = maps_[static_cast<std::size_t>(plan_.readout().parameter)]->weights();
  return w * inner * w.transpose();
}

Matrix<double> HopnetNetwork::force(const Matrix<double>& z, HopnetLaw law, double beta) {
  Matrix<double> f(z.rows(), z.cols());
  if (law == HopnetLaw::transposed) {
    f = (z - fixed_) * frozen_;  // Jᵀ dz, states as rows
  } else {
    unbounded_->force(z, f);
    if (law == HopnetLaw::aep) f -= (z - fixed_) * (frozen_.transpose() - frozen_);
  }
  if (beta != 0) f -= beta * cost_gradient(z);
  return f;
}

Matrix<double> HopnetNetwork::jacobian(const Matrix<double>& z, HopnetLaw law, double beta) {
  Matrix<double> j = law == HopnetLaw::transposed ? Matrix<double>(frozen_.transpose()) : dense_jacobian(z);
  if (law == HopnetLaw::aep) j -= frozen_ - frozen_.transpose();
  if (beta != 0) j.block(output_.begin, output_.begin, output_.count, output_.count) -= beta * cost_curvature(z);
  return j;
}

/// Euler steps until ‖m ⊙ F‖/‖z‖ is small; returns it. A state of zeros that is pushed has not settled. Not finite: nor has one
/// that left all bounds.
double HopnetNetwork::relax(Matrix<double>& z, HopnetLaw law, double beta) {
  const Box<double>* box = settles_->box();
  double residual = 0;
  for (int n = 0; n < kMostSteps; ++n) {
    const Matrix<double> f = force(z, law, beta);
    Matrix<double> moving = f;
    if (box != nullptr) box->hold(z, f, moving, {0, z.cols()});
    const double size = z.norm(), push = moving.norm();
    if (!std::isfinite(size) || !std::isfinite(push)) return std::numeric_limits<double>::infinity();
    residual = size > 0 ? push / size : (push > 0 ? std::numeric_limits<double>::infinity() : 0.0);
    if (residual <= kNearlyRests) return residual;
    z += p_.step * f;
    if (box != nullptr) box->project(z, {0, z.cols()});
  }
  return residual;
}

/// Newton's steps on the units that can move, while the residual falls.
void HopnetNetwork::newton(Matrix<double>& z, HopnetLaw law, double beta, const std::string& what) {
  const Box<double>* box = settles_->box();
  double best = std::numeric_limits<double>::infinity();
  Matrix<double> best_z = z;
  for (int n = 0; n < kMostNewton; ++n) {
    const Matrix<double> f = force(z, law, beta);
    Matrix<double> mask = Matrix<double>::Ones(1, z.cols());
    if (box != nullptr) box->hold(z, f, mask, {0, z.cols()});
    const double size = f.cwiseProduct(mask).norm();
    if (!(size < best)) break;
    best = size;
    best_z = z;
    std::vector<Index> free;
    for (Index i = 0; i < z.cols(); ++i) {
      if (mask(0, i) != 0) free.push_back(i);
    }
    if (free.empty() || size == 0) break;
    const Matrix<double> j = jacobian(z, law, beta);
    const Eigen::MatrixXd active = j(free, free);
    if (n == 0) {
      const bool attracts =
          p_.shape.asymmetric ? eigenvalues(active).real().maxCoeff() < 0 : is_positive_definite(-active);
      if (!attracts) {
        throw NumericalFailure(
            fmt::format("{}: does not settle: J at its fixed point has an eigenvalue with real part >= 0 (beta = {:g})",
                        what, beta));
      }
    }
    const Eigen::VectorXd right = -f.row(0)(free).transpose();
    const Eigen::VectorXd change = LuFactors<double>(active).solve(right);
    for (std::size_t i = 0; i < free.size(); ++i) z(0, free[i]) += change[static_cast<Index>(i)];
    if (box != nullptr) box->project(z, {0, z.cols()});
  }
  z = best_z;
  if (!(best <= kSettled * std::max(z.norm(), 1.0))) {
    throw NumericalFailure(
        fmt::format("{}: does not settle: ‖F‖ = {:.3g} (must be <= {:g}·max(‖z‖, 1))", what, best, kSettled));
  }
}

Matrix<double> HopnetNetwork::settle(const Matrix<double>& start, HopnetLaw law, double beta, const std::string& what) {
  Matrix<double> z = start;
  const double residual = relax(z, law, beta);
  if (!(residual <= kNearlyRests)) {
    throw NumericalFailure(
        fmt::format("{}: does not settle: ‖F‖/‖z‖ = {:.3g} (must be <= {:g}) after {} steps of eps = {:g} "
                    "(beta = {:g})",
                    what, residual, kNearlyRests, kMostSteps, p_.step, beta));
  }
  newton(z, law, beta, what);
  return z;
}

}  // namespace nudge
