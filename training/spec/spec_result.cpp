// SPDX-License-Identifier: Apache-2.0
#include "training/spec/spec_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "sim/base/open_list.hpp"
#include "training/sweep/point_cost.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double better(const SpecRun& run) { return higher_is_better(run.plan.metric) ? 1 : -1; }

/// Value of a metric for a point; NaN: not run, or it failed.
double value_of(const Sweep& sweep, const SweepPoint& point, const std::string& metric) {
  return point.status == "ok" ? point.metrics[place_named(sweep.metrics, metric)] : kUnknown;
}

/// Points of the same settings, one for each seed.
using SpecCell = std::vector<const SweepPoint*>;

SpecScores scores_of_cell(const SpecRun& run, const std::string& name, const SpecCell& cell) {
  SpecScores out{name, {}, true};
  for (const std::int64_t seed : run.plan.options.seeds) {
    const auto at = std::find_if(cell.begin(), cell.end(), [&](const SweepPoint* p) { return p->seed == seed; });
    out.complete = out.complete && at != cell.end() && !(*at)->status.empty();
    out.scores.push_back(at == cell.end() ? kUnknown : value_of(run.sweep, **at, run.plan.metric));
  }
  return out;
}

/// Cells of a label, in the order in which they were planned.
std::vector<SpecCell> cells_of(const SpecRun& run, const std::string& label) {
  std::vector<SpecCell> cells;
  for (const SweepPoint& point : run.sweep.points) {
    if (point.values.front() != label) continue;
    const auto same = [&](const SpecCell& cell) { return cell.front()->values == point.values; };
    const auto at = std::find_if(cells.begin(), cells.end(), same);
    at == cells.end() ? cells.push_back({&point}) : at->push_back(&point);
  }
  return cells;
}

SpecScores scores_of_label(const SpecRun& run, const std::string& label) {
  const auto cells = cells_of(run, label);
  return scores_of_cell(run, label, cells.empty() ? SpecCell() : cells.front());
}

/// Baseline of the best mean score: runs that do not learn, and models without training where the score is theirs.
SpecScores strongest_baseline(const SpecRun& run) {
  std::vector<SpecScores> all;
  for (std::size_t m = 1; m < run.plan.methods.size(); ++m)
    all.push_back(scores_of_label(run, run.plan.methods[m].name));
  const auto of_model = [&](const std::string& name, double score) {
    all.push_back({name, std::vector<double>(run.plan.options.seeds.size(), score), true});
  };
  const bool of_score = run.plan.metric != "test_loss";
  if (of_score && run.sweep.references) {
    for (const ReferenceScore& row : run.sweep.references->rows) {
      if (row.split == "test") of_model(row.model, row.score);
    }
  }
  if (!of_score && run.sweep.lines && run.sweep.lines->test) {
    of_model("letter frequencies", run.sweep.lines->test->unigram);
    of_model("pairs of letters", run.sweep.lines->test->bigram);
  }
  SpecScores best{"", {}, false};
  for (SpecScores& one : all) {
    const double score = better(run) * one.mean();
    if (std::isfinite(score) && (best.name.empty() || score > better(run) * best.mean())) best = std::move(one);
  }
  return best;
}

double samples_of(const SpecRun& run) {
  if (run.plan.metric != "test_accuracy") return 0;
  for (const SweepPoint& point : run.sweep.points) {
    const double n = value_of(run.sweep, point, "test_samples");
    if (n > 0) return n;
  }
  return 0;
}

/// Differences better·(first − second) by seed.
std::vector<double> gains(const SpecRun& run, const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> out;
  for (std::size_t s = 0; s < first.size(); ++s) out.push_back(better(run) * (first[s] - second[s]));
  return out;
}

/// References of a run, looked up once.
struct SpecBase {
  SpecScores exact, null, clean;
  double samples;
};

SpecBase base_of(const SpecRun& run) {
  return {scores_of_label(run, run.plan.methods.front().name), strongest_baseline(run), scores_of_label(run, kCleanRun),
          samples_of(run)};
}

/// Test of paired gains of `first` over `second`, less `less` by seed.
SpecTest test_of(const SpecRun& run, const SpecBase& base, const SpecScores& first, const SpecScores& second,
                 const std::vector<double>& less, int tests) {
  std::vector<double> differences = gains(run, first.scores, second.scores);
  for (std::size_t s = 0; s < less.size(); ++s) differences[s] -= less[s];
  const double samples = &first == &second ? 0 : base.samples;  // against itself nothing is sampled
  return paired_test(differences, 0.5 * (first.mean() + second.mean()), samples, tests);
}

