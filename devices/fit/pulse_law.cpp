// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_law.hpp"

#include "devices/fit/fit_numbers.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double longest_step = 0.05;
constexpr int most_steps = 64;  // a pulse that crosses more than three windows has arrived

std::unique_ptr<Memristor> memristor_of(const DeviceSpec& spec) {
  if (spec.model == "vteam") return std::make_unique<Vteam>(vteam_of(spec));
  if (spec.model == "yakopcic") return std::make_unique<Yakopcic>(yakopcic_of(spec));
  return nullptr;
}

double run(const Memristor& memristor, double x, double volts, double width_s) {
  const auto rate = [&](double at) { return memristor.rate(std::clamp(at, 0.0, 1.0), volts); };
  const double way = std::abs(rate(x)) * width_s;
  const int steps = static_cast<int>(std::clamp(std::ceil(way / longest_step), 1.0, static_cast<double>(most_steps)));
  const double h = width_s / steps;
  for (int k = 0; k < steps; ++k) {
    const double a = rate(x), b = rate(x + h / 2 * a), c = rate(x + h / 2 * b), d = rate(x + h * c);
    x = std::clamp(x + h / 6 * (a + 2 * b + 2 * c + d), 0.0, 1.0);
  }
  return x;
}

}  // namespace

bool has_volts(const std::string& model) { return model == "vteam" || model == "yakopcic"; }

bool has_constant_noise(const std::string& model) { return model == "label_curve"; }

PulseLaw::PulseLaw(const DeviceSpec& spec)
    : lower_S_(spec.g_min_S),
      upper_S_(spec.g_max_S),
      constant_noise_(has_constant_noise(spec.model)),
      memristor_(memristor_of(spec)),
      scale_(spec.model == "vteam" ? StateScale::resistance : StateScale::conductance) {
  if (memristor_ != nullptr) return;
  model_ = device_model(spec.model).make(spec);
  steps_ = dynamic_cast<const SingleSteps*>(model_.get());
  NUDGE_EXPECT(steps_ != nullptr);
  const auto [up, down] = steps_of_spec(spec);
  const double width = spec.window_S(), reference = spec.g_reference_S();
  up_ = {0, upper_S_, reference, width, up * width, -1};
  down_ = {0, -lower_S_, -reference, width, down * width, -1};
  if (!constant_noise_) return;
  up_at_upper_S_ = pulse_at_bound_S(Direction::up);
  down_at_lower_S_ = pulse_at_bound_S(Direction::down);
}

double PulseLaw::pulse_at_bound_S(Direction direction) const {
  constexpr double inside = 1e-6;  // of the window: less than the part of a pulse that is sent from there
  constexpr double part = 1e-7;
  const Element<double>& along = direction == Direction::up ? up_ : down_;
  const double from = along.upper - inside * along.width;
  double change = 0;
  steps_->changes(along, direction, part, &from, &change, 1);
  return std::clamp(change, 0.0, inside * along.width) / part;
}

void PulseLaw::move(const PulseRecord& record, std::size_t i, Places& places) const {
  if (memristor_ != nullptr) return move_by_volts(record.volts[i], record.width_s[i], places);
  const Direction direction = record.direction[i];
  const bool up = direction == Direction::up;
  const double sign = up ? 1 : -1;
  Places from{}, change{};
  for (std::size_t k = 0; k < places.size(); ++k) from[k] = sign * places[k];
  steps_->changes(up ? up_ : down_, direction, 1, from.data(), change.data(), static_cast<int>(from.size()));
  for (std::size_t k = 0; k < places.size(); ++k) {
    places[k] = std::clamp(places[k] + sign * change[k], lower_S_, upper_S_);
  }
}

void PulseLaw::move_by_volts(double volts, double width_s, Places& places) const {
  const double width = upper_S_ - lower_S_;
  for (double& g : places) {
    const double x = memristor_state(scale_, g, lower_S_, width);
    g += memristor_change(scale_, x, run(*memristor_, x, volts, width_s) - x, lower_S_, width);
  }
}

// Of pulses at a bound half the noise is lost there where it does not shrink with the pulse: taken for all of it, up to 15 % of it was missing in fits.
// Elsewhere few pulses end so, and a normal distribution of those that nearly always do would be too narrow for the rest.
PulseEnd PulseLaw::clipped_ends(Direction direction, double from, double to, double sigma) const {
  constexpr double beyond = 2;  // deviations: from farther out one in fifty comes back
  const bool up = direction == Direction::up;
  const double noise = sigma * (up ? up_ : down_).step;
  if (up && to >= upper_S_) to = std::clamp(from + up_at_upper_S_, upper_S_, upper_S_ + beyond * noise);
  if (!up && to <= lower_S_) to = std::clamp(from - down_at_lower_S_, lower_S_ - beyond * noise, lower_S_);
  return clipped_normal(to, noise, lower_S_, upper_S_);
}

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record, double first) {
  const PulseLaw law(spec);
  PulseLaw::Places places{};
  places.fill(std::clamp(first, law.lower_S(), law.upper_S()));
  std::vector<double> all{places[0]};
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    law.move(record, i, places);
    all.push_back(places[0]);
  }
  return all;
}

