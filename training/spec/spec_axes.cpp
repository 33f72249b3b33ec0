// SPDX-License-Identifier: Apache-2.0
#include "training/spec/spec_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/config/config_table.hpp"
#include "training/config/spec_options.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {
namespace {

constexpr double kLeast = 1e-3;  ///< smallest value above 0 of a logarithmic range from 0, over its worst value

std::vector<SpecAxis> known_axes() {
  constexpr bool log = true, linear = false, whole = true, real = false, resource = true, given = false;
  const auto bits = [](const char* key) {
    SpecAxis axis{key, {key}, 12, 1, linear, whole, resource};
    axis.zero_is_best = true;
    return axis;
  };
  SpecAxis tiles{"crossbar.tile_rows", {"crossbar.tile_rows", "crossbar.tile_columns"}, 8, 4096, log, whole, resource};
  tiles.zero_is_worst = true;
  const auto pair = [](const char* first, const char* second, double worst) {
    return SpecAxis{first, {first, second}, 0, worst, log, real, given};
  };
  const auto one = [](const char* key, double worst) { return SpecAxis{key, {key}, 0, worst, log, real, given}; };
  return {bits("crossbar.forward_adc_bits"),
          bits("crossbar.forward_dac_bits"),
          bits("crossbar.transposed_adc_bits"),
          bits("crossbar.transposed_dac_bits"),
          bits("circuit.phase_adc_bits"),
          {"relaxation.average_free",
           {"relaxation.average_free", "relaxation.average_nudged"},
           16,
           1,
           linear,
           whole,
           resource},
          tiles,
          {"circuit.node_capacitance", {"circuit.node_capacitance"}, 1e-11, 1e-16, log, real, resource},
          one("device.read_noise", 1),
          pair("crossbar.forward_offset", "crossbar.transposed_offset", 0.1),
          pair("crossbar.forward_gain_spread", "crossbar.transposed_gain_spread", 1),
          one("neuron.gain_spread", 0.19),
          one("neuron.offset_spread", 0.19),
          one("circuit.leak_spread", 0.19),
          pair("device.upper_bound_spread", "device.lower_bound_spread", 1),
          one("device.step_spread", 3),
          one("device.update_noise", 10),
          one("device.programming_error", 0.5),
          one("device.asymmetry", 0.95),
          one("device.stuck_low", 0.5),
          one("device.stuck_high", 0.5),
          {"device.pulses", {"device.pulses"}, 1e4, 4, log, real, given},
          pair("crossbar.row_resistance", "crossbar.column_resistance", 1000),
          {"device.selector_resistance", {"device.selector_resistance"}, 1, 1e6, log, real, given},
          {"beta (up)", {"beta"}, 0, 0, log, real, given},
          {"beta (down)", {"beta"}, 0, 0, log, real, given}};
}

double number_in(const Config& config, const std::string& key) {
  return find_row(config.table(), key)->kind == ParamKind::integer ? static_cast<double>(config.integer(key))
                                                                   : config.real(key);
}

/// Rounds to four digits, as a person would write it.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

/// Takes what follows from the config: the own value, the side of an asymmetry, the range of beta. False: there is none.
bool take_own(const Config& config, SpecAxis& axis) {
  axis.own = number_in(config, axis.keys.front());
  axis.unit = find_row(config.table(), axis.keys.front())->unit;
  if (axis.keys.front() == "device.asymmetry" && axis.own < 0) axis.worst = -axis.worst;
  if (axis.keys.front() == "beta") {
    if (axis.own <= 0) return false;  // chosen by the estimator
    axis.best = axis.own;
    axis.worst = axis.own * (axis.name == "beta (up)" ? 32 : 1.0 / 256);
  }
  return true;
}

/// Makes the range of a default hold the config's own value.
void widen(SpecAxis& axis) {
  if ((axis.zero_is_best || axis.zero_is_worst) && axis.own == 0) return;
  const bool up = axis.worst > axis.best;
  axis.best = up ? std::min(axis.best, axis.own) : std::max(axis.best, axis.own);
  axis.worst = up ? std::max(axis.worst, axis.own) : std::min(axis.worst, axis.own);
}

class AxisFinder {
 public:
  explicit AxisFinder(const ConfigSource& source)
      : source_(source),
        config_(parse_program_config(source.name, source.text, source.settings)),
        options_(spec_section().read(config_)) {}

