// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_pulses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/fit_watch.hpp"
#include "devices/fit/lab_devices.hpp"
#include "devices/fit/population_likelihood.hpp"
#include "devices/spreads.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

/// Sum over pulses of the variance over cycles of the conductance, of the window squared, and the number of pulses; zero
/// where the cycles differ in their pulses.
std::pair<double, double> repeat_of(const LabDevice& device, double window) {
  const auto& cycles = device.cycles;
  const bool same = std::all_of(cycles.begin(), cycles.end(), [&](const PulseRecord& c) {
    return c.pulses() == cycles.front().pulses() &&
           std::equal(c.direction.begin() + 1, c.direction.end(), cycles.front().direction.begin() + 1);
  });
  if (cycles.size() < 2 || !same) return {0, 0};
  double sum = 0;
  for (std::size_t i = 1; i < cycles.front().conductance_S.size(); ++i) {
    double mean = 0, squares = 0;
    for (const PulseRecord& c : cycles) mean += c.conductance_S[i] / static_cast<double>(cycles.size());
    for (const PulseRecord& c : cycles) squares += (c.conductance_S[i] - mean) * (c.conductance_S[i] - mean);
    sum += squares / static_cast<double>(cycles.size() - 1) / (window * window);
  }
  return {sum, static_cast<double>(cycles.front().pulses())};
}

/// Spec with its pulses and slopes at another reference conductance; the curve stays. Tables and label curves have no slopes.
/// The curve of exponential_step moves with the reference, so that its pulses are those at the new one.
DeviceSpec at_reference(DeviceSpec spec, double g_S) {
  const bool lines = spec.model == "linear_step" || spec.model == "soft_bounds";
  const double above = spec.g_max_S - g_S, below = g_S - spec.g_min_S;
  if (!(above > 0 && below > 0) || !(lines || spec.model == "power_step")) return spec;
  const double window = spec.window_S(), half = window / 2;  // fits have the reference in the middle
  auto [up, down] = steps_of_spec(spec);
  const auto moved = [&](double& step, double room, const char* name) {
    if (spec.model == "power_step") {
      step *= std::pow(room / half, spec.shape_value(name));
      return;
    }
    const double gamma = lines && spec.model == "linear_step" ? spec.shape_value(name) : 1;
    const double there = 1 - gamma * (half - room) / half;
    step *= there;
    if (spec.model == "linear_step") spec.shape[name] = std::min(gamma * room / half / there, 1.0);
  };
  moved(up, above, "gamma_up");
  moved(down, below, "gamma_down");
  spec.reference = below / window;
  set_steps(spec, up, down);
  return spec;
}

/// Sets the numbers that are no joint coordinates to their means over the devices.
void set_mean_shape(DeviceSpec& spec, const std::vector<DeviceFit>& each) {
  const auto n = static_cast<double>(each.size());
  for (auto& [name, value] : spec.shape) {
    value = 0;
    for (const DeviceFit& one : each) value += one.fit.spec.shape.at(name) / n;
  }
  for (auto& [name, values] : spec.tables) {
    std::fill(values.begin(), values.end(), 0.0);
    for (const DeviceFit& one : each) {
      for (std::size_t k = 0; k < values.size(); ++k) values[k] += one.fit.spec.tables.at(name)[k] / n;
    }
  }
  double squares = 0, floors = 0;
  for (const DeviceFit& one : each) {
    squares += one.fit.spec.update_noise * one.fit.spec.update_noise / n;
    floors += one.fit.spec.update_noise_floor * one.fit.spec.update_noise_floor / n;
  }
  spec.update_noise = std::sqrt(squares);
  spec.update_noise_floor = std::sqrt(floors);
  if (!spec.retention.leaks()) return;
  double log_time = 0, rest = 0, deviation = 0;
  for (const DeviceFit& one : each) {
    log_time += std::log(one.fit.spec.retention.leak_time_s) / n;
    rest += one.fit.spec.retention.leak_rest / n;
  }
  for (const DeviceFit& one : each) {
    deviation += std::pow(std::log(one.fit.spec.retention.leak_time_s) - log_time, 2) / (n - 1);
  }
  spec.retention.leak_time_s = std::exp(log_time);
  spec.retention.leak_spread = std::sqrt(deviation);
  spec.retention.leak_rest = rest;
}

