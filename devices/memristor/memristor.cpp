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

ConstantVoltageMotion::ConstantVoltageMotion(const Memristor& memristor, double volts, bool up) {
  const auto speed = [&](double place) {
    const double x = up ? place : 1 - place;
    return std::max(up ? memristor.rate(x, volts) : -memristor.rate(x, volts), 0.0);
  };
  double fastest = 0;
  for (int k = 0; k <= cells; ++k) fastest = std::max(fastest, speed(static_cast<double>(k) / cells));
  if (!(fastest > 0) || !std::isfinite(fastest)) {
    throw UserError(
        fmt::format("memristor: a pulse of {:g} V does not move the state {} (check the voltage against the "
                    "threshold, and its sign)",
                    volts, up ? "up" : "down"));
  }
  // The last place before the motion dies; the first place must move for the table to start.
  int last = 0;
  while (last < cells && speed((last + 1.0) / cells) > 1e-9 * fastest && speed(static_cast<double>(last) / cells) > 0) {
    ++last;
  }
  time_s_ = {0.0};
  if (last == 0) return;
  // dT/dplace = 1/speed, with the place as clock; in units of 1/fastest.
  const double end = static_cast<double>(last) / cells;
  const auto slowness = [&](double, double place) { return end * fastest / speed(std::min(place, end)); };
  for (const Matrix<double>& z : solve(slowness, 0, 0, end, last, 1e-10).states) {
    if (z(0, 1) > 0) time_s_.push_back(z(0, 0) / fastest);
  }
}

double ConstantVoltageMotion::advance(double place, double seconds) const {
  if (std::isnan(place) || std::isnan(seconds)) return place + seconds;
  const double limit = reach();
  if (place >= limit) return 0;
  // Just below the limit the product may round to its cell.
  const auto at = std::min(static_cast<std::size_t>(place * cells), time_s_.size() - 2);
  const double inside = place * cells - static_cast<double>(at);
  const double now = time_s_[at] + inside * (time_s_[at + 1] - time_s_[at]);
  const double then = now + seconds;
  if (then >= time_s_.back()) return limit - place;
  const auto next = std::upper_bound(time_s_.begin() + static_cast<std::ptrdiff_t>(at), time_s_.end(), then);
  const auto k = static_cast<std::size_t>(next - time_s_.begin()) - 1;
  if (k == at) return seconds / ((time_s_[at + 1] - time_s_[at]) * cells);
  return (static_cast<double>(k) + (then - time_s_[k]) / (time_s_[k + 1] - time_s_[k])) / cells - place;
}

}  // namespace nudge
