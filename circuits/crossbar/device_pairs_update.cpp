// SPDX-License-Identifier: Apache-2.0
// How the devices of a crossbar follow changes of the weights, and what that has taken.
#include <algorithm>
#include <cmath>

#include "circuits/crossbar/device_pairs.hpp"
#include "circuits/programming/write_devices.hpp"
#include "devices/pulse_train.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
void DevicePairs<S>::update(const Matrix<S>& delta) {
  NUDGE_EXPECT(delta.rows() == weights().rows() && delta.cols() == weights().cols());
  if (spec_.programming.update == UpdateScheme::write_verify) {
    rewrite(delta);
  } else if (moves_one_way(spec_.mapping.kind)) {
    move_one_way(delta);
  } else {
    const auto change = mapping_->steps(scale_(0, 0));
    const auto own = static_cast<S>(scale_of_cells_.devices_per_cell());
    writes_.pulses += plus_.update(delta, own * change.first, writes_.operations);
    if (change.second != 0) writes_.pulses += minus_.update(delta, own * change.second, writes_.operations);
    ++writes_.operations;
  }
  refresh();
}

/// Adds the change to the digital copy and writes again the devices whose target it has moved by the tolerance.
template <class S>
void DevicePairs<S>::rewrite(const Matrix<S>& delta) {
  const auto change = mapping_->steps(scale_(0, 0));
  const auto tolerance = static_cast<S>(spec_.programming.tolerance * scale_of_cells_.window_S());
  const std::vector<Index> moved = shadow_.move(delta, tolerance / change.first, least_weight(), w_max());
  if (moved.empty()) return;
  Matrix<S> plus, minus;
  mapping_->targets(shadow_.weights(), middle(), scale_(0, 0), plus, minus);
  WriteReport report;
  std::uint64_t last = writes_.operations;
  for (auto* array : {&plus_, &minus_}) {
    if (array == &minus_ && change.second == 0) continue;  // reference devices stay
    const Matrix<S> all = scale_of_cells_.devices(array == &plus_ ? plus : minus);
    Matrix<S> target(1, static_cast<Index>(moved.size()));
    for (std::size_t k = 0; k < moved.size(); ++k) target(0, static_cast<Index>(k)) = all.data()[moved[k]];
    std::uint64_t operation = writes_.operations;
    report += write_verify(*array, moved, target, spec_.programming, operation);
    last = std::max(last, operation);
  }
  writes_.operations = last;
  record(report);
}

template <class S>
void DevicePairs<S>::coincide(std::span<const FactorPair<S>> factors, S rate) {
  const auto per_pulse = static_cast<double>(weight_per_pulse());
  const bool by_sample = spec_.programming.order == PulseOrder::sample;
  up_.setZero(weights().rows(), weights().cols());
  down_.setZero(weights().rows(), weights().cols());
  TrainStream stream{plus_.identity().seed, id_, writes_.operations, 0};
  TrainReport report;
  for (const FactorPair<S>& pair : factors) {
    const double pulses = -static_cast<double>(rate * pair.scale) / per_pulse;
    const Index group = by_sample ? 1 : pair.x.rows();
    for (Index n = 0; n < pair.x.rows(); n += group) {
      const Columns c = pair.columns;
      report += count_coincidences<S>(pair.x.middleRows(n, group), pair.y.middleRows(n, group), pulses,
                                      spec_.programming.train, stream, spec_.threads, up_.middleCols(c.begin, c.count),
                                      down_.middleCols(c.begin, c.count));
      stream.first += static_cast<std::uint32_t>(group);
      if (!by_sample) continue;
      send(up_, down_);
      up_.setZero();
      down_.setZero();
    }
  }
  if (!by_sample) send(up_, down_);
  ++writes_.operations;  // also where nothing was sent: the trains have used their numbers
  writes_.slots += report.slots;
  writes_.clipped_samples += report.clipped;
  refresh();
}

template <class S>
void DevicePairs<S>::send(const Matrix<S>& up, const Matrix<S>& down) {
  writes_.pulses += plus_.pulse_both(up, down, writes_.operations);
  if (mapping_->steps(scale_(0, 0)).second != 0) writes_.pulses += minus_.pulse_both(down, up, writes_.operations);
  writes_.operations += 3;
}

