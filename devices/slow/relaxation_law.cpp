// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/relaxation_law.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

bool ascending_positive(const std::vector<double>& values, double least) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] < least || (i > 0 && values[i] <= values[i - 1])) return false;
  }
  return true;
}

/// Place of x between ascending points: index of the left one and the share of the right one, beyond 0 and 1 outside.
struct TablePlace {
  std::size_t left = 0;
  double share = 0;
};

TablePlace place_of(const std::vector<double>& points, double x) {
  if (points.size() == 1) return {};
  const auto above = std::upper_bound(points.begin() + 1, points.end() - 1, x);
  const auto left = static_cast<std::size_t>(above - points.begin()) - 1;
  return {left, (x - points[left]) / (points[left + 1] - points[left])};
}

double level_value(const std::vector<double>& levels, const std::vector<double>& values, double g_S) {
  const TablePlace row = place_of(levels, g_S);
  const double share = std::clamp(row.share, 0.0, 1.0);
  return share == 0 ? values[row.left] : values[row.left] + share * (values[row.left + 1] - values[row.left]);
}

constexpr double knots_per_decade = 2;

/// A normal number whose positive values are 1 + k times as long and whose negative ones 1 − k times, of mean 0 and variance 1.
double bent(double normal, double k) {
  const double mean = 2 * k / std::sqrt(2 * M_PI);
  return ((normal > 0 ? 1 + k : 1 - k) * normal - mean) / std::sqrt(1 + k * k - mean * mean);
}

}  // namespace

const char* relaxation_problem(const RelaxationSpec& spec) {
  const std::size_t cells = spec.level_S.size() * spec.time_s.size();
  if (!ascending_positive(spec.time_s, 1e-12)) return "relaxation_time must be ascending times of at least 1e-12 s";
  if (!ascending_positive(spec.level_S, 0)) return "relaxation_level must be ascending conductances of at least 0 S";
  if (spec.spread_S.size() != cells || spec.mean_S.size() != cells) {
    return "relaxation_spread and relaxation_mean must have a number for each level and time, level by level";
  }
  if (!spec.jump_S.empty() && spec.jump_S.size() != spec.level_S.size()) {
    return "relaxation_jump must have a number for each level, or none";
  }
  if (!spec.volatility.empty() && spec.volatility.size() != cells) {
    return "relaxation_volatility must have a number for each level and time, level by level, or none";
  }
  if (!spec.skew.empty() && spec.skew.size() != cells) {
    return "relaxation_skew must have a number for each level and time, level by level, or none";
  }
  const auto bad = [](double x) { return !(std::isfinite(x) && x >= 0); };
  if (std::any_of(spec.spread_S.begin(), spec.spread_S.end(), bad)) return "relaxation_spread must be at least 0 S";
  if (std::any_of(spec.jump_S.begin(), spec.jump_S.end(), bad)) return "relaxation_jump must be at least 0 S";
  // exp(w h − w²) stays a double for all that a normal number can be (9 of its deviations in 10^19 draws).
  if (std::any_of(spec.volatility.begin(), spec.volatility.end(), [](double w) { return !(w >= 0 && w <= 10); })) {
    return "relaxation_volatility must be in [0, 10]";
  }
  if (std::any_of(spec.skew.begin(), spec.skew.end(), [](double k) { return !(k >= -1 && k <= 1); })) {
    return "relaxation_skew must be in [-1, 1]";
  }
  if (!std::all_of(spec.mean_S.begin(), spec.mean_S.end(), [](double x) { return std::isfinite(x); })) {
    return "relaxation_mean must be finite";
  }
  return "";
}

RelaxationLaw::RelaxationLaw(RelaxationSpec spec) : spec_(std::move(spec)) {
  for (const double s : spec_.spread_S) variance_S2_.push_back(s * s);
}

double RelaxationLaw::at(const std::vector<double>& table, double start_S, double t_s) const {
  TablePlace row = place_of(spec_.level_S, start_S);
  row.share = std::clamp(row.share, 0.0, 1.0);
  const std::vector<double>& times = spec_.time_s;
  const std::size_t columns = times.size();
  const auto of_row = [&](std::size_t r) {
    const double* values = table.data() + r * columns;
    if (t_s <= times.front() || columns == 1) return values[0] * std::min(t_s / times.front(), 1.0);
    const auto above = std::upper_bound(times.begin() + 1, times.end() - 1, t_s);
    const auto j = static_cast<std::size_t>(above - times.begin()) - 1;
    const double share = std::log(t_s / times[j]) / std::log(times[j + 1] / times[j]);
    return values[j] + share * (values[j + 1] - values[j]);
  };
  const double low = of_row(row.left);
  return row.share == 0 ? low : low + row.share * (of_row(row.left + 1) - low);
}

