// SPDX-License-Identifier: Apache-2.0
// A comparison: the table of entrants, paired differences with their intervals, and how the tuning went.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/statistics.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {

namespace {

/// Reads a column of /entrants; NaN where a file of an earlier version lacks it.
double value_in(const Table& entrants, const std::string& column, std::size_t row) {
  const auto at = entrants.numbers.find(column);
  return at == entrants.numbers.end() ? std::nan("") : at->second[row];
}

/// Reads a result of an entrant: mean and deviation, or where a run failed the median of all.
CellSpread spread_in(const Table& entrants, const std::string& result, std::size_t row) {
  const auto of = [&](const std::string& column) { return value_in(entrants, column, row); };
  return {static_cast<int>(of("runs")), static_cast<int>(of("failed")), of(result + "_mean"), of(result + "_deviation"),
          of(result + "_median")};
}

std::string loss_text(const CellSpread& spread, const std::optional<TextEntropy>& line) {
  std::string mean = marked_loss(spread.mean, line);
  if (std::isfinite(spread.mean) && spread.runs > 1) mean += fmt::format(" ± {:.4f}", spread.deviation);
  return cell_text(spread, mean, marked_loss(spread.median, line));
}

std::string score_spread(const std::string& metric, const CellSpread& spread) {
  std::string mean = score_cell(metric, spread.mean);
  if (std::isfinite(spread.mean) && spread.runs > 1) {
    mean = metric == "accuracy" ? fmt::format("{:.2f} ± {:.2f} %", 100 * spread.mean, 100 * spread.deviation)
                                : fmt::format("{} ± {:.4f}", mean, spread.deviation);
  }
  return cell_text(spread, mean, score_cell(metric, spread.median));
}

/// Text of the difference in the columns that start with `name`, times `unit`; pairs won and lost where a run of a pair
/// failed.
std::string difference_in(const Table& entrants, const std::string& name, double unit, std::size_t row) {
  const auto of = [&](const char* end) { return value_in(entrants, name + end, row); };
  if (of("_failed") > 0) {
    const double won = of("_won"), lost = of("_lost");
    return fmt::format("won {}, lost {}, sign test p = {:.2g}", won, lost,
                       sign_test(static_cast<int>(won), static_cast<int>(lost)));
  }
  const double mean = unit * of("_mean"), low = unit * of("_low"), high = unit * of("_high");
  if (!std::isfinite(mean)) return "–";
  if (!std::isfinite(low)) return fmt::format("{:+.4f}", mean);
  return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", mean, low, high);
}

std::string one_run_text(const Table& entrants, std::size_t row) {
  const auto of = [&](const char* column) { return value_in(entrants, column, row); };
  if (!std::isfinite(of("one_run_low"))) return "–";
  return fmt::format("[{:.1f}, {:.1f}] of {}", 100 * of("one_run_low"), 100 * of("one_run_high"),
                     number(of("test_samples")));
}

/// Cells of an entrant's scores on the test part; for an accuracy also the interval of one run.
std::vector<std::string> score_cells(const Table& entrants, const std::string& metric, std::size_t row) {
  std::vector<std::string> cells = {score_spread(metric, spread_in(entrants, "test_" + metric, row))};
  if (metric == "accuracy") cells.push_back(one_run_text(entrants, row));
  cells.push_back(row == 0 ? "baseline"
                           : difference_in(entrants, "difference_" + metric, metric == "accuracy" ? 100 : 1, row));
  return cells;
}

std::string entrants_note(const RunFile& run) {
  const std::string holds = run.intervals_hold.empty() ? "" : " Of the differences, " + run.intervals_hold + ".";
  return "<p class=\"note\">Losses are in nat per character or in the unit of the cost, differences of accuracy in "
         "percentage points. Values are mean ± standard deviation over fresh seeds. Every method has its own best "
         "point of the same grid, chosen on the validation split with other seeds. Difference: test loss minus that "
         "of the first method, paired by seed, with the 95 % interval of Student's t." +
         escape(holds) +
         " One run: the binomial interval (Wilson) of one run's accuracy on its test samples. At the edge: an "
         "outermost value of the grid was chosen, so a better one may lie beyond. A failed run ranks worse than any "
         "other: then the median of all runs replaces the mean, beside pairs won and lost.</p>\n";
}

std::string entrants_table(const RunFile& run) {
  const Table& all = run.entrants;
  const auto& text = all.texts;
  const auto line = run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt;
  const auto test_line = run.lines ? run.lines->test : std::nullopt;
  std::vector<std::vector<std::string>> rows{{"method", "chosen", "at the edge", "seeds", "failed", "validation loss",
                                              "test loss", "difference, 95 %", "skipped", "not finite"}};
  const std::string metric = run.references ? run.references->metric : "";
  if (metric == "accuracy") {
    rows[0].insert(rows[0].begin() + 7, {"test accuracy", "one run, 95 %", "its difference, 95 %"});
  } else if (!metric.empty()) {
    rows[0].insert(rows[0].begin() + 7, {"test " + metric, "its difference, 95 %"});
  }
  for (std::size_t i = 0; i < all.rows; ++i) {
    const auto at = [&](const char* name) { return all.numbers.at(name)[i]; };
    rows.push_back({text.at("name")[i], text.at("chosen")[i].empty() ? "–" : text.at("chosen")[i], text.at("edges")[i],
                    number(at("runs")), number(at("failed")), loss_text(spread_in(all, "validation", i), line),
                    loss_text(spread_in(all, "test", i), test_line),
                    i == 0 ? "baseline" : difference_in(all, "difference", 1, i), number(at("skipped")),
                    number(at("nonfinite"))});
    if (metric.empty()) continue;
    const std::vector<std::string> cells = score_cells(all, metric, i);
    rows.back().insert(rows.back().begin() + 7, cells.begin(), cells.end());
  }
  return table(rows) + reference_note(run.references) + entrants_note(run);
}

std::string differences_figure(const RunFile& run) {
  DotPlot plot{
      "Test loss against " + run.entrants.texts.at("name").front(),
      "Dots: mean over pairs of runs with the same seed, hollow where the 95 % interval (line) contains 0. No dot: "
      "a run failed.",
      "difference of the test loss (nat), left is better", Scale::linear, true};
  DotSeries series{"", {}, {}, {}, 0};
  for (std::size_t i = 1; i < run.entrants.rows; ++i) {
    plot.rows.push_back(run.entrants.texts.at("name")[i]);
    const double low = run.entrants.numbers.at("difference_low")[i],
                 high = run.entrants.numbers.at("difference_high")[i];
    series.add(run.entrants.numbers.at("difference_mean")[i], low, high, !(low < high && (low > 0 || high < 0)));
  }
  plot.series.push_back(std::move(series));
  return dot_figure(plot);
}

Table tuning_losses(const Table& tuning) {
  Table out = ranked_failures(tuning);
  out.results = {"validation_loss"};
  return out;
}

std::string failed_runs(const Table& runs, const std::string& stage) {
  std::string out;
  for (std::size_t i = 0; i < runs.rows; ++i) {
    if (runs.texts.at("status")[i] == "ok") continue;
    out += fmt::format("{}, seed {}: {}. ", runs.texts.at("entrant")[i], number(runs.numbers.at("seed")[i]),
                       runs.texts.at("status")[i]);
  }
  return out.empty() ? "" : paragraph("Runs of the " + stage + " that failed. " + out);
}

Opening opening_of(const RunFile& run) {
  const Table& all = run.entrants;
  const auto& names = all.texts.at("name");
  const auto& low = all.numbers.at("difference_low");
  const auto& high = all.numbers.at("difference_high");
  const double baseline = spread_in(all, "test", 0).shown();
  std::vector<std::string> same, better, worse, open, missing;
  for (std::size_t i = 1; i < all.rows; ++i) {
    const std::string one = fmt::format("{} ({})", names[i], difference_in(all, "difference", 1, i));
    if (!std::isfinite(value_in(all, "difference_mean", i)) && !(value_in(all, "difference_failed", i) > 0)) {
      missing.push_back(names[i]);  // there is no pair of runs
    } else if (!std::isfinite(low[i])) {
      open.push_back(one);
    } else {
      const bool told = low[i] < high[i];  // differences that are all equal do not tell their scatter
      (told && high[i] < 0 ? better : told && low[i] > 0 ? worse : same).push_back(one);
    }
  }
  const auto list = [](const char* what, const std::vector<std::string>& entrants) {
    return entrants.empty() ? "" : fmt::format(" {}: {}.", what, fmt::join(entrants, ", "));
  };
  const auto more = [](const std::vector<std::string>& entrants, const char* what) {
    return entrants.empty() ? "" : fmt::format(", {} {}", entrants.size(), what);
  };
  Opening out;
  const std::string base =
      fmt::format("{} ({})", names.front(), marked_loss(baseline, run.lines ? run.lines->test : std::nullopt));
  const std::string others = fmt::format("{} worse, {} not significantly different{}{}", worse.size(), same.size(),
                                         more(open, "without an interval"), more(missing, "without a result"));
  if (!better.empty()) {
    out.title = fmt::format("{} beat{} {}; {}", fmt::join(better, ", "), better.size() == 1 ? "s" : "", base, others);
  } else if (!worse.empty()) {
    out.title = fmt::format("None is better than {}: {}", base, others);
  } else if (same.empty()) {
    out.title = fmt::format("No method can be compared with {} yet: {}", base, others);
  } else {
    out.title = fmt::format("None differs significantly from {}: {}", base, others);
  }
  out.sentence = "Differences of the test loss, paired by seed, with 95 % intervals." + list("Better", better) +
                 list("Not significantly different", same) + list("Worse", worse) + list("Without an interval", open) +
                 list("Without a result to pair with the baseline's", missing);
  return out;
}

}  // namespace

