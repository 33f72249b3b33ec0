// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/population_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/fit/pulse_residuals.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

constexpr double node_step = 0.2;      // of the root of the rise: between nodes the likelihood is nearly straight
constexpr double deepest_root = 9;     // e^-40 of the likelihood
constexpr double least_spread = 1e-6;  // a factor 1 + 10^-6
constexpr double most_spread = 3;      // a factor 20
constexpr double farthest = 8;         // a factor 3000
constexpr double golden = 0.6180339887498949;

/// Likelihood of one device's number, straight between nodes. Beyond the outermost it is constant if the side is open, else 0.
class DeviceLikelihood {
 public:
  explicit DeviceLikelihood(const NumberProfile& profile);

  /// −2 ln of the mean of the likelihood over N(mean, spread²).
  double averaged(double mean, double spread) const;
  /// Range of the nodes with a rise of at most 4.
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  void add_side(std::vector<NumberProfile::Point> outwards, bool open, double sign);

  std::vector<std::pair<double, double>> nodes_;  ///< place, likelihood
  double chance_;                                 ///< rise of which a maximum gains that much by chance
  bool open_low_, open_high_;
  double low_ = 0, high_ = 0;
};

double root_of(double rise) { return std::sqrt(std::max(rise, 0.0)); }

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

/// Likelihood of a device. From the maximum outwards the root of the rise is straight between the profile's points, and beyond
/// them on a side that is closed.
DeviceLikelihood::DeviceLikelihood(const NumberProfile& profile)
    : chance_(depth_of(profile.joint, profile.counted, profile.freedom) -
              depth_of(1, profile.counted, profile.freedom)),
      open_low_(profile.open_low),
      open_high_(profile.open_high) {
  NUDGE_EXPECT(!profile.points.empty());
  const NumberProfile::Point top = *std::min_element(profile.points.begin(), profile.points.end(),
                                                     [](const auto& a, const auto& b) { return a.rise < b.rise; });
  nodes_ = {{top.at, 1}};
  low_ = high_ = top.at;
  add_side(side_of_profile(profile, top, -1), open_low_, -1);
  add_side(side_of_profile(profile, top, 1), open_high_, 1);
  std::sort(nodes_.begin(), nodes_.end());
}

void DeviceLikelihood::add_side(std::vector<NumberProfile::Point> outwards, bool open, double sign) {
  if (!open) {
    const NumberProfile::Point last = outwards.back();
    const double root = root_of(last.rise), walked = std::abs(last.at - outwards.front().at);
    // Straight on from the maximum; a side without any point is a wall.
    const double way = root > 0 ? walked * std::max(deepest_root / root - 1, 0.0) : least_spread;
    outwards.push_back({last.at + sign * way, deepest_root * deepest_root});
  }
  for (std::size_t k = 1; k < outwards.size(); ++k) {
    const double from = root_of(outwards[k - 1].rise), to = root_of(outwards[k].rise);
    const int parts = std::max(1, static_cast<int>(std::ceil((to - from) / node_step)));
    for (int j = 1; j <= parts; ++j) {
      const double share = static_cast<double>(j) / parts, root = from + share * (to - from);
      const double at = outwards[k - 1].at + share * (outwards[k].at - outwards[k - 1].at);
      const double rise = std::max(root * root - chance_, 0.0);
      nodes_.emplace_back(at, std::exp(-rise / 2));
      if (rise <= 4) (sign < 0 ? low_ : high_) = at;
    }
  }
}

/// Φ(b) − Φ(a) without cancellation in the tails.
double normal_between(double a, double b) {
  const double s = M_SQRT1_2;
  return a > 0 ? 0.5 * (std::erfc(a * s) - std::erfc(b * s)) : 0.5 * (std::erfc(-b * s) - std::erfc(-a * s));
}

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * M_PI); }

/// ∫ (l_a + slope (u − a)) N(u) du between nodes has a closed form.
double DeviceLikelihood::averaged(double mean, double spread) const {
  const double infinite = std::numeric_limits<double>::infinity();
  double sum = 0, z = (nodes_.front().first - mean) / spread, density = normal_density(z);
  if (open_low_) sum += nodes_.front().second * normal_between(-infinite, z);
  for (std::size_t k = 1; k < nodes_.size(); ++k) {
    const double from = z, density_from = density;
    z = (nodes_[k].first - mean) / spread;
    density = normal_density(z);
    if (from > 38 || z < -38 || !(z > from)) continue;  // nothing of a normal number is there
    const double slope = (nodes_[k].second - nodes_[k - 1].second) / (z - from);
    // Both terms cancel where the normal number is narrow; the likelihood of the two nodes bounds the piece.
    const double part = normal_between(from, z);
    const double piece = (nodes_[k - 1].second - slope * from) * part + slope * (density_from - density);
    const auto [less, more] = std::minmax(nodes_[k].second, nodes_[k - 1].second);
    sum += std::clamp(piece, part * less, part * more);
  }
  if (open_high_) sum += nodes_.back().second * normal_between(z, infinite);
  return -2 * std::log(std::max(sum, 1e-300));
}

