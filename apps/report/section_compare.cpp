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
  for (auto at = out.numbers.begin(); at != out.numbers.end();) {
    const bool key = std::find(out.keys.begin(), out.keys.end(), at->first) != out.keys.end();
    at = key || at->first == "validation_loss" || at->first == "seed" ? std::next(at) : out.numbers.erase(at);
  }
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

std::string compare_section(const std::vector<RunFile>& runs) {
  std::string out;
  for (const auto& run : runs) {
    if (run.kind != "compare") continue;
    out += "<section>\n<h2>Comparison" + (runs.size() > 1 ? ": " + escape(run.name) : "") + "</h2>\n";
    if (run.entrants.rows == 0) {
      out += paragraph("The tuning is not complete: resume the comparison.");
    } else {
      out += entrants_table(run) + "<div class=\"grid\">\n" + differences_figure(run) + "</div>\n";
    }
    out += text_note(run.lines) + failed_runs(run.tuning, "tuning") + failed_runs(run.test, "test");
    if (run.tuning.rows > 0) {
      const auto line = run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt;
      out += "<h3>Tuning</h3>\n" + point_figures(tuning_losses(run.tuning), line);
    }
    out += "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
