// SPDX-License-Identifier: Apache-2.0
#include "devices/device_array.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/spreads.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// A Gaussian spread must not turn a bound or a pulse around: its size counts, as in the source of the spreads, and at least
// this share of the mean (chosen by us: the device is all but dead).
constexpr double smallest_share = 0.01;

// Parts of the draws of a write (draw_lane): 0 is the programming error or update noise itself.
constexpr std::uint32_t relaxation_part = 28;
constexpr std::uint32_t drift_part = 29;
constexpr std::uint32_t decay_part = 30;
constexpr std::uint32_t offset_part = 31;

}  // namespace

template <class S>
DeviceArray<S>::DeviceArray(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads,
                            const Matrix<double>* stuck_S)
    : spec_(spec),
      identity_(identity),
      threads_(threads),
      model_(device_model(spec.model).make(spec)),
      retention_(spec, rows, cols, identity, threads),
      relaxation_(spec, rows, cols, identity, threads),
      telegraph_(spec, rows, cols, identity, threads),
      flicker_(spec, rows, cols, identity, threads),
      heat_(spec),
      neighbours_(spec),
      follows_writes_(retention_.counts_from_writes() || relaxation_.active() || spec.programming.write_noise > 0),
      noisy_(telegraph_.active() || flicker_.active() || spec.programming.write_noise > 0) {
  cells_.reference = static_cast<S>(spec.g_reference_S());
  cells_.mean_step = static_cast<S>(spec.window_S() / spec.pulses);
  cells_.g = Matrix<S>::Constant(rows, cols, static_cast<S>(spec.g_min_S));
  cells_.writes = Matrix<S>::Zero(rows, cols);
  cells_.lower.resize(rows, cols);
  cells_.upper.resize(rows, cols);
  cells_.step_up.resize(rows, cols);
  cells_.step_down.resize(rows, cols);
  sample();
  if (model_->bounded()) cells_.g = cells_.g.cwiseMax(cells_.lower).cwiseMin(cells_.upper);
  sample_faults();
  if (stuck_S != nullptr) stick(*stuck_S);
  sample_life();
  if (spec.programming.write_noise > 0) offset_ = Matrix<S>::Zero(rows, cols);
  before_ = follows_writes_ ? cells_.g : Matrix<S>();
  pin_faults();
  show();
}

template <class S>
Matrix<S> DeviceArray<S>::normal(Purpose purpose, std::uint64_t step, std::uint32_t part) const {
  return draw_normal<S>(identity_, purpose, step, cells_.g.rows(), cells_.g.cols(), threads_, part);
}

template <class S>
void DeviceArray<S>::sample() {
  const double up_bias = std::min(spec_.asymmetry, 0.0);
  const double down_bias = -std::max(spec_.asymmetry, 0.0);
  const auto draw = [&](StaticDraw which) {
    return normal(Purpose::device_to_device, static_cast<std::uint64_t>(which));
  };
  if (!spec_.joint_covariance.empty()) {
    draw_joint<S>(spec_, draw, cells_);
    return model_->prepare(cells_, StaticNormals<S>(draw));
  }
  const auto spread = [&](double sigma, StaticDraw which) -> Matrix<S> {
    if (sigma == 0) return Matrix<S>::Zero(cells_.g.rows(), cells_.g.cols());
    return static_cast<S>(sigma) * draw(which);
  };
  const auto least = static_cast<S>(smallest_share);
  const auto above = static_cast<S>(spec_.g_max_S - spec_.g_reference_S());
  const auto below = static_cast<S>(spec_.g_reference_S() - spec_.g_min_S);
  const S reference = cells_.reference;
  cells_.upper =
      (reference + above * (S(1) + spread(spec_.upper_bound_spread, StaticDraw::upper_bound).array()).abs().max(least))
          .matrix();
  cells_.lower =
      (reference - below * (S(1) + spread(spec_.lower_bound_spread, StaticDraw::lower_bound).array()).abs().max(least))
          .max(S(0))
          .matrix();
  Matrix<S> gain = spread(spec_.step_spread, StaticDraw::step);
  if (spec_.step_log_spread > 0) {
    const auto sigma = static_cast<S>(spec_.step_log_spread);
    gain.array() += (sigma * draw(StaticDraw::step).array()).exp() - S(1);
  }
  const Matrix<S> tilt = spread(spec_.asymmetry_spread, StaticDraw::asymmetry);
  cells_.step_up =
      (cells_.mean_step * (static_cast<S>(1 + up_bias) + gain.array() + tilt.array()).abs().max(least)).matrix();
  cells_.step_down =
      (cells_.mean_step * (static_cast<S>(1 + down_bias) + gain.array() - tilt.array()).abs().max(least)).matrix();
  model_->prepare(cells_, StaticNormals<S>(draw));
}

