// SPDX-License-Identifier: Apache-2.0
// Requirements of a chip, and the designs worth building.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "apps/commands/spec_answer.hpp"
#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/errors.hpp"

namespace nudge::report {
namespace {

/// Cost on the x axis of a picture of the front: its place in cost_measures(), its words and the factor to its unit.
struct FrontCost {
  std::size_t place;
  const char* name;
  const char* label;
  double unit;
};
constexpr std::array<FrontCost, 3> front_costs = {{{0, "energy", "energy of an inference (nJ)", 1e9},
                                                   {2, "latency", "latency of an inference (us)", 1e6},
                                                   {3, "area", "area (um²)", 1e12}}};

/// Markers of the designs that are kept by `wanted`.
template <class Wanted>
Series designs_series(const SpecSheet& sheet, const FrontCost& cost, double score_unit, const std::string& name,
                      int color, Wanted wanted) {
  Series out{name, {}, {}, {}, {}, color};
  out.line = false;
  out.markers = true;
  for (const SpecDesign& one : sheet.designs) {
    if (!wanted(one)) continue;
    out.x.push_back(cost.unit * one.cost[cost.place]);
    out.y.push_back(score_unit * one.score);
  }
  return out;
}

/// Picture of the score over a cost; empty where all designs cost the same, to a thousandth.
std::string front_picture(const SpecRun& run, const SpecSheet& sheet, const FrontCost& cost) {
  std::vector<double> costs;
  for (const SpecDesign& one : sheet.designs) {
    if (std::isfinite(one.cost[cost.place])) costs.push_back(one.cost[cost.place]);
  }
  if (costs.empty()) return "";
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  constexpr double told_apart = 1e-3;  // of a cost; closer ones are one on the page
  if (*most - *least <= told_apart * *most) return "";
  const double unit = shown_unit(run.plan.metric);
  Chart chart;
  chart.title = fmt::format("Score of the designs over their {}", cost.name);
  chart.note = "On the front: no other design is as good in score, energy, latency and area, and better in one.";
  chart.x_label = cost.label;
  chart.y_label = words(run.plan.metric) + (unit == 1 ? "" : " (%)");
  chart.x_scale = spans_decades(costs) ? Scale::logarithmic : Scale::linear;
  std::vector<double> scores;
  for (const SpecDesign& one : sheet.designs) scores.push_back(one.score);
  chart.y_scale = unit == 1 && spans_decades(scores) ? Scale::logarithmic : Scale::linear;
  const auto own = [](const SpecDesign& one) { return one.label == kDesignRun; };
  chart.series.push_back(designs_series(sheet, cost, unit, "other designs", 7,
                                        [&](const SpecDesign& one) { return !one.front && !own(one); }));
  chart.series.push_back(designs_series(sheet, cost, unit, "on the Pareto front", 0,
                                        [&](const SpecDesign& one) { return one.front && !own(one); }));
  chart.series.push_back(designs_series(sheet, cost, unit, "the config", 1, own));
  return chart_figure(chart);
}

std::string paragraphs(const std::string& lines) {
  std::istringstream in(lines);
  std::string out;
  for (std::string line; std::getline(in, line);) out += paragraph(line);
  return out;
}

Opening spec_opening(const SpecSheet& sheet) {
  const auto counted = [&](SpecLimit::Verdict verdict) {
    return std::count_if(sheet.rows.begin(), sheet.rows.end(),
                         [&](const SpecRow& row) { return row.together.verdict(row.axis) == verdict; });
  };
  const auto met = counted(SpecLimit::Verdict::met), missed = counted(SpecLimit::Verdict::not_met);
  Opening out;
  out.title = fmt::format("The design meets {} of {} requirements for certain", met, sheet.rows.size());
  out.sentence = missed == 0 ? "None is missed for certain." : fmt::format("It misses {} for certain.", missed);
  if (const auto open = sheet.rows.size() - static_cast<std::size_t>(met + missed); open > 0) {
    out.sentence += fmt::format(" {} open: more seeds may tell.", open == 1 ? "One is" : std::to_string(open) + " are");
  }
  return out;
}

Section spec_of(const RunFile& file) {
  const SpecRun run = read_spec(file.path);
  const SpecSheet sheet = spec_sheet(run);
  if (!sheet.unknown.empty() || run.interrupted) {
    const std::string why =
        run.interrupted ? "Some trainings are still to be run. Continue it with nudge spec CONFIG --resume " + file.name
                        : "No requirement is known: " + sheet.unknown;
    return {{"A specification without requirements", why + ".", ""}, paragraph(why + ".")};
  }
  Section out{spec_opening(sheet), ""};
  std::string pictures;  // the first stands in the heading of the page
  for (const FrontCost& cost : front_costs) {
    std::string picture = front_picture(run, sheet, cost);
    (out.opening.figure.empty() ? out.opening.figure : pictures) += picture;
  }
  out.body = paragraphs(spec_references(run, sheet)) + table(requirement_rows(sheet)) +
             paragraphs(spec_notes(run, sheet)) + "<h3>Designs worth building</h3>\n" +
             paragraph(front_heading(run, sheet) + ".") + grid(pictures) + table(front_rows(run, sheet)) +
             paragraphs(front_notes());
  return out;
}

/// As spec_of(); a config that this version does not know is said on the page.
Section spec_or_fault(const RunFile& file) try { return spec_of(file); } catch (const UserError& error) {
  return {{"A specification that cannot be read", error.what(), ""}, paragraph(error.what())};
}

}  // namespace

Section spec_section(const std::vector<RunFile>& runs) {
  Section out;
  for (const RunFile& run : runs) {
    if (run.kind != "spec") continue;
    Section one = spec_or_fault(run);
    const bool first = out.body.empty();
    if (first) out.opening = one.opening;
    out.body += "<section>\n<h2>Requirements: " + escape(run.name) + "</h2>\n" +
                (first ? "" : grid(one.opening.figure)) + one.body + "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
