// SPDX-License-Identifier: Apache-2.0
#include "training/compare/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {

PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline,
                                   const std::string& result, int comparisons) {
  NUDGE_EXPECT(values.size() == baseline.size());
  const double better = higher_is_better(result) ? 1 : -1;
  PairedDifference out;
  std::vector<double> differences;
  double largest = 0;
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (std::isnan(values[s]) || std::isnan(baseline[s])) continue;
    ++out.seeds;
    const bool both = std::isfinite(values[s]) && std::isfinite(baseline[s]);
    if (both) differences.push_back(values[s] - baseline[s]);
    if (both) largest = std::max({largest, std::abs(values[s]), std::abs(baseline[s])});
    out.failed += both ? 0 : 1;
    // A failed run is as bad as another, whatever infinity stands for it.
    const double x = std::isinf(values[s]) ? -std::numeric_limits<double>::infinity() : better * values[s];
    const double y = std::isinf(baseline[s]) ? -std::numeric_limits<double>::infinity() : better * baseline[s];
    out.won += x > y ? 1 : 0;
    out.lost += x < y ? 1 : 0;
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Spread spread = out.failed > 0 ? Spread{nan, nan} : spread_of_finite(differences);
  out.mean = spread.mean;
  constexpr double rounding =
      1e-14;  // of differences of numbers: shares of the same samples are equal to some units of 2e-16
  out.deviation = spread.deviation > rounding * largest ? spread.deviation : std::isnan(spread.deviation) ? nan : 0;
  look_at_together(out, comparisons);
  return out;
}

namespace {

constexpr double kLevel = 0.05;  ///< probability that any interval of a family misses its value

/// Half of the interval of a mean of n differences.
double half_width(double deviation, int n, int comparisons) {
  return student_t_quantile(1 - kLevel / (2 * comparisons), n - 1) * deviation / std::sqrt(static_cast<double>(n));
}

}  // namespace

void look_at_together(PairedDifference& d, int comparisons) {
  NUDGE_EXPECT(comparisons >= 1);
  d.comparisons = comparisons;
  const bool has_interval = d.failed == 0 && d.seeds > 1;
  const double half = has_interval ? half_width(d.deviation, d.seeds, comparisons) : 0;
  const double none = d.failed > 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  d.low = has_interval ? d.mean - half : -none;
  d.high = has_interval ? d.mean + half : none;
}

bool PairedDifference::certain() const {
  // Equal differences have an interval of no width: shares of few samples, which do not say how they scatter.
  const bool counted = failed > 0 || (seeds > 1 && deviation == 0);
  if (counted) return sign_test(won, lost) < kLevel / comparisons;
  return low > 0 || high < 0;
}

int PairedDifference::seeds_needed() const {
  constexpr int most = 1000;
  if (!(deviation > 0) || !(std::abs(mean) > 0)) return 0;
  for (int n = 2; n <= most; ++n) {
    if (half_width(deviation, n, comparisons) < std::abs(mean)) return n;
  }
  return 0;
}

std::string reach_text(const PairedDifference& d, const std::function<std::string(double)>& text) {
  if (!std::isfinite(d.low) || !(d.deviation > 0)) return "";
  std::string out = fmt::format("{} seeds cannot resolve less than {} here", d.seeds, text(d.high - d.mean));
  const int needed = d.seeds_needed();
  if (d.mean == 0 || needed <= d.seeds) return out;
  return out + fmt::format("; {} would resolve {}", needed > 0 ? fmt::format("about {}", needed) : "more than 1000",
                           text(std::abs(d.mean)));
}

