// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_filter.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// A number of each law.
template <std::size_t lanes>
using Lane = Eigen::Array<double, static_cast<int>(lanes), 1>;

template <std::size_t lanes>
Lane<lanes> lane_of(const auto& value_of) {
  Lane<lanes> out;
  for (std::size_t l = 0; l < lanes; ++l) out[static_cast<Index>(l)] = value_of(l);
  return out;
}

/// Mean and covariance of the conductance (place 0) and of `size` − 1 slow noises of reads. The size is known when it is compiled: most
/// records have none, and a filter of one number is a third of a loop over any.
template <std::size_t lanes, std::size_t size>
class Belief {
 public:
  using Numbers = Lane<lanes>;

  explicit Belief(std::span<const RecordNoise> noise)
      : read_S2_(lane_of<lanes>([&](std::size_t l) { return noise[l].read_S * noise[l].read_S; })),
        share2_(lane_of<lanes>([&](std::size_t l) { return noise[l].read_share * noise[l].read_share; })) {
    for (std::size_t k = 1; k < size; ++k) {
      const auto slow = [&](std::size_t l) { return noise[l].slow[k - 1]; };
      keep_[k] = lane_of<lanes>([&](std::size_t l) { return std::exp(-1 / slow(l).pulses); });
      slow_S2_[k] = lane_of<lanes>([&](std::size_t l) { return slow(l).sd_S * slow(l).sd_S; });
    }
  }

  /// Begins with a first read, of which nothing was known.
  void begin(double first_S) {
    for (Numbers& number : mean_) number.setZero();
    for (Numbers& number : covariance_) number.setZero();
    mean_[0].setConstant(first_S);
    at(0, 0) = read_S2_ + share2_ * first_S * first_S;
    for (std::size_t k = 1; k < size; ++k) {
      at(k, k) = slow_S2_[k];
      at(0, 0) += slow_S2_[k];
      at(0, k) = at(k, 0) = -slow_S2_[k];  // what the first read owes to slow noise the conductance does not
    }
  }

  const Numbers& conductance_S() const { return mean_[0]; }
  const Numbers& variance_S2() const { return covariance_[0]; }

  /// Updates by a pulse or a wait, given mean, variance and slope of the conductance it leads to.
  void step(const Numbers& mean, const Numbers& variance, const Numbers& slope) {
    mean_[0] = mean;
    at(0, 0) = variance;
    for (std::size_t k = 1; k < size; ++k) {
      mean_[k] *= keep_[k];
      at(0, k) = at(k, 0) = slope * keep_[k] * at(0, k);
      for (std::size_t l = 1; l < size; ++l) at(k, l) *= keep_[k] * keep_[l];
      at(k, k) += (1 - keep_[k].square()) * slow_S2_[k];
    }
  }

  Numbers predicted_S() const {
    Numbers sum = mean_[0];
    for (std::size_t k = 1; k < size; ++k) sum += mean_[k];
    return sum;
  }

  /// Updates by a read that differs from predicted_S() by `error`; returns the variance of that difference.
  Numbers read(const Numbers& error) {
    std::array<Numbers, size> seen;  // covariance of each with the read
    Numbers total = read_S2_ + share2_ * mean_[0].square();
    for (std::size_t k = 0; k < size; ++k) {
      seen[k] = at(k, 0);
      for (std::size_t l = 1; l < size; ++l) seen[k] += at(k, l);
      total += seen[k];
    }
    const Numbers share = total.inverse();
    for (std::size_t k = 0; k < size; ++k) {
      mean_[k] += seen[k] * share * error;
      for (std::size_t l = 0; l < size; ++l) at(k, l) -= seen[k] * seen[l] * share;
    }
    at(0, 0) = at(0, 0).max(0.0);  // rounding
    return total;
  }

 private:
  Numbers& at(std::size_t k, std::size_t l) { return covariance_[k * size + l]; }

  Numbers read_S2_, share2_;
  std::array<Numbers, size> mean_, keep_, slow_S2_;
  std::array<Numbers, size * size> covariance_;
};

template <std::size_t lanes, std::size_t size>
class PulseFilter {
 public:
  using Numbers = Lane<lanes>;

  PulseFilter(std::span<const PulseLaw> laws, std::span<const RecordNoise> noise, double* error_S, double* variance_S2)
      : laws_(laws),
        noise_(noise),
        lower_(lane_of<lanes>([&](std::size_t l) { return laws[l].lower_S(); })),
        upper_(lane_of<lanes>([&](std::size_t l) { return laws[l].upper_S(); })),
        update2_(lane_of<lanes>([&](std::size_t l) { return noise[l].update * noise[l].update; })),
        up_(laws, Direction::up),
        down_(laws, Direction::down),
        belief_(noise),
        error_S_(error_S),
        variance_S2_(variance_S2) {}

  void run(const PulseRecord& record, bool first) {
    if (first || !record.goes_on) belief_.begin(record.conductance_S[0]);
    for (std::size_t i = 1; i < record.conductance_S.size(); ++i) {
      pulse(record, i);
      read(record.conductance_S[i]);
    }
    double before_s = 0;
    for (const TimedReading& wait : record.waits) {
      const Lines leak(laws_, wait.since_pulse_s - before_s);
      belief_.step(leak.a + leak.b * belief_.conductance_S(), leak.b.square() * belief_.variance_S2(), leak.b);
      read(wait.conductance_S);
      before_s = wait.since_pulse_s;
    }
  }

