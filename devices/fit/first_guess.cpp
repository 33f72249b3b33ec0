// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "devices/fit/pulse_law.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

/// Single steps of one direction: place x in the window before the pulse (0 at g_min) and size, positive along the
/// direction, of the window.
struct Steps {
  Vector x, size;
};

Steps steps_of(const std::vector<PulseRecord>& records, Direction direction, const LeakGuess& leak) {
  const RecordRange window = range_of(records);
  std::vector<double> x;
  std::vector<double> size;
  for (const PulseRecord& r : records) {
    for (std::size_t i = 1; i < r.conductance_S.size(); ++i) {
      if (r.direction[i] != direction || ends_at_bound(r, i, window.low, window.size())) continue;
      double from = r.conductance_S[i - 1];
      if (leak.time_s > 0) from = leak.rest_S + (from - leak.rest_S) * std::exp(-r.pause(i) / leak.time_s);
      x.push_back((from - window.low) / window.size());
      const double change = (r.conductance_S[i] - from) / window.size();
      size.push_back(direction == Direction::up ? change : -change);
    }
  }
  if (size.size() < 2) {
    throw UserError(fmt::format(
        "devices fit: fewer than 2 pulses {} end inside the measured window (record more pulses, or finer ones)",
        direction == Direction::up ? "up" : "down"));
  }
  const auto count = static_cast<Index>(x.size());
  return {Eigen::Map<Vector>(x.data(), count), Eigen::Map<Vector>(size.data(), count)};
}

/// Step at the reference and relative shape numbers of one direction, for each model.
struct Side {
  double step = 0;
  double gamma = 0, A = 0;
  std::vector<double> table = {};
  double error = 0;  ///< sum of squares that the fit leaves
};

/// Distances u along the direction from the reference (middle), −1/2 to 1/2.
Vector along(const Steps& s, Direction direction) {
  const Vector u = (s.x.array() - 0.5).matrix();
  return direction == Direction::up ? u : Vector(-u);
}

Side line(const Steps& s, Direction direction) {
  const Vector u = along(s, direction);
  Eigen::MatrixXd design(u.size(), 2);
  design << Vector::Ones(u.size()), u;
  const Eigen::Vector2d c = least_squares<double>(design, s.size);
  Side side;
  // size = step (1 − gamma u/(1/2)); outside [0, 1] the slope is held at the nearer end and the step fitted alone.
  side.gamma = c[0] > 0 ? std::clamp(-c[1] / (2 * c[0]), 0.0, 1.0) : 0;
  const Vector f = (1 - 2 * side.gamma * u.array()).matrix();
  side.step = f.dot(s.size) / f.squaredNorm();
  return side;
}

Side constant(const Steps& s, Direction /*direction*/) { return {s.size.mean()}; }

Side soft(const Steps& s, Direction direction) {
  const Vector f = (1 - 2 * along(s, direction).array()).matrix();
  return {f.dot(s.size) / f.squaredNorm(), 1};
}

/// Fit of size = step (1 − A exp(gamma u)): linear in (step, step A) for each gamma of one sign.
Side exponential(const Steps& s, Direction direction, double sign) {
  const Vector u = along(s, direction);
  Side best{s.size.mean(), sign, 0.5 * sign, {}, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 60; ++i) {
    const double gamma = sign * 0.05 * std::pow(400.0, i / 59.0);
    Eigen::MatrixXd design(u.size(), 2);
    design << Vector::Ones(u.size()), (gamma * u.array()).exp().matrix();
    const Eigen::Vector2d c = least_squares<double>(design, s.size);
    const double error = (design * c - s.size).squaredNorm();
    // A nearly straight line is also a large step times a small difference from 1: fewer than two pulses across the window.
    if (!(c[0] > 0 && c[0] <= 0.5) || !(error < best.error)) continue;
    best = {c[0], gamma, -c[1] / c[0], {}, error};
  }
  return best;
}

/// Fit of a table by piecewise-linear least squares; a point without data is tied weakly to its neighbours.
Side table(const Steps& s, int points) {
  const Index n = points;
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
  Vector right = Vector::Zero(n);
  for (Index i = 0; i < s.x.size(); ++i) {
    const double at = std::clamp(s.x[i], 0.0, 1.0) * static_cast<double>(n - 1);
    const Index k = std::min(static_cast<Index>(at), n - 2);
    const double w = at - static_cast<double>(k);
    normal(k, k) += (1 - w) * (1 - w);
    normal(k, k + 1) += w * (1 - w);
    normal(k + 1, k) += w * (1 - w);
    normal(k + 1, k + 1) += w * w;
    right[k] += (1 - w) * s.size[i];
    right[k + 1] += w * s.size[i];
  }
  for (Index k = 0; k + 1 < n; ++k) {
    const double tie = 1e-6 * static_cast<double>(s.x.size());
    normal(k, k) += tie;
    normal(k + 1, k + 1) += tie;
    normal(k, k + 1) -= tie;
    normal(k + 1, k) -= tie;
  }
  const Vector values = semidefinite_solve(normal, right).cwiseMax(0.0);
  Side side;
  side.table.assign(values.data(), values.data() + n);
  side.step = values.mean();
  return side;
}

