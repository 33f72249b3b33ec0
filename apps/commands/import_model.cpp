// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/device_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/import/model_table.hpp"
#include "apps/streams.hpp"
#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge {
namespace {

// Each brings the states nearer to equal steps of the conductance, by linear interpolation of the last table.
constexpr int refinements = 3;

double import_quantity(const char* option, const std::string& text, Unit unit) {
  const Quantity q = read_quantity(text, unit);
  if (!q.problem.empty()) throw UserError(fmt::format("devices import: {} \"{}\": {}", option, text, q.problem));
  return q.value;
}

/// Reads a range "LOW,HIGH".
std::pair<double, double> range_option(const char* option, const std::string& text, Unit unit) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw UserError(fmt::format("devices import: {} \"{}\" (two numbers are needed, LOW,HIGH)", option, text));
  }
  const double low = import_quantity(option, text.substr(0, comma), unit);
  const double high = import_quantity(option, text.substr(comma + 1), unit);
  if (!(low < high)) throw UserError(fmt::format("devices import: {} \"{}\" (LOW must be below HIGH)", option, text));
  return {low, high};
}

std::vector<double> evenly(double low, double high, int points) {
  std::vector<double> out;
  for (int k = 0; k < points; ++k) out.push_back(low + (high - low) * k / (points - 1));
  return out;
}

std::map<std::string, double> parameters_of(const std::vector<std::string>& settings) {
  std::map<std::string, double> out;
  for (const std::string& one : settings) {
    const std::size_t equal = one.find('=');
    if (equal == std::string::npos || equal == 0) {
      throw UserError(fmt::format("devices import: --parameter \"{}\" (must be NAME=VALUE)", one));
    }
    out[one.substr(0, equal)] = import_quantity("--parameter", one.substr(equal + 1), Unit::none);
  }
  return out;
}

/// Number of pulses across the window, as many as the mean of those up and down in its middle takes.
double pulses_of(const DeviceSpec& spec) {
  DeviceArray<double> array(spec, 1, 2, {});
  const double middle = 0.5 * (spec.g_min_S + spec.g_max_S);
  array.cells().g.setConstant(middle);
  Matrix<double> counts(1, 2);
  counts << 1, -1;
  array.pulse(counts, 0);
  const double step = 0.5 * (array.conductance().array() - middle).abs().sum();
  return std::clamp(spec.window_S() / std::max(step, 1e-9 * spec.window_S()), 2.0, 1e6);
}

}  // namespace

ExitCode import_model(const ImportOptions& options) {
  if (!options.out.empty()) check_output_path(options.out, Overwrite::must_not_exist);
  ModelQuestion question;
  question.file = options.file;
  question.module = options.module;
  question.state = options.state;
  question.python = options.python;
  question.wait_s = options.wait_s;
  question.parameters = parameters_of(options.parameters);
  question.step_s = import_quantity("--step", options.step, Unit::second);
  const auto [low_V, high_V] = range_option("--volts", options.volts, Unit::volt);
  const auto [first, last] = range_option("--states", options.states, Unit::none);
  const double read_V = import_quantity("--read", options.read, Unit::volt);
  if (!(low_V < 0 && high_V > 0)) throw UserError("devices import: --volts must reach from below 0 V to above it");
  question.volts = evenly(low_V, high_V, options.points);
  for (const double exact : {0.0, read_V}) question.volts.push_back(exact);
  std::sort(question.volts.begin(), question.volts.end());
  const double closest = 1e-9 * (high_V - low_V);
  const auto same = [&](double a, double b) { return b - a < closest; };
  question.volts.erase(std::unique(question.volts.begin(), question.volts.end(), same), question.volts.end());
  question.states = evenly(first, last, options.levels);
  StateTable table = model_table(question);
  tabulated_device(table, read_V, options.levels);  // refuses conductances that do not tell the state
  for (int pass = 0; pass < refinements; ++pass) {
    question.states = even_states(table, read_V);
    table = model_table(question);
  }
  DeviceSpec spec = tabulated_device(table, read_V, options.levels);
  spec.shape = {{"pulse_up", high_V},
                {"pulse_down", low_V},
                {"pulse_width", import_quantity("--width", options.width, Unit::second)}};
  spec.pulses = pulses_of(spec);
  spec.validate();
  const std::string toml = fmt::format("# {}\n{}", options.file, device_toml(spec));
  if (!options.out.empty()) write_atomically(options.out, std::as_bytes(std::span(toml)), Overwrite::must_not_exist);
  if (options.json) {
    answer("{}\n", json_text(nlohmann::json{{"model", spec.model},
                                            {"g_min_S", spec.g_min_S},
                                            {"g_max_S", spec.g_max_S},
                                            {"pulses", spec.pulses},
                                            {"voltages", question.volts.size()},
                                            {"states", options.levels}},
                             2));
  } else if (options.out.empty()) {
    answer("{}", toml);
  } else {
    answer("{}: {} to {} at {}, {:.3g} pulses of {} and {} for {}\n", options.out,
           format_quantity(spec.g_min_S, Unit::siemens, 4), format_quantity(spec.g_max_S, Unit::siemens, 4),
           format_quantity(read_V, Unit::volt, 3), spec.pulses, format_quantity(high_V, Unit::volt, 3),
           format_quantity(low_V, Unit::volt, 3), options.width);
  }
  return ExitCode::ok;
}

}  // namespace nudge
