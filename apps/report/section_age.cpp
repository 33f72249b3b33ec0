// SPDX-License-Identifier: Apache-2.0
// What nudge test --out measured: loss and score over the time that the devices were left alone.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {

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
  Chart chart;
  chart.title = words(column) + " after a wait";
  chart.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(chart.title[0])));
  chart.x_label = "age (s)";
  chart.y_label = column == "accuracy" ? "accuracy (%)" : words(column);
  chart.x_scale = Scale::logarithmic;
  chart.note =
      "Means over seeds; bands: their 95 % intervals (Student's t). Age 0 stands a decade before the first wait.";
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
  out.opening.title = "What is left after a wait";
  out.opening.sentence =
      fmt::format("Of {} the {} is {} after {}, {} after {}.", tests.front()->name, words(columns.front()),
                  text(first.mean.front()), format_quantity(first.age.front(), Unit::second, 3),
                  text(first.mean.back()), format_quantity(first.age.back(), Unit::second, 3));
  out.opening.figure = age_figure(tests, columns.front());
  out.body = "<section>\n<h2>After a wait</h2>\n<div class=\"grid\">\n";
  for (std::size_t c = 1; c < columns.size(); ++c) out.body += age_figure(tests, columns[c]);
  out.body += "</div>\n";
  for (const RunFile* run : tests) {
    out.body += "<h3>" + escape(run->name) + "</h3>\n" + age_table(*run, measured_columns(run->rows));
  }
  out.body += "</section>\n";
  return out;
}

}  // namespace nudge::report
