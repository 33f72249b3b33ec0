// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/spec_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/commands/text_lines.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

/// Metric of score_text(): "accuracy" of "test_accuracy".
std::string metric_of(const SpecPlan& plan) { return plan.metric.substr(std::string("test_").size()); }

std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.2g} %", 100 * share) : "not known"; }

std::string loss_text(const SpecLoss& loss) {
  if (!std::isfinite(loss.value)) return "not known";
  if (!std::isfinite(loss.low)) return percent(loss.value) + " (no interval)";
  return fmt::format("{:.3g} % [{:.3g}, {:.3g}]", 100 * loss.value, 100 * loss.low, 100 * loss.high);
}

bool worse_is_more(const SpecAxis& axis) { return std::abs(axis.worst) > std::abs(axis.best); }

std::string end_text(const SpecAxis& axis, double value) { return std::isfinite(value) ? axis.text(value) : "-"; }

/// "8.1 % [2.5 %, 30 %]", "> 100 %", "fails at 12".
std::string requirement_text(const SpecAxis& axis, const SpecLimit& one) {
  switch (one.outcome) {
    case SpecOutcome::beyond: return fmt::format("{} {}", worse_is_more(axis) ? ">" : "<", axis.text(axis.worst));
    case SpecOutcome::fails: return "fails at " + axis.text(axis.best);
    case SpecOutcome::open:
      return fmt::format("not resolved [{}, {}]", end_text(axis, one.good), end_text(axis, one.bad));
    case SpecOutcome::found: break;
  }
  return fmt::format("{} [{}, {}]", axis.text(one.value), end_text(axis, one.good), end_text(axis, one.bad));
}

std::string margin_text(const SpecAxis& axis, const SpecLimit& one) {
  const auto margin = one.margin(axis);
  if (!margin) return "-";
  return axis.logarithmic ? fmt::format("x {:.2g}", *margin)
                          : fmt::format("{}{}", *margin > 0 ? "+" : "",
                                        axis.whole ? fmt::format("{:.0f}", *margin) : fmt::format("{:.2g}", *margin));
}

const char* verdict_name(SpecLimit::Verdict verdict) {
  return verdict == SpecLimit::Verdict::met ? "met" : verdict == SpecLimit::Verdict::open ? "open" : "not met";
}

std::string change_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:+.1f} %", 100 * (ratio - 1)) : "-";
}

std::string quantity_or_dash(double value, Unit unit) {
  return std::isfinite(value) ? format_quantity(value, unit, 3) : "-";
}

std::string area_text(double m2) { return std::isfinite(m2) ? fmt::format("{:.4g} um^2", 1e12 * m2) : "-"; }

std::string references_of(const SpecRun& run, const SpecSheet& sheet) {
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
      loss_text(sheet.clean_loss), loss_text(sheet.design_loss), percent(run.plan.options.loss));
  const double bound = run.plan.options.loss * sheet.learnt;
  if (metric != "accuracy" || sheet.samples == 0) return out + ".\n";
  return out + fmt::format(": {:.3g} points, {:.3g} of {:.0f} test samples.\n", 100 * bound, bound * sheet.samples,
                           sheet.samples);
}

std::string requirements_table(const SpecSheet& sheet) {
  std::vector<std::vector<std::string>> rows = {
      {"key", "alone", "with the others as specified", "design", "margin", "verdict", "energy", "latency", "area"}};
  for (const SpecRow& row : sheet.rows) {
    const SpecAxis& axis = row.axis;
    rows.push_back({axis.name, requirement_text(axis, row.alone), requirement_text(axis, row.together),
                    axis.text(axis.own), margin_text(axis, row.together), verdict_name(row.together.verdict(axis)),
                    change_text(row.cost[0]), change_text(row.cost[2]), change_text(row.cost[3])});
  }
  return text_table(rows, 1);
}

std::string tied_text(const SpecSheet& sheet) {
  std::string out;
  for (const SpecRow& row : sheet.rows) {
    if (row.axis.keys.size() > 1) out += fmt::format("{} moves with {}\n", row.axis.keys[1], row.axis.name);
  }
  return out;
}

/// What the intervals cover, and what they can resolve.
std::string notes_of(const SpecRun& run, const SpecSheet& sheet) {
  const std::size_t tests = 2 * sheet.rows.size();
  std::string out = fmt::format(
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
          sheet.samples, 100 * floor, percent(floor / sheet.learnt));
    }
  }
  return out;
}

