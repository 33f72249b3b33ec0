// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_disturb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <map>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

enum DisturbColumn : std::size_t { disturbed_cell_at, disturb_reads_at, disturb_time_at, disturbed_S_at };

std::vector<LongColumn> disturb_columns() {
  return {{"cell", Unit::none, false},
          {"reads", Unit::none, false},
          {"time", Unit::second, false},
          {"conductance", Unit::siemens, true}};
}

/// Best g_r for a time T_r over cells of own starts, and the squares that it leaves.
struct TargetFit {
  double target_S = 0, squares = 0, weight = 0;  ///< weight: squares rise by weight (g_r − target)²
};

TargetFit target_at(const std::vector<ReadCell>& cells, double time_s) {
  double weight = 0, moment = 0, squares = 0;
  for (const ReadCell& cell : cells) {
    // With a = exp(−t/T): y − y_0 a = g_r (1 − a) + d a. The start d of the cell is eliminated.
    double aa = 0, ab = 0, bb = 0, az = 0, bz = 0, zz = 0;
    const double first = cell.conductance_S.front();
    for (std::size_t i = 0; i < cell.read_s.size(); ++i) {
      const double gone = -std::expm1(-cell.read_s[i] / time_s), kept = 1 - gone;
      const double z = cell.conductance_S[i] - first * kept;
      aa += kept * kept, ab += kept * gone, bb += gone * gone;
      az += kept * z, bz += gone * z, zz += z * z;
    }
    weight += bb - ab * ab / aa;
    moment += bz - ab * az / aa;
    squares += zz - az * az / aa;
  }
  const double target = weight > 0 ? std::max(moment / weight, 0.0) : 0;
  return {target, std::max(squares - 2 * target * moment + target * target * weight, 0.0), std::max(weight, 0.0)};
}

/// Squares about the mean of each cell.
double squares_about_means(const std::vector<ReadCell>& cells) {
  double sum = 0;
  for (const ReadCell& cell : cells) {
    double mean = 0;
    for (const double g : cell.conductance_S) mean += g / static_cast<double>(cell.conductance_S.size());
    for (const double g : cell.conductance_S) sum += (g - mean) * (g - mean);
  }
  return sum;
}

/// Correlation of the errors of the law from one reading of a cell to its next.
double error_correlation(const std::vector<ReadCell>& cells, double time_s, double target_S) {
  double lag = 0, all = 0;
  for (const ReadCell& cell : cells) {
    double aa = 0, ay = 0;
    for (std::size_t i = 0; i < cell.read_s.size(); ++i) {
      const double kept = std::exp(-cell.read_s[i] / time_s);
      aa += kept * kept, ay += kept * (cell.conductance_S[i] - target_S);
    }
    double last = 0;
    for (std::size_t i = 0; i < cell.read_s.size(); ++i) {
      const double off = cell.conductance_S[i] - target_S - ay / aa * std::exp(-cell.read_s[i] / time_s);
      if (i > 0) lag += off * last;
      all += off * off;
      last = off;
    }
  }
  return all > 0 ? lag / all : 0;
}

/// Interval of T_r and of g_r: what leaves squares of at most `limit`. ln T_r is looked at in steps between `from` and `to`.
void set_disturb_ends(const std::vector<ReadCell>& cells, DisturbFit& fit, double from, double to, double limit) {
  constexpr int points = 4000;  // 1 % of T_r
  const auto above = [&](double ln_s) { return target_at(cells, std::exp(ln_s)).squares > limit; };
  const auto crossing_from = [&](double inside, double outside) {
    for (int k = 0; k < 40; ++k) {
      const double middle = 0.5 * (inside + outside);
      (above(middle) ? outside : inside) = middle;
    }
    return inside;
  };
  const double best = std::log(fit.time_s.value), step = (to - from) / points;
  double low = best, high = best;
  while (low > from && !above(low)) low -= step;
  while (high < to && !above(high)) high += step;
  if (above(low)) fit.time_s.low = std::exp(crossing_from(std::min(low + step, best), low));
  if (above(high)) fit.time_s.high = std::exp(crossing_from(std::max(high - step, best), high));
  if (!fit.time_s.closes()) return;  // the target goes wherever the time does
  constexpr int places = 400;
  double least = fit.target_S.value, most = least;
  for (int k = 0; k <= places; ++k) {
    const double ln_s = std::log(fit.time_s.low) + (std::log(fit.time_s.high) - std::log(fit.time_s.low)) * k / places;
    const TargetFit at = target_at(cells, std::exp(ln_s));
    const double half = std::sqrt(std::max(limit - at.squares, 0.0) / at.weight);
    least = std::min(least, at.target_S - half);
    most = std::max(most, at.target_S + half);
  }
  fit.target_S.low = std::max(least, 0.0);
  fit.target_S.high = most;
}

std::string disturb_number(const DisturbNumber& n, Unit unit) {
  const auto end = [&](double v) { return v == v ? format_quantity(v, unit, 4) : std::string("?"); };
  return fmt::format("{} ({} to {})", end(n.value), end(n.low), end(n.high));
}

}  // namespace

