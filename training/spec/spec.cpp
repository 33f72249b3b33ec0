// SPDX-License-Identifier: Apache-2.0
#include "training/spec/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/compare/advice.hpp"
#include "training/compare/compare.hpp"
#include "training/config/assembly.hpp"
#include "training/config/combinations.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/data_options.hpp"
#include "training/data/task.hpp"
#include "training/spec/spec_result.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {
namespace {

using Settings = std::vector<std::string>;

/// Trainings that a plan may need at most, by what they are for.
struct SpecCounts {
  std::size_t references, alone, together, designs;
  std::size_t all() const { return references + alone + together + designs; }
};

SpecCounts counts_of(const SpecPlan& plan) {
  const std::size_t seeds = plan.options.seeds.size(), axes = plan.found.axes.size();
  const auto tries = static_cast<std::size_t>(plan.options.bisections);
  return {seeds * (plan.methods.size() + 2), seeds * axes * (1 + tries), seeds * axes * (2 + tries),
          seeds * static_cast<std::size_t>(plan.options.designs)};
}

/// Adds trainings with one label to a grid, each checked as a point of a sweep is.
class SpecGrid {
 public:
  SpecGrid(const SpecPlan& plan, SweepGrid& grid, Invalid invalid)
      : plan_(plan), builder_(plan.source, EndCosine::as_configured, grid, invalid) {}

  void add(const std::string& label, const Settings& settings) {
    builder_.add(settings, {label}, plan_.options.seeds);
    any_ = true;
  }
  void references() {
    for (const Entrant& method : plan_.methods) add(method.name, method.settings);
    add(kCleanRun, clean());
    add(kDesignRun, {});
  }
  void trial(const SpecAxis& axis, SpecMode mode, double u) {
    Settings all = mode == SpecMode::alone ? clean() : Settings();
    for (std::string& one : axis.settings(axis.value(u))) all.push_back(std::move(one));
    add(mode == SpecMode::alone ? alone_label(axis) : together_label(axis), all);
  }
  /// Ends the additions; returns whether there were any.
  bool finish() {
    if (any_) builder_.finish();
    return any_;
  }

 private:
  Settings clean() const {
    Settings all;
    for (const SpecAxis& axis : plan_.found.axes) {
      for (std::string& one : axis.settings(axis.own_is_ideal() ? axis.own : axis.best)) all.push_back(std::move(one));
    }
    return all;
  }

