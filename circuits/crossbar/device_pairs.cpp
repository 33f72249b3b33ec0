// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/device_pairs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// A counter is stored as three digits of base 2²⁰, each exact in a float; together they reach 2⁶⁰.
constexpr std::uint64_t digit_base = std::uint64_t{1} << 20;

template <class S>
void store_counter(std::uint64_t value, Index row, Matrix<S>& digits) {
  for (Index d = 0; d < 3; ++d, value /= digit_base) digits(row, d) = static_cast<S>(value % digit_base);
}

template <class S>
std::uint64_t load_counter(const Matrix<S>& digits, Index row) {
  std::uint64_t value = 0;
  for (Index d = 2; d >= 0; --d) value = value * digit_base + static_cast<std::uint64_t>(digits(row, d));
  return value;
}

}  // namespace

template <class S>
DevicePairs<S>::DevicePairs(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : spec_(spec),
      id_(id),
      plus_(spec.device, weights.rows(), weights.cols(), {seed, id, 0}, spec.threads),
      minus_(spec.device, weights.rows(), weights.cols(), {seed, id, 1}, spec.threads),
      weights_(weights.rows(), weights.cols()),
      scale_(1, 1),
      counters_(3, 3) {
  check_target(weights);
  choose_scale(weights);
  write(weights);
}

template <class S>
void DevicePairs<S>::check_target(const Matrix<S>& target) const {
  NUDGE_EXPECT(target.rows() == weights_.rows() && target.cols() == weights_.cols());
  if (target.allFinite()) return;
  for (Index i = 0; i < target.rows(); ++i) {
    for (Index j = 0; j < target.cols(); ++j) {
      if (!std::isfinite(target(i, j))) {
        throw UserError(
            fmt::format("crossbar {}: weight ({}, {}) to be programmed is {}: a conductance must be a finite "
                        "number; check where the weights come from",
                        id_, i, j, target(i, j)));
      }
    }
  }
}

template <class S>
void DevicePairs<S>::choose_scale(const Matrix<S>& target) {
  double w_max = spec_.mapping.w_max;
  if (w_max == 0 && target.size() > 0)
    w_max = spec_.mapping.headroom * static_cast<double>(target.cwiseAbs().maxCoeff());
  if (w_max == 0) w_max = 1;
  scale_(0, 0) = static_cast<S>(spec_.device.window_S() / w_max);
}

template <class S>
void DevicePairs<S>::write(const Matrix<S>& target) {
  const auto middle = static_cast<S>(0.5 * (spec_.device.g_min_S + spec_.device.g_max_S));
  const S half = scale_(0, 0) / S(2);
  plus_.program((middle + half * target.array()).matrix(), programmings_);
  minus_.program((middle - half * target.array()).matrix(), programmings_);
  ++programmings_;
  refresh();
}

template <class S>
void DevicePairs<S>::program(const Matrix<S>& target) {
  check_target(target);
  if (spec_.mapping.scale == ScalePolicy::renew) choose_scale(target);
  write(target);
}

template <class S>
void DevicePairs<S>::refresh() {
  if (spec_.wires.row_ohm == 0 && spec_.wires.column_ohm == 0) {
    weights_ = (plus_.conductance() - minus_.conductance()) / scale_(0, 0);
    return;
  }
  const auto seen = [this](const DeviceArray<S>& array) {
    return effective_conductance(array.conductance().template cast<double>(), spec_.wires, spec_.tiles, spec_.threads);
  };
  weights_ = ((seen(plus_) - seen(minus_)) / static_cast<double>(scale_(0, 0))).template cast<S>();
}

template <class S>
void DevicePairs<S>::update(const Matrix<S>& delta, std::uint64_t step) {
  NUDGE_EXPECT(delta.rows() == weights_.rows() && delta.cols() == weights_.cols());
  const S half = scale_(0, 0) / S(2);
  pulses_ += plus_.update(delta, half, step);
  pulses_ += minus_.update(delta, -half, step);
  refresh();
}

template <class S>
void DevicePairs<S>::elapse(double seconds, std::uint64_t step) {
  const bool plus = plus_.elapse(seconds, step);
  const bool minus = minus_.elapse(seconds, step);
  if (plus || minus) refresh();
}

template <class S>
std::vector<StateArray<S>> DevicePairs<S>::state() {
  store_counter(pulses_.up, 0, counters_);
  store_counter(pulses_.down, 1, counters_);
  store_counter(programmings_, 2, counters_);
  DeviceCells<S>& p = plus_.cells();
  DeviceCells<S>& m = minus_.cells();
  std::vector<StateArray<S>> out = {
      {"g_plus", "S", "conductance of the positive device of each pair (inputs, outputs)", &p.g},
      {"g_minus", "S", "conductance of the negative device of each pair (inputs, outputs)", &m.g},
      {"g_plus_lower", "S", "lower bound of each positive device", &p.lower},
      {"g_plus_upper", "S", "upper bound of each positive device", &p.upper},
      {"g_minus_lower", "S", "lower bound of each negative device", &m.lower},
      {"g_minus_upper", "S", "upper bound of each negative device", &m.upper},
      {"g_plus_step_up", "S", "mean up pulse of each positive device", &p.step_up},
      {"g_plus_step_down", "S", "mean down pulse of each positive device", &p.step_down},
      {"g_minus_step_up", "S", "mean up pulse of each negative device", &m.step_up},
      {"g_minus_step_down", "S", "mean down pulse of each negative device", &m.step_down},
      {"siemens_per_weight", "S", "scale between weights and conductance differences", &scale_},
      {"counters", "1", "rows: up pulses, down pulses, programmings; columns: digits of base 2^20, lowest first",
       &counters_}};
  for (const bool plus : {true, false}) {
    for (const SlowArray<S>& array : (plus ? plus_ : minus_).slow_state()) {
      const std::string sign = plus ? "g_plus_" : "g_minus_";
      out.push_back({sign + array.name, array.unit, array.description, array.values});
    }
  }
  return out;
}

template <class S>
std::vector<MapReading> DevicePairs<S>::readings() const {
  const double window = spec_.device.window_S();
  const double margin = 0.01 * window;
  const auto low = static_cast<S>(spec_.device.g_min_S + margin);
  const auto high = static_cast<S>(spec_.device.g_max_S - margin);
  double sum = 0;
  double saturated = 0;
  for (const auto* array : {&plus_, &minus_}) {
    const auto g = array->conductance().array();
    sum += g.template cast<double>().sum();
    saturated += static_cast<double>((g < low || g > high).count());
  }
  const double devices = 2.0 * static_cast<double>(weights_.size());
  const double drop = worst_ir_drop(plus_.conductance().template cast<double>(), spec_.wires, spec_.tiles);
  return {
      {"ir_drop", "1", "(2/3) R G N M of the worst tile; above 0.5 wires eat a third of the signal", drop},
      {"pulses_up", "1", "potentiation pulses sent to the array since the start", static_cast<double>(pulses_.up)},
      {"pulses_down", "1", "depression pulses sent to the array since the start", static_cast<double>(pulses_.down)},
      {"conductance_mean", "S", "mean conductance of all devices", sum / devices},
      {"saturated", "1", "share of devices within 1 % of the window of one of its bounds", saturated / devices}};
}

template <class S>
void DevicePairs<S>::state_restored() {
  pulses_ = {load_counter(counters_, 0), load_counter(counters_, 1)};
  programmings_ = load_counter(counters_, 2);
  plus_.state_restored();
  minus_.state_restored();
  refresh();
}

template class DevicePairs<float>;
template class DevicePairs<double>;

}  // namespace nudge
