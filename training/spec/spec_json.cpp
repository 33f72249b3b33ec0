// SPDX-License-Identifier: Apache-2.0
#include "training/spec/spec_json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nudge {
namespace {

bool worse_is_more(const SpecAxis& axis) { return std::abs(axis.worst) > std::abs(axis.best); }

std::string end_text(const SpecAxis& axis, double value) { return std::isfinite(value) ? axis.text(value) : "-"; }

}  // namespace

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.2g} %", 100 * share) : "not known";
}

std::string loss_text(const SpecLoss& loss) {
  if (!std::isfinite(loss.value)) return "not known";
  if (!std::isfinite(loss.low)) return share_text(loss.value) + " (no interval)";
  return fmt::format("{:.3g} % [{:.3g}, {:.3g}]", 100 * loss.value, 100 * loss.low, 100 * loss.high);
}

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

namespace {

nlohmann::json known_number_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json requirement_json(const SpecAxis& axis, const SpecLimit& one) {
  static const char* const names[] = {"found", "beyond", "fails", "open"};
  const auto margin = one.margin(axis);
  nlohmann::json out = {{"value", known_number_json(one.value)},
                        {"interval", {known_number_json(one.good), known_number_json(one.bad)}},
                        {"margin", margin ? known_number_json(*margin) : nlohmann::json(nullptr)},
                        {"outcome", names[static_cast<int>(one.outcome)]},
                        {"verdict", verdict_name(one.verdict(axis))},
                        {"text", requirement_text(axis, one)}};
  if (one.outcome == SpecOutcome::beyond) out["beyond"] = axis.worst;
  if (one.outcome == SpecOutcome::fails) out["fails_at"] = axis.best;
  return out;
}

nlohmann::json loss_json(const SpecLoss& loss) {
  return {{"value", known_number_json(loss.value)},
          {"interval", {known_number_json(loss.low), known_number_json(loss.high)}}};
}

nlohmann::json cost_json(const std::array<double, 4>& cost) {
  return {{"inference_energy", known_number_json(cost[0])},
          {"step_energy", known_number_json(cost[1])},
          {"latency", known_number_json(cost[2])},
          {"area", known_number_json(cost[3])}};
}

nlohmann::json spec_scores_json(const SpecScores& one) {
  nlohmann::json scores = nlohmann::json::array();
  for (const double score : one.scores) scores.push_back(known_number_json(score));
  return {{"name", one.name}, {"scores", scores}, {"mean", known_number_json(one.mean())}};
}

}  // namespace

nlohmann::json spec_json(const SpecRun& run, const SpecSheet& sheet) {
  nlohmann::json out = {{"metric", run.plan.metric},
                        {"loss", run.plan.options.loss},
                        {"learnt", known_number_json(sheet.learnt)},
                        {"unknown", sheet.unknown},
                        {"exact", spec_scores_json(sheet.exact)},
                        {"baseline", spec_scores_json(sheet.null)},
                        {"clean", spec_scores_json(sheet.clean)},
                        {"design", spec_scores_json(sheet.design)},
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
