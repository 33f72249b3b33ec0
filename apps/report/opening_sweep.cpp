// SPDX-License-Identifier: Apache-2.0
// The verdict on a sweep.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/statistics.hpp"
#include "training/data/samples.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {
namespace {

/// Text of the interval of a difference, ", 95 % interval [+0.0123, +0.0456], for all 7 effects together"; empty with one
/// seed.
std::string interval_text(const std::string& result, const PairedDifference& difference) {
  if (!std::isfinite(difference.low)) return "";
  const double unit = shown_unit(result);
  return fmt::format(
      ", 95 % interval [{:+.4g}, {:+.4g}]{}{}", unit * difference.low, unit * difference.high,
      unit == 1 ? "" : " points",
      difference.comparisons > 1 ? fmt::format(", for all {} effects together", difference.comparisons) : "");
}

/// Text of the value that an effect is of: "device.read_noise = 0.1", with the estimator where each has its own.
std::string value_text(const KeyEffect& effect) {
  return fmt::format("{} = {}{}", effect.key, effect.to, effect.among.empty() ? "" : " (" + effect.among + ")");
}

/// Text of an effect with failed runs, which have no difference: "at 0.1 runs of 2 of 3 seeds fail, …".
std::string failing_text(const KeyEffect& effect) {
  const PairedDifference& d = effect.difference;
  const auto rate = [](const CellSpread& c) {
    return fmt::format("{} of {}", c.failed, count(static_cast<std::size_t>(c.runs + c.failed), "seed"));
  };
  return fmt::format(
      "runs fail with {} at {} and with {} at {}; {} seeds better, {} worse, sign test p = {:.2g}{}",
      rate(effect.from_spread), effect.from, rate(effect.to_spread), effect.to, d.won, d.lost, sign_test(d.won, d.lost),
      d.comparisons > 1
          ? fmt::format(" (significant below {:.2g}, for {} effects)", 0.05 / d.comparisons, d.comparisons)
          : "");
}

/// Text of a difference of the result, "+0.0123" or "+1.5 points".
std::string difference_text(const std::string& result, double difference) {
  return result.ends_with("accuracy") ? fmt::format("{:+.2f} points", 100 * difference)
                                      : fmt::format("{:+.3g}", difference);
}

/// What a value does to a result, "costs 14 points of validation accuracy" or "raises the validation loss by 0.0123 nat".
std::string does_text(const Table& points, const std::string& result, double difference) {
  const double size = std::abs(difference);
  if (result.ends_with("accuracy"))
    return fmt::format("{} {:.3g} points of {}", difference < 0 ? "costs" : "gains", 100 * size, words(result));
  return fmt::format("{} the {} by {:.3g}{}", difference < 0 ? "lowers" : "raises", words(result), size,
                     unit_behind(points.unit(result)));
}

/// Title and first sentence of an effect: what it does, and over how many seeds.
Opening effect_opening(const Table& points, const std::string& result, const KeyEffect& effect, bool largest) {
  const std::string value = value_text(effect);
  const std::string rank = largest ? "No other value matters more" : "This is the largest significant effect";
  if (effect.difference.failed > 0) {
    return {fmt::format("{} makes runs fail", value), fmt::format("{}: {}.", rank, failing_text(effect)), ""};
  }
  return {fmt::format("{} {}", value, does_text(points, result, effect.difference.mean)),
          fmt::format("{}: the {} is {} at {} and {} at {}, difference {} (mean of {}{}).", rank, words(result),
                      result_text(points, result, effect.from_spread.mean), effect.from,
                      result_text(points, result, effect.to_spread.mean), effect.to,
                      difference_text(result, effect.difference.mean),
                      count(static_cast<std::size_t>(effect.difference.seeds), "seed"),
                      interval_text(result, effect.difference)),
          ""};
}

constexpr std::size_t most_named = 4;  // beyond, a sentence is a table

/// Text of the largest effect of every other key: "reads.free +0.01, …".
std::string other_keys(const Table& points, const std::string& result, const std::string& most,
                       const std::vector<KeyEffect>& effects) {
  std::string out;
  std::vector<std::string> told{most};
  for (const KeyEffect& effect : effects) {
    if (std::find(told.begin(), told.end(), effect.key) != told.end()) continue;
    told.push_back(effect.key);
    if (told.size() > most_named + 1) continue;
    const bool open = effect.difference.seeds > 1 && !effect.difference.certain();
    out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", value_text(effect),
                       effect.difference.failed > 0 ? "(runs fail)" : difference_text(result, effect.difference.mean),
                       open ? " (the interval contains 0)" : "");
  }
  if (out.empty()) return out;
  const std::string rest =
      told.size() > most_named + 1 ? fmt::format("; {} more change it less", told.size() - most_named - 1) : "";
  return fmt::format(" Next{}: {}{}.", points.one_at_a_time ? "" : ", averaged over the other keys", out, rest);
}

