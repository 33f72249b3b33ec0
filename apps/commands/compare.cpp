// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/columns.hpp"
#include "apps/commands/study_options.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/report/sections.hpp"
#include "apps/streams.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "training/compare/compare.hpp"
#include "training/data/scores_json.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {
namespace {

/// Text of a difference where a run of a pair failed: pairs won and lost.
std::string won_and_lost(const PairedDifference& d) {
  return fmt::format("won {}, lost {} of {}, sign test p = {:.2g}", d.won, d.lost, d.seeds, sign_test(d.won, d.lost));
}

std::string difference_text(const PairedDifference& d) {
  if (d.seeds == 0) return "-";
  if (d.failed > 0) return won_and_lost(d);
  if (d.seeds == 1) return fmt::format("{:+.4f} (no interval)", d.mean);
  const auto shown = [](double value) { return std::abs(value) < 5e-5 ? 0.0 : value; };  // no "-0.0000"
  return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", shown(d.mean), shown(d.low), shown(d.high));
}

bool at_edge(const Choice& choice, const std::string& key) {
  return std::find(choice.edges.begin(), choice.edges.end(), key) != choice.edges.end();
}

std::string score_spread(const std::string& metric, const CellSpread& spread) {
  std::string out = score_text(metric, spread.mean);
  if (std::isfinite(spread.mean) && spread.runs > 1) {
    out = metric == "accuracy" ? fmt::format("{:.2f} ± {:.2f} %", 100 * spread.mean, 100 * spread.deviation)
                               : fmt::format("{} ± {:.4f}", out, spread.deviation);
  }
  return cell_text(spread, out, score_text(metric, spread.median));
}

std::string score_difference(const std::string& metric, const PairedDifference& d) {
  if (d.seeds == 0) return "-";
  if (d.failed > 0) return won_and_lost(d);
  const std::string mean = score_difference_text(metric, d.mean);
  if (d.seeds == 1) return mean + " (no interval)";
  return fmt::format("{} [{}, {}]", mean, score_difference_text(metric, d.low), score_difference_text(metric, d.high));
}

/// Text of the interval of one run's accuracy: "[95.2, 98.4] of 359".
std::string one_run_text(const ComparedEntrant& one) {
  if (!std::isfinite(one.one_run.low)) return "-";
  return fmt::format("[{:.1f}, {:.1f}] of {:.0f}", 100 * one.one_run.low, 100 * one.one_run.high, one.test_samples);
}

/// True if the runs are scored by the share of independent samples that they have right.
bool has_binomial(const Comparison& c) {
  return std::any_of(c.entrants.begin(), c.entrants.end(),
                     [](const ComparedEntrant& one) { return std::isfinite(one.one_run.low); });
}

/// Cells of a row on samples: scores, and their difference instead of that of the losses.
std::vector<std::string> score_cells(const Comparison& c, const ComparedEntrant& one, std::string& notes) {
  std::string test = score_spread(c.metric, one.test_score);
  if (c.references && not_above_linear(*c.references, "test", one.test_score.shown())) {
    test += " !";
    if (notes.find(kLinearNote) == std::string::npos) notes += std::string(kLinearNote) + "\n";
  }
  std::vector<std::string> cells = {score_spread(c.metric, one.validation_score), test};
  if (has_binomial(c)) cells.push_back(one_run_text(one));
  cells.push_back(&one == &c.entrants.front() ? "baseline" : score_difference(c.metric, one.score_difference));
  return cells;
}

/// Line on what the seeds can tell, of the first entrant that they do not tell from the baseline.
std::string reach_line(const Comparison& c) {
  const auto text = [&c](double d) {
    return c.metric == "accuracy" ? fmt::format("{:.2f} points", 100 * d) : fmt::format("{:.3g}", d);
  };
  for (const ComparedEntrant& one : c.entrants) {
    const PairedDifference& d = c.metric.empty() ? one.difference : one.score_difference;
    const std::string reach = d.certain() ? "" : reach_text(d, text);
    if (!reach.empty()) return fmt::format("{}: {} (compare.test_seeds)\n", one.entrant.name, reach);
  }
  return "";
}

std::string caption(const Comparison& c) {
  const std::string what = c.metric.empty() ? "losses in nat per character, mean" : "mean";
  const std::string of = c.metric.empty() ? "loss" : c.metric;
  std::string out = fmt::format(
      "{} ± standard deviation over the seeds; difference: test {} minus the baseline's{}, paired by seed, "
      "Student's t: {}\n",
      what, of, c.metric == "accuracy" ? " in percentage points" : "", c.holds);
  out += reach_line(c);
  if (has_binomial(c)) {
    out +=
        "one run, 95 %: binomial interval (Wilson) of one run's accuracy on its test samples. Only paired runs show "
        "smaller differences\n";
  }
  const bool chosen = std::any_of(c.entrants.begin(), c.entrants.end(),
                                  [](const ComparedEntrant& one) { return one.choice.has_value(); });
  if (chosen && c.tuning_seeds > 0 && c.tuning_seeds < 3) {
    out +=
        fmt::format("each grid point was tuned with {} seed{}, so the choice may be chance: set compare.tuning_seeds\n",
                    c.tuning_seeds, c.tuning_seeds == 1 ? "" : "s");
  }
  const bool failed =
      std::any_of(c.entrants.begin(), c.entrants.end(), [](const ComparedEntrant& one) { return one.failed > 0; });
  if (failed)
    out += std::string(kMedianNote) + "; won, lost: pairs, in which a run that failed is worse than any other\n";
  return out;
}

/// Order in which results are worth a column beside the entrant: what was chosen and decides.
int compare_rank(const std::string& name) {
  if (name.starts_with("difference")) return 0;
  if (name.starts_with("test ")) return name == "test loss" ? 2 : 1;
  return name.starts_with("validation ") || name == "one run, 95 %" ? 4 : 3;
}

/// The answer of a comparison: its ranking, as the report has it.
std::string compare_ranking(const std::string& file) {
  const report::Opening found = report::compare_section({report::load_run_file(file)}).opening;
  return wrapped(found.title + ".\n" + found.sentence + "\n", terminal_columns(STDOUT_FILENO));
}

std::string table_text(const Comparison& c, bool all) {
  std::vector<std::vector<std::string>> rows(1, {"method"});
  rows[0].insert(rows[0].end(), c.keys.begin(), c.keys.end());
  rows[0].insert(rows[0].end(), {"seeds", "validation loss", "test loss"});
  if (!c.metric.empty()) rows[0].insert(rows[0].end(), {"validation " + c.metric, "test " + c.metric});
  if (has_binomial(c)) rows[0].emplace_back("one run, 95 %");
  rows[0].insert(rows[0].end(), {"difference, 95 %", "skipped", "not finite"});
  const std::optional<TextEntropy> line = c.lines ? c.lines->test : std::nullopt;
  std::string notes;
  bool edge = false, above = false;
  for (const ComparedEntrant& one : c.entrants) {
    std::vector<std::string> row = {one.entrant.name};
    for (std::size_t k = 0; k < c.keys.size(); ++k) {
      const bool outermost = one.choice && at_edge(*one.choice, c.keys[k]);
      edge = edge || outermost;
      const bool has = one.choice && !one.choice->values[k].empty();  // else it does not read the key
      row.push_back(has ? one.choice->values[k] + (outermost ? " *" : "") : "-");
    }
    const std::string mark = unigram_mark(one.test.shown(), line);
    above = above || !mark.empty();
    const bool baseline = &one == &c.entrants.front();
    row.insert(row.end(),
               {one.failed > 0 ? fmt::format("{} ({} failed)", one.runs, one.failed) : std::to_string(one.runs),
                spread_text(one.validation, "{:.4f}", "{:.4f}"), spread_text(one.test, "{:.4f}", "{:.4f}") + mark});
    if (c.metric.empty()) {
      row.push_back(baseline ? "baseline" : difference_text(one.difference));
    } else {
      for (std::string& cell : score_cells(c, one, notes)) row.push_back(std::move(cell));
    }
    row.insert(row.end(), {fmt::format("{:.0f}", one.skipped), fmt::format("{:.0f}", one.nonfinite)});
    rows.push_back(std::move(row));
    if (!one.choice)
      notes += fmt::format("{}: no point of the grid ended well with every tuning seed\n", one.entrant.name);
  }
  for (const SweepPoint& point : c.test.points) {
    if (point.status.empty() || point.status == "ok") continue;
    notes += fmt::format("failed: {}, seed {}: {}\n", point.values.front(), point.seed, point.status);
  }
  if (edge) notes += "*: at the edge of the grid, so a better value may lie beyond. Extend compare.grid and --resume\n";
  if (above) notes += std::string(kUnigramNote) + "\n";
  if (c.lines) notes += lines_text(*c.lines) + "\n";
  if (c.references) notes += references_text(*c.references) + "\n";
  return short_table(rows, 1 + c.keys.size(), 1, all, compare_rank) + caption(c) + notes;
}

/// JSON of a difference; the infinite interval of one seed is null.
nlohmann::json difference_json(const PairedDifference& d) {
  return {{"mean", d.mean},
          {"deviation", d.deviation},
          {"low", d.low},
          {"high", d.high},
          {"seeds", d.seeds},
          {"failed", d.failed},
          {"won", d.won},
          {"lost", d.lost},
          {"sign_test", sign_test(d.won, d.lost)},
          {"comparisons", d.comparisons}};
}

nlohmann::json json_of(const Comparison& c, const std::string& file) {
  nlohmann::json entrants = nlohmann::json::array();
  for (const ComparedEntrant& one : c.entrants) {
    nlohmann::json row = {{"name", one.entrant.name},
                          {"settings", one.entrant.settings},
                          {"runs", one.runs},
                          {"failed", one.failed},
                          {"validation_loss", json_of(one.validation)},
                          {"test_loss", json_of(one.test)},
                          {"skipped", one.skipped},
                          {"nonfinite", one.nonfinite}};
    row["chosen"] = nullptr;
    if (one.choice) {
      row["chosen"] = nlohmann::json::object();
      for (std::size_t k = 0; k < c.keys.size(); ++k) {
        if (!one.choice->values[k].empty()) row["chosen"][c.keys[k]] = one.choice->values[k];
      }
      row["edges"] = one.choice->edges;
      row["tuning_loss"] = one.choice->validation_loss;
    }
    row["difference"] = difference_json(one.difference);
    if (!c.metric.empty()) {
      row["validation_" + c.metric] = json_of(one.validation_score);
      row["test_" + c.metric] = json_of(one.test_score);
      row["difference_" + c.metric] = difference_json(one.score_difference);
      if (has_binomial(c)) {
        row["one_run"] = {{"low", one.one_run.low}, {"high", one.one_run.high}, {"test_samples", one.test_samples}};
      }
    }
    entrants.push_back(std::move(row));
  }
  return {{"file", file},
          {"keys", c.keys},
          {"intervals_hold", c.holds},
          {"entrants", entrants},
          {"interrupted", c.interrupted},
          {"waits", c.waits},
          {"outside", c.count_outside()},
          {"text", json_of(c.lines)},
          {"reference", json_of(c.references)},
          {"tuning", points_json(c.tuning)},
          {"test", points_json(c.test)}};
}

/// Text on a part of the tuning, and how to go on.
std::string part_text(const Comparison& c) {
  const Sweep& own = c.tuning;
  std::size_t failed = 0;
  for (const SweepPoint& point : own.points) failed += !point.status.empty() && point.status != "ok" ? 1 : 0;
  return fmt::format(
      "part {} of the tuning: {} of {} runs, {} failed\n"
      "When all parts have ended, join them with nudge merge. Then run the tests of each part: nudge compare "
      "--resume COPY --shard i/n, with its own copy of the merged file\n",
      own.shard.text(), own.count_own(), own.points.size(), failed);
}

ExitCode finish(const Comparison& comparison, const std::string& config, const std::string& file,
                const StudyOptions& options) {
  if (options.json) {
    answer("{}\n", json_text(json_of(comparison, file), 2));
  } else if (!comparison.interrupted) {
    const bool whole = !comparison.waits && comparison.test.count_ok() > 0;
    answer("{}{}{}{}\n", comparison.waits ? part_text(comparison) : table_text(comparison, options.all),
           outside_note(comparison.count_outside(), "compare", config, file), whole ? compare_ranking(file) : "", file);
  }
  const Shard& shard = comparison.tuning.shard;
  if (comparison.interrupted) {
    end_where_nothing_is_saved(file);
    say("interrupted; continue with: nudge compare {} --resume {}{}\n", config, file,
        shard.count > 1 ? " --shard " + shard.text() : "");
    return ExitCode::ok;
  }
  const Sweep& ran = comparison.waits ? comparison.tuning : comparison.test;
  if (is_empty_part(ran)) {
    say("{}", empty_part_text(ran, file));
    return ExitCode::ok;
  }
  if (comparison.waits && ran.count_ok() > 0) return ExitCode::ok;
  if (comparison.test.count_ok() > 0) return ExitCode::ok;
  say("nudge: no run of the comparison ended well{}\n", first_failure({&comparison.tuning, &comparison.test}));
  return ExitCode::numerical_failure;
}

ExitCode run_compare(const StudyOptions& options) {
  join_ranks();
  const ConfigSource source = read_config_source(options.arguments.file, options.arguments.settings);
  const SweepFiles files = study_files("compare", options, source);
  if (options.drop) {
    const Comparison c = drop_outside_compare(source, files, options.dry_run ? Drop::tell : Drop::rewrite);
    return print_dropped(options, files.output.string(), {{"tuning", &c.tuning}, {"test", &c.test}});
  }
  if (options.dry_run) {
    return print_estimate(options, [&](const auto& watch) { return estimate_compare(source, files, watch); });
  }
  Comparison comparison;
  {
    StudyLog log(options.log, source);
    comparison = run_compare(source, files, comparison_observer(log));
  }
  return is_leader() ? finish(comparison, source.name, files.output.string(), options) : ExitCode::ok;
}

std::function<ExitCode()> add_compare(CLI::App& app) {
  const auto options = std::make_shared<StudyOptions>();
  const auto equal = std::make_shared<std::string>();
  add_study_options(app, *options);
  app.add_option("--equal", *equal, "steps or energy: short for --set compare.equal=...");
  return [options, equal] {
    if (!equal->empty()) options->arguments.settings.push_back("compare.equal=" + *equal);
    return run_compare(*options);
  };
}

}  // namespace

Command compare_command() {
  return {"compare", "Tune all methods alike, then compare them on fresh seeds and the test split",
          "nudge compare examples/compare_parity.toml --out parity.h5", add_compare};
}

}  // namespace nudge
