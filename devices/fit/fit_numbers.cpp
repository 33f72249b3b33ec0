// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "devices/fit/pulse_law.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

double logit(double p) { return std::log(p / (1 - p)); }
double share(double x) { return 1 / (1 + std::exp(-x)); }
double power(double x) { return std::exp(std::min(x, std::log(10.0))); }

/// Pulses of one direction: sizes of their volts, and their widths.
struct VoltSide {
  std::vector<double> volts, widths;

  std::size_t amplitudes() const { return std::set<double>(volts.begin(), volts.end()).size(); }
  double highest() const { return *std::max_element(volts.begin(), volts.end()); }
  double lowest() const { return *std::min_element(volts.begin(), volts.end()); }
};

VoltSide side_of(const std::vector<PulseRecord>& records, Direction direction) {
  VoltSide side;
  for (const PulseRecord& record : records) {
    for (std::size_t i = 1; i < record.direction.size(); ++i) {
      if (record.direction[i] != direction) continue;
      side.volts.push_back(std::abs(record.volts[i]));
      side.widths.push_back(record.width_s[i]);
    }
  }
  return side;
}

/// Largest number of pulses of a direction behind one another.
double longest_run(const std::vector<PulseRecord>& records, Direction direction) {
  double longest = 1;
  for (const PulseRecord& record : records) {
    double run = 0;
    for (std::size_t i = 1; i < record.direction.size(); ++i) {
      run = record.direction[i] == direction ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  return longest;
}

struct Adder {
  FitNumbers& out;
  const DeviceSpec& first;
  /// Adds a number with its name and unit. value: from its coordinate; start, second: coordinates where the two searches begin.
  void add(const std::string& name, const std::string& unit, std::function<double(double)> value, double start,
           double second) const {
    out.numbers.push_back({first.model + "." + name, unit, {start, second}, std::move(value), start});
  }
  /// Adds a speed, whose second start is half an order of magnitude higher.
  void add_speed(const std::string& name) const {
    const double start = std::log(first.shape_value(name));
    add(
        name, "1", [](double x) { return std::exp(x); }, start, start + std::log(3.0));
  }
  void add_threshold(const std::string& name, double highest, double sign) const {
    const double start = logit(std::abs(first.shape_value(name)) / highest);
    add(
        name, "V", [=](double x) { return sign * highest * share(x); }, start, start + 1);
  }
  void add_power(const std::string& name, double second) const {
    add(name, "1", power, std::log(first.shape_value(name)), std::log(second));
  }
  void add_place(const std::string& name) const { add(name, "1", share, 0, 0); }
};

}  // namespace

std::optional<Direction> unmeasured_direction(const std::vector<PulseRecord>& records) {
  bool up = false, down = false;
  for (const PulseRecord& record : records) {
    for (std::size_t i = 1; i < record.direction.size(); ++i) (record.direction[i] == Direction::up ? up : down) = true;
  }
  if (up == down) return {};
  return up ? Direction::down : Direction::up;
}

void mirror_direction(DeviceSpec& spec, Direction unmeasured) {
  const std::string to = unmeasured == Direction::up ? "up" : "down",
                    from = unmeasured == Direction::up ? "down" : "up";
  const auto turned = [&](const std::string& stem) {
    return stem == "pulse_" || stem == "label_" || (stem == "threshold_" && spec.model == "vteam");
  };
  const std::map<std::string, double> shape = spec.shape;
  for (const auto& [name, value] : shape) {
    if (!name.ends_with("_" + from)) continue;
    const std::string stem = name.substr(0, name.size() - from.size());
    spec.shape[stem + to] = turned(stem) ? -value : value;
  }
  if (const auto own = spec.tables.find(from); own != spec.tables.end()) {
    spec.tables[to].assign(own->second.rbegin(), own->second.rend());
  }
  spec.asymmetry = 0;
}

namespace {

/// Measured directions, with the ends of their names.
std::vector<std::pair<Direction, std::string>> measured_directions(const std::vector<PulseRecord>& records) {
  const std::optional<Direction> none = unmeasured_direction(records);
  std::vector<std::pair<Direction, std::string>> all;
  if (none != Direction::up) all.emplace_back(Direction::up, "up");
  if (none != Direction::down) all.emplace_back(Direction::down, "down");
  return all;
}

}  // namespace

DeviceSpec first_volt_guess(const std::string& model, const std::vector<PulseRecord>& records) {
  for (const PulseRecord& record : records) {
    if (record.volts.empty() || record.width_s.empty()) {
      throw UserError(fmt::format(
          "devices fit: {} is a model of voltages: the file needs the columns voltage_V and width_s", model));
    }
  }
  DeviceSpec spec;
  spec.model = model;
  spec.shape.clear();
  const bool vteam = model == "vteam";
  std::vector<double> widths;
  for (const auto& [direction, name] : measured_directions(records)) {
    const VoltSide side = side_of(records, direction);
    const double sign = direction == Direction::up ? 1 : -1;
    const std::string end = std::string("_") + name;
    const double volts = upper_median(side.volts), threshold = side.lowest() / 2;
    spec.shape["pulse" + end] = sign * volts;
    spec.shape["threshold" + end] = vteam ? sign * threshold : threshold;
    const double drive = vteam ? volts / threshold - 1 : std::exp(volts) - std::exp(threshold);
    // A speed, 1/s, that takes a device through 4 windows in a run of pulses.
    spec.shape[(vteam ? "k" : "A") + end] = 4 / (longest_run(records, direction) * upper_median(side.widths)) / drive;
    spec.shape["alpha" + end] = 1;
    if (!vteam) spec.shape["x" + end] = 0.5;
    widths.insert(widths.end(), side.widths.begin(), side.widths.end());
  }
  if (const auto none = unmeasured_direction(records)) mirror_direction(spec, *none);
  if (vteam) spec.shape["window"] = 1;
  spec.shape["pulse_width"] = upper_median(widths);
  return spec;
}

namespace {

/// Limit on the values of a table: they stay within e^±7 = 10^±3 of the mean pulse. Places that a record hardly visits do not
/// fix their values.
constexpr double steepest = 7;
constexpr double widest_label = 9.89;

double inside(double p) { return std::clamp(p, 1e-3, 1 - 1e-3); }

void add_bounds(FitNumbers& out, const RecordRange& range) {
  const double middle = range.middle(), size = range.size();
  const double low = logit(inside(range.low / middle));
  out.numbers.push_back({"g_min", "S", {low, low}, [middle](double x) { return middle * share(x); }, low});
  const double high = std::log(0.5);
  out.numbers.push_back({"g_max", "S", {high, high}, [=](double x) { return middle + size * std::exp(x); }, high});
}

void add_steps(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records, double size) {
  const auto [up, down] = steps_of_spec(first);
  const auto in_S = [size](double x) { return size * std::exp(x); };
  for (const auto& [direction, name] : measured_directions(records)) {
    const double step = direction == Direction::up ? up : down, level = std::log(4 / longest_run(records, direction));
    out.numbers.push_back({"pulse_" + name, "S", {std::log(step), level}, in_S, level});
  }
}

void add_shape(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records) {
  const std::string& model = first.model;
  const auto add = [&](const std::string& name, double start, double level, double (*value)(double)) {
    out.numbers.push_back({model + "." + name, "1", {start, level}, value, level});
  };
  for (const auto& [direction, side] : measured_directions(records)) {
    if (model == "linear_step") {
      add("gamma_" + side, logit(inside(first.shape_value("gamma_" + side))), 0, share);
      out.numbers.back().deviation = 20;  // soft bounds, γ = 1, are as likely as a slope within
    } else if (model == "power_step") {
      add("gamma_" + side, std::log(std::max(first.shape_value("gamma_" + side), 0.05)), std::log(0.5),
          [](double x) { return std::exp(x); });
    } else if (model == "label_curve") {
      add("label_" + side, std::atanh(first.shape_value("label_" + side) / widest_label), 0,
          [](double x) { return widest_label * std::tanh(x); });
    } else if (model == "exponential_step") {
      const double gamma = first.shape_value("gamma_" + side);
      add("A_" + side, first.shape_value("A_" + side), std::copysign(0.5, gamma), [](double x) { return x; });
      out.numbers.back().expected = 0;
      add("gamma_" + side, std::asinh(gamma / 2), std::copysign(std::asinh(1.0), gamma),
          [](double x) { return 2 * std::sinh(x); });  // through 0, where the curve is straight
      out.numbers.back().expected = 0;
    } else if (model == "piecewise") {
      const std::vector<double> table = first.table(side);
      for (std::size_t k = 1; k < table.size(); ++k) {
        const auto held = [&table](std::size_t j) { return std::log(std::clamp(table[j], 2e-3, 5e2)); };
        add(side + "[" + std::to_string(k) + "]/[" + std::to_string(k - 1) + "]", held(k) - held(k - 1), 0,
            [](double x) { return std::exp(x); });
        // The law may die out at the bound ahead: its last value is free, as soft bounds have none.
        const bool at_bound_ahead = direction == Direction::up ? k + 1 == table.size() : k == 1;
        out.numbers.back().deviation = at_bound_ahead ? 4 : 1;
        out.numbers.back().of_table = true;
      }
    }
  }
}

/// Table of mean 1 from the differences of its logarithms.
std::vector<double> table_of(const double* differences, std::size_t size) {
  std::vector<double> table = {1};
  double level = 0, sum = 1;
  for (std::size_t k = 1; k < size; ++k) {
    level += differences[k - 1];
    table.push_back(std::exp(steepest * std::tanh(level / steepest)));
    sum += table.back();
  }
  for (double& value : table) value *= static_cast<double>(size) / sum;
  return table;
}

/// Keys of the shape and of tables, and the first coordinate of each.
struct ShapeKeys {
  std::vector<std::pair<std::string, std::size_t>> shape = {}, tables = {};

  ShapeKeys(const std::vector<FitNumber>& numbers, const std::string& model) {
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (!numbers[k].name.starts_with(model + ".")) continue;
      const std::string key = numbers[k].name.substr(model.size() + 1), table = key.substr(0, key.find('['));
      if (!numbers[k].of_table) shape.emplace_back(key, k);
      if (numbers[k].of_table && (tables.empty() || tables.back().first != table)) tables.emplace_back(table, k);
    }
  }

  void apply(const std::vector<FitNumber>& numbers, const double* x, DeviceSpec& spec) const {
    for (const auto& [key, k] : shape) spec.shape[key] = numbers[k].value(x[k]);
    for (const auto& [key, k] : tables) spec.tables[key] = table_of(x + k, spec.tables[key].size());
  }
};

/// Adds the coordinates of a leak, behind all others.
void add_leak(FitNumbers& out, const RetentionSpec& first) {
  const double time = std::log(first.leak_time_s), rest = logit(inside(first.leak_rest));
  out.numbers.push_back({"leak_time", "s", {time, time + 1}, [](double x) { return std::exp(x); }, time});
  out.numbers.push_back({"leak_rest", "1", {rest, 0}, share, rest});
}

/// Adds the coordinates of models with volts (has_volts()), behind the bounds. With one amplitude in a direction only the
/// speed is a number: threshold and power (of yakopcic: the threshold) stay as in `first`. Two amplitudes give the power too
/// (of yakopcic: the threshold), three give both.
void add_volt_numbers(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records) {
  const Adder adder{out, first};
  const bool vteam = first.model == "vteam";
  for (const auto& [direction, name] : measured_directions(records)) {
    const VoltSide side = side_of(records, direction);
    const std::string end = std::string("_") + name;
    adder.add_speed((vteam ? "k" : "A") + end);
    if (side.amplitudes() > (vteam ? 2 : 1)) {
      adder.add_threshold("threshold" + end, side.highest(), vteam && direction == Direction::down ? -1 : 1);
    }
    if (vteam) {
      if (side.amplitudes() > 1) adder.add_power("alpha" + end, 3);
    } else {
      adder.add_place("x" + end);
      adder.add_power("alpha" + end, 4);
    }
  }
  if (vteam) adder.add_power("window", 0.5);
}

}  // namespace

