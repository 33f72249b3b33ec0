// SPDX-License-Identifier: Apache-2.0
#include "apps/watch/run_state.hpp"

#include <fmt/format.h>

#include <cmath>

#include "apps/report/run_file.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"
#include "training/config/train_options.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {
namespace {

std::size_t count_in(const H5Reader& file, const std::string& attribute) {
  const std::int64_t count = file.integer_attribute(attribute);
  if (count < 0) file.fail("attribute " + attribute, fmt::format("{} (must be at least 0)", count));
  return static_cast<std::size_t>(count);
}

void read_training(const H5Reader& file, RunState& state) {
  const Config config = stored_program_config(file);
  state.unit = "steps";
  state.done = count_in(file, "checkpoint_done");
  state.total = train_options(config).rate.steps;
  for (const char* name : {"loss", "validation_loss", "residual"}) {
    const std::string path = std::string("train/") + name;
    if (file.has(path))
      state.numbers.emplace_back(name, report::TimeSeries{{}, file.reals<double>(path)}.last_finite());
  }
}

/// Adds a table of finished runs, with the smallest of its losses.
void add_table(const H5Reader& file, const std::string& group, RunState& state) {
  if (!file.has(group)) return;
  const auto statuses = file.texts(group + "/status");
  state.done += statuses.size();
  for (const std::string& status : statuses) state.failed += status == "ok" ? 0 : 1;
  for (const char* name : {"validation_loss", "test_loss", "loss"}) {
    const std::string path = group + "/" + name;
    if (!file.has(path)) continue;
    const auto values = file.reals<double>(path);
    double best = std::nan("");
    for (std::size_t i = 0; i < values.size() && i < statuses.size(); ++i) {
      if (statuses[i] == "ok") best = std::fmin(best, values[i]);
    }
    state.numbers.emplace_back(fmt::format("smallest {} of /{}", name, group), best);
  }
}

/// Counts the points of a part: those of its shard, in each plan that the file has.
void count_shard(const H5Reader& file, const std::vector<std::string>& plans, RunState& state) {
  const Shard shard = read_shard(file.text_attribute("shard"));
  state.done = state.total = 0;
  for (const std::string& plan : plans) {
    if (!file.has(plan)) continue;
    const auto rows = file.integers(plan + "/row");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!shard.has(i)) continue;
      ++state.total;
      state.done += rows[i] >= 0 ? 1 : 0;
    }
  }
}

void read_sweep(const H5Reader& file, RunState& state) {
  add_table(file, "points", state);
  state.total = count_in(file, "points_total");
  if (file.has_attribute("shard")) count_shard(file, {"plan"}, state);
}

void read_comparison(const H5Reader& file, RunState& state) {
  add_table(file, "tuning", state);
  add_table(file, "test", state);
  state.total = count_in(file, "tuning_total") + count_in(file, "test_total");
  if (!file.has("entrants")) state.total += 1;  // the test runs are not known before the choice
  if (file.has_attribute("shard")) count_shard(file, {"tuning_plan", "test_plan"}, state);
}

}  // namespace

RunState read_run_state(const std::filesystem::path& path) {
  const H5Reader file(path);
  RunState state;
  state.kind = file.has_attribute("kind") ? file.text_attribute("kind") : "";
  state.unit = state.kind == "compare" ? "runs" : "points";
  if (file.has_attribute("wall_time_s")) state.seconds = file.real_attribute("wall_time_s");
  if (state.kind == "train") {
    read_training(file, state);
  } else if (state.kind == "sweep" || state.kind == "spec") {
    read_sweep(file, state);
  } else if (state.kind == "compare") {
    read_comparison(file, state);
  } else {
    file.fail("attribute kind", fmt::format("kind \"{}\" cannot be followed. nudge watch follows train, sweep, "
                                            "spec and compare",
                                            state.kind));
  }
  return state;
}

}  // namespace nudge
