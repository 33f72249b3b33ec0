// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/ranks.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/entrants.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/train_options.hpp"
#include "training/data/characters.hpp"
#include "training/data/data_options.hpp"
#include "training/sweep/sweep_points.hpp"
#include "training/train/train_run.hpp"

namespace nudge {
namespace {

/// Keys that the sweep itself sets or that belong to the whole of it.
const std::set<std::string> kReserved = {
    "seed", "threads", "product.kernel", "output.file", "output.print_every", "output.log_rows", "train.null"};

/// Setting without nulls: each costs as much as the point, and no table has a place for it.
constexpr const char* no_lane = "train.null=off";

bool is_number(ParamKind kind) { return kind == ParamKind::integer || kind == ParamKind::real; }

double number_of(const Config& config, const std::string& key) {
  const ParamKind kind = find_row(config.table(), key)->kind;
  if (kind == ParamKind::integer) return static_cast<double>(config.integer(key));
  return is_number(kind) ? config.real(key) : std::numeric_limits<double>::quiet_NaN();
}

/// Makes a point from the values of the config's keys, behind the labels.
SweepPoint point_of(const Config& config, const std::vector<std::string>& labels, const Sweep& sweep) {
  SweepPoint point{labels, std::vector<double>(labels.size(), std::numeric_limits<double>::quiet_NaN()), 0, "", {}, {}};
  for (std::size_t k = labels.size(); k < sweep.keys.size(); ++k) {
    point.values.push_back(config.as_text(sweep.keys[k]));
    point.numbers.push_back(number_of(config, sweep.keys[k]));
  }
  point.seed = config.integer("seed");
  return point;
}

/// Configs of the splits that the points see: the measured one, or with data.split_seed = "seed" one of each seed.
std::vector<Config> splits_of(const SweepGrid& grid) {
  if (data_options(*grid.measured).split_seed != DataOptions::by_seed) return {*grid.measured};
  std::set<std::int64_t> seeds;
  for (const SweepPoint& point : grid.sweep.points) seeds.insert(point.seed);
  std::vector<Config> splits;
  for (const std::int64_t seed : seeds) {
    splits.push_back(*grid.measured);
    splits.back().set_from_text("seed", std::to_string(seed));
  }
  return splits;
}

}  // namespace

std::optional<ReferenceScores> study_references(const SweepGrid& grid, const SweepObserver& observer) {
  if (!grid.measured || this_rank() > 0) return std::nullopt;
  const auto go_on = [&](const std::string& doing) {
    if (observer.doing) observer.doing(doing);
    return !observer.stop || !observer.stop();
  };
  std::vector<ReferenceScores> all;
  try {
    const Interruptible here;
    for (const Config& split : splits_of(grid)) {
      const auto task = make_task(split);
      ReferenceRequest request = reference_request(split, count_weights(split, task->sizes()), go_on);
      request.threads = run_options(grid.base).threads;  // a point has one
      auto scores = task->references(request);
      if (!scores) return std::nullopt;
      all.push_back(std::move(*scores));
    }
  } catch (const Interrupted&) {
    return std::nullopt;  // --resume fits them
  }
  return mean_of(all);
}

bool is_numeric_key(const std::string& key) { return is_number(find_row(program_table(), key)->kind); }

ConfigSource read_config_source(const std::string& path, const std::vector<std::string>& settings) {
  load_program_config(path, settings);  // says what is wrong with the file itself
  std::ifstream file(path, std::ios::binary);
  return {path, read_bounded(file, path, expected_bytes(path)), settings};
}

void check_axes(const std::string& name, const std::string& section, const std::vector<GridAxis>& axes) {
  if (axes.empty()) {
    throw UserError(fmt::format("{}: {} is empty. Name the keys to sweep, as in \"device.read_noise\" = [0, \"1 %\"]",
                                name, section));
  }
  for (const GridAxis& axis : axes) {
    if (kReserved.count(axis.key) == 0) continue;
    const std::string why =
        axis.key == "seed" ? "list the seeds in " + section.substr(0, section.find('.')) + "." +
                                 (section == "sweep.grid" ? "seeds" : "test_seeds")
        : axis.key == "train.null"
            ? "points have no baseline runs of their own; sweep the values crossbar.update = none or train.learns = "
              "readout"
            : "it changes no result";
    throw UserError(fmt::format("{}: {}.{} cannot be swept ({})", name, section, axis.key, why));
  }
}

Config SweepGrid::config(std::size_t point) const {
  std::vector<std::string> all = source.settings;
  all.insert(all.end(), settings[point].begin(), settings[point].end());
  return parse_program_config(source.name, source.text, all);
}

GridBuilder::GridBuilder(const ConfigSource& source, EndCosine end_cosine, SweepGrid& grid, Invalid invalid)
    : source_(source), end_cosine_(end_cosine), invalid_(invalid), grid_(grid) {
  grid.source = source;
}

/// Checks what a run would only find out when it starts, and computes the losses of counting on its text, which every
/// table wants.
void GridBuilder::check(const Config& config) {
  if (end_cosine_ == EndCosine::measured) expect_training_reads(config);  // its points are trained
  validate_linear_map(crossbar_spec(config));
  const std::string& kind = task_kind(config).name;
  const bool text = kind == "characters";
  std::string data = text ? fmt::format("{}|{}", kind, config.integer("model.tokens")) : kind;
  for (const std::string& key : config.keys()) {
    if (key.starts_with("data.") && key != "data.side_by_side") data = fmt::format("{}|{}", data, config.as_text(key));
  }
  if (sizes_.count(data) == 0) {
    sizes_[data] = make_task(config)->sizes();
    const std::string split =
        text ? fmt::format("{}|{}|{}", data_options(config).text, config.as_text("data.validation_fraction"),
                           config.as_text("data.test_fraction"))
             : data;
    const bool is_new = splits_.insert(split).second;
    if (is_new && text) grid_.sweep.lines = text_lines(load_dataset(config));
    if (!text && splits_.size() == 1) grid_.measured = config;
  }
  if (network_kind(config).is_circuit()) {
    check_plan(config, *network_plan(config, sizes_[data]));
  } else {
    check_network(config, sizes_[data]);
  }
}

void GridBuilder::add(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
                      const std::vector<std::int64_t>& seeds) {
  std::vector<std::string> all = source_.settings;
  all.emplace_back(no_lane);
  all.insert(all.end(), settings.begin(), settings.end());
  try {
    Config config = parse_program_config(source_.name, source_.text, all);
    check_placed(config, [this](const Config& c) { check(c); });
    std::vector<std::string> own = settings;
    own.emplace_back("threads=1");
    own.emplace_back(no_lane);
    if (network_kind(config).is_circuit() && end_cosine_ == EndCosine::measured &&
        train_options(config).cosine_every == 0) {
      own.push_back(
          fmt::format("train.cosine_every={}", std::max<std::uint64_t>(2, train_options(config).rate.steps) - 1));
    }
    for (const std::int64_t seed : seeds) {
      config.set_from_text("seed", std::to_string(seed));
      grid_.sweep.points.push_back(point_of(config, labels, grid_.sweep));
      grid_.settings.push_back(own);
      grid_.settings.back().push_back(fmt::format("seed={}", seed));
    }
    any_ = true;
  } catch (const UserError& error) {
    const std::string what = error.what();
    const auto same =
        std::find_if(problems_.begin(), problems_.end(), [&what](const Problem& p) { return p.what == what; });
    if (same == problems_.end()) {
      problems_.push_back({what, fmt::format("{}", fmt::join(settings, ", "))});
    } else {
      ++same->others;
    }
    if (invalid_ == Invalid::skip) add_invalid(settings, labels, seeds, error.what());
  }
}

void GridBuilder::add_invalid(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
                              const std::vector<std::int64_t>& seeds, const std::string& why) {
  Config values = grid_.base;  // each value alone is sound, or the config would not have been read
  for (const std::string& one : settings) {
    const std::size_t equals = one.find('=');
    values.set_from_text(one.substr(0, equals), one.substr(equals + 1));
  }
  for (const std::int64_t seed : seeds) {
    SweepPoint point = point_of(values, labels, grid_.sweep);
    point.seed = seed;
    point.status = SweepPoint::kInvalid + why;
    point.metrics.assign(grid_.sweep.metrics.size(), std::numeric_limits<double>::quiet_NaN());
    grid_.sweep.points.push_back(point);
    grid_.settings.push_back(settings);
  }
}

void GridBuilder::finish() {
  const bool refused = invalid_ == Invalid::refuse || !any_;
  if (refused && !problems_.empty()) {
    std::string lines;
    for (const auto& [what, where, others] : problems_) {
      const std::string more = others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
      lines += fmt::format("{}at {}{}: {}", lines.empty() ? "" : "\n", where, more, what);
    }
    throw UserError(lines);
  }
  if (splits_.size() <= 1) return;  // each text, and each set of samples, has its own
  grid_.sweep.lines.reset();
  grid_.measured.reset();
}

namespace {

/// Settings of the runs of a study that differ from its first in one axis or in their method.
std::vector<Combination> runs_beside_the_first(const Config& base) {
  std::vector<GridAxis> axes;
  for (const char* grid : {"sweep.grid", "compare.grid"}) {
    const std::vector<GridAxis>& its = base.grid(grid);
    axes.insert(axes.end(), its.begin(), its.end());
  }
  std::erase_if(axes, [](const GridAxis& axis) { return axis.values.empty(); });
  Combination first;
  for (const GridAxis& axis : axes) first.push_back(axis.key + "=" + axis.values.front());
  const bool around = base.as_text("sweep.mode") == "one_at_a_time";
  std::vector<Combination> runs = {around ? Combination{} : first};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (const std::string& value : axes[a].values) {
      runs.push_back(around ? Combination{""} : first);
      runs.back()[around ? 0 : a] = axes[a].key + "=" + value;
    }
  }
  if (base.origin("compare.entrants").layer == Layer::standard) return runs;
  for (const Entrant& one : read_entrants(base)) {
    runs.push_back(first);
    runs.back().insert(runs.back().end(), one.settings.begin(), one.settings.end());
  }
  return runs;
}

}  // namespace

