// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "devices/fit/pulse_likelihood.hpp"
#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/student_t.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr int most_tries = 12;
constexpr int most_rounds = 8;         // of better maxima met on the way
constexpr double close_enough = 0.02;  // of the interval's half width
constexpr double farthest = 6;         // coordinates are logarithms and logits: a factor 400 is no interval
constexpr double beyond = 0.5;         // of the coordinate of a bound: 1.6 times as far from the middle
constexpr double better = 0.02;        // of the deviance: what counts as another maximum

/// The profile of one coordinate around a maximum.
class Profile {
 public:
  /// From a maximum, above the lowest deviance of all (`best`).
  Profile(const PulseResiduals& residuals, const Vector& from, const Vector& best, const Eigen::MatrixXd& covariance,
          Index k)
      : residuals_(residuals), best_(from), k_(k), least_(deviance_of(best)), lowest_(residuals.deviance(best, true)) {
    along_ = covariance.col(k) / covariance(k, k);
    width_ = std::sqrt(covariance(k, k));
  }

  /// The deviance above its minimum where coordinate k is `distance` away, from the nearest place on that side that was inside.
  double rise(double distance) {
    residuals_.hold(k_, best_[k_] + distance);
    point_ = inside_ + (distance - inside_at_) * along_;
    residuals_.descend(point_, 3);
    residuals_.hold(-1, 0);
    return deviance_of(point_) - least_;
  }

  /// Where the rise is `allowed`, on the side of `sign`; absent where it stays below up to the farthest coordinate.
  std::optional<double> end(double sign, double allowed) {
    inside_ = best_;
    inside_at_ = 0;
    const double wanted = std::sqrt(allowed);
    double low = 0, low_root = std::sqrt(std::max(deviance_of(best_) - least_, 0.0)), high = 0, high_root = 0;
    double next = std::min(wanted * width_, farthest);
    for (int tries = 0; tries < most_tries; ++tries) {
      const double above = rise(sign * next);
      if (residuals_.deviance(point_, true) < lowest_ - better) return improved_ = true, std::nullopt;
      const double root = std::sqrt(std::max(above, 0.0));
      if (std::abs(root - wanted) < close_enough * wanted) return best_[k_] + sign * next;
      if (root < wanted) {
        if (next >= farthest) return std::nullopt;
        low = next, low_root = root;
        inside_ = point_;
        inside_at_ = sign * next;
      } else {
        high = next, high_root = root;
      }
      if (high == 0) {  // the root of the rise is about straight
        const double straight = root > 0.05 * wanted ? next * wanted / root : 3 * next;
        next = std::min(std::clamp(straight, 1.2 * next, 3 * next), farthest);
      } else {
        const double part = (wanted - low_root) / (high_root - low_root);
        next = low + (high - low) * std::clamp(std::isfinite(part) ? part : 0.5, 0.1, 0.9);
      }
    }
    return best_[k_] + sign * next;
  }

  bool improved() const { return improved_; }
  const Vector& point() const { return point_; }

 private:
  /// What is expected of the number itself is left out: an interval is the record's, and open where that says nothing.
  double deviance_of(const Vector& all) const {
    return residuals_.deviance(all, true) - residuals_.off_expected(all, k_);
  }

  PulseResiduals residuals_;
  const Vector& best_;
  Index k_;
  double least_, lowest_, width_ = 0, inside_at_ = 0;
  Vector along_, inside_, point_;
  bool improved_ = false;
};

void take(LikelihoodFit& fit, const PulseResiduals& residuals, Vector x) {
  residuals.descend(x, 4);
  fit.at = x;
  fit.spec = residuals.spec_of(x);
  fit.noise = residuals.noise_of(x);
}

/// Maxima that a region of this depth holds, the best first. Where a record comes near a bound at most once or twice the likelihood has one
/// maximum with the bound at the outermost reads, and a flat one with it anywhere beyond: a profile that begins in one does not see the other.
std::vector<Vector> maxima_within(PulseResiduals residuals, const Vector& best, double allowed) {
  std::vector<Vector> out = {best};
  const double least = residuals.deviance(best, true);
  for (const auto& [k, outwards] : {std::pair<Index, double>{0, -1}, {1, 1}}) {
    Vector x = best;
    x[k] += outwards * beyond;
    residuals.hold(k, x[k]);
    residuals.descend(x, 2);
    residuals.hold(-1, 0);
    residuals.descend(x, 3);
    const bool other = std::abs(x[k] - best[k]) > 0.05;  // a maximum is known to some 0.01 of the deviance
    if (other && residuals.deviance(x, true) < least + allowed) out.push_back(x);
  }
  return out;
}