/// Key that a result goes with most closely.
struct Closest {
  std::string key;
  double r = 0;
  bool named = false;  ///< the key has names as values
};

Closest closest_key(const Table& points, const std::vector<double>& y) {
  Closest out;
  for (const std::string& key : points.keys) {
    const auto values = points.numbers.find(key);
    const auto names = points.texts.find(key);
    const bool of_names = values == points.numbers.end();
    if (of_names && names == points.texts.end()) continue;
    const double r = of_names ? rank_ratio(names->second, y) : rank_correlation(values->second, y);
    if (std::isfinite(r) && std::abs(r) > std::abs(out.r)) out = {key, r, of_names};
  }
  return out;
}

/// Rows of the same point, its seeds, in the order of the rows.
std::vector<std::vector<std::size_t>> rows_by_point(const Table& points) {
  std::map<std::string, std::vector<std::size_t>> by_place;
  for (std::size_t i = 0; i < points.rows; ++i) {
    std::string place;
    for (const std::string& key : points.keys) {
      const auto names = points.texts.find(key);
      place += names != points.texts.end() ? names->second[i] + "\n" : fmt::format("{}\n", points.numbers.at(key)[i]);
    }
    by_place[place].push_back(i);
  }
  std::vector<std::vector<std::size_t>> out;
  for (auto& [place, rows] : by_place) out.push_back(std::move(rows));
  return out;
}

/// Probability that the closest of all keys is as close where none matters: share of random exchanges of the results of
/// whole points after which any key is (max-statistic permutation test, Westfall and Young, Resampling-Based Multiple
/// Testing (1993), section 2.3). Seeds of a point stay together.
double chance_of_closest(const Table& points, const std::vector<double>& y, double r) {
  constexpr int times = 999;
  constexpr double same = 1 - 1e-12;  // sums in another order
  const auto groups = rows_by_point(points);
  constexpr RngKey key{1, Purpose::probe, 0};
  int as_close = 1;  // the order that was found is one of them
  for (int t = 0; t < times; ++t) {
    std::vector<double> moved = y;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto& from = groups[shuffled(g, groups.size(), key, static_cast<std::uint64_t>(t))];
      for (std::size_t s = 0; s < groups[g].size(); ++s) moved[groups[g][s]] = y[from[s % from.size()]];
    }
    as_close += std::abs(closest_key(points, moved).r) >= same * std::abs(r) ? 1 : 0;
  }
  return static_cast<double>(as_close) / (times + 1);
}

/// Title and sentence on the key that the result of a sweep of random points goes with.
Opening correlation_opening(const Table& points, const std::string& result) {
  const std::vector<double>& y = points.numbers.at(result);
  const Closest best = closest_key(points, y);
  if (best.key.empty()) return {"No key is correlated with the " + words(result), "", ""};
  const double p = chance_of_closest(points, y, best.r);
  const std::string how =
      best.named ? fmt::format("its values explain {:.0f} % of the variance of the ranks", 100 * best.r * best.r)
                 : fmt::format("rank correlation {:+.2f}", best.r);
  const std::string over = fmt::format("over {}; p = {:.2g} for the closest of {}", count(points.rows, "run"), p,
                                       count(points.keys.size(), "key"));
  if (p > 0.05) {
    return {fmt::format("No key is correlated with the {} beyond chance", words(result)),
            fmt::format("The closest is {} ({}, {}).", best.key, how, over), ""};
  }
  return {fmt::format("The {} correlates most strongly with {}", words(result), best.key),
          fmt::format("{} ({}).", capitalised(how), over), ""};
}

