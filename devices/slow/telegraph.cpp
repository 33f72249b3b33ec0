// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/telegraph.hpp"

#include <cmath>

#include "devices/device_draws.hpp"

namespace nudge {

template <class S>
Telegraph<S>::Telegraph(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : spec_(spec.telegraph), identity_(identity), threads_(threads) {
  if (!active()) return;
  const auto place = [](StaticDraw which) { return static_cast<std::uint64_t>(which); };
  const auto normal = [&](StaticDraw which) {
    return draw_normal<S>(identity, Purpose::device_to_device, place(which), rows, cols, threads);
  };
  const auto uniform = [&](StaticDraw which) {
    return draw_uniform(identity, Purpose::device_to_device, place(which), rows, cols, threads);
  };
  const Matrix<double> trap = uniform(StaticDraw::trap);
  const auto spread = static_cast<S>(spec_.amplitude_spread);
  amplitude_ = (static_cast<S>(spec_.amplitude) * (S(1) + spread * normal(StaticDraw::trap_amplitude).array()).abs() *
                (trap.array() < spec_.share).template cast<S>())
                   .matrix();
  time_factor_ = (static_cast<S>(spec_.time_spread) * normal(StaticDraw::trap_time).array()).exp().matrix();
  const double p = spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s);
  occupied_ = (uniform(StaticDraw::trap_state).array() < p).template cast<S>().matrix();
}

template <class S>
void Telegraph<S>::advance_time(double seconds, std::uint64_t step) {
  if (!active() || seconds == 0) return;
  const double p = spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s);
  const double rate = 1 / spec_.time_high_s + 1 / spec_.time_low_s;
  const Matrix<double> draw =
      draw_uniform(identity_, Purpose::telegraph, step, occupied_.rows(), occupied_.cols(), threads_);
  for (Index i = 0; i < occupied_.size(); ++i) {
    if (amplitude_.data()[i] == 0) continue;
    // P(1 after t | s) = p + (s − p) exp(−t/τ_c); as the probability of a change, exact also for short times.
    const double moved = -std::expm1(-seconds * rate / static_cast<double>(time_factor_.data()[i]));
    S& s = occupied_.data()[i];
    const double change = moved * (s > 0 ? 1 - p : p);
    if (draw.data()[i] < change) s = S(1) - s;
  }
}

template <class S>
double Telegraph<S>::correlation_time_s() const {
  return 1 / (1 / spec_.time_high_s + 1 / spec_.time_low_s);
}

template <class S>
double Telegraph<S>::relative_variance(Index i) const {
  const double p = spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s);
  const auto a = static_cast<double>(amplitude_.data()[i]);
  return a * a * p * (1 - p);
}

template <class S>
void Telegraph<S>::add_to(Matrix<S>& relative) const {
  if (!active()) return;
  const auto p = static_cast<S>(spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s));
  relative.array() += amplitude_.array() * (occupied_.array() - p);
}

template <class S>
void Telegraph<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!active()) return;
  out.push_back({"trap_state", "1", "1 where the trap of a device is in the state of higher conductance", &occupied_});
  out.push_back({"trap_amplitude", "1", "relative amplitude of each device's telegraph noise", &amplitude_});
  out.push_back({"trap_time_factor", "1", "factor on the mean times of each device's trap", &time_factor_});
}

template class Telegraph<float>;
template class Telegraph<double>;

}  // namespace nudge
