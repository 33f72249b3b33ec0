// SPDX-License-Identifier: Apache-2.0
#include "devices/state_tables.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

/// Place between levels: the level on the left and the share of the level on the right.
struct LevelPlace {
  std::size_t left = 0;
  double share = 0;
};

LevelPlace level_place(const std::vector<double>& levels, double g_S) {
  if (levels.size() < 2 || !(g_S > levels.front())) return {};  // of a NaN too
  if (g_S >= levels.back()) return {levels.size() - 2, 1};
  const auto above = std::upper_bound(levels.begin(), levels.end(), g_S);
  const auto left = static_cast<std::size_t>(above - levels.begin()) - 1;
  return {left, (g_S - levels[left]) / (levels[left + 1] - levels[left])};
}

double between_levels(const std::vector<double>& list, const LevelPlace& place) {
  const double low = list[place.left];
  return place.share == 0 ? low : low + place.share * (list[place.left + 1] - low);
}

double between_logs(const std::vector<double>& list, const LevelPlace& place) {
  const double low = list[place.left];
  return place.share == 0 ? low : low * std::pow(list[place.left + 1] / low, place.share);
}

bool within(const std::vector<double>& list, double least, double most) {
  return std::all_of(list.begin(), list.end(), [=](double x) { return std::isfinite(x) && x >= least && x <= most; });
}

constexpr double kLargest = 1e300;

}  // namespace

double NoiseTable::at(const std::vector<double>& list, double g_S) const {
  return between_levels(list, level_place(level_S, g_S));
}

TrapValues NoiseTable::trap_at(double g_S) const {
  const LevelPlace place = level_place(level_S, g_S);
  return {between_levels(trap, place), between_logs(trap_high_s, place), between_logs(trap_low_s, place)};
}

const char* NoiseTable::problem() const {
  const std::size_t n = level_S.size();
  for (const auto* list : {&white_S, &flicker, &exponent, &trap, &trap_high_s, &trap_low_s}) {
    if (!list->empty() && list->size() != n) return "noise_* lists must have a number for each noise_level, or none";
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool rises = i == 0 ? level_S[0] >= 0 : level_S[i] > level_S[i - 1];
    if (!std::isfinite(level_S[i]) || !rises) return "noise_level must be ascending conductances of at least 0 S";
  }
  if (n > 0 && !has_white() && !has_flicker() && !has_traps()) {
    return "noise_level is given, but no noise_white, noise_flicker or noise_trap";
  }
  if (!within(white_S, 0, kLargest)) return "noise_white must be at least 0 S";
  if (!within(flicker, 0, kLargest)) return "noise_flicker must be at least 0";
  if (!within(exponent, 0.01, 1.99)) return "noise_exponent must be in [0.01, 1.99]";
  if (!exponent.empty() && flicker.empty()) return "noise_exponent is given, but no noise_flicker";
  if (!within(trap, 0, kLargest)) return "noise_trap must be at least 0";
  if (trap.empty() != trap_high_s.empty() || trap.empty() != trap_low_s.empty()) {
    return "noise_trap, noise_trap_high and noise_trap_low must be given together";
  }
  if (!within(trap_high_s, 1e-15, kLargest) || !within(trap_low_s, 1e-15, kLargest)) {
    return "noise_trap_high and noise_trap_low must be above 0 s";
  }
  return "";
}

double flicker_variance(double q, double exponent, double tau_s) {
  constexpr double h = 2.302585092994046;
  const double two_pi = 2 * M_PI;
  const double c = std::pow(two_pi, exponent) * std::sin(M_PI * exponent / 2) / two_pi;
  return q * q * h * c * std::pow(tau_s, exponent - 1);
}

double polynomial(const std::vector<double>& coefficients, double r) {
  double sum = 0;
  for (std::size_t k = coefficients.size(); k > 0; --k) sum = sum * r + coefficients[k - 1];
  return sum;
}

double StateFit::at(double r) const {
  r = std::max(r, 1e-7);
  if (numbers.size() > 4 && r >= numbers[4]) return polynomial({numbers.begin() + 5, numbers.end()}, r);
  return std::clamp(numbers[0] * std::log(r) + numbers[1], numbers[2], numbers[3]);
}

const char* StateFit::problem() const {
  if (numbers.empty()) return "";
  for (double x : numbers) {
    if (!std::isfinite(x)) return "must be finite numbers";
  }
  if (numbers.size() != 4 && numbers.size() < 6) {
    return "must be [a, b, lowest, highest] or [a, b, lowest, highest, knee, q0, ...]";
  }
  return numbers[2] <= numbers[3] ? "" : "must have lowest <= highest (third and fourth number)";
}

}  // namespace nudge
