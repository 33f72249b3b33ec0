// SPDX-License-Identifier: Apache-2.0
#include "training/benchmark/entry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double sign_of(const std::string& metric) { return higher_is_better(metric) ? 1 : -1; }

double mean_score(const std::vector<double>& scores) {
  double sum = 0;
  for (const double one : scores) sum += one;
  return sum / static_cast<double>(scores.size());
}

Share nothing_known(std::string why) {
  Share out;
  out.unknown = std::move(why);
  return out;
}

}  // namespace

const SeedScores* BenchmarkResult::strongest_null() const {
  const SeedScores* best = nullptr;
  for (const SeedScores& one : nulls) {
    const double score = sign_of(metric) * mean_score(one.scores);
    if (std::isfinite(score) && (best == nullptr || score > sign_of(metric) * mean_score(best->scores))) best = &one;
  }
  return best;
}

const BenchmarkRule* BenchmarkResult::chosen_rule() const {
  const BenchmarkRule* best = nullptr;
  for (const BenchmarkRule& one : rules) {
    if (std::isfinite(one.validation_loss) && (best == nullptr || one.validation_loss < best->validation_loss))
      best = &one;
  }
  return best;
}

Share BenchmarkResult::share(const BenchmarkRule& rule, int comparisons) const {
  const SeedScores* null = strongest_null();
  if (null == nullptr) return nothing_known("no null has a result");
  if (!rule.failure.empty()) return nothing_known(rule.name + ": " + rule.failure);
  if (!std::isfinite(mean_score(exact))) return nothing_known("a run of digital weights failed");
  return learnt_share(rule.scores, exact, null->scores, sign_of(metric), comparisons);
}

Share BenchmarkEntry::score(int devices) const {
  std::vector<Share> shares;
  for (const BenchmarkResult& one : networks) {
    const BenchmarkRule* rule = one.chosen_rule();
    Share share = rule == nullptr ? nothing_known("no rule ended well in the tuning")
                                  : one.share(*rule, devices * static_cast<int>(networks.size()));
    if (!share.known()) share.unknown = one.network + ": " + share.unknown;
    shares.push_back(std::move(share));
  }
  return shares.empty() ? nothing_known("no network was run") : mean_share(shares);
}

Share BenchmarkEntry::rule_share(const std::string& rule) const {
  std::size_t family = 0;
  for (const BenchmarkResult& one : networks) family += one.rules.size();
  std::vector<Share> shares;
  for (const BenchmarkResult& one : networks) {
    const auto found = std::find_if(one.rules.begin(), one.rules.end(),
                                    [&](const BenchmarkRule& tried) { return tried.name == rule; });
    if (found != one.rules.end()) shares.push_back(one.share(*found, static_cast<int>(family)));
  }
  return shares.empty() ? nothing_known("not tried") : mean_share(shares);
}

