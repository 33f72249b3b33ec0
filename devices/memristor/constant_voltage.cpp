// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

#include "devices/memristor/memristor.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr double knee = 0.875;  // up to here the points are equally spaced
constexpr int straight = ConstantVoltageMotion::cells / 8 * 7;
// Cells in which d falls e-fold: the spacing does not jump at the knee.
constexpr double per_e_fold = ConstantVoltageMotion::cells * (1 - knee);
constexpr int graded = 9545;
/// d where the last cell begins: 1e-9.
const double nearest_share = (1 - knee) * std::exp(-graded / per_e_fold);

}  // namespace

double ConstantVoltageMotion::coordinate(double place) {
  if (place <= knee) return place * cells;
  const double d = 1 - place;
  if (d <= nearest_share) return straight + graded + (1 - d / nearest_share);
  return std::clamp<double>(straight - std::log(d / (1 - knee)) * per_e_fold, straight, straight + graded);
}

double ConstantVoltageMotion::place_of(double coordinate) {
  if (coordinate <= straight) return coordinate / cells;
  const double along = coordinate - straight;
  if (along >= graded) return 1 - nearest_share * std::max(graded + 1 - along, 0.0);
  return 1 - (1 - knee) * std::exp(-along / per_e_fold);
}

bool ConstantVoltageMotion::moves(const Memristor& memristor, double volts, bool up) {
  for (int k = 0; k <= cells; ++k) {
    const double rate = memristor.rate(static_cast<double>(k) / cells, volts);
    if ((up ? rate : -rate) > 0) return true;
  }
  return false;
}

ConstantVoltageMotion::ConstantVoltageMotion(const Memristor& memristor, double volts, bool up) {
  const auto speed = [&](double place) {
    const double x = up ? place : 1 - place;
    return std::max(up ? memristor.rate(x, volts) : -memristor.rate(x, volts), 0.0);
  };
  const int points = straight + graded + 1;
  double fastest = 0;
  for (int k = 0; k <= points; ++k) fastest = std::max(fastest, speed(place_of(k)));
  if (!(fastest > 0) || !std::isfinite(fastest)) {
    throw UserError(
        fmt::format("memristor: a pulse of {:g} V does not move the state {} (check the voltage against the "
                    "threshold, and its sign)",
                    volts, up ? "up" : "down"));
  }
  time_s_ = {0.0};
  const auto slowness = [&](double place) { return 1 / speed(place); };
  for (int k = 0; k < points; ++k) {
    const double begin = place_of(k);
    const double end = place_of(k + 1);
    if (speed(begin) == 0 || (k + 1 < points && speed(end) == 0)) break;
    // Seven points are exact for polynomials of degree 13: rounding for any speed that a cell resolves. The bound itself
    // may take for ever: its cell is crossed at the speed of its beginning.
    const double seconds = k + 1 < points ? boost::math::quadrature::gauss<double, 7>::integrate(slowness, begin, end)
                                          : (end - begin) * slowness(begin);
    if (!std::isfinite(time_s_.back() + seconds)) break;
    time_s_.push_back(time_s_.back() + seconds);
  }
}

double ConstantVoltageMotion::advance(double place, double seconds) const {
  if (std::isnan(place) || std::isnan(seconds)) return place + seconds;
  const double limit = reach();
  if (place >= limit) return 0;
  // Just below the limit the logarithm may round to its cell.
  const double from = coordinate(place);
  const auto at = std::min(static_cast<std::size_t>(from), time_s_.size() - 2);
  const double now = time_s_[at] + (from - static_cast<double>(at)) * (time_s_[at + 1] - time_s_[at]);
  const double then = now + seconds;
  if (then >= time_s_.back()) return limit - place;
  const auto next = std::upper_bound(time_s_.begin() + static_cast<std::ptrdiff_t>(at), time_s_.end(), then);
  const auto k = static_cast<std::size_t>(next - time_s_.begin()) - 1;
  // Within a cell without the rounding of T, which grows along the way.
  const double to = k == at ? from + seconds / (time_s_[k + 1] - time_s_[k])
                            : static_cast<double>(k) + (then - time_s_[k]) / (time_s_[k + 1] - time_s_[k]);
  if (to <= straight) return (to - from) / cells;
  if (from >= straight && to <= straight + graded) return (1 - place) * -std::expm1((from - to) / per_e_fold);
  return std::max(place_of(to) - place, 0.0);
}

}  // namespace nudge
