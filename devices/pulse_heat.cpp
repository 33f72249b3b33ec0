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
void PulseHeat<S>::end(const DeviceCells<S>& cells, const UpdateRequest<S>& request, const PulseCount& sent) {
  if (!known()) return;
  NUDGE_EXPECT(g_.size() == cells.g.size() && request.delta.size() == cells.g.size());
  Sums up, down;
  for (Index i = 0; i < g_.size(); ++i) {
    const auto n = static_cast<double>(cells.writes.data()[i] - writes_.data()[i]);
    if (!(n > 0)) continue;
    Sums& sums = request.delta.data()[i] * request.factor > S(0) ? up : down;
    sums.pulses += n;
    sums.pulses_S += n * 0.5 * (static_cast<double>(g_.data()[i]) + static_cast<double>(cells.g.data()[i]));
  }
  total_J_ += heat_J(up, sent.up, pulses_.first) + heat_J(down, sent.down, pulses_.second);
}

template <class S>
void PulseHeat<S>::append_state(std::vector<SlowArray<S>>& out) {
  if (!known()) return;
  store_double(total_J_, 0, digits_);
  store_double(programming_J_, 1, digits_);
  out.push_back({"pulse_heat", "J",
                 "heat of all pulses so far, and of those of programming; the sum of a row is the number", &digits_});
}

template <class S>
void PulseHeat<S>::state_restored() {
  if (!known()) return;
  total_J_ = load_double(digits_, 0);
  programming_J_ = load_double(digits_, 1);
  if (!(total_J_ >= 0 && programming_J_ >= 0) || !std::isfinite(total_J_ + programming_J_)) {
    throw UserError("pulse_heat: the restored heat of pulses is not a number >= 0: the file is damaged");
  }
}

template class PulseHeat<float>;
template class PulseHeat<double>;

}  // namespace nudge
