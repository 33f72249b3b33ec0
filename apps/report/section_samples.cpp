// SPDX-License-Identifier: Apache-2.0
// Classification and regression: scores over the steps, confusion matrices, what trivial models reach.
// What nudge test --out measured: loss and score over the time that the devices were left alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"
#include "training/sweep/spread.hpp"

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
  chart.note = "On the validation split. Dashed: a linear model of the same samples.";
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
  std::vector<std::string> columns;
  std::vector<HeatRow> rows;
  for (Index t = 0; t < matrix.classes(); ++t) {
    const auto of_row = static_cast<double>(counts.row(t).sum());
    const auto share = [&](Index p) { return of_row > 0 ? static_cast<double>(counts(t, p)) / of_row : no_value; };
    columns.push_back(std::to_string(t));
    rows.push_back({columns.back(), ""});
    for (Index p = 0; p < matrix.classes(); ++p) {
      rows.back().cells +=
          share(p) > 0 ? heat_cell(std::max(8.0, 70 * share(p)), std::to_string(counts(t, p)), t == p ? "--c0" : "--c1")
                       : heat_cell(no_value, "·");
    }
    rows.back().cells += "<td>" + score_cell("accuracy", share(t)) + "</td>";
  }
  columns.emplace_back("found");
  return heat_table("true class", columns, rows);
}

constexpr Index most_classes = 40;  // wider tables show nothing

}  // namespace

std::string confusion_tables(const std::vector<NamedLane>& trainees) {
  std::string out;
  for (const auto& trainee : trainees) {
    for (const auto& [part, matrix] : trainee.trainee->confusion) {
      out += fmt::format("<h3>Confusion on the {} split: {}, {} of {} correct</h3>\n", part, escape(trainee.name),
                         matrix.correct(), matrix.samples());
      if (matrix.undecided() > 0) {
        out += paragraph(fmt::format("{} have no prediction, because an output was not a number.", matrix.undecided()));
      }
      if (matrix.classes() > most_classes) {
        out += paragraph(fmt::format("{} classes are too many to show here. The file has them.", matrix.classes()));
      } else {
        out += confusion_table(matrix);
      }
    }
  }
  if (out.empty()) return out;
  return out +
         "<p class=\"note\">Rows: true class. Columns: predicted class. Shade: share of the row, in other colours "
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
         ". A network that does not beat the linear model has learnt nothing that needs a hidden layer.</p>\n";
}