/// Sets the sample mean and covariance of the devices in joint coordinates.
void set_joint(DeviceSpec& spec, const std::vector<DeviceFit>& each, double reference_S) {
  const Eigen::Index size = joint_size(spec.model);
  const auto n = static_cast<Eigen::Index>(each.size());
  Eigen::MatrixXd all(n, size);
  for (Eigen::Index d = 0; d < n; ++d) {
    all.row(d) = joint_coordinates(at_reference(each[static_cast<std::size_t>(d)].fit.spec, reference_S)).transpose();
  }
  const Eigen::VectorXd mean = all.colwise().mean().transpose();
  const Eigen::MatrixXd off = all.rowwise() - mean.transpose();
  const Eigen::MatrixXd covariance = off.transpose() * off / static_cast<double>(n - 1);
  set_joint_coordinates(spec, mean);
  spec.reference = std::clamp((reference_S - spec.g_min_S) / spec.window_S(), 0.05, 0.95);
  spec.joint_covariance.assign(covariance.data(), covariance.data() + covariance.size());
}

/// Sets the residuals to root mean squares over devices, and the criteria to those of all.
void add_residuals(PulseFit& common, const std::vector<DeviceFit>& each) {
  const auto n = static_cast<double>(each.size());
  const auto rms = [&](double PulseFit::*field) {
    double squares = 0;
    for (const DeviceFit& one : each) squares += one.fit.*field * (one.fit.*field) / n;
    return std::sqrt(squares);
  };
  common.step_residual = rms(&PulseFit::step_residual);
  common.curve_residual = rms(&PulseFit::curve_residual);
  common.mean_residual = rms(&PulseFit::mean_residual);
  common.read_noise = rms(&PulseFit::read_noise);
  LikelihoodFit& all = common.likelihood;
  for (const DeviceFit& one : each) {
    common.autocorrelation += one.fit.autocorrelation / n;
    all.innovation_correlation += one.fit.likelihood.innovation_correlation / n;
    all.deviance += one.fit.likelihood.deviance;
    all.numbers += one.fit.likelihood.numbers;
    all.values += one.fit.likelihood.values;
  }
}

/// Mean and deviation of a sample.
DeviceEstimate sample_of(const std::vector<double>& values) {
  DeviceEstimate out;
  out.n = static_cast<int>(values.size());
  const double n = out.n;
  for (const double v : values) out.mean += v / n;
  if (out.n < 2) return out;
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  return out;
}

DeviceEstimate sample_of(const std::vector<DeviceFit>& each, double (*value)(const DeviceSpec&)) {
  std::vector<double> values;
  for (const DeviceFit& one : each) values.push_back(value(one.fit.spec));
  return sample_of(values);
}

double g_min_of(const DeviceSpec& spec) { return spec.g_min_S; }
double g_max_of(const DeviceSpec& spec) { return spec.g_max_S; }
double pulse_of(const DeviceSpec& spec) { return spec.window_S() / spec.pulses; }
double asymmetry_of(const DeviceSpec& spec) { return spec.asymmetry; }

/// Sets the common fit and the estimates from the devices' fits. The means are those of the common spec.
void set_common(PopulationFit& fit, const std::vector<DeviceFit>& each) {
  fit.common = each.front().fit;
  if (fit.devices > 1) {
    const double low = sample_of(each, g_min_of).mean, high = sample_of(each, g_max_of).mean;
    PulseFit& common = fit.common;
    common = {};
    common.spec = each.front().fit.spec;
    set_mean_shape(common.spec, each);
    set_joint(common.spec, each, low + 0.5 * (high - low));
    set_mean_pulses(common.spec);
    add_residuals(common, each);
  }
  const auto estimate = [&](double (*value)(const DeviceSpec&)) {
    DeviceEstimate out = sample_of(each, value);
    out.mean = value(fit.common.spec);
    return out;
  };
  fit.g_min_S = estimate(g_min_of);
  fit.g_max_S = estimate(g_max_of);
  fit.step_S = estimate(pulse_of);
  fit.asymmetry = estimate(asymmetry_of);
  if (std::isfinite(fit.repeat)) fit.common.spec.programming_error = fit.repeat;
  fit.common.spec.validate();
}

}  // namespace