std::vector<double> replay(const DeviceSpec& spec, const PulseRecord& record) {
  const std::vector<double>& g = record.conductance_S;
  const auto off = [&](const std::vector<double>& at) {
    double sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += (g[i] - at[i]) * (g[i] - at[i]);
    return sum;
  };
  double start = std::clamp(g[0], spec.g_min_S, spec.g_max_S);
  const double h = 1e-4 * spec.window_S();
  std::vector<double> best = replay(spec, record, start);
  for (int round = 0; round < 4; ++round) {  // Gauss–Newton in one number
    const double side = start + h > spec.g_max_S ? -h : h;
    const std::vector<double> moved = replay(spec, record, start + side);
    double slope = 0, curvature = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
      const double d = (moved[i] - best[i]) / side;
      slope += d * (g[i] - best[i]);
      curvature += d * d;
    }
    const double next = std::clamp(start + slope / curvature, spec.g_min_S, spec.g_max_S);
    std::vector<double> tried = replay(spec, record, next);
    if (!(off(tried) < off(best))) break;
    start = next;
    best = std::move(tried);
  }
  return best;
}

namespace {

/// Mean and covariance of the conductance (place 0) and of `size` − 1 slow noises of reads. The size is known when it is compiled: most
/// records have none, and a filter of one number is a third of a loop over any.
template <std::size_t size>
class Belief {
 public:
  Belief(const RecordNoise& noise, double first_S) : read_S2_(noise.read_S * noise.read_S) {
    NUDGE_EXPECT(noise.slow.size() + 1 == size);
    mean_[0] = first_S;
    at(0, 0) = read_S2_;
    for (std::size_t k = 1; k < size; ++k) {
      const double variance = noise.slow[k - 1].sd_S * noise.slow[k - 1].sd_S;
      keep_[k] = std::exp(-1 / noise.slow[k - 1].pulses);
      fresh_S2_[k] = (1 - keep_[k] * keep_[k]) * variance;
      at(k, k) = variance;
      at(0, 0) += variance;
      at(0, k) = at(k, 0) = -variance;  // what the first read owes to slow noise the conductance does not
    }
  }

  double conductance_S() const { return mean_[0]; }
  double variance_S2() const { return covariance_[0]; }

  /// Updates by a pulse, given mean, variance and slope of the conductance it leads to.
  void pulse(double mean, double variance, double slope) {
    mean_[0] = mean;
    at(0, 0) = variance;
    for (std::size_t k = 1; k < size; ++k) {
      mean_[k] *= keep_[k];
      at(0, k) = at(k, 0) = slope * keep_[k] * at(0, k);
      for (std::size_t l = 1; l < size; ++l) at(k, l) *= keep_[k] * keep_[l];
      at(k, k) += fresh_S2_[k];
    }
  }

  double predicted_S() const {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += mean_[k];
    return sum;
  }

  /// Updates by a read that differs from predicted_S() by `error`; returns the variance of that difference.
  double read(double error) {
    std::array<double, size> seen{};  // covariance of each with the read
    double total = read_S2_;
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t l = 0; l < size; ++l) seen[k] += at(k, l);
      total += seen[k];
    }
    const double share = 1 / total;
    for (std::size_t k = 0; k < size; ++k) {
      mean_[k] += seen[k] * share * error;
      for (std::size_t l = 0; l < size; ++l) at(k, l) -= seen[k] * seen[l] * share;
    }
    at(0, 0) = std::max(at(0, 0), 0.0);  // rounding
    return total;
  }

 private:
  double& at(std::size_t k, std::size_t l) { return covariance_[k * size + l]; }

  double read_S2_;
  std::array<double, size> mean_{}, keep_{}, fresh_S2_{};
  std::array<double, size * size> covariance_{};
};

template <std::size_t size>
void filter(const PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
            Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2) {
  constexpr PulseLaw::Places weights = {2.0 / 3, 1.0 / 6, 1.0 / 6};
  Belief<size> belief(noise, record.conductance_S[0]);
  for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
    const double at = belief.conductance_S();
    const double far = std::sqrt(3 * belief.variance_S2());
    PulseLaw::Places from = {at, at + far, at - far};
    for (double& g : from) g = std::clamp(g, law.lower_S(), law.upper_S());
    PulseLaw::Places to = from;
    law.move(record, i, to);
    std::array<PulseEnd, to.size()> moved;
    double mean = 0, variance = 0;
    for (std::size_t k = 0; k < to.size(); ++k) {
      moved[k] = law.ends(record, i, from[k], to[k], noise.update);
      mean += weights[k] * moved[k].mean;
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
      variance += weights[k] * ((moved[k].mean - mean) * (moved[k].mean - mean) + moved[k].variance);
    }
    const double slope = size > 1 && far > 0 ? (moved[1].mean - moved[2].mean) / (2 * far) : 0;
    belief.pulse(mean, variance, slope);
    const auto row = static_cast<Eigen::Index>(i) - 1;
    error_S[row] = record.conductance_S[i] - belief.predicted_S();
    variance_S2[row] = belief.read(error_S[row]);
  }
}

}  // namespace

void filter_pulses(const PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
                   Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2) {
  static_assert(RecordNoise::most_slow == 4);
  NUDGE_EXPECT(noise.slow.size() <= RecordNoise::most_slow);
  constexpr std::array<decltype(&filter<1>), RecordNoise::most_slow + 1> by_size = {filter<1>, filter<2>, filter<3>,
                                                                                    filter<4>, filter<5>};
  by_size[noise.slow.size()](law, record, noise, error_S, variance_S2);
}

}  // namespace nudge
