// SPDX-License-Identifier: Apache-2.0
#include "apps/report/device_pictures.hpp"

namespace nudge::report {

namespace {

std::vector<double> column(const H5Reader& file, const std::string& path) {
  return file.has(path) ? file.reals<double>(path, H5Shape{-1}) : std::vector<double>();
}

Matrix<double> matrix(const H5Reader& file, const std::string& path, std::size_t rows, std::size_t columns) {
  if (!file.has(path)) return {};
  return file.matrix<double>(path, H5Shape{static_cast<Index>(rows), static_cast<Index>(columns)});
}

}  // namespace

DevicePictures load_device_pictures(const H5Reader& file) {
  DevicePictures out;
  out.device = file.has_attribute("device") ? file.text_attribute("device") : file.name();
  out.pulse = column(file, "staircase/pulse");
  out.stair_mean = column(file, "staircase/conductance_mean");
  out.stair_std = column(file, "staircase/conductance_std");
  if (file.has("staircase/conductance")) out.stairs = file.matrix<double>("staircase/conductance");
  if (file.has_attribute("half_window_pulses_up", "staircase")) {
    out.half_up = file.real_attribute("half_window_pulses_up", "staircase");
    out.half_down = file.real_attribute("half_window_pulses_down", "staircase");
  }
  out.measured_pulse = column(file, "measured/pulse");
  out.measured_mean = column(file, "measured/conductance");
  out.cycle_pulses = column(file, "endurance/pulses");
  out.low = column(file, "endurance/low_mean");
  out.low_std = column(file, "endurance/low_std");
  out.high = column(file, "endurance/high_mean");
  out.high_std = column(file, "endurance/high_std");
  out.time = column(file, "drift/time");
  out.target = column(file, "drift/target");
  out.exponent = column(file, "drift/exponent");
  out.drifted = matrix(file, "drift/conductance_mean", out.target.size(), out.time.size());
  out.drifted_std = matrix(file, "drift/conductance_std", out.target.size(), out.time.size());
  out.deviation = column(file, "read_noise/deviation");
  out.share = column(file, "read_noise/share");
  out.frequency = column(file, "read_noise/frequency");
  out.spectrum = column(file, "read_noise/spectrum");
  return out;
}

}  // namespace nudge::report
