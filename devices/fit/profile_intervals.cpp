// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "devices/fit/pulse_law.hpp"
#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

using Vector = Eigen::VectorXd;

constexpr int most_tries = 12;
constexpr int most_passes = 6;         // of ends that were none
constexpr Index at_once = 4;           // numbers; a better maximum that they meet moves all
constexpr int most_rounds = 8;         // of better maxima met on the way
constexpr double close_enough = 0.02;  // of the interval's half width
constexpr double farthest = 6;         // coordinates are logarithms and logits: a factor 400 is no interval
constexpr double beyond = 0.5;         // of the coordinate of a bound: 1.6 times as far from the middle
constexpr double rough = 0.01;         // of the deviance of a maximum of a region
constexpr double rough_share = 0.003;  // of an interval's depth, of a place of a profile
constexpr double better_by = 0.1;      // of the deviance: another maximum; less moves an end by less than close_enough

/// Maximum, or a place of its region that a descent from it does not find.
struct Maximum {
  Vector at;
  Eigen::MatrixXd covariance;
  PulseSlopes slopes;
};

/// Profile of one coordinate over all maxima of a region, above the first and lowest.
class Profile {
 public:
  /// chance: part of the depth that a maximum gains by chance.
  Profile(const PulseResiduals& residuals, const std::vector<Maximum>& maxima, Index k, double chance)
      : residuals_(residuals),
        maxima_(maxima),
        k_(k),
        chance_(chance),
        least_(deviance_of(maxima[0].at)),
        lowest_(residuals.deviance(maxima[0].at, true)),
        met_({{maxima[0].at[k], 0}}) {}

  /// End of the interval: the coordinate where the rise is `allowed`, on the side of `sign` of the outermost maximum. Absent
  /// where the rise stays below up to the farthest coordinate. Narrow bends lead descents astray: an end counts where neither a
  /// maximum nor the last place inside leads to a lower place there. One more place is met half way up.
  std::optional<double> end(double sign, double allowed) {
    const auto outer = [&](const Maximum& a, const Maximum& b) { return sign * a.at[k_] < sign * b.at[k_]; };
    const Maximum& from = *std::max_element(maxima_.begin(), maxima_.end(), outer);
    inside_ = from.at;
    along_ = from.covariance.col(k_) / from.covariance(k_, k_);
    first_ = inside_[k_];
    enough_ = rough_share * allowed;
    slopes_ = from.slopes;
    double step = std::sqrt(allowed * from.covariance(k_, k_));
    for (int passes = 1;; ++passes) {
      const double began = inside_[k_];
      const auto found = next_end(sign, allowed, step);
      if (!found) return found;
      if (passes == most_passes || !is_lower_elsewhere(*found, allowed)) {
        meet_half_way(*found, allowed);
        return improved() ? std::nullopt : found;
      }
      if (improved()) return std::nullopt;
      step = 0.5 * std::abs(inside_[k_] - began);
    }
  }

  bool improved() const { return improved_; }
  const Vector& point() const { return point_; }
  /// Places met so far, coordinate and rise, that of the maximum first.
  const std::vector<NumberProfile::Point>& met() const { return met_; }

 private:
  /// Rise of the deviance above its minimum where coordinate k is `at`, by a descent from x.
  double rise(double at, Vector& x, PulseSlopes* slopes) {
    residuals_.hold(k_, at);
    const double found = residuals_.descend(x, enough_, slopes);
    residuals_.hold(-1, 0);
    improved_ = found < lowest_ - better_by;
    const double risen = found - residuals_.off_expected(x, k_) - least_;
    met_.push_back({at, std::max(risen, 0.0)});
    return risen;
  }

