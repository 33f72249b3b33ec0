// SPDX-License-Identifier: Apache-2.0
#include "devices/pulse_effects.hpp"

#include <algorithm>

#include "devices/memristor/pulsed_memristor.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Spec of a model that has a differential equation (DeviceModel::memristor), with changed pulses.
DeviceSpec with_change(const DeviceSpec& spec, const PulseChange& change) {
  NUDGE_EXPECT(has_equation(spec));
  DeviceSpec other = spec;
  const double up = change.volts(spec.shape_value("pulse_up")), down = change.volts(spec.shape_value("pulse_down"));
  other.shape["pulse_up"] = change.swapped ? -down : up;
  other.shape["pulse_down"] = change.swapped ? -up : down;
  other.shape["pulse_width"] = change.longer * spec.shape_value("pulse_width");
  for (WritePulse* given : {&other.pulse_up, &other.pulse_down}) {
    if (given->voltage_V > 0) given->voltage_V = change.volts(given->voltage_V);
    given->width_s *= change.longer;
  }
  if (change.swapped) std::swap(other.pulse_up.voltage_V, other.pulse_down.voltage_V);
  return other;
}

}  // namespace

const ChangedPulses::Kind& ChangedPulses::at(const DeviceSpec& spec, const PulseChange& change) {
  const auto known = kinds_.find(change);
  if (known != kinds_.end()) return known->second;
  const DeviceSpec other = with_change(spec, change);
  return kinds_[change] = {make_resting_memristor(other), write_pulses(other)};
}

template <class S>
DisturbCounts<S> disturb_counts(const Matrix<S>& n, const WriteLines& lines) {
  using Line = Eigen::Matrix<S, Eigen::Dynamic, 1>;
  DisturbCounts<S> out{Matrix<S>::Zero(n.rows(), n.cols()), Matrix<S>::Zero(n.rows(), n.cols())};
  const Index high = lines.tile_rows > 0 ? lines.tile_rows : std::max<Index>(n.rows(), 1);
  const Index wide = lines.tile_columns > 0 ? lines.tile_columns : std::max<Index>(n.cols(), 1);
  for (Index top = 0; top < n.rows(); top += high) {
    for (Index left = 0; left < n.cols(); left += wide) {
      const Matrix<S> tile = n.block(top, left, std::min(high, n.rows() - top), std::min(wide, n.cols() - left));
      const Line rows = tile.rowwise().sum();
      const Line columns = tile.colwise().sum().transpose();
      const S all = rows.sum();
      for (Index i = 0; i < tile.rows(); ++i) {
        for (Index j = 0; j < tile.cols(); ++j) {
          out.along(top + i, left + j) = rows(i) + columns(j) - 2 * tile(i, j);
          if (lines.bias == WriteBias::third) {
            out.opposite(top + i, left + j) = all - rows(i) - columns(j) + tile(i, j);
          }
        }
      }
    }
  }
  return out;
}

template <class S>
void HalfSelect<S>::begin(const DeviceCells<S>& cells) {
  if (active()) writes_ = cells.writes;
}

template <class S>
double HalfSelect<S>::end(DeviceCells<S>& cells, const DeviceSpec& spec, const UpdateRequest<S>& request,
                          const PulseChange& change, ChangedPulses& kinds) {
  if (!active()) return 0;
  const Matrix<S> sent = cells.writes - writes_;
  writes_ = cells.writes;
  const auto asked = (request.factor * request.delta.array()).eval();
  const PulseChange seen = change.seen_by(lines_.bias == WriteBias::third ? 1.0 / 3 : 0.5);
  PulseChange turned = seen;
  turned.swapped = true;
  double joules = 0;
  for (const bool up : {true, false}) {
    const S way = up ? S(1) : S(-1);
    const Matrix<S> n = (way * asked > S(0)).select(sent.array(), S(0)).matrix();
    if (n.isZero(0)) continue;
    const DisturbCounts<S> counts = disturb_counts(n, lines_);
    joules += send(cells, counts.along, up, spec, kinds.at(spec, seen), request.threads);
    if (lines_.bias == WriteBias::third) {
      joules += send(cells, counts.opposite, !up, spec, kinds.at(spec, turned), request.threads);
    }
  }
  cells.writes = writes_;
  return joules;
}