namespace {

using Values = std::vector<std::vector<std::string>>;

/// Values of a point for all keys but one.
std::vector<std::string> place_beside(const Values& values, std::size_t key, std::size_t point) {
  std::vector<std::string> place;
  for (std::size_t k = 0; k < values.size(); ++k) place.push_back(k == key ? std::string() : values[k][point]);
  return place;
}

/// Results of the two ends of the pairs of each seed, with the point at the far end of the first.
struct Pairs {
  std::size_t point;
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> by_seed;
};

/// Mean over the runs of one seed; a failed run among them makes it a failure.
double mean_or_failed(const std::vector<double>& values, const std::string& result) {
  const CellSpread all = cell_spread(values, result);
  return all.failed > 0 ? failed_value(result) : all.mean;
}

KeyEffect effect_of(const std::string& key, const std::vector<std::string>& own, const Pairs& pairs,
                    const std::string& result) {
  std::vector<double> before, after;
  for (const auto& [seed, ends] : pairs.by_seed) {
    before.push_back(mean_or_failed(ends.first, result));
    after.push_back(mean_or_failed(ends.second, result));
  }
  return {.key = key,
          .from = own[0],
          .to = own[pairs.point],
          .point = pairs.point,
          .difference = paired_difference(after, before, result),
          .from_spread = cell_spread(before, result),
          .to_spread = cell_spread(after, result)};
}

/// Key whose values are compared each by itself.
constexpr const char* kApart = "estimator";

/// Effects of one key on a result among the points that are `in`, in the order in which its values come.
std::vector<KeyEffect> effects_of(const std::vector<std::string>& keys, const Values& values, std::size_t key,
                                  const std::vector<bool>& in, const std::vector<double>& seeds,
                                  const std::pair<std::string, std::vector<double>>& result) {
  const std::vector<std::string>& own = values[key];
  const std::vector<double>& y = result.second;
  std::map<std::pair<double, std::vector<std::string>>, double> start;  // the result at the first value, by place
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (in[i] && own[i] == own[0]) start.emplace(std::pair(seeds[i], place_beside(values, key, i)), y[i]);
  }
  std::vector<Pairs> moved;  // a value each, in the order in which they come
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!in[i] || own[i] == own[0]) continue;
    const auto at = start.find({seeds[i], place_beside(values, key, i)});
    if (at == start.end() || std::isnan(at->second) || std::isnan(y[i])) continue;
    if (std::isinf(at->second) && std::isinf(y[i])) continue;
    auto pairs = std::find_if(moved.begin(), moved.end(), [&](const Pairs& p) { return own[p.point] == own[i]; });
    if (pairs == moved.end()) pairs = moved.insert(moved.end(), {i, {}});
    pairs->by_seed[seeds[i]].first.push_back(at->second);
    pairs->by_seed[seeds[i]].second.push_back(y[i]);
  }
  std::vector<KeyEffect> out;
  for (const Pairs& pairs : moved) out.push_back(effect_of(keys[key], own, pairs, result.first));
  return out;
}

/// Effects of all keys on one result, the largest first, each alone.
std::vector<KeyEffect> effects_on(const std::vector<std::string>& keys, const Values& values,
                                  const std::vector<double>& seeds,
                                  const std::pair<std::string, std::vector<double>>& result) {
  const std::vector<bool> all(result.second.size(), true);
  const auto apart = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), kApart) - keys.begin());
  std::vector<std::string> groups;
  for (std::size_t i = 0; apart < keys.size() && i < all.size(); ++i) {
    const std::string& own = values[apart][i];
    if (std::find(groups.begin(), groups.end(), own) == groups.end()) groups.push_back(own);
  }
  std::vector<KeyEffect> out;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    if (key == apart || groups.size() < 2) {
      for (KeyEffect& one : effects_of(keys, values, key, all, seeds, result)) out.push_back(std::move(one));
      continue;
    }
    for (const std::string& group : groups) {
      std::vector<bool> in(all.size());
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = values[apart][i] == group;
      for (KeyEffect& one : effects_of(keys, values, key, in, seeds, result)) {
        one.among = fmt::format("{} = {}", kApart, group);
        out.push_back(std::move(one));
      }
    }
  }
  const auto size = [](const KeyEffect& one) {
    return one.difference.failed > 0 ? std::numeric_limits<double>::infinity() : std::abs(one.difference.mean);
  };
  std::stable_sort(out.begin(), out.end(), [&](const KeyEffect& a, const KeyEffect& b) { return size(a) > size(b); });
  return out;
}

}  // namespace

std::vector<std::string> headline_results(const std::vector<std::string>& results) {
  if (results.empty()) return {};
  const bool loss = std::find(results.begin(), results.end(), "validation_loss") != results.end();
  if (loss && results.front().ends_with("accuracy")) return {results.front(), "validation_loss"};
  return {results.front()};
}

std::vector<std::vector<KeyEffect>> key_effects(const std::vector<std::string>& keys, const Values& values,
                                                const std::vector<double>& seeds, const ResultColumns& results,
                                                const std::string& asked) {
  std::vector<std::string> names;
  for (const auto& [name, column] : results) names.push_back(name);
  names = headline_results(names);
  if (!asked.empty() && std::find(names.begin(), names.end(), asked) == names.end()) names.push_back(asked);
  std::vector<std::vector<KeyEffect>> out;
  int family = 0;
  for (const std::string& name : names) {
    const auto result =
        std::find_if(results.begin(), results.end(), [&](const auto& one) { return one.first == name; });
    out.push_back(result == results.end() ? std::vector<KeyEffect>{} : effects_on(keys, values, seeds, *result));
    family += static_cast<int>(out.back().size());
  }
  for (auto& effects : out) {
    for (KeyEffect& one : effects) look_at_together(one.difference, family);
  }
  if (asked.empty()) return out;
  return {out[static_cast<std::size_t>(std::find(names.begin(), names.end(), asked) - names.begin())]};
}

}  // namespace nudge
