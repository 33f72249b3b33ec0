// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_bake.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "devices/device_config.hpp"
#include "devices/fit/long_table.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double times_apart = 3;
constexpr double shape_error = 0.03;  // of the spread: what a cubic may be off
constexpr double highest_eV = 4;
constexpr double no_curve_eV = 3.9;
constexpr int steps = 800;  // of 5 meV
constexpr double chi_square_95 = 3.841458820694124;

bool says_how_time_compares(const std::vector<BakePoint>& points) {
  for (const BakePoint& a : points) {
    for (const BakePoint& b : points) {
      if (a.temperature_K == b.temperature_K && b.time_s >= times_apart * a.time_s) return true;
    }
  }
  return false;
}

ActivationEstimate kinetic(const std::vector<BakePoint>& points, ActivationSource source) {
  ActivationEstimate e{0, std::numeric_limits<double>::infinity(), 0, source};
  for (const BakePoint& p : points) {
    const double barrier = boltzmann_eV_per_K * p.temperature_K * std::log(attempt_Hz * p.time_s);
    e.value_eV += barrier / static_cast<double>(points.size());
    e.low_eV = std::min(e.low_eV, barrier);
    e.high_eV = std::max(e.high_eV, barrier);
  }
  return e;
}

/// Weighted squares that the polynomials of all levels leave at an energy.
class Collapse {
 public:
  Collapse(const BakeData& data, const std::vector<std::vector<Moments>>& moments) : data_(&data), moments_(&moments) {}

  /// Degrees of freedom: values less the free numbers. Two curves of each level have two free numbers and two that are
  /// expected to be small; one energy is free.
  double freedom() const {
    const auto points = static_cast<double>(data_->points.size());
    return std::max(2 * static_cast<double>(moments_->size()) * (points - 2) - 1, 1.0);
  }

  double squares(double energy_eV) const {
    const auto n = static_cast<Eigen::Index>(data_->points.size());
    Eigen::VectorXd u(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const BakePoint& p = data_->points[static_cast<std::size_t>(i)];
      u[i] = std::log(p.time_s) - energy_eV / (boltzmann_eV_per_K * p.temperature_K);
    }
    u.array() -= u.mean();
    u /= std::max(u.cwiseAbs().maxCoeff(), 1e-12);
    double sum = 0;
    for (std::size_t l = 0; l < moments_->size(); ++l) {
      Eigen::VectorXd variance(n), variance_error(n), mean(n), mean_error(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Moments& m = (*moments_)[l][k];
        const auto cells = static_cast<double>(data_->cells[l][k].changes_S.size());
        variance[i] = m.sd * m.sd;
        variance_error[i] = variance[i] * std::hypot(std::sqrt((m.kurtosis - 1) / cells), 2 * shape_error);
        mean[i] = m.mean;
        mean_error[i] = m.sd * std::hypot(1 / std::sqrt(cells), shape_error);
      }
      sum += rest(u, variance, variance_error) + rest(u, mean, mean_error);
    }
    return sum;
  }

 private:
  /// Squares that a cubic leaves whose bends are of the size of the range of y. A free cubic would thread points of one time
  /// and several temperatures at E near 0, where they lie side by side.
  static double rest(const Eigen::VectorXd& u, const Eigen::VectorXd& y, const Eigen::VectorXd& error) {
    const Eigen::Index n = u.size();
    Eigen::MatrixXd weighted = Eigen::MatrixXd::Zero(n + 2, 4);
    Eigen::VectorXd target = Eigen::VectorXd::Zero(n + 2);
    for (Eigen::Index i = 0; i < n; ++i) {
      weighted.row(i) << 1, u[i], u[i] * u[i], u[i] * u[i] * u[i];
      weighted.row(i) /= error[i];
      target[i] = y[i] / error[i];
    }
    const double range = std::max(y.maxCoeff() - y.minCoeff(), error.minCoeff());
    weighted(n, 2) = weighted(n + 1, 3) = 1 / range;
    return (weighted * least_squares<double>(weighted, target) - target).squaredNorm();
  }

  const BakeData* data_;
  const std::vector<std::vector<Moments>>* moments_;
};

}  // namespace

