// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_pulses.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_trajectory.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

/// Single steps of one direction: place x in the window before the pulse (0 at g_min) and size, positive along the
/// direction, of the window.
struct Steps {
  Vector x, size;
};

/// Whether a step ended at the bound ahead, which cut it.
bool cut(const PulseRecord& r, std::size_t i, double g_min, double window) {
  const double x = (r.conductance_S[i] - g_min) / window;
  return r.direction[i] == Direction::up ? x > 1 - 1e-9 : x < 1e-9;
}

Steps steps_of(const std::vector<PulseRecord>& records, Direction direction) {
  std::vector<double> x;
  std::vector<double> size;
  for (const PulseRecord& r : records) {
    const RecordRange window = range_of(r);
    for (std::size_t i = 1; i < r.conductance_S.size(); ++i) {
      if (r.direction[i] != direction || cut(r, i, window.low, window.size())) continue;
      x.push_back((r.conductance_S[i - 1] - window.low) / window.size());
      const double change = (r.conductance_S[i] - r.conductance_S[i - 1]) / window.size();
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
  double gamma = 0, A = 0, sign = 1;
  std::vector<double> table = {};
  double error = 0;  ///< sum of squares
};

/// u: distance along the direction from the reference (middle), −1/2 to 1/2.
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

Side soft(const Steps& s, Direction direction) {
  const Vector f = (1 - 2 * along(s, direction).array()).matrix();
  return {f.dot(s.size) / f.squaredNorm(), 1};
}

/// size = step (1 − A exp(gamma sign u)): linear in (step, step A) for each gamma; sign is the sign of the model's `a`.
Side exponential(const Steps& s, Direction direction, double sign) {
  const Vector u = along(s, direction);
  Side best;
  best.error = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 60; ++i) {
    const double gamma = 0.05 * std::pow(400.0, i / 59.0);
    Eigen::MatrixXd design(u.size(), 2);
    design << Vector::Ones(u.size()), (gamma * sign * u.array()).exp().matrix();
    const Eigen::Vector2d c = least_squares<double>(design, s.size);
    const double error = (design * c - s.size).squaredNorm();
    // A nearly straight line is also a large step times a small difference from 1: fewer than two pulses across the window.
    if (!(c[0] > 0 && c[0] <= 0.5) || !(error < best.error)) continue;
    best = {c[0], gamma, -c[1] / c[0], sign, {}, error};
  }
  return best;
}

/// Piecewise-linear least squares; a point without data is tied weakly to its neighbours.
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
  const Vector values = normal.ldlt().solve(right).cwiseMax(0.0);
  Side side;
  side.table.assign(values.data(), values.data() + n);
  side.step = values.mean();
  return side;
}

void require_steps(const Side& up, const Side& down, const std::string& model) {
  if (up.step > 0 && down.step > 0) return;
  throw UserError(
      fmt::format("devices fit: {} cannot describe these pulses: the fitted mean step is {:.3g} of the window up and "
                  "{:.3g} down (both "
                  "must be > 0; is the direction column that of the pulse before each value?)",
                  model, up.step, down.step));
}

/// Mean pulses, asymmetry from the steps of both directions.
void set_steps(DeviceSpec& spec, double up, double down) {
  spec.pulses = std::clamp(1 / std::max(up, down), 2.0, 1e9);
  spec.asymmetry = down < up ? 1 - down / up : up / down - 1;
}

void fit_shape(DeviceSpec& spec, const Steps& up, const Steps& down, int points) {
  Side u;
  Side d;
  if (spec.model == "linear_step" || spec.model == "soft_bounds") {
    const auto fit = spec.model == "linear_step" ? line : soft;
    u = fit(up, Direction::up);
    d = fit(down, Direction::down);
  } else if (spec.model == "exponential_step") {
    u = exponential(up, Direction::up, 1);
    d = exponential(down, Direction::down, 1);
    const Side other_u = exponential(up, Direction::up, -1);
    const Side other_d = exponential(down, Direction::down, -1);
    if (other_u.error + other_d.error < u.error + d.error) {
      u = other_u;
      d = other_d;
    }
  } else {
    u = table(up, points);
    d = table(down, points);
  }
  require_steps(u, d, spec.model);
  if (spec.model == "linear_step") spec.shape = {{"gamma_up", u.gamma}, {"gamma_down", d.gamma}};
  if (spec.model == "exponential_step") {
    spec.shape = {{"A_up", u.A},           {"A_down", d.A},     {"gamma_up", u.gamma},
                  {"gamma_down", d.gamma}, {"a", 0.5 * u.sign}, {"b", 0}};
  }
  if (spec.model != "piecewise") return set_steps(spec, u.step, d.step);
  set_steps(spec, u.step, d.step);
  for (double& t : u.table) t /= u.step;
  for (double& t : d.table) t /= d.step;
  spec.tables = {{"up", u.table}, {"down", d.table}};
}

