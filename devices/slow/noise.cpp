// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

constexpr double spacing = 2.302585092994046;  // h = ln 10: one time constant per decade
constexpr double least_gathered = 0.01;        // of a time constant, gathered before a process is advanced

}  // namespace

template <class S>
Flicker<S>::Flicker(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : spec_(spec.flicker), table_(spec.noise), g_max_S_(spec.g_max_S), identity_(identity), threads_(threads) {
  if (!active()) return;
  const double decades = std::log10(spec_.slowest_s / spec_.fastest_s);
  for (int k = 0; k <= static_cast<int>(std::lround(decades)); ++k) {
    times_s_.push_back(spec_.fastest_s * std::pow(10.0, k));
    processes_.push_back(draw_normal<S>(identity, Purpose::device_to_device,
                                        static_cast<std::uint64_t>(StaticDraw::flicker) + static_cast<std::uint64_t>(k),
                                        rows, cols, threads));
  }
  waiting_s_.assign(times_s_.size(), 0);
  clock_ = Matrix<S>::Zero(static_cast<Index>(times_s_.size()), 3);
}

template <class S>
bool Flicker<S>::advance_time(double seconds, std::uint64_t step, Gathering gathering) {
  bool changed = false;
  for (std::size_t k = 0; k < times_s_.size(); ++k) {
    waiting_s_[k] += seconds;
    const double needed = gathering == Gathering::allowed ? least_gathered * times_s_[k] : 0;
    if (waiting_s_[k] < needed || waiting_s_[k] == 0) continue;
    const double t = waiting_s_[k] / times_s_[k];
    const auto kept = static_cast<S>(std::exp(-t));
    const auto fresh = static_cast<S>(std::sqrt(-std::expm1(-2 * t)));
    Matrix<S>& x = processes_[k];
    x = kept * x + fresh * draw_normal<S>(identity_, Purpose::drift, step, x.rows(), x.cols(), threads_,
                                          static_cast<std::uint32_t>(k));
    waiting_s_[k] = 0;
    changed = true;
  }
  return changed;
}

template <class S>
std::vector<double> Flicker<S>::faster_than(double split_s) const {
  std::vector<double> times;
  for (const double time : times_s_) {
    if (time < split_s) times.push_back(time);
  }
  return times;
}

template <class S>
double Flicker<S>::q(double g) const {
  return table_.has_flicker() ? table_.flicker_at(std::abs(g)) : spec_.q(std::abs(g) / g_max_S_);
}

template <class S>
double Flicker<S>::exponent(double g) const {
  return table_.has_flicker() ? table_.exponent_at(std::abs(g), spec_.exponent) : spec_.exponent;
}

template <class S>
double Flicker<S>::relative_variance(double g, double tau_s) const {
  const double size = q(g);
  return even() ? size * size * spacing : flicker_variance(size, exponent(g), tau_s);
}

template <class S>
void Flicker<S>::add_to(const Matrix<S>& g, double split_s, Matrix<S>& relative) const {
  const std::size_t first = faster_than(split_s).size();  // time constants ascend
  if (!active() || first == processes_.size()) return;
  if (!even()) return add_weighted(g, first, relative);
  const auto width = static_cast<S>(std::sqrt(spacing));
  for_draw_chunks(g.size(), threads_, [&](Index, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      S sum = 0;
      for (std::size_t k = first; k < processes_.size(); ++k) sum += processes_[k].data()[i];
      const double r = std::abs(static_cast<double>(g.data()[i])) / g_max_S_;
      relative.data()[i] += static_cast<S>(spec_.q(r)) * width * sum;
    }
  });
}

template <class S>
void Flicker<S>::add_weighted(const Matrix<S>& g, std::size_t first, Matrix<S>& relative) const {
  for_draw_chunks(g.size(), threads_, [&](Index, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto own = static_cast<double>(g.data()[i]);
      // √v_k grows by the same factor from one process to the next: one power, not one for each.
      const auto growth = static_cast<S>(std::pow(10.0, (exponent(own) - 1) / 2));
      S sum = 0;
      for (std::size_t k = processes_.size(); k > first; --k) sum = sum * growth + processes_[k - 1].data()[i];
      relative.data()[i] += static_cast<S>(std::sqrt(relative_variance(own, times_s_[first]))) * sum;
    }
  });
}

template <class S>
void Flicker<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!active()) return;
  for (std::size_t k = 0; k < times_s_.size(); ++k) store_double(waiting_s_[k], static_cast<Index>(k), clock_);
  out.push_back({"flicker_waiting_time", "s", "time not yet applied to each 1/f process: sums of the rows", &clock_});
  for (std::size_t k = 0; k < times_s_.size(); ++k) {
    out.push_back({fmt::format("flicker_{}", k), "1",
                   fmt::format("1/f process of time constant {:g} s of each device", times_s_[k]), &processes_[k]});
  }
}

template <class S>
void Flicker<S>::state_restored() {
  for (std::size_t k = 0; k < times_s_.size(); ++k) waiting_s_[k] = load_double(clock_, static_cast<Index>(k));
}

NUDGE_BOTH_PRECISIONS_OF(Flicker)

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

NUDGE_BOTH_PRECISIONS_OF(Telegraph)

}  // namespace nudge