Section compare_section(const std::vector<RunFile>& runs) {
  Section out;
  for (const auto& run : runs) {
    if (run.kind != "compare") continue;
    const bool first = out.body.empty();
    out.body += "<section>\n<h2>Comparison" + (runs.size() > 1 ? ": " + escape(run.name) : "") + "</h2>\n";
    if (run.entrants.rows == 0) {
      if (first) out.opening = {"A comparison that is still being tuned", "The tuning is not complete: resume it.", ""};
      out.body += paragraph("The tuning is not complete: resume the comparison.");
    } else {
      const Opening opening = opening_of(run);
      if (first) {
        out.opening = opening;
        out.opening.figure = differences_figure(run);
      } else {
        out.opening.sentence += " " + run.name + ": " + opening.sentence;
        out.body += "<div class=\"grid\">\n" + differences_figure(run) + "</div>\n";
      }
      out.body += entrants_table(run);
    }
    out.body +=
        outside_note(run) + text_note(run.lines) + failed_runs(run.tuning, "tuning") + failed_runs(run.test, "test");
    if (run.tuning.rows > 0) {
      const auto line = run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt;
      const PointFigures figures = point_figures(tuning_losses(run.tuning), line);
      out.body += "<h3>Tuning</h3>\n<div class=\"grid\">\n" + figures.first + "</div>\n" + figures.others;
    }
    out.body += "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
