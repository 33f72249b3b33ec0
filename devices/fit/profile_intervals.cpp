// SPDX-License-Identifier: Apache-2.0
#include <Eigen/LU>
#include <algorithm>
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
constexpr double better = 0.02;        // of the deviance: what counts as another maximum

/// The profile of one coordinate around the maximum.
class Profile {
 public:
  Profile(const PulseResiduals& residuals, const Vector& best, const Eigen::MatrixXd& covariance, Index k)
      : residuals_(residuals), best_(best), k_(k), least_(deviance_of(best)), lowest_(residuals.deviance(best, true)) {
    along_ = covariance.col(k) / covariance(k, k);
    width_ = std::sqrt(covariance(k, k));
  }

  /// The deviance above its minimum where coordinate k is `distance` away, from the nearest place on that side that was inside.
  double rise(double distance) {
    residuals_.hold(k_, best_[k_] + distance);
    point_ = inside_ + (distance - inside_at_) * along_;
    residuals_.descend(point_, 1);
    residuals_.hold(-1, 0);
    return deviance_of(point_) - least_;
  }

  /// Where the rise is `allowed`, on the side of `sign`; absent where it stays below up to the farthest coordinate.
  std::optional<double> end(double sign, double allowed) {
    inside_ = best_;
    inside_at_ = 0;
    const double wanted = std::sqrt(allowed);
    double low = 0, low_root = 0, high = 0, high_root = 0;
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
  const double allowed = freedom * std::log1p(t * t / freedom);
  for (int round = 0; round <= most_rounds; ++round) {
    const Eigen::MatrixXd covariance = residuals.information(fit.at).inverse();
    std::vector<FittedNumber> out;
    bool improved = false;
    for (std::size_t k = 0; k < numbers.size() && !improved; ++k) {
      if (numbers[k].of_table) continue;
      const Vector best = fit.at;
      Profile profile(residuals, best, covariance, static_cast<Index>(k));
      const auto below = profile.end(-1, allowed);
      const auto above = profile.improved() ? std::optional<double>() : profile.end(1, allowed);
      if (profile.improved() && round < most_rounds) {
        take(fit, residuals, profile.point());
        improved = true;
        continue;
      }
      FittedNumber number{numbers[k].name, numbers[k].unit, numbers[k].value(fit.at[static_cast<Index>(k)])};
      if (below) number.low = numbers[k].value(*below);
      if (above) number.high = numbers[k].value(*above);
      if (numbers[k].value(1) < numbers[k].value(0)) std::swap(number.low, number.high);
      out.push_back(std::move(number));
    }
    if (!improved) return out;
  }
  return {};
}

}  // namespace nudge
