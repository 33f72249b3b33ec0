// SPDX-License-Identifier: Apache-2.0
#include "training/sweep_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "circuits/crossbar/crossbar_config.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/errors.hpp"
#include "training/config_table.hpp"
#include "training/setup.hpp"

namespace nudge {
namespace {

/// Keys that the sweep itself sets or that belong to the whole of it.
const std::set<std::string> kReserved = {"seed", "threads", "product.kernel", "output.file", "output.print_every"};

bool is_number(ParamKind kind) { return kind == ParamKind::integer || kind == ParamKind::real; }

double number_of(const Config& config, const std::string& key) {
  const ParamKind kind = find_row(config.table(), key)->kind;
  if (kind == ParamKind::integer) return static_cast<double>(config.integer(key));
  return is_number(kind) ? config.real(key) : std::numeric_limits<double>::quiet_NaN();
}

void check_axes(const std::string& name, const std::vector<GridAxis>& axes) {
  if (axes.empty()) {
    throw UserError(name +
                    ": sweep.grid is empty (name the keys to sweep, as in \"device.read_noise\" = [0, \"1 %\"])");
  }
  for (const GridAxis& axis : axes) {
    if (kReserved.count(axis.key) == 0) continue;
    throw UserError(fmt::format("{}: sweep.grid.{} cannot be swept ({})", name, axis.key,
                                axis.key == "seed"             ? "list the seeds in sweep.seeds"
                                : axis.key == "product.kernel" ? "it holds for the whole process"
                                                               : "it changes no result"));
  }
}

/// What a run would only find out when it starts.
void check_point(const Config& config, std::set<std::string>& texts_seen) {
  validate_linear_map(crossbar_spec(config));
  const std::string text = fmt::format("{}|{}|{}", config.text("data.text"), config.integer("model.tokens"),
                                       config.as_text("data.validation_fraction"));
  if (texts_seen.insert(text).second) load_dataset(config);
}

/// Which value of each axis a point takes.
using Combination = std::vector<std::size_t>;

/// Every combination; the last axis varies fastest.
std::vector<Combination> all_combinations(const std::vector<GridAxis>& axes) {
  std::vector<Combination> all = {Combination(axes.size(), 0)};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::vector<Combination> longer;
    for (const Combination& one : all) {
      for (std::size_t v = 0; v < axes[a].values.size(); ++v) {
        longer.push_back(one);
        longer.back()[a] = v;
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// The baseline, then every axis on its own.
std::vector<Combination> one_at_a_time(const std::vector<GridAxis>& axes) {
  std::vector<Combination> all = {Combination(axes.size(), 0)};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t v = 1; v < axes[a].values.size(); ++v) {
      all.emplace_back(axes.size(), 0);
      all.back()[a] = v;
    }
  }
  return all;
}

std::vector<std::string> settings_of(const std::vector<GridAxis>& axes, const Combination& combination) {
  std::vector<std::string> settings;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    settings.push_back(fmt::format("{}={}", axes[a].key, axes[a].values[combination[a]]));
  }
  return settings;
}

SweepPoint point_of(const Config& config, const Sweep& sweep) {
  SweepPoint point;
  for (const std::string& key : sweep.keys) {
    point.values.push_back(config.as_text(key));
    point.numbers.push_back(number_of(config, key));
  }
  point.seed = config.integer("seed");
  return point;
}

/// Training compares its gradient at the first and the last step when nothing else is asked for.
std::vector<std::string> own_settings(const Config& config, std::int64_t seed) {
  std::vector<std::string> settings = {"threads=1", fmt::format("seed={}", seed)};
  if (config.text("sweep.run") == "train" && config.integer("train.cosine_every") == 0) {
    settings.push_back(
        fmt::format("train.cosine_every={}", std::max<std::int64_t>(1, config.integer("train.steps") - 1)));
  }
  return settings;
}

void add(std::vector<std::string>& problems, const std::string& lines) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (std::find(problems.begin(), problems.end(), line) == problems.end()) problems.push_back(line);
  }
}

}  // namespace

ConfigSource read_config_source(const std::string& path, const std::vector<std::string>& settings) {
  load_program_config(path, settings);  // says what is wrong with the file itself
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return {path, text.str(), settings};
}

SweepGrid make_sweep_grid(const ConfigSource& source) {
  SweepGrid grid{parse_program_config(source.name, source.text, source.settings), {}, {}};
  const std::vector<GridAxis> axes = grid.base.grid("sweep.grid");
  check_axes(source.name, axes);
  for (const GridAxis& axis : axes) {
    grid.sweep.keys.push_back(axis.key);
    grid.sweep.numeric.push_back(is_number(find_row(grid.base.table(), axis.key)->kind));
  }
  grid.sweep.metrics = sweep_metrics(grid.base.text("sweep.run"));
  if (grid.base.integers("sweep.seeds").empty())
    throw UserError(source.name + ": sweep.seeds is empty (name one seed)");
  std::vector<std::string> problems;
  std::set<std::string> texts_seen;
  grid.sweep.mode = grid.base.text("sweep.mode");
  const bool alone = grid.sweep.mode == "one_at_a_time";
  for (const Combination& combination : alone ? one_at_a_time(axes) : all_combinations(axes)) {
    for (const std::int64_t seed : grid.base.integers("sweep.seeds")) {
      std::vector<std::string> settings = source.settings;
      const auto values = settings_of(axes, combination);
      settings.insert(settings.end(), values.begin(), values.end());
      try {
        const Config probe = parse_program_config(source.name, source.text, settings);
        const auto own = own_settings(probe, seed);
        settings.insert(settings.end(), own.begin(), own.end());
        grid.configs.push_back(parse_program_config(source.name, source.text, settings));
        check_point(grid.configs.back(), texts_seen);
        grid.sweep.points.push_back(point_of(grid.configs.back(), grid.sweep));
      } catch (const UserError& error) {
        add(problems, fmt::format("at {}: {}", fmt::join(values, ", "), error.what()));
        break;  // the seed is not what is wrong
      }
    }
  }
  if (!problems.empty()) throw UserError(fmt::format("{}", fmt::join(problems, "\n")));
  return grid;
}

}  // namespace nudge