double logit(double p) { return std::log(p / (1 - p)); }
double share(double x) { return 1 / (1 + std::exp(-x)); }
/// Values of a table stay within e^±7 = 10^±3 of the mean pulse: places that a record hardly visits say nothing of theirs.
constexpr double kSteepest = 7;
double table_value(double x) { return std::exp(kSteepest * std::tanh(x / kSteepest)); }

/// Steps and shape of a model as free numbers: logarithms of what is positive, logits of what lies in (0, 1).
FitParameters free_numbers(const DeviceSpec& spec) {
  const double up = 1 / spec.pulses * (spec.asymmetry < 0 ? 1 + spec.asymmetry : 1),
               down = 1 / spec.pulses * (spec.asymmetry > 0 ? 1 - spec.asymmetry : 1);
  const auto inside = [](double p) { return std::clamp(p, 1e-3, 1 - 1e-3); };
  FitParameters out{{std::log(up), std::log(down)}, {}, nullptr};
  std::vector<std::string> names;
  if (spec.model == "linear_step") {
    for (const char* name : {"gamma_up", "gamma_down"}) out.start.push_back(logit(inside(spec.shape_value(name))));
  } else if (spec.model == "exponential_step") {
    for (const char* name : {"A_up", "A_down"}) out.start.push_back(spec.shape_value(name));
    for (const char* name : {"gamma_up", "gamma_down"}) out.start.push_back(std::log(spec.shape_value(name)));
  } else if (spec.model == "piecewise") {
    for (const auto& [name, values] : spec.tables) {
      out.curves.emplace_back(out.start.size(), out.start.size() + values.size());
      for (const double value : values) out.start.push_back(std::log(std::clamp(value, 2e-3, 5e2)));
    }
  }
  out.apply = [](const std::vector<double>& x, DeviceSpec& made) {
    double step_up = std::exp(x[0]), step_down = std::exp(x[1]);
    std::size_t at = 2;
    for (auto& [name, values] : made.tables) {  // shapes have the mean 1, their scale is that of the step
      double mean = 0;
      for (double& value : values) mean += (value = table_value(x[at++])) / static_cast<double>(values.size());
      for (double& value : values) value /= mean;
      (name == "up" ? step_up : step_down) *= mean;
    }
    set_steps(made, step_up, step_down);
    if (made.model == "linear_step") made.shape = {{"gamma_up", share(x[2])}, {"gamma_down", share(x[3])}};
    if (made.model == "exponential_step") {
      made.shape["A_up"] = x[2];
      made.shape["A_down"] = x[3];
      made.shape["gamma_up"] = std::exp(x[4]);
      made.shape["gamma_down"] = std::exp(x[5]);
    }
  };
  return out;
}

/// Conductance that the model reaches from g by one pulse.
double one_pulse(DeviceArray<double>& device, double g, Direction direction, std::uint64_t step) {
  device.cells().g(0, 0) = g;
  const double s = device.cells().mean_step;
  device.update(Matrix<double>::Ones(1, 1), direction == Direction::up ? s : -s, step);
  return device.conductance()(0, 0);
}

