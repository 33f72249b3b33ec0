// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {
namespace {

/// Swept key on the x axis: numbers, or names counted 0, 1, 2, ...
struct SweptKey {
  std::string key;
  std::vector<double> at;          // per point
  std::vector<std::string> names;  // empty for numbers
  std::vector<std::string> text;   // per point, for legends
  std::size_t distinct = 0;
};

SweptKey swept_key(const Table& points, const std::string& key) {
  SweptKey out{key, {}, {}, {}, 0};
  const auto real = points.numbers.find(key);
  if (real != points.numbers.end()) out.at = real->second;
  for (std::size_t i = 0; i < points.rows; ++i) {
    out.text.push_back(points.text(key, i));
    if (real == points.numbers.end()) out.at.push_back(static_cast<double>(place(out.names, out.text[i])));
  }
  out.distinct = std::set<std::string>(out.text.begin(), out.text.end()).size();
  return out;
}

std::vector<double> of_rows(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<double> out(rows.size());
  std::transform(rows.begin(), rows.end(), out.begin(), [&](std::size_t i) { return values[i]; });
  return out;
}

/// Points of one legend entry, grouped by x.
struct Curve {
  std::string name;
  std::map<double, std::vector<std::size_t>> points;
};

std::vector<Curve> curves_of(const Table& points, const std::vector<SweptKey>& keys, std::size_t x) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < points.rows; ++i) {
    std::string name;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (k != x) name += (name.empty() ? "" : ", ") + keys[k].key + " = " + keys[k].text[i];
    }
    auto at = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.name == name; });
    if (at == curves.end()) at = curves.insert(curves.end(), Curve{name, {}});
    at->points[keys[x].at[i]].push_back(i);
  }
  return curves;
}

/// Draws a result over the key x, one curve for each combination of the other keys. line: the unigram line, for losses.
std::string result_figure(const std::string& result, const Table& points, const SweptKey& x,
                          const std::vector<Curve>& curves, const std::optional<TextEntropy>& line) {
  const std::vector<double>& values = points.numbers.at(result);
  Chart chart{capitalised(words(result) + " against " + x.key),
              {},
              x.key + unit_in_brackets(points.unit(x.key)),
              shown_label(points, result, "%")};
  const double unit = shown_unit(result);
  chart.x_names = x.names;
  const bool pooled = std::any_of(curves.begin(), curves.end(), [](const Curve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(), [](const auto& at) { return at.second.size() > 1; });
  });
  const bool failed = std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); });
  chart.note = pooled ? "Markers: mean over the seeds. Band or line: from the lowest to the highest seed."
                      : "A marker for each run.";
  if (failed && !pooled) chart.note += " A run that failed has none.";
  if (failed && pooled) {
    chart.note +=
        " Where a run failed, the marker is the median with failed runs ranked worst, or absent if that run failed. "
        "The band is of the others.";
  }
  if (x.names.empty() && spans_decades(x.at)) chart.x_scale = Scale::logarithmic;
  if (std::all_of(values.begin(), values.end(), [](double v) { return !(std::isfinite(v) && v <= 0); }) &&
      spans_decades(values)) {
    chart.y_scale = Scale::logarithmic;
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    Series s;
    s.label = curves[c].name;
    s.color = static_cast<int>(c);
    s.markers = true;
    s.line = x.names.empty() && !points.scattered;
    s.dashed = c >= 8;
    for (const auto& [at, indices] : curves[c].points) {
      const std::vector<double> here = of_rows(values, indices);
      s.x.push_back(
          x.names.empty() ? at : at + 0.08 * (static_cast<double>(c) - 0.5 * static_cast<double>(curves.size() - 1)));
      s.y.push_back(unit * cell_spread(here, result).shown());
      const FiniteRange range = finite_range(here);
      s.low.push_back(unit * range.low);
      s.high.push_back(unit * range.high);
    }
    chart.series.push_back(std::move(s));
  }
  if (result.ends_with("_loss")) add_text_lines(chart, line);
  return chart_figure(chart);
}

/// Makes tables of points by metrics, so many at a time that a page has room for them. curves: points by the other
/// keys; line: marks losses.
std::string point_table(const std::vector<std::string>& metrics, const Table& points, const SweptKey& x,
                        const std::vector<Curve>& curves, const std::optional<TextEntropy>& line) {
  constexpr std::size_t most = 6;
  const bool several = curves.size() > 1;
  std::string out;
  for (std::size_t first = 0; first < metrics.size(); first += most) {
    const std::span<const std::string> shown(metrics.data() + first, std::min(most, metrics.size() - first));
    std::vector<std::vector<std::string>> rows{{x.key, "seeds"}};
    if (several) rows[0].insert(rows[0].begin() + 1, "at");
    for (const auto& metric : shown) rows[0].push_back(shown_label(points, metric, "%"));
    for (const auto& curve : curves) {
      for (const auto& [at, indices] : curve.points) {
        std::vector<std::string> row{x.text[indices.front()]};
        if (several) row.push_back(curve.name);
        row.push_back(std::to_string(indices.size()));
        for (const auto& metric : shown) {
          const CellSpread stats = cell_spread(of_rows(points.numbers.at(metric), indices), metric);
          const double unit = shown_unit(metric);
          const std::string mean =
              std::isfinite(stats.mean) ? with_deviation(unit * stats.mean, unit * stats.deviation) : "–";
          row.push_back(cell_text(stats, mean, number(unit * stats.median)));
          if (metric == "validation_loss" && line && stats.shown() >= line->unigram) row.back() += " !";
        }
        rows.push_back(std::move(row));
      }
    }
    out += table(rows);
  }
  return out;
}

}  // namespace

