// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/compare/equal.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/task.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {
namespace {

using Protocol = CompareProtocol;

Protocol protocol_of(const ConfigSource& source) {
  Protocol out = read_protocol(parse_program_config(source.name, source.text, source.settings), source.name);
  use_product_kernel(out.base);
  equalise(source, out);
  return out;
}

std::vector<std::string> settings_of(const Entrant& entrant, const Combination& combination) {
  std::vector<std::string> settings = entrant.settings;
  settings.insert(settings.end(), combination.begin(), combination.end());
  return settings;
}

SweepGrid empty_grid(const Protocol& protocol, CompareStage stage) {
  SweepGrid grid{protocol.base};
  grid.sweep = empty_table(protocol, stage);
  return grid;
}

/// Makes every run of the tuning. The test runs are at some of the same points with other seeds: this checks them as
/// well.
SweepGrid tuning_grid(const ConfigSource& source, const Protocol& protocol) {
  SweepGrid grid = empty_grid(protocol, CompareStage::tuning);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  for (std::size_t e = 0; e < protocol.entrants.size(); ++e) {
    const Entrant& entrant = protocol.entrants[e];
    for (const Combination& combination : protocol.combinations[e]) {
      builder.add(settings_of(entrant, combination), {entrant.name},
                  protocol.tunes() ? protocol.tuning_seeds : protocol.test_seeds);
    }
  }
  builder.finish();
  if (!protocol.tunes()) {
    grid.settings.clear();
    grid.sweep.points.clear();
  }
  return grid;
}

SweepGrid test_grid(const ConfigSource& source, const Protocol& protocol, const std::vector<ComparedEntrant>& rows) {
  SweepGrid grid = empty_grid(protocol, CompareStage::tests);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  for (const ComparedEntrant& row : rows) {
    if (row.choice)
      builder.add(settings_of(row.entrant, row.choice->combination), {row.entrant.name}, protocol.test_seeds);
  }
  builder.finish();
  return grid;
}

/// True if all points have a status, also those of other shards.
bool is_complete(const Sweep& table) {
  return std::none_of(table.points.begin(), table.points.end(),
                      [](const SweepPoint& point) { return point.status.empty(); });
}

/// Restores the tuning from the file. For a part of the points it is complete, with the runs that failed, or it goes
/// on: then the failed runs are run again, as in a whole comparison.
Sweep restored_tuning(const CompareFile& file, const Sweep& tuning) {
  Sweep all = tuning;
  file.restore("tuning", all, Stored::all);
  if (tuning.shard.count > 1 && is_complete(all)) return all;
  Sweep sound = tuning;
  file.restore("tuning", sound, Stored::ended_well);
  return sound;
}

std::vector<std::string> keys_of(const Protocol& protocol) {
  std::vector<std::string> keys;
  for (const GridAxis& axis : protocol.axes) keys.push_back(axis.key);
  return keys;
}

/// Makes a comparison before anything is run. Both tables exist, so that a file's rows of them are kept.
Comparison planned(const Protocol& protocol, const SweepGrid& tuning, const Shard& shard) {
  Comparison out;
  out.keys = keys_of(protocol);
  out.lines = tuning.sweep.lines;
  out.metric = score_metric(protocol.base);
  out.holds = intervals_hold(protocol.base) + (protocol.equal.empty() ? "" : "; " + protocol.equal);
  out.tuning_seeds = protocol.tunes() ? protocol.tuning_seeds.size() : 0;
  out.tuning = tuning.sweep;
  out.tuning.shard = shard;
  out.test = empty_table(protocol, CompareStage::tests);
  return out;
}

}  // namespace

