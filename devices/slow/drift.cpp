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

// Parts of the draws of a write (draw_lane).
constexpr std::uint32_t relaxation_part = 28;
constexpr std::uint32_t drift_part = 29;
constexpr std::uint32_t decay_part = 30;

/// Leaves this share of the distance to `rest`.
template <class S>
void approach(S rest, const Eigen::Array<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>& share, Matrix<S>& g) {
  const auto left = rest + (g.array() - rest) * share;
  // Rounding must not take g away from rest, out of its bounds.
  g = left.max(g.array().min(rest)).min(g.array().max(rest)).matrix().eval();
}

}  // namespace

template <class S>
Retention<S>::Retention(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& /*cells*/)
    : spec_(spec.retention),
      g_max_S_(spec.g_max_S),
      rest_S_(spec.g_min_S + spec.retention.leak_rest * spec.window_S()),
      site_(site) {
  if (counts_ages(spec_)) age_s_ = Matrix<S>::Zero(site.rows, site.cols);
  if (spec_.drifts()) exponent_ = Matrix<S>::Zero(site.rows, site.cols);
  if (spec_.decays()) decay_draw_ = Matrix<S>::Zero(site.rows, site.cols);
  if (!spec_.leaks()) return;
  leak_s_ = Matrix<S>::Constant(site.rows, site.cols, static_cast<S>(spec_.leak_time_s));
  if (spec_.leak_spread > 0) {
    const Matrix<S> draw = site.normal<S>(StaticDraw::leak_time);
    leak_s_.array() *= (S(1) + static_cast<S>(spec_.leak_spread) * draw.array()).max(static_cast<S>(smallest_share));
  }
  shortest_leak_s_ = leak_s_.size() > 0 ? static_cast<double>(leak_s_.minCoeff()) : 1;
}

template <class S>
void Retention<S>::written(DeviceCells<S>& cells, const DeviceWrite<S>& write) {
  const auto normal = [&](bool used, std::uint32_t part) {
    return used ? site_.normal<S>(write.purpose, write.number, part) : Matrix<S>();
  };
  const Matrix<S> drift = normal(spec_.drifts(), drift_part);
  const Matrix<S> decay = normal(spec_.decays(), decay_part);
  for (Index i = 0; i < cells.g.size(); ++i) {
    if (!write.moved(cells, i)) continue;
    age_s_.data()[i] = 0;
    if (spec_.drifts()) {
      // |ν|: the sources' programs fold a negative draw over, which keeps drift a loss.
      const double r = std::abs(static_cast<double>(cells.g.data()[i])) / g_max_S_;
      const double nu = spec_.mean_exponent(r) + spec_.exponent_spread(r) * static_cast<double>(drift.data()[i]);
      exponent_.data()[i] = static_cast<S>(std::abs(nu));
    }
    if (spec_.decays()) decay_draw_.data()[i] = decay.data()[i];
  }
}

template <class S>
double Retention<S>::needed_s() const {
  double needed = std::numeric_limits<double>::infinity();
  if (spec_.leaks()) needed = leak_share * shortest_leak_s_;
  if (age_s_.size() == 0) return needed;
  const auto youngest = static_cast<double>(age_s_.minCoeff());
  if (spec_.drifts()) needed = std::min(needed, age_share * std::max(youngest, spec_.drift_start_s));
  if (spec_.decays()) needed = std::min(needed, age_share * std::max(youngest, spec_.decay_start_s));
  return needed;
}

template <class S>
Passed Retention<S>::wait(DeviceCells<S>& cells, double seconds, std::uint64_t /*step*/, Gathering gathering) {
  if (!waiting_.add(seconds, gathering, needed_s())) return Passed::unchanged;
  if (spec_.leaks()) leak(cells);
  if (counts_ages(spec_)) age(cells);
  waiting_.applied();
  return Passed::stored;
}

template <class S>
void Retention<S>::leak(DeviceCells<S>& cells) const {
  const auto waited = static_cast<S>(waiting_.seconds());
  approach<S>(static_cast<S>(rest_S_), (-waited / leak_s_.array()).exp(), cells.g);
}