PointFigures point_figures(const Table& points, const std::optional<TextEntropy>& line) {
  if (points.keys.empty()) return {"", paragraph("The file does not say which keys were swept (attribute keys).")};
  std::vector<SweptKey> keys;
  keys.reserve(points.keys.size());
  for (const auto& key : points.keys) keys.push_back(swept_key(points, key));
  std::size_t x = 0;  // the key with most values, numbers first
  for (std::size_t k = 1; k < keys.size(); ++k) {
    const bool better_kind = keys[k].names.empty() && !keys[x].names.empty();
    const bool same_kind = keys[k].names.empty() == keys[x].names.empty();
    if (better_kind || (same_kind && keys[k].distinct > keys[x].distinct)) x = k;
  }
  const std::vector<Curve> curves = curves_of(points, keys, x);
  PointFigures out;
  std::string constant;
  bool failed = false;
  std::vector<std::string> varying;
  for (const std::string& name : points.results) {
    const std::vector<double>& values = points.numbers.at(name);
    const auto first = std::find_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    if (first == values.end()) continue;
    if (std::all_of(first, values.end(), [&](double v) { return !std::isfinite(v) || v == *first; })) {
      const bool everywhere = std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
      failed = failed || std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); });
      constant += (constant.empty() ? "" : ", ") + points.label(name) + " " + number(*first) +
                  (everywhere ? "" : " or not known");
      continue;
    }
    (varying.empty() ? out.first : out.others) += result_figure(name, points, keys[x], curves, line);
    varying.push_back(name);
  }
  if (varying.empty() && constant.empty()) {
    out.others = paragraph("No run of the sweep has a finite result.");
    return out;
  }
  out.others = grid(out.others);
  if (!constant.empty())
    out.others +=
        paragraph("The same in every run" + std::string(failed ? " that did not fail: " : ": ") + constant + ".");
  if (!varying.empty()) out.others += point_table(varying, points, keys[x], curves, line);
  return out;
}

double shown_unit(const std::string& result) { return result.ends_with("accuracy") ? 100 : 1; }

std::string shown_label(const Table& points, const std::string& result, const std::string& percent) {
  return shown_unit(result) == 1 ? points.label(result) : fmt::format("{} ({})", words(result), percent);
}

std::string result_text(const Table& points, const std::string& result, double value) {
  if (result.ends_with("accuracy")) return score_cell("accuracy", value);
  if (!std::isfinite(value)) return "–";
  return (result.ends_with("loss") ? fmt::format("{:.4f}", value) : number(value)) + unit_behind(points.unit(result));
}

namespace {

constexpr std::size_t most_values = 24;  // of either key: a wider table is no picture

}  // namespace

std::string heat_map(const Table& points) {
  if (points.keys.size() != 2 || points.scattered || points.one_at_a_time || points.results.empty()) return "";
  const std::string& result = points.results.front();
  std::vector<std::string> rows, columns;  // values of the keys in the order in which the sweep lists them
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> cells;
  for (std::size_t i = 0; i < points.rows; ++i) {
    const std::size_t row = place(rows, points.text(points.keys[0], i));
    cells[{row, place(columns, points.text(points.keys[1], i))}].push_back(points.numbers.at(result)[i]);
  }
  const auto [fewer, more] = std::minmax({rows.size(), columns.size()});
  if (fewer < 2 || more > most_values) return "";
  std::vector<double> means;
  for (const auto& [at, values] : cells) means.push_back(cell_spread(values, result).shown());
  auto [middle, best, worst] = finite_range(means);
  if (higher_is_better(result)) std::swap(best, worst);
  std::vector<HeatRow> table;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    table.push_back({rows[r], ""});
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const CellSpread spread = cell_spread(cells[{r, c}], result);
      const double mean = spread.shown(), loss = worst == best ? 0 : (mean - best) / (worst - best);
      const std::string failed = spread.failed > 0 ? ", " + failure_rate(spread) : "";
      table.back().cells +=
          heat_cell(std::isfinite(mean) ? 65 * loss : no_value, result_text(points, result, mean) + failed);
    }
  }
  return fmt::format("<h3>{}: {} (rows) and {} (columns)</h3>\n", escape(points.label(result)), escape(points.keys[0]),
                     escape(points.keys[1])) +
         heat_table("", columns, table) +
         "<p class=\"note\">Means over the seeds; where a run failed, the median with failed runs ranked worst. "
         "Darker is worse. A dash: no such median, or no run.</p>\n";
}

}  // namespace nudge::report
