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

constexpr double floor_of_range = 1e-6;       // below what any instrument resolves
const double log_most_noise = std::log(1e4);  // of the range, or of a pulse

/// Correlation length in pulses: below half a pulse the noise is white, beyond 10^5 it does not decay.
double slow_pulses(double x) { return std::exp(std::clamp(x, std::log(0.5), std::log(1e5))); }

/// Size of white noise, of the range, that would make the differences from pulse to pulse: each difference has it twice.
double rough_noise(const std::vector<PulseRecord>& records, double range_S) {
  double squares = 0, n = 0;
  for (const PulseRecord& record : records) {
    for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
      squares += std::pow((record.conductance_S[i] - record.conductance_S[i - 1]) / range_S, 2);
      n += 2;
    }
  }
  return std::sqrt(squares / n);
}

}  // namespace

PulseResiduals::PulseResiduals(const DeviceSpec& spec, const FitNumbers& numbers,
                               const std::vector<PulseRecord>& records, ReadNoiseKind kind)
    : spec_(&spec),
      model_(&device_model(spec.model)),
      numbers_(&numbers),
      records_(&records),
      noise_(static_cast<Index>(numbers.numbers.size())),
      slow_(kind == ReadNoiseKind::white_and_slow),
      range_S_(range_of(records).size()) {
  for (const PulseRecord& record : records) reads_ += static_cast<Index>(record.reads());
  all_ = numbers.numbers;
  for (FitNumber& number : numbers_of_noise()) all_.push_back(std::move(number));
  expected_.resize(size());
  weight_.resize(size());
  for (Index k = 0; k < size(); ++k) {
    expected_[k] = all_[static_cast<std::size_t>(k)].expected;
    weight_[k] = 1 / all_[static_cast<std::size_t>(k)].deviation;
  }
}

void PulseResiduals::apply(const Vector& all, DeviceSpec& spec) const {
  numbers_->apply(all.data(), spec);
  spec.update_noise = std::exp(all[noise_]);
}

DeviceSpec PulseResiduals::spec_of(const Vector& all) const {
  DeviceSpec out = *spec_;
  apply(all, out);
  return out;
}

RecordNoise PulseResiduals::noise_of(const Vector& all) const {
  RecordNoise noise{std::exp(all[noise_]), range_S_ * std::hypot(std::exp(all[noise_ + 1]), floor_of_range), {}};
  if (slow_) noise.slow = {{range_S_ * std::exp(all[noise_ + 2]), slow_pulses(all[noise_ + 3])}};
  return noise;
}

std::vector<FitNumber> PulseResiduals::numbers_of_noise() const {
  const auto in_S = [range = range_S_](double x) { return range * std::exp(x); };
  const double noise = std::log(std::max(rough_noise(*records_, range_S_), 1e-6));
  std::vector<FitNumber> out;
  out.push_back(
      {"update_noise", "1", {std::log(0.5), std::log(0.05)}, [](double x) { return std::exp(x); }, std::log(0.5), 1.5});
  out.push_back({"read_noise", "S", {noise, noise}, in_S, noise});
  if (slow_) {
    out.push_back({"slow_read_noise", "S", {noise - 1, noise}, in_S, noise});
    out.push_back({"slow_read_pulses", "1", {std::log(10.0), std::log(50.0)}, slow_pulses, std::log(10.0)});
  }
  return out;
}

bool PulseResiduals::predict(const Vector& all, Prediction& out) const {
  if (!all.allFinite()) return false;
  const DeviceSpec device = spec_of(all);
  try {
    device.validate();
  } catch (const UserError&) {
    return false;
  }
  const PulseLaw law(device, *model_);
  const RecordNoise noise = noise_of(all);
  const auto values = [](Vector& of) { return std::span(of.data(), static_cast<std::size_t>(of.size())); };
  filter_records({&law, 1}, {&noise, 1}, *records_, values(out.error), values(out.variance));
  out.error /= range_S_;
  out.variance /= range_S_ * range_S_;
  return out.error.allFinite() && out.variance.allFinite();
}