namespace {

/// Means over seeds with 95 % intervals of Student's t, over age.
struct AgeCurve {
  std::vector<double> age, mean, low, high;
};

AgeCurve curve_of(const Table& rows, const std::string& column) {
  std::map<double, std::vector<double>> by_age;
  const auto& age = rows.numbers.at("age");
  const auto& values = rows.numbers.at(column);
  for (std::size_t i = 0; i < rows.rows; ++i) by_age[age[i]].push_back(values[i]);
  AgeCurve out;
  for (const auto& [at, all] : by_age) {
    const Spread spread = spread_of_finite(all);
    const double half = all.size() > 1 ? student_t_half_width(spread.deviation, static_cast<int>(all.size())) : 0;
    out.age.push_back(at);
    out.mean.push_back(spread.mean);
    out.low.push_back(spread.mean - half);
    out.high.push_back(spread.mean + half);
  }
  return out;
}

std::vector<std::string> measured_columns(const Table& rows) {
  std::vector<std::string> out;
  for (const char* name : {"accuracy", "rmse", "loss"}) {
    if (rows.numbers.count(name) > 0) out.emplace_back(name);
  }
  return out;
}

/// Moves age 0 to a decade before the first age: a logarithmic axis has no 0.
std::vector<double> drawn_ages(std::vector<double> ages) {
  const auto first = std::find_if(ages.begin(), ages.end(), [](double a) { return a > 0; });
  const double before = first == ages.end() ? 1 : *first / 10;
  for (double& age : ages) age = age > 0 ? age : before;
  return ages;
}

std::string age_figure(const std::vector<const RunFile*>& tests, const std::string& column) {
  Chart chart{
      capitalised(words(column) + " after a wait"),
      "Means over seeds. Bands: their 95 % intervals (Student's t). Age 0 is drawn a decade before the first wait.",
      "age (s)", column == "accuracy" ? "accuracy (%)" : words(column), Scale::logarithmic};
  const double factor = column == "accuracy" ? 100 : 1;
  int color = 0;
  for (const RunFile* run : tests) {
    if (run->rows.numbers.count(column) == 0) continue;
    const AgeCurve curve = curve_of(run->rows, column);
    Series series{tests.size() > 1 ? run->name : "", drawn_ages(curve.age), {}, {}, {}, color++};
    for (std::size_t i = 0; i < curve.mean.size(); ++i) {
      series.y.push_back(factor * curve.mean[i]);
      const bool share = column == "accuracy";  // of which an interval of Student's t knows nothing
      series.low.push_back(factor * (share ? std::max(curve.low[i], 0.0) : curve.low[i]));
      series.high.push_back(factor * (share ? std::min(curve.high[i], 1.0) : curve.high[i]));
    }
    chart.series.push_back(std::move(series));
  }
  return chart.series.empty() ? "" : chart_figure(chart);
}

std::string age_table(const RunFile& run, const std::vector<std::string>& columns) {
  std::vector<std::vector<std::string>> cells = {{"age"}};
  std::vector<AgeCurve> curves;
  for (const std::string& column : columns) {
    cells.front().push_back(column);
    curves.push_back(curve_of(run.rows, column));
  }
  for (std::size_t i = 0; i < curves.front().age.size(); ++i) {
    std::vector<std::string> row = {format_quantity(curves.front().age[i], Unit::second, 3)};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const AgeCurve& curve = curves[c];
      const double half = curve.high[i] - curve.mean[i];
      row.push_back(columns[c] == "accuracy" ? fmt::format("{:.2f} ± {:.2f} %", 100 * curve.mean[i], 100 * half)
                                             : fmt::format("{:.4f} ± {:.4f}", curve.mean[i], half));
    }
    cells.push_back(std::move(row));
  }
  return table(cells);
}

}  // namespace

Section age_section(const std::vector<RunFile>& runs) {
  Section out;
  std::vector<const RunFile*> tests;
  for (const RunFile& run : runs) {
    if (run.kind == "test" && run.rows.numbers.count("age") > 0 && run.rows.rows > 0) tests.push_back(&run);
  }
  if (tests.empty()) return out;
  const std::vector<std::string> columns = measured_columns(tests.front()->rows);
  if (columns.empty()) return out;
  const AgeCurve first = curve_of(tests.front()->rows, columns.front());
  const auto text = [&](double x) {
    return columns.front() == "accuracy" ? fmt::format("{:.2f} %", 100 * x) : fmt::format("{:.4f}", x);
  };
  out.opening.title = "The network after a wait";
  out.opening.sentence =
      fmt::format("Of {} the {} is {} after {}, {} after {}.", tests.front()->name, words(columns.front()),
                  text(first.mean.front()), format_quantity(first.age.front(), Unit::second, 3),
                  text(first.mean.back()), format_quantity(first.age.back(), Unit::second, 3));
  if (tests.size() == 1 && !tests.front()->equilibrium.empty())
    out.opening.sentence += fmt::format(" Equilibrium: {}.", tests.front()->equilibrium);
  out.opening.figure = age_figure(tests, columns.front());
  std::string figures;
  for (std::size_t c = 1; c < columns.size(); ++c) figures += age_figure(tests, columns[c]);
  out.body = "<section>\n<h2>After a wait</h2>\n" + grid(figures);
  for (const RunFile* run : tests) {
    out.body += "<h3>" + escape(run->name) + "</h3>\n" + age_table(*run, measured_columns(run->rows));
    if (tests.size() > 1 && !run->equilibrium.empty())
      out.body += paragraph(fmt::format("Equilibrium: {}.", run->equilibrium));
  }
  out.body += "</section>\n";
  return out;
}

}  // namespace nudge::report