template <class S>
void DeviceArray<S>::sample_faults() {
  const FaultSpec& f = spec_.faults;
  if (!f.any()) return;
  const auto uniform = [&](StaticDraw which) {
    return draw_uniform(identity_, Purpose::device_to_device, static_cast<std::uint64_t>(which), cells_.g.rows(),
                        cells_.g.cols(), threads_);
  };
  const Matrix<double> kind = uniform(StaticDraw::fault);
  const Matrix<double> place = uniform(StaticDraw::fault_place);
  for (Index i = 0; i < kind.size(); ++i) {
    const double u = kind.data()[i];
    if (u >= f.low + f.high + f.random) continue;
    const double at = u < f.low ? 0 : u < f.low + f.high ? 1 : place.data()[i];
    const S lower = cells_.lower.data()[i];
    const S upper = cells_.upper.data()[i];
    // The sum may round above the bound.
    faults_.push_back({i, std::min(lower + static_cast<S>(at) * (upper - lower), upper)});
  }
}

// Behind those that are drawn: what was measured of a device counts.
template <class S>
void DeviceArray<S>::stick(const Matrix<double>& stuck_S) {
  NUDGE_EXPECT(stuck_S.rows() == cells_.g.rows() && stuck_S.cols() == cells_.g.cols());
  for (Index i = 0; i < stuck_S.size(); ++i) {
    const double g = stuck_S.data()[i];
    if (!std::isnan(g)) faults_.push_back({i, static_cast<S>(g)});
  }
}

template <class S>
void DeviceArray<S>::sample_life() {
  if (spec_.endurance_failure == EnduranceFailure::none) return;
  const double sigma = spec_.endurance_spread;
  // Lognormal with the mean of the source: exp(σ ξ − σ²/2).
  const Matrix<S> draw = normal(Purpose::device_to_device, static_cast<std::uint64_t>(StaticDraw::life));
  const auto mean = static_cast<S>(spec_.endurance);
  cells_.life =
      (mean * (static_cast<S>(sigma) * draw.array() - static_cast<S>(0.5 * sigma * sigma)).exp()).max(S(1)).matrix();
}

template <class S>
void DeviceArray<S>::bury() {
  if (cells_.life.size() == 0) return;
  worn_.clear();
  for (Index i = 0; i < cells_.g.size(); ++i) {
    if (cells_.writes.data()[i] >= cells_.life.data()[i]) worn_.push_back({i, cells_.g.data()[i]});
  }
}

template <class S>
void DeviceArray<S>::pin_faults() {
  for (const Fault& fault : faults_) cells_.g.data()[fault.place] = fault.g;
  for (const Fault& dead : worn_) cells_.g.data()[dead.place] = dead.g;
}

template <class S>
void DeviceArray<S>::show() {
  if (!noisy_) return;
  Matrix<S> relative = Matrix<S>::Zero(cells_.g.rows(), cells_.g.cols());
  if (!telegraph_moves()) telegraph_.add_to(cells_.g, relative);
  flicker_.add_to(cells_.g, moving_s_, relative);
  seen_ = (cells_.g.array() * (S(1) + relative.array())).matrix();
  if (offset_.size() > 0) seen_ += offset_;
  if (model_->bounded()) seen_ = seen_.cwiseMax(S(0));
}

template <class S>
void DeviceArray<S>::written(Purpose purpose, std::uint64_t step) {
  pin_faults();
  bury();
  if (follows_writes_) {
    const bool drifts = spec_.retention.drifts();
    const bool decays = spec_.retention.decays();
    const Matrix<S> drift = drifts ? normal(purpose, step, drift_part) : Matrix<S>();
    const Matrix<S> decay = decays ? normal(purpose, step, decay_part) : Matrix<S>();
    const Matrix<S> offset = offset_.size() > 0 ? normal(purpose, step, offset_part) : Matrix<S>();
    const bool relaxes = relaxation_.active();
    const Matrix<double> path =
        relaxes ? draw_uniform(identity_, purpose, step, cells_.g.rows(), cells_.g.cols(), threads_, relaxation_part)
                : Matrix<double>();
    const S width = static_cast<S>(spec_.programming.write_noise) * cells_.mean_step;
    for (Index i = 0; i < cells_.g.size(); ++i) {
      const S g = cells_.g.data()[i];
      if (g == before_.data()[i]) continue;
      if (drifts || decays) retention_.restart(i, g, drifts ? drift.data()[i] : 0, decays ? decay.data()[i] : 0);
      if (relaxes) relaxation_.restart(i, g, path.data()[i]);
      if (offset_.size() > 0) offset_.data()[i] = width * offset.data()[i];
    }
    before_ = cells_.g;
  }
  show();
}