std::vector<ReadCell> parse_reads(std::string_view text, const std::string& file, double read_time_s, TableLook& look) {
  const LongTable table = parse_long_table(text, file, disturb_columns(), {"reads", "conductance"}, look);
  const bool counted = table.columns[disturb_time_at].empty();
  const std::vector<double>& at = table.columns[counted ? disturb_reads_at : disturb_time_at];
  if (at.empty()) {
    csv_fail(file, "column \"reads\" is missing (or \"time\", for which the read voltage stood across the cell)");
  }
  if (counted && !(read_time_s > 0)) {
    csv_fail(file, "reads are counted: say how long the read voltage stands at each (--read-time \"100 ns\")");
  }
  const std::vector<double>& names = table.columns[disturbed_cell_at];
  std::map<double, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < table.lines.size(); ++i) rows[names.empty() ? 0 : names[i]].push_back(i);
  std::vector<ReadCell> cells;
  for (const auto& [name, own] : rows) {
    ReadCell cell;
    for (const std::size_t i : own) {
      const double seconds = at[i] * (counted ? read_time_s : 1);
      const std::string where = fmt::format("{}:{}", file, table.lines[i]);
      if (!(seconds >= 0)) csv_fail(where, fmt::format("{} reads (must be 0 or more)", at[i]));
      if (!cell.read_s.empty() && !(seconds > cell.read_s.back())) {
        csv_fail(where, fmt::format("{} {:g} does not rise (name the cells in a column cell)",
                                    counted ? "reads" : "time", at[i]));
      }
      cell.read_s.push_back(seconds);
      cell.conductance_S.push_back(table.columns[disturbed_S_at][i]);
    }
    if (cell.read_s.size() < 4) {
      csv_fail(fmt::format("{}:{}", file, table.lines[own.back()]),
               fmt::format("{} readings of a cell (at least 4 are needed)", cell.read_s.size()));
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

DisturbFit fit_disturb(const std::vector<ReadCell>& cells) {
  NUDGE_EXPECT(!cells.empty());
  DisturbFit fit;
  fit.cells = cells.size();
  double shortest = std::numeric_limits<double>::infinity();
  for (const ReadCell& cell : cells) {
    fit.reads += cell.read_s.size();
    fit.longest_s = std::max(fit.longest_s, cell.read_s.back() - cell.read_s.front());
    for (std::size_t i = 1; i < cell.read_s.size(); ++i) {
      shortest = std::min(shortest, cell.read_s[i] - cell.read_s[i - 1]);
    }
  }
  const double from = std::log(shortest / 100), to = std::log(1000 * fit.longest_s);
  const auto squares = [&](double ln_s) { return target_at(cells, std::exp(ln_s)).squares; };
  constexpr int points = 1000;
  const double step = (to - from) / points;
  int best = 0;
  double best_squares = squares(from);
  for (int k = 1; k <= points; ++k) {
    const double here = squares(from + step * k);
    if (here < best_squares) best = k, best_squares = here;
  }
  const auto [ln_s, least] = boost::math::tools::brent_find_minima(squares, from + step * std::max(best - 1, 0),
                                                                   from + step * std::min(best + 1, points),
                                                                   std::numeric_limits<double>::digits / 2);
  fit.time_s.value = std::exp(ln_s);
  fit.target_S.value = target_at(cells, fit.time_s.value).target_S;
  fit.correlation = error_correlation(cells, fit.time_s.value, fit.target_S.value);
  const double still = squares_about_means(cells);
  const auto n = static_cast<double>(fit.reads);
  fit.rms_S = std::sqrt(least / n);
  fit.rms_still_S = std::sqrt(still / n);
  const int freedom = static_cast<int>(fit.reads - fit.cells) - 2;
  const double t = student_t_quantile(0.975, freedom);
  const double floor = std::max(least, 1e-24 * still);  // of rounding
  set_disturb_ends(cells, fit, from, to, floor * (1 + t * t / freedom));
  fit.shows = still > 0 && n * std::log(floor / still) + 4 < 0 && fit.time_s.closes();
  return fit;
}

std::string disturb_text(const DisturbFit& fit) {
  std::string out = fmt::format("{} cells, {} readings, up to {} under the read voltage (95 % intervals)\n", fit.cells,
                                fit.reads, format_quantity(fit.longest_s, Unit::second, 4));
  if (!fit.shows) {
    return out + fmt::format("  no read disturb shows: the law leaves {} rms, cells that keep their conductance {}\n",
                             format_quantity(fit.rms_S, Unit::siemens, 3),
                             format_quantity(fit.rms_still_S, Unit::siemens, 3));
  }
  out += fmt::format("  T_r          {}\n  g_r          {}\n", disturb_number(fit.time_s, Unit::second),
                     disturb_number(fit.target_S, Unit::siemens));
  out += fmt::format("  the law leaves {} rms, cells that keep their conductance {}\n",
                     format_quantity(fit.rms_S, Unit::siemens, 3), format_quantity(fit.rms_still_S, Unit::siemens, 3));
  const double chance = 3 / std::sqrt(static_cast<double>(fit.reads));
  if (std::abs(fit.correlation) > chance) {
    out += fmt::format(
        "warning: errors correlate by {:+.2f} from reading to reading (white noise: within {:.2f}). Another law or "
        "slow noise is there, and intervals are too narrow\n",
        fit.correlation, chance);
  }
  return out;
}

std::string disturb_toml(const DisturbFit& fit, const std::string& source, double g_min_S, double g_max_S) {
  std::string out = fmt::format("# Read disturb fitted to {}\n", source);
  const std::string text = disturb_text(fit);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  if (!fit.shows) return out;
  if (!(g_max_S > g_min_S)) {
    return out +
           "# no section [device]: read_disturb_target is a place in the window. Give it by --window \"1 uS,25 uS\"\n";
  }
  const double place = (fit.target_S.value - g_min_S) / (g_max_S - g_min_S);
  if (place < 0 || place > 1) {
    out += fmt::format("# warning: g_r lies outside the window; read_disturb_target is its nearer end\n");
  }
  return out + fmt::format("[device]\ng_min = {}\ng_max = {}\nread_disturb_time = {}\nread_disturb_target = {}\n",
                           g_min_S, g_max_S, fit.time_s.value, std::clamp(place, 0.0, 1.0));
}

}  // namespace nudge
