// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_pulses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <sstream>

#include "devices/fit/fit_numbers.hpp"
#include "devices/spreads.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

struct LabDevice {
  std::string name;
  std::vector<PulseRecord> cycles;
};

std::vector<LabDevice> by_device(const std::vector<LabRecord>& records) {
  std::vector<LabDevice> devices;
  for (const LabRecord& record : records) {
    auto own =
        std::find_if(devices.begin(), devices.end(), [&](const LabDevice& d) { return d.name == record.device; });
    if (own == devices.end()) own = devices.insert(devices.end(), LabDevice{record.device, {}});
    own->cycles.push_back(record.pulses);
  }
  return devices;
}

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

std::string estimate_row(const char* name, const DeviceEstimate& e, Unit unit) {
  const auto text = [&](double v) {
    return unit == Unit::none ? fmt::format("{:.4g}", v) : format_quantity(v, unit, 4);
  };
  if (e.n < 2) return fmt::format("  {:<12} {}\n", name, text(e.mean));
  return fmt::format("  {:<12} {} [{}, {}], devices differ by {} [{}, {}]\n", name, text(e.mean), text(e.mean_low),
                     text(e.mean_high), text(e.deviation), text(e.deviation_low), text(e.deviation_high));
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
  double squares = 0;
  for (const DeviceFit& one : each) squares += one.fit.spec.update_noise * one.fit.spec.update_noise / n;
  spec.update_noise = std::sqrt(squares);
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

/// Sets the estimates over the devices from their fits.
void set_estimates(PopulationFit& fit) {
  const auto over_devices = [&](const auto& value) {
    std::vector<double> values;
    for (const DeviceFit& one : fit.each) values.push_back(value(one.fit.spec));
    return device_estimate(values);
  };
  fit.g_min_S = over_devices([](const DeviceSpec& s) { return s.g_min_S; });
  fit.g_max_S = over_devices([](const DeviceSpec& s) { return s.g_max_S; });
  fit.step_S = over_devices([](const DeviceSpec& s) { return s.window_S() / s.pulses; });
  fit.asymmetry = over_devices([](const DeviceSpec& s) { return s.asymmetry; });
}

PulseFit common_of(const PopulationFit& fit) {
  if (fit.devices == 1) return fit.each.front().fit;
  PulseFit common;
  common.spec = fit.each.front().fit.spec;
  set_mean_shape(common.spec, fit.each);
  set_joint(common.spec, fit.each, fit.g_min_S.mean + 0.5 * (fit.g_max_S.mean - fit.g_min_S.mean));
  add_residuals(common, fit.each);
  return common;
}

DeviceFit fit_device(const LabDevice& device, const std::string& model, int points) {
  try {
    return {device.name, fit_records(device.cycles, model, points)};
  } catch (const UserError& error) {
    throw UserError(device.name.empty() ? error.what() : fmt::format("device {}: {}", device.name, error.what()));
  }
}

}  // namespace

DeviceEstimate device_estimate(const std::vector<double>& values) {
  DeviceEstimate out;
  out.n = static_cast<int>(values.size());
  if (values.empty()) return out;
  const double n = out.n;
  for (const double v : values) out.mean += v / n;
  out.mean_low = out.mean_high = out.mean;
  if (out.n < 2) return out;
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  const double half = student_t_half_width(out.deviation, out.n);
  out.mean_low -= half;
  out.mean_high += half;
  const boost::math::chi_squared chi(n - 1);
  out.deviation_low = out.deviation * std::sqrt((n - 1) / boost::math::quantile(chi, 0.975));
  out.deviation_high = out.deviation * std::sqrt((n - 1) / boost::math::quantile(chi, 0.025));
  return out;
}

PopulationFit fit_population(const std::vector<LabRecord>& records, const std::string& model, int points) {
  NUDGE_EXPECT(!records.empty());
  const std::vector<LabDevice> devices = by_device(records);
  PopulationFit out;
  out.devices = static_cast<int>(devices.size());
  out.records = static_cast<int>(records.size());
  out.each.resize(devices.size());
  parallel_for(static_cast<Index>(devices.size()), devices.size() > 1 ? 0 : 1, [&](Index d, int) {
    const auto k = static_cast<std::size_t>(d);
    out.each[k] = fit_device(devices[k], model, points);
  });
  double squares = 0, pulses = 0;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const auto [sum, counted] = repeat_of(devices[k], out.each[k].fit.spec.window_S());
    squares += sum;
    pulses += counted;
  }
  set_estimates(out);
  out.repeat = pulses > 0 ? std::sqrt(squares / pulses) : std::nan("");
  out.common = common_of(out);
  if (std::isfinite(out.repeat)) out.common.spec.programming_error = out.repeat;
  out.common.spec.validate();
  return out;
}

void add_intervals(PopulationFit& fit, const std::vector<LabRecord>& records) {
  if (fit.devices != 1) return;
  DeviceFit& only = fit.each.front();
  add_intervals(only.fit, by_device(records).front().cycles);
  set_estimates(fit);  // the search for intervals may have met a better maximum
  const double repeat = fit.common.spec.programming_error;
  fit.common = only.fit;
  fit.common.spec.programming_error = repeat;
}

std::string population_text(const PopulationFit& fit) {
  std::string out = fmt::format("{} devices, {} records; 95 % intervals\n", fit.devices, fit.records);
  out += estimate_row("g_min", fit.g_min_S, Unit::siemens) + estimate_row("g_max", fit.g_max_S, Unit::siemens) +
         estimate_row("pulse", fit.step_S, Unit::siemens) + estimate_row("asymmetry", fit.asymmetry, Unit::none);
  if (std::isfinite(fit.repeat)) {
    out += fmt::format("  the same pulses again reach the same conductance within {:.3g} % of the window (rms)\n",
                       100 * fit.repeat);
  }
  return out;
}

std::string fit_toml(const PopulationFit& fit, const std::string& source) {
  std::istringstream rows(population_text(fit));
  std::string out;
  for (std::string row; std::getline(rows, row);) out += "# " + row + "\n";
  return out + fit_toml(fit.common, source);
}

}  // namespace nudge
