// SPDX-License-Identifier: Apache-2.0
#include "training/benchmark/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sim/base/errors.hpp"

namespace nudge {

namespace benchmark_texts {
std::string_view zoo();
}  // namespace benchmark_texts

namespace {

using Json = nlohmann::json;

Json scores_json(const std::vector<double>& scores) {
  Json out = Json::array();
  for (const double one : scores) out.push_back(std::isfinite(one) ? Json(one) : Json(nullptr));
  return out;
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number_from(const Json& json) { return json.is_null() ? Share::none : json.get<double>(); }

std::vector<double> scores_from(const Json& json, const std::string& metric, std::size_t seeds) {
  std::vector<double> scores;
  for (const Json& one : json) {
    scores.push_back(number_from(one));
    if (metric.ends_with("accuracy") && (scores.back() < 0 || scores.back() > 1))
      throw UserError(fmt::format("{} = {} (must be in [0, 1])", metric, scores.back()));
  }
  if (scores.size() != seeds) throw UserError(fmt::format("{} scores for {} seeds", scores.size(), seeds));
  return scores;
}

/// Numbers of a rule beside its scores, by their names in JSON.
struct RuleNumber {
  const char* name;
  double BenchmarkRule::*value;
};
constexpr RuleNumber kRuleNumbers[] = {{"validation_loss", &BenchmarkRule::validation_loss},
                                       {"pulses", &BenchmarkRule::pulses},
                                       {"most_pulses", &BenchmarkRule::most_pulses},
                                       {"learning_energy_J", &BenchmarkRule::learning_energy},
                                       {"array_energy_J", &BenchmarkRule::array_energy},
                                       {"seconds", &BenchmarkRule::seconds},
                                       {"plateau", &BenchmarkRule::plateau}};

Json result_json(const BenchmarkResult& one) {
  Json out = {{"network", one.network},          {"metric", one.metric},    {"seeds", one.seeds},
              {"exact", scores_json(one.exact)}, {"nulls", Json::object()}, {"rules", Json::array()},
              {"refused", Json::object()}};
  for (const SeedScores& null : one.nulls) out["nulls"][null.name] = scores_json(null.scores);
  for (const BenchmarkRule& rule : one.rules) {
    Json row = {{"rule", rule.name}, {"scores", scores_json(rule.scores)}, {"chosen", rule.chosen}};
    if (!rule.failure.empty()) row["failure"] = rule.failure;
    for (const RuleNumber& number : kRuleNumbers) row[number.name] = number_json(rule.*number.value);
    out["rules"].push_back(std::move(row));
  }
  for (const RefusedRule& refused : one.refused) out["refused"][refused.rule] = refused.why;
  return out;
}

BenchmarkResult result_from(const Json& json) {
  BenchmarkResult out;
  out.network = json.at("network");
  out.metric = json.at("metric");
  out.seeds = json.at("seeds").get<std::vector<std::int64_t>>();
  const std::size_t n = out.seeds.size();
  out.exact = scores_from(json.at("exact"), out.metric, n);
  for (const auto& [name, scores] : json.at("nulls").items())
    out.nulls.push_back({name, scores_from(scores, out.metric, n)});
  for (const Json& row : json.at("rules")) {
    BenchmarkRule rule{{row.at("rule"), scores_from(row.at("scores"), out.metric, n)}, row.at("chosen")};
    rule.failure = row.value("failure", "");
    for (const RuleNumber& number : kRuleNumbers) rule.*number.value = number_from(row.at(number.name));
    out.rules.push_back(std::move(rule));
  }
  for (const auto& [rule, why] : json.at("refused").items()) out.refused.push_back({rule, why});
  return out;
}

}  // namespace

Json json_of(const BenchmarkEntry& entry) {
  Json out = {{"device", entry.device}, {"settings", entry.settings}, {"protocol", entry.protocol},
              {"digest", entry.digest}, {"commit", entry.commit},     {"machine", entry.machine},
              {"date", entry.date},     {"networks", Json::array()}};
  for (const BenchmarkResult& one : entry.networks) out["networks"].push_back(result_json(one));
  return out;
}

BenchmarkEntry entry_from(const Json& json, const std::string& where) {
  try {
    BenchmarkEntry out;
    out.device = json.at("device");
    out.settings = json.at("settings").get<std::vector<std::string>>();
    out.protocol = json.at("protocol");
    out.digest = json.at("digest");
    out.commit = json.at("commit");
    out.machine = json.at("machine");
    out.date = json.at("date");
    for (const Json& one : json.at("networks")) out.networks.push_back(result_from(one));
    return out;
  } catch (const Json::exception&) {
    throw UserError(fmt::format("{}: not a result of nudge benchmark: a key is missing or of another type", where));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", where, error.what()));
  }
}

std::vector<BenchmarkEntry> shipped_zoo() {
  std::vector<BenchmarkEntry> all;
  for (const Json& one : Json::parse(benchmark_texts::zoo())) all.push_back(entry_from(one, "results/benchmark"));
  return all;
}

std::vector<BenchmarkEntry> zoo_in(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) throw UserError(folder.string() + ": no such folder (--zoo)");
  std::vector<std::filesystem::path> files;
  for (const auto& one : std::filesystem::directory_iterator(folder)) {
    if (one.path().extension() == ".json") files.push_back(one.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<BenchmarkEntry> all;
  for (const std::filesystem::path& path : files) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    const Json json = Json::parse(text.str(), nullptr, false);
    if (json.is_discarded()) throw UserError(path.string() + ": not JSON");
    all.push_back(entry_from(json, path.string()));
  }
  return all;
}

void join_zoo(std::vector<BenchmarkEntry>& zoo, const std::vector<BenchmarkEntry>& more) {
  for (const BenchmarkEntry& one : more) {
    const auto same = [&](const BenchmarkEntry& other) {
      return other.device == one.device && other.settings == one.settings && other.digest == one.digest;
    };
    const auto at = std::find_if(zoo.begin(), zoo.end(), same);
    if (at == zoo.end()) {
      zoo.push_back(one);
    } else {
      *at = one;
    }
  }
}

}  // namespace nudge
