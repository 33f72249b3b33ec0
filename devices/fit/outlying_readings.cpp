// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/outlying_readings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

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

/// Step from one reading of a record to the next.
struct ReadStep {
  double from = 0, change = 0;
  bool up = true;
  std::size_t record = 0, at = 0;  ///< reading that it leads to
  double off = 0;                  ///< distance from the likest of the steps that begin nearby
};

/// Readings of one device, and its steps.
struct DeviceReadings {
  std::vector<NearbyReading> readings;
  std::vector<double> steps, values;
  std::vector<std::pair<const std::vector<double>*, const std::vector<int>*>> records;
  std::vector<ReadStep> whole;  ///< steps with their places, in the order of records and readings
};

double share_of(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void add_record(const PulseRecord& record, const std::vector<int>& lines, DeviceReadings& out) {
  const std::vector<double>& g = record.conductance_S;
  for (std::size_t i = 1; i < std::min(g.size(), lines.size()); ++i) {
    out.whole.push_back({g[i - 1], g[i] - g[i - 1], record.direction[i] == Direction::up, out.records.size(), i});
  }
  out.records.emplace_back(&g, &lines);
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

/// Step at x on the line through two others.
double on_line(const ReadStep& a, const ReadStep& b, double x) {
  return b.from == a.from ? a.change : a.change + (b.change - a.change) / (b.from - a.from) * (x - a.from);
}

/// Finds how far each step is from the likest of the six that begin nearest and have its direction. The outermost may lie on the line of those
/// beside it: near a bound, steps grow with the distance from the other one.
void find_off(std::vector<ReadStep>& steps) {
  constexpr std::size_t beside = 3;
  for (const bool up : {true, false}) {
    std::vector<ReadStep*> sorted;
    for (ReadStep& one : steps) {
      if (one.up == up) sorted.push_back(&one);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->from < b->from; });
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      double least = sorted.size() > 1 ? std::numeric_limits<double>::infinity() : 0;
      for (std::size_t j = k - std::min(k, beside); j < std::min(sorted.size(), k + beside + 1); ++j) {
        if (j != k) least = std::min(least, std::abs(sorted[j]->change - sorted[k]->change));
      }
      const std::size_t n = sorted.size();
      if (n > 3 && k == 0)
        least = std::min(least, std::abs(on_line(*sorted[1], *sorted[3], sorted[0]->from) - sorted[0]->change));
      if (n > 3 && k + 1 == n) {
        least = std::min(least, std::abs(on_line(*sorted[n - 2], *sorted[n - 4], sorted[k]->from) - sorted[k]->change));
      }
      sorted[k]->off = least;
    }
  }
}

/// Runs of readings behind a far step, up to one back to where they began, and readings before the first or behind the last far step of a
/// record.
template <class Add>
void find_runs(const DeviceReadings& device, double most, const Add& add) {
  constexpr std::size_t longest = 20, at_ends = 3;
  std::size_t first = 0;  // step of the record
  for (std::size_t r = 0; r < device.records.size(); ++r) {
    const std::vector<double>& g = *device.records[r].first;
    const std::size_t n = g.size();
    const auto is_far = [&](std::size_t i) { return device.whole[first + i - 1].off > most; };
    const auto own_step = [&](std::size_t i) { return std::abs(device.whole[first + i - 1].change); };
    double usual = 0;  // largest step that is not far
    for (std::size_t i = 1; i < n; ++i) usual = std::max(usual, is_far(i) ? 0 : own_step(i));
    bool any = false;
    for (std::size_t i = 1; i < n; ++i) {
      if (!is_far(i)) continue;
      std::size_t back = 0;  // readings until the conductance is where it was
      for (std::size_t k = 1; k <= std::min(longest, n / 4) && i + k < n && back == 0; ++k) {
        const double allowed = static_cast<double>(k + 1) * usual + most, way = device.whole[first + i - 1].change;
        const double return_way = -device.whole[first + i + k - 1].change * (way < 0 ? -1 : 1);
        if (std::abs(g[i + k] - g[i - 1]) <= allowed && return_way > std::abs(way) / 2) back = k;
      }
      if (back > 0) {
        for (std::size_t k = i; k < i + back; ++k) add(r, k, g[i - 1], false);
        i += back;
      } else if (!any && i <= at_ends && n > 4 * i) {
        for (std::size_t k = 0; k < i; ++k) add(r, k, g[i], true);
      } else if (n - i <= at_ends && i > 4 * at_ends) {
        for (std::size_t k = i; k < n; ++k) add(r, k, g[i - 1], true);
      }
      any = true;
    }
    first += n - 1;
  }
}

/// Adds runs of readings that steps from nearby contradict: several in a row, and those at the ends of a record.
void add_runs(DeviceReadings& device, FarReadings& out) {
  if (device.whole.size() < kFewest) return;
  find_off(device.whole);
  std::vector<double> off, sizes;
  for (const ReadStep& one : device.whole) off.push_back(one.off), sizes.push_back(std::abs(one.change));
  const double most = std::max(6 * share_of(off, 0.9), median(sizes));
  const double low = share_of(device.values, 0.05), high = share_of(device.values, 0.95), range = high - low;
  std::set<int> known;
  for (const auto* list : {&out.noted, &out.refused}) {
    for (const NearbyReading& one : *list) known.insert(one.line);
  }
  find_runs(device, most, [&](std::size_t record, std::size_t at, double beside, bool end) {
    const NearbyReading one{(*device.records[record].first)[at], beside, (*device.records[record].second)[at], end};
    if (one.distance() <= most || !known.insert(one.line).second) return;
    const bool above = one.value > high + range;
    const bool below = !end && (one.value < low - range || one.value < 0.2 * low || one.value == 0);
    (above || below ? out.refused : out.noted).push_back(one);
  });
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
    if (k >= rows.lines.size() || rows.lines[k].size() != rows.records[k].pulses.conductance_S.size()) continue;
    add_record(rows.records[k].pulses, rows.lines[k], devices[rows.records[k].device]);
  }
  FarReadings all;
  for (auto& [name, device] : devices) {
    FarReadings own = far_readings(device);
    add_runs(device, own);
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
