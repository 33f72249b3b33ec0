// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/device_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "circuits/energy.hpp"
#include "circuits/kept_state.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// A counter is stored as three digits of base 2²⁰, each exact in a float; together they reach 2⁶⁰.
constexpr std::uint64_t digit_base = std::uint64_t{1} << 20;

template <class S>
void store_counter(std::uint64_t value, Index row, Matrix<S>& digits) {
  for (Index d = 0; d < 3; ++d, value /= digit_base) digits(row, d) = static_cast<S>(value % digit_base);
}

template <class S>
std::uint64_t load_counter(const Matrix<S>& digits, Index row) {
  std::uint64_t value = 0;
  for (Index d = 2; d >= 0; --d) {
    value = value * digit_base + restored_count(static_cast<double>(digits(row, d)), static_cast<double>(digit_base),
                                                "counters of a crossbar");
  }
  return value;
}

}  // namespace

template <class S>
DevicePairs<S>::DevicePairs(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id, std::uint64_t seed)
    : spec_(spec),
      scale_of_cells_(spec.device, spec.circuit.read_voltage_V),
      mapping_(make_mapping<S>(spec.mapping.kind)),
      id_(id),
      plus_(spec.device, weights.rows(), weights.cols(), {seed, id, 0}, spec.threads, spec.stuck.first_S.get()),
      minus_(spec.device, weights.rows(), mapping_->second_columns(weights.cols()), {seed, id, 1}, spec.threads,
             spec.stuck.second_S.get()),
      scale_(1, 1),
      counters_(12, 3),
      write_error_(Matrix<S>::Zero(1, 2)),
      calibration_(spec.programming.calibration, {seed, id, 0}, weights.rows()),
      refresh_clock_(spec.programming.refresh_s) {
  plus_.leave_moving(spec.circuit.noise_within_phases_s);
  minus_.leave_moving(spec.circuit.noise_within_phases_s);
  check_target(weights);
  choose_scale(weights);
  write(weights);
}

template <class S>
void DevicePairs<S>::check_target(const Matrix<S>& target) const {
  NUDGE_EXPECT(target.rows() == plus_.conductance().rows() && target.cols() == plus_.conductance().cols());
  if (target.allFinite()) return;
  for (Index i = 0; i < target.rows(); ++i) {
    for (Index j = 0; j < target.cols(); ++j) {
      if (!std::isfinite(target(i, j))) {
        throw UserError(
            fmt::format("crossbar {}: weight ({}, {}) to be programmed is {}: a conductance must be a finite "
                        "number; check where the weights come from",
                        id_, i, j, target(i, j)));
      }
    }
  }
}

template <class S>
void DevicePairs<S>::choose_scale(const Matrix<S>& target) {
  double w_max = spec_.mapping.w_max;
  if (w_max == 0 && target.size() > 0)
    w_max = spec_.mapping.headroom * static_cast<double>(target.cwiseAbs().maxCoeff());
  if (w_max == 0) w_max = 1;
  scale_(0, 0) = static_cast<S>(mapping_->reach_S(scale_of_cells_.low_S(), scale_of_cells_.high_S()) / w_max);
}

template <class S>
void DevicePairs<S>::write(const Matrix<S>& target) {
  Matrix<S> plus, minus;
  mapping_->targets(target, middle(), scale_(0, 0), plus, minus);
  const WriteMark before = mark();
  WriteReport report;
  std::uint64_t last = writes_.operations;
  for (auto* array : {&plus_, &minus_}) {
    std::uint64_t operation = writes_.operations;
    const Matrix<S> wanted = scale_of_cells_.devices(array == &plus_ ? plus : minus);
    report += write_array(*array, wanted, spec_.programming, writes_.programmings, operation);
    last = std::max(last, operation);
  }
  writes_.operations = last;
  ++writes_.programmings;
  writes_.programming_reads += report.reads;
  record(report);
  count_as_programming(before);
  if (spec_.programming.update == UpdateScheme::write_verify) shadow_.reset(target);
  calibration_.programmed();
  refresh();
}

template <class S>
void DevicePairs<S>::program(const Matrix<S>& target) {
  check_target(target);
  if (spec_.mapping.scale == ScalePolicy::renew) choose_scale(target);
  write(target);
}

