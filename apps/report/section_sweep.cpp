// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

/// A swept key as the x axis sees it: numbers, or names counted 0, 1, 2, ...
struct SweptKey {
  std::string key;
  std::vector<double> at;          // per point
  std::vector<std::string> names;  // empty for numbers
  std::vector<std::string> text;   // per point, for legends
  std::size_t distinct = 0;
};

SweptKey swept_key(const Table& points, const std::string& key) {
  SweptKey out{key, {}, {}, {}, 0};
  if (const auto real = points.numbers.find(key); real != points.numbers.end()) {
    out.at = real->second;
    for (const double v : out.at) out.text.push_back(number(v));
  } else {
    out.text = points.texts.at(key);
    for (const auto& text : out.text) {
      const auto at = std::find(out.names.begin(), out.names.end(), text);
      out.at.push_back(static_cast<double>(at - out.names.begin()));
      if (at == out.names.end()) out.names.push_back(text);
    }
  }
  out.distinct = std::set<std::string>(out.text.begin(), out.text.end()).size();
  return out;
}

struct Statistics {
  double mean = 0, deviation = 0;
  int n = 0;
};

/// Mean and standard deviation (n - 1) of the finite values.
Statistics statistics(const std::vector<double>& values) {
  Statistics out;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    out.mean += v;
    ++out.n;
  }
  out.mean = out.n > 0 ? out.mean / out.n : std::nan("");
  double squares = 0;
  for (const double v : values) squares += std::isfinite(v) ? (v - out.mean) * (v - out.mean) : 0;
  out.deviation = out.n > 1 ? std::sqrt(squares / (out.n - 1)) : 0;
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

std::string metric_figure(const std::string& metric, const std::vector<double>& values, const SweptKey& x,
                          const std::vector<Curve>& curves, const std::optional<TextEntropy>& line, bool scattered) {
  Chart chart;
  chart.title = words(metric) + " against " + x.key;
  chart.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(chart.title[0])));
  chart.x_label = x.key;
  chart.y_label = words(metric);
  chart.x_names = x.names;
  chart.note = "Markers: mean over the seeds; band or line: one standard deviation to either side.";
  if (x.names.empty() && spans_decades(x.at)) chart.x_scale = Scale::logarithmic;
  if (std::all_of(values.begin(), values.end(), [](double v) { return !(v <= 0); }) && spans_decades(values)) {
    chart.y_scale = Scale::logarithmic;
  }
  for (std::size_t c = 0; c < curves.size(); ++c) {
    Series s;
    s.label = curves[c].name;
    s.color = static_cast<int>(c);
    s.markers = true;
    s.line = x.names.empty() && !scattered;
    s.dashed = c >= 8;
    for (const auto& [at, indices] : curves[c].points) {
      std::vector<double> here;
      for (const std::size_t i : indices) here.push_back(values[i]);
      const Statistics stats = statistics(here);
      s.x.push_back(
          x.names.empty() ? at : at + 0.08 * (static_cast<double>(c) - 0.5 * static_cast<double>(curves.size() - 1)));
      s.y.push_back(stats.mean);
      s.low.push_back(stats.mean - stats.deviation);
      s.high.push_back(stats.mean + stats.deviation);
    }
    chart.series.push_back(std::move(s));
  }
  if (metric.ends_with("_loss")) add_text_lines(chart, line);
  return chart_figure(chart);
}

std::string point_table(const std::vector<std::string>& metrics, const Table& points, const SweptKey& x,
                        const std::vector<Curve>& curves, const std::optional<TextEntropy>& line) {
  std::vector<std::vector<std::string>> rows{{x.key, "seeds"}};
  const bool several = curves.size() > 1;
  if (several) rows[0].insert(rows[0].begin() + 1, "at");
  for (const auto& metric : metrics) rows[0].push_back(words(metric));
  for (const auto& curve : curves) {
    for (const auto& [at, indices] : curve.points) {
      std::vector<std::string> row{x.text[indices.front()]};
      if (several) row.push_back(curve.name);
      row.push_back(std::to_string(indices.size()));
      for (const auto& metric : metrics) {
        std::vector<double> here;
        for (const std::size_t i : indices) here.push_back(points.numbers.at(metric)[i]);
        const Statistics stats = statistics(here);
        row.push_back(stats.n == 0
                          ? "–"
                          : number(stats.mean) + (stats.n > 1 ? " ± " + fmt::format("{:.2g}", stats.deviation) : ""));
        if (metric == "validation_loss" && line && stats.mean >= line->unigram) row.back() += " !";
      }
      rows.push_back(std::move(row));
    }
  }
  return table(rows);
}