  /// Next end beyond the farthest place that was inside.
  std::optional<double> next_end(double sign, double allowed, double step) {
    const double wanted = std::sqrt(allowed), last = first_ + sign * farthest;
    const auto root_of = [](double above) { return std::sqrt(std::max(above, 0.0)); };
    double low_root = root_of(deviance_of(inside_) - least_), high_root = 0;
    std::optional<double> high;
    double next = inside_[k_] + sign * step;
    for (int tries = 0; tries < most_tries; ++tries) {
      if (sign * next > sign * last) next = last;
      point_ = inside_ + (next - inside_[k_]) * along_;
      const double root = root_of(rise(next, point_, &slopes_));
      if (improved_) return std::nullopt;
      if (std::abs(root - wanted) < close_enough * wanted) return next;
      const double walked = std::abs(next - inside_[k_]);
      if (root < wanted) {
        if (next == last) return std::nullopt;
        low_root = root;
        step_inside(next);
      } else {
        high = next, high_root = root;
      }
      if (high) {
        const double part = (wanted - low_root) / (high_root - low_root);
        next = inside_[k_] + (*high - inside_[k_]) * std::clamp(std::isfinite(part) ? part : 0.5, 0.1, 0.9);
      } else {  // the root of the rise is about straight
        const double way = std::max(walked, std::abs(next - first_));
        next += sign * std::clamp(way * (wanted / std::max(root, 1e-3) - 1), 0.2 * way, way);
      }
    }
    return next;
  }

  /// Moves the search to point_, at this coordinate. From there it follows the valley.
  void step_inside(double at) {
    inside_ = point_;
    inside_[k_] = at;
    const Vector column = inverse(residuals_.information(inside_, slopes_)).col(k_);
    along_ = column / column[k_];
  }

  /// Lower one of two places at coordinate k: as a maximum is but for this coordinate, and along its valley, where its others follow.
  Vector start_at(double at, const Maximum& from) const {
    Vector apart = from.at, along = from.at + (at - from.at[k_]) / from.covariance(k_, k_) * from.covariance.col(k_);
    apart[k_] = along[k_] = at;
    return residuals_.deviance(along, true) < residuals_.deviance(apart, true) ? along : apart;
  }

  /// True if some maximum, or the last place inside, leads to a place there that is clearly inside. The search then goes on from it.
  bool is_lower_elsewhere(double at, double allowed) {
    const auto leads = [&](const Vector& from, PulseSlopes slopes) {
      point_ = from;
      if (rise(at, point_, &slopes) > 0.9 * allowed) return false;
      slopes_ = std::move(slopes);
      step_inside(at);
      return true;
    };
    const auto any = [&](const Maximum& maximum) { return leads(start_at(at, maximum), maximum.slopes); };
    return (inside_[k_] != first_ && leads(inside_, {})) || std::any_of(maxima_.begin(), maxima_.end(), any);
  }

  /// Meets a place where the root of the rise, without the gain by chance, is about half of that at the end. Where a flat profile
  /// has a steep end, halvings find it.
  void meet_half_way(double end, double allowed) {
    constexpr int most_halvings = 6;
    double inner = first_, outer = end;
    for (int k = 0; k < most_halvings && !improved_; ++k) {
      const double next = (inner + outer) / 2;
      point_ = inside_ + (next - inside_[k_]) * along_;
      const double risen = rise(next, point_, &slopes_) / allowed - chance_;
      const double part = std::sqrt(std::max(risen, 0.0) / (1 - chance_));
      if (part > 0.35 && part < 0.75) return;
      if (part < 0.5) {
        step_inside(next);
        inner = next;
      } else {
        outer = next;
      }
    }
  }

  /// Deviance without the expected value of the number itself: an interval is the record's, and open where the record does not close it.
  double deviance_of(const Vector& all) const {
    return residuals_.deviance(all, true) - residuals_.off_expected(all, k_);
  }

  PulseResiduals residuals_;
  const std::vector<Maximum>& maxima_;
  Index k_;
  double chance_, least_, lowest_, first_ = 0, enough_ = 0;
  std::vector<NumberProfile::Point> met_;
  Vector along_, inside_, point_;
  PulseSlopes slopes_;  ///< of the search for the present end
  bool improved_ = false;
};

