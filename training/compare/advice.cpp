// SPDX-License-Identifier: Apache-2.0
#include "training/compare/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"

namespace nudge {
namespace {

constexpr std::int64_t kShort = 500;  ///< most steps of a run

const std::string kUpdate = "crossbar.update";

/// Settings of a rule: itself, and the pairs of devices that it needs.
std::vector<std::string> settings_of(const std::string& rule) {
  std::vector<std::string> settings = {kUpdate + "=" + rule};
  const RuleKind* kind = find_rule(rule);
  if (kind != nullptr && kind->one_sided) settings.emplace_back("crossbar.mapping=one_sided");
  return settings;
}

/// Settings of exact numbers: themselves, and the nudge of the devices, which the level of hardware chooses for devices
/// alone. With another nudge, biased where beta is as large as noise asks for, exact numbers would lose to devices.
std::string exact_settings(const ConfigSource& source, const Config& config) {
  const std::vector<std::string> digital = {"device.preset=", "device.model=digital"};
  std::vector<std::string> all = source.settings;
  all.insert(all.end(), digital.begin(), digital.end());
  const Config own = parse_program_config(source.name, source.text, all);
  std::string settings = fmt::format("{}", fmt::join(digital, "; "));
  for (const char* key : {"estimator", "nudge.cost_current"}) {
    if (config.text(key) != own.text(key)) settings += fmt::format("; {}={}", key, config.text(key));
  }
  return settings;
}

/// Reason why the config cannot have the settings: the first line of the error; empty: it can.
std::string refusal(const ConfigSource& source, const std::vector<std::string>& more) {
  std::vector<std::string> settings = source.settings;
  settings.insert(settings.end(), more.begin(), more.end());
  try {
    static_cast<void>(parse_program_config(source.name, source.text, settings));
  } catch (const UserError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

/// Settings of the protocol that the user has not given. `transfers`: true if a rule among the entrants has a fast
/// array.
std::vector<std::string> protocol_settings(const Config& config, bool transfers) {
  const auto is_free = [&](const char* key) { return config.origin(key).layer == Layer::standard; };
  std::vector<std::string> settings;
  if (is_free("compare.tuning_seeds")) settings.emplace_back("compare.tuning_seeds=[1]");
  if (is_free("compare.test_seeds")) settings.emplace_back("compare.test_seeds=[11, 12, 13, 14, 15]");
  if (config.grid("compare.grid").empty()) {
    const double rate = config.real("train.learning_rate");
    settings.push_back(
        fmt::format("compare.grid.train.learning_rate=[{:g}, {:g}, {:g}, {:g}]", rate / 4, rate, 4 * rate, 16 * rate));
    if (transfers) {
      const double share = config.real("crossbar.transfer_rate");
      settings.push_back(
          fmt::format("compare.grid.crossbar.transfer_rate=[{:g}, {:g}, {:g}]", share / 4, share, 4 * share));
    }
  }
  if (config.origin("train.steps").layer != Layer::option) {
    settings.push_back(fmt::format("train.steps={}", std::min<std::int64_t>(config.integer("train.steps"), kShort)));
  }
  return settings;
}

PairedDifference behind(const Sweep& test, const std::string& rule, const std::string& best, int comparisons) {
  std::vector<double> own, first;
  const auto of_best = results_by_seed(test, best, "test_loss");
  for (const auto& [seed, value] : results_by_seed(test, rule, "test_loss")) {
    const auto found = of_best.find(seed);
    if (found == of_best.end()) continue;
    own.push_back(value);
    first.push_back(found->second);
  }
  return paired_difference(own, first, "test_loss", comparisons);
}

const ComparedEntrant& named_entrant(const Comparison& comparison, const std::string& name) {
  const auto found = std::find_if(comparison.entrants.begin(), comparison.entrants.end(),
                                  [&](const ComparedEntrant& one) { return one.entrant.name == name; });
  NUDGE_EXPECT(found != comparison.entrants.end());  // advice_for() names both
  return *found;
}

}  // namespace

std::string DeviceMethods::setting() const {
  return fmt::format("compare.entrants=[\"{}\"]", fmt::join(entrants, "\", \""));
}

std::vector<std::string> all_rules() {
  std::vector<std::string> rules = find_row(program_table(), kUpdate)->choices;
  std::erase(rules, "none");
  return rules;
}

DeviceMethods device_methods(const ConfigSource& given, const std::vector<NullKind>& nulls,
                             const std::vector<std::string>& rules) {
  const Config config = parse_program_config(given.name, given.text, given.settings);
  if (config.text("device.model") == "digital") {
    throw UserError(
        given.name +
        ": device.model = digital: there are no devices to try rules on. Set device.preset, or give the file of a "
        "fitted device");
  }
  DeviceMethods out;
  out.entrants.push_back(fmt::format("{}: {}", Advice::exact, exact_settings(given, config)));
  for (const NullKind& null : nulls) {
    if (refusal(given, null.settings).empty())
      out.entrants.push_back(fmt::format("{}: {}", null.words, fmt::join(null.settings, "; ")));
  }
  const std::vector<std::string> with_fast_array = rules_reading(&RuleSpec::rate);
  for (const std::string& rule : rules) {
    const std::vector<std::string> settings = settings_of(rule);
    const std::string why = refusal(given, settings);
    if (!why.empty()) {
      out.refused.push_back({rule, why});
      continue;
    }
    out.transfers = out.transfers || std::count(with_fast_array.begin(), with_fast_array.end(), rule) > 0;
    out.rules.push_back(rule);
    out.entrants.push_back(fmt::format("{}: {}", rule, fmt::join(settings, "; ")));
  }
  return out;
}

Advice advice_for(const ConfigSource& given) {
  const DeviceMethods methods = device_methods(given, {null_kinds().front()}, all_rules());
  Advice advice{given, methods.refused};
  std::vector<std::string>& settings = advice.source.settings;
  settings.push_back(methods.setting());
  const Config config = parse_program_config(given.name, given.text, given.settings);
  for (std::string& one : protocol_settings(config, methods.transfers)) settings.push_back(std::move(one));
  return advice;
}

std::map<std::int64_t, double> results_by_seed(const Sweep& test, const std::string& entrant,
                                               const std::string& metric) {
  std::map<std::int64_t, double> values;
  for (std::size_t m = 0; m < test.metrics.size(); ++m) {
    if (test.metrics[m].name != metric) continue;
    for (const SweepPoint& point : test.points) {
      if (point.values.front() != entrant || point.status.empty()) continue;
      values[point.seed] = point.status == "ok" ? point.metrics[m] : failed_value(metric);
    }
  }
  return values;
}

double mean_result(const Sweep& test, const std::string& entrant, const std::string& metric) {
  std::vector<double> values;
  for (const auto& [seed, value] : results_by_seed(test, entrant, metric)) values.push_back(value);
  return spread_of_finite(values).mean;
}

bool ended_well(const ComparedEntrant& one) { return one.failed == 0 && std::isfinite(one.test.mean); }

std::string regained_unknown(const Comparison& comparison) {
  std::string missing;
  for (const char* name : {Advice::exact, Advice::frozen}) {
    if (ended_well(named_entrant(comparison, name))) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : " and ", name);
  }
  if (!missing.empty()) return fmt::format("how much rules regain is not known: no result of {}", missing);
  const PairedDifference& lost = named_entrant(comparison, Advice::frozen).difference;
  if (lost.seeds < 2) {
    return "how much rules regain is not known: one seed has no interval. Set two or more compare.test_seeds";
  }
  if (lost.low > 0) return "";
  const std::string reach = reach_text(lost, [](double d) { return fmt::format("{:.3g}", d); });
  return fmt::format(
      "how much rules regain is not known: frozen devices and digital weights are not significantly different{}{}. "
      "Use more compare.test_seeds, or longer trainings (--set train.steps=N)",
      reach.empty() ? "" : "; ", reach);
}

std::vector<RankedRule> ranking(const Comparison& comparison) {
  double exact = std::nan(""), frozen = std::nan("");  // the latter where seeds tell it from the former
  std::vector<RankedRule> ranked;
  for (const ComparedEntrant& one : comparison.entrants) {
    const std::string& name = one.entrant.name;
    const double loss = one.test.mean;
    if (name == Advice::exact) exact = loss;
    if (name == Advice::frozen && one.difference.low > 0) frozen = loss;
    if (name == Advice::exact || name == Advice::frozen) continue;
    const auto mean = [&](const char* metric) { return mean_result(comparison.test, name, metric); };
    ranked.push_back({one,
                      (frozen - loss) / (frozen - exact),
                      {},
                      mean("pulses"),
                      mean("verify_reads") + mean("transfer_reads"),
                      mean("most_pulses"),
                      mean("digital_numbers"),
                      mean("learning_energy")});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedRule& a, const RankedRule& b) {
    const double x = a.result.test.mean, y = b.result.test.mean;
    return std::isfinite(x) != std::isfinite(y) ? std::isfinite(x) : x < y;
  });
  const auto known =
      std::count_if(ranked.begin(), ranked.end(), [](const RankedRule& one) { return one.has_result(); });
  const int comparisons = comparisons_with_best(static_cast<int>(known));
  for (RankedRule& one : ranked) {
    one.behind = behind(comparison.test, one.result.entrant.name, ranked.front().result.entrant.name, comparisons);
  }
  return ranked;
}

}  // namespace nudge