template <class S>
void DeviceArray<S>::program(const Matrix<S>& target, std::uint64_t number) {
  NUDGE_EXPECT(target.rows() == cells_.g.rows() && target.cols() == cells_.g.cols());
  cells_.g = target;
  const auto uniform_sigma = static_cast<S>(spec_.programming_error * spec_.window_S());
  if (spec_.programming.state_dependent()) {
    const Matrix<S> draw = normal(Purpose::programming_error, number);
    for (Index i = 0; i < draw.size(); ++i) {
      const double fit = spec_.programming.sigma_S(static_cast<double>(target.data()[i]), spec_.g_max_S);
      cells_.g.data()[i] += std::hypot(uniform_sigma, static_cast<S>(fit)) * draw.data()[i];
    }
  } else if (spec_.programming_error > 0) {
    cells_.g += uniform_sigma * normal(Purpose::programming_error, number);
  }
  if (model_->bounded()) cells_.g = cells_.g.cwiseMax(cells_.lower).cwiseMin(cells_.upper);
  if (follows_writes_) before_.setConstant(std::numeric_limits<S>::quiet_NaN());  // every device is written
  telegraph_.programmed(cells_.g);
  written(Purpose::programming_error, number);
}

template <class S>
bool DeviceArray<S>::advance_time(double seconds, std::uint64_t step, Gathering gathering) {
  NUDGE_EXPECT(seconds >= 0 && std::isfinite(seconds));
  bool changed = retention_.advance_time(cells_, seconds, gathering);
  changed = relaxation_.advance_time(cells_, seconds, gathering) || changed;
  if (changed) {
    pin_faults();
    if (follows_writes_) before_ = cells_.g;
  }
  if (telegraph_.active() && seconds > 0) {
    telegraph_.advance_time(cells_.g, seconds, step);
    changed = true;
  }
  changed = flicker_.advance_time(seconds, step, gathering) || changed;
  if (changed) show();
  return changed;
}

template <class S>
void DeviceArray<S>::leave_moving(double seconds) {
  moving_s_ = seconds;
  show();
}

template <class S>
std::vector<typename DeviceArray<S>::Moving> DeviceArray<S>::moving() const {
  std::vector<Moving> all;
  const auto add = [&](std::vector<double> times, auto relative_variance) {
    Moving one{std::move(times), Matrix<S>(cells_.g.rows(), cells_.g.cols())};
    for (Index i = 0; i < cells_.g.size(); ++i) {
      const auto g = static_cast<double>(cells_.g.data()[i]);
      one.variance_S2.data()[i] = static_cast<S>(g * g * relative_variance(g, i));
    }
    all.push_back(std::move(one));
  };
  std::vector<double> faster = flicker_.active() ? flicker_.faster_than(moving_s_) : std::vector<double>();
  const auto add_flicker = [&](const std::vector<double>& times) {
    const double first = times.front();
    add(times, [this, first](double g, Index) { return flicker_.relative_variance(g, first); });
  };
  if (!faster.empty() && flicker_.even()) {
    add_flicker(faster);
  } else {
    for (const double time : faster) add_flicker({time});  // a variance of its own each
  }
  if (telegraph_moves()) {
    add({telegraph_.correlation_time_s()}, [this](double g, Index i) { return telegraph_.relative_variance(g, i); });
  }
  return all;
}

template <class S>
std::vector<SlowArray<S>> DeviceArray<S>::slow_state() {
  std::vector<SlowArray<S>> out;
  retention_.append_state(out);
  relaxation_.append_state(out);
  telegraph_.append_state(out);
  flicker_.append_state(out);
  heat_.append_state(out);
  if (cells_.life.size() > 0) out.push_back({"life", "1", "pulses that each device lasts", &cells_.life});
  if (offset_.size() > 0) out.push_back({"write_offset", "S", "what is seen minus what is stored", &offset_});
  return out;
}

template <class S>
void DeviceArray<S>::state_restored() {
  retention_.state_restored();
  relaxation_.state_restored();
  flicker_.state_restored();
  heat_.state_restored();
  bury();
  if (follows_writes_) before_ = cells_.g;
  show();
}