/// Recomputes the state-dependent variance. Behind selectors it holds all noise of the devices, as their cells show it, since
/// its share depends on the state.
template <class S>
void DevicePairs<S>::refresh_variance() {
  const bool straight = scale_of_cells_.straight();
  if (!plus_.reads_by_state() && (straight || spec_.device.read_noise == 0)) return;
  const double per_weight = 1 / static_cast<double>(scale_(0, 0));
  const auto of = [&](const DeviceArray<S>& array) {
    Matrix<double> variance = array.state_read_variance_S2();
    if (!straight) variance.array() += spec_.device.uniform_read_S2();
    for (Index i = 0; i < variance.size(); ++i) {
      const auto g = static_cast<double>(array.conductance().data()[i]);
      const double slope = per_weight * scale_of_cells_.sensitivity(g);
      variance.data()[i] *= slope * slope;
    }
    return Matrix<S>(variance.template cast<S>());
  };
  view_.variance = of(plus_);
  const Matrix<S> second = of(minus_);
  if (second.cols() == view_.variance.cols()) view_.variance += second;
  if (view_.reference.size() > 0) view_.reference_variance = second.col(0).transpose().array();
}

template <class S>
void DevicePairs<S>::refresh(Since since) {
  refresh_view();
  refresh_variance();
  refresh_moving();
  if (calibration_.active()) {
    const Matrix<S> response = calibration_response();
    if (since == Since::write) {
      calibration_.written(response, calibration_response());
    } else {
      calibration_.aged(response);
    }
    view_.amplify(calibration_.gain());  // once: a resumed array has the same bits
  }
  if (since == Since::write && refresh_clock_.active()) refresh_clock_.written(view_.weights);
}

template <class S>
Matrix<S> DevicePairs<S>::calibration_response() {
  const Matrix<S>& x = calibration_.inputs();
  const auto devices = static_cast<std::uint64_t>(plus_.conductance().size() + minus_.conductance().size());
  writes_.verify_reads += devices * static_cast<std::uint64_t>(x.rows());
  Matrix<S> response = calibration_.gain() * (x * view_.weights);  // the view is still without it
  double variance_S2 = spec_.device.uniform_read_S2();
  if (plus_.reads_by_state() && plus_.conductance().size() > 0) variance_S2 += plus_.state_read_variance_S2().mean();
  const double sigma = std::sqrt(variance_S2 / spec_.programming.read_time);
  if (sigma == 0) return response;
  // Inputs of ±1: the noise of all devices of a column adds, of both of a pair.
  const double devices_per_output =
      static_cast<double>(devices) / static_cast<double>(std::max<Index>(view_.weights.cols(), 1));
  Matrix<S> noise(response.rows(), response.cols());
  fill_normal<S>({plus_.identity().seed, Purpose::verify_read, id_}, writes_.operations++, 2,
                 std::span<S>(noise.data(), static_cast<std::size_t>(noise.size())));
  return response + static_cast<S>(sigma * std::sqrt(devices_per_output)) / siemens_per_weight() * noise;
}

/// Recomputes the moving noise. Both arrays have the same processes, in the same order; devices of an array without them have the variance 0.
template <class S>
void DevicePairs<S>::refresh_moving() {
  view_.moving.clear();
  auto first = plus_.moving();
  if (first.empty()) return;
  const auto second = minus_.moving();
  const S per_weight = S(1) / (scale_(0, 0) * scale_(0, 0));
  const auto as_seen = [this](const Matrix<S>& variance, const Matrix<S>& g) -> Matrix<S> {
    if (scale_of_cells_.straight() || variance.size() == 0) return variance;
    return variance.binaryExpr(g, [this](S v, S at) {
      const double slope = scale_of_cells_.sensitivity(static_cast<double>(at));
      return static_cast<S>(static_cast<double>(v) * slope * slope);
    });
  };
  for (std::size_t i = 0; i < first.size(); ++i) {
    MovingNoise<S> noise{
        std::move(first[i].times_s), per_weight * as_seen(first[i].variance_S2, plus_.conductance()), {}};
    const Matrix<S> other = as_seen(second.at(i).variance_S2, minus_.conductance());
    if (view_.reference.size() > 0) {
      noise.reference_variance = per_weight * other.col(0).transpose().array();
    } else if (other.size() > 0) {
      noise.variance += per_weight * other;
    }
    view_.moving.push_back(std::move(noise));
  }
}

