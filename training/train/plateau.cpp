// SPDX-License-Identifier: Apache-2.0
#include "training/train/plateau.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace nudge {
namespace {

constexpr std::size_t kBlocks = 10;
constexpr double kLastShare = 0.2;  ///< of the steps, that the line is fitted to
constexpr double kSmall =
    0.01;  ///< of the loss, and of its fall so far: less within as many steps changes no comparison
constexpr double kTiny = 1e-3;  ///< of what training has taken off: the same for a loss that goes to 0

}  // namespace

Plateau plateau_of(std::span<const double> steps, std::span<const double> losses) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Plateau out{"", "1", nan};
  if (steps.empty() || steps.size() != losses.size()) return out;
  const double window = kLastShare * (steps.back() - steps.front());
  std::vector<double> x, y;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] < steps.back() - window || !std::isfinite(losses[i])) continue;
    x.push_back(steps[i]);
    y.push_back(losses[i]);
  }
  const std::size_t each = x.size() / kBlocks, first = x.size() - kBlocks * each;
  if (each == 0) return out;
  double x_mean = 0, y_mean = 0;
  std::vector<double> xs(kBlocks), ys(kBlocks);
  for (std::size_t b = 0; b < kBlocks; ++b) {
    for (std::size_t i = first + b * each; i < first + (b + 1) * each; ++i) {
      xs[b] += x[i] / static_cast<double>(each);
      ys[b] += y[i] / static_cast<double>(each);
    }
    x_mean += xs[b] / kBlocks;
    y_mean += ys[b] / kBlocks;
  }
  double sxx = 0, sxy = 0, left = 0;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    sxx += (xs[b] - x_mean) * (xs[b] - x_mean);
    sxy += (xs[b] - x_mean) * (ys[b] - y_mean);
  }
  const double slope = sxy / sxx;
  for (std::size_t b = 0; b < kBlocks; ++b) {
    const double off = ys[b] - y_mean - slope * (xs[b] - x_mean);
    left += off * off;
  }
  constexpr int degrees = static_cast<int>(kBlocks) - 2;
  const double half = student_t_quantile(0.975, degrees) * std::sqrt(left / (degrees * sxx));
  out.slope_per_1000_steps = 1000 * slope;
  out.interval = {1000 * (slope - half), 1000 * (slope + half)};
  const double fallen = losses.front() - y_mean, least_fall = -(slope + half) * window;
  const double small = std::max(kSmall * std::abs(y_mean), kTiny * fallen);
  const bool falls = least_fall > 0;
  // A slow training falls by little of its loss, and by much of what it has learnt.
  const bool learns = falls && least_fall > kSmall * fallen;
  const bool little = !learns && std::max(half - slope, slope - half) * window < small;
  if (falls || little) out.reached = little;
  return out;
}

Plateau plateau_of(const TrainLog& log) {
  const auto of = [&](const char* name, const char* axis, const char* loss) {
    Plateau out = plateau_of(log.values(axis), log.values(loss));
    out.of = name;
    out.unit = log.measured(loss).unit;
    return out;
  };
  Plateau out = of("validation", "train/validation_step", "train/validation_loss");
  if (!std::isfinite(out.slope_per_1000_steps)) out = of("training", "train/step", "train/loss");
  const std::vector<double>& rates = log.values("train/learning_rate");
  const auto last = static_cast<std::size_t>(kLastShare * static_cast<double>(rates.size()));
  out.rate_fell = last > 0 && rates.back() < 0.5 * rates[rates.size() - last];
  return out;
}

std::string Plateau::text() const {
  if (!std::isfinite(slope_per_1000_steps)) return "too few evaluations to say whether the loss still falls";
  const std::string suffix = unit == "1" ? "" : " " + unit;
  const auto per_100 = [&](double slope) { return fmt::format("{:.2g}{} per 100 steps", slope / 10, suffix); };
  if (rises() && !reached.value_or(false))
    return fmt::format("the {} loss rises by {}: it is past its minimum", of, per_100(slope_per_1000_steps));
  if (!reached) {
    return fmt::format(
        "the {} loss has no significant trend over its last fifth: its slope is {} [{:.2g}, {:.2g}]. Unfinished: a "
        "fifth "
        "more steps may change it by 1 % or more",
        of, per_100(slope_per_1000_steps), interval.low / 10, interval.high / 10);
  }
  if (*reached && rate_fell) {
    return fmt::format(
        "the {} loss has stopped falling as its learning rate fell (train.schedule): whether a run of more steps ends "
        "lower is open",
        of);
  }
  if (*reached)
    return fmt::format(
        "the {} loss has stopped falling: a fifth more steps lower it by less than 1 %, or 0.1 % of its fall so far",
        of);
  return fmt::format("the {} loss still falls by {}. Unfinished: train longer before you compare", of,
                     per_100(-slope_per_1000_steps));
}

void write_plateau(const Plateau& plateau, H5Document& document) {
  document.attribute("plateau_of", plateau.of, "train");
  document.attribute("plateau_slope", plateau.slope_per_1000_steps, "train");
  document.attribute("plateau_low", plateau.interval.low, "train");
  document.attribute("plateau_high", plateau.interval.high, "train");
  document.attribute("plateau_text", plateau.text(), "train");
  if (plateau.reached) document.attribute("plateau_reached", static_cast<std::int64_t>(*plateau.reached), "train");
}

}  // namespace nudge