std::string front_text(const SpecRun& run, const SpecSheet& sheet) {
  std::vector<std::vector<std::string>> rows = {
      {"design", metric_of(run.plan), "loss", "energy of an inference", "of a training step", "latency", "area"}};
  for (const SpecDesign& one : sheet.designs) {
    if (!one.front) continue;
    rows.push_back({one.settings.empty() ? "the config" : fmt::format("{}", fmt::join(one.settings, ", ")),
                    score_text(metric_of(run.plan), one.score), loss_text(one.loss),
                    quantity_or_dash(one.cost[0], Unit::joule), quantity_or_dash(one.cost[1], Unit::joule),
                    quantity_or_dash(one.cost[2], Unit::second), area_text(one.cost[3])});
  }
  return fmt::format(
             "\nPareto front of {} designs ({} on it): none is as good in {}, energy, latency and area, and better "
             "in one\n",
             sheet.designs.size(), rows.size() - 1, metric_of(run.plan)) +
         text_table(rows, 1) +
         "Means of the same seeds that chose the front: a design on it may be there by chance. Costs are of the parts "
         "that "
         "the cost card knows\n";
}

}  // namespace

std::string spec_plan_text(const SpecPlan& plan) {
  std::string out = fmt::format("{} keys, {} seeds: at most {} trainings (spec.runs = {})\n", plan.found.axes.size(),
                                plan.options.seeds.size(), plan.most_runs(), plan.options.runs);
  for (const std::string& one : plan.found.left_out) out += "not on the list: " + one + "\n";
  return out;
}

std::string spec_text(const SpecRun& run, const SpecSheet& sheet) {
  if (!sheet.unknown.empty()) return "";
  return references_of(run, sheet) + "\n" + requirements_table(sheet) + tied_text(sheet) + notes_of(run, sheet) +
         front_text(run, sheet);
}

namespace {

nlohmann::json number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json requirement_json(const SpecAxis& axis, const SpecLimit& one) {
  static const char* const names[] = {"found", "beyond", "fails", "open"};
  const auto margin = one.margin(axis);
  nlohmann::json out = {{"value", number_json(one.value)},
                        {"interval", {number_json(one.good), number_json(one.bad)}},
                        {"margin", margin ? number_json(*margin) : nlohmann::json(nullptr)},
                        {"outcome", names[static_cast<int>(one.outcome)]},
                        {"verdict", verdict_name(one.verdict(axis))},
                        {"text", requirement_text(axis, one)}};
  if (one.outcome == SpecOutcome::beyond) out["beyond"] = axis.worst;
  if (one.outcome == SpecOutcome::fails) out["fails_at"] = axis.best;
  return out;
}

nlohmann::json loss_json(const SpecLoss& loss) {
  return {{"value", number_json(loss.value)}, {"interval", {number_json(loss.low), number_json(loss.high)}}};
}

nlohmann::json cost_json(const std::array<double, 4>& cost) {
  return {{"inference_energy", number_json(cost[0])},
          {"step_energy", number_json(cost[1])},
          {"latency", number_json(cost[2])},
          {"area", number_json(cost[3])}};
}

nlohmann::json scores_json(const SpecScores& one) {
  nlohmann::json scores = nlohmann::json::array();
  for (const double score : one.scores) scores.push_back(number_json(score));
  return {{"name", one.name}, {"scores", scores}, {"mean", number_json(one.mean())}};
}

}  // namespace

nlohmann::json spec_json(const SpecRun& run, const SpecSheet& sheet) {
  nlohmann::json out = {{"metric", run.plan.metric},
                        {"loss", run.plan.options.loss},
                        {"learnt", number_json(sheet.learnt)},
                        {"unknown", sheet.unknown},
                        {"exact", scores_json(sheet.exact)},
                        {"baseline", scores_json(sheet.null)},
                        {"clean", scores_json(sheet.clean)},
                        {"design", scores_json(sheet.design)},
                        {"test_samples", sheet.samples},
                        {"runs", run.sweep.points.size()},
                        {"most_runs", run.plan.most_runs()},
                        {"left_out", run.plan.found.left_out},
                        {"requirements", nlohmann::json::array()},
                        {"pareto", nlohmann::json::array()}};
  if (!sheet.unknown.empty()) return out;
  out["clean_loss"] = loss_json(sheet.clean_loss);
  out["design_loss"] = loss_json(sheet.design_loss);
  out["design_cost"] = cost_json(sheet.design_cost);
  for (const SpecRow& row : sheet.rows) {
    const SpecAxis& axis = row.axis;
    nlohmann::json one = requirement_json(axis, row.together);
    one["key"] = axis.keys.front();
    one["name"] = axis.name;
    one["keys"] = axis.keys;
    one["range"] = {axis.best, axis.worst};
    one["design"] = axis.own_is_ideal() ? nlohmann::json(nullptr) : nlohmann::json(axis.own);
    one["margin_is"] = axis.logarithmic ? "factor" : "distance";
    one["cost_ratio"] = cost_json(row.cost);
    one["alone"] = requirement_json(axis, row.alone);
    out["requirements"].push_back(std::move(one));
  }
  out["designs"] = sheet.designs.size();
  for (const SpecDesign& one : sheet.designs) {
    if (!one.front) continue;
    nlohmann::json row = cost_json(one.cost);
    row["settings"] = one.settings;
    row["score"] = one.score;
    row["loss"] = loss_json(one.loss);
    row["label"] = one.label;
    out["pareto"].push_back(std::move(row));
  }
  return out;
}

}  // namespace nudge
