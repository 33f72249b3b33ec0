// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/frequency.hpp"

#include <fmt/format.h>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Unknowns of one dense solve, as of implicit_dense.
constexpr Index kDenseLimit = 4096;

/// A circuit is linear where F(z*) − F(0) is J z* to this share of it: far above rounding of float, far below what a junction bends.
constexpr double kLinear = 1e-3;

/// Re (J − iω)⁻¹ c: J p + ω q = c, −ω p + J q = 0 for p + iq.
Eigen::VectorXd in_phase(const Matrix<double>& j, double omega, const Eigen::VectorXd& c) {
  if (omega == 0) return LuFactors<double>(j).solve(c);
  const Index n = j.rows();
  Matrix<double> both = Matrix<double>::Zero(2 * n, 2 * n);
  both.topLeftCorner(n, n) = both.bottomRightCorner(n, n) = j;
  both.topRightCorner(n, n).diagonal().setConstant(omega);
  both.bottomLeftCorner(n, n).diagonal().setConstant(-omega);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(2 * n);
  right.head(n) = c;
  return LuFactors<double>(both).solve(right).topRows(n);
}

}  // namespace

/// out = −Re (J − iω)⁻¹ drive at the linearised point.
template <class S>
void FrequencyEstimator<S>::respond(Example<S>& example, Linearization<S>& at, const Matrix<S>& drive, double omega,
                                    Matrix<S>& out) {
  const Index rows = drive.rows(), cols = drive.cols();
  const bool apart = example.dynamics->direct() != nullptr;  // which solves row by row
  const Index blocks = apart ? rows : 1, n = rows * cols / blocks;
  if (n > kDenseLimit) {
    throw UserError(
        fmt::format("frequency: {} unknowns (must be at most {}: its response is solved densely)", n, kDenseLimit));
  }
  const Matrix<S> moving = moving_units<S>(*example.dynamics, at, *example.state);
  std::vector<Matrix<double>> j(static_cast<std::size_t>(blocks), Matrix<double>(n, n));
  Matrix<S> unit = Matrix<S>::Zero(rows, cols), column(rows, cols);
  for (Index i = 0; i < n; ++i) {
    for (Index b = 0; b < blocks; ++b) unit.data()[b * n + i] = S(1);
    at.jvp(unit, column);
    for (Index b = 0; b < blocks; ++b) {
      unit.data()[b * n + i] = S(0);
      Matrix<double>& own = j[static_cast<std::size_t>(b)];
      for (Index k = 0; k < n; ++k) own(k, i) = static_cast<double>(column.data()[b * n + k]);
      if (moving.size() > 0 && moving.data()[b * n + i] == S(0)) own(i, i) = 1;  // held: it does not answer
    }
  }
  out.resize(rows, cols);
  for (Index b = 0; b < blocks; ++b) {
    Eigen::VectorXd c(n);
    for (Index k = 0; k < n; ++k) c(k) = static_cast<double>(drive.data()[b * n + k]);
    const Eigen::VectorXd p = in_phase(j[static_cast<std::size_t>(b)], omega, c);
    for (Index k = 0; k < n; ++k) out.data()[b * n + k] = static_cast<S>(-p(k));
  }
  if (moving.size() > 0) out.array() *= moving.array();
}

/// The state becomes the amplitude at ω₁ of a circuit all of whose sources swing.
template <class S>
void FrequencyEstimator<S>::swing(Example<S>& example) {
  Matrix<S>& z = *example.state;
  rest_.setZero(z.rows(), z.cols());
  force_.resize(z.rows(), z.cols());
  Matrix<S> drive(z.rows(), z.cols()), turned(z.rows(), z.cols());
  Linearization<S>& at = example.dynamics->linearize(rest_);
  at.force(drive);
  at.jvp(z, turned);
  example.dynamics->force(z, force_);
  const auto bent = static_cast<double>((force_ - drive - turned).norm());
  if (bent > kLinear * static_cast<double>(drive.norm())) {
    throw UserError(
        "nudge.input_frequency must be 0: this network is not linear, its inputs do not swing through it "
        "unchanged (at 0 it has the amplitudes of its operating point)");
  }
  Matrix<S> amplitude;
  respond(example, at, drive, options_.input_frequency, amplitude);
  z = amplitude;
}

template <class S>
SequenceReport FrequencyEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  compute_derivatives(example);
  free_.settle(example, options_.free, report);
  if (options_.input_frequency > 0) {
    swing(example);
    report.loss = example.cost->value(*example.state);
  }
  const Matrix<S>& z = *example.state;
  Linearization<S>& at = example.dynamics->linearize(z);
  cost_gradient_.setZero(z.rows(), z.cols());
  example.cost->own_gradient(z, cost_gradient_);
  respond(example, at, cost_gradient_, options_.error_frequency, this->adjoint_);
  report.cost_in_forces += static_cast<double>(z.cols());
  report.nudged = this->adjoint_.allFinite() ? Status::converged : Status::diverged;
  this->point_ = z;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  at.accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

template class FrequencyEstimator<float>;
template class FrequencyEstimator<double>;

}  // namespace nudge
