// SPDX-License-Identifier: Apache-2.0
#include "training/config/combinations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/random/sobol.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

std::string setting(const GridAxis& axis, std::size_t value) {
  return fmt::format("{}={}", axis.key, axis.values[value]);
}

/// Whether the value is that of the config already. One that cannot be read is not: it is reported with its point.
bool is_value_of(const Config& base, const std::string& key, const std::string& value) {
  try {
    Config moved = base;
    moved.set_from_text(key, value);
    return moved.as_text(key) == base.as_text(key);
  } catch (const UserError&) {
    return false;
  }
}

std::vector<Combination> one_at_a_time(const Config& base, const std::vector<GridAxis>& axes) {
  std::vector<Combination> all = {{}};
  for (const GridAxis& axis : axes) {
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      if (!is_value_of(base, axis.key, axis.values[v])) all.push_back({setting(axis, v)});  // the baseline has it
    }
  }
  return all;
}

std::vector<Combination> zipped(const std::vector<GridAxis>& axes) {
  std::vector<Combination> all(axes.front().values.size());
  for (const GridAxis& axis : axes) {
    for (std::size_t v = 0; v < all.size(); ++v) all[v].push_back(setting(axis, v));
  }
  return all;
}

/// How a number in [0, 1) becomes a value of an axis.
class Sampler {
 public:
  Sampler(const Config& base, const GridAxis& axis) : axis_(axis) {
    const auto& logs = base.texts("sweep.logarithmic");
    logarithmic_ = std::find(logs.begin(), logs.end(), axis.key) != logs.end();
    const ParamKind kind = find_row(base.table(), axis.key)->kind;
    integer_ = kind == ParamKind::integer;
    range_ = (integer_ || kind == ParamKind::real) && axis.values.size() == 2;
    if (!range_) return;
    low_ = number(base, axis.values[0]);
    high_ = number(base, axis.values[1]);
  }

  /// What is wrong with the ends of the range, or nothing.
  const char* problem() const {
    if (!range_ && logarithmic_)
      return "must be a range: sweep.logarithmic is for axes of two numbers, the ends of a range";
    if (range_ && !(low_ < high_)) return "must be a range: its first end below the second";
    if (range_ && logarithmic_ && !(low_ > 0)) return "must start above 0: a logarithmic range";
    return nullptr;
  }

  std::string at(double u) const {
    if (!range_) return axis_.values[static_cast<std::size_t>(u * static_cast<double>(axis_.values.size()))];
    if (integer_ && !logarithmic_) return fmt::format("{:.0f}", low_ + std::floor(u * (high_ - low_ + 1)));
    const double x = logarithmic_ ? std::exp(std::log(low_) + u * std::log(high_ / low_)) : low_ + u * (high_ - low_);
    if (integer_) return fmt::format("{:.0f}", std::clamp(std::round(x), low_, high_));
    const double rounded = std::stod(fmt::format("{:.5e}", x));
    return fmt::format("{}", std::clamp(rounded, low_, high_));
  }

 private:
  double number(Config config, const std::string& value) const {
    config.set_from_text(axis_.key, value);
    return integer_ ? static_cast<double>(config.integer(axis_.key)) : config.real(axis_.key);
  }

  const GridAxis& axis_;
  bool logarithmic_ = false, integer_ = false, range_ = false;
  double low_ = 0, high_ = 0;
};

void check_zipped(const std::vector<GridAxis>& axes) {
  for (const GridAxis& axis : axes) {
    if (axis.values.size() == axes.front().values.size()) continue;
    throw UserError(
        fmt::format("sweep.grid.{} has {} values, sweep.grid.{} has {}. sweep.mode = zip needs as many values on "
                    "each axis",
                    axes.front().key, axes.front().values.size(), axis.key, axis.values.size()));
  }
}

void check_sampled(const Config& base, const std::vector<GridAxis>& axes) {
  for (const std::string& key : base.texts("sweep.logarithmic")) {
    const auto is_it = [&](const GridAxis& axis) { return axis.key == key; };
    if (std::any_of(axes.begin(), axes.end(), is_it)) continue;
    throw UserError(fmt::format("sweep.logarithmic: {} is not an axis of sweep.grid", key));
  }
  for (const GridAxis& axis : axes) {
    const char* problem = Sampler(base, axis).problem();
    if (problem != nullptr) throw UserError(fmt::format("sweep.grid.{} {}", axis.key, problem));
  }
}

