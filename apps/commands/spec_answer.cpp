// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/spec_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/commands/text_lines.hpp"
#include "sim/base/statistics.hpp"
#include "training/spec/spec_json.hpp"

namespace nudge {
namespace {

/// Metric of score_text(): "accuracy" of "test_accuracy".
std::string metric_of(const SpecPlan& plan) { return plan.metric.substr(std::string("test_").size()); }

std::string change_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : "-";
}

std::string quantity_or_dash(double value, Unit unit) {
  return std::isfinite(value) ? format_quantity(value, unit, 3) : "-";
}

std::string area_text(double m2) { return std::isfinite(m2) ? fmt::format("{:.4g} um^2", 1e12 * m2) : "-"; }

}  // namespace

std::string spec_references(const SpecRun& run, const SpecSheet& sheet) {
  const std::string metric = metric_of(run.plan);
  const auto score = [&](const SpecScores& one) { return score_text(metric, one.mean()); };
  std::string out =
      fmt::format("{}: digital weights {}, strongest baseline {} ({}), clean {}, design {}\n", run.plan.metric,
                  score(sheet.exact), score(sheet.null), sheet.null.name, score(sheet.clean), score(sheet.design));
  out += fmt::format(
      "clean: every key of the table at its best. It loses {} of what digital weights learn, which no key of the table "
      "explains.\n"
      "design: the config. It loses {} more.\n"
      "A requirement stands where {} is lost against clean",
      loss_text(sheet.clean_loss), loss_text(sheet.design_loss), share_text(run.plan.options.loss));
  const double bound = run.plan.options.loss * sheet.learnt;
  if (metric != "accuracy" || sheet.samples == 0) return out + ".\n";
  return out + fmt::format(": {:.3g} points, {:.3g} of {:.0f} test samples.\n", 100 * bound, bound * sheet.samples,
                           sheet.samples);
}

std::vector<std::vector<std::string>> requirement_rows(const SpecSheet& sheet) {
  std::vector<std::vector<std::string>> rows = {
      {"key", "alone", "with the others as specified", "design", "margin", "verdict", "energy", "latency", "area"}};
  for (const SpecRow& row : sheet.rows) {
    const SpecAxis& axis = row.axis;
    rows.push_back({axis.name, requirement_text(axis, row.alone), requirement_text(axis, row.together),
                    axis.text(axis.own), margin_text(axis, row.together), verdict_name(row.together.verdict(axis)),
                    change_text(row.cost[0]), change_text(row.cost[2]), change_text(row.cost[3])});
  }
  return rows;
}

std::string spec_notes(const SpecRun& run, const SpecSheet& sheet) {
  std::string out;
  for (const SpecRow& row : sheet.rows) {
    if (row.axis.keys.size() > 1) out += fmt::format("{} moves with {}\n", row.axis.keys[1], row.axis.name);
  }
  const std::size_t tests = 2 * sheet.rows.size();
  out += fmt::format(
      "[worst value that is met for certain, best value that is not]: 95 % for all {} requirements together, over {} "
      "seeds{}. -: no tried value is certain. margin: x, the factor by which the design could worsen; else the "
      "distance. "
      "energy, latency, area: of an inference at the requirement, against the design\n",
      tests, run.plan.options.seeds.size(),
      sheet.samples > 0 ? fmt::format(", and no narrower than {:.0f} test samples allow", sheet.samples)
                        : " (not over test samples)");
  if (sheet.samples > 0) {
    const double share = 1 - 0.05 / (2.0 * static_cast<double>(tests));
    constexpr int many = 1000000;
    const double floor = student_t_quantile(share, many) * binomial_floor(sheet.clean.mean(), sheet.samples);
    if (floor > run.plan.options.loss * sheet.learnt) {
      out += fmt::format(
          "{:.0f} test samples cannot tell less than {:.3g} points ({}) from no loss, more than the stated loss: no "
          "value "
          "is met for certain. Use a larger data.test_fraction, spec.metric = loss, or a larger spec.loss\n",
          sheet.samples, 100 * floor, share_text(floor / sheet.learnt));
    }
  }
  return out;
}

std::string front_heading(const SpecRun& run, const SpecSheet& sheet) {
  const auto on_it =
      std::count_if(sheet.designs.begin(), sheet.designs.end(), [](const SpecDesign& one) { return one.front; });
  return fmt::format(
      "Pareto front of {} designs ({} on it): none is as good in {}, energy, latency and area, and better in one",
      sheet.designs.size(), on_it, metric_of(run.plan));
}

std::vector<std::vector<std::string>> front_rows(const SpecRun& run, const SpecSheet& sheet) {
  std::vector<std::vector<std::string>> rows = {
      {"design", metric_of(run.plan), "loss", "energy of an inference", "of a training step", "latency", "area"}};
  for (const SpecDesign& one : sheet.designs) {
    if (!one.front) continue;
    rows.push_back({one.settings.empty() ? "the config" : fmt::format("{}", fmt::join(one.settings, ", ")),
                    score_text(metric_of(run.plan), one.score), loss_text(one.loss),
                    quantity_or_dash(one.cost[0], Unit::joule), quantity_or_dash(one.cost[1], Unit::joule),
                    quantity_or_dash(one.cost[2], Unit::second), area_text(one.cost[3])});
  }
  return rows;
}

std::string front_notes() {
  return "Means of the same seeds that chose the front: a design on it may be there by chance. Costs are of the parts "
         "that the cost card knows\n";
}

std::string spec_plan_text(const SpecPlan& plan) {
  std::string out = fmt::format("{} keys, {} seeds: at most {} trainings (spec.runs = {})\n", plan.found.axes.size(),
                                plan.options.seeds.size(), plan.most_runs(), plan.options.runs);
  for (const std::string& one : plan.found.left_out) out += "not on the list: " + one + "\n";
  return out;
}

std::string spec_text(const SpecRun& run, const SpecSheet& sheet) {
  if (!sheet.unknown.empty()) return "";
  return spec_references(run, sheet) + "\n" + text_table(requirement_rows(sheet), 1) + spec_notes(run, sheet) + "\n" +
         front_heading(run, sheet) + "\n" + text_table(front_rows(run, sheet), 1) + front_notes();
}

}  // namespace nudge
