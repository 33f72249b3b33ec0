// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/fit_pulses.hpp"

namespace nudge {

/// Device of a file, and its records.
struct LabDevice {
  std::string name;
  std::vector<PulseRecord> cycles;
};

/// Devices in the order of the file.
std::vector<LabDevice> by_device(const std::vector<LabRecord>& records);

/// Fit of a device by fit_records(). UserError names the device.
DeviceFit fit_device(const LabDevice& device, const std::string& model, int points, LeakLaw leak,
                     const ToldNoise& noise = {});

/// Schwarz's criterion, summed over devices.
double schwarz_of(const std::vector<DeviceFit>& each);

/// Gives all devices the same kinds of noise, where some chose another than others: with it or without, by Schwarz's criterion of all.
void share_noise(const std::vector<LabDevice>& devices, const std::string& model, int points,
                 std::vector<DeviceFit>& each);

}  // namespace nudge