std::string failures(const Table& points) {
  const auto status = points.texts.find("status");
  if (status == points.texts.end()) return "";
  std::map<std::string, std::size_t> counts;
  for (const auto& text : status->second) ++counts[text];
  counts.erase("ok");
  if (counts.empty()) return paragraph("All " + count(points.rows, "run") + " ended well.");
  std::string out;
  for (const auto& [text, n] : counts) out += (out.empty() ? "" : "; ") + count(n, "run") + ": " + text;
  return paragraph("Of " + count(points.rows, "run") + " some did not end well. " + out + ".");
}

}  // namespace

std::string point_figures(const Table& points, const std::optional<TextEntropy>& line) {
  std::vector<SweptKey> keys;
  for (const auto& key : points.keys) keys.push_back(swept_key(points, key));
  std::size_t x = 0;  // the key with most values, numbers first
  for (std::size_t k = 1; k < keys.size(); ++k) {
    const bool better_kind = keys[k].names.empty() && !keys[x].names.empty();
    const bool same_kind = keys[k].names.empty() == keys[x].names.empty();
    if (better_kind || (same_kind && keys[k].distinct > keys[x].distinct)) x = k;
  }
  const std::vector<Curve> curves = curves_of(points, keys, x);
  std::string figures;
  std::vector<std::string> metrics;
  for (const auto& [name, values] : points.numbers) {
    const bool is_key = std::find(points.keys.begin(), points.keys.end(), name) != points.keys.end();
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
    if (is_key || name == "seed" || !any) continue;
    metrics.push_back(name);
    figures += metric_figure(name, values, keys[x], curves, line, points.scattered);
  }
  if (metrics.empty()) return paragraph("No run of the sweep has a finite result.");
  return "<div class=\"grid\">\n" + figures + "</div>\n" + point_table(metrics, points, keys[x], curves, line);
}

namespace {

/// All points over one of the keys.
Table over(const Table& points, const std::string& key) {
  Table out = points;
  out.keys = {key};
  for (const std::string& other : points.keys) {
    if (other == key) continue;
    out.numbers.erase(other);
    out.texts.erase(other);
  }
  return out;
}

/// The points at which every key but one is as in the first point.
Table along(const Table& points, const std::string& key) {
  const auto at_baseline = [&](std::size_t i) {
    return std::all_of(points.keys.begin(), points.keys.end(), [&](const std::string& other) {
      if (other == key) return true;
      const auto real = points.numbers.find(other);
      if (real != points.numbers.end()) return real->second[i] == real->second[0];
      return points.texts.at(other)[i] == points.texts.at(other)[0];
    });
  };
  Table out;
  out.keys = {key};
  for (std::size_t i = 0; i < points.rows; ++i) {
    if (!at_baseline(i)) continue;
    ++out.rows;
    for (const auto& [name, values] : points.numbers) {
      const bool other_key =
          name != key && std::find(points.keys.begin(), points.keys.end(), name) != points.keys.end();
      if (!other_key) out.numbers[name].push_back(values[i]);
    }
    for (const auto& [name, values] : points.texts) out.texts[name].push_back(values[i]);
  }
  return out;
}

std::string sweep_of(const Table& points, const std::optional<TextEntropy>& line) {
  if (points.keys.empty() || points.rows == 0)
    return paragraph("The file holds no points, or does not name its swept keys.");
  if (points.scattered) {
    std::string all =
        failures(points) + paragraph("All keys change from point to point: every figure shows every point.");
    for (const std::string& key : points.keys) {
      all += "<h3>" + escape(key) + "</h3>\n" + point_figures(over(points, key), line);
    }
    return all;
  }
  if (!points.one_at_a_time) return failures(points) + point_figures(points, line);
  std::string out = failures(points) + paragraph("One key at a time leaves the baseline, the config itself.");
  for (const std::string& key : points.keys) {
    out += "<h3>" + escape(key) + "</h3>\n" + point_figures(along(points, key), line);
  }
  return out;
}

}  // namespace

std::string sweep_section(const std::vector<RunFile>& runs) {
  std::string out;
  for (const auto& run : runs) {
    if (run.kind != "sweep") continue;
    out += "<section>\n<h2>Sweep" + (runs.size() > 1 ? ": " + escape(run.name) : "") + "</h2>\n" +
           sweep_of(run.points, run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt) +
           text_note(run.lines) + reference_note(run.references) + "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
