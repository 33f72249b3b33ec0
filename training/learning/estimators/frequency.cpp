// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/adjoint_estimators.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/mover.hpp"

namespace nudge {
namespace {

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
  out.resize(drive.rows(), drive.cols());
  if (Direct<S>* direct = example.dynamics->direct()) {
    direct->respond(drive, omega, out);
    return;
  }
  const Index n = drive.size();
  if (n > most_dense_unknowns) {
    throw UserError(fmt::format("frequency: {} unknowns (must be at most {}: its response is solved densely)", n,
                                most_dense_unknowns));
  }
  const Matrix<S> moving = moving_units<S>(*example.dynamics, at, *example.state);
  Inertia<S>* inertia = omega > 0 ? example.dynamics->inertia() : nullptr;
  Matrix<double> j(n, n);
  Matrix<S> unit = Matrix<S>::Zero(drive.rows(), drive.cols()), column = unit;
  for (Index i = 0; i < n; ++i) {
    unit.data()[i] = S(1);
    at.jvp(unit, column);
    if (inertia != nullptr) inertia->accelerate(column);
    unit.data()[i] = S(0);
    for (Index k = 0; k < n; ++k) j(k, i) = static_cast<double>(column.data()[k]);
    if (moving.size() > 0 && moving.data()[i] == S(0)) j(i, i) = 1;  // held: it does not answer
  }
  Matrix<S> pushed = drive;
  if (inertia != nullptr) inertia->accelerate(pushed);
  Eigen::VectorXd c(n);
  for (Index k = 0; k < n; ++k) c(k) = static_cast<double>(pushed.data()[k]);
  const Eigen::VectorXd p = in_phase(j, omega, c);
  for (Index k = 0; k < n; ++k) out.data()[k] = static_cast<S>(-p(k));
  if (moving.size() > 0) out.array() *= moving.array();
}

/// F(0), what the sources of a linear circuit drive.
template <class S>
const Matrix<S>& FrequencyEstimator<S>::sources(Example<S>& example) {
  const Matrix<S>& z = *example.state;
  rest_.setZero(z.rows(), z.cols());
  drive_.resize(z.rows(), z.cols());
  Matrix<S> turned(z.rows(), z.cols()), there(z.rows(), z.cols());
  example.dynamics->linearize(z).force(there);
  Linearization<S>& at = example.dynamics->linearize(rest_);
  at.force(drive_);
  at.jvp(z, turned);
  const auto bent = static_cast<double>((there - drive_ - turned).norm());
  if (bent > kLinear * static_cast<double>(drive_.norm())) {
    throw UserError(
        "nudge.input_frequency must be 0: this network is not linear, so it changes oscillating inputs. At 0 it has "
        "the amplitudes of its operating point");
  }
  return drive_;
}

/// The state becomes the amplitude at ω₁ of a circuit all of whose sources swing.
template <class S>
void FrequencyEstimator<S>::swing(Example<S>& example) {
  const Matrix<S> drive = sources(example);
  Matrix<S> amplitude;
  respond(example, example.dynamics->linearize(rest_), drive, options_.input_frequency, amplitude);
  *example.state = amplitude;
}

/// Both listen for the same time, whole periods of each.
template <class S>
void FrequencyEstimator<S>::start_lock_ins(double duration, const Matrix<S>& z) {
  const double inputs = options_.input_frequency, error = options_.error_frequency, fast = std::max(inputs, error);
  Oscillation how = options_.oscillation;
  how.harmonic = 1;
  const auto steps = [&](double omega) { return std::lround(2 * std::numbers::pi / (omega * duration)); };
  const double fastest = 2 * std::numbers::pi / (LockIn<S>::kCoarsest * duration);
  if (!(error > 0) || steps(fast) < LockIn<S>::kCoarsest) {
    throw UserError(
        fmt::format("nudge.error_frequency = {}, nudge.input_frequency = {}: a period must have at least {} steps "
                    "of {:.3g} tau, and the error needs 0 < omega <= {:.3g} (nudge.form = static is the limit 0)",
                    error, inputs, LockIn<S>::kCoarsest, duration, fastest));
  }
  const int ratio = inputs > 0 ? static_cast<int>(std::lround(fast / std::min(inputs, error))) : 1;
  if (inputs > 0 && ratio < 2) {
    throw UserError(
        fmt::format("nudge.input_frequency = {} and nudge.error_frequency = {} must differ by a factor of 2 or "
                    "more: lock-ins separate them over whole periods of both",
                    inputs, error));
  }
  const auto start = [&](LockIn<S>& lock_in, bool is_fast) {
    Oscillation own = how;
    own.frequency = 2 * std::numbers::pi / (static_cast<double>(steps(fast)) * (is_fast ? 1 : ratio) * duration);
    own.periods *= is_fast ? ratio : 1;
    own.settling *= is_fast ? ratio : 1;
    lock_in.start(own, duration, z.rows(), z.cols());
  };
  start(of_error_, error >= inputs);
  if (inputs > 0) start(of_inputs_, inputs > error);
}

/// From rest, or, where the inputs stand still, from the state, by steps of the circuit.
template <class S>
void FrequencyEstimator<S>::run(Example<S>& example, S beta, SequenceReport& report) {
  const bool swings = options_.input_frequency > 0;
  const Matrix<S>& z = *example.state;
  const ReadTiming timing = begin_nudged_reads(example, options_);
  start_lock_ins(timing.duration, z);
  states_ = swings ? Matrix<S>(Matrix<S>::Zero(z.rows(), z.cols())) : z;
  force_.resize(z.rows(), z.cols());
  Mover<S> mover(options_.free.motion, options_.step, *example.dynamics);
  mover.start(z.rows(), z.cols(), flow_);
  for (int n = 0; n < of_error_.steps(); ++n) {
    example.dynamics->force(states_, force_);
    if (swings) force_ += static_cast<S>(of_inputs_.drive(n) - 1) * drive_;
    force_ -= static_cast<S>(of_error_.drive(n)) * beta * cost_gradient_;
    mover.advance(states_, force_, flow_);
    moved_ = swings ? states_ : Matrix<S>(states_ - z);
    of_error_.take(n, moved_);
    if (swings) of_inputs_.take(n, moved_);
  }
  report.nudged_time += timing.duration * of_error_.steps();
  report.cost_in_forces += of_error_.steps();
}

/// The state becomes the amplitude of the inputs, adjoint_ that of the error.
template <class S>
void FrequencyEstimator<S>::listen(Example<S>& example, SequenceReport& report) {
  Matrix<S>& z = *example.state;
  cost_gradient_.setZero(z.rows(), z.cols());
  if (options_.input_frequency > 0) {
    sources(example);
    run(example, S(0), report);
    z = of_inputs_.output();
    if (example.hold != nullptr) example.hold->take(z, of_inputs_.listened());
    report.loss = example.cost->value(z);
  }
  example.cost->own_gradient(z, cost_gradient_);
  const auto beta = static_cast<S>(options_.beta);
  run(example, beta, report);
  moved_ = of_error_.output();
  if (example.hold != nullptr) example.hold->take(moved_, of_error_.listened());
  this->adjoint_ = moved_ / -beta;
  report.nudged_residual = of_error_.change();
  const auto size = static_cast<double>(z.norm());
  report.nudge_ratio = size > 0 ? static_cast<double>(moved_.norm()) / size : 0;
}

template <class S>
SequenceReport FrequencyEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  const bool in_time = options_.oscillation.on();
  if (!in_time) compute_derivatives(example);
  free_.settle(example, options_.free, report);
  if (in_time) {
    listen(example, report);
  } else if (options_.input_frequency > 0) {
    swing(example);
    report.loss = example.cost->value(*example.state);
  }
  const Matrix<S>& z = *example.state;
  Linearization<S>& at = example.dynamics->linearize(z);
  if (!in_time) {
    cost_gradient_.setZero(z.rows(), z.cols());
    example.cost->own_gradient(z, cost_gradient_);
    respond(example, at, cost_gradient_, options_.error_frequency, this->adjoint_);
    report.cost_in_forces += static_cast<double>(z.cols());
  }
  report.nudged = this->adjoint_.allFinite() ? Status::converged : Status::diverged;
  this->point_ = z;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  at.accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(FrequencyEstimator)

}  // namespace nudge
