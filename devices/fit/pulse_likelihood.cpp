// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_likelihood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr std::size_t least_for_slow = 100;  // fewer pulses do not tell it from noise of pulses

Vector start_of(const PulseResiduals& residuals, std::size_t start) {
  Vector x(residuals.size());
  for (Index k = 0; k < x.size(); ++k) x[k] = residuals.all_numbers()[static_cast<std::size_t>(k)].starts[start];
  return x;
}

/// First start with both bounds inside the extremes of the record, by as much as noise of reads may have put the extremes
/// outside. From bounds that no read reaches the search finds noise of pulses that stands for a bound, and stays there.
Vector start_within(const PulseResiduals& residuals, const FitNumbers& numbers,
                    const std::vector<PulseRecord>& records) {
  Vector x = start_of(residuals, 0);
  const RecordRange range = range_of(records);
  const double inside = std::min(3 * std::exp(x[residuals.noise_at() + 1]), 0.2) * range.size();
  for (const auto& [k, wanted] : {std::pair<Index, double>{0, range.low + inside}, {1, range.high - inside}}) {
    const auto& value = numbers.numbers[static_cast<std::size_t>(k)].value;  // grows with its coordinate
    double low = -10, high = 10;
    while (high - low > 1e-6) {
      const double middle = (low + high) / 2;
      (value(middle) < wanted ? low : high) = middle;
    }
    x[k] = low;
  }
  return x;
}

double correlation(const Vector& error, const Vector& variance, const std::vector<PulseRecord>& records) {
  const Vector z = (error.array() / variance.array().sqrt()).matrix();
  double lag = 0;
  Index at = 0;
  for (const PulseRecord& record : records) {
    for (std::size_t i = 1; i < record.pulses(); ++i)
      lag += z[at + static_cast<Index>(i)] * z[at + static_cast<Index>(i) - 1];
    at += static_cast<Index>(record.pulses());
  }
  return lag / z.squaredNorm();
}

/// LikelihoodFit at the coordinates `at` of the numbers, without a search. guess: spec whose other numbers stay; kind: noise of reads.
LikelihoodFit fit_at(const DeviceSpec& guess, FitNumbers numbers, const std::vector<PulseRecord>& records,
                     ReadNoiseKind kind, const Vector& at) {
  const PulseResiduals residuals(guess, numbers, records, kind);
  LikelihoodFit out;
  out.kind = kind;
  out.spec = residuals.spec_of(at);
  out.noise = residuals.noise_of(at);
  out.deviance = residuals.deviance(at, false);
  out.values = static_cast<std::size_t>(residuals.reads());
  out.numbers = static_cast<int>(at.size());
  Vector error(residuals.reads()), variance(residuals.reads());
  if (residuals.predict(at, error, variance)) out.innovation_correlation = correlation(error, variance, records);
  out.coordinates = std::move(numbers);
  out.at = at;
  return out;
}

/// Best fit from all guesses and starts; `behind` is a fit with fewer kinds of noise, one more start.
LikelihoodFit best_of(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records,
                      ReadNoiseKind kind, const LikelihoodFit* behind) {
  LikelihoodFit best;
  std::vector<Vector> ends;
  double least = std::numeric_limits<double>::infinity();
  const auto search = [&](const DeviceSpec& guess, const FitNumbers& numbers, const auto& start) {
    const PulseResiduals residuals(guess, numbers, records, kind);
    Vector x = start(residuals);
    residuals.descend(x, 4);
    const double found = residuals.deviance(x, true);
    if (std::isfinite(found)) ends.push_back(x);
    if (!(found < least)) return;
    least = found;
    best = fit_at(guess, numbers, records, kind, x);
  };
  for (const DeviceSpec& guess : guesses) {
    const FitNumbers numbers = fit_numbers(guess, records);
    for (const std::size_t k : {0, 1}) {
      if (k > 0 && best.is_plain()) break;
      search(guess, numbers, [k](const PulseResiduals& residuals) { return start_of(residuals, k); });
    }
    search(guess, numbers, [&](const PulseResiduals& residuals) { return start_within(residuals, numbers, records); });
  }
  if (behind != nullptr) {
    search(behind->spec, behind->coordinates, [&](const PulseResiduals& residuals) {
      Vector x = start_of(residuals, 1);
      x.head(behind->at.size()) = behind->at;
      x[behind->at.size() - 2] = std::log(0.05);  // what wanders is no longer noise of pulses
      return x;
    });
  }
  if (!std::isfinite(least)) {
    throw UserError(fmt::format("devices fit: {} makes no device of these pulses", guesses.front().model));
  }
  best.others = std::move(ends);
  return best;
}

/// Fit moved from the largest likelihood to the largest restricted one; its criteria stay those of the former.
LikelihoodFit restricted(const LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  if (!fit.is_long()) return fit;
  Vector x = fit.at;
  for (int round = 0; round < 2; ++round) {
    PulseResiduals residuals(fit.spec, fit.coordinates, records, fit.kind);
    residuals.penalise(x);
    residuals.descend(x, 4);
  }
  LikelihoodFit out = fit_at(fit.spec, fit.coordinates, records, fit.kind, x);
  out.deviance = fit.deviance;
  out.others = fit.others;
  return out;
}

}  // namespace

// Of fewer reads Laplace's approximation leaves some records to noise of pulses alone.
bool LikelihoodFit::is_long() const { return values >= 10 * static_cast<std::size_t>(numbers); }

bool LikelihoodFit::is_plain() const {
  if (values > 0 && spec.update_noise < 0.01 && noise.read_S < 1e-4 * spec.window_S()) return true;  // the very curve
  return values > 0 && spec.update_noise < 1 &&
         std::abs(innovation_correlation) < 3 / std::sqrt(static_cast<double>(values));
}

double LikelihoodFit::schwarz() const { return deviance + numbers * std::log(static_cast<double>(values)); }

LikelihoodFit largest_likelihood(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records) {
  NUDGE_EXPECT(!guesses.empty());
  LikelihoodFit white = best_of(guesses, records, ReadNoiseKind::white, nullptr);
  if (white.values < least_for_slow || white.is_plain()) return restricted(white, records);
  LikelihoodFit slow = best_of(guesses, records, ReadNoiseKind::white_and_slow, &white);
  return restricted(slow.schwarz() < white.schwarz() ? slow : white, records);
}

}  // namespace nudge
