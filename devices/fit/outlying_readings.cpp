// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/outlying_readings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr std::size_t kFewest = 20;  // readings of a device: its 95 % quantile is then one of them
constexpr std::size_t kShown = 10;

/// Reading with its distance from the median of its neighbours.
struct NearbyReading {
  double value = 0, median = 0;
  int line = 0;
  bool end = false;  ///< first or last of a record, where its neighbours stand at one side
  double distance() const { return std::abs(value - median); }
};

/// Readings of one device, and its steps.
struct DeviceReadings {
  std::vector<NearbyReading> readings;
  std::vector<double> steps, values;
};

double share_of(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void add_record(const std::vector<double>& g, const std::vector<int>& lines, DeviceReadings& out) {
  out.values.insert(out.values.end(), g.begin(), g.end());
  for (std::size_t i = 1; i < g.size(); ++i) out.steps.push_back(std::abs(g[i] - g[i - 1]));
  for (std::size_t i = 0; g.size() >= 5 && i < std::min(g.size(), lines.size()); ++i) {
    const std::size_t from = std::min(std::max<std::size_t>(i, 2) - 2, g.size() - 5);
    std::array<double, 5> near{};
    std::copy_n(g.begin() + static_cast<std::ptrdiff_t>(from), 5, near.begin());
    std::nth_element(near.begin(), near.begin() + 2, near.end());
    out.readings.push_back({g[i], near[2], lines[i], from + 2 != i});
  }
}

/// Readings of a device that are far from their neighbours, and those of them that no device makes.
struct FarReadings {
  std::vector<NearbyReading> noted, refused;
};

FarReadings far_readings(const DeviceReadings& device) {
  FarReadings out;
  if (device.readings.size() < kFewest) return out;
  std::vector<double> distances, inner;
  for (const NearbyReading& one : device.readings) {
    distances.push_back(one.distance());
    if (!one.end) inner.push_back(one.distance());
  }
  if (inner.empty()) return out;
  const double most = 5 * std::max(share_of(inner, 0.95), median(device.steps));
  const double low = share_of(device.values, 0.05), high = share_of(device.values, 0.95), range = high - low;
  for (std::size_t k = 0; k < distances.size(); ++k) {
    const NearbyReading& one = device.readings[k];
    // A far reading moves the medians beside it.
    const auto near = distances.begin() + static_cast<std::ptrdiff_t>(k);
    const double beside = *std::max_element(near - std::min<std::ptrdiff_t>(2, near - distances.begin()),
                                            near + std::min<std::ptrdiff_t>(3, distances.end() - near));
    if (!(one.distance() > most) || one.distance() < 0.5 * beside) continue;
    const bool above = one.value > high + range;
    if (one.end && !above) continue;  // a first state may be another one, and first steps are large
    const bool below = one.value < low - range || one.value < 0.2 * low || one.value == 0;
    (above || below ? out.refused : out.noted).push_back(one);
  }
  return out;
}

std::string lines_text(const std::vector<NearbyReading>& readings) {
  std::vector<int> lines;
  for (const NearbyReading& one : readings) lines.push_back(one.line);
  std::sort(lines.begin(), lines.end());
  const bool more = lines.size() > kShown;
  if (more) lines.resize(kShown);
  return fmt::format("{}{}", fmt::join(lines, ", "), more ? ", ..." : "");
}

std::string uS_text(const NearbyReading& one) {
  return fmt::format("{:.4g} uS beside {:.4g} uS", 1e6 * one.value, 1e6 * one.median);
}

}  // namespace

void check_outliers(const RowsOfRecords& rows, const std::string& file, std::vector<std::string>& notes) {
  std::map<std::string, DeviceReadings> devices;
  for (std::size_t k = 0; k < rows.records.size(); ++k) {
    if (k >= rows.lines.size() || rows.lines[k].empty()) continue;
    add_record(rows.records[k].pulses.conductance_S, rows.lines[k], devices[rows.records[k].device]);
  }
  FarReadings all;
  for (const auto& [name, device] : devices) {
    const FarReadings own = far_readings(device);
    all.noted.insert(all.noted.end(), own.noted.begin(), own.noted.end());
    all.refused.insert(all.refused.end(), own.refused.begin(), own.refused.end());
  }
  if (!all.refused.empty()) {
    const auto first = std::min_element(all.refused.begin(), all.refused.end(),
                                        [](const auto& a, const auto& b) { return a.line < b.line; });
    csv_fail(
        fmt::format("{}:{}", file, first->line),
        fmt::format("a reading of {} cannot be a state of this device (lines with such readings: {}). Write --- for a "
                    "failed reading: it is then a missing one",
                    uS_text(*first), lines_text(all.refused)));
  }
  if (all.noted.empty()) return;
  const auto most = std::max_element(all.noted.begin(), all.noted.end(),
                                     [](const auto& a, const auto& b) { return a.distance() < b.distance(); });
  notes.push_back(fmt::format("{} readings are far from those before and behind them, {} in line {} the most: lines {}",
                              all.noted.size(), uS_text(*most), most->line, lines_text(all.noted)));
}

void note_outliers(const std::vector<GroupedReading>& readings, std::vector<std::string>& notes) {
  std::map<double, std::vector<double>> groups;
  for (const GroupedReading& one : readings) groups[one.group].push_back(one.conductance_S - one.start_S);
  std::map<double, std::pair<double, double>> middle;  // median and median distance from it
  for (const auto& [name, changes] : groups) {
    const double center = median(changes);
    std::vector<double> distances;
    for (const double change : changes) distances.push_back(std::abs(change - center));
    middle[name] = {center, median(distances)};
  }
  std::vector<NearbyReading> far;
  for (const GroupedReading& one : readings) {
    const auto& [center, distance] = middle.at(one.group);
    if (groups.at(one.group).size() < kFewest || distance == 0) continue;
    if (std::abs(one.conductance_S - one.start_S - center) <= 20 * distance) continue;
    far.push_back({one.conductance_S, one.start_S + center, one.line});
  }
  if (far.empty()) return;
  const auto most = std::max_element(far.begin(), far.end(),
                                     [](const auto& a, const auto& b) { return a.distance() < b.distance(); });
  notes.push_back(
      fmt::format("{} readings are far from their level: lines {}. The furthest, in line {}, is {:.4g} uS for {:.4g} "
                  "uS. Take failed "
                  "readings out: the spread counts them",
                  far.size(), lines_text(far), most->line, 1e6 * most->value, 1e6 * most->median));
}

}  // namespace nudge
