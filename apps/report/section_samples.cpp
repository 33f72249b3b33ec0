// SPDX-License-Identifier: Apache-2.0
// Classification and regression: scores over the steps, confusion matrices, what trivial models reach.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

std::string metric_of(const Lane& trainee) {
  for (const std::string metric : {"accuracy", "rmse"}) {
    if (!trainee.of("validation_" + metric).empty()) return metric;
  }
  return "";
}

std::string score_cell(const std::string& metric, double value) {
  if (!std::isfinite(value)) return "–";
  return metric == "accuracy" ? fmt::format("{:.2f} %", 100 * value) : fmt::format("{:.4f}", value);
}

std::string score_figure(const std::vector<NamedLane>& trainees) {
  Chart chart;
  std::string metric;
  for (const auto& trainee : trainees) {
    const std::string own = metric_of(*trainee.trainee);
    if (own.empty() || (!metric.empty() && own != metric)) continue;
    metric = own;
    const TimeSeries& values = trainee.trainee->of("validation_" + metric);
    chart.series.push_back({trainee.name, values.x, values.y, {}, {}, trainee.color, true, values.y.size() <= 40});
  }
  if (metric.empty()) return "";
  chart.title = metric == "accuracy" ? "Accuracy" : "Root mean square error";
  chart.x_label = "training step";
  chart.y_label = metric == "accuracy" ? "share of validation samples" : "error of a validation value";
  chart.note = "On the validation part. Dashed: a linear model of the same samples.";
  const RunFile* run = trainees.front().run;
  const ReferenceScore* linear = run->references ? run->references->find("linear", "validation") : nullptr;
  const auto& x = chart.series.front().x;
  if (linear != nullptr && !x.empty()) {
    chart.series.push_back({"linear model", {x.front(), x.back()}, {linear->score, linear->score}, {}, {}, 7});
    chart.series.back().dashed = true;
  }
  return chart_figure(chart);
}

namespace {

/// Table of a confusion matrix; a cell's shade is its share of the row, so that rare classes are seen as well.
std::string confusion_table(const ConfusionMatrix& matrix) {
  const auto& counts = matrix.counts();
  std::string out = "<div class=\"scroll\"><table class=\"heat\">\n<tr><th>true class</th>";
  for (Index c = 0; c < matrix.classes(); ++c) out += fmt::format("<th>{}</th>", c);
  out += "<th>found</th></tr>\n";
  for (Index t = 0; t < matrix.classes(); ++t) {
    const auto of_row = static_cast<double>(counts.row(t).sum());
    out += fmt::format("<tr><th>{}</th>", t);
    for (Index p = 0; p < matrix.classes(); ++p) {
      const double share = of_row > 0 ? static_cast<double>(counts(t, p)) / of_row : 0;
      const char* hue = t == p ? "--c0" : "--c1";
      out += share > 0
                 ? fmt::format("<td style=\"background:color-mix(in srgb, var({}) {:.0f}%, transparent)\">{}</td>", hue,
                               std::max(8.0, 70 * share), counts(t, p))
                 : "<td class=\"none\">·</td>";
    }
    const double found = of_row > 0 ? static_cast<double>(counts(t, t)) / of_row : std::nan("");
    out += fmt::format("<td>{}</td></tr>\n", score_cell("accuracy", found));
  }
  return out + "</table></div>\n";
}

constexpr Index most_classes = 40;  // wider tables show nothing

}  // namespace

std::string confusion_tables(const std::vector<NamedLane>& trainees) {
  std::string out;
  for (const auto& trainee : trainees) {
    for (const auto& [part, matrix] : trainee.trainee->confusion) {
      out += fmt::format("<h3>Confusion on the {} part: {}, {} of {} found</h3>\n", part, escape(trainee.name),
                         matrix.correct(), matrix.samples());
      if (matrix.undecided() > 0) {
        out += paragraph(fmt::format("{} without a choice: an output was not a number.", matrix.undecided()));
      }
      if (matrix.classes() > most_classes) {
        out += paragraph(fmt::format("{} classes are too many to show; the file has them.", matrix.classes()));
      } else {
        out += confusion_table(matrix);
      }
    }
  }
  if (out.empty()) return out;
  return out +
         "<p class=\"note\">Rows: true class; columns: class that was chosen; shade: share of the row, other colours "
         "off the diagonal.</p>\n";
}

std::string reference_note(const std::optional<ReferenceScores>& references) {
  if (!references) return "";
  std::string out;
  for (const ReferenceScore& row : references->rows) {
    out += fmt::format("{}{} {} ({})", out.empty() ? "" : ", ", row.model, score_cell(references->metric, row.score),
                       row.split);
  }
  const std::string mean = references->splits > 1 ? fmt::format(" (means over {} splits)", references->splits) : "";
  return "<p class=\"note\">Trivial models of the same samples" + mean + ": " + escape(out) +
         ". A network that does not beat the linear one has learnt nothing that needs a hidden layer.</p>\n";
}

}  // namespace nudge::report
