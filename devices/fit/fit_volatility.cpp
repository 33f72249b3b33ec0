// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "devices/slow/relaxation_law.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Place of each value in ascending order.
std::vector<double> ranks_of(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> ranks(x.size());
  for (std::size_t r = 0; r < order.size(); ++r) ranks[order[r]] = static_cast<double>(r);
  return ranks;
}

}  // namespace

std::vector<std::vector<double>> simulated_changes(const RelaxationSpec& spec, const LevelCells& level,
                                                   std::size_t number, std::uint64_t seed, std::size_t cells) {
  const RelaxationLaw law(spec);
  std::vector<std::vector<double>> changes(spec.time_s.size());
  const std::size_t n = law.draws(spec.time_s.back());
  std::vector<double> normals(n), uniforms(n), volatilities(law.is_volatile() ? n : 0);
  const RngKey key = {seed, Purpose::drift, static_cast<std::uint32_t>(number)};
  for (std::size_t first = 0; first < std::min(level.starts_S.size(), cells); ++first) {
    std::vector<RelaxationLaw::Path> paths;
    for (const double t : spec.time_s) paths.push_back(law.path(level.starts_S[first], t));
    for (std::size_t i = first; i < cells; i += level.starts_S.size()) {
      fill_normal<double>(key, i, 0, normals);
      fill_uniform<double>(key, i, 1, uniforms);
      if (law.is_volatile()) fill_normal<double>(key, i, 2, volatilities);
      for (std::size_t k = 0; k < changes.size(); ++k) {
        changes[k].push_back(paths[k].conductance_S({normals, uniforms, volatilities}) - paths[k].start_S);
      }
    }
  }
  return changes;
}

std::vector<double> changes_of(const std::map<double, double>& cells) {
  std::vector<double> out;
  for (const auto& entry : cells) out.push_back(entry.second);
  return out;
}

PairedChanges paired(const std::map<double, double>& early, const std::map<double, double>& late) {
  PairedChanges out;
  for (const auto& [cell, change] : early) {
    const auto other = late.find(cell);
    if (other == late.end()) continue;
    out.early.push_back(change);
    out.late.push_back(other->second);
  }
  return out;
}

double correlation_of(const PairedChanges& x) {
  const Moments a = moments_of(x.early), b = moments_of(x.late);
  double sum = 0;
  for (std::size_t i = 0; i < x.early.size(); ++i) sum += (x.early[i] - a.mean) * (x.late[i] - b.mean);
  return sum / (static_cast<double>(x.early.size()) * a.sd * b.sd);
}

Moments moments_of(const std::vector<double>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) m.mean += v / n;
  double second = 0;
  double third = 0, fourth = 0;
  for (const double v : x) {
    const double d = (v - m.mean) * (v - m.mean);
    second += d / n;
    third += d * (v - m.mean) / n;
    fourth += d * d / n;
    m.absolute += std::sqrt(d) / n;
  }
  m.sd = std::sqrt(second);
  if (second > 0) m.kurtosis = fourth / (second * second), m.skewness = third / (second * m.sd);
  for (const double v : x) m.tail += std::abs(v - m.mean) > 4 * m.sd ? 1 / n : 0;
  return m;
}