namespace {

/// Results in the order of the seeds; NaN where a run failed or is missing.
std::vector<double> scores_of(const Sweep& test, const std::string& entrant, const std::string& metric,
                              const std::vector<std::int64_t>& seeds) {
  const auto found = results_by_seed(test, entrant, metric);
  std::vector<double> scores;
  for (const std::int64_t seed : seeds) {
    const auto at = found.find(seed);
    scores.push_back(at != found.end() && std::isfinite(at->second) ? at->second : Share::none);
  }
  return scores;
}

std::vector<std::int64_t> seeds_of(const Sweep& test) {
  std::vector<std::int64_t> seeds;
  for (const SweepPoint& point : test.points) seeds.push_back(point.seed);
  std::sort(seeds.begin(), seeds.end());
  seeds.erase(std::unique(seeds.begin(), seeds.end()), seeds.end());
  return seeds;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string failure_of(const Comparison& comparison, const ComparedEntrant& one) {
  const Sweep& table = one.choice ? comparison.test : comparison.tuning;
  for (const SweepPoint& point : table.points) {
    if (point.values.front() != one.entrant.name || point.status.empty() || point.status == "ok") continue;
    return one.choice ? fmt::format("{}; seed {}: {}", failure_rate(one.test), point.seed, first_line(point.status))
                      : "no rate ended well in the tuning: " + first_line(point.status);
  }
  return ended_well(one) ? "" : "its runs have no test score";
}

BenchmarkRule rule_result(const Comparison& c, const ComparedEntrant& one, const std::string& metric,
                          const std::vector<std::int64_t>& seeds) {
  const std::string& name = one.entrant.name;
  const auto mean = [&](const char* of) { return mean_result(c.test, name, of); };
  BenchmarkRule rule{{name, scores_of(c.test, name, metric, seeds)}};
  rule.failure = failure_of(c, one);
  rule.validation_loss = !one.choice          ? Share::none
                         : c.tuning_seeds > 0 ? one.choice->validation_loss
                                              : one.validation.mean;
  for (std::size_t k = 0; one.choice && k < c.keys.size(); ++k) {
    if (!one.choice->values[k].empty())
      rule.chosen += fmt::format("{}{} = {}", rule.chosen.empty() ? "" : ", ", c.keys[k], one.choice->values[k]);
  }
  rule.pulses = mean("pulses");
  rule.most_pulses = mean("most_pulses");
  rule.learning_energy = mean("learning_energy");
  rule.array_energy = mean("array_energy");
  const std::map<std::int64_t, double> levels = results_by_seed(c.test, name, "plateau");
  for (const auto& [seed, reached] : levels)
    rule.plateau += (reached == 1 ? 1.0 : 0.0) / static_cast<double>(levels.size());
  std::vector<double> seconds;
  for (const SweepPoint& point : c.test.points) {
    if (point.values.front() == name) seconds.push_back(point.seconds);
  }
  rule.seconds = spread_of_finite(seconds).mean;
  return rule;
}

}  // namespace

BenchmarkResult benchmark_result(const BenchmarkPart& part, const Comparison& c) {
  BenchmarkResult out{
      part.network,           "test_" + (c.metric.empty() ? "loss" : c.metric), seeds_of(c.test), {}, {}, {},
      part.comparison.refused};
  const auto of_model = [&](const std::string& name, double score) {
    out.nulls.push_back({name, std::vector<double>(out.seeds.size(), score)});
  };
  for (const ComparedEntrant& one : c.entrants) {
    const std::string& name = one.entrant.name;
    if (std::count(part.rules.begin(), part.rules.end(), name) > 0) {
      out.rules.push_back(rule_result(c, one, out.metric, out.seeds));
    } else if (name == Advice::exact) {
      out.exact = scores_of(c.test, name, out.metric, out.seeds);
    } else {
      out.nulls.push_back({name, scores_of(c.test, name, out.metric, out.seeds)});
    }
  }
  if (c.references) {
    for (const ReferenceScore& row : c.references->rows) {
      if (row.split == "test") of_model(row.model, row.score);
    }
  }
  if (c.lines && c.lines->test) {
    of_model("letter frequencies", c.lines->test->unigram);
    of_model("pairs of letters", c.lines->test->bigram);
  }
  return out;
}

std::vector<RankedEntry> ranked_entries(const std::vector<BenchmarkEntry>& entries, const std::string& digest) {
  std::vector<RankedEntry> ranked, without;
  std::size_t known = 0;
  for (const BenchmarkEntry& one : entries) known += one.digest == digest && one.score().known() ? 1 : 0;
  for (const BenchmarkEntry& one : entries) {
    if (one.digest != digest) continue;
    const Share alone = one.score();
    Share score = one.score(static_cast<int>(std::max<std::size_t>(1, known)));
    if (alone.known() && !score.known()) score = {alone.value, -kInfinite, kInfinite, {}};  // too many for these seeds
    (score.known() ? ranked : without).push_back({&one, score});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedEntry& a, const RankedEntry& b) { return a.score.value > b.score.value; });
  std::vector<Share> scores;
  for (const RankedEntry& one : ranked) scores.push_back(one.score);
  const std::vector<RankRange> ranks = rank_ranges(scores);
  for (std::size_t i = 0; i < ranked.size(); ++i) ranked[i].rank = ranks[i];
  ranked.insert(ranked.end(), without.begin(), without.end());
  return ranked;
}

}  // namespace nudge
