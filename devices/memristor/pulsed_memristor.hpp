// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"
#include "devices/step_kernel.hpp"

namespace nudge {

/// True if the model of a device has a differential equation (DeviceModel::memristor), and the volts of its pulses are known.
bool has_equation(const DeviceSpec& spec);

/// Differential equation of a device under the voltage of its cell, behind the spec's selector. Needs has_equation().
std::shared_ptr<const Memristor> cell_memristor(const DeviceSpec& spec);

/// Makes the StepModel of a model with a differential equation (DeviceModel::make), with the pulses pulse_up, pulse_down,
/// pulse_width of the spec. UserError where one of them does not move the state.
std::unique_ptr<StepModel> make_pulsed_memristor(const DeviceSpec& spec);
/// Makes the StepModel as make_pulsed_memristor() does, but allows pulses that move nothing.
std::unique_ptr<StepModel> make_resting_memristor(const DeviceSpec& spec);

/// Rule of a memristor under pulses of constant amplitude and width: n pulses last n · width, longer or shorter for a device
/// whose pulse size differs from the mean.
struct PulsedMemristor {
  std::shared_ptr<const ConstantVoltageMotion> up, down;  ///< null: it does not move
  double width_up_s, width_down_s;
  double mean_step_S;  ///< window/pulses: devices with this step have the nominal speed
  StateScale scale;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const bool rising = direction == Direction::up;
    if ((rising ? up : down) == nullptr) return S(0);
    const double width = static_cast<double>(e.width);
    double lower = static_cast<double>(rising ? e.upper - e.width : -e.upper);
    // A lower bound that a spread has pushed to zero would be an infinite resistance.
    if (scale == StateScale::resistance) lower = std::max(lower, 1e-4 * width);
    const double g = static_cast<double>(rising ? e.g : -e.g);
    const double x = memristor_state(scale, g, lower, width);
    const double seconds =
        static_cast<double>(n) * (rising ? width_up_s : width_down_s) * static_cast<double>(e.step) / mean_step_S;
    const double moved = (rising ? *up : *down).advance(rising ? x : 1 - x, seconds);
    return static_cast<S>(std::abs(memristor_change(scale, x, rising ? moved : -moved, lower, width)));
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return equal_pulse_noise(*this, e, direction, n, sigma);
  }
};

}  // namespace nudge