template <class S>
UpdateRequest<S> DeviceArray<S>::request(const Matrix<S>& delta, std::uint64_t number) const {
  UpdateRequest<S> request{delta};
  request.mode = spec_.update;
  request.noise = static_cast<S>(spec_.update_noise);
  request.noise_floor = static_cast<S>(spec_.update_noise_floor);
  request.seed = identity_.seed;
  request.entity = identity_.entity;
  request.side = identity_.side;
  request.number = number;
  request.threads = threads_;
  return request;
}

template <class S>
PulseCount DeviceArray<S>::send(const UpdateRequest<S>& request) {
  heat_.begin(cells_);
  neighbours_.begin(cells_);
  const PulseCount sent = model_->update(cells_, request);
  heat_.end(cells_, request, sent);
  heat_.add(neighbours_.end(cells_, spec_, request, {}, changed_));
  written(Purpose::update_noise, request.number);
  return sent;
}

template <class S>
PulseCount DeviceArray<S>::update(const Matrix<S>& delta, S factor, std::uint64_t number) {
  UpdateRequest<S> wanted = request(delta, number);
  wanted.factor = factor;
  return send(wanted);
}

template <class S>
PulseCount DeviceArray<S>::pulse(const Matrix<S>& counts, std::uint64_t number) {
  UpdateRequest<S> wanted = request(counts, number);
  wanted.mode = PulseMode::continuous;
  wanted.pulse = 1;
  return send(wanted);
}

template <class S>
PulseCount DeviceArray<S>::pulse(const std::vector<Index>& which, const Matrix<S>& counts, std::uint64_t number) {
  return pulse(which, counts, number, {});
}

template <class S>
PulseCount DeviceArray<S>::pulse(const std::vector<Index>& which, const Matrix<S>& counts, std::uint64_t number,
                                 const PulseChange& change) {
  const ChangedPulses::Kind* other = change.none() ? nullptr : &changed_.at(spec_, change);
  DeviceCells<S> part = gather(cells_, which);
  UpdateRequest<S> wanted = request(counts, number);
  wanted.mode = PulseMode::continuous;
  wanted.pulse = 1;
  heat_.begin(part);
  neighbours_.begin(cells_);
  const PulseCount sent = (other == nullptr ? *model_ : *other->model).update(part, wanted);
  heat_.end(part, wanted, sent, other == nullptr ? nullptr : &other->pulses);
  scatter(part, which, cells_);
  if (neighbours_.active()) {
    Matrix<S> asked = Matrix<S>::Zero(cells_.g.rows(), cells_.g.cols());
    for (std::size_t k = 0; k < which.size(); ++k) asked.data()[which[k]] = counts.data()[k];
    heat_.add(neighbours_.end(cells_, spec_, request(asked, number), change, changed_));
  }
  written(Purpose::update_noise, number);
  return sent;
}

template <class S>
PulseCount DeviceArray<S>::pulse_both(const Matrix<S>& counts_up, const Matrix<S>& counts_down, std::uint64_t number) {
  NUDGE_EXPECT(counts_up.size() == cells_.g.size() && counts_down.size() == cells_.g.size());
  const Index cols = cells_.g.cols();
  for (Matrix<S>& run : runs_) run.resize(cells_.g.rows(), cols);
  const RngKey key = {identity_.seed, Purpose::pulse_order, identity_.entity};
  parallel_for(cells_.g.rows(), threads_, [&](Index row, int) {
    S* __restrict before = &runs_[0](row, 0);
    S* __restrict between = &runs_[1](row, 0);
    S* __restrict after = &runs_[2](row, 0);
    const S* __restrict up = &counts_up(row, 0);
    const S* __restrict down = &counts_down(row, 0);
    // One uniform number in [0, 1) is both coins: its first and its second binary digit.
    const auto lane = 2 * static_cast<std::uint32_t>(row) + identity_.side;
    fill_uniform<S>(key, number, lane, {after, static_cast<std::size_t>(cols)});
    for (Index k = 0; k < cols; ++k) {
      const S split_up = std::floor(S(2) * after[k]);
      const S odd = std::floor(S(4) * after[k]) - S(2) * split_up;
      const S split = split_up * up[k] - (S(1) - split_up) * down[k];
      const S half = std::trunc((split + std::copysign(odd, split)) / S(2));
      before[k] = half;
      between[k] = (S(1) - split_up) * up[k] - split_up * down[k];
      after[k] = split - half;
    }
  });
  PulseCount sent = pulse(runs_[0], number);
  sent += pulse(runs_[1], number + 1);
  sent += pulse(runs_[2], number + 2);
  return sent;
}

NUDGE_BOTH_PRECISIONS_OF(DeviceArray)

}  // namespace nudge