PopulationFit fit_population(const std::vector<LabRecord>& records, const std::string& model, int points) {
  NUDGE_EXPECT(!records.empty());
  const std::vector<LabDevice> devices = by_device(records);
  PopulationFit out;
  out.devices = static_cast<int>(devices.size());
  out.records = static_cast<int>(records.size());
  out.each.resize(devices.size());
  const bool waits =
      std::any_of(records.begin(), records.end(), [](const LabRecord& r) { return !r.pulses.waits.empty(); });
  std::vector<DeviceFit> leaking(waits ? devices.size() : 0);
  parallel_for(static_cast<Index>(devices.size()), devices.size() > 1 ? 0 : 1, [&](Index d, int) {
    const auto k = static_cast<std::size_t>(d);
    out.each[k] = fit_device(devices[k], model, points, LeakLaw::none);
    if (waits) leaking[k] = fit_device(devices[k], model, points, LeakLaw::exponential);
    fit_did_one();
  });
  if (waits && schwarz_of(leaking) < schwarz_of(out.each)) out.each = std::move(leaking);
  share_noise(devices, model, points, out.each);
  double squares = 0, pulses = 0;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const auto [sum, counted] = repeat_of(devices[k], out.each[k].fit.spec.window_S());
    squares += sum;
    pulses += counted;
  }
  out.repeat = pulses > 0 ? std::sqrt(squares / pulses) : std::nan("");
  set_common(out, out.each);
  return out;
}

namespace {

/// Number of a spec by its name; of noise of reads, absent.
std::optional<double> number_of(const DeviceSpec& spec, const std::string& name) {
  if (name == "g_min") return spec.g_min_S;
  if (name == "g_max") return spec.g_max_S;
  if (name == "pulse_up") return steps_of_spec(spec).first * spec.window_S();
  if (name == "pulse_down") return steps_of_spec(spec).second * spec.window_S();
  if (name == "update_noise") return spec.update_noise;
  if (name == "leak_time") return spec.retention.leak_time_s;
  if (name == "leak_rest") return spec.retention.leak_rest;
  if (!name.starts_with(spec.model + ".")) return std::nullopt;
  return spec.shape_value(name.substr(spec.model.size() + 1));
}

using Ends = std::pair<std::optional<double>, std::optional<double>>;

/// Ends in ascending order, moved outwards to hold a value.
Ends around(double value, Ends ends, bool falls) {
  if (falls) std::swap(ends.first, ends.second);
  if (ends.first) ends.first = std::min(*ends.first, value);
  if (ends.second) ends.second = std::max(*ends.second, value);
  return ends;
}

/// Adds mean and deviation of the numbers over devices, with their intervals. The deviation's is of first order in the number.
void add_shared(PopulationFit& fit, const std::vector<DeviceFit>& among, const std::vector<SharedNumber>& shared) {
  for (const auto& [number, over] : shared) {
    const auto at = [&number = number](const std::optional<double>& scaled) {
      return scaled ? std::optional<double>(number.number_at(*scaled)) : std::nullopt;
    };
    const bool falls = number.number_at(1) < number.number_at(0);
    const double typical = number.number_at(over.mean);
    const double slope = std::abs(number.number_at(over.mean + 1e-4) - typical) / 1e-4;
    const auto in_units = [&](const std::optional<double>& scaled) {
      return scaled ? std::optional<double>(*scaled * slope) : std::nullopt;
    };
    DeviceEstimate e{fit.devices, typical, over.deviation * slope};
    if (const auto own = number_of(fit.common.spec, number.name)) {
      std::vector<double> values;
      for (const DeviceFit& one : among) values.push_back(*number_of(one.fit.spec, number.name));
      e = sample_of(values);
      e.mean = *own;
    }
    const Ends told = {at(over.mean_low), at(over.mean_high)};
    std::tie(e.mean_low, e.mean_high) = around(e.mean, told, falls);
    const auto [low, high] = falls ? Ends{told.second, told.first} : told;
    if ((low && e.mean < *low) || (high && e.mean > *high)) {
      fit.common.of_devices.push_back(fmt::format(
          "{}: the mean of the devices' best values lies outside the interval that the population tells; some "
          "devices do not determine it, and the interval was widened to hold it",
          number.name));
    }
    std::tie(e.deviation_low, e.deviation_high) =
        around(e.deviation, {in_units(over.deviation_low), in_units(over.deviation_high)}, false);
    fit.common.intervals.push_back({number.name, number.unit, e.mean, e.mean_low, e.mean_high});
    fit.spreads.push_back(e);
  }
}

const DeviceEstimate* spread_of(const PopulationFit& fit, const std::string& name) {
  for (std::size_t k = 0; k < fit.spreads.size(); ++k) {
    if (fit.common.intervals[k].name == name) return &fit.spreads[k];
  }
  return nullptr;
}

/// Asymmetry of pulses of which those down are exp(log_ratio) times those up.
double asymmetry_at(double log_ratio) { return log_ratio < 0 ? 1 - std::exp(log_ratio) : std::exp(-log_ratio) - 1; }

/// Estimates of the header from those of the numbers. The asymmetry has an interval where every device closes both pulses.
void set_header(PopulationFit& fit) {
  if (const auto* g = spread_of(fit, "g_min")) fit.g_min_S = *g;
  if (const auto* g = spread_of(fit, "g_max")) fit.g_max_S = *g;
  const DeviceEstimate *up = spread_of(fit, "pulse_up"), *down = spread_of(fit, "pulse_down");
  if (up == nullptr || down == nullptr) return;
  fit.step_S = up->mean > down->mean ? *up : *down;
  std::vector<NumberProfile> ratios;
  for (const DeviceFit& one : fit.each) {
    if (auto profile = ratio_profile(one.fit)) ratios.push_back(std::move(*profile));
  }
  if (ratios.size() < fit.each.size() || fit.devices < 2) return;
  const NumberOverDevices over = number_over_devices(ratios);
  const auto at = [](const std::optional<double>& x) {
    return x ? std::optional<double>(asymmetry_at(*x)) : std::nullopt;
  };
  DeviceEstimate& e = fit.asymmetry;
  std::tie(e.mean_low, e.mean_high) = around(e.mean, {at(over.mean_low), at(over.mean_high)}, true);
  const double slope = std::exp(-std::abs(over.mean));
  const auto scaled = [slope](const std::optional<double>& x) {
    return x ? std::optional<double>(*x * slope) : std::nullopt;
  };
  std::tie(e.deviation_low, e.deviation_high) =
      around(e.deviation, {scaled(over.deviation_low), scaled(over.deviation_high)}, false);
}

/// Adds the warnings of devices that the population itself does not have, each kind once.
void add_warnings(PopulationFit& fit) {
  const auto kind = [](const std::string& warning) { return warning.substr(0, warning.find(" by ")); };
  std::map<std::string, std::vector<std::string>> devices;
  std::map<std::string, std::string> text;
  for (const DeviceFit& one : fit.each) {
    for (const std::string& warning : one.fit.warnings()) {
      devices[kind(warning)].push_back(one.name);
      text.emplace(kind(warning), warning);
    }
  }
  for (const std::string& own : fit.common.warnings()) text.erase(kind(own));
  for (const auto& [key, warning] : text) {
    fit.common.of_devices.push_back(fmt::format("{} of {} devices (first: {}): {}", devices[key].size(), fit.devices,
                                                devices[key].front(), warning));
  }
}

}  // namespace