/// First mean step of a search. Noise of reads may turn a mean step around; then a step of the size of the net way does.
double begin_with(double step, const Steps& steps) {
  return step > 0 ? step : std::max(std::abs(steps.size.mean()), 1e-3);
}

using SideFit = Side (*)(const Steps&, Direction);

/// Sets step and shape of the model from the steps of both directions. points: size of tables; sign: sign of gamma of exponential_step.
void guess_shape(DeviceSpec& spec, const Steps& up, const Steps& down, int points, double sign) {
  const bool slopes = spec.model == "linear_step" || spec.model == "power_step" || spec.model == "label_curve";
  Side u, d;
  if (spec.model == "piecewise") {
    u = table(up, points);
    d = table(down, points);
  } else if (spec.model == "exponential_step") {
    u = exponential(up, Direction::up, sign);
    d = exponential(down, Direction::down, sign);
  } else {
    const SideFit fit = slopes ? line : spec.model == "soft_bounds" ? soft : constant;
    u = fit(up, Direction::up);
    d = fit(down, Direction::down);
  }
  u.step = begin_with(u.step, up);
  d.step = begin_with(d.step, down);
  set_steps(spec, u.step, d.step);
  if (spec.model == "linear_step" || spec.model == "power_step") {
    spec.shape = {{"gamma_up", u.gamma}, {"gamma_down", d.gamma}};
  } else if (spec.model == "label_curve") {
    spec.shape = {{"label_up", 5 * u.gamma}, {"label_down", -5 * d.gamma}};  // a slope of 1 has a label of some 5
  } else if (spec.model == "exponential_step") {
    spec.shape = {{"A_up", u.A}, {"A_down", d.A}, {"gamma_up", u.gamma}, {"gamma_down", d.gamma}, {"a", 0.5}, {"b", 0}};
  } else if (spec.model == "piecewise") {
    for (double& t : u.table) t /= u.step;
    for (double& t : d.table) t /= d.step;
    spec.tables = {{"up", u.table}, {"down", d.table}};
  }
}

}  // namespace

bool ends_at_bound(const PulseRecord& record, std::size_t i, double g_min_S, double window_S) {
  const double x = (record.conductance_S[i] - g_min_S) / window_S;
  return record.direction[i] == Direction::up ? x > 1 - 1e-9 : x < 1e-9;
}

std::vector<DeviceSpec> first_guesses(const std::vector<PulseRecord>& records, const std::string& model, int points,
                                      const LeakGuess& leak) {
  const RecordRange range = range_of(records);
  const auto add_leak_to = [&](DeviceSpec& spec) {
    spec.retention.leak_time_s = leak.time_s;
    if (leak.time_s > 0) spec.retention.leak_rest = std::clamp((leak.rest_S - range.low) / range.size(), 0.0, 1.0);
  };
  if (has_volts(model)) {
    DeviceSpec guess = first_volt_guess(model, records);
    add_leak_to(guess);
    return {guess};
  }
  const std::optional<Direction> none = unmeasured_direction(records);
  const auto steps = [&](Direction direction) {
    const Direction other = direction == Direction::up ? Direction::down : Direction::up;
    return steps_of(records, none == direction ? other : direction, leak);
  };
  const Steps up = steps(Direction::up), down = steps(Direction::down);
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = std::max(range.low, 0.0);
  spec.g_max_S = range.high;
  spec.shape.clear();
  add_leak_to(spec);
  std::vector<DeviceSpec> guesses;
  for (const double sign : {1.0, -1.0}) {  // curves that bend away from the bound ahead, and towards it
    if (sign < 0 && model != "exponential_step") break;
    guesses.push_back(spec);
    guess_shape(guesses.back(), up, down, points, sign);
    if (!none) continue;
    const auto [rise, fall] = steps_of_spec(guesses.back());
    const double step = none == Direction::up ? fall : rise;
    set_steps(guesses.back(), step, step);
    mirror_direction(guesses.back(), *none);
  }
  return guesses;
}

}  // namespace nudge
