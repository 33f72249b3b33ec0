// SPDX-License-Identifier: Apache-2.0
#include "training/train/null_lane.hpp"

#include <fmt/format.h>

#include <cmath>

#include "devices/device_config.hpp"
#include "training/config/train_options.hpp"

namespace nudge {

std::string resolved_null(const Config& config) {
  const std::string asked = train_options(config).null;
  if (asked != "auto") return asked;
  const bool learns = on_devices(config) && config.text("crossbar.update") != "none";
  return learns ? "frozen_devices" : "none";
}

Config frozen_config(const Config& config) {
  Config frozen = config;
  frozen.set_from_text("crossbar.update", "none");
  frozen.set_from_text("train.cosine_every", "never");
  return frozen;
}

HeldOutScore held_out_score(const Learner& learner, const std::string& metric) {
  if (metric.empty()) return {};
  return {learner.log().last("train/validation_" + metric), learner.log().last("train/test_" + metric),
          learner.log().last("train/test_samples")};
}

NullResult null_result(const Learner& run, const Learner& null, const std::string& metric) {
  const TrainLog& log = null.log();
  NullResult out;
  out.validation_loss = log.last("train/validation_loss");
  out.test_loss = log.last("train/test_loss");
  out.score = held_out_score(null, metric);
  out.gain = loss_gain(run.validation_losses(), null.validation_losses());
  out.verdict = null_verdict(out.gain, log.unit("train/validation_loss"));
  return out;
}

std::string null_verdict(const LossGain& gain, const std::string& unit) {
  const std::string suffix = unit == "1" ? "" : " " + unit;
  if (!std::isfinite(gain.won)) return "what the devices won against frozen ones is not known";
  const std::string interval =
      std::isfinite(gain.low)
          ? fmt::format(" [{:.4f}, {:.4f}] (95 % over {} validation examples)", gain.low, gain.high, gain.examples)
          : std::string(" (one validation example: no interval)");
  const std::string won = fmt::format("{:.4f}{}{}", gain.won, suffix, interval);
  return gain.significant() ? fmt::format("the devices won {} against frozen ones", won)
                            : fmt::format("the devices learnt nothing beyond frozen ones: won {}", won);
}

void write_null(const Learner& run, const Learner& null, H5Document& document) {
  const TrainLog& log = null.log();
  const std::vector<double>& losses = log.values("train/validation_loss");
  if (losses.empty()) return;
  const std::string unit = log.unit("train/validation_loss"), path = "null/validation_loss";
  document.column(
      path, losses,
      {unit, "validation loss of the run with frozen devices, the values of null/train/validation_loss", {}});
  document.attribute("role", std::string("copy"), path);
  document.attribute("x", std::string("null/train/validation_step"), path);
  const LossGain gain = loss_gain(run.validation_losses(), null.validation_losses());
  document.attribute("devices_won", gain.won, "null");
  document.attribute("devices_won_low", gain.low, "null");
  document.attribute("devices_won_high", gain.high, "null");
  document.attribute("examples", static_cast<std::int64_t>(gain.examples), "null");
  document.attribute("devices_learnt", static_cast<std::int64_t>(gain.significant()), "null");
  document.attribute("verdict", null_verdict(gain, unit), "null");
}

}  // namespace nudge