/// Excess of the loss of scores over `bound` times what exact numbers learn.
SpecTest excess_of(const SpecRun& run, const SpecBase& base, const SpecScores& one, double bound, int tests) {
  std::vector<double> allowed = gains(run, base.exact.scores, base.null.scores);
  for (double& value : allowed) value *= bound;
  return test_of(run, base, base.clean, one, allowed, tests);
}

/// Share that `second` loses against `first`, with the interval of the difference over the mean that is learnt.
SpecLoss loss_between(const SpecRun& run, const SpecBase& base, double learnt, const SpecScores& first,
                      const SpecScores& second) {
  const SpecTest test = test_of(run, base, first, second, {}, 1);
  if (!std::isfinite(test.mean) || !(learnt > 0)) return {};
  return {test.mean / learnt, test.low / learnt, test.high / learnt};
}

/// Reason why a loss cannot be a share of what exact numbers learn; empty: it can.
std::string why_unknown(const SpecRun& run, const SpecBase& base) {
  const auto failed = [](const SpecScores& one) { return one.name + ": not every run ended well"; };
  if (!std::isfinite(base.exact.mean())) return failed(base.exact);
  if (base.null.name.empty()) return "no baseline has a result";
  if (!std::isfinite(base.clean.mean())) return failed(base.clean);
  if (test_of(run, base, base.exact, base.null, {}, 1).low > 0) return "";
  return fmt::format(
      "digital weights are not significantly better than the strongest baseline, {}, so there is nothing that a loss "
      "is a share of. Train longer, or take a task that the baseline does not solve; task.references names the "
      "models without training that count",
      base.null.name);
}

std::array<double, 4> costs_of_cell(const SpecRun& run, const SpecCell& cell) {
  std::array<double, 4> out{};
  for (std::size_t c = 0; c < out.size(); ++c) {
    std::vector<double> values;
    for (const SweepPoint* point : cell) values.push_back(value_of(run.sweep, *point, cost_measures()[c].name));
    out[c] = spread_of_finite(values).mean;
  }
  return out;
}

/// A trial with its runs; none: of the design or of clean.
struct SpecCellTrial {
  SpecTrial trial;
  SpecCell cell;
};

std::vector<SpecCellTrial> cell_trials(const SpecRun& run, const SpecBase& base, const SpecAxis& axis, SpecMode mode) {
  const int tests = 2 * static_cast<int>(run.plan.found.axes.size());
  const double bound = run.plan.options.loss;
  const auto column = static_cast<std::size_t>(
      std::find(run.plan.columns.begin(), run.plan.columns.end(), axis.keys.front()) - run.plan.columns.begin());
  std::vector<SpecCellTrial> out;
  const bool alone = mode == SpecMode::alone;
  if (alone) out.push_back({{0, excess_of(run, base, base.clean, bound, tests)}, {}});
  std::vector<SpecCell> cells = cells_of(run, alone ? alone_label(axis) : together_label(axis));
  if (!alone) {
    const auto design = cells_of(run, kDesignRun);
    if (!design.empty()) cells.push_back(design.front());
  }
  for (const SpecCell& cell : cells) {
    const SpecScores one = scores_of_cell(run, "", cell);
    if (!one.complete) continue;
    out.push_back({{axis.position(cell.front()->numbers[column + 1]), excess_of(run, base, one, bound, tests)}, cell});
  }
  return out;
}

SpecRow row_of_axis(const SpecRun& run, const SpecBase& base, const SpecAxis& axis,
                    const std::array<double, 4>& design) {
  const auto only = [](const std::vector<SpecCellTrial>& all) {
    std::vector<SpecTrial> trials;
    for (const SpecCellTrial& one : all) trials.push_back(one.trial);
    return trials;
  };
  const auto alone = cell_trials(run, base, axis, SpecMode::alone);
  const auto together = cell_trials(run, base, axis, SpecMode::together);
  SpecRow row{axis, spec_limit(axis, only(alone)), spec_limit(axis, only(together)), {}};
  row.cost.fill(kUnknown);
  if (row.together.outcome == SpecOutcome::found && row.together.at) {
    const auto own = costs_of_cell(run, together[*row.together.at].cell);
    for (std::size_t c = 0; c < own.size(); ++c) row.cost[c] = own[c] / design[c];
  }
  return row;
}