  const SpecPlan& plan_;
  GridBuilder builder_;
  bool any_ = false;
};

SweepGrid spec_grid(const SpecPlan& plan) {
  SweepGrid grid{plan.base};
  grid.sweep.keys = {"run"};
  grid.sweep.keys.insert(grid.sweep.keys.end(), plan.columns.begin(), plan.columns.end());
  grid.sweep.numeric.assign(grid.sweep.keys.size(), true);
  grid.sweep.numeric.front() = false;
  grid.sweep.metrics = sweep_metrics("train", plan.base);
  for (Measure& metric : test_metrics(plan.base)) grid.sweep.metrics.push_back(std::move(metric));
  return grid;
}

/// Ends of the range that designs draw a resource from: the requirement, and the config's own value or the best one.
std::optional<GridAxis> drawn_axis(const SpecRow& row) {
  const SpecAxis& axis = row.axis;
  const SpecLimit& need = row.together;
  if (!axis.resource) return std::nullopt;
  double cheap = axis.best;
  if (need.outcome == SpecOutcome::found) cheap = need.value;
  if (need.outcome == SpecOutcome::beyond) cheap = axis.worst;
  const bool own_is_better = axis.own_position() < axis.position(cheap) && !axis.own_is_ideal();
  const double dear = own_is_better ? axis.own : axis.best;
  if (cheap == dear) return std::nullopt;
  const auto text = [&](double v) { return axis.whole ? fmt::format("{:.0f}", v) : fmt::format("{}", v); };
  return GridAxis{axis.keys.front(), {text(std::min(cheap, dear)), text(std::max(cheap, dear))}};
}

/// Adds designs with resources drawn by Sobol' (mode_combinations), ties moved along.
void add_designs(const SpecPlan& plan, const SpecSheet& sheet, SpecGrid& to) {
  std::vector<GridAxis> axes;
  std::vector<const SpecAxis*> moved;
  std::string logarithmic;
  for (const SpecRow& row : sheet.rows) {
    const std::optional<GridAxis> drawn = drawn_axis(row);
    if (!drawn) continue;
    axes.push_back(*drawn);
    moved.push_back(&row.axis);
    if (row.axis.logarithmic) logarithmic += fmt::format("{}\"{}\"", logarithmic.empty() ? "" : ", ", drawn->key);
  }
  if (axes.empty() || plan.options.designs == 0) return;
  Config drawing = plan.base;
  drawing.set_from_text("sweep.mode", "sobol");
  drawing.set_from_text("sweep.samples", std::to_string(plan.options.designs));
  drawing.set_from_text("sweep.logarithmic", "[" + logarithmic + "]");
  for (const Combination& one : mode_combinations(drawing, axes)) {
    Settings settings = one;
    for (std::size_t a = 0; a < moved.size(); ++a) {
      const std::string value = one[a].substr(one[a].find('='));
      for (std::size_t k = 1; k < moved[a]->keys.size(); ++k) settings.push_back(moved[a]->keys[k] + value);
    }
    to.add(kScreenRun, settings);
  }
}

/// Adds the points of the next stage, which the results so far decide. False: there is none.
bool add_stage(const SpecRun& run, SweepGrid& grid) {
  const SpecPlan& plan = run.plan;
  if (run.sweep.points.empty()) {
    SpecGrid to(plan, grid, Invalid::refuse);
    to.references();
    return to.finish();
  }
  const SpecSheet sheet = spec_sheet(run);
  if (!sheet.unknown.empty()) return false;
  SpecGrid to(plan, grid, Invalid::skip);
  for (const SpecAxis& axis : plan.found.axes) {
    for (const SpecMode mode : {SpecMode::alone, SpecMode::together}) {
      const auto u = next_position(axis, spec_trials(run, axis, mode), plan.options.bisections);
      if (u) to.trial(axis, mode, *u);
    }
  }
  if (to.finish()) return true;
  const auto is_drawn = [](const SweepPoint& point) { return point.values.front() == kScreenRun; };
  if (std::any_of(run.sweep.points.begin(), run.sweep.points.end(), is_drawn)) return false;
  SpecGrid designs(plan, grid, Invalid::skip);
  add_designs(plan, sheet, designs);
  return designs.finish();
}

/// Fits the trivial models once and tells all ranks, which plan alike. False: stopped.
bool fit_references(const SweepGrid& grid, const SweepObserver& observer, Sweep& sweep) {
  std::string bytes;
  if (this_rank() == 0) {
    sweep.references = study_references(grid, observer);
    const bool stopped = !sweep.references && observer.stop && observer.stop();
    bytes = stopped ? "stop" : "";
    if (sweep.references) {
      for (const ReferenceScore& row : sweep.references->rows) {
        if (row.split == "test")
          bytes += fmt::format("{} {:016x}\n", row.model, std::bit_cast<std::uint64_t>(row.score));
      }
    }
  }
  broadcast(bytes);
  if (bytes == "stop") return false;
  if (this_rank() == 0 || bytes.empty()) return true;
  sweep.references.emplace();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t blank = bytes.find(' ', at), end = bytes.find('\n', at);
    const std::uint64_t bits = std::stoull(bytes.substr(blank + 1, end - blank - 1), nullptr, 16);
    sweep.references->rows.push_back({bytes.substr(at, blank - at), "test", 0, std::bit_cast<double>(bits)});
    at = end + 1;
  }
  return true;
}

/// Checks the best and the worst value of every axis, in both modes, before the first run.
void check_ends(const SpecPlan& plan) {
  SweepGrid grid = spec_grid(plan);
  SpecGrid to(plan, grid, Invalid::refuse);
  to.references();
  for (const SpecAxis& axis : plan.found.axes) {
    for (const double u : {0.0, 1.0}) {
      to.trial(axis, SpecMode::alone, u);
      to.trial(axis, SpecMode::together, u);
    }
  }
  to.finish();
}

}  // namespace

std::string alone_label(const SpecAxis& axis) { return "alone " + axis.name; }
std::string together_label(const SpecAxis& axis) { return "together " + axis.name; }

std::size_t SpecPlan::most_runs() const { return counts_of(*this).all(); }

