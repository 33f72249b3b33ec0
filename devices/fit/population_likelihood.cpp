// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/population_likelihood.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>

#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr double score_at_end = 1.959964;  // of a standard normal number at the end of an interval of 95 %
constexpr double least_spread = 1e-6;      // a factor 1 + 10^-6
constexpr double most_spread = 3;          // a factor 20
constexpr double farthest = 8;             // a factor 3000

/// One side of a device's profile, as normal scores over the distance from its most likely value.
struct ProfileSide {
  bool closed = false;
  double edge = 0, scale = 0;                     ///< where the score leaves 0, and how far it takes to 1
  std::vector<std::pair<double, double>> scores;  ///< distance, score; both ascend

  /// Score at a distance: straight between places, and straight on beyond a closed end.
  double score(double distance) const;
  /// Distance of a score that the side reaches.
  double distance_of(double score) const;
};

double ProfileSide::score(double distance) const {
  if (closed && distance >= scores.back().first) {
    return scores.back().second + (distance - scores.back().first) / scale;
  }
  for (std::size_t k = 1; k < scores.size(); ++k) {
    const auto [x, z] = scores[k];
    const auto [x0, z0] = scores[k - 1];
    if (distance < x) return z0 + (z - z0) * std::max(distance - x0, 0.0) / (x - x0);
  }
  return scores.back().second;
}

double ProfileSide::distance_of(double score) const {
  for (std::size_t k = 1; k < scores.size(); ++k) {
    const auto [x, z] = scores[k];
    const auto [x0, z0] = scores[k - 1];
    if (z >= score && z > z0) return x0 + (x - x0) * (score - z0) / (z - z0);
  }
  return scores.back().first * score / std::max(scores.back().second, 0.1);
}

/// Points of one side from the maximum outwards. A descent may end too high: no point is above one farther out.
std::vector<NumberProfile::Point> side_of_profile(const NumberProfile& profile, NumberProfile::Point top, double sign) {
  std::vector<NumberProfile::Point> side = {top};
  for (const NumberProfile::Point& p : profile.points) {
    if (sign * (p.at - top.at) > 0) side.push_back(p);
  }
  std::sort(side.begin(), side.end(), [&](const auto& a, const auto& b) { return sign * a.at < sign * b.at; });
  for (std::size_t k = side.size() - 1; k-- > 0;) side[k].rise = std::min(side[k].rise, side[k + 1].rise);
  return side;
}

/// Side of a profile. The root of the rise is straight between its points. Its first part, which a maximum gains by chance, counts as flat.
/// A flat profile ends steeply: its score begins where the line through the end and half of its score leads to 0.
ProfileSide scores_of(const NumberProfile& profile, NumberProfile::Point top, double sign) {
  constexpr int parts = 8;
  const double depth = depth_of(profile.joint, profile.counted, profile.freedom);
  const double own = depth_of(1, profile.counted, profile.freedom);
  ProfileSide out;
  out.closed = !(sign < 0 ? profile.open_low : profile.open_high);
  const std::vector<NumberProfile::Point> points = side_of_profile(profile, top, sign);
  out.scores = {{0, 0}};
  if (out.closed && points.size() == 1) out.scores.emplace_back(least_spread, score_at_end);  // a wall
  for (std::size_t k = 1; k < points.size(); ++k) {
    const double from = std::sqrt(std::max(points[k - 1].rise, 0.0)), to = std::sqrt(std::max(points[k].rise, 0.0));
    for (int j = 1; j <= parts; ++j) {
      const double share = static_cast<double>(j) / parts, root = from + share * (to - from);
      const double at = points[k - 1].at + share * (points[k].at - points[k - 1].at);
      out.scores.emplace_back(sign * (at - top.at),
                              score_at_end * std::sqrt(std::max(root * root - (depth - own), 0.0) / own));
    }
  }
  if (!out.closed) return out;
  const double end = out.distance_of(score_at_end), half = out.distance_of(score_at_end / 2);
  for (const auto& [distance, score] : out.scores) {
    if (score == 0) out.edge = std::max(out.edge, std::min(distance, half));
  }
  const double flat =
      (2 * half - end) / half;  // 1 of a wall, 0 of a parabola, some 0.2 of the steep side of 1/x with errors of 30 %
  out.edge = std::max(out.edge, std::clamp((flat - 0.2) / 0.2, 0.0, 1.0) * (2 * half - end));
  out.scale = std::max((end - out.edge) / score_at_end, 1e-12);
  out.scores = {{out.edge, 0}, {half, score_at_end / 2}, {end, score_at_end}};
  return out;
}

