// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/study_options.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/streams.hpp"
#include "sim/base/ranks.hpp"
#include "sim/base/text.hpp"
#include "training/compare/advice.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {
namespace {

std::string interval_text(const PairedDifference& d) {
  if (d.seeds == 0) return "-";
  if (d.failed > 0) return fmt::format("{} of {} pairs failed", d.failed, d.seeds);
  if (d.seeds == 1) return fmt::format("{:+.4f} (no interval)", d.mean);
  return fmt::format("{:+.4f} [{:+.4f}, {:+.4f}]", d.mean, d.low, d.high);
}

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "not known"; }

/// Text of the value that the tuning chose for an entrant, "0.05"; a star where it is an end of its axis.
std::string chosen_text(const ComparedEntrant& one) {
  if (!one.choice) return "-";
  std::string text;
  for (const std::string& value : one.choice->values) {
    if (!value.empty()) text += (text.empty() ? "" : ", ") + value;
  }
  return text + (one.choice->edges.empty() ? "" : " *");
}

/// Reason why an entrant has no result: the outcome of its first run that did not end well.
std::string missing_text(const Comparison& c, const ComparedEntrant& one) {
  const Sweep& table = one.choice ? c.test : c.tuning;
  for (const SweepPoint& point : table.points) {
    if (point.values.front() != one.entrant.name || point.status.empty() || point.status == "ok") continue;
    const std::string why = point.status.substr(0, point.status.find('\n'));
    return one.choice ? fmt::format("{}, seed {}: {}", failure_rate(one.test), point.seed, why)
                      : fmt::format(
                            "no point of compare.grid ended well with every tuning seed. The first failure: "
                            "{}",
                            why);
  }
  return "its runs have no test loss (data.test_fraction)";
}

std::string loss_text(const ComparedEntrant& one) {
  return std::isfinite(one.test.shown()) ? spread_text(one.test, "{:.4f}", "{:.4f}") : "no result";
}

std::vector<std::string> row_of(const std::string& place, const ComparedEntrant& one, bool baseline) {
  return {place, one.entrant.name, chosen_text(one), loss_text(one), baseline ? "-" : interval_text(one.difference)};
}

std::vector<std::string> rule_row(const RankedRule& one, const RankedRule& best, std::size_t place) {
  const bool first = &one == &best, known = one.has_result();
  auto row = row_of(!known ? "-" : first ? "1" : one.level() ? "=" : std::to_string(place), one.result, false);
  const auto taken = [known](double value) { return known ? number_text(value) : "-"; };
  row.insert(row.end(), {std::isfinite(one.regained) ? fmt::format("{:.0f} %", 100 * one.regained) : "-",
                         first || !known ? "-" : interval_text(one.behind), taken(one.pulses), taken(one.most_pulses),
                         taken(one.reads), taken(one.digital_numbers), taken(one.energy)});
  return row;
}

/// Sentence on what the seeds can tell, where the last of the rules with a result is level with the first.
std::string told_text(const std::vector<RankedRule>& ranked) {
  const auto last = std::find_if(ranked.rbegin(), ranked.rend(), [](const RankedRule& one) { return one.level(); });
  if (last == ranked.rend() || &*last == &ranked.front()) return "";
  const std::string reach = reach_text(last->behind, [](double d) { return fmt::format("{:.3g}", d); });
  return reach.empty() ? ""
                       : fmt::format("{} behind {}: {} (compare.test_seeds)\n", last->result.entrant.name,
                                     ranked.front().result.entrant.name, reach);
}

std::string advice_text(const Advice& advice, const Comparison& c, const std::vector<RankedRule>& ranked) {
  std::vector<std::vector<std::string>> rows(
      1, {"", "rule", "chosen", "test loss", "difference to exact numbers, 95 %", "regained", "behind the first, 95 %",
          "pulses", "of one device", "reads", "numbers", "heat, J"});
  const std::string unknown = regained_unknown(c);
  std::string missing;
  const auto note = [&](const ComparedEntrant& one) {
    if (!ended_well(one)) missing += fmt::format("no result: {}: {}\n", one.entrant.name, missing_text(c, one));
  };
  bool level = false;
  for (const RankedRule& one : ranked) {
    level = level || (&one != &ranked.front() && one.level());
    rows.push_back(rule_row(one, ranked.front(), rows.size()));
    note(one.result);
  }
  for (const ComparedEntrant& one : c.entrants) {
    const bool exact = one.entrant.name == Advice::exact;
    if (!exact && one.entrant.name != Advice::frozen) continue;
    auto row = row_of("", one, exact);
    row.insert(row.end(), {!unknown.empty() ? "-" : exact ? "100 %" : "0 %", "-", "-", "-", "-", "-", "-"});
    rows.push_back(std::move(row));
    note(one);
  }
  std::string out = text_table(rows, 3) + told_text(ranked);
  out += fmt::format(
      "regained: share of the loss that frozen devices add to digital weights; {}pulses, reads, heat: of learning, "
      "in the whole run. of one device: most pulses, with programming. numbers: digital numbers per weight that "
      "optimizer and rule keep. chosen: values of {}\n"
      "{}\n",
      level ? "=: not significantly different from the first rule (all pairs of rules together); " : "",
      fmt::join(c.keys, " and "), c.holds);
  if (out.find(" *") != std::string::npos) {
    out += "*: at the edge of the tuned values, so a better value may lie beyond. Widen compare.grid\n";
  }
  out += missing;
  if (!unknown.empty()) out += unknown + "\n";
  for (const RefusedRule& one : advice.refused) out += fmt::format("not tried: {}: {}\n", one.rule, one.why);
  return out;
}

