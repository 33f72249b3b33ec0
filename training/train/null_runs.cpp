// SPDX-License-Identifier: Apache-2.0
#include "training/train/null_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_config.hpp"
#include "training/config/train_options.hpp"
#include "training/train/noise_gradient.hpp"

namespace nudge {
namespace {

constexpr const char* kOff = "off";
constexpr const char* kAll = "all";
constexpr const char* kConstant = "constant";

/// The part that a run is judged by.
std::string judged_part(const LearningRun& run) { return run.losses("test").count() > 0 ? "test" : "validation"; }

/// Losses of the best constant answer on the part that the run is judged by; empty: not known. The answer is of 65536
/// training rows: of k classes such frequencies cost (k − 1)/2n more than those of all data, 5e-4 nat of 65 letters.
SampleLosses constant_on(const TrainingLoop& loop, const std::string& part) {
  constexpr Index enough = 65536;
  std::vector<Batch> training;
  Index rows = 0;
  for (std::uint64_t step = 0; rows < enough && step < enough; ++step) {
    training.push_back(loop.task().training(step));
    training.back().features.resize(0, 0);
    rows += training.back().counted();
  }
  return loop.main_run().constant(training, part == "test" ? loop.task().test() : loop.task().validation());
}

std::vector<std::string> names_in_words(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (const std::string& name : names) words.push_back(null_words(name));
  return words;
}

}  // namespace

const std::vector<NullKind>& null_kinds() {
  static const std::vector<NullKind> kinds{
      {"frozen_devices", "frozen devices", {"crossbar.update=none"}},
      {"readout", "read-out alone", {"train.learns=readout"}, true},
      {noise_gradient_name, "noise gradient", {std::string("train.learns=") + noise_gradient_name}}};
  return kinds;
}

std::string null_words(const std::string& name) {
  for (const NullKind& kind : null_kinds()) {
    if (kind.name == name) return kind.words;
  }
  return "a constant answer";
}

std::string resolved_null(const Config& config) {
  const std::string asked = train_options(config).null;
  if (asked != "auto") return asked;
  const bool learns = on_devices(config) && config.text("crossbar.update") != "none";
  return learns ? null_kinds().front().name : kOff;
}

namespace {

/// Nulls that a network can have.
std::vector<NullKind> possible_nulls(const NetworkPlan& plan) {
  std::vector<NullKind> out;
  for (const NullKind& kind : null_kinds()) {
    if (!kind.needs_readout || plan.readout().parameter >= 0) out.push_back(kind);
  }
  return out;
}

}  // namespace

std::vector<NullKind> null_runs(const Config& config, const NetworkPlan& plan) {
  const std::string asked = resolved_null(config);
  std::vector<NullKind> out = possible_nulls(plan);
  std::erase_if(out, [&](const NullKind& kind) { return asked != kAll && asked != kind.name; });
  NUDGE_EXPECT(!out.empty() || asked == kOff);  // run_parts() refuses a read-out that is not there
  return out;
}

Config null_config(const Config& config, const NullKind& null) {
  Config out = config;
  for (const std::string& setting : null.settings) {
    const std::size_t at = setting.find('=');
    out.set_from_text(setting.substr(0, at), setting.substr(at + 1));
  }
  out.set_from_text("train.cosine_every", "never");
  return out;
}

const NullGain& NullResult::strongest() const {
  const auto least_high = std::min_element(
      gains.begin(), gains.end(), [](const NullGain& a, const NullGain& b) { return a.gain.high < b.gain.high; });
  if (least_high->gain.high < 0) return *least_high;  // it wins, whatever others leave open
  return *std::min_element(gains.begin(), gains.end(),
                           [](const NullGain& a, const NullGain& b) { return a.gain.low < b.gain.low; });
}

std::optional<bool> NullResult::learnt() const {
  const auto unknown = [](const NullGain& one) { return std::isnan(one.gain.won) || std::isinf(one.gain.low); };
  if (std::any_of(gains.begin(), gains.end(),
                  [&](const NullGain& one) { return unknown(one) && !one.gain.significant(); }))
    return std::nullopt;
  const bool beaten =
      std::all_of(gains.begin(), gains.end(), [](const NullGain& one) { return one.gain.significant(); });
  if (!beaten) return false;
  return not_run.empty() ? std::optional(true) : std::nullopt;
}

std::string NullResult::verdict() const {
  const auto& [name, gain] = strongest();
  const std::string words = null_words(name), suffix = unit == "1" ? "" : " " + unit;
  if (!std::isfinite(gain.won)) return "what the devices learnt is not known: the loss is not finite";
  if (!std::isfinite(gain.low)) return fmt::format("what the devices learnt is not known: one {} sample", part);
  const auto amount = [&](double sign) {
    const double low = std::min(sign * gain.low, sign * gain.high), high = std::max(sign * gain.low, sign * gain.high);
    return fmt::format("{:.4f}{} [{:.4f}, {:.4f}]", sign * gain.won, suffix, low, high);
  };
  const std::string how =
      gains.size() > 1 ? fmt::format("95 % over {} nulls at once, {} {} samples", gains.size(), gain.samples, part)
                       : fmt::format("95 %, {} {} samples", gain.samples, part);
  if (gain.high < 0) {
    return fmt::format("the devices learnt nothing that helps: {} ends {} lower ({})", words, amount(-1), how);
  }
  if (!gain.significant()) {
    return fmt::format(
        "no sign that the devices learnt: {} below the strongest null, {}, and the interval contains 0 ({})", amount(1),
        words, how);
  }
  if (not_run.empty()) {
    return fmt::format("the devices learnt: {} below the strongest null, {} ({})", amount(1), words, how);
  }
  return fmt::format(
      "whether the devices learnt is open: no baseline run with {} was made (set train.null = all). The loss is {} "
      "below "
      "{} ({})",
      fmt::join(names_in_words(not_run), " or "), amount(1), words, how);
}

std::optional<NullResult> null_result(const TrainingLoop& loop, const NetworkPlan* plan) {
  if (plan == nullptr || !loop.finished() || loop.stopped()) return std::nullopt;
  const LearningRun& run = loop.main_run();
  const std::string part = judged_part(run);
  NullResult result{part, run.log().measured("train/validation_loss").unit, {}, {}};
  std::vector<std::pair<std::string, SampleLosses>> nulls;
  for (const NullKind& kind : possible_nulls(*plan)) {
    if (const LearningRun* null = loop.named(kind.lane())) {
      nulls.emplace_back(kind.name, null->losses(part));
    } else {
      result.not_run.push_back(kind.name);
    }
  }
  if (nulls.empty()) return std::nullopt;
  SampleLosses constant = constant_on(loop, part);
  if (constant.count() > 0) nulls.emplace_back(kConstant, std::move(constant));
  const Index each = loop.task().samples_that_overlap(part == "test");
  const SampleLosses own = run.losses(part).joined(each);
  for (const auto& [name, losses] : nulls) {
    result.gains.push_back({name, loss_gain(own, losses.joined(each), static_cast<int>(nulls.size()))});
  }
  return result;
}

std::optional<ConstantGain> constant_gain(const TrainingLoop& loop) {
  const LearningRun& run = loop.main_run();
  const std::string part = judged_part(run);
  const SampleLosses constant = constant_on(loop, part);
  if (constant.count() == 0 || run.losses(part).count() != constant.count()) return std::nullopt;
  const Index each = loop.task().samples_that_overlap(part == "test");
  return ConstantGain{part, loss_gain(run.losses(part).joined(each), constant.joined(each)), constant.mean()};
}

void write_null(const NullResult& result, H5Document& document) {
  std::vector<std::string> names;
  std::vector<double> won, low, high;
  for (const auto& [name, gain] : result.gains) {
    names.push_back(name);
    won.push_back(gain.won);
    low.push_back(gain.low);
    high.push_back(gain.high);
  }
  document.column("null/name", names, {"1", "nulls that the run was compared with", {"null"}});
  document.column("null/won", won,
                  {result.unit, "loss of the null minus loss of the run, on the split `part`", {"null"}});
  document.column("null/low", low,
                  {result.unit, "of it: lower end of the interval; all hold together with 95 %", {"null"}});
  document.column("null/high", high, {result.unit, "of it: upper end of the interval", {"null"}});
  document.attribute("part", result.part, "null");
  document.attribute("samples", static_cast<std::int64_t>(result.strongest().gain.samples), "null");
  document.attribute("strongest", result.strongest().name, "null");
  document.attribute("not_run", fmt::format("{}", fmt::join(result.not_run, ", ")), "null");
  if (const auto learnt = result.learnt())
    document.attribute("devices_learnt", static_cast<std::int64_t>(*learnt), "null");
  document.attribute("verdict", result.verdict(), "null");
}

}  // namespace nudge
