// SPDX-License-Identifier: Apache-2.0
// What a fit of relaxation says: distances from the cells, verdict, table and TOML.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "devices/device_config.hpp"
#include "devices/fit/fit_relaxation.hpp"

namespace nudge {

RelaxationErrors RelaxationFit::errors(std::optional<double> level_S) const {
  RelaxationErrors out;
  double n_rows = 0, n_pairs = 0;
  const auto off = [](double measured, double model, double error, double sd) {
    return (std::pow(model - measured, 2) - error * error) / std::pow(std::max(std::abs(measured), sd), 2);
  };
  const auto sampling = [](double measured, double error, double sd) {
    return std::pow(error / std::max(std::abs(measured), sd), 2);
  };
  for (const RelaxationRow& r : rows) {
    if (level_S && r.level_S != *level_S) continue;
    ++n_rows;
    out.quantile_sampling += sampling(r.low_measured_S, r.low_error_S, r.sd_measured_S) / 2 +
                             sampling(r.high_measured_S, r.high_error_S, r.sd_measured_S) / 2;
    out.sd += std::pow(r.sd_model_S / r.sd_measured_S - 1, 2);
    out.quantile += off(r.low_measured_S, r.low_model_S, r.low_error_S, r.sd_measured_S) / 2 +
                    off(r.high_measured_S, r.high_model_S, r.high_error_S, r.sd_measured_S) / 2;
  }
  for (const RelaxationPair& p : pairs) {
    if (level_S && p.level_S != *level_S) continue;
    ++n_pairs;
    const double error =
        (1 - p.model * p.model) / std::sqrt(static_cast<double>(p.cells));  // Fisher's, of normal numbers
    out.correlation += std::pow(p.model - p.measured, 2) - error * error;
  }
  out.sd = std::sqrt(out.sd / std::max(n_rows, 1.0));
  out.quantile = std::sqrt(std::max(out.quantile, 0.0) / std::max(n_rows, 1.0));
  out.quantile_sampling = std::sqrt(out.quantile_sampling / std::max(n_rows, 1.0));
  out.correlation = std::sqrt(std::max(out.correlation, 0.0) / std::max(n_pairs, 1.0));
  return out;
}

namespace {

/// Warning where the table of skew ends at its limit, k = ±1, in most of its places; empty elsewhere.
std::string skew_warning(const RelaxationSpec& spec) {
  constexpr double limit = 1 - 1e-6;
  const auto at_limit =
      std::count_if(spec.skew.begin(), spec.skew.end(), [](double k) { return std::abs(k) >= limit; });
  if (2 * static_cast<std::size_t>(at_limit) <= spec.skew.size()) return "";
  return fmt::format(
      "skew is at its limit of +-1 at {} of {} levels and times: the cells' changes are more one-sided than this law\n",
      at_limit, spec.skew.size());
}

std::string memory_text(double decades) {
  return decades > 0 ? fmt::format("{:.3g} decades", decades) : std::string("for ever");
}

}  // namespace

std::string relaxation_verdict(const RelaxationFit& fit) {
  std::string out = skew_warning(fit.spec);
  for (const FailedLevel& level : fit.failed) {
    out += fmt::format(
        "the level at {:.4g} uS failed: its {} cells are of two kinds, sd {:.3g} uS; it is not in the law\n",
        1e6 * level.level_S, level.cells, 1e6 * level.sd_S);
  }
  const auto text = [](const RelaxationErrors& e) {
    const std::string quantiles =
        e.judges_quantiles()
            ? fmt::format("{:.0f} % (30 %)", 100 * e.quantile)
            : fmt::format("not judged, too few cells (sampling error {:.0f} %)", 100 * e.quantile_sampling);
    return fmt::format("sd {:.0f} % rms (limit 12 %), quantiles 1 % and 99 % {}, correlations {:.2f} (0.15)",
                       100 * e.sd, quantiles, e.correlation);
  };
  std::vector<double> bad;
  for (const double level : fit.spec.level_S) {
    if (!fit.errors(level).describes()) bad.push_back(level);
  }
  const RelaxationErrors all = fit.errors();
  out += fmt::format("off over all levels: {}\n", text(all));
  if (!all.describes()) return out + "this law does not describe these levels\n";
  if (bad.empty()) return out;
  out += fmt::format("this law does not describe {} of {} levels:", bad.size(), fit.spec.level_S.size());
  for (const double level : bad) out += fmt::format(" {:.4g}", 1e6 * level);
  return out + " uS\n";
}

namespace {

/// Correlations of each pair of times, means over the levels.
std::string correlations_text(const RelaxationFit& fit) {
  std::map<std::pair<double, double>, std::array<double, 3>> of_times;
  for (const RelaxationPair& p : fit.pairs) {
    auto& [measured, model, n] = of_times[{p.early_s, p.late_s}];
    measured += p.measured;
    model += p.model;
    ++n;
  }
  std::string out = "correlations of two times, mean over levels: measured, model\n";
  for (const auto& [times, sums] : of_times) {
    out += fmt::format("{:9.3g} s, {:.3g} s: {:.2f}, {:.2f}\n", times.first, times.second, sums[0] / sums[2],
                       sums[1] / sums[2]);
  }
  return out;
}

}  // namespace

std::string relaxation_text(const RelaxationFit& fit) {
  std::string out = fmt::format(
      "{} cells, memory {}, correlations of two times within {:.2g} rms\n"
      "memory of volatility {}, persistence of steps {:.3f} (measured {:.3f}), within {:.2g} rms\n"
      "skew of changes (L-skewness, rms over levels and times) {:.3f} (measured {:.3f}{})\n"
      "{:>9} {:>9} {:>6} | {:>7} {:>7} | {:>7} {:>7} | {:>7} {:>7} | {:>7} {:>7} | beyond 4 sd, %\n"
      "{:>9} {:>9} {:>6} | {:>7} {:>7} | {:>7} {:>7} | {:>7} {:>7} | {:>7} {:>7} | measured model\n",
      fit.cells, memory_text(fit.spec.memory_decades), fit.correlation_error,
      memory_text(fit.spec.volatility_memory_decades), fit.volatility.persistence_model,
      fit.volatility.persistence_measured, fit.volatility.persistence_error, fit.volatility.skew_model,
      fit.volatility.skew_measured, fit.volatility.skewed ? "" : ": not significant, so the law has none", "level uS",
      "time s", "cells", "sd uS", "model", "mean uS", "model", "1 % uS", "model", "99 % uS", "model", "", "", "", "",
      "", "", "", "", "", "", "");
  for (const RelaxationRow& r : fit.rows) {
    out += fmt::format(
        "{:9.3f} {:9.3g} {:6} | {:7.3f} {:7.3f} | {:7.3f} {:7.3f} | {:7.2f} {:7.2f} | {:7.2f} {:7.2f} | {:.2f} "
        "{:.2f}\n",
        1e6 * r.level_S, r.time_s, r.cells, 1e6 * r.sd_measured_S, 1e6 * r.sd_model_S, 1e6 * r.mean_measured_S,
        1e6 * r.mean_model_S, 1e6 * r.low_measured_S, 1e6 * r.low_model_S, 1e6 * r.high_measured_S,
        1e6 * r.high_model_S, 100 * r.tail_measured, 100 * r.tail_model);
  }
  out += correlations_text(fit) + relaxation_verdict(fit);
  if (fit.left_out > 0) {
    out += fmt::format("{} measurements left out: their levels have fewer than {} cells at some time\n", fit.left_out,
                       RelaxationFit::least_cells);
  }
  return out;
}

std::string relaxation_toml(const RelaxationFit& fit, const std::string& source) {
  DeviceSpec spec;
  spec.g_min_S = fit.spec.level_S.front();
  spec.g_max_S = fit.spec.level_S.back();
  spec.relaxation = fit.spec;
  std::string out = fmt::format("# Relaxation fitted to {}: {} cells\n# g_min and g_max: lowest and highest level\n",
                                source, fit.cells);
  std::istringstream verdict(relaxation_verdict(fit));
  for (std::string line; std::getline(verdict, line);) out += "# " + line + "\n";
  return out + device_toml(spec);
}

}  // namespace nudge