template <class S>
void DevicePairs<S>::refresh_view() {
  const bool want_total = spec_.circuit.shot_noise;
  const auto view = [&](const Matrix<S>& plus, const Matrix<S>& minus, bool total, LineView<S>& out) {
    mapping_->view(plus, minus, middle(), scale_(0, 0), total, out);
  };
  if (spec_.wires.ideal()) {
    if (scale_of_cells_.straight()) return view(plus_.conductance(), minus_.conductance(), want_total, view_);
    return view(scale_of_cells_.cells(plus_.conductance()), scale_of_cells_.cells(minus_.conductance()), want_total,
                view_);
  }
  const auto seen = [this](const DeviceArray<S>& array, PathEnds ends) -> Matrix<S> {
    const Matrix<double> cells = scale_of_cells_.cells<double>(array.conductance().template cast<double>());
    return effective_conductance(cells, spec_.wires, spec_.tiles, spec_.threads, ends).template cast<S>();
  };
  view(seen(plus_, PathEnds::near), seen(minus_, PathEnds::near), want_total, view_);
  if (spec_.periphery.path == TransposedPath::same_ends) return;
  LineView<S> back;
  view(seen(plus_, PathEnds::far), seen(minus_, PathEnds::far), false, back);
  view_.backward = std::move(back.weights);
}

template <class S>
std::optional<WiredDevices> DevicePairs<S>::behind_wires() const {
  if (spec_.wires.ideal()) return std::nullopt;
  return WiredDevices({spec_.mapping.kind, static_cast<double>(middle()), static_cast<double>(siemens_per_weight()),
                       spec_.wires, spec_.tiles, spec_.periphery.path},
                      scale_of_cells_.cells<double>(plus_.conductance().template cast<double>()),
                      scale_of_cells_.cells<double>(minus_.conductance().template cast<double>()));
}

template <class S>
bool DevicePairs<S>::advance_time(const Elapsed& time, std::uint64_t step) {
  constexpr std::uint64_t next_part = std::uint64_t{1} << 40U;  // numbers of the parts of a wait, beyond those of waits
  bool changed = false;
  const auto wait = [&](double seconds) {
    const Elapsed share = time.part(seconds);
    const bool plus = plus_.advance_time(share, step);
    const bool minus = minus_.advance_time(share, step);
    if (plus || minus) refresh(Since::wait);
    changed = changed || plus || minus;
    step += next_part;
  };
  refresh_clock_.pass(time.seconds, wait, [&](const Matrix<S>& weights) {
    write(weights);
    changed = true;
  });
  return changed;
}

template <class S>
std::vector<StateArray<S>> DevicePairs<S>::state() {
  const std::array<std::uint64_t, 12> counts = {
      writes_.pulses.up,       writes_.pulses.down,    writes_.programmings,     writes_.operations,
      writes_.verify_reads,    writes_.verified,       writes_.failures,         writes_.slots,
      writes_.clipped_samples, writes_.programming.up, writes_.programming.down, writes_.programming_reads};
  for (Index row = 0; row < counters_.rows(); ++row) {
    store_counter(counts[static_cast<std::size_t>(row)], row, counters_);
  }
  DeviceCells<S>& p = plus_.cells();
  DeviceCells<S>& m = minus_.cells();
  std::vector<StateArray<S>> all = {
      {"g_plus", "S", "conductance of the device of each weight, of the positive one of a pair (inputs, outputs)",
       &p.g},
      {"g_minus", "S", "conductance of the negative device of each pair, or of the reference device of each row", &m.g},
      {"g_plus_lower", "S", "lower bound of each positive device", &p.lower},
      {"g_plus_upper", "S", "upper bound of each positive device", &p.upper},
      {"g_minus_lower", "S", "lower bound of each negative device", &m.lower},
      {"g_minus_upper", "S", "upper bound of each negative device", &m.upper},
      {"g_plus_step_up", "S", "mean up pulse of each positive device", &p.step_up},
      {"g_plus_step_down", "S", "mean down pulse of each positive device", &p.step_down},
      {"g_minus_step_up", "S", "mean up pulse of each negative device", &m.step_up},
      {"g_minus_step_down", "S", "mean down pulse of each negative device", &m.step_down},
      {"g_plus_writes", "1", "pulses each positive device has received", &p.writes},
      {"g_minus_writes", "1", "pulses each negative device has received", &m.writes},
      {"write_error", "1", "mean and rms error of the last write, of the window", &write_error_},
      {"siemens_per_weight", "S", "scale between weights and conductance differences", &scale_},
      {"counters", "1",
       "rows: up pulses, down pulses, programmings, operations, verify reads, verified devices, failures, slots of "
       "pulse trains, clipped samples; then up pulses, down pulses and verify reads of programming. Columns: digits of "
       "base 2^20, lowest first",
       &counters_}};
  if (spec_.programming.update == UpdateScheme::write_verify) {
    all.push_back({"shadow_weights", "1", "digital copy of the weights", &shadow_.weights()});
    all.push_back({"shadow_written", "1", "weights the devices were last written to", &shadow_.written()});
  }
  calibration_.append_state(all);
  refresh_clock_.append_state(all);
  for (const bool plus : {true, false}) {
    for (const SlowArray<S>& array : (plus ? plus_ : minus_).slow_state()) {
      const std::string sign = plus ? "g_plus_" : "g_minus_";
      all.push_back({sign + array.name, array.unit, array.description, array.values});
    }
  }
  std::erase_if(all, [](const StateArray<S>& array) { return array.values->size() == 0; });  // no second array
  return all;
}

