// SPDX-License-Identifier: Apache-2.0
#include "apps/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "apps/report/page_text.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {

namespace {

constexpr std::size_t most_rows = 24;  // beyond, the smallest effects are left to the table

std::string value_text(const Table& points, const std::string& key, std::size_t row) {
  const auto real = points.numbers.find(key);
  if (real == points.numbers.end()) return points.texts.at(key)[row];
  const auto unit = points.units.find(key);
  const bool shown = unit != points.units.end() && !unit->second.empty() && unit->second != "1";
  return number(real->second[row]) + (shown ? " " + unit->second : "");
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = 0.5 * static_cast<double>(begin + end - 1);  // ties share their mean rank
    for (std::size_t i = begin; i < end; ++i) out[order[i]] = shared;
    begin = end;
  }
  return out;
}

}  // namespace

std::vector<KeyEffect> ranked_effects(const Table& points, const std::string& result) {
  const auto values = points.numbers.find(result);
  if (points.scattered || points.rows == 0 || values == points.numbers.end()) return {};
  std::vector<std::vector<std::string>> texts(points.keys.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    for (std::size_t i = 0; i < points.rows; ++i) texts[k].push_back(value_text(points, points.keys[k], i));
  }
  const auto seeds = points.numbers.find("seed");
  const std::vector<double> alike(points.rows, 0);
  return key_effects(points.keys, texts, seeds == points.numbers.end() ? alike : seeds->second, values->second, result);
}

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || std::isnan(y[i])) continue;
    a.push_back(x[i]);
    b.push_back(y[i]);
  }
  if (a.size() < 3) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> u = ranks(a), v = ranks(b);
  const double middle = 0.5 * static_cast<double>(a.size() - 1);
  double uv = 0, uu = 0, vv = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    uv += (u[i] - middle) * (v[i] - middle);
    uu += (u[i] - middle) * (u[i] - middle);
    vv += (v[i] - middle) * (v[i] - middle);
  }
  return uv / std::sqrt(uu * vv);  // NaN where one of them never changes
}

double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y) {
  std::vector<std::string> known;
  std::vector<std::size_t> group;
  std::vector<double> measured;
  for (std::size_t i = 0; i < std::min(names.size(), y.size()); ++i) {
    if (std::isnan(y[i])) continue;
    group.push_back(place(known, names[i]));
    measured.push_back(y[i]);
  }
  const auto n = static_cast<double>(measured.size()), k = static_cast<double>(known.size());
  if (n < 3 || k < 2 || k == n) return no_value;
  const std::vector<double> rank = ranks(measured);
  const double middle = 0.5 * (n - 1);
  std::vector<double> sum(known.size(), 0), count(known.size(), 0);
  double all = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    sum[group[i]] += rank[i] - middle;
    count[group[i]] += 1;
    all += (rank[i] - middle) * (rank[i] - middle);
  }
  if (all == 0) return no_value;  // y never changes
  double between = 0;
  for (std::size_t g = 0; g < known.size(); ++g) between += sum[g] * sum[g] / count[g];
  return std::sqrt(std::max(0.0, 1 - (1 - between / all) * (n - 1) / (n - k)));
}

std::string effects_figure(const Table& points) {
  if (points.results.empty()) return "";
  const std::string& result = points.results.front();
  const std::vector<KeyEffect> effects = ranked_effects(points, result);
  if (effects.empty()) return "";
  DotPlot plot;
  plot.title = "What each value does to the " + words(result);
  plot.x_label = "difference of the " + points.label(result) +
                 (higher_is_better(result) ? ", right is better" : ", left is better");
  plot.note = fmt::format(
      "Each row moves one key from its first value ({}) and leaves the others; the largest difference on top. Dots: "
      "mean over "
      "the seeds; lines: 95 % interval of Student's t over seeds, absent with one seed.",
      points.one_at_a_time ? "the config's" : "as listed first");
  plot.zero_line = true;
  DotSeries series{"", {}, {}, {}, 0};
  for (const KeyEffect& effect : effects) {
    if (plot.rows.size() == most_rows) break;
    const PairedDifference& d = effect.difference;
    const std::string failed =
        fmt::format(" (a run failed in {} of {})", d.failed, count(static_cast<std::size_t>(d.seeds), "seed"));
    plot.rows.push_back(effect.key + " = " + effect.to + (d.failed > 0 ? failed : ""));
    series.value.push_back(effect.difference.mean);
    series.low.push_back(effect.difference.low);
    series.high.push_back(effect.difference.high);
  }
  if (effects.size() > most_rows)
    plot.note += fmt::format(" The {} smallest are left out.", effects.size() - most_rows);
  plot.series.push_back(std::move(series));
  return dot_figure(plot);
}

}  // namespace nudge::report
