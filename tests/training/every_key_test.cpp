// SPDX-License-Identifier: Apache-2.0
// Every key with every kind of network: set to another legal value it changes something that a training shows, or it is refused; or it
// stands in the list of what is exempt, with the reason.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Settings = std::vector<std::string>;

namespace {

/// Beginnings of keys that a training may leave unread, and why.
const std::vector<std::pair<std::string, std::string>>& exempt() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"sweep.", "of other commands: one config serves train, sweep, compare and gradcheck"},
      {"compare.", "the same"},
      {"gradcheck.", "the same"},
      {"output.", "where and how often is written, not what"},
      {"threads", "results do not depend on it"},
      {"product.kernel", "a library; differs in rounding, where the processor has another"},
      {"preset", "a name for values of other keys, each of which is looked at"},
      {"device.preset", "the same"},
      {"hardware.level", "the same"},
      {"train.checkpoint_every", "when it is written"},
      {"train.test_batches", "of the test part, which the summary of a short text has whole"},
      {"train.evaluate_every", "rows of the log more"},
      {"train.null", "a lane beside devices"},
      {"train.gradient_clip", "a limit that sound runs stay below"},
      {"nudge.clip", "the same"},
      {"damping.control", "off: where there is no damping it says so"},
      {"damping.high", "a limit of the residual that sound runs stay below, and what happens beyond it"},
      {"damping.raise", "the same"},
      {"damping.raise_on_skip", "the same"},
      {"damping.patience", "the same"},
      {"memory_bound.iterations", "of a bound that does not bind here"},
      {"growth.strength", "of a penalty on what does not decay: here everything does"},
      {"growth.probe", "the same"},
      {"model.embeddings", "devices: `nudge config check` warns of them where device.model = digital"},
      {"nudge.below_rounding", "allows what is refused otherwise"},
      {"nudge.below_noise", "the same"},
      {"relaxation.divergence_ratio", "a limit that sound runs stay below"},
      {"train.skip_ratio", "the same"},
      {"train.leave_out_ratio", "the same"},
      {"damping.maximum", "the same"},
      {"task.references", "trivial models beside the run"},
      {"data.", "files and their parts: tests/training/samples_test.cpp"},
      {"mixer.", "every key with every mixer: unread_keys_test.cpp"},
      {"model.weights", "a file"},
      {"latent.pairs", "how many pairs are generated to be measured"},
      {"device.", "of devices: below"},
      {"crossbar.", "the same"},
      {"circuit.", "the same"},
      {"reads.", "the same"},
      {"correction.", "the same"},
      {"cost.", "of the cost card of a run that is over: tests/apps/cost_card_test.cpp"}};
  return all;
}

bool is_exempt(const std::string& key) {
  return std::any_of(exempt().begin(), exempt().end(), [&](const auto& one) {
    return one.first.ends_with('.') ? key.starts_with(one.first) : key == one.first;
  });
}

/// What a training shows: everything of its summary but times of the clock.
std::string seen(const TrainSummary& s) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", s.done, s.loss, s.validation_loss, s.test_loss,
                     s.residual, s.damping, s.skipped, s.nonfinite, s.cosine, s.beside_validation_loss, s.weights,
                     s.beside, s.phase_time, s.array_energy, s.pulses, s.programming_pulses);
}

const NetworkKind& find_kind(const std::string& name) {
  const auto& kinds = network_kinds();
  return *std::find_if(kinds.begin(), kinds.end(), [&](const NetworkKind& one) { return one.name == name; });
}

/// Nothing: refused.
std::optional<std::string> shown(const std::string& kind, const Settings& settings) {
  try {
    Settings all{"train.steps=4", "train.batch=2", "train.warmup=1", "train.evaluate_every=2"};
    const auto steps = of_samples(kind) ? "60" : "12";
    if (find_kind(kind).is_circuit()) {
      all.push_back(fmt::format("relaxation.free_steps={}", steps));
      all.push_back(fmt::format("relaxation.nudged_steps={}", steps));
    }
    if (!of_samples(kind)) all.emplace_back("model.tokens=6");
    all.insert(all.end(), settings.begin(), settings.end());
    const NetworkKind& at = find_kind(kind);
    const Config config = at.is_circuit() ? small(kind, all) : [&] {
      Settings tape{"network.kind=" + kind, "threads=1", "precision=double"};
      if (!at.only_task.empty()) tape.push_back("task.kind=" + at.only_task);
      tape.insert(tape.end(), {"model.channels=8", "model.heads=2", "train.evaluation_batches=1"});
      tape.insert(tape.end(), all.begin(), all.end());
      return parse_program_config("tape.toml", "", tape);
    }();
    return seen(train(config, std::nullopt));
  } catch (const UserError& error) {
    UNSCOPED_INFO(error.what());
    return std::nullopt;
  } catch (const NumericalFailure&) {
    return "a numerical failure";
  }
}

/// Other values of a key, the nearest to the default first.
std::vector<std::string> others(const ParamRow& row, const std::string& kind) {
  if (row.key == "precision") return {"float"};  // what the base has changed goes back
  if ((kind == "hopfield" || kind == "convolutional") && row.key == "hopfield.form") return {"projected"};
  if (kind == "resistive" && row.key == "resistive.diode") return {"ideal"};
  std::vector<std::string> candidates = row.choices;
  for (const char* one :
       {"true", "false", "2",   "3",      "1",     "4",   "0.5",   "0.2", "1.5",     "0.05",  "5e-3", "2e-4",
        "1e-8", "0",     "[3]", "[4, 3]", "[2.0]", "2 s", "20 ns", "2 V", "1e-13 A", "310 K", "[1]"}) {
    candidates.emplace_back(one);
  }
  std::vector<std::string> legal;
  for (const std::string& one : candidates) {
    std::vector<ValueProblem> problems;
    const auto value = convert(row, raw_from_text(row, one), problems);
    if (!value || !problems.empty() || to_text(row, *value) == standard_program_config().as_text(row.key)) continue;
    legal.push_back(one);
  }
  return legal;
}

/// Keys that a kind takes and that change nothing.
std::set<std::string> silent_keys(const std::string& kind, const Settings& base) {
  const auto plain = shown(kind, base);
  REQUIRE(plain.has_value());
  std::set<std::string> silent;
  for (const ParamRow& row : program_table()) {
    if (is_exempt(row.key) || row.key == "network.kind" || row.key == "task.kind") continue;
    bool taken = false, acts = false;
    int tried = 0;
    for (const std::string& value : others(row, kind)) {
      if (++tried > 5 || acts) break;
      Settings with = base;
      with.push_back(row.key + "=" + value);
      const auto now = shown(kind, with);
      if (!now) continue;
      taken = true;
      acts = *now != *plain;
    }
    if (taken && !acts) silent.insert(row.key);
  }
  return silent;
}

}  // namespace

TEST_CASE("a key set to another value changes what a training shows, or is refused", "[every_key]") {
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.name == "own") continue;  // of a program that lends one
    CAPTURE(kind.name);
    const std::set<std::string> silent = silent_keys(kind.name, {});
    CHECK(silent == std::set<std::string>{});
  }
}