ActivationEstimate activation_of(const BakeData& data, const std::vector<std::vector<Moments>>& moments) {
  const Collapse collapse(data, moments);
  if (!says_how_time_compares(data.points) || data.points.size() < 4) {
    return kinetic(data.points, ActivationSource::kinetics);
  }
  std::vector<double> squares;
  for (int k = 0; k <= steps; ++k) squares.push_back(collapse.squares(highest_eV * k / steps));
  const auto best = std::min_element(squares.begin(), squares.end());
  const double allowed = *best + chi_square_95 * std::max(*best / collapse.freedom(), 1.0);
  const auto energy = [&](auto place) { return highest_eV * static_cast<double>(place - squares.begin()) / steps; };
  if (energy(best) > no_curve_eV) return kinetic(data.points, ActivationSource::no_curve);
  auto low = best;
  auto high = best;
  while (low != squares.begin() && *low <= allowed) --low;
  while (high + 1 != squares.end() && *high <= allowed) ++high;
  return {energy(best), energy(low), energy(high), ActivationSource::measured};
}

namespace {

constexpr std::size_t correcting_pairs = 4096;
constexpr std::size_t last_pairs = 32768;  // of the last correction, whose sampling error stays in the tables
constexpr std::size_t compared_pairs = 32768;
constexpr int corrections = 5;
constexpr double one_knot = 2;       // effective times closer than this factor
constexpr double onset_factor = 10;  // of the onset, from which on it is put before the first time

using LevelMoments = std::vector<std::vector<Moments>>;  // [level][point]

/// The points at the reference temperature, grouped into the times of the tables.
struct Knots {
  std::vector<double> time_s = {};
  std::vector<std::size_t> of_point = {};
  std::size_t onset = 0;  ///< 1 where the first is the onset
};

double effective_s(const BakePoint& point, double activation_eV) {
  return point.time_s * arrhenius_factor(activation_eV, bake_reference_K, point.temperature_K);
}

Knots knots_of(const std::vector<BakePoint>& points, double activation_eV) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return effective_s(points[a], activation_eV) < effective_s(points[b], activation_eV);
  });
  std::vector<std::vector<double>> groups;
  Knots knots;
  knots.of_point.resize(points.size());
  for (const std::size_t p : order) {
    const double t = effective_s(points[p], activation_eV);
    if (groups.empty() || t > one_knot * groups.back().front()) groups.emplace_back();
    groups.back().push_back(t);
    knots.of_point[p] = groups.size() - 1;
  }
  for (const auto& group : groups) {
    double sum = 0;
    for (const double t : group) sum += std::log(t) / static_cast<double>(group.size());
    knots.time_s.push_back(std::exp(sum));
  }
  if (knots.time_s.front() > onset_factor * relaxation_onset_s) {
    knots.time_s.insert(knots.time_s.begin(), relaxation_onset_s);
    knots.onset = 1;
    for (std::size_t& k : knots.of_point) ++k;
  }
  return knots;
}

/// Moments of the simulated changes of the cells of a level, level `number`, at each point, with the measured starts in turn.
/// Each of the `pairs` of cells has normal numbers of opposite signs, so that odd parts of the mean cancel.
std::vector<Moments> simulate(const RelaxationSpec& spec, const std::vector<BakePoint>& points,
                              const std::vector<BakedCells>& level, std::size_t number, std::uint64_t seed,
                              std::size_t pairs) {
  const RelaxationLaw law(spec);
  std::vector<Moments> out;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double t = effective_s(points[p], spec.activation_eV);
    std::vector<double> normals(law.draws(t));
    std::vector<double> uniforms(normals.size());
    std::vector<double> changes;
    const RngKey key = {seed, Purpose::drift, static_cast<std::uint32_t>(number)};
    const std::vector<double>& starts = level[p].starts_S;
    for (std::size_t first = 0; first < std::min(starts.size(), pairs); ++first) {
      const RelaxationLaw::Path path = law.path(starts[first], t);
      for (std::size_t i = first; i < pairs; i += starts.size()) {
        fill_normal<double>(key, i, 0, normals);
        fill_uniform<double>(key, i, 1, uniforms);
        changes.push_back(path.conductance_S({normals, uniforms}) - path.start_S);
        for (double& z : normals) z = -z;
        changes.push_back(path.conductance_S({normals, uniforms}) - path.start_S);
      }
    }
    out.push_back(moments_of(changes));
  }
  return out;
}

LevelMoments simulate_all(const RelaxationSpec& spec, const BakeData& data, std::uint64_t seed, std::size_t pairs) {
  LevelMoments out(data.cells.size());
  parallel_for(static_cast<Index>(out.size()), 0, [&](Index l, int) {
    const auto level = static_cast<std::size_t>(l);
    out[level] = simulate(spec, data.points, data.cells[level], level, seed, pairs);
  });
  return out;
}