/// Settings of a training that differ from the config.
std::vector<std::string> changed_settings(const SpecRun& run, const SweepPoint& point) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < run.plan.columns.size(); ++k) {
    const std::string& key = run.plan.columns[k];
    if (point.values[k + 1] != run.plan.base.as_text(key))
      out.push_back(fmt::format("{} = {}", key, point.values[k + 1]));
  }
  return out;
}

std::vector<double> objectives(const SpecRun& run, const SpecDesign& one) {
  return {-better(run) * one.score, one.cost[0], one.cost[2], one.cost[3]};
}

/// True if two trainings have the same values of all keys, however they are written: drawn designs may meet each other, or a bisection.
bool same_settings(const SweepPoint& a, const SweepPoint& b) {
  for (std::size_t k = 1; k < a.values.size(); ++k) {
    if (a.values[k] != b.values[k] && a.numbers[k] != b.numbers[k]) return false;  // NaN: no number
  }
  return true;
}

std::vector<SpecDesign> designs_of(const SpecRun& run, const SpecBase& base, double learnt) {
  std::vector<std::string> labels = {kDesignRun};
  for (const SpecAxis& axis : run.plan.found.axes) {
    if (axis.resource) labels.push_back(together_label(axis));  // other parts cannot be chosen
  }
  labels.emplace_back(kScreenRun);
  std::vector<SpecDesign> out;
  std::vector<const SweepPoint*> taken;
  for (const std::string& label : labels) {
    for (const SpecCell& cell : cells_of(run, label)) {
      const SpecScores one = scores_of_cell(run, label, cell);
      if (!std::isfinite(one.mean())) continue;
      const auto same = [&](const SweepPoint* other) { return same_settings(*other, *cell.front()); };
      if (std::any_of(taken.begin(), taken.end(), same)) continue;
      taken.push_back(cell.front());
      out.push_back({label, changed_settings(run, *cell.front()), one.mean(),
                     loss_between(run, base, learnt, base.clean, one), costs_of_cell(run, cell), true});
    }
  }
  for (SpecDesign& one : out) {
    one.front = std::none_of(out.begin(), out.end(), [&](const SpecDesign& other) {
      return dominates(objectives(run, other), objectives(run, one));
    });
  }
  return out;
}

}  // namespace

double SpecScores::mean() const {
  double sum = 0;
  for (const double one : scores) sum += one;
  return scores.empty() ? kUnknown : sum / static_cast<double>(scores.size());
}

bool dominates(const std::vector<double>& first, const std::vector<double>& second) {
  bool any = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (std::isnan(first[i]) && std::isnan(second[i])) continue;
    if (!(first[i] <= second[i])) return false;
    any = any || first[i] < second[i];
  }
  return any;
}

std::vector<SpecTrial> spec_trials(const SpecRun& run, const SpecAxis& axis, SpecMode mode) {
  std::vector<SpecTrial> trials;
  for (const SpecCellTrial& one : cell_trials(run, base_of(run), axis, mode)) trials.push_back(one.trial);
  return trials;
}

SpecSheet spec_sheet(const SpecRun& run) {
  const SpecBase base = base_of(run);
  SpecSheet sheet{why_unknown(run, base), base.exact, base.null, base.clean, scores_of_label(run, kDesignRun)};
  sheet.samples = base.samples;
  sheet.design_cost.fill(kUnknown);
  if (!sheet.unknown.empty()) return sheet;
  sheet.learnt = better(run) * (base.exact.mean() - base.null.mean());
  const auto between = [&](const SpecScores& first, const SpecScores& second) {
    return loss_between(run, base, sheet.learnt, first, second);
  };
  sheet.clean_loss = between(base.exact, base.clean);
  sheet.design_loss = between(base.clean, sheet.design);
  const auto design = cells_of(run, kDesignRun);
  if (!design.empty()) sheet.design_cost = costs_of_cell(run, design.front());
  for (const SpecAxis& axis : run.plan.found.axes)
    sheet.rows.push_back(row_of_axis(run, base, axis, sheet.design_cost));
  sheet.designs = designs_of(run, base, sheet.learnt);
  return sheet;
}

}  // namespace nudge
