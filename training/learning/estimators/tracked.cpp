// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_phase.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Both nudged states z_± as one system: F(z_±) ∓ (β ∂C/∂z(z_±) + A d), A = J − Jᵀ at their midpoint m, d = (z₊ − z₋)/2.
template <class S>
class TrackedDynamics final : public Dynamics<S> {
 public:
  TrackedDynamics(Example<S>& example, Matrix<S>& m, double beta)
      : example_(example), base_(*example.dynamics), m_(m), beta_(static_cast<S>(beta)) {
    gradient_.setZero(rows(), cols());
    asymmetry_.resize(m.rows(), m.cols());
  }

  Index rows() const override { return 2 * m_.rows(); }
  Index cols() const override { return m_.cols(); }
  DynamicsTraits<S> traits() const override { return base_.traits(); }
  Capabilities<S> capabilities() override {
    const Capabilities<S> own = base_.capabilities();
    Capabilities<S> all;
    all.reading = own.reading;
    all.inertia = own.inertia;
    return all;
  }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part /*part*/) override {
    const Index tokens = m_.rows();
    m_ = S(0.5) * (z.topRows(tokens) + z.bottomRows(tokens));
    half_ = S(0.5) * (z.topRows(tokens) - z.bottomRows(tokens));
    Linearization<S>& at = base_.linearize(m_);
    law_.asymmetry({&base_, &at, &m_, example_.filter}, half_, asymmetry_);
    base_.force(z, f);
    example_.cost->gradient(z, gradient_);
    f.topRows(tokens) -= beta_ * gradient_.topRows(tokens) + asymmetry_;
    f.bottomRows(tokens) += beta_ * gradient_.bottomRows(tokens) + asymmetry_;
  }
  Linearization<S>& linearize(ConstMatrixRef<S>) override {
    throw ContractViolation("linearize of a law that follows the states");  // needs::fixed_law
  }
  double drive() const { return static_cast<double>(gradient_.norm()) / std::sqrt(2.0); }

 private:
  Example<S>& example_;
  Dynamics<S>& base_;
  Matrix<S>& m_;
  S beta_;
  NudgedLaw<S> law_;
  Matrix<S> half_, gradient_, asymmetry_;
};

}  // namespace

template <class S>
SequenceReport TrackedEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  NUDGE_EXPECT(options_.free.schedule == RelaxationSchedule::parallel);  // needs::all_at_once
  free_.run(example, options_.free, report);
  const Index tokens = example.state->rows();
  Matrix<S>& m = this->point_;
  m = *example.state;
  this->nudged_states_ = &states_;
  TrackedDynamics<S> system(example, m, options_.beta);
  SettleOptions settling = nudged_settling(options_);
  settling.average_last = 1;
  begin_nudged_reads(example, options_);
  const auto relax = [&] {
    if (example.filter != nullptr) example.filter->restart();
    states_ = example.state->replicate(2, 1);
    if (example.watch != nullptr) {
      example.watch->step(Phase::nudged, states_, 0);
      scratch_.each_step = [&](ConstMatrixRef<S> z, int steps) { example.watch->step(Phase::nudged, z, steps); };
    }
    return settle<S>(system, states_, settling, scratch_);
  };
  const bool twice = example.measures_noise && example.dynamics->noisy();
  if (twice) {
    relax();
    again_ = states_;
  }
  const SettleResult result = relax();
  if (result.status == Status::diverged) states_.setConstant(std::numeric_limits<S>::quiet_NaN());
  const double drive = system.drive();
  example.dynamics->begin_reads(ReadClass::monitor);
  force_.resize(states_.rows(), states_.cols());
  system.force(states_, force_, Part::all);  // and m ← the midpoint
  this->adjoint_ = (states_.bottomRows(tokens) - states_.topRows(tokens)) / static_cast<S>(2 * options_.beta);
  if (const Box<S>* box = example.dynamics->box()) box->hold(states_, force_, force_, {0, states_.cols()});
  const auto half_force = (force_.topRows(tokens) - force_.bottomRows(tokens)) / S(2);
  const double size = options_.beta * static_cast<double>(this->adjoint_.norm());
  report.nudged_residual = size > 0 ? static_cast<double>(half_force.norm()) / size : 0;
  report.nudge_ratio = size / static_cast<double>(m.norm());
  const bool finite = std::isfinite(report.nudged_residual) && std::isfinite(size);
  report.nudged = finite && result.status != Status::diverged ? Status::max_steps : Status::diverged;
  report.nudged_time = 2.0 * result.time * (twice ? 2 : 1);
  const std::vector<double> betas = {options_.beta, -options_.beta};
  if (report.nudged != Status::diverged) {
    add_displacement<S>(states_, m, betas, options_.beta, displacement_, report.signal);
    if (twice) add_noise<S>(states_, again_, betas, options_.beta, report.signal);
  }
  // Two states, the linearisation, one jvp, one vjp.
  report.cost_in_forces += 5.0 * (result.force_evaluations * (twice ? 2 : 1) + 1);
  if (this->leave_out(drive, report)) return report;
  example.dynamics->linearize(m).accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(m, example.weight, *example.sink);
  return report;
}

template <class S>
bool TrackedEstimator<S>::correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) {
  const Index tokens = example.state->rows();
  const Matrix<S> m = S(0.5) * (nudged.topRows(tokens) + nudged.bottomRows(tokens));
  const Matrix<S> a = (nudged.bottomRows(tokens) - nudged.topRows(tokens)) / static_cast<S>(2 * options_.beta);
  example.dynamics->linearize(m).accumulate_parameter_gradient(a, example.weight, sink);
  return true;
}

NUDGE_BOTH_PRECISIONS_OF(TrackedEstimator)

}  // namespace nudge