double RelaxationLaw::variance_S2(double start_S, double t_s) const {
  // Beyond the table a variance that falls there would become negative.
  const double within = at(variance_S2_, start_S, std::min(t_s, spec_.time_s.back()));
  return t_s <= spec_.time_s.back() ? within : std::max(within, at(variance_S2_, start_S, t_s));
}

double RelaxationLaw::mean_S(double start_S, double t_s) const { return at(spec_.mean_S, start_S, t_s); }

double RelaxationLaw::knot_s(std::size_t k) const {
  return spec_.time_s.front() * std::pow(10.0, static_cast<double>(k) / knots_per_decade);
}

std::size_t RelaxationLaw::draws(double t_s) const {
  const double decades = std::log10(std::max(t_s / spec_.time_s.front(), 1.0));
  return 1 + static_cast<std::size_t>(std::ceil(decades * knots_per_decade));
}

double RelaxationLaw::conductance_S(double start_S, double t_s, const Draws& draws) const {
  return t_s <= 0 ? start_S : path(start_S, t_s).conductance_S(draws);
}

RelaxationLaw::Path RelaxationLaw::path(double start_S, double t_s) const {
  const double jump_S2 = spec_.jump_S.empty() ? 0 : std::pow(level_value(spec_.level_S, spec_.jump_S, start_S), 2);
  const double q = spec_.jump_share;
  // What a stretch from variance v to w, of this many decades, keeps of X.
  const auto kept = [&](double v, double w, double decades) {
    if (v == 0) return 0.0;
    const double left = spec_.memory_decades > 0 ? std::exp(-decades / spec_.memory_decades) : 1.0;
    return std::min(left, std::sqrt(w / v));
  };
  Path path{start_S, mean_S(start_S, t_s), {}, 1};
  if (spec_.volatility_memory_decades > 0) {
    path.volatility_kept = std::exp(-1 / (knots_per_decade * spec_.volatility_memory_decades));
  }
  double v = 0;
  for (std::size_t k = 0; k < draws(t_s); ++k) {
    const double end_s = knot_s(k);
    const double w = variance_S2(start_S, end_s);
    const double a = kept(v, w, 1 / knots_per_decade);
    const double whole = std::max(w - a * a * v, 0.0);
    Stretch stretch{a, std::sqrt(whole)};
    if (jump_S2 > 0 && q > 0 && whole > 0) {
      const double p = 1 / (1 + jump_S2 / (q * q * whole));
      stretch.jump_probability = p;
      stretch.scale_still = std::sqrt(1 - q + 0.0);
      stretch.scale_jump = std::sqrt(1 - q + q / p);
    }
    const double within_s = std::clamp(end_s, spec_.time_s.front(), spec_.time_s.back());
    if (is_volatile()) stretch.volatility = at(spec_.volatility, start_S, within_s);
    if (!spec_.skew.empty()) stretch.skew = at(spec_.skew, start_S, within_s);
    if (end_s > t_s) {
      const double now = variance_S2(start_S, t_s);
      stretch.kept = k == 0 ? 0 : kept(v, now, std::log10(t_s / knot_s(k - 1)));
      stretch.width = std::sqrt(std::max(now - stretch.kept * stretch.kept * v, 0.0));
      path.stretches.push_back(stretch);
      break;
    }
    path.stretches.push_back(stretch);
    v = w;
  }
  return path;
}

double RelaxationLaw::Path::conductance_S(const Draws& draws) const {
  NUDGE_EXPECT(draws.normals.size() >= stretches.size() && draws.uniforms.size() >= stretches.size());
  const double fresh = std::sqrt(1 - volatility_kept * volatility_kept);
  double x = 0, h = 0;
  for (std::size_t k = 0; k < stretches.size(); ++k) {
    const Stretch& s = stretches[k];
    const double y = s.skew == 0 ? draws.normals[k] : bent(draws.normals[k], s.skew);
    double z = (draws.uniforms[k] < s.jump_probability ? s.scale_jump : s.scale_still) * y;
    if (!draws.volatilities.empty()) {
      h = k == 0 ? draws.volatilities[0] : volatility_kept * h + fresh * draws.volatilities[k];
      z *= std::exp(s.volatility * h - s.volatility * s.volatility);
    }
    x = s.kept * x + s.width * z;
  }
  return std::max(start_S + mean_S + x, 0.0);
}

}  // namespace nudge
