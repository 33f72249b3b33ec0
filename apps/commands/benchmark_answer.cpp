// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/benchmark_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/commands/text_lines.hpp"
#include "training/benchmark/zoo.hpp"

namespace nudge {
namespace {

const RankedEntry* ranked_as(const BenchmarkAnswer& answer, const BenchmarkEntry& entry) {
  const auto found = std::find_if(answer.ranked.begin(), answer.ranked.end(), [&](const RankedEntry& one) {
    return one.entry->device == entry.device && one.entry->settings == entry.settings;
  });
  return found == answer.ranked.end() ? nullptr : &*found;
}

std::string short_number(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "-"; }

double mean_of_scores(const std::vector<double>& scores) {
  double sum = 0;
  for (const double one : scores) sum += one;
  return sum / static_cast<double>(scores.size());
}

std::string score_of(const BenchmarkResult& one, const std::vector<double>& scores) {
  return score_text(one.metric == "test_accuracy" ? "accuracy" : "", mean_of_scores(scores));
}

std::string cell_share(const Share& share) { return share.known() ? report::share_text(share) : "-"; }

/// Table of the rules on one network, and the reasons for what is missing.
std::string network_text(const BenchmarkResult& one) {
  const SeedScores* null = one.strongest_null();
  std::string out =
      fmt::format("{}: digital weights {}, strongest null {}\n", one.network, score_of(one, one.exact),
                  null == nullptr ? "none" : fmt::format("{} ({})", score_of(one, null->scores), null->name));
  std::vector<std::vector<std::string>> rows = {{"", "rule", "chosen", one.metric, "share, 95 %", "pulses",
                                                 "of one device", "heat of learning, J", "s per run", "plateau"}};
  std::string missing;
  for (const BenchmarkRule& rule : one.rules) {
    const Share share = one.share(rule, static_cast<int>(one.rules.size()));
    rows.push_back({&rule == one.chosen_rule() ? "*" : "", rule.name, rule.chosen.empty() ? "-" : rule.chosen,
                    score_of(one, rule.scores), cell_share(share), short_number(rule.pulses),
                    short_number(rule.most_pulses), short_number(rule.learning_energy), short_number(rule.seconds),
                    fmt::format("{:.0f} %", 100 * rule.plateau)});
    if (!share.known()) missing += fmt::format("no share: {}: {}\n", rule.name, share.unknown);
  }
  for (const RefusedRule& refused : one.refused)
    missing += fmt::format("not tried: {}: {}\n", refused.rule, refused.why);
  return out + text_table(rows, 3) + missing;
}

std::string ranking_text(const BenchmarkAnswer& answer) {
  if (answer.ranked.empty()) {
    return "No result of this protocol, these rules and these settings is known. Results of your own come with --zoo "
           "FOLDER; --short, --network, --rule and --set must be those of the runs.\n";
  }
  std::vector<std::vector<std::string>> rows = {{"rank", "interval", "device", "score, 95 %"}};
  std::string missing;
  for (const RankedEntry& one : answer.ranked) {
    if (!one.score.known()) {
      missing += fmt::format("{}: {}\n", one.entry->device, report::share_text(one.score));
      continue;
    }
    rows.push_back({std::to_string(one.rank.rank), fmt::format("{} to {}", one.rank.first, one.rank.last),
                    one.entry->device, cell_share(one.score)});
  }
  return (rows.size() > 1 ? text_table(rows, 3) + "Intervals of this table hold together with 95 %.\n" : "") + missing;
}

}  // namespace

std::string answer_text(const BenchmarkAnswer& answer) {
  std::string out;
  for (const BenchmarkEntry& own : answer.own) {
    const RankedEntry* place = ranked_as(answer, own);
    const std::string rank = place == nullptr ? "" : report::rank_text(place->rank);
    const Share score = own.score();
    out += fmt::format("{}: {}{}{}\n", own.device, score.known() ? "score " : "", report::share_text(score),
                       rank.empty() ? "" : ", rank " + rank);
    for (const BenchmarkResult& one : own.networks) out += network_text(one);
    out += "\n";
  }
  if (!answer.own.empty()) {
    out +=
        "score: share of what digital weights learn beyond the strongest null, mean over the networks; its interval "
        "(Fieller) covers seeds and splits into training and validation. *: the rule that the tuning chose. plateau: "
        "share of the runs whose loss has stopped falling. share: all rules of a network together\n\n";
  }
  out += ranking_text(answer);
  return answer.folder.empty() ? out : out + answer.folder + "\n";
}

namespace {

nlohmann::json interval_of(const Share& share) {
  return share.known() && std::isfinite(share.low) ? nlohmann::json{share.low, share.high} : nlohmann::json(nullptr);
}

nlohmann::json place_json(const RankedEntry* place) {
  if (place == nullptr || place->rank.rank == 0) return {{"rank", nullptr}, {"rank_interval", nullptr}, {"of", 0}};
  return {{"rank", place->rank.rank}, {"rank_interval", {place->rank.first, place->rank.last}}, {"of", place->rank.of}};
}

nlohmann::json device_json(const BenchmarkAnswer& answer, const BenchmarkEntry& own) {
  const Share score = own.score();
  nlohmann::json out = json_of(own);
  out["score"] = score.known() ? nlohmann::json(score.value) : nlohmann::json(nullptr);
  out["interval"] = interval_of(score);
  out["reason"] = score.unknown;
  out.update(place_json(ranked_as(answer, own)));
  for (std::size_t n = 0; n < own.networks.size(); ++n) {
    const BenchmarkResult& one = own.networks[n];
    if (const SeedScores* null = one.strongest_null()) out["networks"][n]["strongest_null"] = null->name;
    if (const BenchmarkRule* rule = one.chosen_rule()) out["networks"][n]["chosen_rule"] = rule->name;
    for (std::size_t r = 0; r < one.rules.size(); ++r) {
      const Share share = one.share(one.rules[r], static_cast<int>(one.rules.size()));
      nlohmann::json& row = out["networks"][n]["rules"][r];
      row["share"] = share.known() ? nlohmann::json(share.value) : nlohmann::json(nullptr);
      row["interval"] = interval_of(share);
      if (!share.known()) row["reason"] = share.unknown;
    }
  }
  return out;
}

}  // namespace

nlohmann::json answer_json(const BenchmarkAnswer& answer) {
  nlohmann::json out = {
      {"devices", nlohmann::json::array()}, {"ranking", nlohmann::json::array()}, {"folder", answer.folder}};
  for (const BenchmarkEntry& own : answer.own) out["devices"].push_back(device_json(answer, own));
  for (const RankedEntry& one : answer.ranked) {
    nlohmann::json row = place_json(&one);
    row.update({{"device", one.entry->device},
                {"score", one.score.known() ? nlohmann::json(one.score.value) : nlohmann::json(nullptr)},
                {"interval", interval_of(one.score)},
                {"reason", one.score.unknown}});
    out["ranking"].push_back(std::move(row));
  }
  if (answer.own.size() == 1) {
    for (const char* key : {"device", "score", "interval", "reason", "rank", "rank_interval", "of"})
      out[key] = out["devices"][0][key];
  }
  return out;
}

}  // namespace nudge