template <class S>
void Retention<S>::age(DeviceCells<S>& cells) {
  for_draw_chunks(cells.g.size(), site_.threads, [&](Index, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto before = static_cast<double>(age_s_.data()[i]);
      const double after = before + waiting_.seconds();
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
std::vector<SlowArray<S>> Retention<S>::state() {
  std::vector<SlowArray<S>> out{waiting_.state("waiting_time", "drift, decay and leak")};
  if (counts_ages(spec_)) out.push_back({"age", "s", "time since the last write of each device", &age_s_});
  if (spec_.drifts()) out.push_back({"drift_exponent", "1", "drift exponent nu of each device", &exponent_});
  if (spec_.decays()) out.push_back({"decay_draw", "1", "standard normal number of each device's decay", &decay_draw_});
  if (spec_.leaks()) out.push_back({"leak_time", "s", "leak time of each device", &leak_s_});
  return out;
}

template <class S>
Passed ReadDisturb<S>::read(DeviceCells<S>& cells, double seconds, Gathering gathering) {
  if (!reading_.add(seconds, gathering, leak_share * time_s_)) return Passed::unchanged;
  const auto share = static_cast<S>(std::exp(-reading_.seconds() / time_s_));
  // Nothing crosses a bound of its device; what is beyond one (an unbounded model, drift) comes back as it may.
  const Matrix<S> lower = cells.g.cwiseMin(cells.lower), upper = cells.g.cwiseMax(cells.upper);
  approach<S>(target_S_, Matrix<S>::Constant(cells.g.rows(), cells.g.cols(), share).array(), cells.g);
  cells.g = cells.g.cwiseMax(lower).cwiseMin(upper);
  reading_.applied();
  return Passed::stored;
}

NUDGE_BOTH_PRECISIONS_OF(Retention)
NUDGE_BOTH_PRECISIONS_OF(ReadDisturb)

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
Relaxation<S>::Relaxation(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& /*cells*/)
    : law_(spec.relaxation),
      first_s_(spec.relaxation.time_s.front()),
      acceleration_(spec.relaxation.acceleration(spec.temperature_K)),
      site_(site),
      age_s_(Matrix<S>::Zero(site.rows, site.cols)),
      start_S_(Matrix<S>::Constant(site.rows, site.cols, static_cast<S>(spec.g_min_S))),
      write_(Matrix<S>::Zero(site.rows, site.cols)) {}

template <class S>
void Relaxation<S>::written(DeviceCells<S>& cells, const DeviceWrite<S>& write) {
  const Matrix<double> draw = site_.uniform(write.purpose, write.number, relaxation_part);
  for (Index i = 0; i < cells.g.size(); ++i) {
    if (!write.moved(cells, i)) continue;
    // Time that waits belongs to the cells as they were: it must not age this one.
    age_s_.data()[i] = static_cast<S>(-waiting_.seconds());
    start_S_.data()[i] = cells.g.data()[i];
    write_.data()[i] = static_cast<S>(std::floor(draw.data()[i] * write_numbers));
  }
}

template <class S>
Passed Relaxation<S>::wait(DeviceCells<S>& cells, double seconds, std::uint64_t /*step*/, Gathering gathering) {
  if (cells.g.size() == 0) return Passed::unchanged;
  const double youngest = std::max(static_cast<double>(age_s_.minCoeff()), first_s_);
  if (!waiting_.add(acceleration_ * seconds, gathering, gathered_share * youngest)) return Passed::unchanged;
  const RngKey key = {site_.identity.seed, Purpose::drift, site_.identity.entity};
  for_draw_chunks(cells.g.size(), site_.threads, [&](Index, Index begin, Index end) {
    std::vector<double> normals;
    std::vector<double> uniforms;
    std::vector<double> volatilities;
    for (Index i = begin; i < end; ++i) {
      const double age = static_cast<double>(age_s_.data()[i]) + waiting_.seconds();
      age_s_.data()[i] = static_cast<S>(age);
      const auto write = static_cast<std::uint64_t>(write_.data()[i]);
      normals.resize(law_.draws(age));
      uniforms.resize(normals.size());
      fill_normal<double>(key, write, draw_lane(site_.identity, i, normal_part), normals);
      fill_uniform<double>(key, write, draw_lane(site_.identity, i, uniform_part), uniforms);
      if (law_.is_volatile()) {
        volatilities.resize(normals.size());
        fill_normal<double>(key, write, draw_lane(site_.identity, i, volatility_part), volatilities);
      }
      const auto start = static_cast<double>(start_S_.data()[i]);
      cells.g.data()[i] = static_cast<S>(law_.conductance_S(start, age, {normals, uniforms, volatilities}));
    }
  });
  waiting_.applied();
  return Passed::stored;
}

template <class S>
std::vector<SlowArray<S>> Relaxation<S>::state() {
  return {waiting_.state("relaxation_waiting_time", "relaxation"),
          {"relaxation_age", "s", "time since the last write of each device", &age_s_},
          {"relaxation_start", "S", "conductance of each device as written", &start_S_},
          {"relaxation_write", "1", "number of the last write of each device, which names its path", &write_}};
}

NUDGE_BOTH_PRECISIONS_OF(Relaxation)

}  // namespace nudge
