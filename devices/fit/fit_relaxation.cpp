// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_relaxation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/fit/dip.hpp"
#include "devices/fit/long_table.hpp"
#include "devices/fit/outlying_readings.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr std::size_t least_cells = RelaxationFit::least_cells;
constexpr std::size_t simulated_cells = 16000;
constexpr int corrections = 5;
constexpr double out_of_reach = 6;  // spreads from 0 S: what stays at 0 S is then no matter
constexpr double far_wider = 1.5;
constexpr std::size_t beside = 3;  // levels on either side
constexpr double one_time = 1.5;   // times closer than this factor are one time

enum Columns : std::size_t { cell_column, time_column, conductance_column, start_column, level_column, nominal_column };

const std::vector<LongColumn>& relaxation_columns() {
  static const std::vector<LongColumn> columns = {
      {"cell", Unit::none, true},      {"time", Unit::second, true}, {"conductance", Unit::siemens, true},
      {"start", Unit::siemens, false}, {"level", Unit::none, false}, {"nominal", Unit::second, false}};
  return columns;
}

const std::vector<std::string> bare_columns = {"cell",  "time",  "resistance", "conductance",
                                               "start", "level", "nominal"};

/// Intended times, ascending, and the index of each row's time in them; rows at 0 s have none (size of times).
std::vector<double> group_times(const LongTable& table, std::vector<std::size_t>& which) {
  const bool named = !table.columns[nominal_column].empty();
  const std::vector<double>& t = table.columns[named ? nominal_column : time_column];
  std::vector<double> sorted = t;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::vector<double>> groups;
  for (const double s : sorted) {
    if (s <= 0) continue;
    const double factor = named ? 1 + 1e-9 : one_time;
    if (groups.empty() || s > factor * groups.back().back()) groups.emplace_back();
    groups.back().push_back(s);
  }
  std::vector<double> times;
  for (const auto& group : groups) times.push_back(group[group.size() / 2]);
  which.assign(t.size(), times.size());
  const auto ends_before = [](const std::vector<double>& group, double s) { return group.back() < s; };
  for (std::size_t i = 0; i < t.size(); ++i) {
    const auto own = std::lower_bound(groups.begin(), groups.end(), t[i], ends_before);
    if (t[i] > 0 && own != groups.end()) which[i] = static_cast<std::size_t>(own - groups.begin());
  }
  return times;
}

/// Takes each cell's first reading as its start where none is told: its row is then at 0 s, if others follow.
void begin_at_first(LongTable& table, std::vector<std::string>& notes) {
  if (!table.columns[start_column].empty()) return;
  std::vector<double>& time = table.columns[time_column];
  std::map<double, double> first;
  std::map<double, int> count;
  for (std::size_t i = 0; i < time.size(); ++i) {
    const auto [at, fresh] = first.emplace(table.columns[cell_column][i], time[i]);
    at->second = std::min(at->second, time[i]);
    ++count[at->first];
  }
  bool later = false;
  for (std::size_t i = 0; i < time.size(); ++i) {
    const double cell = table.columns[cell_column][i];
    if (time[i] != first.at(cell) || count[cell] < 2) continue;
    later = later || time[i] > 0;
    time[i] = 0;
    if (!table.columns[nominal_column].empty()) table.columns[nominal_column][i] = 0;
  }
  if (later) notes.push_back("no column start: each cell's first reading is its start");
}

/// Conductance as programmed of each row.
std::vector<double> starts_of(const LongTable& table) {
  if (!table.columns[start_column].empty()) return table.columns[start_column];
  std::map<double, std::pair<double, double>> first;
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const std::pair<double, double> here{table.columns[time_column][i], table.columns[conductance_column][i]};
    const auto [at, fresh] = first.emplace(table.columns[cell_column][i], here);
    if (!fresh && here.first < at->second.first) at->second = here;
  }
  std::vector<double> starts;
  for (const double cell : table.columns[cell_column]) starts.push_back(first.at(cell).second);
  return starts;
}

std::vector<double> levels_of(const LongTable& table, const std::vector<double>& starts) {
  if (!table.columns[level_column].empty()) return table.columns[level_column];
  constexpr std::size_t groups = 8;
  std::vector<double> sorted = starts;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> levels;
  for (const double start : starts) {
    const auto rank = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), start) - sorted.begin());
    levels.push_back(static_cast<double>(rank * groups / sorted.size()));
  }
  return levels;
}

