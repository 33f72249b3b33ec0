// SPDX-License-Identifier: Apache-2.0
// The verdict on trained networks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"

namespace nudge::report {

namespace {

/// Result that a trainee is judged by, the test part's where it was read.
struct Score {
  std::string metric, part;  ///< metric: "loss", "accuracy" or "rmse"; part: "test" or "validation"
  double value = 0;
};

Score score_of(const Lane& trainee) {
  std::string metric = metric_of(trainee);
  if (metric.empty()) metric = "loss";
  const double test = trainee.of(fmt::format("test_{}", metric)).last_finite();
  if (std::isfinite(test)) return {metric, "test", test};
  return {metric, "validation", trainee.of(fmt::format("validation_{}", metric)).last_finite()};
}

std::string text_of(const Score& score, const std::string& unit) {
  if (score.metric != "loss") return score_cell(score.metric, score.value);
  return fmt::format("{:.4f}{}", score.value, unit_behind(unit));
}

/// Text on the devices that held the weights and how they changed; empty when this version cannot read the file's
/// config.
std::string device_phrase(const RunFile& run) {
  try {
    const Config config = stored_program_config(run.name, run.config);
    if (!on_devices(config)) return "on digital weights";
    const std::string &preset = config.text("device.preset"), &update = config.text("crossbar.update");
    const std::string name = preset.empty() ? fmt::format("{} devices", words(config.text("device.model"))) : preset;
    const char* how = update == "write_verify"  ? "by write-verify"
                      : update == "coincidence" ? "by coincidence pulses"
                      : update == "none"        ? "never written"
                                                : "in situ";
    return fmt::format("on {}, {}", name, how);
  } catch (const UserError&) {
    return "";
  }
}

/// Text of a comparison: "0.0160 nat (0.7 %) above", "0.40 points below".
std::string compared(const Score& score, double other, const std::string& unit) {
  const double difference = score.value - other;
  if (difference == 0) return "exactly that of";
  const char* side = difference > 0 ? "above" : "below";
  if (score.metric == "accuracy") return fmt::format("{:.2f} points {}", 100 * std::abs(difference), side);
  return fmt::format("{:.4f}{} ({:.1f} %) {}", std::abs(difference), unit_behind(unit),
                     100 * std::abs(difference / other), side);
}

std::string agreement_sentence(const Lane& trainee) {
  const bool all = !trainee.groups.empty() && trainee.groups.front() == "all";
  const Matrix<double> told = trainee.cosine.leftCols(all ? 1 : trainee.cosine.cols());
  const double lowest = finite_range({told.data(), static_cast<std::size_t>(told.size())}).low;
  if (!std::isfinite(lowest)) return "";
  const std::string angle = lowest > 0.999 ? fmt::format("1 − {}", number(1 - lowest)) : fmt::format("{:.3f}", lowest);
  return fmt::format(" The lowest cosine with the exact gradient was {}{}.", angle,
                     all ? ", over all parameters of the equilibrium" : " (of one parameter group)");
}

std::string equilibrium_sentence(const RunFile& run) {
  return run.equilibrium.empty() ? "" : fmt::format(" Equilibrium: {}.", run.equilibrium);
}

std::string trouble_sentence(const NamedLane& trainee, const Score& score) {
  std::string out;
  const double skipped = trainee.trainee->count("skipped"), broken = trainee.trainee->count("nonfinite");
  const std::size_t steps = trainee.trainee->steps;
  if (skipped > 0) out += fmt::format(" {} of {} steps were skipped as outliers.", number(skipped), steps);
  if (broken > 0) out += fmt::format(" {} of {} steps were not finite and rolled back.", number(broken), steps);
  const auto& lines = trainee.run->lines;
  if (lines && score.metric == "loss") {
    const double unigram = score.part == "test" && lines->test ? lines->test->unigram : lines->validation.unigram;
    if (score.value >= unigram) {
      out += fmt::format(" It has learnt nothing beyond letter frequencies (unigram, {:.4f} nat).", unigram);
    }
  }
  const auto& references = trainee.run->references;
  const ReferenceScore* linear = references ? references->find("linear", score.part) : nullptr;
  if (linear != nullptr && references->metric == score.metric) {
    out += fmt::format(" A linear model of the same samples reaches {}.", score_cell(score.metric, linear->score));
  }
  return out;
}

std::string unit_of(const NamedLane& trainee) { return trainee.trainee->of("loss").unit; }

Opening of_one_run(const std::vector<NamedLane>& trainees) {
  const NamedLane& first = trainees.front();
  const Score score = score_of(*first.trainee);
  const std::string unit = unit_of(first), value = text_of(score, unit);
  const std::string phrase = device_phrase(*first.run);
  const std::string who = phrase.empty() ? first.name : fmt::format("{} {}", first.name, phrase);
  const std::size_t steps = first.trainee->steps;
  if (!first.run->failure.empty()) {
    return {who + ": the run failed",
            fmt::format("It failed after {}: {}. Do not use its numbers.{}", count(steps, "step"), first.run->failure,
                        equilibrium_sentence(*first.run)),
            ""};
  }
  if (!std::isfinite(score.value)) {
    return {who, fmt::format("The run has no result yet: {} so far.", count(steps, "step")), ""};
  }
  Opening out;
  out.title = capitalised(fmt::format("{}: {} {} {}", who, score.part, score.metric, value));
  out.sentence =
      fmt::format("After {} {} ends at a {} {} of {}", count(steps, "step"), who, score.part, score.metric, value);
  if (trainees.size() > 1 && trainees[1].beside()) {
    const Score other = score_of(*trainees[1].trainee);
    if (other.metric == score.metric && other.part == score.part && std::isfinite(other.value)) {
      out.sentence += fmt::format(", {} {} on digital weights alongside ({}; one seed)",
                                  compared(score, other.value, unit), trainees[1].name, text_of(other, unit));
    }
  }
  if (first.run->null) out.sentence += fmt::format("; {}", first.run->null->text);
  out.sentence += fmt::format(".{}{}{}", agreement_sentence(*first.trainee), equilibrium_sentence(*first.run),
                              trouble_sentence(first, score));
  return out;
}

}  // namespace

Opening training_opening(const std::vector<NamedLane>& all) {
  const bool one_file =
      std::all_of(all.begin(), all.end(), [&](const NamedLane& t) { return t.run == all.front().run; });
  if (one_file) return of_one_run(all);
  std::vector<NamedLane> trainees;  // a null is no competitor
  std::copy_if(all.begin(), all.end(), std::back_inserter(trainees), [](const NamedLane& t) { return !t.null(); });
  const Score first = score_of(*trainees.front().trainee);
  std::vector<std::pair<double, const NamedLane*>> merits;
  for (const NamedLane& trainee : trainees) {
    const Score score = score_of(*trainee.trainee);
    const bool failed = !trainee.beside() && !trainee.run->failure.empty();
    if (failed || score.metric != first.metric || score.part != first.part || !std::isfinite(score.value)) continue;
    merits.emplace_back(score.metric == "accuracy" ? score.value : -score.value, &trainee);
  }
  Opening out;
  out.title = count(trainees.size(), "trained network");
  if (merits.empty()) return {out.title, "None of them has a result.", ""};
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  const NamedLane& best = *std::max_element(merits.begin(), merits.end(), less)->second;
  const NamedLane& worst = *std::min_element(merits.begin(), merits.end(), less)->second;
  const auto who = [](const NamedLane& t) {
    const std::string phrase = t.beside() ? "on digital weights" : device_phrase(*t.run);
    return phrase.empty() ? t.name : fmt::format("{} {}", t.name, phrase);
  };
  const auto text = [&](const NamedLane& t) { return text_of(score_of(*t.trainee), unit_of(t)); };
  out.title = fmt::format("{} {}: {} with {}, {} with {}", capitalised(first.part), first.metric, text(best), who(best),
                          text(worst), who(worst));
  out.sentence = fmt::format(
      "These are the best and the worst of {}; {} of them have a {} {}. With one seed each, small differences may "
      "be chance.",
      count(trainees.size(), "trained network"), merits.size(), first.part, first.metric);
  return out;
}

}  // namespace nudge::report
