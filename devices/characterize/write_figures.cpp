// SPDX-License-Identifier: Apache-2.0
#include "devices/characterize/write_figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "devices/device_array.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Device without spreads and noise.
DeviceSpec mean_of_kind(const DeviceSpec& spec) {
  DeviceSpec mean;
  mean.model = spec.model;
  mean.g_min_S = spec.g_min_S;
  mean.g_max_S = spec.g_max_S;
  mean.pulses = spec.pulses;
  mean.reference = spec.reference;
  mean.asymmetry = spec.asymmetry;
  mean.pulse_up = spec.pulse_up;
  mean.pulse_down = spec.pulse_down;
  mean.shape = spec.shape;
  mean.tables = spec.tables;
  mean.temperature_K = spec.temperature_K;
  return mean;
}

/// One device that is set and pulsed.
class Prober {
 public:
  explicit Prober(const DeviceSpec& mean) : array_(mean, 1, 1, {}) {}

  double conductance() const { return array_.conductance()(0, 0); }
  double to(double g_S) {
    array_.program(Matrix<double>::Constant(1, 1, g_S), step_++);
    return conductance();
  }
  /// Conductance after this many pulses, negative ones down.
  double send(double pulses) {
    array_.pulse(Matrix<double>::Constant(1, 1, pulses), step_++);
    return conductance();
  }

 private:
  DeviceArray<double> array_;
  std::uint64_t step_ = 1;
};

/// Share of the way after the share `at` of the pulses, of a curve of curvature k = P_max/A.
double curve(double k, double at) { return std::abs(k) < 1e-9 ? at : std::expm1(-k * at) / std::expm1(-k); }

double rms_of(const std::vector<double>& way, double k) {
  double squares = 0;
  const auto points = static_cast<double>(way.size() - 1);
  for (std::size_t i = 0; i < way.size(); ++i) {
    const double off = way[i] - curve(k, static_cast<double>(i) / points);
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(way.size()));
}