void take(LikelihoodFit& fit, const PulseResiduals& residuals, Vector x) {
  residuals.descend(x, PulseResiduals::converged);
  fit.at = x;
  fit.spec = residuals.spec_of(x);
  fit.noise = residuals.noise_of(x);
}

/// Region where the deviance is within some depth of its minimum.
struct Region {
  std::vector<Maximum> maxima;  ///< maxima of the region, the fit's own first
  bool reaches_bounds = true;   ///< false: also within the depth with a bound farther out
};

/// Maxima in a region of this depth: the ends of other searches, as with a curve that bends the other way, and those with bounds
/// farther out. If a record comes near a bound at most once or twice, the likelihood has one maximum with the bound at the
/// outermost reads. It has another, flat one with the bound anywhere beyond: a profile that begins in one does not see the other.
Region region_of(PulseResiduals residuals, const LikelihoodFit& fit, double depth) {
  Region out;
  std::vector<Maximum>& maxima = out.maxima;
  const auto keep = [&](const Vector& x) {
    PulseSlopes slopes;
    Eigen::MatrixXd covariance = inverse(residuals.information(x, &slopes));
    maxima.push_back({x, std::move(covariance), std::move(slopes)});
  };
  keep(fit.at);
  const double least = residuals.deviance(fit.at, true);
  const auto add = [&](Vector x, double apart) {
    const auto known = [&] {
      return std::any_of(maxima.begin(), maxima.end(), [&](const Maximum& other) {
        return (x - other.at).head(residuals.noise_at()).lpNorm<Eigen::Infinity>() < apart;
      });
    };
    if (known()) return;
    const double found = residuals.descend(x, rough);
    if (!known() && found < least + depth) keep(x);
  };
  for (const Vector& x : fit.others) add(x, 0.3);  // a flat maximum ends a search early
  for (const auto& [k, outwards] : {std::pair<Index, double>{0, -1}, {1, 1}}) {
    Vector x = fit.at;
    x[k] += outwards * beyond;
    residuals.hold(k, x[k]);
    const double found = residuals.descend(x, rough);
    residuals.hold(-1, 0);
    // Within the region, though no maximum: bounds that reads touch have kinks there, on which a descent from the maximum stays.
    if (found < least + depth) {
      keep(x);
      out.reaches_bounds = false;
    }
    add(std::move(x), 0.05);  // a maximum is known to some 0.01 of the deviance
  }
  return out;
}

/// Count of numbers of a region. In short records the curve bends after noise of pulses, whose maximum is then too low for all
/// numbers: their intervals are those of the region that a number has together with both noises. In long ones that do not reach
/// a bound it may lie at any of many outermost reads, the best of which gains by chance: a number counts together with that bound.
int joint_numbers(bool is_long, bool reaches_bounds) { return is_long ? (reaches_bounds ? 1 : 2) : 3; }

/// Number of coordinates that the record determines. A value of a table that the record tells no better than its expectation counts as none.
double determined_numbers(const PulseResiduals& residuals, const Vector& at) {
  const Eigen::VectorXd variance = inverse(residuals.information(at)).diagonal();
  double sum = 0;
  for (Index k = 0; k < residuals.size(); ++k) {
    const FitNumber& number = residuals.all_numbers()[static_cast<std::size_t>(k)];
    sum += number.of_table ? 1 - variance[k] / (number.deviation * number.deviation) : 1;
  }
  return sum;
}

/// Factor of the depth for a bound that stops pulses. It is a threshold: reads tell from which of them on pulses are cut. Its likelihood
/// ratio has the distribution (1 − exp(−x/2))² (Hansen, Econometrica 68:575 (2000), theorem 2), whose 95 % point is −2 ln(1 − √0.95) =
/// 7.35, not χ²(0.95, 1) = 3.84.
constexpr double of_threshold = 7.352 / 3.841;