nlohmann::json interval_json(const PairedDifference& d) {
  return {{"mean", d.mean},   {"low", d.low},       {"high", d.high},
          {"seeds", d.seeds}, {"failed", d.failed}, {"comparisons", d.comparisons}};
}

nlohmann::json advice_json(const Advice& advice, const Comparison& c, const std::vector<RankedRule>& ranked,
                           const std::string& file) {
  nlohmann::json out = {{"file", file},
                        {"interrupted", c.interrupted},
                        {"intervals_hold", c.holds},
                        {"ranking", nlohmann::json::array()},
                        {"refused", nlohmann::json::array()}};
  for (const RankedRule& one : ranked) {
    nlohmann::json row = {{"rule", one.result.entrant.name},
                          {"test_loss", json_of(one.result.test)},
                          {"lost", interval_json(one.result.difference)},
                          {"behind", interval_json(one.behind)},
                          {"has_result", one.has_result()},
                          {"level", one.level()},
                          {"regained", one.regained},
                          {"pulses", one.pulses},
                          {"most_pulses", one.most_pulses},
                          {"reads", one.reads},
                          {"digital_numbers", one.digital_numbers},
                          {"learning_energy_J", one.energy},
                          {"chosen", nlohmann::json::object()}};
    for (std::size_t k = 0; one.result.choice && k < c.keys.size(); ++k) {
      if (!one.result.choice->values[k].empty()) row["chosen"][c.keys[k]] = one.result.choice->values[k];
    }
    if (one.result.choice) row["edges"] = one.result.choice->edges;
    out["ranking"].push_back(std::move(row));
  }
  for (const ComparedEntrant& one : c.entrants) {
    if (one.entrant.name == Advice::exact) out["exact"] = json_of(one.test);
    if (one.entrant.name == Advice::frozen) out["frozen"] = json_of(one.test);
  }
  for (const RefusedRule& one : advice.refused) out["refused"].push_back({{"rule", one.rule}, {"why", one.why}});
  return out;
}

ExitCode run_advise(const StudyOptions& options) {
  join_ranks();
  const ConfigSource given = read_config_source(options.arguments.file, options.arguments.settings);
  const Advice advice = advice_for(given);
  const SweepFiles files = study_files("advise", options, advice.source);
  if (options.dry_run) {
    return print_estimate(options, [&](const auto& watch) { return estimate_compare(advice.source, files, watch); });
  }
  Comparison comparison;
  {
    StudyLog log(options.log, advice.source);
    comparison = run_compare(advice.source, files, comparison_observer(log));
  }
  if (!is_leader()) return ExitCode::ok;
  const std::string file = files.output.string();
  if (comparison.interrupted) {
    end_where_nothing_is_saved(file);
    say("interrupted; continue with: nudge advise {} --resume {}\n", given.name, file);
    return ExitCode::ok;
  }
  const std::vector<RankedRule> ranked = ranking(comparison);
  answer("{}\n", options.json ? json_text(advice_json(advice, comparison, ranked, file), 2)
                              : advice_text(advice, comparison, ranked) + file);
  const auto has_result = [](const RankedRule& one) { return one.has_result(); };
  if (std::any_of(ranked.begin(), ranked.end(), has_result)) return ExitCode::ok;
  say("nudge: no update rule has a result{}\n", first_failure({&comparison.tuning, &comparison.test}));
  return ExitCode::numerical_failure;
}

std::function<ExitCode()> add_advise(CLI::App& app) {
  const auto options = std::make_shared<StudyOptions>();
  add_config_arguments(app, options->arguments);
  add_study_files(app, *options);
  return [options] { return run_advise(*options); };
}

}  // namespace

Command advise_command() {
  return {"advise", "Rank the update rules (crossbar.update) for the devices of a config by short trainings",
          "nudge advise examples/rules_digits.toml --set device.preset=reram_es --out advice.h5", add_advise};
}

}  // namespace nudge