SpecPlan spec_plan(const ConfigSource& given) {
  SpecPlan plan{
      compare_source(given), parse_program_config(given.name, given.text, given.settings), {}, {}, {}, "", {}};
  const DeviceMethods methods = device_methods(plan.source, null_kinds(), {});
  plan.source.settings.push_back(methods.setting());
  plan.options = spec_section().read(plan.base);
  if (plan.options.seeds.size() < 2)
    throw UserError(given.name + ": spec.seeds: fewer than two seeds have no interval. Name two or more");
  if (data_options(plan.base).test_fraction == 0)
    throw UserError(given.name + ": data.test_fraction = 0 (must be > 0: requirements are losses on the test split)");
  plan.found = spec_axes(plan.source);
  for (const SpecAxis& axis : plan.found.axes) {
    for (const std::string& key : axis.keys) {
      if (std::count(plan.columns.begin(), plan.columns.end(), key) > 0) continue;
      plan.columns.push_back(key);
      // So that every training may have the key, also where another value leaves it unread.
      plan.source.settings.push_back(fmt::format("spec.range.{}=[{}, {}]", key, axis.best, axis.worst));
    }
  }
  plan.base = parse_program_config(plan.source.name, plan.source.text, plan.source.settings);
  plan.methods = read_entrants(plan.base);
  const std::string score = score_metric(plan.base);
  plan.metric = plan.options.metric == "score" && !score.empty() ? "test_" + score : "test_loss";
  const SpecCounts counts = counts_of(plan);
  if (counts.all() > static_cast<std::size_t>(plan.options.runs)) {
    throw UserError(fmt::format(
        "{}: spec.runs = {}: up to {} trainings are needed ({} references, {} alone, {} together, {} designs). Raise "
        "it, "
        "or use fewer spec.keys, spec.seeds, spec.bisections or spec.designs",
        given.name, plan.options.runs, counts.all(), counts.references, counts.alone, counts.together, counts.designs));
  }
  return plan;
}

SpecRun run_spec(const ConfigSource& given, const SweepFiles& files, const SweepObserver& observer) {
  const bool leads = this_rank() == 0;
  std::optional<OutputLock> lock;
  if (leads) {
    check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
    lock.emplace(files.output);
  }
  SpecRun run{spec_plan(given), {}};
  check_ends(run.plan);
  use_product_kernel(run.plan.base);
  SweepGrid grid = spec_grid(run.plan);
  grid.sweep.shard = files.shard;
  SweepFile file(files, run.plan.base, "spec");
  run.sweep = grid.sweep;
  if (files.resume && leads) file.restore(Stored::ended_well, grid);  // all outside: no stage is planned yet
  for (bool first = true; add_stage(run, grid); first = false) {
    adopt_outside(grid.sweep);
    share_results(grid.sweep);
    const bool fresh = grid.sweep.count_left() > 0;
    if (fresh) {
      run_points(
          files, grid, PointJob::train_and_test, observer, [&] { file.write(grid.sweep); }, grid.sweep);
    }
    run.interrupted = grid.sweep.count_left() > 0;
    run.waits = !run.interrupted && std::any_of(grid.sweep.points.begin(), grid.sweep.points.end(),
                                                [](const SweepPoint& point) { return point.status.empty(); });
    if (first && !run.interrupted && !run.waits) run.interrupted = !fit_references(grid, observer, grid.sweep);
    run.sweep = grid.sweep;
    if (run.interrupted || run.waits) return run;
  }
  if (leads) file.write(run.sweep);
  return run;
}

SpecRun read_spec(const std::filesystem::path& path) {
  const H5Reader file(path);
  expect_kind(file, "spec", "has requirements");
  SpecRun run{spec_plan({path.string(), file.text_attribute("config"), {}}), {}};
  SweepGrid grid = spec_grid(run.plan);
  run.sweep = grid.sweep;
  run.interrupted = true;
  if (!file.has("points")) return run;
  while (add_stage(run, grid)) {
    take_stored_points(file, "points", Stored::all, grid.sweep);
    grid.sweep.outside.clear();
    grid.sweep.references = read_reference_scores(file);
    run.sweep = grid.sweep;
    run.interrupted = grid.sweep.count_left() > 0;
    if (run.interrupted) break;
  }
  return run;
}

StudyEstimate estimate_spec(const ConfigSource& given, const SweepFiles& files,
                            const std::function<bool(std::size_t, std::size_t)>& watch) {
  SpecPlan plan = spec_plan(given);
  use_product_kernel(plan.base);
  check_ends(plan);
  plan.columns.clear();  // one kind per label
  SweepGrid grid = spec_grid(plan);
  SpecGrid to(plan, grid, Invalid::refuse);
  to.references();
  for (const SpecAxis& axis : plan.found.axes) {
    for (int tries = 0; tries <= plan.options.bisections; ++tries) {
      to.trial(axis, SpecMode::alone, 1);
      to.trial(axis, SpecMode::together, 1);
    }
    to.trial(axis, SpecMode::together, 0);
  }
  for (int design = 0; design < plan.options.designs; ++design) to.add(kScreenRun, {});
  to.finish();
  grid.sweep.shard = files.shard;
  const SweepFile file(files, plan.base, "spec");
  return estimate_points(
      grid, PointJob::train_and_test, [&file](const Sweep& all) { return static_cast<double>(file.bytes(all)); },
      watch);
}

}  // namespace nudge