template <class S>
WriteMark DevicePairs<S>::mark() const {
  const PulseHeat<S>&plus = plus_.pulse_heat(), &minus = minus_.pulse_heat();
  return {writes_.pulses, plus.total_J(), minus.total_J(), plus.total_s(), minus.total_s()};
}

template <class S>
void DevicePairs<S>::count_as_programming(const WriteMark& since) {
  writes_.programming += {writes_.pulses.up - since.pulses.up, writes_.pulses.down - since.pulses.down};
  plus_.heat_was_programming(since.plus_J, since.plus_s);
  minus_.heat_was_programming(since.minus_J, since.minus_s);
}

template <class S>
void DevicePairs<S>::record(const WriteReport& report) {
  writes_.pulses += report.pulses;
  writes_.verify_reads += report.reads;
  writes_.verified += report.reads > 0 ? report.devices : 0;
  writes_.failures += report.failures;
  write_error_ << static_cast<S>(report.error_mean()), static_cast<S>(report.error_rms());
}

template <class S>
void DevicePairs<S>::append_write_readings(std::vector<MapReading>& all) const {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  double sum = 0;
  double most = 0;
  double worn = 0;
  for (const auto* array : {&plus_, &minus_}) {
    const auto writes = array->cells().writes.array();
    if (writes.size() == 0) continue;
    sum += writes.template cast<double>().sum();
    most = std::max(most, static_cast<double>(writes.maxCoeff()));
    if (spec_.device.endurance_failure == EnduranceFailure::stuck) {
      worn += static_cast<double>(array->worn_out());
    } else if (spec_.device.endurance > 0) {
      worn += static_cast<double>((writes >= static_cast<S>(spec_.device.endurance)).count());
    }
  }
  const auto devices = static_cast<double>(plus_.cells().writes.size() + minus_.cells().writes.size());
  for (MapReading& reading : std::vector<MapReading>{
           {"pulses_up", "1", "potentiation pulses sent to the array since the start", number(writes_.pulses.up)},
           {"pulses_down", "1", "depression pulses sent to the array since the start", number(writes_.pulses.down)},
           {"programming_pulses", "1", "of both, those of programming: sent to write the weights, not to learn",
            number(writes_.programming.up + writes_.programming.down)},
           {"device_pulses_mean", "1", "pulses a device has received, mean over devices", sum / devices},
           {"device_pulses_max", "1", "pulses of the device that has received most", most},
           {"worn", "1",
            "worn out devices: device.endurance pulses or more; stuck for good if device.endurance_failure says so",
            worn},
           {"verify_reads", "1", "device reads of write-verify since the start", number(writes_.verify_reads)},
           {"programming_reads", "1", "of these, those of programming", number(writes_.programming_reads)},
           {"verified", "1", "devices written by write-verify since the start", number(writes_.verified)},
           {"write_failures", "1", "of these, not within tolerance when their pulses ran out",
            number(writes_.failures)},
           {"write_error_mean", "1", "mean error of the last write, of the window",
            static_cast<double>(write_error_(0, 0))},
           {"write_error_rms", "1", "rms error of the last write, of the window",
            static_cast<double>(write_error_(0, 1))},
           {"train_slots", "1", "slots of coincidence pulse trains since the start", number(writes_.slots)},
           {"train_clipped", "1", "samples of coincidence updates cut at probability 1",
            number(writes_.clipped_samples)}}) {
    all.push_back(std::move(reading));
  }
  if (spec_.programming.update == UpdateScheme::write_verify) {
    all.push_back(
        {"digital_numbers", "1", "digital numbers kept for each weight: the copy, and what was last written", 2});
  }
}

#define NUDGE_DEVICE_PAIRS_UPDATE(S)                                         \
  template void DevicePairs<S>::update(const Matrix<S>&);                    \
  template void DevicePairs<S>::coincide(std::span<const FactorPair<S>>, S); \
  template void DevicePairs<S>::record(const WriteReport&);                  \
  template WriteMark DevicePairs<S>::mark() const;                           \
  template void DevicePairs<S>::count_as_programming(const WriteMark&);      \
  template void DevicePairs<S>::append_write_readings(std::vector<MapReading>&) const;
NUDGE_BOTH_PRECISIONS(NUDGE_DEVICE_PAIRS_UPDATE)

}  // namespace nudge