/// Profile of a device.
struct DeviceCurve {
  double top;
  ProfileSide low, high;

  explicit DeviceCurve(const NumberProfile& profile) {
    NUDGE_EXPECT(!profile.points.empty());
    const auto less = [](const auto& a, const auto& b) { return a.rise < b.rise; };
    const NumberProfile::Point best = *std::min_element(profile.points.begin(), profile.points.end(), less);
    top = best.at;
    low = scores_of(profile, best, -1);
    high = scores_of(profile, best, 1);
  }

  const ProfileSide& side(double sign) const { return sign < 0 ? low : high; }
  double edge(double sign) const { return top + sign * side(sign).edge; }
  double scale(double sign) const { return side(sign).closed ? side(sign).scale : side(-sign).scale; }

  /// Score of a mean, beyond the device's edge on this side. Within the edge it is the mirrored one: a flat profile does not say that its
  /// device lies in the middle.
  double score(double sign, double mean) const {
    const ProfileSide &own = side(sign), &other = side(-sign);
    const double outwards = sign * (mean - top), scored = outwards < 0 && other.closed ? -other.score(-outwards) : 0;
    if (!own.closed) return outwards < 0 ? scored : own.score(outwards);
    return outwards >= own.edge ? own.score(outwards) : std::min(scored, -own.score(2 * own.edge - outwards));
  }

  /// Distance that takes the score to the next at a mean. It does not depend on the device's own number, as its error may.
  double error_at(double sign, double mean) const {
    constexpr double most = 1e3;  // of its error: the score of an open side does not change
    const double step = scale(sign) / 2;
    const double rise = sign * (score(sign, mean + step) - score(sign, mean - step));
    return 2 * step / std::max(rise, 1 / most);
  }
};

/// Outermost place on a side of `from` where f is below `allowed`, with distances that grow up to `reach`; absent if it is at
/// the reach too.
template <class F>
std::optional<double> end_of(const F& f, double from, double sign, double first, double reach, double allowed) {
  double inside = 0, outside = 0;
  for (double way = first;; way = std::min(1.5 * way, reach)) {
    if (f(from + sign * way) <= allowed) {
      inside = way;
    } else if (outside <= inside) {
      outside = way;
    }
    if (way >= reach) break;
  }
  if (inside >= reach) return std::nullopt;
  for (int k = 0; k < 20; ++k) {
    const double middle = (inside + outside) / 2;
    (f(from + sign * middle) <= allowed ? inside : outside) = middle;
  }
  return from + sign * inside;
}

double chi_square(double freedom, double share) {
  return boost::math::quantile(boost::math::chi_squared(freedom), share);
}

/// Edges of the devices on one side: y with errors s and a normal spread τ between devices.
class EdgesOfDevices {
 public:
  EdgesOfDevices(const std::vector<DeviceCurve>& devices, double sign) : sign_(sign) {
    for (const DeviceCurve& device : devices) {
      if (device.side(sign).closed) closed_.push_back(device);
      if (device.low.closed || device.high.closed) telling_.push_back(device);
    }
    if (!tells()) return;
    spread_ = spread_of(freedom());
    weighed_with_ =
        spread_of(chi_square(freedom(), 0.25));  // of too small a spread one precise device would be the mean
  }

  bool tells() const { return closed_.size() > 1; }
  double freedom() const { return static_cast<double>(closed_.size()) - 1; }
  double spread() const { return spread_; }
  double mean() const { return weighted(spread_).first; }

