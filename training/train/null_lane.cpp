// SPDX-License-Identifier: Apache-2.0
#include "training/train/null_lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/device_config.hpp"
#include "sim/base/statistics.hpp"
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

NullResult null_result(const Learner& run, const Learner& null) {
  const LossGain gain = loss_gain(run.validation_losses(), null.validation_losses());
  return {gain, null_verdict(gain, null.log().measured("train/validation_loss").unit)};
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
  const std::string unit = log.measured("train/validation_loss").unit, path = "null/validation_loss";
  document.column(
      path, losses,
      {unit, "validation loss of the run with frozen devices, the values of null/train/validation_loss", {}});
  document.attribute("role", std::string("copy"), path);
  document.attribute("x", std::string("null/train/validation_step"), path);
  const auto [gain, verdict] = null_result(run, null);
  document.attribute("devices_won", gain.won, "null");
  document.attribute("devices_won_low", gain.low, "null");
  document.attribute("devices_won_high", gain.high, "null");
  document.attribute("examples", static_cast<std::int64_t>(gain.examples), "null");
  document.attribute("devices_learnt", static_cast<std::int64_t>(gain.significant()), "null");
  document.attribute("verdict", verdict, "null");
}

void ExampleLosses::add(double summed_loss, Index counted) {
  loss.push_back(summed_loss);
  rows.push_back(static_cast<double>(counted));
}

void ExampleLosses::write(const std::string& prefix, const std::string& unit, H5Document& document) const {
  if (loss.empty()) return;
  document.column(
      prefix + "/example_loss", loss,
      {unit, "cost of each example of the validation part, summed over its rows, as last evaluated", {"example"}});
  document.column(prefix + "/example_rows", rows, {"1", "tokens or samples of it that count", {"example"}});
}

ExampleLosses ExampleLosses::read(const std::string& prefix, const H5Reader& file) {
  ExampleLosses all;
  if (!file.has(prefix + "/example_loss")) return all;
  all.loss = file.reals<double>(prefix + "/example_loss");
  all.rows = file.reals<double>(prefix + "/example_rows", H5Shape{static_cast<Index>(all.loss.size())});
  return all;
}

LossGain loss_gain(const ExampleLosses& one, const ExampleLosses& other) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::size_t n = std::min(one.loss.size(), other.loss.size());
  double sum = 0, rows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += other.loss[i] - one.loss[i];
    rows += one.rows[i];
  }
  LossGain gain{rows > 0 ? sum / rows : nan, -infinity, infinity, static_cast<int>(n)};
  if (n < 2 || !std::isfinite(gain.won)) return gain;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double off = other.loss[i] - one.loss[i] - gain.won * one.rows[i];
    squares += off * off;
  }
  const double count = static_cast<double>(n);
  const double half = student_t_quantile(0.975, gain.examples - 1) * std::sqrt(count / (count - 1) * squares) / rows;
  gain.low = gain.won - half;
  gain.high = gain.won + half;
  return gain;
}

}  // namespace nudge