namespace {

constexpr std::size_t least_pairs = 20;
constexpr double most_log_variance = 3.24;
constexpr double shortest_memory = 0.5;  // decades: a step between two knots
constexpr int memories = 7;              // by factors of √2
constexpr int first_passes = 6, later_passes = 2;
constexpr double gain =
    1.3;  // a time shows what its own steps add and what was there before: less than the whole of a change
constexpr std::uint64_t volatility_seed = 3;

using Table = std::vector<std::vector<double>>;  ///< [level][time]

/// ω² of a normal number times a lognormal one with this ⟨|x|⟩/sd.
double log_variance(const Moments& m) {
  return m.sd > 0 ? -8 * std::log(m.absolute / m.sd * std::sqrt(M_PI / 2)) : 0;  // cells that all stay at 0 S have none
}

/// Replaces the table, at each time, by the straight line of least squares over the levels; a single level stays.
void straighten(Table& table, const std::vector<double>& level_S) {
  const auto n = static_cast<double>(level_S.size());
  double middle = 0, wide = 0;
  for (const double g : level_S) middle += g / n;
  for (const double g : level_S) wide += (g - middle) * (g - middle);
  for (std::size_t k = 0; k < table.front().size(); ++k) {
    double mean = 0, slope = 0;
    for (std::size_t l = 0; l < table.size(); ++l) {
      mean += table[l][k] / n;
      if (wide > 0) slope += table[l][k] * (level_S[l] - middle) / wide;
    }
    for (std::size_t l = 0; l < table.size(); ++l) table[l][k] = mean + slope * (level_S[l] - middle);
  }
}

/// Target of the fit: lines of ω², and the persistence of each pair of times, mean over levels.
struct Shape {
  Table log_variances = {};
  std::vector<double> persistence = {};
};

/// Spearman's correlation of |early| and |late − r early|, r the regression. 0 if later changes do not depend on earlier
/// ones, positive if a cell that has gone far goes on in larger steps.
double persistence_of(const PairedChanges& x) {
  const Moments a = moments_of(x.early), b = moments_of(x.late);
  const double slope = correlation_of(x) * b.sd / a.sd;
  std::vector<double> before, after;
  for (std::size_t i = 0; i < x.early.size(); ++i) {
    before.push_back(std::abs(x.early[i] - a.mean));
    after.push_back(std::abs(x.late[i] - b.mean - slope * (x.early[i] - a.mean)));
  }
  return correlation_of({ranks_of(before), ranks_of(after)});
}

/// Shape of changes(l, k), the values of level l at time k, and pair(l, i, j), those of the same cells at times i and j.
template <class Changes, class Pair>
Shape shape_of(const RelaxationSpec& spec, bool with_pairs, const Changes& changes, const Pair& pair) {
  const std::size_t levels = spec.level_S.size(), times = spec.time_s.size();
  Shape out;
  for (std::size_t l = 0; l < levels; ++l) {
    out.log_variances.emplace_back();
    for (std::size_t k = 0; k < times; ++k) out.log_variances[l].push_back(log_variance(moments_of(changes(l, k))));
  }
  straighten(out.log_variances, spec.level_S);
  for (std::size_t i = 0; with_pairs && i < times; ++i) {
    for (std::size_t j = i + 1; j < times; ++j) {
      double sum = 0, counted = 0;
      for (std::size_t l = 0; l < levels; ++l) {
        const PairedChanges both = pair(l, i, j);
        if (both.early.size() < least_pairs) continue;
        sum += persistence_of(both);
        ++counted;
      }
      out.persistence.push_back(counted > 0 ? sum / counted : 0);
    }
  }
  return out;
}

Shape simulated_shape(const RelaxationSpec& spec, const std::vector<LevelCells>& levels, bool with_pairs) {
  const std::size_t cells = std::clamp<std::size_t>(32000 / levels.size(), 1000, 16000);
  std::vector<Table> of_level;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    of_level.push_back(simulated_changes(spec, levels[l], l, volatility_seed, cells));
  }
  return shape_of(
      spec, with_pairs, [&](std::size_t l, std::size_t k) { return of_level[l][k]; },
      [&](std::size_t l, std::size_t i, std::size_t j) {
        return PairedChanges{of_level[l][i], of_level[l][j]};
      });
}

/// Moves the table towards the measured lines.
void meet_lines(const Shape& measured, const std::vector<LevelCells>& levels, int passes, RelaxationSpec& spec) {
  const std::size_t times = spec.time_s.size();
  for (int pass = 0; pass < passes; ++pass) {
    const Shape model = simulated_shape(spec, levels, false);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (std::size_t k = 0; k < times; ++k) {
        double& w = spec.volatility[l * times + k];
        const double off = measured.log_variances[l][k] - model.log_variances[l][k];
        w = std::sqrt(std::clamp(4 * w * w + gain * off, 0.0, most_log_variance)) / 2;
      }
    }
  }
}

double mean_or_none(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return x.empty() ? 0 : sum / static_cast<double>(x.size());
}

}  // namespace

VolatilityFit fit_volatility(const std::vector<LevelCells>& levels, RelaxationSpec& spec) {
  const Shape measured = shape_of(
      spec, true, [&](std::size_t l, std::size_t k) { return changes_of(levels[l].changes.at(k)); },
      [&](std::size_t l, std::size_t i, std::size_t j) {
        return paired(levels[l].changes.at(i), levels[l].changes.at(j));
      });
  spec.volatility.clear();
  for (const std::vector<double>& row : measured.log_variances) {
    for (const double x : row) spec.volatility.push_back(std::sqrt(std::clamp(x, 0.0, most_log_variance)) / 2);
  }
  VolatilityFit fit;
  RelaxationSpec best = spec;
  double least = std::numeric_limits<double>::infinity();
  for (int m = 0; m < memories; ++m) {
    spec.volatility_memory_decades = shortest_memory * std::pow(2.0, 0.5 * m);
    meet_lines(measured, levels, m == 0 ? first_passes : later_passes, spec);
    const Shape model = simulated_shape(spec, levels, true);
    double error = 0;
    for (std::size_t p = 0; p < measured.persistence.size(); ++p) {
      error += std::pow(model.persistence[p] - measured.persistence[p], 2);
    }
    if (!(error < least)) continue;
    least = error;
    best = spec;
    fit.persistence_model = mean_or_none(model.persistence);
    fit.persistence_error = std::sqrt(error / static_cast<double>(measured.persistence.size()));
  }
  fit.persistence_measured = mean_or_none(measured.persistence);
  spec = std::move(best);
  return fit;
}

}  // namespace nudge
