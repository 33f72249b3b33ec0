// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nudge {
namespace {

// Time gathered before it is applied, as a share of the youngest age (drift, decay) and of the shortest leak time. Large
// enough that a change is far above the rounding of a float (relative 1e-3 ν, 1e-4), small enough not to matter.
constexpr double age_share = 1e-3;
constexpr double leak_share = 1e-4;

// A spread must not turn a leak time around (chosen as for pulses in DeviceArray).
constexpr double smallest_share = 0.01;

}  // namespace

template <class S>
Retention<S>::Retention(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : spec_(spec.retention),
      g_max_S_(spec.g_max_S),
      rest_S_(spec.g_min_S + spec.retention.leak_rest * spec.window_S()),
      threads_(threads),
      clock_(Matrix<S>::Zero(1, 3)) {
  if (counts_from_writes()) age_s_ = Matrix<S>::Zero(rows, cols);
  if (spec_.drifts()) exponent_ = Matrix<S>::Zero(rows, cols);
  if (spec_.decays()) decay_draw_ = Matrix<S>::Zero(rows, cols);
  if (!spec_.leaks()) return;
  leak_s_ = Matrix<S>::Constant(rows, cols, static_cast<S>(spec_.leak_time_s));
  if (spec_.leak_spread > 0) {
    const Matrix<S> draw = draw_normal<S>(identity, Purpose::device_to_device,
                                          static_cast<std::uint64_t>(StaticDraw::leak_time), rows, cols, threads);
    leak_s_.array() *= (S(1) + static_cast<S>(spec_.leak_spread) * draw.array()).max(static_cast<S>(smallest_share));
  }
  shortest_leak_s_ = rows * cols > 0 ? static_cast<double>(leak_s_.minCoeff()) : 1;
}

template <class S>
void Retention<S>::restart(Index i, S g, S drift_draw, S decay_draw) {
  age_s_.data()[i] = 0;
  if (spec_.drifts()) {
    // |ν|: the sources' programs fold a negative draw over, which keeps drift a loss.
    const double r = std::abs(static_cast<double>(g)) / g_max_S_;
    const double nu = spec_.mean_exponent(r) + spec_.exponent_spread(r) * static_cast<double>(drift_draw);
    exponent_.data()[i] = static_cast<S>(std::abs(nu));
  }
  if (spec_.decays()) decay_draw_.data()[i] = decay_draw;
}

template <class S>
double Retention<S>::gather() const {
  double needed = std::numeric_limits<double>::infinity();
  if (spec_.leaks()) needed = leak_share * shortest_leak_s_;
  if (!counts_from_writes() || age_s_.size() == 0) return needed;
  const auto youngest = static_cast<double>(age_s_.minCoeff());
  if (spec_.drifts()) needed = std::min(needed, age_share * std::max(youngest, spec_.drift_start_s));
  if (spec_.decays()) needed = std::min(needed, age_share * std::max(youngest, spec_.decay_start_s));
  return needed;
}

template <class S>
bool Retention<S>::advance_time(DeviceCells<S>& cells, double seconds, Gathering gathering) {
  if (!active()) return false;
  waiting_s_ += seconds;
  if (gathering == Gathering::allowed && waiting_s_ < gather()) return false;
  if (spec_.leaks()) leak(cells);
  if (counts_from_writes()) age(cells);
  waiting_s_ = 0;
  return true;
}

template <class S>
void Retention<S>::leak(DeviceCells<S>& cells) const {
  const auto rest = static_cast<S>(rest_S_);
  const auto waited = static_cast<S>(waiting_s_);
  const auto g = cells.g.array();
  const auto left = rest + (g - rest) * (-waited / leak_s_.array()).exp();
  // Rounding must not take g away from rest, out of its bounds.
  cells.g = left.max(g.min(rest)).min(g.max(rest)).matrix();
}

template <class S>
void Retention<S>::age(DeviceCells<S>& cells) {
  for_draw_chunks(cells.g.size(), threads_, [&](Index, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto before = static_cast<double>(age_s_.data()[i]);
      const double after = before + waiting_s_;
      age_s_.data()[i] = static_cast<S>(after);
      S& stored = cells.g.data()[i];
      auto g = static_cast<double>(stored);
      const double t0 = spec_.drift_start_s;
      if (spec_.drifts() && after > t0) {
        g *= std::pow(after / std::max(before, t0), -static_cast<double>(exponent_.data()[i]));
      }
      const double t1 = spec_.decay_start_s;
      if (spec_.decays() && after > t1) {
        const auto xi = static_cast<double>(decay_draw_.data()[i]);
        const double span = std::log(after / std::max(before, t1));
        g += (spec_.decay_slope_S + xi * spec_.decay_spread_slope_S) * span;
        if (before < t1) g += xi * spec_.decay_spread_S;
        g = std::clamp(g, static_cast<double>(cells.lower.data()[i]), static_cast<double>(cells.upper.data()[i]));
      }
      stored = static_cast<S>(g);
    }
  });
}

