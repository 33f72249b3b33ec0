// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "devices/device_array.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr int kRounds = 60;
constexpr double kFarthest = 0.45;  ///< an end of the window is moved by less than half of the range
constexpr double kUseless = 1e3;    ///< residual of numbers that make no device

std::pair<double, double> range_of(const PulseRecord& record) {
  const auto [low, high] = std::minmax_element(record.conductance_S.begin(), record.conductance_S.end());
  return {*low, *high};
}

/// The residuals over all records as a function of: the model's numbers, the ends of the window, and where each record starts.
struct Residuals {
  using Scalar = double;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };
  using InputType = Vector;
  using ValueType = Vector;
  using JacobianType = Eigen::MatrixXd;

  const DeviceSpec* spec;
  const FitParameters* parameters;
  const std::vector<PulseRecord>* records;
  int count = 0;

  int inputs() const { return static_cast<int>(parameters->start.size() + 2 + records->size()); }
  int values() const { return count; }

  WindowShift shift(const Vector& x) const {
    const auto n = static_cast<Index>(parameters->start.size());
    const auto end = [](double free) { return kFarthest * std::tanh(free); };
    return {end(x[n]), end(x[n + 1]), {x.data() + n + 2, x.data() + x.size()}};
  }
  DeviceSpec spec_of(const Vector& x) const {
    DeviceSpec out = *spec;
    parameters->apply({x.data(), x.data() + parameters->start.size()}, out);
    return out;
  }

  int operator()(const Vector& x, Vector& residual) const {
    residual.setConstant(kUseless);
    if (!x.allFinite()) return 0;
    DeviceSpec own = spec_of(x);
    const WindowShift moved = shift(x);
    Index at = 0;
    auto start = static_cast<Index>(parameters->start.size() + 2);
    try {
      for (const PulseRecord& record : *records) {
        const auto [low, high] = range_of(record);
        const double size = high - low;
        own.g_min_S = std::max(low + moved.low * size, 0.0);
        own.g_max_S = high + moved.high * size;
        own.validate();
        const std::vector<double> replayed = replay(own, record, record.conductance_S[0] + x[start++] * size);
        for (std::size_t i = 0; i < replayed.size(); ++i) {
          residual[at++] = (record.conductance_S[i] - replayed[i]) / size;
        }
      }
    } catch (const UserError&) {
      residual.setConstant(kUseless);
    }
    return 0;
  }
};

}  // namespace

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first) {
  DeviceSpec own = spec;
  own.update = PulseMode::continuous;
  own.update_noise = 0;
  DeviceArray<double> device(own, 1, 1, {}, 1);
  device.cells().g(0, 0) = std::clamp(first, own.g_min_S, own.g_max_S);
  const double s = device.cells().mean_step;
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  std::vector<double> all{device.cells().g(0, 0)};
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    device.update(one, record.direction[i] == Direction::up ? s : -s, i);
    all.push_back(device.conductance()(0, 0));
  }
  return all;
}

WindowShift fit_trajectory(DeviceSpec& spec, const FitParameters& parameters, const std::vector<PulseRecord>& records) {
  Residuals residuals{&spec, &parameters, &records};
  for (const PulseRecord& record : records) residuals.count += static_cast<int>(record.conductance_S.size());
  Vector x = Vector::Zero(residuals.inputs());
  std::copy(parameters.start.begin(), parameters.start.end(), x.data());
  Vector before(residuals.count), after(residuals.count);
  residuals(x, before);
  Eigen::NumericalDiff<Residuals> differentiable(residuals, 1e-10);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> least(differentiable);
  least.parameters.maxfev = kRounds * (residuals.inputs() + 1);
  least.parameters.xtol = least.parameters.ftol = 1e-7;
  least.minimize(x);
  residuals(x, after);
  if (!(after.squaredNorm() < before.squaredNorm())) return {};
  spec = residuals.spec_of(x);
  return residuals.shift(x);
}

}  // namespace nudge
