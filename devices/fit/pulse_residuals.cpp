// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

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
                               const std::vector<PulseRecord>& records, NoiseKind kind)
    : spec_(&spec),
      model_(&device_model(spec.model)),
      numbers_(&numbers),
      records_(&records),
      noise_(static_cast<Index>(numbers.numbers.size())),
      kind_(kind),
      range_S_(range_of(records).size()) {
  double sum = 0, values = 0;
  for (const PulseRecord& record : records) {
    reads_ += static_cast<Index>(record.reads());
    for (const double g : record.conductance_S) sum += g, values += 1;
  }
  mean_S_ = sum / values;
  if (unmeasured_direction(records)) floors_ = 1;
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
  if (!kind_.floor) return;
  const RecordNoise noise = noise_of(all);
  spec.update_noise_floor = std::hypot(noise.floor_up, noise.floor_down) / M_SQRT2;
}

DeviceSpec PulseResiduals::spec_of(const Vector& all) const {
  DeviceSpec out = *spec_;
  apply(all, out);
  return out;
}

RecordNoise PulseResiduals::noise_of(const Vector& all) const {
  RecordNoise noise{std::exp(all[noise_]), range_S_ * std::hypot(std::exp(all[noise_ + 1]), floor_of_range), {}};
  if (kind_.slow) noise.slow = {{range_S_ * std::exp(all[noise_ + 2]), slow_pulses(all[noise_ + 3])}};
  if (kind_.floor) {
    noise.floor_up = std::exp(all[floor_at()]);
    noise.floor_down = std::exp(all[floor_at() + floors_ - 1]);
  }
  if (kind_.read_share) noise.read_share = std::exp(all[share_at()]);
  return noise;
}

std::vector<FitNumber> PulseResiduals::numbers_of_noise() const {
  const auto in_S = [range = range_S_](double x) { return range * std::exp(x); };
  const double noise = std::log(std::max(rough_noise(*records_, range_S_), 1e-6));
  std::vector<FitNumber> out;
  out.push_back(
      {"update_noise", "1", {std::log(0.5), std::log(0.05)}, [](double x) { return std::exp(x); }, std::log(0.5), 1.5});
  out.push_back({"read_noise", "S", {noise, noise}, in_S, noise});
  if (kind_.slow) {
    out.push_back({"slow_read_noise", "S", {noise - 1, noise}, in_S, noise});
    out.push_back({"slow_read_pulses", "1", {std::log(10.0), std::log(50.0)}, slow_pulses, std::log(10.0)});
  }
  const auto share = [](double x) { return std::exp(x); };
  const double half = std::log(0.5), percent = std::log(0.01);
  for (Index k = 0; kind_.floor && k < floors_; ++k) {
    const bool up = floors_ == 2 ? k == 0 : unmeasured_direction(*records_) == Direction::down;
    out.push_back(
        {up ? "update_noise_floor_up" : "update_noise_floor_down", "1", {half, std::log(0.05)}, share, half, 1.5});
  }
  if (kind_.read_share) out.push_back({"relative_read_noise", "1", {percent, percent}, share, percent});
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

double PulseResiduals::log_pulse_noise(const Vector& all) const {
  const double share = all[noise_] + log_pulse(all);
  if (!kind_.floor) return share;
  const DeviceSpec spec = spec_of(all);
  const auto [up, down] = steps_of_spec(spec);
  const RecordNoise noise = noise_of(all);
  const double floor = spec.window_S() / range_S_ * std::hypot(up * noise.floor_up, down * noise.floor_down) / M_SQRT2;
  return std::log(std::hypot(std::exp(share), floor));
}

double PulseResiduals::log_read_noise(const Vector& all) const {
  if (!kind_.read_share) return all[noise_ + 1];
  return std::log(std::hypot(std::exp(all[noise_ + 1]), std::exp(all[share_at()]) * mean_S_ / range_S_));
}

double PulseResiduals::penalty(const Vector& all) const {
  return penalty_.h.empty() ? 0 : penalty_.of(log_pulse_noise(all), log_read_noise(all));
}

void PulseResiduals::penalise(const Vector& all) {
  double way = 0, pulses = 0;
  for (const PulseRecord& record : *records_) {
    const std::vector<double> replayed = replay(spec_of(all), record);
    pulses += static_cast<double>(record.pulses());
    for (std::size_t i = 1; i < replayed.size(); ++i) way += std::abs(replayed[i] - replayed[i - 1]);
  }
  penalty_ = {0, std::log(std::max(way / pulses / range_S_, 1e-9)), 0, {}};
  penalty_.ratio = noise_ratio(all);
  const auto prior = weight_.head(noise_).array().square();
  const Eigen::MatrixXd here = information(all).topLeftCorner(noise_, noise_);
  penalty_.determined = static_cast<double>(noise_) - (prior * inverse(here).diagonal().array()).sum();
  const double pulses_here = log_pulse_noise(all), reads_here = log_read_noise(all);
  const double both = std::log(std::hypot(std::exp(pulses_here), std::exp(reads_here)));
  Vector at = all;
  std::vector<double> h;
  for (int k = 0; k < NoisePenalty::places; ++k) {
    const double ratio = NoisePenalty::first + NoisePenalty::step * k;
    const double own_reads = both - 0.5 * std::log1p(std::exp(2 * ratio));
    at[noise_] = all[noise_] + own_reads + ratio - pulses_here;
    at[noise_ + 1] = all[noise_ + 1] + own_reads - reads_here;
    for (Index f = floor_at(); kind_.floor && f < share_at(); ++f) at[f] = all[f] + own_reads + ratio - pulses_here;
    if (kind_.read_share) at[share_at()] = all[share_at()] + own_reads - reads_here;
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

double heaviness_of_tails(const PulseResiduals& residuals, const Eigen::VectorXd& at) {
  PulseResiduals::Prediction of(residuals.reads());
  if (!residuals.predict(at, of)) return 1;
  const auto squares = of.error.array().square() / of.variance.array();
  const double excess = squares.square().mean() / std::pow(squares.mean(), 2) - 3;
  return excess > 3 * std::sqrt(24 / static_cast<double>(residuals.reads())) ? 1 + excess / 2 : 1;
}

}  // namespace nudge
