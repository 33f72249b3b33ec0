// SPDX-License-Identifier: Apache-2.0
#include "apps/report/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/share_interval.hpp"
#include "training/sweep/result_order.hpp"
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

double seed_of(const Table& points, std::size_t row) {
  const auto seed = points.numbers.find("seed");
  return seed == points.numbers.end() ? 0 : seed->second[row];
}

/// Everything that says where a point stands but one key.
std::string place_beside(const Table& points, const std::string& key, std::size_t row) {
  std::string out = fmt::format("{}", seed_of(points, row));
  for (const std::string& other : points.keys) {
    if (other != key) out += fmt::format("\n{}", value_text(points, other, row));
  }
  return out;
}

/// Results of the two ends of the pairs, a list per seed.
using PairsBySeed = std::map<double, std::pair<std::vector<double>, std::vector<double>>>;

/// Of one seed: a failed run among them makes it a failure.
double mean_or_failed(const std::vector<double>& values, const std::string& result) {
  const CellSpread all = cell_spread(values, result);
  return all.failed > 0 ? failed_value(result) : all.mean;
}

Effect effect_of(const std::string& key, const std::string& from, const std::string& to, const PairsBySeed& pairs,
                 const std::string& result) {
  std::vector<double> before, after;
  for (const auto& [seed, values] : pairs) {
    before.push_back(mean_or_failed(values.first, result));
    after.push_back(mean_or_failed(values.second, result));
  }
  return {
      key, from, to, paired_difference(after, before, result), cell_spread(before, result), cell_spread(after, result)};
}

void add_effects(const Table& points, const std::string& key, const std::string& result, std::vector<Effect>& out) {
  const std::vector<double>& values = points.numbers.at(result);
  const std::string from = value_text(points, key, 0);
  std::map<std::string, double> start;  // the result at the first value, by place
  for (std::size_t i = 0; i < points.rows; ++i) {
    if (value_text(points, key, i) == from) start.emplace(place_beside(points, key, i), values[i]);
  }
  std::vector<std::string> order;
  std::map<std::string, PairsBySeed> by_value;
  for (std::size_t i = 0; i < points.rows; ++i) {
    const std::string to = value_text(points, key, i);
    if (to == from) continue;
    if (std::find(order.begin(), order.end(), to) == order.end()) order.push_back(to);
    const auto at = start.find(place_beside(points, key, i));
    if (at == start.end() || std::isnan(at->second) || std::isnan(values[i])) continue;
    if (std::isinf(at->second) && std::isinf(values[i])) continue;  // both failed: the pair tells nothing of this key
    auto& pair = by_value[to][seed_of(points, i)];
    pair.first.push_back(at->second);
    pair.second.push_back(values[i]);
  }
  for (const std::string& to : order) {
    if (by_value.count(to) > 0) out.push_back(effect_of(key, from, to, by_value.at(to), result));
  }
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

bool Effect::certain() const {
  if (difference.failed > 0) return sign_test(difference.won, difference.lost) < 0.05;
  return difference.low > 0 || difference.high < 0;
}

std::vector<Effect> ranked_effects(const Table& points, const std::string& result) {
  std::vector<Effect> out;
  const auto values = points.numbers.find(result);
  if (points.scattered || points.rows == 0 || values == points.numbers.end()) return out;
  for (const std::string& key : points.keys) add_effects(points, key, result, out);
  const auto size = [](const Effect& one) {
    return one.difference.failed > 0 ? std::numeric_limits<double>::infinity() : std::abs(one.difference.mean);
  };
  std::stable_sort(out.begin(), out.end(), [&](const Effect& a, const Effect& b) { return size(a) > size(b); });
  return out;
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
  const std::vector<Effect> effects = ranked_effects(points, result);
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
  for (const Effect& effect : effects) {
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
