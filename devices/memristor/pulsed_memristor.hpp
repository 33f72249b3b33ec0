// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// True if the model of a device has a differential equation (DeviceModel::memristor), and the volts of its pulses are known.
bool has_equation(const DeviceSpec& spec);

/// Makes the StepModel of a model with a differential equation (DeviceModel::make), with the pulses pulse_up, pulse_down,
/// pulse_width of the spec. UserError where one of them does not move the state.
std::unique_ptr<StepModel> make_pulsed_memristor(const DeviceSpec& spec);
/// Makes the StepModel as make_pulsed_memristor() does, but allows pulses that move nothing.
std::unique_ptr<StepModel> make_resting_memristor(const DeviceSpec& spec);

/// Number of pulses across the window, as many as the mean of those up and down in its middle takes; 2 to 1e6. It is what
/// device.pulses should be for the volts and widths of the spec.
double pulses_across(const DeviceSpec& spec);

}  // namespace nudge
