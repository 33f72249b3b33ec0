// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_population.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <sstream>

#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/student_t.hpp"
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

/// Sum over pulses of the variance over cycles of the conductance, of the window squared, and how many pulses; zero where the
/// cycles differ in their pulses.
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
  std::vector<PulseRecord> all;
  std::vector<double> low, high, step, asymmetry;
  double squares = 0, pulses = 0, residual = 0;
  for (const LabDevice& device : devices) {
    PulseFit own;
    try {
      own = fit_records(device.cycles, model, points);
    } catch (const UserError& error) {
      throw UserError(device.name.empty() ? error.what() : fmt::format("device {}: {}", device.name, error.what()));
    }
    all.insert(all.end(), device.cycles.begin(), device.cycles.end());
    low.push_back(own.spec.g_min_S);
    high.push_back(own.spec.g_max_S);
    step.push_back(own.spec.window_S() / own.spec.pulses);
    asymmetry.push_back(own.spec.asymmetry);
    residual += own.spec.update_noise * own.spec.update_noise / static_cast<double>(devices.size());
    const auto [sum, counted] = repeat_of(device, own.spec.window_S());
    squares += sum;
    pulses += counted;
  }
  out.g_min_S = device_estimate(low);
  out.g_max_S = device_estimate(high);
  out.step_S = device_estimate(step);
  out.asymmetry = device_estimate(asymmetry);
  out.repeat = pulses > 0 ? std::sqrt(squares / pulses) : std::nan("");
  out.common = fit_records(all, model, points);
  DeviceSpec& spec = out.common.spec;
  spec.g_min_S = out.g_min_S.mean;  // of devices, whose spreads are around them
  spec.g_max_S = out.g_max_S.mean;
  const double below = spec.g_reference_S() - spec.g_min_S, above = spec.g_max_S - spec.g_reference_S();
  spec.lower_bound_spread = out.g_min_S.deviation / below;
  spec.upper_bound_spread = out.g_max_S.deviation / above;
  spec.step_spread = out.step_S.deviation / out.step_S.mean;
  spec.update_noise = std::sqrt(residual);  // of each device around its own curve: their differences are spreads
  if (std::isfinite(out.repeat)) spec.programming_error = out.repeat;
  spec.validate();
  return out;
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
