// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_relaxation.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <numeric>

#include "devices/slow/relaxation_law.hpp"
#include "sim/base/decompositions.hpp"
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

double L_skewness(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double b0 = 0, b1 = 0, b2 = 0;  // probability weighted moments, unbiased
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto r = static_cast<double>(i);
    b0 += values[i] / n;
    b1 += values[i] * r / (n * (n - 1));
    b2 += values[i] * r * (r - 1) / (n * (n - 1) * (n - 2));
  }
  const double second = 2 * b1 - b0;
  return second > 0 ? (6 * b2 - 6 * b1 + b0) / second : 0;
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

constexpr double skew_gain = 2.5;  // k of a two-piece normal number is 2.1 of its τ₃; steps of several times add up

using Table = std::vector<std::vector<double>>;  ///< [level][time]

/// ω² of a normal number times a lognormal one with this ⟨|x|⟩/sd.
double log_variance(const Moments& m) {
  return m.sd > 0 ? -8 * std::log(m.absolute / m.sd * std::sqrt(M_PI / 2)) : 0;  // cells that all stay at 0 S have none
}

/// Replaces the table, at each time, by the polynomial of least squares over the levels. Where levels are no more than its numbers, it
/// goes through all of them.
void smooth(Table& table, const std::vector<double>& level_S, int degree) {
  const auto n = static_cast<Index>(level_S.size());
  if (n <= degree + 1) return;
  const Eigen::Map<const Eigen::VectorXd> g(level_S.data(), n);
  const Eigen::VectorXd place = (g.array() - g.mean()) / (g.maxCoeff() - g.minCoeff());
  Eigen::MatrixXd powers(n, degree + 1);
  for (int p = 0; p <= degree; ++p) powers.col(p) = place.array().pow(p);
  const Eigen::MatrixXd normal = powers.transpose() * powers;
  for (std::size_t k = 0; k < table.front().size(); ++k) {
    Eigen::VectorXd values(n);
    for (Index l = 0; l < n; ++l) values[l] = table[static_cast<std::size_t>(l)][k];
    const Eigen::VectorXd line = powers * semidefinite_solve(normal, powers.transpose() * values);
    for (Index l = 0; l < n; ++l) table[static_cast<std::size_t>(l)][k] = line[l];
  }
}

/// Target of the fit: lines of ω², parabolas of τ₃, and the persistence of each pair of times, mean over levels.
struct Shape {
  Table log_variances = {}, skews = {};
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
    out.skews.emplace_back();
    for (std::size_t k = 0; k < times; ++k) {
      const std::vector<double> x = changes(l, k);
      out.log_variances[l].push_back(log_variance(moments_of(x)));
      out.skews[l].push_back(L_skewness(x));
    }
  }
  smooth(out.log_variances, spec.level_S, 1);
  smooth(out.skews, spec.level_S, 2);
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

/// Moves the tables towards the measured lines.
void meet_lines(const Shape& measured, const std::vector<LevelCells>& levels, int passes, RelaxationSpec& spec) {
  const std::size_t times = spec.time_s.size();
  for (int pass = 0; pass < passes; ++pass) {
    const Shape model = simulated_shape(spec, levels, false);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (std::size_t k = 0; k < times; ++k) {
        double& w = spec.volatility[l * times + k];
        const double off = measured.log_variances[l][k] - model.log_variances[l][k];
        w = std::sqrt(std::clamp(4 * w * w + gain * off, 0.0, most_log_variance)) / 2;
        if (spec.skew.empty()) continue;
        double& skew = spec.skew[l * times + k];
        skew = std::clamp(skew + skew_gain * (measured.skews[l][k] - model.skews[l][k]), -1.0, 1.0);
      }
    }
  }
}

/// True if the cells are skewed beyond what a sampling error brings. Σ (τ₃/σ)² over the levels, each the mean over its times, is χ²
/// where none is skewed and times go together, and scatters less where they do not; asked at 1 %. σ² is four times (0.1866 + 0.8/n)/n of
/// n normal numbers (Harri and Coble, J. Appl. Stat. 38:1369 (2011)), for heavy tails.
bool are_skewed(const std::vector<LevelCells>& levels) {
  double sum = 0;
  for (const LevelCells& level : levels) {
    for (const auto& [time, cells] : level.changes) {
      const std::vector<double> x = changes_of(cells);
      const auto n = static_cast<double>(x.size());
      const double skew = L_skewness(x);
      sum += skew * skew / (4 * (0.1866 + 0.8 / n) / n) / static_cast<double>(level.changes.size());
    }
  }
  const boost::math::chi_squared none(static_cast<double>(levels.size()));
  return sum > boost::math::quantile(none, 0.99);
}

double rms_of(const Table& table) {
  double sum = 0, n = 0;
  for (const std::vector<double>& row : table) {
    for (const double x : row) sum += x * x, ++n;
  }
  return std::sqrt(sum / n);
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
  fit.skew_measured = rms_of(measured.skews);
  fit.skewed = are_skewed(levels);
  spec.skew.assign(fit.skewed ? spec.volatility.size() : 0, 0.0);
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
    fit.skew_model = rms_of(model.skews);
    fit.persistence_error = std::sqrt(error / static_cast<double>(measured.persistence.size()));
  }
  fit.persistence_measured = mean_or_none(measured.persistence);
  spec = std::move(best);
  return fit;
}

}  // namespace nudge
