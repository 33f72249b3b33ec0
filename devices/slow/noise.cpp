// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

constexpr double spacing = 2.302585092994046;  // h = ln 10: one time constant per decade
constexpr double least_gathered = 0.01;        // of a time constant, gathered before a process is advanced
constexpr std::uint32_t offset_part = 31;      // of the draws of a write (draw_lane)

/// Adds processes of these times with relative_variance(g, i) of each device.
template <class S, class Variance>
void add_moving(const DeviceCells<S>& cells, std::vector<double> times_s, std::vector<MovingDevices<S>>& out,
                const Variance& relative_variance) {
  MovingDevices<S> one{std::move(times_s), Matrix<S>(cells.g.rows(), cells.g.cols())};
  for (Index i = 0; i < cells.g.size(); ++i) {
    const auto g = static_cast<double>(cells.g.data()[i]);
    one.variance_S2.data()[i] = static_cast<S>(g * g * relative_variance(g, i));
  }
  out.push_back(std::move(one));
}

}  // namespace

template <class S>
Flicker<S>::Flicker(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& /*cells*/)
    : spec_(spec.flicker), table_(spec.noise), g_max_S_(spec.g_max_S), site_(site) {
  const double decades = std::log10(spec_.slowest_s / spec_.fastest_s);
  for (int k = 0; k <= static_cast<int>(std::lround(decades)); ++k) {
    times_s_.push_back(spec_.fastest_s * std::pow(10.0, k));
    processes_.push_back(site.normal<S>(
        Purpose::device_to_device, static_cast<std::uint64_t>(StaticDraw::flicker) + static_cast<std::uint64_t>(k)));
  }
  waiting_s_.assign(times_s_.size(), 0);
  clock_ = Matrix<S>::Zero(static_cast<Index>(times_s_.size()), 3);
}

template <class S>
Passed Flicker<S>::wait(DeviceCells<S>& /*cells*/, double seconds, std::uint64_t step, Gathering gathering) {
  Passed passed = Passed::unchanged;
  for (std::size_t k = 0; k < times_s_.size(); ++k) {
    waiting_s_[k] += seconds;
    const double needed = gathering == Gathering::allowed ? least_gathered * times_s_[k] : 0;
    if (waiting_s_[k] < needed || waiting_s_[k] == 0) continue;
    const double t = waiting_s_[k] / times_s_[k];
    const auto kept = static_cast<S>(std::exp(-t));
    const auto fresh = static_cast<S>(std::sqrt(-std::expm1(-2 * t)));
    Matrix<S>& x = processes_[k];
    x = kept * x + fresh * site_.normal<S>(Purpose::drift, step, static_cast<std::uint32_t>(k));
    waiting_s_[k] = 0;
    passed = Passed::seen;
  }
  return passed;
}

template <class S>
std::size_t Flicker<S>::faster_than(double split_s) const {
  return static_cast<std::size_t>(std::lower_bound(times_s_.begin(), times_s_.end(), split_s) - times_s_.begin());
}