  /// τ of which Σ (y − mean)²/(τ² + s²) is this; 0 where it is less at any τ.
  double spread_of(double squares) const {
    double low = std::log(least_spread), high = std::log(most_spread);
    if (weighted(std::exp(low)).second <= squares) return 0;
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (weighted(std::exp(middle)).second > squares ? low : high) = middle;
    }
    return std::exp(low);
  }

  /// End of the mean's interval.
  std::optional<double> end() const {
    if (!tells()) return std::nullopt;
    const double t = student_t_quantile(0.975, static_cast<int>(telling_.size()) - 1);
    const auto off = [&](double mean) { return student(mean, t); };
    return end_of(off, mean(), sign_, 1e-2 * least_spread, farthest, t);
  }

 private:
  /// Mean with weights 1/(τ² + s²), and the squares around it.
  std::pair<double, double> weighted(double spread) const {
    double sum = 0, mean = 0, squares = 0;
    const auto weight = [&](const DeviceCurve& d) { return 1 / (spread * spread + std::pow(d.scale(sign_), 2)); };
    for (const DeviceCurve& d : closed_) sum += weight(d), mean += weight(d) * d.edge(sign_);
    mean /= sum;
    for (const DeviceCurve& d : closed_) squares += weight(d) * std::pow(d.edge(sign_) - mean, 2);
    return {mean, squares};
  }

  /// Student's t of the distances of the devices from a mean. Their errors bound its denominator.
  double student(double mean, double t) const {
    const auto n = static_cast<double>(telling_.size());
    double sum = 0, off = 0, squares = 0, errors = 0;
    for (const DeviceCurve& d : telling_) {
      const double s = d.error_at(sign_, mean), x = s * d.score(sign_, mean),
                   w = 1 / (std::pow(weighed_with_, 2) + s * s);
      sum += w, off += w * x, squares += w * x * x, errors += w * w * s * s;
    }
    const double q = std::max(squares - off * off / sum, 0.0) / (n - 1);
    return off / std::max(std::sqrt(q * sum), score_at_end / t * std::sqrt(errors));
  }

  double sign_, spread_ = 0, weighed_with_ = 0;
  std::vector<DeviceCurve> closed_, telling_;
};

}  // namespace

NumberOverDevices number_over_devices(const std::vector<NumberProfile>& profiles) {
  NUDGE_EXPECT(profiles.size() > 1);
  const std::vector<DeviceCurve> devices(profiles.begin(), profiles.end());
  const EdgesOfDevices low(devices, -1), high(devices, 1);
  NumberOverDevices out;
  out.mean_low = low.end();
  out.mean_high = high.end();
  double sides = 0, flat = 0;
  for (const EdgesOfDevices* side : {&low, &high}) {
    if (!side->tells()) continue;
    out.mean += side->mean();
    out.deviation += side->spread();
    ++sides;
  }
  if (sides > 0) out.mean /= sides, out.deviation /= sides;
  for (const DeviceCurve& one : devices) {
    if (sides == 0) out.mean += one.top / static_cast<double>(devices.size());
    if (one.low.closed && one.high.closed) flat = std::max(flat, (one.edge(1) - one.edge(-1)) / 2);
  }
  if (sides < 2) return out;
  const auto end = [](const EdgesOfDevices& side, double share) {
    return side.spread_of(chi_square(side.freedom(), share));
  };
  const double least = std::min(end(low, 0.975), end(high, 0.975)), n = std::max(low.freedom(), high.freedom()) + 1;
  if (flat < least) out.deviation_low = least;
  const double most = std::hypot(std::max(end(low, 0.025), end(high, 0.025)), flat * std::sqrt(n / (n - 1)));
  if (most < most_spread / 2) out.deviation_high = most;
  return out;
}

namespace {

/// Moves the ends of the mean into the range that the number can have in some device: a bound lies beyond the middle of the reads.
void keep_in_domain(SharedNumber& shared, const std::vector<DeviceFit>& each) {
  constexpr double farthest_coordinate = 30;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const DeviceFit& one : each) {
    for (const FitNumber& number : one.fit.likelihood.coordinates.numbers) {
      if (number.name != shared.number.name) continue;
      low = std::min(low, number.scaled(-farthest_coordinate));
      high = std::max(high, number.scaled(farthest_coordinate));
    }
  }
  if (!(low < high)) return;  // noise, which has no other range
  if (shared.over.mean_low) shared.over.mean_low = std::max(*shared.over.mean_low, low);
  if (shared.over.mean_high) shared.over.mean_high = std::min(*shared.over.mean_high, high);
}

}  // namespace

