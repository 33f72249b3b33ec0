// SPDX-License-Identifier: Apache-2.0
// What update rules (circuits/rules) ask of the devices of a crossbar.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "circuits/crossbar/device_pairs.hpp"
#include "circuits/programming/write_devices.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DevicePairs<S>::pulse(const Matrix<S>& counts) {
  NUDGE_EXPECT(counts.rows() == weights().rows() && counts.cols() == weights().cols());
  writes_.pulses += plus_.pulse(counts, writes_.operations);
  if (mapping_->steps(scale_(0, 0)).second != 0) writes_.pulses += minus_.pulse(-counts, writes_.operations);
  ++writes_.operations;
  refresh();
}

/// Moves one device of each pair by all of the weight's change: the first up or the second, or the second down or the first.
template <class S>
void DevicePairs<S>::move_one_way(const Matrix<S>& delta) {
  const S k = scale_(0, 0) * static_cast<S>(scale_of_cells_.devices_per_cell());
  const bool down = spec_.mapping.kind == MappingKind::reset_only;
  const Matrix<S> rise = delta.cwiseMax(S(0)), fall = (-delta).cwiseMax(S(0));
  writes_.pulses += plus_.update(down ? fall : rise, down ? -k : k, writes_.operations);
  writes_.pulses += minus_.update(down ? rise : fall, down ? -k : k, writes_.operations);
  ++writes_.operations;
}

template <class S>
Matrix<S> DevicePairs<S>::read_devices(const DeviceArray<S>& array, const std::vector<Index>& which) {
  writes_.verify_reads += which.size();
  return scale_of_cells_.cells(verify_read(array, which, spec_.programming, writes_.operations++));
}

template <class S>
Matrix<S> DevicePairs<S>::read_weights(const std::vector<Index>& which) {
  Matrix<S> read = read_devices(plus_, which);
  if (mapping_->steps(scale_(0, 0)).second != 0) read -= read_devices(minus_, which);
  return read / scale_(0, 0);
}

template <class S>
void DevicePairs<S>::write_places(DeviceArray<S>& array, const std::vector<Index>& which, const std::vector<S>& target,
                                  WriteReport& report) {
  if (which.empty()) return;
  const Matrix<S> wanted = Eigen::Map<const Matrix<S>>(target.data(), 1, static_cast<Index>(target.size()));
  report += write_verify(array, which, scale_of_cells_.devices(wanted), spec_.programming, writes_.operations);
}

template <class S>
Index DevicePairs<S>::refresh_pairs(double high, double low) {
  NUDGE_EXPECT(minus_.conductance().size() == plus_.conductance().size());
  std::vector<Index> all(static_cast<std::size_t>(plus_.conductance().size()));
  std::iota(all.begin(), all.end(), Index{0});
  const Matrix<S> first = read_devices(plus_, all), second = read_devices(minus_, all);
  // Devices that begin at the top are taken as their mirror images in the window.
  const bool down = spec_.mapping.kind == MappingKind::reset_only;
  const auto ends = static_cast<S>(scale_of_cells_.low_S() + scale_of_cells_.high_S());
  const auto gone = [down, ends](S g) { return down ? ends - g : g; };
  const auto at = [&](double place) {
    return static_cast<S>(scale_of_cells_.low_S() + place * scale_of_cells_.window_S());
  };
  // [0]: pairs whose first device has gone further.
  std::array<std::vector<Index>, 2> places;
  std::array<std::vector<S>, 2> held;
  for (const Index i : all) {
    const S a = gone(first.data()[i]), b = gone(second.data()[i]);
    if (!(std::max(a, b) > at(high) && std::min(a, b) > at(low))) continue;
    places[a < b ? 1 : 0].push_back(i);
    held[a < b ? 1 : 0].push_back(std::abs(a - b));
  }
  WriteReport report;
  for (std::size_t side = 0; side < 2; ++side) {
    DeviceArray<S>&farther = side == 0 ? plus_ : minus_, &nearer = side == 0 ? minus_ : plus_;
    if (places[side].empty()) continue;
    write_places(nearer, places[side], std::vector<S>(places[side].size(), middle()), report);
    const Matrix<S> begun = read_devices(nearer, places[side]);  // where its own bound has let it
    for (std::size_t k = 0; k < held[side].size(); ++k) {
      held[side][k] = begun.data()[k] + (down ? -held[side][k] : held[side][k]);
    }
    write_places(farther, places[side], held[side], report);
  }
  const auto written = static_cast<Index>(places[0].size() + places[1].size());
  if (written == 0) return 0;
  record(report);
  refresh();
  return written;
}

#define NUDGE_DEVICE_PAIRS_RULES(S)                                           \
  template void DevicePairs<S>::pulse(const Matrix<S>&);                      \
  template void DevicePairs<S>::move_one_way(const Matrix<S>&);               \
  template Matrix<S> DevicePairs<S>::read_weights(const std::vector<Index>&); \
  template Index DevicePairs<S>::refresh_pairs(double, double);
NUDGE_BOTH_PRECISIONS(NUDGE_DEVICE_PAIRS_RULES)

}  // namespace nudge