template <class S>
void Flicker<S>::append_moving(const DeviceCells<S>& cells, double split_s, std::vector<MovingDevices<S>>& out) const {
  const std::vector<double> faster(times_s_.begin(), times_s_.begin() + static_cast<Index>(faster_than(split_s)));
  const auto add = [&](const std::vector<double>& times) {
    add_moving(cells, times, out, [&](double g, Index) { return relative_variance(g, times.front()); });
  };
  if (!faster.empty() && even()) return add(faster);
  for (const double time : faster) add({time});  // a variance of its own each
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
void Flicker<S>::show(const DeviceCells<S>& cells, double split_s, Matrix<S>& relative, Matrix<S>& /*offset_S*/) const {
  const Matrix<S>& g = cells.g;
  const std::size_t first = faster_than(split_s);
  if (first == processes_.size()) return;
  if (!even()) return add_weighted(g, first, relative);
  const auto width = static_cast<S>(std::sqrt(spacing));
  for_draw_chunks(g.size(), site_.threads, [&](Index, Index begin, Index end) {
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
  for_draw_chunks(g.size(), site_.threads, [&](Index, Index begin, Index end) {
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
std::vector<SlowArray<S>> Flicker<S>::state() {
  for (std::size_t k = 0; k < times_s_.size(); ++k) store_double(waiting_s_[k], static_cast<Index>(k), clock_);
  std::vector<SlowArray<S>> out{
      {"flicker_waiting_time", "s", "time not yet applied to each 1/f process: sums of the rows", &clock_}};
  for (std::size_t k = 0; k < times_s_.size(); ++k) {
    out.push_back({fmt::format("flicker_{}", k), "1",
                   fmt::format("1/f process of time constant {:g} s of each device", times_s_[k]), &processes_[k]});
  }
  return out;
}

template <class S>
void Flicker<S>::restored(DeviceCells<S>& /*cells*/) {
  for (std::size_t k = 0; k < times_s_.size(); ++k) waiting_s_[k] = load_double(clock_, static_cast<Index>(k));
}

NUDGE_BOTH_PRECISIONS_OF(Flicker)

template <class S>
Telegraph<S>::Telegraph(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& /*cells*/)
    : spec_(spec.telegraph), table_(spec.noise), site_(site) {
  const Matrix<double> trap = site.uniform(StaticDraw::trap);
  const auto spread = static_cast<S>(spec_.amplitude_spread);
  const auto mean = static_cast<S>(table_.has_traps() ? 1 : spec_.amplitude);
  amplitude_ = (mean * (S(1) + spread * site.normal<S>(StaticDraw::trap_amplitude).array()).abs() *
                (trap.array() < spec_.share).template cast<S>())
                   .matrix();
  time_factor_ = (static_cast<S>(spec_.time_spread) * site.normal<S>(StaticDraw::trap_time).array()).exp().matrix();
  const double p = spec_.time_high_s / (spec_.time_high_s + spec_.time_low_s);
  occupied_ = (site.uniform(StaticDraw::trap_state).array() < p).template cast<S>().matrix();
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
void Telegraph<S>::written(DeviceCells<S>& cells, const DeviceWrite<S>& write) {
  if (!write.programmed()) return;
  const Matrix<double> place = site_.uniform(StaticDraw::trap_state);
  for (Index i = 0; i < cells.g.size(); ++i) {
    const double high = trap(static_cast<double>(cells.g.data()[i]), i).share_high();
    occupied_.data()[i] = static_cast<S>(place.data()[i] < high);
  }
}

template <class S>
Passed Telegraph<S>::wait(DeviceCells<S>& cells, double seconds, std::uint64_t step, Gathering /*gathering*/) {
  if (seconds == 0) return Passed::unchanged;
  const Matrix<double> draw = site_.uniform(Purpose::telegraph, step);
  for (Index i = 0; i < occupied_.size(); ++i) {
    if (amplitude_.data()[i] == 0) continue;
    const TrapValues own = trap(static_cast<double>(cells.g.data()[i]), i);
    const double p = own.share_high();
    const double rate = 1 / own.high_s + 1 / own.low_s;
    // P(1 after t | s) = p + (s − p) exp(−t/τ_c); as the probability of a change, exact also for short times.
    const double moved = -std::expm1(-seconds * rate / static_cast<double>(time_factor_.data()[i]));
    S& s = occupied_.data()[i];
    const double change = moved * (s > 0 ? 1 - p : p);
    if (draw.data()[i] < change) s = S(1) - s;
  }
  return Passed::seen;
}

template <class S>
double Telegraph<S>::correlation_time_s() const {
  if (!table_.has_traps()) return 1 / (1 / spec_.time_high_s + 1 / spec_.time_low_s);
  double longest = 0;
  for (const double level : table_.level_S) longest = std::max(longest, table_.trap_at(level).correlation_time_s());
  return longest;
}

template <class S>
void Telegraph<S>::append_moving(const DeviceCells<S>& cells, double split_s,
                                 std::vector<MovingDevices<S>>& out) const {
  if (correlation_time_s() >= split_s) return;
  add_moving(cells, {correlation_time_s()}, out, [this](double g, Index i) {
    const TrapValues own = trap(g, i);
    const double p = own.share_high();
    return own.amplitude * own.amplitude * p * (1 - p);
  });
}

template <class S>
void Telegraph<S>::show(const DeviceCells<S>& cells, double split_s, Matrix<S>& relative,
                        Matrix<S>& /*offset_S*/) const {
  if (correlation_time_s() < split_s) return;
  const Matrix<S>& g = cells.g;
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
std::vector<SlowArray<S>> Telegraph<S>::state() {
  return {{"trap_state", "1", "1 where the trap of a device is in the state of higher conductance", &occupied_},
          {"trap_amplitude", "1", "relative amplitude of each device's telegraph noise", &amplitude_},
          {"trap_time_factor", "1", "factor on the mean times of each device's trap", &time_factor_}};
}

NUDGE_BOTH_PRECISIONS_OF(Telegraph)

template <class S>
WriteNoise<S>::WriteNoise(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells)
    : width_(static_cast<S>(spec.programming.write_noise) * cells.mean_step),
      site_(site),
      offset_(Matrix<S>::Zero(site.rows, site.cols)) {}

template <class S>
void WriteNoise<S>::written(DeviceCells<S>& cells, const DeviceWrite<S>& write) {
  const Matrix<S> drawn = site_.normal<S>(write.purpose, write.number, offset_part);
  for (Index i = 0; i < cells.g.size(); ++i) {
    if (write.moved(cells, i)) offset_.data()[i] = width_ * drawn.data()[i];
  }
}

template <class S>
void WriteNoise<S>::show(const DeviceCells<S>& /*cells*/, double /*split_s*/, Matrix<S>& /*relative*/,
                         Matrix<S>& offset_S) const {
  offset_S += offset_;
}

template <class S>
std::vector<SlowArray<S>> WriteNoise<S>::state() {
  return {{"write_offset", "S", "read minus stored conductance", &offset_}};
}

NUDGE_BOTH_PRECISIONS_OF(WriteNoise)

}  // namespace nudge