void add_intervals(PopulationFit& fit, const std::vector<LabRecord>& records) {
  const std::vector<LabDevice> devices = by_device(records);
  begin_fit_stage(fit.devices);
  parallel_for(static_cast<Index>(devices.size()), devices.size() > 1 ? 0 : 1, [&](Index d, int) {
    const auto k = static_cast<std::size_t>(d);
    add_intervals(fit.each[k].fit, devices[k].cycles);
    fit_did_one();
  });
  if (fit.devices == 1) {
    set_common(fit, fit.each);  // the search for intervals may have met a better maximum
    for (const FittedNumber& n : fit.common.intervals) fit.spreads.push_back({1, n.value, 0, n.low, n.high});
    set_header(fit);
    return;
  }
  const std::vector<SharedNumber> shared = shared_numbers(fit.each, devices.front().cycles);
  std::vector<DeviceFit> among(devices.size());
  parallel_for(static_cast<Index>(devices.size()), 0, [&](Index d, int) {
    const auto k = static_cast<std::size_t>(d);
    among[k] = {fit.each[k].name, fit_among(fit.each[k].fit, devices[k].cycles, shared)};
  });
  set_common(fit, among);
  RecordRange& range = fit.common.range = among.front().fit.range;
  for (const DeviceFit& one : among) {
    range = {std::min(range.low, one.fit.range.low), std::max(range.high, one.fit.range.high)};
  }
  add_shared(fit, among, shared);
  open_bounds(fit);
  set_header(fit);
  add_warnings(fit);
}

}  // namespace nudge