template <class S>
std::vector<MapReading> DevicePairs<S>::readings() const {
  const double window = spec_.device.window_S();
  const double margin = 0.01 * window;
  const auto low = static_cast<S>(spec_.device.g_min_S + margin);
  const auto high = static_cast<S>(spec_.device.g_max_S - margin);
  double sum = 0;
  double saturated = 0;
  for (const auto* array : {&plus_, &minus_}) {
    const auto g = array->conductance().array();
    sum += g.template cast<double>().sum();
    saturated += static_cast<double>((g < low || g > high).count());
  }
  const auto devices = static_cast<double>(plus_.conductance().size() + minus_.conductance().size());
  const double drop = worst_ir_drop(scale_of_cells_.cells<double>(plus_.conductance().template cast<double>()),
                                    spec_.wires, spec_.tiles);
  std::vector<MapReading> all = {
      {"ir_drop", "1",
       "figure L of the worst tile: wires, drivers and sense amplifiers eat up to L/(1 + L) of the signal", drop},
      {"conductance_mean", "S", "mean conductance of all devices", sum / devices},
      {"saturated", "1", "share of devices within 1 % of the window of one of its bounds", saturated / devices}};
  const auto read_heat = [&](std::uint64_t reads) {
    return verify_energy_J(reads, spec_.circuit, sum / devices,
                           spec_.programming.read_time * spec_.circuit.time_constant_s,
                           spec_.periphery.forward.adc.converts());
  };
  all.push_back({"write_energy", "J", "heat of all pulses since the start; 0: pulses unknown",
                 plus_.pulse_heat().total_J() + minus_.pulse_heat().total_J()});
  all.push_back({"programming_energy", "J", "of write_energy, the pulses of programming",
                 plus_.pulse_heat().programming_J() + minus_.pulse_heat().programming_J()});
  all.push_back({"write_time", "s", "time of all pulses since the start, one after another; 0: pulses unknown",
                 plus_.pulse_heat().total_s() + minus_.pulse_heat().total_s()});
  all.push_back({"programming_time", "s", "of write_time, the pulses of programming",
                 plus_.pulse_heat().programming_s() + minus_.pulse_heat().programming_s()});
  all.push_back({"verify_energy", "J",
                 "heat of all verify reads since the start at the mean conductance, and conversions",
                 read_heat(writes_.verify_reads)});
  all.push_back({"programming_reads_energy", "J", "of verify_energy, the reads of programming",
                 read_heat(writes_.programming_reads)});
  all.push_back({"devices", "1", "devices, those of the second array or of references included", devices});
  append_write_readings(all);
  return all;
}

template <class S>
void DevicePairs<S>::state_restored() {
  if (!plus_.conductance().allFinite() || !minus_.conductance().allFinite()) {
    throw UserError(
        fmt::format("crossbar {}: a restored conductance is not a finite number: the file is damaged", id_));
  }
  const auto at = [this](Index row) { return load_counter(counters_, row); };
  writes_ = {{at(0), at(1)}, at(2), at(3), at(4), at(5), at(6), at(7), at(8), {at(9), at(10)}, at(11)};
  plus_.state_restored();
  minus_.state_restored();
  const WriteCounts counted = writes_;
  const GainCalibration<S> kept = calibration_;
  const RefreshClock<S> clock = refresh_clock_;
  refresh();  // writes and reads nothing: what calibration and clock know is in the checkpoint
  writes_ = counted;
  calibration_ = kept;
  refresh_clock_ = clock;
  refresh_clock_.state_restored();
}

NUDGE_BOTH_PRECISIONS_OF(DevicePairs)

}  // namespace nudge