/// Curve through both ends of a branch with the least square distance; way: shares of it at equal steps of pulses. The
/// distance has one minimum in k: curves of different k cross at the ends alone.
BranchCurve fitted(const std::vector<double>& way, double pulses) {
  double low = -500, high = 500;
  for (int i = 0; i < 200; ++i) {
    const double third = (high - low) / 3;
    if (rms_of(way, low + third) < rms_of(way, high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  const double k = 0.5 * (low + high);
  const bool straight = std::abs(k) < 1e-6;
  return {straight ? std::numeric_limits<double>::infinity() : pulses / k, rms_of(way, k)};
}

/// Conductances of a branch at equal steps of pulses.
std::vector<double> branch(Prober& device, double pulses, double sign) {
  const double looks = std::min(pulses, 1000.0);
  std::vector<double> g = {device.conductance()};
  for (double sent = 0; g.size() <= static_cast<std::size_t>(looks);) {
    const double until = std::round(pulses * static_cast<double>(g.size()) / looks);
    g.push_back(device.send(sign * (until - sent)));
    sent = until;
  }
  return g;
}

BranchCurve curve_of(const std::vector<double>& g, double pulses) {
  const double way = g.back() - g.front();
  if (way == 0) return {};
  std::vector<double> share;
  for (const double one : g) share.push_back((one - g.front()) / way);
  return fitted(share, pulses);
}

/// Pulse up less pulse down from a conductance; 0 where one of them ends at a bound, which cuts it.
double difference(Prober& device, const DeviceSpec& spec, double g_S) {
  const double negligible = 1e-12 * spec.g_max_S;
  const double start = device.to(g_S), above = device.send(1);
  const double again = device.to(g_S), below = device.send(-1);
  if (above > spec.g_max_S - negligible || below < spec.g_min_S + negligible) return 0;
  const double found = (above - start) - (again - below);
  return std::abs(found) < negligible ? 0 : found;
}

/// Finds where pulses up are larger below and smaller above, between two of 400 places of the window.
void find_symmetry(Prober& device, const DeviceSpec& spec, WriteFigures& f) {
  constexpr int grid = 400;
  const auto at = [&](int k) { return spec.g_min_S + spec.window_S() * k / grid; };
  f.symmetric = true;
  double larger = 0;  // highest place below where pulses up are larger
  for (int k = 1; k < grid; ++k) {
    const double here = difference(device, spec, at(k));
    f.symmetric = f.symmetric && here == 0;
    if (here > 0) larger = at(k);
    if (here >= 0 || larger == 0) continue;
    double low = larger, high = at(k);
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (difference(device, spec, middle) > 0 ? low : high) = middle;
    }
    f.symmetry_S = 0.5 * (low + high);
    return;
  }
}

/// States over the window whose reads are 6 σ apart: 0.3 % of reads are taken for a neighbour's.
double states_of(const DeviceSpec& spec, double slow_share) {
  constexpr int points = 1000;
  double states = 1;
  for (int k = 0; k < points; ++k) {
    const double g = spec.g_min_S + spec.window_S() * (k + 0.5) / points;
    const double sigma = std::hypot(spec.read_sigma_S(g), slow_share * g);
    if (sigma == 0) return 0;
    states += spec.window_S() / points / (6 * sigma);
  }
  return states;
}

std::string curve_text(const BranchCurve& c, double pulses) {
  if (std::isinf(c.pulses)) return "straight";
  constexpr double exact = 1e-12;  // of the range: the law itself
  return fmt::format("{:.4g} ({:.4g} P_max, rms {:.2g} %)", c.pulses, c.pulses / pulses,
                     c.rms < exact ? 0 : 100 * c.rms);
}

std::string states_text(const WriteFigures& f) {
  if (f.states() == 0) return "not limited by reads, which have no noise";
  if (f.levels == 0) return fmt::format("{:.4g}, 6 sigma apart in reads of one tau", f.states());
  if (f.read_states == 0) return fmt::format("{:.4g}, as device.levels: reads have no noise", f.levels);
  return f.read_states < f.levels
             ? fmt::format("{:.4g}, 6 sigma apart in reads of one tau, of {:.4g} device.levels", f.states(), f.levels)
             : fmt::format("{:.4g}, as device.levels: reads of one tau keep {:.4g} apart by 6 sigma", f.levels,
                           f.read_states);
}

}  // namespace

WriteFigures write_figures(const DeviceSpec& spec, double pulses, double slow_share) {
  const DeviceSpec mean = mean_of_kind(spec);
  WriteFigures f;
  f.pulses = std::round(pulses > 0 ? pulses : spec.pulses);
  Prober device(mean);
  f.start_S = device.to(spec.g_min_S);
  const std::vector<double> up = branch(device, f.pulses, 1);
  const std::vector<double> down = branch(device, f.pulses, -1);
  f.top_S = up.back();
  f.end_S = down.back();
  f.up = curve_of(up, f.pulses);
  f.down = curve_of(down, f.pulses);
  find_symmetry(device, mean, f);
  f.read_states = states_of(spec, slow_share);
  f.levels = spec.levels;
  f.endurance = spec.endurance;
  return f;
}

std::string figures_text(const WriteFigures& f, const DeviceSpec& spec) {
  const auto siemens = [](double g) { return format_quantity(g, Unit::siemens, 4); };
  const std::string range = f.start_S > 0 ? fmt::format("{:.4g}", f.dynamic_range()) : "infinite";
  std::string out = fmt::format("  {:<22} {} to {}, back to {}: dynamic range {}, {:.3g} % of the window\n",
                                fmt::format("{:.4g} pulses each way", f.pulses), siemens(f.start_S), siemens(f.top_S),
                                siemens(f.end_S), range, 100 * (f.top_S - f.start_S) / spec.window_S());
  out += fmt::format("  NeuroSim's curves      A_LTP {}, A_LTD {}\n", curve_text(f.up, f.pulses),
                     curve_text(f.down, f.pulses));
  if (f.symmetry_S > 0) {
    out += fmt::format("  symmetry point         {} ({:.3g} % of the window)\n", siemens(f.symmetry_S),
                       100 * (f.symmetry_S - spec.g_min_S) / spec.window_S());
  } else {
    out += fmt::format("  symmetry point         {}\n",
                       f.symmetric ? "all conductances: pulses up and down are equal" : "none within the window");
  }
  out += fmt::format("  states                 {}\n", states_text(f));
  if (f.endurance > 0) {
    out += fmt::format("  endurance              {:.4g} pulses: {:.4g} such records\n", f.endurance,
                       f.endurance / (2 * f.pulses));
  }
  return out;
}

nlohmann::ordered_json figures_json(const WriteFigures& f) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  return {{"pulses", f.pulses},
          {"start_S", f.start_S},
          {"top_S", f.top_S},
          {"end_S", f.end_S},
          {"dynamic_range", known(f.dynamic_range())},
          {"A_LTP", number(f.up.pulses)},
          {"A_LTD", number(f.down.pulses)},
          {"A_LTP_rms", f.up.rms},
          {"A_LTD_rms", f.down.rms},
          {"symmetry_S", known(f.symmetry_S)},
          {"symmetric", f.symmetric},
          {"states", known(f.states())},
          {"endurance_pulses", known(f.endurance)}};
}

void write_figures(H5Document& file, const WriteFigures& f) {
  file.group("figures", "figures of merit of the mean device and of its reads, as the command prints them");
  const nlohmann::ordered_json all = figures_json(f);
  for (const auto& [name, value] : all.items()) {
    if (value.is_boolean()) continue;
    file.attribute(name, value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>(), "figures");
  }
}

}  // namespace nudge
