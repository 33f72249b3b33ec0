// SPDX-License-Identifier: Apache-2.0
#include "devices/memristor/memristor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/ode/trajectory.hpp"

namespace nudge {
namespace {

/// d(state, clock)/ds = (rate(state, clock), speed) as a Dynamics of one row: time-dependent drives need a clock.
class Clocked final : public Dynamics<double> {
 public:
  Clocked(std::function<double(double, double)> rate, double speed) : rate_(std::move(rate)), speed_(speed) {}
  Index rows() const override { return 1; }
  Index cols() const override { return 2; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part /*part*/) override {
    f(0, 0) = rate_(z(0, 0), z(0, 1));
    f(0, 1) = speed_;
  }
  Linearization<double>& linearize(ConstMatrixRef<double> /*z*/) override {
    throw ContractViolation("a driven memristor has no equilibrium to linearize at");
  }

 private:
  std::function<double(double, double)> rate_;
  double speed_;
};

/// State after each of `samples` equal parts of the unit interval of s.
Trajectory<double> solve(std::function<double(double, double)> rate, double x0, double clock0, double speed,
                         int samples, double error) {
  Clocked dynamics(std::move(rate), speed);
  Matrix<double> z(1, 2);
  z << x0, clock0;
  IntegrateOptions options;
  options.samples = samples;
  options.step_s = 1.0 / samples;
  options.relative_error = error;
  auto trajectory = integrate<double>(dynamics, z, options);
  if (trajectory.status != Status::converged) {
    throw NumericalFailure("memristor: its differential equation could not be integrated (rates too large?)");
  }
  return trajectory;
}

}  // namespace

MemristorTrace drive(const Memristor& memristor, double x0, const std::function<double(double)>& volts,
                     double duration_s, int samples, double error) {
  // Time in units of the duration, so that one local error fits any time scale.
  const auto rate = [&](double x, double s) {
    return duration_s * memristor.rate(std::clamp(x, 0.0, 1.0), volts(s * duration_s));
  };
  MemristorTrace trace;
  for (const Matrix<double>& z : solve(rate, x0, 0, 1, samples, error).states) {
    const double t = z(0, 1) * duration_s;
    const double x = std::clamp(z(0, 0), 0.0, 1.0);
    trace.time_s.push_back(t);
    trace.volts.push_back(volts(t));
    trace.state.push_back(x);
    trace.current_A.push_back(memristor.current(x, volts(t)));
  }
  return trace;
}

}  // namespace nudge
