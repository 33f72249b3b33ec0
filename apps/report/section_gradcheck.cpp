// SPDX-License-Identifier: Apache-2.0
// The tables of gradcheck: estimators by parameter groups, coloured by how far the cosine is from 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

/// Cosines by estimator (rows) and parameter group (columns), in the order of the file.
struct Agreement {
  std::vector<std::string> estimators, groups;
  std::vector<std::vector<double>> cosine;

  double at(std::size_t estimator, const std::string& group) const {
    const auto column = std::find(groups.begin(), groups.end(), group);
    return column == groups.end() ? no_value : cosine[estimator][static_cast<std::size_t>(column - groups.begin())];
  }
};

Agreement agreement_of(const Table& rows) {
  const auto& estimator = rows.texts.at("estimator");
  const auto& group = rows.texts.at("group");
  const auto& cosine = rows.numbers.at("cosine");
  Agreement out;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    place(out.estimators, estimator[i]);
    place(out.groups, group[i]);
  }
  const auto all = std::find(out.groups.begin(), out.groups.end(), "all");
  if (all != out.groups.end()) std::rotate(out.groups.begin(), all, all + 1);
  out.cosine.assign(out.estimators.size(), std::vector<double>(out.groups.size(), no_value));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    out.cosine[place(out.estimators, estimator[i])][place(out.groups, group[i])] = cosine[i];
  }
  return out;
}

/// Text of a cosine with what is left of the angle: "0.9712", "1 − 3·10⁻⁵"; rounding may leave 1 - cosine a little
/// below zero.
std::string cell_text(double cosine) {
  if (!std::isfinite(cosine)) return "–";
  const double angle = std::max(0.0, 1 - cosine);
  if (angle == 0) return "1";
  return angle > 1e-3 ? fmt::format("{:.4f}", cosine) : "1 − " + number(std::stod(fmt::format("{:.1e}", angle)));
}

/// Shade of a cosine: 0 at 1 - cosine = 10⁻⁶ and below, 1 at 1 and above, by its logarithm.
double shade(double cosine) {
  const double angle = std::max(1e-6, 1 - cosine);
  return std::clamp(1 + std::log10(angle) / 6, 0.0, 1.0);
}

std::string agreement_table(const Agreement& agreement) {
  std::string out = "<div class=\"scroll\"><table class=\"heat\">\n<tr><th>cosine</th>";
  for (const auto& group : agreement.groups) out += "<th>" + escape(group) + "</th>";
  out += "</tr>\n";
  for (std::size_t e = 0; e < agreement.estimators.size(); ++e) {
    out += "<tr><th>" + escape(words(agreement.estimators[e])) + "</th>";
    for (const double cosine : agreement.cosine[e]) {
      out += std::isfinite(cosine)
                 ? fmt::format("<td style=\"background:color-mix(in srgb, var(--c1) {:.0f}%, transparent)\">{}</td>",
                               70 * shade(cosine), escape(cell_text(cosine)))
                 : "<td class=\"none\">–</td>";
    }
    out += "</tr>\n";
  }
  return out +
         "</table></div>\n<p class=\"note\">Colour: the logarithm of 1 − cosine, clear at 10⁻⁶ and below, full where "
         "nothing "
         "agrees. all: the equilibrium's parameters as one vector, without the read-out. A dash: the exact gradient of "
         "the group is zero.</p>\n";
}