/// Depth of a region, and what makes it.
struct RegionDepth {
  double counted, freedom;  ///< values that count, and what the numbers leave of them
  int joint = 1;
  double heavy = 1;                      ///< heaviness_of_tails()
  double allowed = 0, above_noise = 0;   ///< rise to the ends of an interval, and to the upper end of noise
  std::array<double, 2> at_bounds = {};  ///< rise to the ends of the lower and of the upper bound
  double chance = 0;                     ///< part of the depth that a maximum gains by chance
};

RegionDepth depth_of_region(const LikelihoodFit& fit, const PulseResiduals& residuals, RegionDepth of,
                            bool reaches_bounds) {
  of.joint = joint_numbers(fit.is_long(), reaches_bounds);
  of.heavy = fit.is_long() ? heaviness_of_tails(residuals, fit.at) : 1;
  const double depth = depth_of(of.joint, of.counted, of.freedom);
  of.allowed = of.heavy * depth;
  of.above_noise = std::max(of.allowed, depth_of_noise(of.counted, of.freedom, 0.025));
  const double single = depth_of(1, of.counted, of.freedom);
  const PulseLaw law(fit.spec, device_model(fit.spec.model));
  for (const std::size_t k : {0, 1}) {
    const bool cuts = law.cuts_pulses(k == 0 ? Direction::down : Direction::up);
    of.at_bounds[k] = cuts ? std::max(of.allowed, of.heavy * of_threshold * single) : of.allowed;
  }
  of.chance = 1 - single / depth;
  return of;
}

/// Interval of number k over a region. `better` takes a better maximum that the search meets; null: it may not.
FittedNumber interval_of(const PulseResiduals& residuals, const std::vector<Maximum>& maxima, const RegionDepth& depth,
                         Index k, std::optional<Vector>* better) {
  const FitNumber& of = residuals.all_numbers()[static_cast<std::size_t>(k)];
  const double top = maxima[0].at[k];
  FittedNumber out{of.name, of.unit, of.value(top)};
  const bool is_noise = k >= residuals.noise_at() && of.name != "slow_read_pulses";
  const double below = k < 2 ? depth.at_bounds[static_cast<std::size_t>(k)] : depth.allowed;
  const double above = is_noise ? depth.above_noise : below;
  Profile profile(residuals, maxima, k, depth.chance);
  const auto find = [&](std::optional<double>& end, double sign, double allowed) {
    const auto coordinate = better != nullptr && *better ? std::nullopt : profile.end(sign, allowed);
    if (coordinate) end = of.value(*coordinate);
    if (profile.improved() && better != nullptr) *better = profile.point();
  };
  find(out.low, -1, below);
  find(out.high, 1, above);
  out.profile = {{}, !out.low, !out.high, depth.joint, depth.counted, depth.freedom};
  for (const auto& [coordinate, rise] : profile.met()) {
    const double allowed_here = coordinate > top ? above : below;
    out.profile.points.push_back({of.scaled(coordinate), rise * depth.allowed / (allowed_here * depth.heavy)});
  }
  if (of.value(1) < of.value(0)) std::swap(out.low, out.high);
  return out;
}

/// Intervals of all numbers but those of tables; or, if it may be looked for, a better maximum that a search has met.
std::vector<FittedNumber> intervals_over(const PulseResiduals& residuals, const std::vector<Maximum>& maxima,
                                         const RegionDepth& depth, bool may_improve, std::optional<Vector>& better) {
  std::vector<Index> numbers;
  for (Index k = 0; k < residuals.size(); ++k) {
    if (!residuals.all_numbers()[static_cast<std::size_t>(k)].of_table) numbers.push_back(k);
  }
  const auto count = static_cast<Index>(numbers.size());
  std::vector<FittedNumber> all(numbers.size());
  std::vector<std::optional<Vector>> met(numbers.size());
  for (Index first = 0; first < count; first += at_once) {
    parallel_for(std::min(at_once, count - first), 0, [&](Index i, int) {
      const auto at = static_cast<std::size_t>(first + i);
      all[at] = interval_of(residuals, maxima, depth, numbers[at], may_improve ? &met[at] : nullptr);
    });
    const auto found = std::find_if(met.begin(), met.end(), [](const auto& x) { return x.has_value(); });
    if (found == met.end()) continue;
    better = *found;
    break;
  }
  return all;
}