/// Levels by mean start; levels with too few cells are left out and their rows counted in left_out.
std::vector<LevelCells> gather_levels(const LongTable& table, const std::vector<std::size_t>& which, std::size_t times,
                                      std::size_t& left_out, std::vector<std::string>& notes) {
  const std::vector<double> starts = starts_of(table);
  const std::vector<double> levels = levels_of(table, starts);
  std::vector<GroupedReading> readings;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    readings.push_back({levels[i], table.columns[conductance_column][i], starts[i], table.file, table.lines[i]});
  }
  check_negative(readings);
  note_outliers(readings, notes);
  std::map<double, LevelCells> all;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (which[i] >= times) continue;
    LevelCells& level = all[levels[i]];
    level.starts_S.push_back(starts[i]);
    level.changes[which[i]][table.columns[cell_column][i]] = table.columns[conductance_column][i] - starts[i];
  }
  std::vector<LevelCells> kept;
  for (auto& [name, level] : all) {
    bool enough = level.changes.size() == times;
    for (const auto& [k, changes] : level.changes) enough = enough && changes.size() >= least_cells;
    if (enough) {
      kept.push_back(std::move(level));
    } else {
      left_out += level.starts_S.size();
    }
  }
  std::sort(kept.begin(), kept.end(), [](const LevelCells& a, const LevelCells& b) {
    return moments_of(a.starts_S).mean < moments_of(b.starts_S).mean;
  });
  return kept;
}

/// Moments of simulated changes of the cells of level `number` at all times, with `seed` and the measured starts in turn.
std::vector<Moments> simulate(const RelaxationSpec& spec, const LevelCells& level, std::size_t number,
                              std::uint64_t seed) {
  std::vector<Moments> out;
  for (const auto& x : simulated_changes(spec, level, number, seed, simulated_cells)) out.push_back(moments_of(x));
  return out;
}

/// Takes out the levels that failed.
std::vector<FailedLevel> take_failed(std::vector<LevelCells>& levels, std::size_t last) {
  std::vector<Moments> moments;
  for (const LevelCells& level : levels) moments.push_back(moments_of(changes_of(level.changes.at(last))));
  std::vector<FailedLevel> failed;
  std::vector<LevelCells> kept;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::vector<double> others;
    for (std::size_t k = l - std::min(l, beside); k < std::min(levels.size(), l + beside + 1); ++k) {
      if (k != l) others.push_back(moments[k].sd);
    }
    const Moments& m = moments[l];
    const bool wide = others.size() > 1 && m.sd > far_wider * median(others);
    if (wide && has_two_modes(changes_of(levels[l].changes.at(last)))) {
      failed.push_back({moments_of(levels[l].starts_S).mean, m.sd, levels[l].changes.at(last).size()});
    } else {
      kept.push_back(std::move(levels[l]));
    }
  }
  levels = std::move(kept);
  return failed;
}

/// Quantile of unordered values, between the two nearest.
double quantile_of(std::vector<double> x, double share) {
  const double at = share * static_cast<double>(x.size() - 1);
  const auto k = static_cast<std::size_t>(at);
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(k), x.end());
  const double low = x[k];
  if (k + 1 == x.size()) return low;
  const double high = *std::min_element(x.begin() + static_cast<std::ptrdiff_t>(k) + 1, x.end());
  return low + (at - static_cast<double>(k)) * (high - low);
}

/// Standard error of the quantile of n cells of this law: half the way between those of `share` ± √(p (1 − p)/n).
double quantile_error(const std::vector<double>& model, double share, std::size_t n) {
  const double error = std::sqrt(share * (1 - share) / static_cast<double>(n));
  return (quantile_of(model, std::min(share + error, 1.0)) - quantile_of(model, std::max(share - error, 0.0))) / 2;
}

/// Adds rows and pairs of a level, measured and simulated.
void compare(const LevelCells& level, std::size_t number, RelaxationFit& fit) {
  const RelaxationSpec& spec = fit.spec;
  const auto model = simulated_changes(spec, level, number, 2, simulated_cells);
  for (std::size_t k = 0; k < spec.time_s.size(); ++k) {
    const std::vector<double> cells = changes_of(level.changes.at(k));
    const Moments m = moments_of(cells), s = moments_of(model[k]);
    fit.rows.push_back({spec.level_S[number], spec.time_s[k], cells.size(), m.sd, s.sd, m.mean, s.mean, m.tail, s.tail,
                        quantile_of(cells, 0.01), quantile_of(model[k], 0.01), quantile_of(cells, 0.99),
                        quantile_of(model[k], 0.99), quantile_error(model[k], 0.01, cells.size()),
                        quantile_error(model[k], 0.99, cells.size())});
    for (std::size_t j = k + 1; j < spec.time_s.size(); ++j) {
      const PairedChanges both = paired(level.changes.at(k), level.changes.at(j));
      if (both.early.size() < least_cells) continue;
      fit.pairs.push_back({spec.level_S[number], spec.time_s[k], spec.time_s[j], both.early.size(),
                           correlation_of(both), correlation_of({model[k], model[j]})});
    }
  }
}

/// Measured correlation of two times, √(V(s)/V(t)), and the decades between them.
struct TimePair {
  double measured, nested, decades;
};

double squared_error(const std::vector<TimePair>& pairs, double memory) {
  double sum = 0;
  for (const TimePair& p : pairs) {
    const double model = memory > 0 ? p.nested * std::exp(-p.decades / memory) : p.nested;
    sum += (p.measured - model) * (p.measured - model);
  }
  return sum;
}

