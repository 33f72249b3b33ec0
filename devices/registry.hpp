// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/step_model.hpp"

namespace nudge {

/// The device.model that stands for no device at all: weights as floating-point numbers (circuits/digital_matrix.hpp).
inline constexpr const char* digital_model = "digital";

/// Every device model, in the order of the list in devices/CMakeLists.txt, then those that a program has added.
const std::vector<DeviceModel>& device_models();
/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_device_model(DeviceModel model);

/// The model of that name; UserError with the closest names otherwise.
const DeviceModel& device_model(const std::string& name);

}  // namespace nudge