LevelMoments measured_moments(const BakeData& data, const std::string& file) {
  LevelMoments out;
  for (const auto& level : data.cells) {
    out.emplace_back();
    for (std::size_t p = 0; p < data.points.size(); ++p) {
      out.back().push_back(moments_of(level[p].changes_S));
      if (out.back().back().sd > 0) continue;
      csv_fail(file, fmt::format("all cells of the level of {:.4g} uS have changed by the same after {:g} s at {:g} K: "
                                 "there is no spread to fit",
                                 1e6 * moments_of(level[p].starts_S).mean, data.points[p].time_s,
                                 data.points[p].temperature_K));
    }
  }
  return out;
}

/// Tables with the measured spread and mean at their times: the means over the points of each.
RelaxationSpec first_tables(const BakeData& data, const LevelMoments& measured, const Knots& knots,
                            double activation_eV) {
  RelaxationSpec spec;
  spec.activation_eV = activation_eV;
  spec.reference_K = bake_reference_K;
  spec.time_s = knots.time_s;
  const std::size_t times = knots.time_s.size();
  for (std::size_t l = 0; l < data.cells.size(); ++l) {
    std::vector<double> variance(times), mean(times), points(times);
    std::vector<double> jumps;
    double starts = 0;
    double cells = 0;
    for (std::size_t p = 0; p < data.points.size(); ++p) {
      const Moments& m = measured[l][p];
      const std::size_t k = knots.of_point[p];
      variance[k] += m.sd * m.sd;
      mean[k] += m.mean;
      ++points[k];
      jumps.push_back((m.kurtosis - 3) * m.sd * m.sd / 3);
      for (const double start : data.cells[l][p].starts_S) starts += start;
      cells += static_cast<double>(data.cells[l][p].starts_S.size());
    }
    for (std::size_t k = 0; k < times; ++k) {
      const double n = std::max(points[k], 1.0);
      spec.spread_S.push_back(std::sqrt(variance[k] / n));
      spec.mean_S.push_back(mean[k] / n);
    }
    spec.level_S.push_back(std::max(starts / cells, 0.0));  // a reader's offset
    spec.jump_S.push_back(std::sqrt(std::max(median(jumps), 0.0)));
  }
  return spec;
}

/// Moves each entry of the tables by the mean error of its points.
void correct(RelaxationSpec& spec, const LevelMoments& measured, const LevelMoments& model, const Knots& knots) {
  const std::size_t times = knots.time_s.size();
  for (std::size_t l = 0; l < measured.size(); ++l) {
    std::vector<double> ratio(times), difference(times), points(times);
    for (std::size_t p = 0; p < measured[l].size(); ++p) {
      const Moments& m = measured[l][p];
      const std::size_t k = knots.of_point[p];
      ratio[k] += std::log(std::clamp(m.sd / std::max(model[l][p].sd, 1e-3 * m.sd), 0.5, 2.0));
      difference[k] += m.mean - model[l][p].mean;
      ++points[k];
    }
    for (std::size_t k = knots.onset; k < times; ++k) {
      spec.spread_S[l * times + k] *= std::exp(ratio[k] / points[k]);
      spec.mean_S[l * times + k] += difference[k] / points[k];
    }
  }
}

std::string activation_text(const ActivationEstimate& e) {
  if (e.source == ActivationSource::given) return fmt::format("activation energy {:g} eV as given", e.value_eV);
  const std::string value =
      fmt::format("activation energy {:.3g} eV ({:.3g} to {:.3g})", e.value_eV, e.low_eV, e.high_eV);
  if (e.source == ActivationSource::measured) return value + ", 95 % interval";
  const char* why = e.source == ActivationSource::kinetics ? "the table has one time at each temperature"
                                                           : "its times at several temperatures fall onto no curve";
  return value + fmt::format(
                     ": not measured, as {}; it is kT ln(t {:.0e}/s), the barrier "
                     "that a step passes in the time of the bake, and its range",
                     why, attempt_Hz);
}

}  // namespace

double BakeFit::worst_sd() const {
  double worst = 0;
  for (const BakeRowFit& r : rows) worst = std::max(worst, std::abs(r.sd_model_S / r.sd_measured_S - 1));
  return worst;
}

