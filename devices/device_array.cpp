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

}  // namespace

template <class S>
DeviceArray<S>::DeviceArray(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads,
                            const Matrix<double>* stuck_S)
    : spec_(spec),
      site_{rows, cols, identity, threads, stuck_S},
      model_(device_model(spec.model).make(spec)),
      states_(device_model(spec.model).states),
      heat_(spec),
      neighbours_(spec) {
  cells_.reference = static_cast<S>(spec.g_reference_S());
  cells_.mean_step = static_cast<S>(spec.window_S() / spec.pulses);
  cells_.g = Matrix<S>::Constant(rows, cols, static_cast<S>(spec.g_min_S));
  cells_.writes = Matrix<S>::Zero(rows, cols);
  cells_.lower.resize(rows, cols);
  cells_.upper.resize(rows, cols);
  cells_.step_up.resize(rows, cols);
  cells_.step_down.resize(rows, cols);
  const DeviceModel& model = device_model(spec.model);
  for (const CellState& one : states_) {
    cells_.own.push_back(Matrix<S>::Constant(rows, cols, static_cast<S>(one.initial)));
  }
  sample();
  if (model_->bounded()) cells_.g = cells_.g.cwiseMax(cells_.lower).cwiseMin(cells_.upper);
  for (const std::vector<DevicePartKind>* kinds : {&device_parts(), &model.parts}) {
    for (const DevicePartKind& kind : *kinds) {
      if (auto part = kind.make<S>(spec_, site_, cells_)) parts_.push_back(std::move(part));
    }
  }
  site_.stuck_S = nullptr;
  follows_writes_ = any_part(&DevicePart<S>::follows_writes);
  shows_ = any_part(&DevicePart<S>::shows);
  if (follows_writes_) before_ = cells_.g;
  hold();
  show();
}

template <class S>
bool DeviceArray<S>::any_part(bool (DevicePart<S>::*has)() const) const {
  return std::any_of(parts_.begin(), parts_.end(), [has](const auto& part) { return (*part.*has)(); });
}

template <class S>
Matrix<double> DeviceArray<S>::state_read_variance_S2() const {
  Matrix<double> variance = conductance().template cast<double>();
  for (double& one : variance.reshaped()) one = spec_.state_read_S2(one);
  for (const auto& part : parts_) {
    if (part->reads_noisy()) part->add_read_variance(cells_, variance);
  }
  return variance;
}

template <class S>
void DeviceArray<S>::sample() {
  const double up_bias = std::min(spec_.asymmetry, 0.0);
  const double down_bias = -std::max(spec_.asymmetry, 0.0);
  const auto draw = [&](StaticDraw which) { return site_.template normal<S>(which); };
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
  const auto pulse = static_cast<S>(spec_.reference_pulse_S());
  cells_.step_up = (pulse * (static_cast<S>(1 + up_bias) + gain.array() + tilt.array()).abs().max(least)).matrix();
  cells_.step_down = (pulse * (static_cast<S>(1 + down_bias) + gain.array() - tilt.array()).abs().max(least)).matrix();
  model_->prepare(cells_, StaticNormals<S>(draw));
}

template <class S>
void DeviceArray<S>::hold() {
  for (const auto& part : parts_) part->hold(cells_);
}

template <class S>
void DeviceArray<S>::show() {
  if (!shows_) return;
  Matrix<S> relative = Matrix<S>::Zero(cells_.g.rows(), cells_.g.cols()), offset = relative;
  for (const auto& part : parts_) {
    if (part->shows()) part->show(cells_, moving_s_, relative, offset);
  }
  seen_ = (cells_.g.array() * (S(1) + relative.array()) + offset.array()).matrix();
  if (model_->bounded()) seen_ = seen_.cwiseMax(S(0));
}

template <class S>
void DeviceArray<S>::written(Purpose purpose, std::uint64_t step) {
  hold();
  if (follows_writes_) {
    const DeviceWrite<S> write{purpose, step, before_};
    for (const auto& part : parts_) {
      if (part->follows_writes()) part->written(cells_, write);
    }
    before_ = cells_.g;
  }
  show();
}

