// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "devices/device_draws.hpp"

namespace nudge {
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

template class Relaxation<float>;
template class Relaxation<double>;

}  // namespace nudge