std::vector<SharedNumber> shared_numbers(const std::vector<DeviceFit>& each, const std::vector<PulseRecord>& cycles) {
  std::vector<SharedNumber> out;
  std::vector<std::vector<NumberProfile>> profiles;
  const LikelihoodFit& first = each.front().fit.likelihood;
  const PulseResiduals residuals(first.spec, first.coordinates, cycles, first.kind);
  for (const FitNumber& number : residuals.all_numbers()) {
    std::vector<NumberProfile> of_devices;
    for (const DeviceFit& one : each) {
      const auto& all = one.fit.intervals;
      const auto own = std::find_if(all.begin(), all.end(), [&](const auto& n) { return n.name == number.name; });
      if (own != all.end()) of_devices.push_back(own->profile);
    }
    if (of_devices.size() < each.size()) continue;  // a table's, or slow noise that not all have
    out.push_back({number});
    profiles.push_back(std::move(of_devices));
  }
  parallel_for(static_cast<Index>(out.size()), 0, [&](Index k, int) {
    const auto at = static_cast<std::size_t>(k);
    out[at].over = number_over_devices(profiles[at]);
    keep_in_domain(out[at], each);
  });
  return out;
}

PulseFit fit_among(const PulseFit& alone, const std::vector<PulseRecord>& cycles,
                   const std::vector<SharedNumber>& shared) {
  const LikelihoodFit& own = alone.likelihood;
  PulseResiduals residuals(own.spec, own.coordinates, cycles, own.kind);
  bool lent = false;
  for (Index k = 0; k < residuals.noise_at(); ++k) {
    const FitNumber& number = residuals.all_numbers()[static_cast<std::size_t>(k)];
    const auto of =
        std::find_if(shared.begin(), shared.end(), [&](const SharedNumber& s) { return s.number.name == number.name; });
    if (of == shared.end() || !of->over.mean_low || !of->over.mean_high) continue;
    const auto single = std::find_if(alone.intervals.begin(), alone.intervals.end(),
                                     [&](const FittedNumber& n) { return n.name == number.name; });
    if (single == alone.intervals.end() || !(single->profile.open_low || single->profile.open_high)) continue;
    const double at = number.coordinate_at(of->over.mean), ahead = number.coordinate_at(of->over.mean + 1e-3);
    const double per_scale = std::clamp((ahead - at) / 1e-3, 1e-3, 1e3);
    const double half = (*of->over.mean_high - *of->over.mean_low) / 2;
    residuals.expect(k, at, std::max(of->over.deviation, half) * per_scale);
    lent = true;
  }
  if (!lent) return alone;
  if (own.is_long()) residuals.penalise(own.penalty);
  PulseFit out = alone;
  Eigen::VectorXd x = own.at;
  residuals.descend(x, PulseResiduals::converged);
  out.likelihood.at = x;
  out.likelihood.spec = residuals.spec_of(x);
  out.likelihood.noise = residuals.noise_of(x);
  refresh(out, cycles);
  return out;
}

std::optional<NumberProfile> ratio_profile(const PulseFit& fit) {
  const FittedNumber *up = nullptr, *down = nullptr;
  for (const FittedNumber& n : fit.intervals) {
    if (n.name == "pulse_up") up = &n;
    if (n.name == "pulse_down") down = &n;
  }
  if (up == nullptr || down == nullptr || !up->low || !up->high || !down->low || !down->high) return std::nullopt;
  const double at = std::log(down->value / up->value);
  const double half = std::hypot(std::log(*up->high / *up->low), std::log(*down->high / *down->low)) / 2;
  NumberProfile out = up->profile;
  const double depth = depth_of(out.joint, out.counted, out.freedom);
  out.points = {{at, 0}, {at - half, depth}, {at + half, depth}};
  return out;
}

}  // namespace nudge
