// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>

#include "devices/device_array.hpp"
#include "devices/fit/residual_vector.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr int kRounds = 60;
constexpr double kFarthest = 0.45;  ///< an end of the window is moved by less than half of the range
constexpr double kUseless = 1e3;    ///< residual of numbers that make no device
constexpr double kStep = 1e-5;      ///< of a forward difference: its error is 1e-5 f''/2, rounding 1e-16/1e-5

/// The residuals as a function of the model's numbers, the ends of the window and the start of each record: of all values of all records,
/// of their ranges, then of what curves are expected to be.
class Residuals : public ResidualVector {
 public:
  Residuals(const DeviceSpec& spec, const FitParameters& parameters, const std::vector<PulseRecord>& records)
      : spec_(&spec),
        parameters_(&parameters),
        records_(&records),
        shared_(static_cast<Index>(parameters.start.size())) {
    double squares = 0;
    for (const PulseRecord& record : records) {
      const double size = range_of(record).size();
      for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
        squares += std::pow((record.conductance_S[i] - record.conductance_S[i - 1]) / size, 2);
      }
      values_ += static_cast<Index>(record.conductance_S.size());
    }
    // Noise of reads is in every difference twice.
    noise_ = std::sqrt(squares / (2 * static_cast<double>(values_)));
    for (const auto& [first, last] : parameters.curves) expected_ += static_cast<Index>(last - first) - 1;
  }

  int inputs() const { return static_cast<int>(shared_ + 2) + static_cast<int>(records_->size()); }
  int values() const { return static_cast<int>(values_ + expected_); }

  WindowShift shift(const Vector& x) const {
    const auto end = [](double free) { return kFarthest * std::tanh(free); };
    return {end(x[shared_]), end(x[shared_ + 1]), {x.data() + shared_ + 2, x.data() + x.size()}};
  }
  DeviceSpec spec_of(const Vector& x) const {
    DeviceSpec out = *spec_;
    parameters_->apply({x.data(), x.data() + shared_}, out);
    return out;
  }

  int operator()(const Vector& x, Vector& residual) const {
    residual.setConstant(kUseless);
    Index at = 0;
    for (std::size_t r = 0; r < records_->size(); ++r) {
      const auto n = static_cast<Index>((*records_)[r].conductance_S.size());
      of_record(x, r, residual.segment(at, n));
      at += n;
    }
    for (const auto& [first, last] : parameters_->curves) {
      for (std::size_t k = first + 1; k < last; ++k) {
        residual[at++] = noise_ * (x[static_cast<Index>(k)] - x[static_cast<Index>(k) - 1]);
      }
    }
    return 0;
  }

  /// The start of a record moves that record alone.
  int df(const Vector& x, Eigen::MatrixXd& jacobian) const {
    Vector here(values()), there(values());
    (*this)(x, here);
    Vector moved = x;
    jacobian.setZero();
    for (Index k = 0; k < shared_ + 2; ++k) {
      moved[k] = x[k] + kStep;
      (*this)(moved, there);
      jacobian.col(k) = (there - here) / kStep;
      moved[k] = x[k];
    }
    Index at = 0;
    for (std::size_t r = 0; r < records_->size(); ++r) {
      const Index k = shared_ + 2 + static_cast<Index>(r);
      const auto n = static_cast<Index>((*records_)[r].conductance_S.size());
      moved[k] = x[k] + kStep;
      of_record(moved, r, there.segment(at, n));
      jacobian.col(k).segment(at, n) = (there.segment(at, n) - here.segment(at, n)) / kStep;
      moved[k] = x[k];
      at += n;
    }
    return 0;
  }

 private:
  void of_record(const Vector& x, std::size_t r, Eigen::Ref<Vector> residual) const {
    if (!x.allFinite()) return residual.setConstant(kUseless), void();
    const PulseRecord& record = (*records_)[r];
    const WindowShift moved = shift(x);
    const RecordRange range = range_of(record);
    DeviceSpec own = spec_of(x);
    own.g_min_S = std::max(range.low + moved.low * range.size(), 0.0);
    own.g_max_S = range.high + moved.high * range.size();
    try {
      own.validate();
    } catch (const UserError&) {
      return residual.setConstant(kUseless), void();
    }
    const std::vector<double> replayed = replay(own, record, record.conductance_S[0] + moved.starts[r] * range.size());
    for (std::size_t i = 0; i < replayed.size(); ++i) {
      residual[static_cast<Index>(i)] = (record.conductance_S[i] - replayed[i]) / range.size();
    }
  }

  const DeviceSpec* spec_;
  const FitParameters* parameters_;
  const std::vector<PulseRecord>* records_;
  Index shared_, values_ = 0, expected_ = 0;
  double noise_ = 0;
};

/// Pulses of a direction behind one another, at most.
std::size_t longest_run(const std::vector<PulseRecord>& records, Direction direction) {
  std::size_t longest = 1;
  for (const PulseRecord& record : records) {
    std::size_t run = 0;
    for (std::size_t i = 1; i < record.direction.size(); ++i) {
      run = record.direction[i] == direction ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  return longest;
}

}  // namespace

RecordRange range_of(const PulseRecord& record) {
  const auto [low, high] = std::minmax_element(record.conductance_S.begin(), record.conductance_S.end());
  if (!(*low < *high)) throw UserError("devices fit: the conductance never changes: there is no window to fit");
  return {*low, *high};
}

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
  Residuals residuals(spec, parameters, records);
  Vector start = Vector::Zero(residuals.inputs()), best = start;
  std::copy(parameters.start.begin(), parameters.start.end(), start.data());
  // Noise makes steps too large and teeth of a curve: the second start is level, and a run of pulses leaves about e^-4 of the window.
  Vector level = start;
  level[0] = std::log(4.0 / static_cast<double>(longest_run(records, Direction::up)));
  level[1] = std::log(4.0 / static_cast<double>(longest_run(records, Direction::down)));
  for (const auto& [first, last] : parameters.curves) {
    level.segment(static_cast<Index>(first), static_cast<Index>(last - first)).setZero();
  }
  Vector residual(residuals.values());
  residuals(start, residual);
  const double before = residual.squaredNorm();
  double least = before;
  for (const Vector& from : {start, level}) {
    Vector x = from;
    Eigen::LevenbergMarquardt<Residuals> solver(residuals);
    solver.parameters.maxfev = kRounds;
    solver.parameters.xtol = solver.parameters.ftol = 1e-7;
    solver.minimize(x);
    residuals(x, residual);
    if (residual.squaredNorm() < least) {
      least = residual.squaredNorm();
      best = x;
    }
  }
  if (!(least < before)) return {};
  spec = residuals.spec_of(best);
  return residuals.shift(best);
}

}  // namespace nudge