double BakeFit::worst_mean_S() const {
  double worst = 0;
  for (const BakeRowFit& r : rows) worst = std::max(worst, std::abs(r.mean_model_S - r.mean_measured_S));
  return worst;
}

BakeFit parse_and_fit_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files,
                           std::optional<double> activation_eV, TableLook* look) {
  TableLook own;
  const BakeData data = parse_bake(texts, files, bake_reference_K, look != nullptr ? *look : own);
  const LevelMoments measured = measured_moments(data, files.front());
  BakeFit fit;
  fit.left_out = data.left_out;
  fit.activation = activation_eV
                       ? ActivationEstimate{*activation_eV, *activation_eV, *activation_eV, ActivationSource::given}
                       : activation_of(data, measured);
  const Knots knots = knots_of(data.points, fit.activation.value_eV);
  fit.onset_s = knots.onset > 0 ? relaxation_onset_s : 0;
  fit.spec = first_tables(data, measured, knots, fit.activation.value_eV);
  for (std::size_t l = 1; l < fit.spec.level_S.size(); ++l) {
    if (fit.spec.level_S[l] <= fit.spec.level_S[l - 1]) csv_fail(files.front(), "two levels start from the same mean");
  }
  for (int pass = 0; pass < corrections; ++pass) {
    const std::size_t pairs = pass + 1 < corrections ? correcting_pairs : last_pairs;
    correct(fit.spec, measured, simulate_all(fit.spec, data, 1, pairs), knots);
  }
  const LevelMoments model = simulate_all(fit.spec, data, 2, compared_pairs);
  for (std::size_t l = 0; l < measured.size(); ++l) {
    for (std::size_t p = 0; p < data.points.size(); ++p) {
      const std::size_t cells = data.cells[l][p].changes_S.size();
      const Moments& m = measured[l][p];
      fit.cells += cells;
      fit.rows.push_back({fit.spec.level_S[l], data.points[p].temperature_K, data.points[p].time_s, cells, m.sd,
                          model[l][p].sd, m.mean, model[l][p].mean});
    }
  }
  return fit;
}

BakeFit fit_bake(const std::vector<std::string>& paths, std::optional<double> activation_eV, TableLook* look) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(read_table_text(path));
  refuse_twice(paths, texts);
  return parse_and_fit_bake(texts, paths, activation_eV, look);
}

std::string bake_text(const BakeFit& fit) {
  std::string out = fmt::format("{} measurements; {}\n", fit.cells, activation_text(fit.activation));
  out += fmt::format("{:>9} {:>8} {:>9} {:>6} | {:>7} {:>7} | {:>7} {:>7}\n", "level uS", "C", "time s", "cells",
                     "sd uS", "model", "mean uS", "model");
  for (const BakeRowFit& r : fit.rows) {
    out += fmt::format("{:9.3f} {:8.1f} {:9.4g} {:6} | {:7.3f} {:7.3f} | {:7.3f} {:7.3f}\n", 1e6 * r.level_S,
                       r.temperature_K - zero_celsius_K, r.time_s, r.cells, 1e6 * r.sd_measured_S, 1e6 * r.sd_model_S,
                       1e6 * r.mean_measured_S, 1e6 * r.mean_model_S);
  }
  out += fmt::format("largest difference: {:.2g} % of an sd, {:.2g} uS of a mean\n", 100 * fit.worst_sd(),
                     1e6 * fit.worst_mean_S());
  if (fit.left_out > 0) {
    out += fmt::format("{} measurements left out: their levels have fewer than {} cells at some temperature and time\n",
                       fit.left_out, least_baked_cells);
  }
  return out;
}

std::string bake_toml(const BakeFit& fit, const std::string& source) {
  DeviceSpec spec;
  spec.g_min_S = fit.spec.level_S.size() > 1 ? fit.spec.level_S.front() : 0;
  spec.g_max_S = fit.spec.level_S.back();
  spec.relaxation = fit.spec;
  std::string out = fmt::format("# Relaxation over temperature fitted to {}: {} measurements\n# {}\n", source,
                                fit.cells, activation_text(fit.activation));
  if (fit.onset_s > 0) {
    out += fmt::format("# the tables begin with 0 at {:g} s, which was not measured: growth with ln t from there\n",
                       fit.onset_s);
  }
  return out + "# g_min and g_max: lowest and highest level\n" + device_toml(spec);
}

}  // namespace nudge