/// Title and sentence on the effects of a sweep, the largest first.
Opening ranked_opening(const Table& points, const std::string& result, const std::vector<KeyEffect>& effects) {
  const KeyEffect& first = effects.front();
  const auto text = [&](double d) {
    std::string out = difference_text(result, d);
    return out.starts_with('+') ? out.substr(1) : out;
  };
  if (first.difference.seeds < 2) {
    Opening out = effect_opening(points, result, first, true);
    out.title = fmt::format("One seed cannot separate an effect from chance: the largest difference is that of {}",
                            value_text(first));
    out.sentence += other_keys(points, result, first.key, effects);
    return out;
  }
  const auto certain =
      std::find_if(effects.begin(), effects.end(), [](const KeyEffect& e) { return e.difference.certain(); });
  if (certain != effects.end()) {
    Opening out = effect_opening(points, result, *certain, certain == effects.begin());
    out.sentence += other_keys(points, result, certain->key, effects);
    return out;
  }
  if (first.difference.failed > 0) {
    return {"No significant effect on the " + words(result) + " is sure",
            fmt::format("With {} {}.", value_text(first), failing_text(first)), ""};
  }
  const std::string reach = reach_text(first.difference, text);
  return {fmt::format("No value changes the {} significantly", words(result)),
          fmt::format("The largest difference is that of {}, {}{}.{}", value_text(first),
                      difference_text(result, first.difference.mean), interval_text(result, first.difference),
                      reach.empty() ? "" : " " + reach + "."),
          ""};
}

/// The opening of a result without a sure effect, with the first sure effect on the finer result where there is one.
Opening with_finer(const Table& points, const std::string& finer, const std::vector<KeyEffect>& effects, Opening out) {
  const auto sure = [](const KeyEffect& e) { return e.difference.certain() && e.difference.failed == 0; };
  const auto found = std::find_if(effects.begin(), effects.end(), sure);
  if (found == effects.end()) return out;
  const std::string value = value_text(*found);
  const std::string does = does_text(points, finer, found->difference.mean);
  out.sentence =
      fmt::format("{} {}{}. {}. {}", value, does, interval_text(finer, found->difference), out.title, out.sentence);
  out.title = fmt::format("{} {}", value, does);
  return out;
}

/// Text on points that failed or learned nothing.
std::string left_over(const Table& points, const std::string& result, const std::optional<TextEntropy>& line) {
  std::string out;
  const auto status = points.texts.find("status");
  if (status != points.texts.end()) {
    const auto ok = static_cast<std::size_t>(std::count(status->second.begin(), status->second.end(), "ok"));
    if (ok < points.rows)
      out += fmt::format(" {} of {} failed and rank worst.", points.rows - ok, count(points.rows, "run"));
  }
  if (line && result == "validation_loss") {
    const auto& values = points.numbers.at(result);
    const auto idle =
        std::count_if(values.begin(), values.end(), [&](double v) { return std::isfinite(v) && v >= line->unigram; });
    if (idle > 0) {
      out += fmt::format(" {} of {} ended no better than letter frequencies (unigram, {:.4f} nat).", idle,
                         count(points.rows, "run"), line->unigram);
    }
  }
  return out;
}

/// Text on points that are behind a linear model of the same samples.
std::string behind_linear(const Table& points, const std::string& result,
                          const std::optional<ReferenceScores>& references) {
  if (!references) return "";
  const std::size_t bar = result.find('_');
  if (bar == std::string::npos || result.substr(bar + 1) != references->metric) return "";
  const ReferenceScore* linear = references->find("linear", result.substr(0, bar));
  if (linear == nullptr) return "";
  const auto& values = points.numbers.at(result);
  const bool larger = references->metric == "accuracy";
  const auto behind = std::count_if(values.begin(), values.end(), [&](double v) {
    return std::isfinite(v) && (larger ? v < linear->score : v > linear->score);
  });
  if (behind == 0) return "";
  return fmt::format(" {} of {} ended {} a linear model ({}).", behind, count(points.rows, "run"),
                     larger ? "below" : "above the error of", result_text(points, result, linear->score));
}

}  // namespace