void fit_memory(const std::vector<LevelCells>& levels, const std::vector<std::vector<Moments>>& measured,
                RelaxationFit& fit) {
  std::vector<TimePair> pairs;
  const std::vector<double>& t = fit.spec.time_s;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      for (std::size_t j = i + 1; j < t.size(); ++j) {
        const PairedChanges both = paired(levels[l].changes.at(i), levels[l].changes.at(j));
        if (both.early.size() < least_cells) continue;
        const double nested = std::min(measured[l][i].sd / measured[l][j].sd, 1.0);
        pairs.push_back({correlation_of(both), nested, std::log10(t[j] / t[i])});
      }
    }
  }
  if (pairs.empty()) return;
  double best = squared_error(pairs, 0);
  for (int k = 0; k <= 200; ++k) {
    const double memory = 0.1 * std::pow(1e4, k / 200.0);  // 0.1 to 1000 decades, 4.7 % apart
    if (squared_error(pairs, memory) >= best) continue;
    best = squared_error(pairs, memory);
    fit.spec.memory_decades = memory;
  }
  fit.correlation_error = std::sqrt(best / static_cast<double>(pairs.size()));
}

/// Moves the tables by the mean errors of the law's moments over the cells of each level. Simulated cells tell these errors where
/// cells that would pass 0 S stay there, so that draws must be wider and lower; elsewhere starts between levels cause them.
void correct(const std::vector<LevelCells>& levels, const std::vector<std::vector<Moments>>& measured,
             RelaxationSpec& spec) {
  const RelaxationSpec now = spec;
  const RelaxationLaw law(now);
  const std::size_t times = now.time_s.size();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::vector<Moments> model(times);
    if (now.level_S[l] <= out_of_reach * measured[l].back().sd) {
      model = simulate(now, levels[l], l, 1);
    } else {
      for (std::size_t k = 0; k < times; ++k) {
        double variance = 0;
        for (const double start : levels[l].starts_S) variance += law.variance_S2(start, now.time_s[k]);
        model[k].sd = std::sqrt(variance / static_cast<double>(levels[l].starts_S.size()));
        model[k].mean = measured[l][k].mean;
      }
    }
    for (std::size_t k = 0; k < times; ++k) {
      const Moments& m = measured[l][k];
      double& spread = spec.spread_S[l * times + k];
      spread *= std::clamp(m.sd / std::max(model[k].sd, 1e-3 * m.sd), 0.5, 2.0);
      spec.mean_S[l * times + k] += m.mean - model[k].mean;
    }
  }
}

}  // namespace

RelaxationFit fit_relaxation(const std::string& path, TableLook* look) {
  return parse_and_fit_relaxation(read_table_text(path), path, look);
}

RelaxationFit parse_and_fit_relaxation(std::string_view text, const std::string& file, TableLook* look) {
  TableLook unasked;
  TableLook& seen = look != nullptr ? *look : unasked;
  LongTable table = parse_long_table(text, file, relaxation_columns(), bare_columns, seen);
  begin_at_first(table, seen.understood.back().notes);
  RelaxationFit fit;
  std::vector<std::size_t> which;
  fit.spec.time_s = group_times(table, which);
  const std::size_t times = fit.spec.time_s.size();
  if (times < 2) {
    csv_fail(table.file, fmt::format("{} time after programming (at least 2 are needed, each longer than 0 s)", times));
  }
  std::vector<LevelCells> levels = gather_levels(table, which, times, fit.left_out, seen.understood.back().notes);
  if (levels.empty()) {
    csv_fail(
        table.file,
        fmt::format("no level has {} cells at each of the {} times. A column level tells which cells are of one level; "
                    "without it they are put into eight groups by their start",
                    least_cells, times));
  }
  fit.failed = take_failed(levels, times - 1);
  std::vector<std::vector<Moments>> measured;
  for (const LevelCells& level : levels) {
    fit.spec.level_S.push_back(std::max(moments_of(level.starts_S).mean, 0.0));  // a reader's offset
    measured.emplace_back();
    for (std::size_t k = 0; k < times; ++k) {
      const Moments m = moments_of(changes_of(level.changes.at(k)));
      if (m.sd == 0) {
        csv_fail(table.file, fmt::format("all cells of the level of {:.4g} uS have changed by the same after {:g} s: "
                                         "there is no spread to fit",
                                         1e6 * fit.spec.level_S.back(), fit.spec.time_s[k]));
      }
      measured.back().push_back(m);
      fit.spec.spread_S.push_back(m.sd);
      fit.spec.mean_S.push_back(m.mean);
    }
    fit.cells += level.changes.at(times - 1).size();
  }
  for (std::size_t l = 1; l < levels.size(); ++l) {
    if (fit.spec.level_S[l] <= fit.spec.level_S[l - 1]) csv_fail(table.file, "two levels start from the same mean");
  }
  fit_memory(levels, measured, fit);
  fit.volatility = fit_volatility(levels, fit.spec);
  for (int pass = 0; pass < corrections; ++pass) correct(levels, measured, fit.spec);
  for (std::size_t l = 0; l < levels.size(); ++l) compare(levels[l], l, fit);
  return fit;
}

}  // namespace nudge