  SpecAxes all() {
    check_names();
    SpecAxes out;
    for (const GridAxis& range : options_.range) out.axes.push_back(given_axis(range));
    for (SpecAxis axis : known_axes()) {
      if (!wanted(axis) || given(axis.keys.front())) continue;
      const std::string why = fit(axis);
      if (why.empty()) {
        out.axes.push_back(std::move(axis));
      } else if (!options_.keys.empty()) {
        throw UserError(fmt::format("{}: spec.keys: {} does not apply: {}", source_.name, axis.keys.front(), why));
      } else {
        out.left_out.push_back(fmt::format("{}: {}", axis.name, why));
      }
    }
    if (out.axes.empty())
      throw UserError(source_.name +
                      ": no key of the list applies. Name one with a range: [spec.range] KEY = [best, worst]");
    return out;
  }

 private:
  bool given(const std::string& key) const {
    return std::any_of(options_.range.begin(), options_.range.end(), [&](const GridAxis& a) { return a.key == key; });
  }

  bool named(const std::string& key) const { return std::count(options_.keys.begin(), options_.keys.end(), key) > 0; }

  bool wanted(const SpecAxis& axis) const {
    return options_.keys.empty() || std::any_of(axis.keys.begin(), axis.keys.end(), [&](auto& k) { return named(k); });
  }

  /// Every name of spec.keys must be on the list, or have a range.
  void check_names() const {
    std::vector<std::string> known;
    for (const SpecAxis& axis : known_axes()) known.insert(known.end(), axis.keys.begin(), axis.keys.end());
    for (const std::string& key : options_.keys) {
      if (given(key) || std::count(known.begin(), known.end(), key) > 0) continue;
      const bool exists = find_row(config_.table(), key) != nullptr;
      throw UserError(fmt::format("{}: spec.keys: {} ({})", source_.name, key,
                                  exists
                                      ? fmt::format("no range is known for it. Give one: [spec.range] \"{}\" = [best, "
                                                    "worst]",
                                                    key)
                                      : did_you_mean(key, known)));
    }
  }

  /// Reason why the config cannot have these settings, or a training does not read the key; empty: it can.
  std::string refusal(const SpecAxis& axis, double value) const {
    std::vector<std::string> settings = source_.settings;
    for (const std::string& one : axis.settings(value)) settings.push_back(one);
    try {
      const Config config = parse_program_config(source_.name, source_.text, settings);
      const std::string& key = axis.keys.front();
      return training_reads(config, key) ? "" : "a training of this config does not read it";
    } catch (const UserError& error) {
      const std::string text = error.what(), where = "--set: ";
      const std::size_t from = text.starts_with(where) ? where.size() : 0;
      return text.substr(from, text.find('\n') - from);
    }
  }

  /// Fits an axis of the list to the config; returns why it does not apply.
  std::string fit(SpecAxis& axis) const {
    if (!take_own(config_, axis)) return "the estimator chooses it. Set it to a number";
    keep_alike(axis);
    widen(axis);
    std::string why = refusal(axis, axis.worst);
    for (int tries = 0; tries < 4 && !why.empty(); ++tries) {
      axis.worst = axis.value(0.75);
      why = refusal(axis, axis.worst);
    }
    for (int tries = 0; tries < 4 && why.empty() && !refusal(axis, axis.best).empty(); ++tries) {
      const double between = 0.5 * (axis.best + axis.own);
      axis.best = tries == 3 ? axis.own : axis.whole ? std::round(between) : rounded(between);
    }
    return axis.best == axis.worst ? "no other value than the config's is possible" : why;
  }

