// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_likelihood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <limits>

#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr std::size_t least_for_slow = 100;  // fewer pulses do not tell it from noise of pulses
constexpr double ruled_out = 6;              // of Schwarz's criterion: odds of e^-3
constexpr std::size_t most_rivals = 2;       // each takes as long as the fit
constexpr std::size_t least_for_more = 40;   // five of each quarter of a window, up and down

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

double correlation(const PulseResiduals::Prediction& of, const std::vector<PulseRecord>& records) {
  const Vector z = (of.error.array() / of.variance.array().sqrt()).matrix();
  double lag = 0;
  Index at = 0;
  for (const PulseRecord& record : records) {
    const auto reads = static_cast<Index>(record.reads());
    for (Index i = 1; i < reads; ++i) lag += z[at + i] * z[at + i - 1];
    at += reads;
  }
  return lag / z.squaredNorm();
}

/// LikelihoodFit at the coordinates `at` of the numbers, without a search. guess: spec whose other numbers stay; kind: noise of reads.
LikelihoodFit fit_at(const DeviceSpec& guess, FitNumbers numbers, const std::vector<PulseRecord>& records,
                     NoiseKind kind, const Vector& at) {
  const PulseResiduals residuals(guess, numbers, records, kind);
  LikelihoodFit out;
  out.kind = kind;
  out.spec = residuals.spec_of(at);
  out.noise = residuals.noise_of(at);
  out.deviance = residuals.deviance(at, false);
  out.values = static_cast<std::size_t>(residuals.reads());
  out.numbers = static_cast<int>(at.size());
  PulseResiduals::Prediction of(residuals.reads());
  if (residuals.predict(at, of)) out.innovation_correlation = correlation(of, records);
  out.coordinates = std::move(numbers);
  out.at = at;
  return out;
}