void measure_residuals(PulseFit& fit, const std::vector<PulseRecord>& records, const WindowShift& shift) {
  double steps = 0, whole = 0, curve = 0, pulses = 0, flat = 0;
  double moved = 0, turned = 0, turns = 0, lag = 0;
  std::size_t number = 0;
  for (const PulseRecord& record : records) {
    DeviceSpec own = fit.spec;
    const RecordRange range = range_of(record);
    own.g_min_S = std::max(range.low + shift.low * range.size(), 0.0);
    own.g_max_S = range.high + shift.high * range.size();
    DeviceArray<double> device(own, 1, 1, {}, 1);
    const double window = own.window_S();
    const double pulse = window / own.pulses;
    const double mean = std::accumulate(record.conductance_S.begin(), record.conductance_S.end(), 0.0) /
                        static_cast<double>(record.conductance_S.size());
    const double start = shift.starts.empty() ? 0 : shift.starts[number] * range.size();
    const std::vector<double> replayed = replay(own, record, record.conductance_S[0] + start);
    double off = (record.conductance_S[0] - replayed[0]) / range.size(), difference = 0;
    ++number;
    for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
      const Direction direction = record.direction[i];
      const double next = one_pulse(device, record.conductance_S[i - 1], direction, i);
      if (!cut(record, i, own.g_min_S, window)) {
        steps += std::pow((record.conductance_S[i] - next) / pulse, 2);
        whole += 1;
      }
      const double now = (record.conductance_S[i] - replayed[i]) / range.size();
      curve += now * now;
      flat += std::pow((record.conductance_S[i] - mean) / range.size(), 2);
      lag += now * off;
      moved += (now - off) * (now - off);
      if (i > 1) turned += (now - off) * difference;
      turns += i > 1 ? 1 : 0;
      difference = now - off;
      off = now;
    }
    pulses += static_cast<double>(record.pulses());
  }
  fit.step_residual = whole > 0 ? std::sqrt(steps / whole) : 0;  // 0: every pulse ended at a bound
  fit.curve_residual = std::sqrt(curve / pulses);
  fit.mean_residual = std::sqrt(flat / pulses);
  fit.autocorrelation = curve > 0 ? lag / curve : 0;
  const double of_reads = std::max(0.0, -turned / turns);
  fit.read_noise = std::sqrt(of_reads);
  // The range of the records stands for the pulse's window: in pulses.
  const double range_S = (fit.spec.g_max_S - fit.spec.g_min_S) / (1 + shift.high - shift.low);
  const double pulse = fit.spec.window_S() / fit.spec.pulses;
  fit.spec.update_noise = std::sqrt(std::max(0.0, moved / pulses - 2 * of_reads)) * range_S / pulse;
}

}  // namespace

const std::vector<std::string>& fitted_models() {
  static const std::vector<std::string> names = {"soft_bounds", "linear_step", "exponential_step", "piecewise"};
  return names;
}

double PulseFit::akaike(std::size_t n) const {
  return static_cast<double>(n) * std::log(curve_residual * curve_residual) + 2.0 * numbers;
}

PulseFit fit_pulses(const PulseRecord& record, const std::string& model, int points) {
  return fit_records({record}, model, points);
}

PulseFit fit_records(const std::vector<PulseRecord>& records, const std::string& model, int points) {
  NUDGE_EXPECT(!records.empty());
  const auto& known = fitted_models();
  if (std::find(known.begin(), known.end(), model) == known.end()) {
    throw UserError(fmt::format("devices fit: unknown model \"{}\" ({})", model, did_you_mean(model, known)));
  }
  if (points < 2 || points > 1000) {
    throw UserError(fmt::format("devices fit: --points {} (must be in [2, 1000]: values of a table)", points));
  }
  PulseFit fit;
  fit.spec.model = model;
  fit.spec.g_min_S = fit.spec.g_max_S = 0;
  for (const PulseRecord& record : records) {
    const RecordRange window = range_of(record);
    fit.spec.g_min_S += window.low / static_cast<double>(records.size());
    fit.spec.g_max_S += window.high / static_cast<double>(records.size());
  }
  fit_shape(fit.spec, steps_of(records, Direction::up), steps_of(records, Direction::down), points);
  fit.spec.update = PulseMode::continuous;
  const FitParameters free = free_numbers(fit.spec);
  const WindowShift shift = fit_trajectory(fit.spec, free, records);
  fit.numbers = static_cast<int>(free.start.size() + 2 + records.size());
  const double range = fit.spec.g_max_S - fit.spec.g_min_S;
  fit.spec.g_min_S = std::max(fit.spec.g_min_S + shift.low * range, 0.0);
  fit.spec.g_max_S += shift.high * range;
  measure_residuals(fit, records, shift);
  fit.spec.update = PulseMode::pulsed;
  fit.spec.validate();
  return fit;
}

std::string fit_toml(const PulseFit& fit, const std::string& source) {
  return fmt::format(
             "# {} fitted to {}\n# curve residual (rms): {:.4g} % of the record's range; a horizontal line leaves "
             "{:.4g} %\n"
             "# of it noise of reads: {:.4g} %; from pulse to pulse it correlates by {:+.2f}\n"
             "# step residual (rms): {:.4g} mean pulses\n",
             fit.spec.model, source, 100 * fit.curve_residual, 100 * fit.mean_residual, 100 * fit.read_noise,
             fit.autocorrelation, fit.step_residual) +
         device_toml(fit.spec);
}

}  // namespace nudge
