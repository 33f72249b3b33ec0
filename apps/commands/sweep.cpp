// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/sweep.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/score_lines.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/commands/text_table.hpp"
#include "apps/config_arguments.hpp"
#include "apps/streams.hpp"
#include "sim/base/interrupts.hpp"
#include "training/config/config_table.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {
namespace {

struct Options {
  ConfigArguments arguments;
  std::string out, resume;
  bool json = false;
};

/// "key = value" of a point; in a sweep of one key at a time, of the key that left its baseline.
std::string place_text(const Sweep& sweep, const std::vector<std::string>& values) {
  const bool alone = sweep.mode == "one_at_a_time";
  const std::vector<std::string>& baseline = sweep.points.front().values;
  std::string out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!alone || values[k] != baseline[k]) out += fmt::format("{} = {}  ", sweep.keys[k], values[k]);
  }
  return out.empty() ? "baseline  " : out;
}

std::string table_text(const Sweep& sweep) {
  const bool alone = sweep.mode == "one_at_a_time";
  std::vector<std::vector<std::string>> rows(1, alone ? std::vector<std::string>{"point"} : sweep.keys);
  const std::size_t texts = rows[0].size();
  rows[0].push_back("runs");
  for (const SweepMetric& metric : sweep.metrics) rows[0].push_back(metric.name);
  std::string notes;
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    std::vector<std::string> row = alone ? std::vector<std::string>{place_text(sweep, cell.values)} : cell.values;
    row.push_back(cell.failed > 0 ? fmt::format("{} ({} failed)", cell.runs, cell.failed) : std::to_string(cell.runs));
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      row.push_back(!std::isfinite(cell.mean[m]) ? "-"
                    : cell.runs > 1              ? fmt::format("{:.4g} ± {:.2g}", cell.mean[m], cell.deviation[m])
                                                 : fmt::format("{:.4g}", cell.mean[m]));
      if (sweep.references && sweep.metrics[m].name == "validation_" + sweep.references->metric &&
          not_above_linear(*sweep.references, "validation", cell.mean[m])) {
        row.back() += " !";
        notes = std::string(kLinearNote) + "\n";
      }
      if (sweep.metrics[m].name != "validation_loss" || !sweep.lines) continue;
      const std::string mark = unigram_mark(cell.mean[m], sweep.lines->validation);
      row.back() += mark;
      if (!mark.empty()) notes = std::string(kUnigramNote) + "\n";
    }
    rows.push_back(std::move(row));
  }
  const bool trained = std::any_of(sweep.metrics.begin(), sweep.metrics.end(),
                                   [](const SweepMetric& metric) { return metric.name == "validation_loss"; });
  if (sweep.lines && trained) notes += lines_text(*sweep.lines) + "\n";
  if (sweep.references && trained) notes += references_text(*sweep.references) + "\n";
  return text_table(rows, texts) + notes;
}

nlohmann::json value_json(const Sweep& sweep, const SweepPoint& point, std::size_t k) {
  return sweep.numeric[k] ? nlohmann::json(point.numbers[k]) : nlohmann::json(point.values[k]);
}

/// The metrics of a point that its line shows: the first three, and the score of samples.
bool is_shown(const Sweep& sweep, std::size_t m) {
  const std::string& name = sweep.metrics[m].name;
  return m < 3 || name.ends_with("_accuracy") || name.ends_with("_rmse");
}

nlohmann::json json_of(const Sweep& sweep, const std::string& file) {
  nlohmann::json points = nlohmann::json::array();
  for (const SweepPoint& point : sweep.points) {
    if (point.status.empty()) continue;
    nlohmann::json one = {{"seed", point.seed}, {"status", point.status}};
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) one[sweep.keys[k]] = value_json(sweep, point, k);
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) one[sweep.metrics[m].name] = point.metrics[m];
    for (const GroupCosine& group : point.groups) one["group_cosines"][group.group] = group.cosine;
    points.push_back(std::move(one));
  }
  nlohmann::json summary = nlohmann::json::array();
  for (const SweepCell& cell : summarise_sweep(sweep)) {
    nlohmann::json one = {{"runs", cell.runs}, {"failed", cell.failed}};
    for (std::size_t k = 0; k < sweep.keys.size(); ++k) one[sweep.keys[k]] = cell.values[k];
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      one[sweep.metrics[m].name] = {{"mean", cell.mean[m]}, {"deviation", cell.deviation[m]}};
    }
    summary.push_back(std::move(one));
  }
  return {{"file", file},
          {"keys", sweep.keys},
          {"points", points},
          {"summary", summary},
          {"interrupted", sweep.interrupted},
          {"text", sweep.lines ? lines_json(*sweep.lines) : nlohmann::json(nullptr)},
          {"reference", sweep.references ? references_json(*sweep.references) : nlohmann::json(nullptr)}};
}

SweepObserver observer_for(ProgressLine& progress) {
  SweepObserver observer;
  observer.stop = [] { return interrupted(); };
  observer.finished = [&progress](const Sweep& sweep, const SweepPoint& point, std::size_t done) {
    std::string text =
        fmt::format("{}/{}  {}seed {}  ", done, sweep.points.size(), place_text(sweep, point.values), point.seed);
    if (point.status != "ok") text += point.status;
    for (std::size_t m = 0; point.status == "ok" && m < sweep.metrics.size(); ++m) {
      if (!is_shown(sweep, m)) continue;
      text += fmt::format("{} {:.4g}  ", sweep.metrics[m].name, point.metrics[m]);
    }
    progress.print(text);
  };
  return observer;
}

SweepFiles files_of(const Options& options, const ConfigSource& source) {
  if (!options.resume.empty()) return {options.resume, true};
  if (!options.out.empty()) return {options.out, false};
  const Config config = parse_program_config(source.name, source.text, source.settings);
  if (!config.text("output.file").empty()) return {config.text("output.file"), false};
  return {std::filesystem::path(source.name).filename().replace_extension(".h5"), false};
}

ExitCode run(const Options& options) {
  if (!options.resume.empty() && !options.out.empty()) {
    throw UserError("sweep: --resume continues its own file and takes no --out");
  }
  watch_interrupts();
  const ConfigSource source = read_config_source(options.arguments.file, options.arguments.settings);
  const SweepFiles files = files_of(options, source);
  Sweep sweep;
  {
    ProgressLine progress;
    sweep = run_sweep(source, files, observer_for(progress));
  }
  if (options.json) {
    answer("{}\n", json_of(sweep, files.output.string()).dump(2));
  } else {
    answer("{}{}\n", table_text(sweep), files.output.string());
  }
  if (sweep.interrupted) {
    say("interrupted; continue with: nudge sweep {} --resume {}\n", source.name, files.output.string());
    return ExitCode::ok;
  }
  if (sweep.count_ok() > 0) return ExitCode::ok;
  say("nudge: no point of the sweep ended well; the first: {}\n", sweep.points.front().status);
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_config_arguments(app, options->arguments);
  app.add_option("--out", options->out, "HDF5 file to write, which must not exist (default: CONFIG's name with .h5)");
  app.add_option("--resume", options->resume, "Keep the points of this HDF5 file that ended well and run the others");
  app.add_flag("--json", options->json, "Print points and their summary as JSON");
  return [options] { return run(*options); };
}

}  // namespace

Command sweep_command() {
  return {"sweep", "Run a grid of config values and seeds", "nudge sweep examples/sweep_noise.toml --out sweep.h5",
          add};
}

}  // namespace nudge