/// The widest of both; an end that one leaves open is open.
void join(FittedNumber& number, const FittedNumber& other) {
  const auto wider = [](std::optional<double>& one, const std::optional<double>& two, auto pick) {
    one = one && two ? std::optional<double>(pick(*one, *two)) : std::nullopt;
  };
  wider(number.low, other.low, [](double a, double b) { return std::min(a, b); });
  wider(number.high, other.high, [](double a, double b) { return std::max(a, b); });
}

/// What is left of `counted` values once their numbers are fitted has σ² χ² of `freedom`, and −2 ln L of σ rises by n (ln(n/χ²) + χ²/n − 1)
/// from its maximum to the upper end of the interval of σ, where χ² is the quantile .025: more than that of other numbers in short records.
double depth_above_noise(double counted, double freedom) {
  const double least = boost::math::quantile(boost::math::chi_squared(freedom), 0.025);
  return counted * (std::log(counted / least) + least / counted - 1);
}

}  // namespace

std::vector<FittedNumber> profile_intervals(LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  const DeviceSpec shape = fit.spec;
  PulseResiduals residuals(shape, fit.coordinates, records, fit.kind);
  if (fit.is_long()) residuals.penalise(fit.at);
  residuals.descend(fit.at, 4);
  const std::vector<FitNumber> numbers = residuals.all_numbers();
  const auto of_tables = std::count_if(numbers.begin(), numbers.end(), [](const FitNumber& x) { return x.of_table; });
  const auto n = static_cast<double>(fit.values);
  const double freedom = std::max(n - static_cast<double>(fit.numbers - of_tables), 1.0);
  const double t = student_t_quantile(0.975, static_cast<int>(freedom));
  const double counted = fit.is_long() ? freedom : n;
  const double allowed = counted * std::log1p(t * t / freedom);
  const double allowed_above_noise = std::max(allowed, depth_above_noise(counted, freedom));
  const auto is_noise = [&](std::size_t k) {
    return static_cast<Index>(k) >= residuals.noise_at() && numbers[k].name != "slow_read_pulses";
  };
  for (int round = 0; round <= most_rounds; ++round) {
    const std::vector<Vector> maxima = maxima_within(residuals, fit.at, allowed);
    const auto deviance = [&](const Vector& x) { return residuals.deviance(x, true); };
    const auto lowest = std::min_element(maxima.begin(), maxima.end(),
                                         [&](const Vector& a, const Vector& b) { return deviance(a) < deviance(b); });
    if (round < most_rounds && deviance(*lowest) < deviance(fit.at) - better) {
      take(fit, residuals, *lowest);
      continue;
    }
    std::vector<FittedNumber> out;
    std::optional<Vector> improved;
    for (std::size_t m = 0; m < maxima.size() && !improved; ++m) {
      const Eigen::MatrixXd covariance = residuals.information(maxima[m]).inverse();
      std::size_t place = 0;
      for (std::size_t k = 0; k < numbers.size() && !improved; ++k) {
        if (numbers[k].of_table) continue;
        Profile profile(residuals, maxima[m], fit.at, covariance, static_cast<Index>(k));
        const auto below = profile.end(-1, allowed);
        const auto above =
            profile.improved() ? std::optional<double>() : profile.end(1, is_noise(k) ? allowed_above_noise : allowed);
        if (profile.improved() && round < most_rounds) improved = profile.point();
        FittedNumber number{numbers[k].name, numbers[k].unit, numbers[k].value(fit.at[static_cast<Index>(k)])};
        if (below) number.low = numbers[k].value(*below);
        if (above) number.high = numbers[k].value(*above);
        if (numbers[k].value(1) < numbers[k].value(0)) std::swap(number.low, number.high);
        if (m == 0) {
          out.push_back(std::move(number));
        } else {
          join(out[place], number);
        }
        ++place;
      }
    }
    if (!improved) return out;
    take(fit, residuals, *improved);
  }
  return {};
}

}  // namespace nudge