/// Sends n pulses of a kind and returns their heat.
template <class S>
double HalfSelect<S>::send(DeviceCells<S>& cells, const Matrix<S>& n, bool up, const DeviceSpec& spec,
                           const ChangedPulses::Kind& kind, int threads) {
  const WritePulse& pulse = up ? kind.pulses.first : kind.pulses.second;
  const Matrix<S> before = cells.g;
  UpdateRequest<S> wanted{n};
  wanted.factor = up ? S(1) : S(-1);
  wanted.pulse = 1;
  wanted.threads = threads;
  kind.model->update(cells, wanted);
  double sum = 0;
  for (Index i = 0; i < n.size(); ++i) {
    const double mean = 0.5 * static_cast<double>(before.data()[i] + cells.g.data()[i]);
    sum += static_cast<double>(n.data()[i]) * spec.selector.cell_S(mean, pulse.voltage_V);
  }
  return sum * pulse.voltage_V * pulse.voltage_V * pulse.width_s;
}

namespace {

bool given(const WritePulse& pulse) { return pulse.voltage_V > 0 && pulse.width_s > 0; }

/// Sums of n and n G over the devices that were sent pulses of one direction.
struct Sums {
  double pulses = 0, pulses_S = 0;
};

/// Heat of the pulses of one direction. n counts a device's pulses, which a float holds to 2⁻²⁴ of all it ever got: the sums
/// give each device's share, and the count `sent` the number of pulses.
double heat_J(const Sums& sums, std::uint64_t sent, const WritePulse& pulse) {
  if (sent == 0 || !(sums.pulses > 0)) return 0;
  return static_cast<double>(sent) * sums.pulses_S / sums.pulses * pulse.voltage_V * pulse.voltage_V * pulse.width_s;
}

}  // namespace

std::pair<WritePulse, WritePulse> write_pulses(const DeviceSpec& spec) {
  std::pair<WritePulse, WritePulse> pulses{spec.pulse_up, spec.pulse_down};
  const auto own = device_model(spec.model).pulses;
  if (own == nullptr) return pulses;
  const auto [up, down] = own(spec);
  if (!given(pulses.first)) pulses.first = up;
  if (!given(pulses.second)) pulses.second = down;
  return pulses;
}

template <class S>
void PulseHeat<S>::begin(const DeviceCells<S>& cells) {
  if (!known()) return;
  g_ = cells.g;
  writes_ = cells.writes;
}

template <class S>
void PulseHeat<S>::end(const DeviceCells<S>& cells, const UpdateRequest<S>& request, const PulseCount& sent,
                       const std::pair<WritePulse, WritePulse>* other) {
  if (!known()) return;
  const auto& pulses = other == nullptr ? pulses_ : *other;
  NUDGE_EXPECT(g_.size() == cells.g.size() && request.delta.size() == cells.g.size());
  Sums up, down;
  for (Index i = 0; i < g_.size(); ++i) {
    const auto n = static_cast<double>(cells.writes.data()[i] - writes_.data()[i]);
    if (!(n > 0)) continue;
    const bool rises = request.delta.data()[i] * request.factor > S(0);
    const double volts = (rises ? pulses.first : pulses.second).voltage_V;
    const auto cell = [&](S g) { return selector_.cell_S(static_cast<double>(g), volts); };
    Sums& sums = rises ? up : down;
    sums.pulses += n;
    sums.pulses_S += n * 0.5 * (cell(g_.data()[i]) + cell(cells.g.data()[i]));
  }
  total_J_ += heat_J(up, sent.up, pulses.first) + heat_J(down, sent.down, pulses.second);
  total_s_ +=
      static_cast<double>(sent.up) * pulses.first.width_s + static_cast<double>(sent.down) * pulses.second.width_s;
}

template <class S>
void PulseHeat<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!known()) return;
  store_double(total_J_, 0, digits_);
  store_double(programming_J_, 1, digits_);
  store_double(total_s_, 2, digits_);
  store_double(programming_s_, 3, digits_);
  out.push_back(
      {"pulse_heat", "J, s",
       "heat of all pulses so far and of those of programming, joules; their durations, seconds; the sum of a row "
       "is the number",
       &digits_});
}

template <class S>
void PulseHeat<S>::state_restored() {
  if (!known()) return;
  total_J_ = load_double(digits_, 0);
  programming_J_ = load_double(digits_, 1);
  total_s_ = load_double(digits_, 2);
  programming_s_ = load_double(digits_, 3);
  const bool negative = total_J_ < 0 || programming_J_ < 0 || total_s_ < 0 || programming_s_ < 0;
  if (negative || !std::isfinite(total_J_ + programming_J_ + total_s_ + programming_s_)) {
    throw UserError("pulse_heat: the restored heat of pulses is not a number >= 0: the file is damaged");
  }
}

#define NUDGE_PULSE_EFFECTS(S)                                                      \
  template DisturbCounts<S> disturb_counts<S>(const Matrix<S>&, const WriteLines&); \
  template class HalfSelect<S>;                                                     \
  template class PulseHeat<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_PULSE_EFFECTS)

}  // namespace nudge