double FitNumber::scaled(double coordinate) const {
  return unit == "1" ? coordinate : std::log(std::abs(value(coordinate)));
}

double FitNumber::number_at(double scaled) const {
  return unit == "1" ? value(scaled) : std::copysign(std::exp(scaled), value(0));
}

double FitNumber::coordinate_at(double at) const {
  if (unit == "1") return at;
  double low = -30, high = 30;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (scaled(middle) < at ? low : high) = middle;  // sizes grow with the coordinate
  }
  return low;
}

RecordRange range_of(const std::vector<PulseRecord>& records) {
  RecordRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const PulseRecord& record : records) {
    const auto [low, high] = std::minmax_element(record.conductance_S.begin(), record.conductance_S.end());
    range.low = std::min(range.low, *low);
    range.high = std::max(range.high, *high);
  }
  if (!(range.low < range.high)) {
    throw UserError("devices fit: the conductance never changes: there is no window to fit");
  }
  return range;
}

void set_steps(DeviceSpec& spec, double up, double down) {
  spec.pulses = std::clamp(1 / std::max(up, down), 2.0, 1e9);
  spec.reference_pulse = 1;
  spec.asymmetry = down < up ? 1 - down / up : up / down - 1;
}

std::pair<double, double> steps_of_spec(const DeviceSpec& spec) {
  const double larger = spec.reference_pulse / spec.pulses;
  return {larger * (spec.asymmetry < 0 ? 1 + spec.asymmetry : 1),
          larger * (spec.asymmetry > 0 ? 1 - spec.asymmetry : 1)};
}

FitNumbers fit_numbers(const DeviceSpec& first, const std::vector<PulseRecord>& records) {
  const RecordRange range = range_of(records);
  FitNumbers out;
  add_bounds(out, range);
  const bool volts = has_volts(first.model);
  if (volts) {
    add_volt_numbers(out, first, records);
  } else {
    add_steps(out, first, records, range.size());
    add_shape(out, first, records);
  }
  const bool leaks = first.retention.leaks();
  if (leaks) add_leak(out, first.retention);
  const std::optional<Direction> none = unmeasured_direction(records);
  const ShapeKeys keys(out.numbers, first.model);
  out.apply = [own = out.numbers, keys, volts, none, leaks](const double* x, DeviceSpec& spec) {
    const auto value = [&](std::size_t k) { return own[k].value(x[k]); };
    spec.g_min_S = value(0);
    spec.g_max_S = value(1);
    const double window = spec.window_S();
    if (!volts) set_steps(spec, value(2) / window, value(none ? 2 : 3) / window);
    keys.apply(own, x, spec);
    if (leaks) spec.retention.leak_time_s = value(own.size() - 2), spec.retention.leak_rest = value(own.size() - 1);
    if (none) mirror_direction(spec, *none);
  };
  return out;
}

}  // namespace nudge