template <class S>
void DeviceArray<S>::program(const Matrix<S>& target, std::uint64_t number) {
  NUDGE_EXPECT(target.rows() == cells_.g.rows() && target.cols() == cells_.g.cols());
  cells_.g = target;
  for (std::size_t k = 0; k < states_.size(); ++k) cells_.own[k].setConstant(static_cast<S>(states_[k].initial));
  const auto uniform_sigma = static_cast<S>(spec_.programming_error * spec_.window_S());
  if (spec_.programming.state_dependent()) {
    const Matrix<S> draw = site_.template normal<S>(Purpose::programming_error, number);
    for (Index i = 0; i < draw.size(); ++i) {
      const double fit = spec_.programming.sigma_S(static_cast<double>(target.data()[i]), spec_.g_max_S);
      cells_.g.data()[i] += std::hypot(uniform_sigma, static_cast<S>(fit)) * draw.data()[i];
    }
  } else if (spec_.programming_error > 0) {
    cells_.g += uniform_sigma * site_.template normal<S>(Purpose::programming_error, number);
  }
  if (model_->bounded()) cells_.g = cells_.g.cwiseMax(cells_.lower).cwiseMin(cells_.upper);
  if (follows_writes_) before_.setConstant(std::numeric_limits<S>::quiet_NaN());  // every device is written
  written(Purpose::programming_error, number);
}

template <class S>
bool DeviceArray<S>::advance_time(const Elapsed& time, std::uint64_t step, Gathering gathering) {
  NUDGE_EXPECT(time.seconds >= 0 && std::isfinite(time.seconds) && time.read_s >= 0 && std::isfinite(time.read_s));
  Passed passed = Passed::unchanged;
  for (const auto& part : parts_) {
    Passed one = part->wait(cells_, time.seconds, step, gathering);
    if (time.read_s > 0) one = std::max(one, part->read(cells_, time.read_s, gathering));
    if (one == Passed::stored) hold();
    passed = std::max(passed, one);
  }
  if (passed == Passed::stored && follows_writes_) before_ = cells_.g;
  if (passed != Passed::unchanged) show();
  return passed != Passed::unchanged;
}

template <class S>
void DeviceArray<S>::leave_moving(double seconds) {
  moving_s_ = seconds;
  show();
}

template <class S>
std::vector<MovingDevices<S>> DeviceArray<S>::moving() const {
  std::vector<MovingDevices<S>> all;
  for (const auto& part : parts_) part->append_moving(cells_, moving_s_, all);
  return all;
}

template <class S>
std::vector<SlowArray<S>> DeviceArray<S>::slow_state() {
  std::vector<SlowArray<S>> out;
  for (const auto& part : parts_) {
    for (const SlowArray<S>& one : part->state()) out.push_back(one);
  }
  for (std::size_t k = 0; k < states_.size(); ++k) {
    out.push_back({states_[k].name, states_[k].unit, states_[k].description, &cells_.own[k]});
  }
  heat_.append_state(out);
  if (cells_.life.size() > 0) out.push_back({"life", "1", "pulses that each device lasts", &cells_.life});
  return out;
}

template <class S>
void DeviceArray<S>::state_restored() {
  for (const auto& part : parts_) part->restored(cells_);
  heat_.state_restored();
  if (follows_writes_) before_ = cells_.g;
  show();
}

template <class S>
UpdateRequest<S> DeviceArray<S>::request(const Matrix<S>& delta, std::uint64_t number) const {
  UpdateRequest<S> request{delta};
  request.mode = spec_.update;
  request.noise = static_cast<S>(spec_.update_noise);
  request.noise_floor = static_cast<S>(spec_.update_noise_floor);
  request.seed = site_.identity.seed;
  request.entity = site_.identity.entity;
  request.side = site_.identity.side;
  request.number = number;
  request.threads = site_.threads;
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
  const RngKey key = {site_.identity.seed, Purpose::pulse_order, site_.identity.entity};
  parallel_for(cells_.g.rows(), site_.threads, [&](Index row, int) {
    S* __restrict before = &runs_[0](row, 0);
    S* __restrict between = &runs_[1](row, 0);
    S* __restrict after = &runs_[2](row, 0);
    const S* __restrict up = &counts_up(row, 0);
    const S* __restrict down = &counts_down(row, 0);
    // One uniform number in [0, 1) is both coins: its first and its second binary digit.
    const auto lane = 2 * static_cast<std::uint32_t>(row) + site_.identity.side;
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