Opening opening_of(const Agreement& agreement) {
  const bool whole = std::find(agreement.groups.begin(), agreement.groups.end(), "all") != agreement.groups.end();
  std::vector<std::pair<double, std::string>> ranked;
  for (std::size_t e = 0; e < agreement.estimators.size(); ++e) {
    double cosine = whole ? agreement.at(e, "all") : no_value;
    if (!whole) {
      for (const double one : agreement.cosine[e]) cosine = std::fmin(cosine, one);
    }
    if (std::isfinite(cosine)) ranked.emplace_back(cosine, words(agreement.estimators[e]));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Opening out;
  out.title = count(agreement.estimators.size(), "gradient estimator") + " against the exact gradient";
  if (ranked.empty()) {
    out.sentence = "No cosine was measured.";
    return out;
  }
  const std::string of = whole ? "over all parameters of the equilibrium" : "in its worst parameter group";
  const auto good = static_cast<std::size_t>(
      std::count_if(ranked.begin(), ranked.end(), [](const auto& one) { return one.first >= 0.99; }));
  out.sentence = fmt::format("{} of {} reach a cosine of 0.99 {}: closest is {} ({}), farthest {} ({}).", good,
                             count(ranked.size(), "estimator"), of, ranked.front().second,
                             cell_text(ranked.front().first), ranked.back().second, cell_text(ranked.back().first));
  return out;
}

std::string all_measures(const Table& rows) {
  std::vector<std::vector<std::string>> cells{{"estimator", "group", "cosine"}};
  std::vector<const std::vector<double>*> extra;
  for (const auto& [name, values] : rows.numbers) {
    if (name == "cosine" || name == "has_gradient" || name == "counted") continue;
    extra.push_back(&values);
    cells[0].push_back(rows.label(name));
  }
  const auto& cosine = rows.numbers.at("cosine");
  for (std::size_t i = 0; i < rows.rows; ++i) {
    cells.push_back({words(rows.texts.at("estimator")[i]), rows.texts.at("group")[i],
                     std::isfinite(cosine[i]) ? fmt::format("{:.6f}", cosine[i]) : "–"});
    for (const auto* values : extra) cells.back().push_back(std::isfinite((*values)[i]) ? number((*values)[i]) : "–");
  }
  return "<details><summary>All measures</summary>\n" + table(cells) + "</details>\n";
}

/// What every step adds to the gradients, a figure per group.
std::string step_figures(const RunFile& run) {
  std::string out;
  for (const StepCurves& one : run.steps) {
    Chart chart;
    chart.title = "Gradient per step: " + one.group;
    chart.x_label = "step of the nudged phase";
    chart.y_label = "added to the gradient";
    chart.note = fmt::format(
        "Along the sum of bptt's, mean over {}. Where an estimator's curve leaves that of bptt, its beta is too large, "
        "the free phase has not settled, or the forces are not reciprocal.",
        count(one.samples, "sample"));
    for (const auto& [name, values] : one.of_steps) {
      Series series{words(name), {}, values, {}, {}, static_cast<int>(chart.series.size())};
      for (std::size_t t = 0; t < values.size(); ++t) series.x.push_back(static_cast<double>(t));
      series.dashed = name == "bptt";
      chart.series.push_back(std::move(series));
    }
    out += chart_figure(chart);
  }
  return out.empty() ? out : "<div class=\"grid\">\n" + out + "</div>\n";
}

}  // namespace

Section gradcheck_section(const std::vector<RunFile>& runs) {
  Section out;
  for (const auto& run : runs) {
    if (run.kind != "gradcheck") continue;
    const bool first = out.body.empty();
    out.body += "<section>\n<h2>Gradient check" + (runs.size() > 1 ? ": " + escape(run.name) : "") + "</h2>\n";
    if (run.rows.texts.count("estimator") + run.rows.texts.count("group") + run.rows.numbers.count("cosine") < 3) {
      if (first) out.opening = {"Gradient check", "The file holds no rows of estimators and groups.", ""};
      out.body += paragraph("The file holds no rows of estimators and groups.") + "</section>\n";
      continue;
    }
    const Agreement agreement = agreement_of(run.rows);
    const Opening opening = opening_of(agreement);
    if (first) {
      out.opening = opening;
      out.opening.figure = agreement_table(agreement);
    } else {
      out.opening.sentence += " " + run.name + ": " + opening.sentence;
      out.body += agreement_table(agreement);
    }
    out.body += step_figures(run) + all_measures(run.rows) + "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
