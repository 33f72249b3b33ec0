// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_grid.hpp"

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
#include "training/config/config_table.hpp"
#include "training/config/setup.hpp"
#include "training/data/characters.hpp"

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

std::string setting(const GridAxis& axis, std::size_t value) {
  return fmt::format("{}={}", axis.key, axis.values[value]);
}

/// The config as it is, then every other value of every axis on its own. A value that cannot be read is kept: it is reported
/// with its point.
std::vector<Combination> one_at_a_time(const ConfigSource& source, const Config& base,
                                       const std::vector<GridAxis>& axes) {
  std::vector<Combination> all = {{}};
  for (const GridAxis& axis : axes) {
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      try {
        Config moved = base;
        moved.set_from_text(axis.key, axis.values[v], source.name);
        if (moved.as_text(axis.key) == base.as_text(axis.key)) continue;  // the baseline has it
      } catch (const UserError&) {
      }
      all.push_back({setting(axis, v)});
    }
  }
  return all;
}

/// The values of the keys of the config, behind the labels.
SweepPoint point_of(const Config& config, const std::vector<std::string>& labels, const Sweep& sweep) {
  SweepPoint point{labels, std::vector<double>(labels.size(), std::numeric_limits<double>::quiet_NaN()), 0, "", {}, {}};
  for (std::size_t k = labels.size(); k < sweep.keys.size(); ++k) {
    point.values.push_back(config.as_text(sweep.keys[k]));
    point.numbers.push_back(number_of(config, sweep.keys[k]));
  }
  point.seed = config.integer("seed");
  return point;
}

void add_lines(std::vector<std::string>& problems, const std::string& lines) {
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    if (std::find(problems.begin(), problems.end(), line) == problems.end()) problems.push_back(line);
  }
}

}  // namespace

bool is_numeric_key(const std::string& key) { return is_number(find_row(program_table(), key)->kind); }

ConfigSource read_config_source(const std::string& path, const std::vector<std::string>& settings) {
  load_program_config(path, settings);  // says what is wrong with the file itself
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return {path, text.str(), settings};
}

void check_axes(const std::string& name, const std::string& section, const std::vector<GridAxis>& axes) {
  if (axes.empty()) {
    throw UserError(fmt::format("{}: {} is empty (name the keys to sweep, as in \"device.read_noise\" = [0, \"1 %\"])",
                                name, section));
  }
  for (const GridAxis& axis : axes) {
    if (kReserved.count(axis.key) == 0) continue;
    const std::string why = axis.key == "seed" ? "list the seeds in " + section.substr(0, section.find('.')) + "." +
                                                     (section == "sweep.grid" ? "seeds" : "test_seeds")
                                               : "it changes no result";
    throw UserError(fmt::format("{}: {}.{} cannot be swept ({})", name, section, axis.key, why));
  }
}

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

GridBuilder::GridBuilder(const ConfigSource& source, EndCosine end_cosine, SweepGrid& grid)
    : source_(source), end_cosine_(end_cosine), grid_(grid) {}

/// What a run would only find out when it starts; and what trivial models score on its data, which every table wants.
void GridBuilder::check(const Config& config) {
  validate_linear_map(crossbar_spec(config));
  if (config.text("task.kind") != "characters") {
    std::string data = config.text("task.kind");
    for (const std::string& key : config.keys()) {
      if (key.starts_with("data.") && key != "data.side_by_side")
        data = fmt::format("{}|{}", data, config.as_text(key));
    }
    if (samples_.count(data) == 0) {
      const auto task = make_task(config);
      samples_[data] = task->sizes();
      splits_.insert(data);
      if (splits_.size() == 1) grid_.sweep.references = task->references();
    }
    network_plan(config, samples_[data]);
    return;
  }
  const std::string split =
      fmt::format("{}|{}|{}", config.text("data.text"), config.as_text("data.validation_fraction"),
                  config.as_text("data.test_fraction"));
  const bool text_is_new = texts_.insert(fmt::format("{}|{}", split, config.integer("model.tokens"))).second;
  const bool split_is_new = splits_.insert(split).second;
  if (!text_is_new) return;
  const TextDataset data = load_dataset(config);
  if (split_is_new) grid_.sweep.lines = text_lines(data);
}

void GridBuilder::add(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
                      const std::vector<std::int64_t>& seeds) {
  for (const std::int64_t seed : seeds) {
    std::vector<std::string> all = source_.settings;
    all.insert(all.end(), settings.begin(), settings.end());
    try {
      const Config probe = parse_program_config(source_.name, source_.text, all);
      all.insert(all.end(), {"threads=1", fmt::format("seed={}", seed)});
      if (end_cosine_ == EndCosine::measured && probe.integer("train.cosine_every") == 0) {
        const std::int64_t every = std::max<std::int64_t>(1, probe.integer("train.steps") - 1);
        all.push_back(fmt::format("train.cosine_every={}", every));
      }
      grid_.configs.push_back(parse_program_config(source_.name, source_.text, all));
      check(grid_.configs.back());
      grid_.sweep.points.push_back(point_of(grid_.configs.back(), labels, grid_.sweep));
    } catch (const UserError& error) {
      add_lines(problems_, fmt::format("at {}: {}", fmt::join(settings, ", "), error.what()));
      break;  // the seed is not what is wrong
    }
  }
}

void GridBuilder::finish() {
  if (!problems_.empty()) throw UserError(fmt::format("{}", fmt::join(problems_, "\n")));
  if (splits_.size() <= 1) return;  // each text, and each set of samples, has its own
  grid_.sweep.lines.reset();
  grid_.sweep.references.reset();
}

SweepGrid make_sweep_grid(const ConfigSource& source) {
  SweepGrid grid{parse_program_config(source.name, source.text, source.settings), {}, {}};
  const std::vector<GridAxis> axes = grid.base.grid("sweep.grid");
  check_axes(source.name, "sweep.grid", axes);
  for (const GridAxis& axis : axes) {
    grid.sweep.keys.push_back(axis.key);
    grid.sweep.numeric.push_back(is_numeric_key(axis.key));
  }
  const std::string run = grid.base.text("sweep.run");
  grid.sweep.metrics = sweep_metrics(run, score_metric(grid.base));
  const auto& seeds = grid.base.integers("sweep.seeds");
  if (seeds.empty()) throw UserError(source.name + ": sweep.seeds is empty (name one seed)");
  grid.sweep.mode = grid.base.text("sweep.mode");
  GridBuilder builder(source, run == "train" ? EndCosine::measured : EndCosine::as_configured, grid);
  const bool alone = grid.sweep.mode == "one_at_a_time";
  for (const Combination& one : alone ? one_at_a_time(source, grid.base, axes) : all_combinations(axes))
    builder.add(one, {}, seeds);
  builder.finish();
  return grid;
}

}  // namespace nudge
