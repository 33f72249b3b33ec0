// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "devices/own_device.hpp"

namespace nudge::python {

/// Makes the law of a device with states of its own that is a Python object (nudge.devices.Device as own_device.py
/// hands it over). It has `states`, a list of (name, unit, description, initial), and three methods on arrays (1,
/// devices): pulsed(g, n, states), waited(g, seconds, kelvin, states) and read_noise(g, states). They answer with g or
/// σ, the first two with the states behind it; the last two may be None. Calls take the GIL.
std::shared_ptr<OwnDeviceLaw> own_device_law(const nanobind::object& object);

}  // namespace nudge::python
