// SPDX-License-Identifier: Apache-2.0
// A comparison: the table of entrants, paired differences with their intervals, and how the tuning went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

std::string spread_text(double mean, double deviation, double runs, const std::optional<TextEntropy>& line) {
  std::string out = marked_loss(mean, line);
  if (std::isfinite(mean) && runs > 1) out += fmt::format(" ± {:.4f}", deviation);
  return out;
}

std::string difference_text(double mean, double low, double high) {
  if (!std::isfinite(mean)) return "–";
  if (!std::isfinite(low)) return fmt::format("{:+.4f}", mean);
  return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", mean, low, high);
}

std::string entrants_table(const RunFile& run) {
  const auto& text = run.entrants.texts;
  const auto& real = run.entrants.numbers;
  const auto line = run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt;
  const auto test_line = run.lines ? run.lines->test : std::nullopt;
  std::vector<std::vector<std::string>> rows{{"entrant", "chosen", "at the edge", "seeds", "failed", "validation loss",
                                              "test loss", "difference, 95 %", "skipped", "not finite"}};
  const std::string metric = run.references ? run.references->metric : "";
  if (!metric.empty()) rows[0].insert(rows[0].begin() + 7, {"test " + metric, "its difference, 95 %"});
  for (std::size_t i = 0; i < run.entrants.rows; ++i) {
    const auto at = [&](const char* name) { return real.at(name)[i]; };
    rows.push_back(
        {text.at("name")[i], text.at("chosen")[i].empty() ? "–" : text.at("chosen")[i], text.at("edges")[i],
         number(at("runs")), number(at("failed")),
         spread_text(at("validation_mean"), at("validation_deviation"), at("runs"), line),
         spread_text(at("test_mean"), at("test_deviation"), at("runs"), test_line),
         i == 0 ? "baseline" : difference_text(at("difference_mean"), at("difference_low"), at("difference_high")),
         number(at("skipped")), number(at("nonfinite"))});
    if (metric.empty()) continue;
    const auto score = [&](const std::string& name) {
      const auto column = real.find(name);
      return column == real.end() ? std::nan("") : column->second[i];
    };
    const double unit = metric == "accuracy" ? 100 : 1;
    const std::string name = "difference_" + metric;
    rows.back().insert(rows.back().begin() + 7,
                       {score_cell(metric, score("test_" + metric + "_mean")),
                        i == 0 ? "baseline"
                               : difference_text(unit * score(name + "_mean"), unit * score(name + "_low"),
                                                 unit * score(name + "_high"))});
  }
  return table(rows) + reference_note(run.references) +
         "<p class=\"note\">Losses in nat per character, or as the cost of samples is; differences of accuracy in "
         "percentage points; mean ± standard deviation over fresh seeds. Every entrant stands at its "
         "own "
         "best place of the same grid, chosen on the validation part with other seeds. Difference: of the test loss "
         "with "
         "the first entrant's, paired by seed, with the 95 % interval of Student's t. At the edge: an outermost value "
         "of the "
         "grid, the best may lie beyond it. Failed runs are in no mean.</p>\n";
}

std::string differences_figure(const RunFile& run) {
  DotPlot plot;
  plot.title = "Test loss against " + run.entrants.texts.at("name").front();
  plot.x_label = "difference of the test loss (nat), left is better";
  plot.zero_line = true;
  plot.note = "Dots: mean over pairs of runs with the same seed; lines: 95 % interval.";
  DotSeries series{"", {}, {}, {}, 0};
  for (std::size_t i = 1; i < run.entrants.rows; ++i) {
    plot.rows.push_back(run.entrants.texts.at("name")[i]);
    series.value.push_back(run.entrants.numbers.at("difference_mean")[i]);
    series.low.push_back(run.entrants.numbers.at("difference_low")[i]);
    series.high.push_back(run.entrants.numbers.at("difference_high")[i]);
  }
  plot.series.push_back(std::move(series));
  return dot_figure(plot);
}

/// Only what was tuned by.
Table tuning_losses(const Table& tuning) {
  Table out = tuning;
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

}  // namespace

namespace {

Opening opening_of(const RunFile& run) {
  const Table& all = run.entrants;
  const auto& names = all.texts.at("name");
  const auto& mean = all.numbers.at("difference_mean");
  const auto& low = all.numbers.at("difference_low");
  const auto& high = all.numbers.at("difference_high");
  const double baseline = all.numbers.at("test_mean").front();
  std::vector<std::string> same, better, worse, open;
  for (std::size_t i = 1; i < all.rows; ++i) {
    const std::string one = fmt::format("{} ({})", names[i], difference_text(mean[i], low[i], high[i]));
    if (!std::isfinite(mean[i]) || !std::isfinite(low[i])) {
      open.push_back(one);
    } else {
      (high[i] < 0 ? better : low[i] > 0 ? worse : same).push_back(one);
    }
  }
  const auto list = [](const char* what, const std::vector<std::string>& entrants) {
    std::string out;
    for (const auto& one : entrants) out += (out.empty() ? "" : ", ") + one;
    return entrants.empty() ? "" : fmt::format(" {}: {}.", what, out);
  };
  Opening out;
  out.title =
      fmt::format("{} against {} ({}): {} better, {} worse, {} not to be told apart", count(all.rows - 1, "entrant"),
                  names.front(), marked_loss(baseline, run.lines ? run.lines->test : std::nullopt), better.size(),
                  worse.size(), same.size() + open.size());
  out.sentence = "Differences of the test loss, paired by seed, with 95 % intervals." + list("Better", better) +
                 list("Not to be told apart", same) + list("Worse", worse) + list("Without an interval", open);
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
