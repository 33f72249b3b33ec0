// SPDX-License-Identifier: Apache-2.0
#include "devices/device_array.hpp"

#include <algorithm>
#include <span>

#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

// A Gaussian spread must not turn a bound or a pulse around; what would is set to this share of its mean (chosen by us:
// the device is all but dead, as a device with a non-positive step is in the sources of the spreads).
constexpr double smallest_share = 0.01;

}  // namespace

template <class S>
DeviceArray<S>::DeviceArray(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : spec_(spec), identity_(identity), threads_(threads), model_(device_model(spec.model).make(spec)) {
  cells_.reference = static_cast<S>(spec.g_reference_S());
  cells_.mean_step = static_cast<S>(spec.window_S() / spec.pulses);
  cells_.g = Matrix<S>::Constant(rows, cols, static_cast<S>(spec.g_min_S));
  cells_.writes = Matrix<S>::Zero(rows, cols);
  cells_.lower.resize(rows, cols);
  cells_.upper.resize(rows, cols);
  cells_.step_up.resize(rows, cols);
  cells_.step_down.resize(rows, cols);
  sample();
}

template <class S>
Matrix<S> DeviceArray<S>::normal(Purpose purpose, std::uint64_t step) const {
  constexpr Index chunk = 1024;
  Matrix<S> out(cells_.g.rows(), cells_.g.cols());
  const RngKey key = {identity_.seed, purpose, identity_.entity};
  parallel_for((out.size() + chunk - 1) / chunk, threads_, [&](Index c, int) {
    const auto count = static_cast<std::size_t>(std::min(chunk, out.size() - c * chunk));
    fill_normal<S>(key, step, static_cast<std::uint32_t>(2 * c) + identity_.side, {out.data() + c * chunk, count});
  });
  return out;
}

template <class S>
void DeviceArray<S>::sample() {
  const double up_bias = std::min(spec_.asymmetry, 0.0);
  const double down_bias = -std::max(spec_.asymmetry, 0.0);
  const auto spread = [&](double sigma, std::uint64_t which) -> Matrix<S> {
    if (sigma == 0) return Matrix<S>::Zero(cells_.g.rows(), cells_.g.cols());
    return static_cast<S>(sigma) * normal(Purpose::device_to_device, which);
  };
  const auto least = static_cast<S>(smallest_share);
  const auto above = static_cast<S>(spec_.g_max_S - spec_.g_reference_S());
  const auto below = static_cast<S>(spec_.g_reference_S() - spec_.g_min_S);
  const S reference = cells_.reference;
  cells_.upper = (reference + above * (S(1) + spread(spec_.upper_bound_spread, 0).array()).max(least)).matrix();
  cells_.lower =
      (reference - below * (S(1) + spread(spec_.lower_bound_spread, 1).array()).max(least)).max(S(0)).matrix();
  const Matrix<S> gain = spread(spec_.step_spread, 2);
  const Matrix<S> tilt = spread(spec_.asymmetry_spread, 3);
  cells_.step_up = (cells_.mean_step * (static_cast<S>(1 + up_bias) + gain.array() + tilt.array()).max(least)).matrix();
  cells_.step_down =
      (cells_.mean_step * (static_cast<S>(1 + down_bias) + gain.array() - tilt.array()).max(least)).matrix();
}

template <class S>
void DeviceArray<S>::program(const Matrix<S>& target, std::uint64_t number) {
  NUDGE_EXPECT(target.rows() == cells_.g.rows() && target.cols() == cells_.g.cols());
  cells_.g = target;
  if (spec_.programming_error > 0) {
    cells_.g += static_cast<S>(spec_.programming_error * spec_.window_S()) * normal(Purpose::programming_error, number);
  }
  if (model_->bounded()) cells_.g = cells_.g.cwiseMax(cells_.lower).cwiseMin(cells_.upper);
}

template <class S>
UpdateRequest<S> DeviceArray<S>::request(const Matrix<S>& delta, std::uint64_t number) const {
  UpdateRequest<S> request{delta};
  request.mode = spec_.update;
  request.noise = static_cast<S>(spec_.update_noise);
  request.seed = identity_.seed;
  request.entity = identity_.entity;
  request.side = identity_.side;
  request.number = number;
  request.threads = threads_;
  return request;
}

template <class S>
PulseCount DeviceArray<S>::update(const Matrix<S>& delta, S factor, std::uint64_t number) {
  UpdateRequest<S> wanted = request(delta, number);
  wanted.factor = factor;
  return model_->update(cells_, wanted);
}

template <class S>
PulseCount DeviceArray<S>::pulse(const Matrix<S>& counts, std::uint64_t number) {
  UpdateRequest<S> wanted = request(counts, number);
  wanted.mode = PulseMode::continuous;
  wanted.pulse = 1;
  return model_->update(cells_, wanted);
}

template <class S>
PulseCount DeviceArray<S>::pulse(const std::vector<Index>& which, const Matrix<S>& counts, std::uint64_t number) {
  DeviceCells<S> part = gather(cells_, which);
  UpdateRequest<S> wanted = request(counts, number);
  wanted.mode = PulseMode::continuous;
  wanted.pulse = 1;
  const PulseCount sent = model_->update(part, wanted);
  scatter(part, which, cells_);
  return sent;
}

template <class S>
PulseCount DeviceArray<S>::pulse_both(const Matrix<S>& counts_up, const Matrix<S>& counts_down, std::uint64_t number) {
  NUDGE_EXPECT(counts_up.size() == cells_.g.size() && counts_down.size() == cells_.g.size());
  Matrix<S> first(cells_.g.rows(), cells_.g.cols());
  Matrix<S> second(cells_.g.rows(), cells_.g.cols());
  const RngKey key = {identity_.seed, Purpose::pulse_order, identity_.entity};
  constexpr Index word = 64;
  parallel_for(cells_.g.rows(), threads_, [&](Index row, int) {
    const Index begin = row * cells_.g.cols();
    for (Index at = 0; at < cells_.g.cols(); at += word) {
      const std::uint64_t coins = random_bits(key, number, 2 * static_cast<std::uint32_t>(row) + identity_.side,
                                              static_cast<std::uint32_t>(at / word));
      for (Index k = 0; k < std::min(word, cells_.g.cols() - at); ++k) {
        const S up = counts_up.data()[begin + at + k];
        const S down = -counts_down.data()[begin + at + k];
        const bool up_first = ((coins >> static_cast<unsigned>(k)) & 1U) != 0;
        first.data()[begin + at + k] = up_first ? up : down;
        second.data()[begin + at + k] = up_first ? down : up;
      }
    }
  });
  PulseCount sent = pulse(first, number);
  sent += pulse(second, number + 1);
  return sent;
}

template class DeviceArray<float>;
template class DeviceArray<double>;

}  // namespace nudge