/// Least value of f over [low, high] around the best of some places, by golden sections, and where it is.
template <class F>
std::pair<double, double> least_of(const F& f, double low, double high, int places, int sections) {
  double best = low, least = std::numeric_limits<double>::infinity();
  const double step = (high - low) / (places - 1);
  for (int k = 0; k < places; ++k) {
    const double value = f(low + step * k);
    if (value < least) least = value, best = low + step * k;
  }
  double a = std::max(low, best - step), b = std::min(high, best + step);
  for (int k = 0; k < sections; ++k) {
    const double c = b - golden * (b - a), d = a + golden * (b - a);
    const double at_c = f(c), at_d = f(d);
    if (std::min(at_c, at_d) < least) least = std::min(at_c, at_d), best = at_c < at_d ? c : d;
    (at_c < at_d ? b : a) = at_c < at_d ? d : c;
  }
  return {least, best};
}

/// Likelihood of the mean and the spread, the latter as its logarithm.
class PopulationLikelihood {
 public:
  explicit PopulationLikelihood(const std::vector<NumberProfile>& profiles) {
    low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
    for (const NumberProfile& profile : profiles) {
      devices_.emplace_back(profile);
      low_ = std::min(low_, devices_.back().low());
      high_ = std::max(high_, devices_.back().high());
    }
  }

  double deviance(double mean, double log_spread) const {
    double sum = 0;
    for (const DeviceLikelihood& device : devices_) sum += device.averaged(mean, std::exp(log_spread));
    return sum;
  }
  /// Least deviance over the other number, and where.
  std::pair<double, double> over_spread(double mean) const {
    return least_of([&](double x) { return deviance(mean, x); }, std::log(least_spread), std::log(most_spread), 18, 10);
  }
  std::pair<double, double> over_mean(double log_spread) const {
    if (!(high_ > low_)) return {deviance(low_, log_spread), low_};
    return least_of([&](double x) { return deviance(x, log_spread); }, low_, high_, 25, 10);
  }
  double width() const { return std::max(high_ - low_, least_spread); }

  /// Number of devices that tell the mean where they scatter by `spread`, (Σ w)²/Σ w² with w = 1/(spread² + s²), s a quarter of a
  /// device's own 95 % interval (Kish, Survey Sampling (1965), section 11.7): a device whose record says little counts little.
  double effective(double spread) const {
    double sum = 0, squares = 0;
    for (const DeviceLikelihood& device : devices_) {
      const double s = (device.high() - device.low()) / 4,
                   w = 1 / (spread * spread + s * s + least_spread * least_spread);
      sum += w, squares += w * w;
    }
    return sum * sum / squares;
  }

 private:
  std::vector<DeviceLikelihood> devices_;
  double low_, high_;
};

/// Outermost place on a side of `from` where f is below `allowed`, with distances that double up to `reach`; absent if it is at
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
  for (int k = 0; k < 14; ++k) {
    const double middle = (inside + outside) / 2;
    (f(from + sign * middle) <= allowed ? inside : outside) = middle;
  }
  return from + sign * inside;
}

}  // namespace

NumberOverDevices number_over_devices(const std::vector<NumberProfile>& devices) {
  NUDGE_EXPECT(devices.size() > 1);
  double lower = 0, upper = 0, both = 0;  // devices that close these sides
  for (const NumberProfile& one : devices) {
    lower += one.open_low ? 0 : 1;
    upper += one.open_high ? 0 : 1;
    both += one.open_low || one.open_high ? 0 : 1;
  }
  const double n = std::max(both, 2.0);
  const PopulationLikelihood all(devices);
  const auto of_spread = [&](double log_spread) { return all.over_mean(log_spread).first; };
  const double smallest = std::log(least_spread), largest = std::log(most_spread);
  const auto [least, spread] = least_of(of_spread, smallest, largest, 18, 12);
  NumberOverDevices out;
  out.mean = all.over_mean(spread).second;
  out.deviation = std::exp(spread) * std::sqrt(n / (n - 1));

  const double telling = all.effective(std::exp(spread));
  const auto rise = [&, least = least](double mean) { return all.over_spread(mean).first - least; };
  const auto end_of_mean = [&](double sign, double closed) {
    if (closed < 1) return std::optional<double>();
    const double counted = std::max(std::min(closed, telling), 2.0);
    return end_of(rise, out.mean, sign, 1e-2 * all.width(), farthest, depth_of(1, counted, counted - 1));
  };
  out.mean_low = end_of_mean(-1, lower);
  out.mean_high = end_of_mean(1, upper);

  const auto rise_of_spread = [&, least = least](double log_spread) { return of_spread(log_spread) - least; };
  const auto end_of_spread = [&, spread = spread](double sign, double share) {
    const double reach = sign < 0 ? spread - smallest : largest - spread;
    if (both < 2 || reach <= 0) return std::optional<double>();
    return end_of(rise_of_spread, spread, sign, std::min(0.1, reach), reach, depth_of_noise(n, n - 1, share));
  };
  if (const auto end = end_of_spread(-1, 0.975)) out.deviation_low = std::exp(*end);
  if (const auto end = end_of_spread(1, 0.025)) out.deviation_high = std::exp(*end);
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
    if (single == alone.intervals.end() || (single->low && single->high)) continue;
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