/// Best fit from all guesses and starts; `behind` is a fit with fewer kinds of noise, one more start.
LikelihoodFit best_of(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records, NoiseKind kind,
                      const LikelihoodFit* behind) {
  LikelihoodFit best;
  std::vector<Vector> ends;
  double least = std::numeric_limits<double>::infinity();
  const auto search = [&](const DeviceSpec& guess, const FitNumbers& numbers, const auto& start) {
    const PulseResiduals residuals(guess, numbers, records, kind);
    Vector x = start(residuals);
    const double found = residuals.descend(x, PulseResiduals::converged);
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

/// Fit with another kind of noise behind one without it. Each noise takes over from its like or shares it.
LikelihoodFit with_noise(const LikelihoodFit& behind, NoiseKind kind, const std::vector<PulseRecord>& records) {
  const PulseResiduals residuals(behind.spec, behind.coordinates, records, kind);
  const Index noise = residuals.noise_at();
  const bool floor = kind.floor && !behind.kind.floor;
  const Index like = floor ? noise : noise + 1;
  LikelihoodFit best;
  double least = std::numeric_limits<double>::infinity();
  for (const double left : {0.1, 0.7}) {  // of the noise that was there before
    Vector x = start_of(residuals, 0);
    x.head(behind.at.size()) = behind.at;
    for (Index k = behind.at.size(); k < x.size(); ++k) {
      x[k] = behind.at[like] + 0.5 * std::log(1 - left * left);
      if (!floor) x[k] += std::log(residuals.range_S() / range_of(records).middle());
    }
    x[like] += std::log(left);
    const double found = residuals.descend(x, PulseResiduals::converged);
    if (!(found < least)) continue;
    least = found;
    best = fit_at(behind.spec, behind.coordinates, records, kind, x);
  }
  if (!std::isfinite(least)) return behind;
  for (const Vector& other : behind.others) {
    best.others.push_back(best.at);
    best.others.back().head(noise) = other.head(noise);
  }
  return best;
}

/// Adds fits with the other kinds of noise to those with white and slow noise of reads, or leaves those that are told.
void add_kinds(std::vector<LikelihoodFit>& all, const ToldNoise& told, const std::vector<PulseRecord>& records) {
  const std::size_t bases = all.size();
  for (std::size_t k = 0; k < bases; ++k) {
    const bool slow = all[k].kind.slow;
    all.push_back(with_noise(all[k], {slow, true, false}, records));
    all.push_back(with_noise(all[all.size() - 1], {slow, true, true}, records));
    all.push_back(with_noise(all[k], {slow, false, true}, records));
  }
  const std::vector<LikelihoodFit> tried = all;
  std::erase_if(all, [&](const LikelihoodFit& one) {
    return (told.floor && one.kind.floor != *told.floor) ||
           (told.read_share && one.kind.read_share != *told.read_share);
  });
  if (all.empty()) all = tried;  // no search has ended
}

/// Fit moved from the largest likelihood to the largest restricted one; its criteria stay those of the former.
LikelihoodFit restricted(const LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  if (!fit.is_long()) return fit;
  constexpr double near = 0.2;  // of a step of the penalty's table, and of coordinates
  Vector x = fit.at;
  PulseResiduals residuals(fit.spec, fit.coordinates, records, fit.kind);
  for (int round = 0; round < 2; ++round) {
    const Vector from = x;
    residuals.penalise(x);
    residuals.descend(x, PulseResiduals::converged);
    const bool stays = std::abs(residuals.noise_ratio(x) - residuals.noise_penalty().ratio) < near &&
                       (x - from).head(residuals.noise_at()).lpNorm<Eigen::Infinity>() < near;
    if (stays) break;
  }
  LikelihoodFit out = fit_at(fit.spec, fit.coordinates, records, fit.kind, x);
  out.deviance = fit.deviance;
  out.others = fit.others;
  out.penalty = residuals.noise_penalty();
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

LikelihoodFit largest_likelihood(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records,
                                 const ToldNoise& told) {
  NUDGE_EXPECT(!guesses.empty());
  std::vector<LikelihoodFit> all = {best_of(guesses, records, {}, nullptr)};
  if (all[0].values >= least_for_slow && !all[0].is_plain()) {
    all.push_back(best_of(guesses, records, {true, false, false}, all.data()));
  }
  const std::string& model = guesses.front().model;
  if (!has_volts(model) && !has_constant_noise(model) && all[0].values >= least_for_more) {
    add_kinds(all, told, records);
  }
  const auto less = [](const LikelihoodFit& a, const LikelihoodFit& b) { return a.schwarz() < b.schwarz(); };
  std::sort(all.begin(), all.end(), less);
  LikelihoodFit best = restricted(all[0], records);
  for (std::size_t k = 1; k < all.size() && best.rivals.size() < most_rivals; ++k) {
    const bool likely = all[k].schwarz() < all[0].schwarz() + ruled_out;
    if (likely && !all[0].kind.has(all[k].kind)) {
      best.rivals.push_back(restricted(all[k], records));
    }
  }
  return best;
}

void renew_criteria(LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  const PulseResiduals residuals(fit.spec, fit.coordinates, records, fit.kind);  // without NoisePenalty
  PulseResiduals::Prediction of(residuals.reads());
  if (residuals.predict(fit.at, of)) fit.innovation_correlation = correlation(of, records);
  Vector x = fit.at;
  residuals.descend(x, PulseResiduals::converged);
  fit.deviance = std::min(fit.deviance, residuals.deviance(x, false));
}

double depth_of(int joint, double counted, double freedom) {
  const double f = boost::math::quantile(boost::math::fisher_f(joint, freedom), 0.95);
  return counted * std::log1p(joint * f / freedom);
}

double depth_of_noise(double counted, double freedom, double share) {
  const double chi2 = boost::math::quantile(boost::math::chi_squared(freedom), share);
  return counted * (std::log(counted / chi2) + chi2 / counted - 1);
}

}  // namespace nudge
