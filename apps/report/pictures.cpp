// SPDX-License-Identifier: Apache-2.0
#include "apps/report/pictures.hpp"

#include <fmt/format.h>

namespace nudge::report {
namespace {

bool has_role(const H5Reader& file, const std::string& path, const std::string& role) {
  return file.has_attribute("role", path) && file.text_attribute("role", path) == role;
}

/// Calls visit(array, dataset, path) for the datasets of GROUP/ARRAY/DATASET that have the role.
template <class Visit>
void each_of_role(const H5Reader& file, const std::string& group, const std::string& role, Visit visit) {
  if (!file.has(group)) return;
  for (const std::string& array : file.groups(group)) {
    const std::string at = fmt::format("{}/{}", group, array);
    for (const std::string& name : file.datasets(at)) {
      const std::string path = fmt::format("{}/{}", at, name);
      if (has_role(file, path, role)) visit(array, name, path);
    }
  }
}

}  // namespace

ArrayPictures load_array_pictures(const H5Reader& file) {
  ArrayPictures out;
  each_of_role(file, "ir_drop", "map", [&](const auto& array, const auto& name, const auto& path) {
    Matrix<double> values = file.matrix<double>(path, H5Shape{-1, -1});
    if (values.size() == 0) file.fail(path, "has no devices");
    out.ir_drop.push_back({array, name, file.meaning(path).description, std::move(values)});
  });
  each_of_role(file, "current", "series", [&](const auto& array, const auto& name, const auto& path) {
    const H5Meaning meaning = file.meaning(path);
    ColumnSeries one{array, name, meaning.unit, meaning.description, {}, file.reals<double>(path, H5Shape{-1})};
    one.column = file.reals<double>(file.text_attribute("x", path), H5Shape{-1});
    if (one.column.size() != one.value.size()) file.fail(path, "another length than its axis");
    out.currents.push_back(std::move(one));
  });
  return out;
}

namespace {

std::vector<double> column(const H5Reader& file, const std::string& path) {
  return file.has(path) ? file.reals<double>(path, H5Shape{-1}) : std::vector<double>();
}

/// Reads a column that goes with another.
std::vector<double> column(const H5Reader& file, const std::string& path, const std::vector<double>& with) {
  const auto length = static_cast<Index>(with.size());
  return file.has(path) || length > 0 ? file.reals<double>(path, H5Shape{length}) : std::vector<double>();
}

Matrix<double> matrix(const H5Reader& file, const std::string& path, const std::vector<double>& rows,
                      const std::vector<double>& columns) {
  if (rows.empty() && columns.empty()) return {};
  return file.matrix<double>(path, H5Shape{static_cast<Index>(rows.size()), static_cast<Index>(columns.size())});
}

}  // namespace

DevicePictures load_device_pictures(const H5Reader& file) {
  DevicePictures out;
  out.device = file.has_attribute("device") ? file.text_attribute("device") : file.name();
  out.pulse = column(file, "staircase/pulse");
  out.stair_mean = column(file, "staircase/conductance_mean", out.pulse);
  out.stair_std = column(file, "staircase/conductance_std", out.pulse);
  if (file.has("staircase/conductance")) {
    out.stairs = file.matrix<double>("staircase/conductance", H5Shape{-1, static_cast<Index>(out.pulse.size())});
  }
  if (file.has_attribute("half_window_pulses_up", "staircase")) {
    out.half_up = file.real_attribute("half_window_pulses_up", "staircase");
    out.half_down = file.real_attribute("half_window_pulses_down", "staircase");
  }
  out.measured_pulse = column(file, "measured/pulse");
  out.measured_mean = column(file, "measured/conductance", out.measured_pulse);
  out.measured_replayed = column(file, "measured/replayed", out.measured_pulse);
  out.cycle_pulses = column(file, "endurance/pulses");
  out.low = column(file, "endurance/low_mean", out.cycle_pulses);
  out.low_std = column(file, "endurance/low_std", out.cycle_pulses);
  out.high = column(file, "endurance/high_mean", out.cycle_pulses);
  out.high_std = column(file, "endurance/high_std", out.cycle_pulses);
  out.time = column(file, "drift/time");
  out.target = column(file, "drift/target");
  out.exponent = column(file, "drift/exponent", out.target);
  out.drifted = matrix(file, "drift/conductance_mean", out.target, out.time);
  out.drifted_std = matrix(file, "drift/conductance_std", out.target, out.time);
  out.deviation = column(file, "read_noise/deviation");
  out.share = column(file, "read_noise/share", out.deviation);
  out.frequency = column(file, "read_noise/frequency");
  out.spectrum = column(file, "read_noise/spectrum", out.frequency);
  return out;
}

}  // namespace nudge::report