std::vector<GivenValue> study_given(const ConfigSource& source) {
  const Config base = parse_program_config(source.name, source.text, source.settings);
  std::optional<std::vector<GivenValue>> common;
  for (const Combination& run : runs_beside_the_first(base)) {
    std::vector<std::string> all = source.settings;
    all.insert(all.end(), run.begin(), run.end());
    try {
      const std::vector<GivenValue> here = given_values(parse_program_config(source.name, source.text, all));
      if (!common) common = here;
      std::erase_if(*common,
                    [&here](const GivenValue& one) { return std::find(here.begin(), here.end(), one) == here.end(); });
    } catch (const UserError&) {  // sweep.invalid decides on it
      continue;
    }
  }
  return common.value_or(given_values(base));
}

SweepGrid make_sweep_grid(const ConfigSource& source) {
  SweepGrid grid{parse_program_config(source.name, source.text, source.settings)};
  const std::vector<GridAxis> axes = grid.base.grid("sweep.grid");
  check_axes(source.name, "sweep.grid", axes);
  for (const GridAxis& axis : axes) {
    grid.sweep.keys.push_back(axis.key);
    grid.sweep.numeric.push_back(is_numeric_key(axis.key));
  }
  const std::string run = grid.base.text("sweep.run");
  grid.sweep.metrics = sweep_metrics(run, grid.base);
  if (sweep_job(grid.base) == PointJob::train_and_test) {
    for (Measure& metric : test_metrics(grid.base)) grid.sweep.metrics.push_back(std::move(metric));
  }
  const auto& seeds = grid.base.integers("sweep.seeds");
  if (seeds.empty()) throw UserError(source.name + ": sweep.seeds is empty (name one seed)");
  grid.sweep.mode = grid.base.text("sweep.mode");
  const auto invalid = grid.base.text("sweep.invalid") == "skip" ? Invalid::skip : Invalid::refuse;
  GridBuilder builder(source, run == "train" ? EndCosine::measured : EndCosine::as_configured, grid, invalid);
  for (const Combination& one : mode_combinations(grid.base, axes)) builder.add(one, {}, seeds);
  builder.finish();
  return grid;
}

}  // namespace nudge