Comparison run_compare(const ConfigSource& given, const SweepFiles& files, const SweepObserver& observer) {
  const bool leads = this_rank() == 0;
  std::optional<OutputLock> lock;
  if (leads) {
    check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
    lock.emplace(files.output);
  }
  const ConfigSource source = compare_source(given);
  const Protocol protocol = protocol_of(source);
  const SweepGrid tuning = tuning_grid(source, protocol);
  CompareFile file(files, protocol.base);
  Comparison out = planned(protocol, tuning, files.shard);
  const bool resumes = files.resume && leads;
  if (resumes) {
    file.expect_same_config(protocol.base, out.keys);
    out.tuning = restored_tuning(file, out.tuning);
    file.restore("test", out.test,
                 Stored::ended_well);  // all outside until the tuning has ended: which are of the choices?
  }
  share_results(out.tuning);
  const auto store = [&] { file.write(out); };
  // A tuning that is complete is not written on its own: the file would lack the test runs until they were taken up again.
  if (!is_complete(out.tuning)) run_points(files, tuning, PointJob::train, observer, store, out.tuning);
  out.interrupted = out.tuning.interrupted;
  out.waits = !out.interrupted && !is_complete(out.tuning);
  if (out.interrupted || out.waits) return out;
  out.entrants = chosen_entrants(protocol, out.tuning);
  const SweepGrid test = test_grid(source, protocol, out.entrants);
  out.test = test.sweep;
  out.test.shard = files.shard;
  if (resumes) file.restore("test", out.test, Stored::ended_well);
  share_results(out.test);
  run_points(
      files, test, PointJob::train_and_test, observer,
      [&] {
        summarise(protocol, out.test, out.entrants);
        store();
      },
      out.test);
  out.interrupted = out.test.interrupted;
  summarise(protocol, out.test, out.entrants);
  if (!out.interrupted) out.references = study_references(test, observer);
  if (out.references) store();
  return out;
}

Comparison drop_outside_compare(const ConfigSource& given, const SweepFiles& files, Drop drop) {
  check_output_path(files.output, Overwrite::replace);
  const OutputLock lock(files.output);
  const ConfigSource source = compare_source(given);
  const Protocol protocol = protocol_of(source);
  const SweepGrid tuning = tuning_grid(source, protocol);
  CompareFile file(files, protocol.base);
  Comparison out = planned(protocol, tuning, files.shard);
  file.expect_same_config(protocol.base, out.keys);
  file.restore("tuning", out.tuning, Stored::all);
  if (!is_complete(out.tuning)) {
    throw UserError(
        fmt::format("{}: the tuning is not complete, so it is not known which test runs are outside. Complete it "
                    "with nudge compare --resume, then drop",
                    files.output.string()));
  }
  out.entrants = chosen_entrants(protocol, out.tuning);
  out.test = test_grid(source, protocol, out.entrants).sweep;
  file.restore("test", out.test, Stored::all);
  summarise(protocol, out.test, out.entrants);
  Comparison rest = out;
  rest.tuning.outside.clear();
  rest.test.outside.clear();
  if (drop == Drop::rewrite && out.count_outside() > 0) file.write(rest);
  return out;
}

StudyEstimate estimate_compare(const ConfigSource& given, const SweepFiles& files,
                               const std::function<bool(std::size_t, std::size_t)>& watch) {
  const ConfigSource source = compare_source(given);
  const Protocol protocol = protocol_of(source);
  SweepGrid grid = empty_grid(protocol, CompareStage::tests);
  GridBuilder builder(source, EndCosine::as_configured, grid);
  for (std::size_t e = 0; e < protocol.entrants.size(); ++e) {
    const Entrant& entrant = protocol.entrants[e];
    const auto& own = protocol.combinations[e];
    for (std::size_t c = 0; protocol.tunes() && c < own.size(); ++c) {
      builder.add(settings_of(entrant, own[c]), {entrant.name}, protocol.tuning_seeds);
    }
    builder.add(settings_of(entrant, own.front()), {entrant.name}, protocol.test_seeds);
  }
  builder.finish();
  grid.sweep.shard = files.shard;
  CompareFile file(files, protocol.base);
  if (files.resume) {
    file.expect_same_config(protocol.base, keys_of(protocol));
    file.restore("test", grid.sweep, Stored::ended_well);
    Sweep tuning = grid.sweep;
    tuning.metrics = sweep_metrics("train", protocol.base);  // those runs have no test loss
    file.restore("tuning", tuning, Stored::ended_well);
    for (std::size_t i = 0; i < tuning.points.size(); ++i) {
      SweepPoint& point = grid.sweep.points[i];
      point = tuning.points[i];
      if (!point.metrics.empty()) point.metrics.resize(grid.sweep.metrics.size(), std::nan(""));
    }
  }
  const auto bytes = [&](const Sweep& sweep) {
    Comparison all;
    all.tuning = sweep;
    return static_cast<double>(file.bytes(all));
  };
  return estimate_points(grid, PointJob::train_and_test, bytes, watch);
}

}  // namespace nudge
