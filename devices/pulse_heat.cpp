// SPDX-License-Identifier: Apache-2.0
#include "devices/pulse_heat.hpp"

#include <cmath>

#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

bool given(const WritePulse& pulse) { return pulse.voltage_V > 0 && pulse.width_s > 0; }

/// What the devices that were sent pulses of one direction took: n and n G, summed.
struct Sums {
  double pulses = 0, pulses_S = 0;
};

/// n counts a device's pulses, which a float holds to 2⁻²⁴ of all it ever got: the sums say what share each device had, how
/// many were sent the count says.
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
       "heat of all pulses so far, and of those of programming, joules; their times, seconds; the sum of a row "
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

template class PulseHeat<float>;
template class PulseHeat<double>;

}  // namespace nudge
