// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/telegraph.hpp"

#include <algorithm>
#include <cmath>

#include "devices/device_draws.hpp"

namespace nudge {

template <class S>
Telegraph<S>::Telegraph(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : spec_(spec.telegraph), table_(spec.noise), identity_(identity), threads_(threads) {
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
  const auto mean = static_cast<S>(table_.has_traps() ? 1 : spec_.amplitude);
  amplitude_ = (mean * (S(1) + spread * normal(StaticDraw::trap_amplitude).array()).abs() *
                (trap.array() < spec_.share).template cast<S>())
                   .matrix();
  time_factor_ = (static_cast<S>(spec_.time_spread) * normal(StaticDraw::trap_time).array()).exp().matrix();
  const double p = spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s);
  occupied_ = (uniform(StaticDraw::trap_state).array() < p).template cast<S>().matrix();
}

template <class S>
TrapValues Telegraph<S>::trap(double g, Index i) const {
  const auto own = static_cast<double>(amplitude_.data()[i]);
  if (!table_.has_traps()) return {own, spec_.time_high_s, spec_.time_low_s};
  TrapValues values = table_.trap_at(std::abs(g));
  values.amplitude *= own;
  return values;
}

template <class S>
void Telegraph<S>::programmed(const Matrix<S>& g) {
  if (!active() || !table_.has_traps()) return;
  const Matrix<double> place =
      draw_uniform(identity_, Purpose::device_to_device, static_cast<std::uint64_t>(StaticDraw::trap_state), g.rows(),
                   g.cols(), threads_);
  for (Index i = 0; i < g.size(); ++i) {
    occupied_.data()[i] = static_cast<S>(place.data()[i] < trap(static_cast<double>(g.data()[i]), i).share_high());
  }
}

template <class S>
void Telegraph<S>::advance_time(const Matrix<S>& g, double seconds, std::uint64_t step) {
  if (!active() || seconds == 0) return;
  const Matrix<double> draw =
      draw_uniform(identity_, Purpose::telegraph, step, occupied_.rows(), occupied_.cols(), threads_);
  for (Index i = 0; i < occupied_.size(); ++i) {
    if (amplitude_.data()[i] == 0) continue;
    const TrapValues own = trap(static_cast<double>(g.data()[i]), i);
    const double p = own.share_high();
    const double rate = 1 / own.high_s + 1 / own.low_s;
    // P(1 after t | s) = p + (s − p) exp(−t/τ_c); as the probability of a change, exact also for short times.
    const double moved = -std::expm1(-seconds * rate / static_cast<double>(time_factor_.data()[i]));
    S& s = occupied_.data()[i];
    const double change = moved * (s > 0 ? 1 - p : p);
    if (draw.data()[i] < change) s = S(1) - s;
  }
}

template <class S>
double Telegraph<S>::correlation_time_s() const {
  if (!table_.has_traps()) return 1 / (1 / spec_.time_high_s + 1 / spec_.time_low_s);
  double longest = 0;
  for (const double level : table_.level_S) longest = std::max(longest, table_.trap_at(level).correlation_time_s());
  return longest;
}

template <class S>
double Telegraph<S>::relative_variance(double g, Index i) const {
  const TrapValues own = trap(g, i);
  const double p = own.share_high();
  return own.amplitude * own.amplitude * p * (1 - p);
}

template <class S>
void Telegraph<S>::add_to(const Matrix<S>& g, Matrix<S>& relative) const {
  if (!active()) return;
  if (!table_.has_traps()) {
    const auto p = static_cast<S>(spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s));
    relative.array() += amplitude_.array() * (occupied_.array() - p);
    return;
  }
  for (Index i = 0; i < g.size(); ++i) {
    if (amplitude_.data()[i] == 0) continue;
    const TrapValues own = trap(static_cast<double>(g.data()[i]), i);
    relative.data()[i] += static_cast<S>(own.amplitude * (static_cast<double>(occupied_.data()[i]) - own.share_high()));
  }
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