template <class S>
void Retention<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!active()) return;
  store_double(waiting_s_, 0, clock_);
  out.push_back({"waiting_time", "s", "time not yet applied to drift, decay and leak: the sum of the three", &clock_});
  if (counts_from_writes()) out.push_back({"age", "s", "time since the last write of each device", &age_s_});
  if (spec_.drifts()) out.push_back({"drift_exponent", "1", "drift exponent nu of each device", &exponent_});
  if (spec_.decays()) out.push_back({"decay_draw", "1", "standard normal number of each device's decay", &decay_draw_});
  if (spec_.leaks()) out.push_back({"leak_time", "s", "leak time of each device", &leak_s_});
}

NUDGE_BOTH_PRECISIONS_OF(Retention)

namespace {

constexpr double gathered_share =
    1e-3;  // of the youngest age: a change far above a float's rounding, too small to matter
constexpr double write_numbers = 0x1p24;  // whole numbers that a float holds

// Parts of the draws (draw_lane) of a cell, which is its own chunk; flicker noise uses 0 to 20 with the same purpose.
constexpr std::uint32_t normal_part = 27;
constexpr std::uint32_t uniform_part = 28;
constexpr std::uint32_t volatility_part = 29;

}  // namespace

template <class S>
Relaxation<S>::Relaxation(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads)
    : active_(spec.relaxation.active()),
      law_(spec.relaxation),
      identity_(identity),
      threads_(threads),
      clock_(Matrix<S>::Zero(1, 3)) {
  if (!active_) return;
  first_s_ = spec.relaxation.time_s.front();
  acceleration_ = spec.relaxation.acceleration();
  age_s_ = Matrix<S>::Zero(rows, cols);
  start_S_ = Matrix<S>::Constant(rows, cols, static_cast<S>(spec.g_min_S));
  write_ = Matrix<S>::Zero(rows, cols);
}

template <class S>
void Relaxation<S>::restart(Index i, S g, double draw) {
  // Time that waits belongs to the cells as they were: it must not age this one.
  age_s_.data()[i] = static_cast<S>(-waiting_s_);
  start_S_.data()[i] = g;
  write_.data()[i] = static_cast<S>(std::floor(draw * write_numbers));
}

template <class S>
bool Relaxation<S>::advance_time(DeviceCells<S>& cells, double seconds, Gathering gathering) {
  if (!active_ || cells.g.size() == 0) return false;
  waiting_s_ += acceleration_ * seconds;
  const double youngest = std::max(static_cast<double>(age_s_.minCoeff()), first_s_);
  if (waiting_s_ == 0 || (gathering == Gathering::allowed && waiting_s_ < gathered_share * youngest)) return false;
  const RngKey key = {identity_.seed, Purpose::drift, identity_.entity};
  for_draw_chunks(cells.g.size(), threads_, [&](Index, Index begin, Index end) {
    std::vector<double> normals;
    std::vector<double> uniforms;
    std::vector<double> volatilities;
    for (Index i = begin; i < end; ++i) {
      const double age = static_cast<double>(age_s_.data()[i]) + waiting_s_;
      age_s_.data()[i] = static_cast<S>(age);
      const auto write = static_cast<std::uint64_t>(write_.data()[i]);
      normals.resize(law_.draws(age));
      uniforms.resize(normals.size());
      fill_normal<double>(key, write, draw_lane(identity_, i, normal_part), normals);
      fill_uniform<double>(key, write, draw_lane(identity_, i, uniform_part), uniforms);
      if (law_.is_volatile()) {
        volatilities.resize(normals.size());
        fill_normal<double>(key, write, draw_lane(identity_, i, volatility_part), volatilities);
      }
      const auto start = static_cast<double>(start_S_.data()[i]);
      cells.g.data()[i] = static_cast<S>(law_.conductance_S(start, age, {normals, uniforms, volatilities}));
    }
  });
  waiting_s_ = 0;
  return true;
}

template <class S>
void Relaxation<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!active_) return;
  store_double(waiting_s_, 0, clock_);
  out.push_back({"relaxation_waiting_time", "s", "time not yet applied to relaxation: the sum of the three", &clock_});
  out.push_back({"relaxation_age", "s", "time since the last write of each device", &age_s_});
  out.push_back({"relaxation_start", "S", "conductance of each device as written", &start_S_});
  out.push_back({"relaxation_write", "1", "number of the last write of each device, which names its path", &write_});
}

NUDGE_BOTH_PRECISIONS_OF(Relaxation)

}  // namespace nudge