bool is_sampled(const Config& base) {
  return base.text("sweep.mode") == "sobol" || base.text("sweep.mode") == "random";
}

std::vector<Combination> sampled(const Config& base, const std::vector<GridAxis>& axes) {
  std::vector<Sampler> samplers;
  samplers.reserve(axes.size());
  for (const GridAxis& axis : axes) samplers.emplace_back(base, axis);
  const bool quasi = base.text("sweep.mode") == "sobol";
  boost::random::sobol sequence(axes.size());
  // Beside the streams of trainings: no data set has such an entity.
  const RngKey key{static_cast<std::uint64_t>(base.integer("seed")), Purpose::synthetic_data, 0xFFFFFFFFU};
  std::vector<Combination> all;
  std::set<Combination> drawn;
  for (std::size_t s = 0; s < static_cast<std::size_t>(base.integer("sweep.samples")); ++s) {
    Combination one;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const std::uint64_t bits = quasi ? sequence() : random_bits(key, s, static_cast<std::uint32_t>(a), 0);
      const double u = static_cast<double>(bits >> 11U) * 0x1.0p-53;
      one.push_back(fmt::format("{}={}", axes[a].key, samplers[a].at(u)));
    }
    if (drawn.insert(one).second) all.push_back(std::move(one));  // drawn again it is the same run
  }
  return all;
}

}  // namespace

std::vector<Combination> all_combinations(const std::vector<GridAxis>& axes) {
  std::vector<Combination> all = {{}};
  for (const GridAxis& axis : axes) {
    std::vector<Combination> longer;
    for (const Combination& one : all) {
      for (std::size_t v = 0; v < axis.values.size(); ++v) {
        longer.push_back(one);
        longer.back().push_back(setting(axis, v));
      }
    }
    all = std::move(longer);
  }
  return all;
}

void check_mode_axes(const Config& base) {
  const auto& axes = base.grid("sweep.grid");
  if (!is_sampled(base) && !base.texts("sweep.logarithmic").empty()) {
    throw UserError("sweep.logarithmic has no effect: only sweep.mode = sobol and random draw from ranges");
  }
  if (is_sampled(base)) check_sampled(base, axes);
  if (base.text("sweep.mode") == "zip") check_zipped(axes);
}

std::vector<Combination> mode_combinations(const Config& base, const std::vector<GridAxis>& axes) {
  if (is_sampled(base)) return sampled(base, axes);
  const std::string& mode = base.text("sweep.mode");
  if (mode == "zip") return zipped(axes);
  return mode == "one_at_a_time" ? one_at_a_time(base, axes) : all_combinations(axes);
}

namespace {

std::string axis_text(const std::string& grid, const GridAxis& axis) {
  return fmt::format("{}.{} = [{}]", grid, axis.key, fmt::join(axis.values, ", "));
}

/// The values of an axis are texts that Config has made of numbers: equal numbers are equal texts.
void each_axis(const Config& config, const std::string& grid, std::vector<std::string>& problems) {
  for (const GridAxis& axis : config.grid(grid)) {
    const auto repeat = first_repeat(axis.values);
    if (!repeat) continue;
    problems.push_back(fmt::format("{} ([{}] {})", axis_text(grid, axis), repeat->again, repeat_rule(*repeat)));
  }
}

void zipped_places(const Config& config, std::vector<std::string>& problems) {
  const std::vector<GridAxis>& axes = config.grid("sweep.grid");
  if (axes.empty()) return;
  std::vector<std::vector<std::string>> places(axes.front().values.size());
  for (const GridAxis& axis : axes) {
    if (axis.values.size() != places.size()) return;  // refused by check_mode_axes()
    for (std::size_t v = 0; v < places.size(); ++v) places[v].push_back(axis.values[v]);
  }
  const auto repeat = first_repeat(places);
  if (!repeat) return;
  problems.push_back(fmt::format("{} (with sweep.mode = zip the position of [{}] {})",
                                 axis_text("sweep.grid", axes.front()), repeat->again, repeat_rule(*repeat)));
}

}  // namespace

void expect_no_grid_repeats(const Config& config) {
  std::vector<std::string> problems;
  config.text("sweep.mode") == "zip" ? zipped_places(config, problems) : each_axis(config, "sweep.grid", problems);
  each_axis(config, "compare.grid", problems);
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace nudge