 private:
  static constexpr PulseLaw::Places weights = {2.0 / 3, 1.0 / 6, 1.0 / 6};
  using Places = std::array<Numbers, std::tuple_size_v<PulseLaw::Places>>;

  /// A line of each law.
  struct Lines {
    bool known = true;
    Numbers a, b;

    Lines(std::span<const PulseLaw> laws, Direction direction) {
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::optional<PlaceLine> line = laws[l].clips_noise() ? std::nullopt : laws[l].line(direction);
        known = known && line;
        set(l, line.value_or(PlaceLine{}));
      }
    }
    Lines(std::span<const PulseLaw> laws, double seconds) {
      for (std::size_t l = 0; l < lanes; ++l) set(l, laws[l].leak(seconds));
    }
    void set(std::size_t l, PlaceLine line) {
      a[static_cast<Index>(l)] = line.a;
      b[static_cast<Index>(l)] = line.b;
    }
  };

  void read(double conductance_S) {
    const Numbers error = conductance_S - belief_.predicted_S();
    Eigen::Map<Numbers> errors(error_S_), variances(variance_S2_);
    errors = error;
    variances = belief_.read(error);
    error_S_ += lanes;
    variance_S2_ += lanes;
  }

  void pulse(const PulseRecord& record, std::size_t i) {
    const Numbers& at = belief_.conductance_S();
    const Numbers far = (3 * belief_.variance_S2()).sqrt();
    Places from = {at, at + far, at - far}, to, scatter;
    Numbers slope = Numbers::Ones();
    for (Numbers& g : from) g = g.max(lower_).min(upper_);
    if (const double pause = record.pause(i); pause > 0) {
      const Lines leak(laws_, pause);
      for (Numbers& g : from) g = leak.a + leak.b * g;
    }
    const Lines& lines = record.direction[i] == Direction::up ? up_ : down_;
    if (lines.known) {
      for (std::size_t k = 0; k < from.size(); ++k) {
        to[k] = (lines.a + lines.b * from[k]).max(lower_).min(upper_);
        scatter[k] = update2_ * (to[k] - from[k]).square();
      }
    } else {
      move_each(record, i, from, to, scatter);
    }
    const Numbers mean = weights[0] * to[0] + weights[1] * to[1] + weights[2] * to[2];
    Numbers variance = Numbers::Zero();
    for (std::size_t k = 0; k < to.size(); ++k) variance += weights[k] * ((to[k] - mean).square() + scatter[k]);
    if (size > 1) slope = (far > 0).select((to[1] - to[2]) / (2 * far), 0);
    belief_.step(mean, variance, slope);
  }

  /// Moves law by law where pulses are not straight.
  void move_each(const PulseRecord& record, std::size_t i, const Places& from, Places& to, Places& scatter) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const auto at = static_cast<Index>(l);
      PulseLaw::Places ends = {from[0][at], from[1][at], from[2][at]};
      laws_[l].move(record, i, ends);
      for (std::size_t k = 0; k < ends.size(); ++k) {
        const PulseEnd end =
            laws_[l].ends(record, i, from[k][at], ends[k], noise_[l].update, noise_[l].floor_of(record.direction[i]));
        to[k][at] = end.mean;
        scatter[k][at] = end.variance;
      }
    }
  }

  std::span<const PulseLaw> laws_;
  std::span<const RecordNoise> noise_;
  Numbers lower_, upper_, update2_;
  Lines up_, down_;
  Belief<lanes, size> belief_;
  double *error_S_, *variance_S2_;
};

template <std::size_t lanes, std::size_t size>
void filter(std::span<const PulseLaw> laws, std::span<const RecordNoise> noise, std::span<const PulseRecord> records,
            double* error_S, double* variance_S2) {
  PulseFilter<lanes, size> one(laws, noise, error_S, variance_S2);
  for (const PulseRecord& record : records) one.run(record, &record == records.data());
}

template <std::size_t lanes>
constexpr std::array<decltype(&filter<lanes, 1>), RecordNoise::most_slow + 1> filters = {
    filter<lanes, 1>, filter<lanes, 2>, filter<lanes, 3>, filter<lanes, 4>, filter<lanes, 5>};

}  // namespace

void filter_records(std::span<const PulseLaw> laws, std::span<const RecordNoise> noise,
                    std::span<const PulseRecord> records, std::span<double> error_S, std::span<double> variance_S2) {
  static_assert(RecordNoise::most_slow == 4);
  NUDGE_EXPECT(laws.size() == noise.size() && (laws.size() == 1 || laws.size() == filter_lanes));
  const std::size_t slow = noise[0].slow.size();
  NUDGE_EXPECT(slow <= RecordNoise::most_slow);
  (laws.size() == 1 ? filters<1> : filters<filter_lanes>)[slow](laws, noise, records, error_S.data(),
                                                                variance_S2.data());
}

void filter_pulses(const PulseLaw& law, const PulseRecord& record, const RecordNoise& noise,
                   Eigen::Ref<Eigen::VectorXd> error_S, Eigen::Ref<Eigen::VectorXd> variance_S2) {
  const auto values = [](Eigen::Ref<Eigen::VectorXd>& of) {
    return std::span(of.data(), static_cast<std::size_t>(of.size()));
  };
  filter_records({&law, 1}, {&noise, 1}, {&record, 1}, values(error_S), values(variance_S2));
}

}  // namespace nudge