/// Profile intervals of all numbers; moves `fit` should a better maximum be met.
std::vector<FittedNumber> profiles(LikelihoodFit& fit, PulseResiduals& residuals) {
  take(fit, residuals, fit.at);
  const auto n = static_cast<double>(fit.values);
  RegionDepth depth{};
  depth.freedom = std::max(n - determined_numbers(residuals, fit.at), 1.0);
  depth.counted = fit.is_long() ? depth.freedom : n;
  const double deepest = std::max(depth_of(joint_numbers(fit.is_long(), false), depth.counted, depth.freedom),
                                  of_threshold * depth_of(1, depth.counted, depth.freedom));
  for (int round = 0;; ++round) {
    const bool may_improve = round < most_rounds;
    Region region = region_of(residuals, fit, deepest);
    std::vector<Maximum>& maxima = region.maxima;
    const auto deviance = [&](const Maximum& x) { return residuals.deviance(x.at, true); };
    const double least = deviance(maxima[0]);
    const auto lowest = std::min_element(maxima.begin(), maxima.end(),
                                         [&](const Maximum& a, const Maximum& b) { return deviance(a) < deviance(b); });
    if (may_improve && deviance(*lowest) < least - better_by) {
      take(fit, residuals, lowest->at);
      continue;
    }
    depth = depth_of_region(fit, residuals, depth, region.reaches_bounds);
    const double farthest_end = std::max(depth.at_bounds[0], depth.at_bounds[1]);
    std::erase_if(maxima, [&](const Maximum& other) { return deviance(other) > least + farthest_end; });
    std::optional<Vector> better;
    std::vector<FittedNumber> all = intervals_over(residuals, maxima, depth, may_improve, better);
    if (!better) return all;
    take(fit, residuals, *better);
  }
}

/// Widens an interval to span both; an end that one of them leaves open is open.
void join(FittedNumber& number, const FittedNumber& other) {
  const auto wider = [](std::optional<double>& one, const std::optional<double>& two, auto pick) {
    one = one && two ? std::optional<double>(pick(*one, *two)) : std::nullopt;
  };
  wider(number.low, other.low, [](double a, double b) { return std::min(a, b); });
  wider(number.high, other.high, [](double a, double b) { return std::max(a, b); });
  number.profile.open_low |= other.profile.open_low;
  number.profile.open_high |= other.profile.open_high;
}

}  // namespace

std::vector<FittedNumber> profile_intervals(LikelihoodFit& fit, const std::vector<PulseRecord>& records) {
  const DeviceSpec shape = fit.spec;
  const Vector before = fit.at;
  PulseResiduals residuals(shape, fit.coordinates, records, fit.kind);
  if (fit.is_long()) residuals.penalise(fit.penalty);
  std::vector<FittedNumber> out = profiles(fit, residuals);
  if (fit.at != before) renew_criteria(fit, records);
  const std::vector<FitNumber>& all = residuals.all_numbers();
  const bool tables = std::any_of(all.begin(), all.end(), [](const FitNumber& number) { return number.of_table; });
  if (fit.is_long() || !tables) return out;
  // Tables have so many numbers that they take all noise of pulses of a short record, and what is then taken back is too much: the truth
  // lies between the two.
  LikelihoodFit restricted = fit;
  residuals.penalise(fit.at);
  const std::vector<FittedNumber> others = profiles(restricted, residuals);
  for (std::size_t k = 0; k < out.size() && k < others.size(); ++k) join(out[k], others[k]);
  return out;
}

}  // namespace nudge