  /// Leaves the keys that the axis moves: those of its own value, without those that have a range of their own.
  void keep_alike(SpecAxis& axis) const {
    std::erase_if(axis.keys, [&](const std::string& key) {
      return key != axis.keys.front() && (number_in(config_, key) != axis.own || given(key));
    });
  }

  /// Ends of a given range.
  std::vector<double> ends_of(const GridAxis& range, const std::string& at) const {
    if (!is_numeric_key(range.key)) throw UserError(at + " (must be a key whose values are numbers)");
    if (range.values.size() != 2) throw UserError(at + " (must be two values: the best, then the worst)");
    Config moved = config_;
    std::vector<double> ends;
    for (const std::string& value : range.values) {
      moved.set_from_text(range.key, value, "spec.range");
      ends.push_back(number_in(moved, range.key));
    }
    if (ends[0] == ends[1]) throw UserError(at + " (must be two different values)");
    return ends;
  }

  SpecAxis given_axis(const GridAxis& range) const {
    const std::string at =
        fmt::format("{}: spec.range.{} = [{}]", source_.name, range.key, fmt::join(range.values, ", "));
    const std::vector<double> ends = ends_of(range, at);
    SpecAxis axis{range.key, {range.key}, ends[0], ends[1]};
    for (const SpecAxis& known : known_axes()) {
      if (known.keys.front() != range.key || known.keys.front() == "beta") continue;
      axis.keys = known.keys;
      axis.resource = known.resource;
      axis.zero_is_best = known.zero_is_best;
      axis.zero_is_worst = known.zero_is_worst;
    }
    axis.whole = find_row(config_.table(), range.key)->kind == ParamKind::integer;
    const double ratio = axis.best == 0 ? 0 : axis.worst / axis.best;
    axis.logarithmic = !axis.whole && axis.worst != 0 && ratio >= 0 && (ratio <= 0.01 || ratio >= 100);
    axis.own = number_in(config_, range.key);
    axis.unit = find_row(config_.table(), range.key)->unit;
    keep_alike(axis);
    if (const std::string why = refusal(axis, axis.worst); !why.empty()) throw UserError(at + ": " + why);
    return axis;
  }

  const ConfigSource& source_;
  Config config_;
  SpecOptions options_;
};

}  // namespace

double SpecAxis::value(double u) const {
  if (u <= 0) return best;
  if (u >= 1) return worst;
  const double start = best == 0 ? kLeast * worst : best;
  const double at = logarithmic ? start * std::pow(worst / start, u) : best + u * (worst - best);
  return whole ? std::round(at) : rounded(at);
}

double SpecAxis::position(double value) const {
  if (value == 0 && (zero_is_best || zero_is_worst)) return zero_is_best ? 0 : 1;
  if (value == best) return 0;
  if (!logarithmic) return std::clamp((value - best) / (worst - best), 0.0, 1.0);
  const double start = best == 0 ? kLeast * worst : best;
  if (!(value / start > 0)) return 0;
  constexpr double beside = 1e-6;  // no value but the best one stands at 0
  return std::clamp(std::log(value / start) / std::log(worst / start), best == 0 ? beside : 0.0, 1.0);
}

std::vector<std::string> SpecAxis::settings(double value) const {
  std::vector<std::string> all;
  for (const std::string& key : keys)
    all.push_back(whole ? fmt::format("{}={:.0f}", key, value) : fmt::format("{}={}", key, value));
  return all;
}

std::string SpecAxis::text(double value) const {
  if (value == 0 && zero_is_best) return "ideal";
  if (value == 0 && zero_is_worst) return "uncut";
  return whole ? fmt::format("{:.0f}", value) : format_quantity(value, unit, 3);
}

SpecAxes spec_axes(const ConfigSource& source) { return AxisFinder(source).all(); }

}  // namespace nudge