Opening sweep_opening(const Table& points, const std::optional<TextEntropy>& line,
                      const std::optional<ReferenceScores>& references) {
  const std::string keys = fmt::format("{}", fmt::join(points.keys, ", "));
  const std::string swept =
      points.keys.size() > 3 ? fmt::format("Sweep of {} keys", points.keys.size()) : "Sweep of " + keys;
  if (points.results.empty()) return {swept, "The sweep has no result to compare.", ""};
  const std::string& result = points.results.front();
  const auto [mean, low, high] = finite_range(points.numbers.at(result));
  if (!std::isfinite(low)) return {swept, "No run has a finite " + words(result) + ".", ""};
  const auto effects = headline_effects(points);
  Opening out = points.scattered          ? correlation_opening(points, result)
                : effects.front().empty() ? Opening{swept, "", ""}
                                          : ranked_opening(points, result, effects.front());
  if (effects.size() > 1 && !effects[1].empty()) {
    const std::string finer = headline_results(points.results)[1];
    if (out.title.starts_with("No value changes")) out = with_finer(points, finer, effects[1], std::move(out));
    out.sentence += fmt::format(" Of the effects, {} are on the {} and {} on the {}.", effects.front().size(),
                                words(result), effects[1].size(), words(finer));
  }
  out.sentence += fmt::format(" {}: single runs from {} to {}.", swept, result_text(points, result, low),
                              result_text(points, result, high));
  out.sentence += left_over(points, result, line) + behind_linear(points, result, references);
  if (out.sentence.starts_with(' ')) out.sentence.erase(0, 1);
  return out;
}

namespace {

constexpr std::size_t most_rows = 24;  // beyond, the smallest effects are left to the table

}  // namespace

std::vector<std::vector<KeyEffect>> headline_effects(const Table& points) {
  ResultColumns results;
  for (const std::string& name : points.results) {
    const auto values = points.numbers.find(name);
    results.push_back(
        {name, values == points.numbers.end() ? std::vector<double>(points.rows, std::nan("")) : values->second});
  }
  if (points.scattered || points.rows == 0)
    return std::vector<std::vector<KeyEffect>>(headline_results(points.results).size());
  std::vector<std::vector<std::string>> texts(points.keys.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const bool names = points.numbers.count(points.keys[k]) == 0;
    const std::string unit = names ? "" : unit_behind(points.unit(points.keys[k]));
    for (std::size_t i = 0; i < points.rows; ++i) texts[k].push_back(points.text(points.keys[k], i) + unit);
  }
  const auto seeds = points.numbers.find("seed");
  const std::vector<double> alike(points.rows, 0);
  return key_effects(points.keys, texts, seeds == points.numbers.end() ? alike : seeds->second, results);
}

std::string effects_figure(const Table& points) {
  if (points.results.empty()) return "";
  const std::string& result = points.results.front();
  const auto all = headline_effects(points);
  if (all.empty()) return "";
  const std::vector<KeyEffect>& effects = all.front();
  if (effects.empty()) return "";
  DotPlot plot{
      "What each value does to the " + words(result),
      fmt::format("Each row moves one key from its first value ({}) and leaves the others, with the "
                  "largest difference on top. Dots: mean over the seeds, hollow where the interval "
                  "contains 0. Lines: 95 % intervals (Student's t over seeds) for all {} effects together "
                  "(Bonferroni), absent with one seed.",
                  points.one_at_a_time ? "the config's" : "as listed first", effects.front().difference.comparisons),
      "difference of the " + shown_label(points, result, "points") +
          (higher_is_better(result) ? ", right is better" : ", left is better"),
      Scale::linear, true};
  const double unit = shown_unit(result);
  DotSeries series{"", {}, {}, {}, 0};
  for (const KeyEffect& effect : effects) {
    if (plot.rows.size() == most_rows) break;
    const PairedDifference& d = effect.difference;
    const std::string failed =
        fmt::format(" (a run failed in {} of {})", d.failed, count(static_cast<std::size_t>(d.seeds), "seed"));
    plot.rows.push_back(value_text(effect) + (d.failed > 0 ? failed : ""));
    series.add(unit * d.mean, unit * d.low, unit * d.high, !d.certain());
  }
  if (effects.size() > most_rows)
    plot.note += fmt::format(" The {} smallest are left out.", effects.size() - most_rows);
  plot.series.push_back(std::move(series));
  return dot_figure(plot);
}

}  // namespace nudge::report