double NoisePenalty::of(double log_pulses, double log_read) const {
  if (h.empty()) return 0;
  constexpr double least = 1, widest = 3;  // ln(noise/range) stays below 3
  const double larger = std::max(log_pulses, log_read);
  const double log_both = larger + 0.5 * std::log1p(std::exp(-2 * std::abs(log_pulses - log_read)));
  const double at =
      std::clamp((std::min(log_pulses - log_read, ratio + 1) - first) / step, 0.0, static_cast<double>(h.size() - 1));
  const auto k = std::min(static_cast<std::size_t>(at), h.size() - 2);
  const double value = h[k] + (at - static_cast<double>(k)) * (h[k + 1] - h[k]);
  return std::max(least + value - *std::min_element(h.begin(), h.end()) + 2 * determined * (widest - log_both), 0.0);
}

/// ln(s/range), s the pulse that noise of pulses is a share of. If s is the pulse at the reference and not the pulses' own
/// size, it moves with the numbers: a steep curve has a small pulse there.
double PulseResiduals::log_pulse(const Vector& all) const {
  if (!has_constant_noise(spec_->model)) return penalty_.log_pulse;
  const auto [up, down] = steps_of_spec(spec_of(all));
  return 0.5 * std::log(up * down) + std::log(spec_of(all).window_S() / range_S_);
}

double PulseResiduals::penalty(const Vector& all) const {
  return penalty_.of(all[noise_] + log_pulse(all), all[noise_ + 1]);
}

void PulseResiduals::penalise(const Vector& all) {
  double way = 0, pulses = 0;
  for (const PulseRecord& record : *records_) {
    const std::vector<double> replayed = replay(spec_of(all), record);
    pulses += static_cast<double>(record.pulses());
    for (std::size_t i = 1; i < replayed.size(); ++i) way += std::abs(replayed[i] - replayed[i - 1]);
  }
  penalty_ = {0, std::log(std::max(way / pulses / range_S_, 1e-9)), 0, {}};
  const double pulse = log_pulse(all);
  penalty_.ratio = noise_ratio(all);
  const auto prior = weight_.head(noise_).array().square();
  const Eigen::MatrixXd here = information(all).topLeftCorner(noise_, noise_);
  penalty_.determined = static_cast<double>(noise_) - (prior * inverse(here).diagonal().array()).sum();
  const double both = std::log(std::hypot(std::exp(all[noise_] + pulse), std::exp(all[noise_ + 1])));
  Vector at = all;
  std::vector<double> h;
  for (int k = 0; k < NoisePenalty::places; ++k) {
    const double ratio = NoisePenalty::first + NoisePenalty::step * k;
    at[noise_ + 1] = both - 0.5 * std::log1p(std::exp(2 * ratio));
    at[noise_] = at[noise_ + 1] + ratio - pulse;
    const Eigen::MatrixXd part = information(at).topLeftCorner(noise_, noise_);
    h.push_back(semidefinite_log_determinant(part));
  }
  penalty_.h = std::move(h);
}

double PulseResiduals::off_expected(const Vector& all, Index k) const {
  if (is_size_of_read_noise(k)) return 2 * std::max(log_most_noise - all[k], 0.0);
  return std::pow((all[k] - expected_[k]) * weight_[k], 2);
}

double PulseResiduals::deviance(const Vector& all, bool expected) const {
  Prediction of(reads_);
  double sum = deviance_of(all, of);
  for (Index k = 0; !expected && k < size(); ++k) sum -= off_expected(all, k);
  return expected ? sum : sum - penalty(all);
}

double PulseResiduals::deviance_of(const Vector& all, Prediction& of) const {
  if (!predict(all, of)) return std::numeric_limits<double>::infinity();
  double sum = penalty(all);
  for (Index k = 0; k < size(); ++k) sum += off_expected(all, k);
  return sum + (of.error.array().square() / of.variance.array() + (2 * M_PI * of.variance.array()).log()).sum();
}

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
                     ReadNoiseKind kind, const Vector& at) {
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
LikelihoodFit best_of(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records,
                      ReadNoiseKind kind, const LikelihoodFit* behind) {
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

LikelihoodFit largest_likelihood(const std::vector<DeviceSpec>& guesses, const std::vector<PulseRecord>& records) {
  NUDGE_EXPECT(!guesses.empty());
  LikelihoodFit white = best_of(guesses, records, ReadNoiseKind::white, nullptr);
  if (white.values < least_for_slow || white.is_plain()) return restricted(white, records);
  LikelihoodFit slow = best_of(guesses, records, ReadNoiseKind::white_and_slow, &white);
  return restricted(slow.schwarz() < white.schwarz() ? slow : white, records);
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
