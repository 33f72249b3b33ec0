// SPDX-License-Identifier: Apache-2.0
// The tables of gradcheck: estimators by parameter groups, coloured by how far the cosine is from 1.
// Gradient agreement per parameter group while training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/errors.hpp"
#include "training/check/choices.hpp"
#include "training/config/config_table.hpp"
#include "training/config/stored_config.hpp"

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
  std::vector<HeatRow> rows;
  for (std::size_t e = 0; e < agreement.estimators.size(); ++e) {
    rows.push_back({words(agreement.estimators[e]), ""});
    for (const double cosine : agreement.cosine[e]) {
      rows.back().cells += heat_cell(std::isfinite(cosine) ? 70 * shade(cosine) : no_value, cell_text(cosine));
    }
  }
  return heat_table("cosine", agreement.groups, rows) +
         "<p class=\"note\">Colour: the logarithm of 1 − cosine, clear at 10⁻⁶ and below, full where nothing "
         "agrees. all: every parameter of the equilibrium as one vector, without the read-out. A dash: the exact "
         "gradient of the group is zero.</p>\n";
}

Opening gradcheck_opening(const RunFile& run) {
  const GradcheckAnswer found = gradcheck_answer(run.errors, run.reference_failure);
  Opening out{found.title, found.sentence, ""};
  if (!run.equilibrium.empty()) out.sentence += fmt::format(" Equilibrium: {}.", run.equilibrium);
  return out;
}

/// Sentence on how long the phases are; empty when this version cannot read the file's config.
std::string schedule_text(const RunFile& run) {
  try {
    const Config config = stored_program_config(run.name, run.config);
    return fmt::format(
        "Free phase: {} steps, nudged phase: {} steps (relaxation.solver = {}, relaxation.schedule = {}).",
        config.as_text("relaxation.free_steps"), config.as_text("relaxation.nudged_steps"),
        config.as_text("relaxation.solver"), config.as_text("relaxation.schedule"));
  } catch (const UserError&) {
    return "";
  }
}

/// Table of why: what was measured of each estimator, and the largest part of its error.
std::string why_table(const RunFile& run) {
  std::vector<std::vector<std::string>> cells{
      {"why", "cosine", "largest part of the error", "beta", "signal-to-noise", "free residual", "nudged residual"}};
  for (const GradientError& one : run.errors) {
    if (one.checks_reference()) continue;
    const auto shown = [](double value) { return std::isfinite(value) && value > 0 ? number(value) : "–"; };
    const std::string part = main_error(one, run.errors);
    cells.push_back({words(one.estimator), short_cosine(one.cosine), part.empty() ? "–" : part, shown(one.beta),
                     std::isfinite(one.snr) ? snr_text(one.snr) : shown(one.snr), shown(one.free_residual),
                     shown(one.nudged_residual)});
  }
  if (cells.size() == 1) return "";
  return "<h3>Why</h3>\n" + paragraph(schedule_text(run)) + table(cells) +
         "<p class=\"note\">The part that explains most of 1 − cosine. Noise: at most 1 − s/√(1 + s²) at the "
         "signal-to-noise s of the nodes. Free phase: the loss of implicit, which is exact at the same state. "
         "Nudged phase: half the square of its residual. What none of them explains is bias.</p>\n";
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
    Chart chart{"Gradient per step: " + one.group,
                fmt::format("Component along the sum of bptt, mean over {}. Where a curve leaves that of bptt, beta "
                            "is too large, the free phase has not settled, or the forces are not reciprocal.",
                            count(one.samples, "sample")),
                "step of the nudged phase", "added to the gradient"};
    for (const auto& [name, values] : one.of_steps) {
      Series series{words(name), {}, values, {}, {}, static_cast<int>(chart.series.size())};
      for (std::size_t t = 0; t < values.size(); ++t) series.x.push_back(static_cast<double>(t));
      series.dashed = name == "bptt";
      chart.series.push_back(std::move(series));
    }
    out += chart_figure(chart);
  }
  return grid(out);
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
    const Opening opening = gradcheck_opening(run);
    if (first) {
      out.opening = opening;
      out.opening.figure = agreement_table(agreement);
    } else {
      out.opening.sentence += " " + run.name + ": " + opening.sentence;
      out.body += agreement_table(agreement);
    }
    out.body += why_table(run) + step_figures(run) + all_measures(run.rows) + "</section>\n";
  }
  return out;
}

namespace {

constexpr std::size_t most_dots = 24;

std::string cosine_text(double value) { return std::isfinite(value) ? fmt::format("{:.6f}", value) : "–"; }

/// Cosine that represents a trainee among several: that of all parameters, or the lowest group in a file without it.
double one_cosine(const Lane& trainee, Index step) {
  if (trainee.groups.front() == "all") return trainee.cosine(step, 0);
  const Eigen::VectorXd groups = trainee.cosine.row(step);
  return finite_range({groups.data(), trainee.groups.size()}).low;
}

/// Figure over the steps. One trainee: a curve per group; several: one curve each.
std::string over_steps(const std::vector<NamedLane>& trainees) {
  Chart chart{
      trainees.size() == 1 ? "Cosine with the exact gradient over steps" : "Cosine of all parameters over steps",
      "1: the estimated gradient points exactly along the exact adjoint's.", "training step", "cosine"};
  for (const auto& named : trainees) {
    const Lane& trainee = *named.trainee;
    const Index curves = trainees.size() == 1 ? trainee.cosine.cols() : 1;
    for (Index k = 0; k < curves; ++k) {
      Series s;
      s.label = trainees.size() == 1 ? trainee.groups[static_cast<std::size_t>(k)] : named.name;
      s.color = trainees.size() == 1 ? static_cast<int>(k) : named.color;
      s.dashed = s.color >= 8;
      s.markers = trainee.cosine.rows() <= 30;
      s.x = trainee.cosine_step;
      for (Index i = 0; i < trainee.cosine.rows(); ++i) {
        s.y.push_back(trainees.size() > 1 ? one_cosine(trainee, i) : trainee.cosine(i, k));
      }
      chart.series.push_back(std::move(s));
    }
  }
  return chart_figure(chart);
}

}  // namespace

void choose_cosine_axis(DotPlot& plot) {
  std::vector<double> angles;
  double lowest = 1;
  for (const auto& s : plot.series) {
    for (const double v : s.value) {
      if (!std::isfinite(v)) continue;
      angles.push_back(1 - v);
      lowest = std::min(lowest, v);
    }
  }
  plot.x_label = "cosine";
  if (lowest < 0.9 && !spans_decades(angles)) return;
  plot.x_scale = Scale::logarithmic;
  plot.x_label = "1 − cosine, logarithmic: left is better";
  // rounding may leave 1 - cosine a little below zero: that is an exact gradient
  const auto flip = [](double v) { return std::isfinite(v) ? std::max(0.0, 1 - v) : v; };
  for (auto& s : plot.series) {
    std::swap(s.low, s.high);
    for (auto* part : {&s.value, &s.low, &s.high}) std::transform(part->begin(), part->end(), part->begin(), flip);
  }
}

std::string agreement_figures(const std::vector<NamedLane>& all) {
  std::vector<NamedLane> trainees;
  std::copy_if(all.begin(), all.end(), std::back_inserter(trainees),
               [](const NamedLane& l) { return l.trainee->cosine.size() > 0; });
  std::string out = "<section>\n<h2>Gradient agreement while training</h2>\n";
  if (trainees.empty())
    return out + paragraph("The run did not compare its gradient with the exact adjoint.") + "</section>\n";
  DotPlot plot{"Cosine with the exact gradient per parameter group",
               "Dots: mean over the run. Lines: from the lowest to the highest value. all: every parameter of the "
               "equilibrium as one vector, without the read-out. A group whose exact gradient is zero has no cosine."};
  for (const auto& named : trainees) {
    for (const auto& group : named.trainee->groups) place(plot.rows, group);
  }
  std::vector<std::vector<std::string>> rows{{"cosine"}};
  for (const auto& group : plot.rows) rows.push_back({group});
  for (const auto& named : trainees) {
    const std::vector<double> none(plot.rows.size(), no_value);
    DotSeries s{named.name, none, none, none, named.color};
    for (std::size_t k = 0; k < named.trainee->groups.size(); ++k) {
      const std::size_t row = place(plot.rows, named.trainee->groups[k]);
      const Eigen::VectorXd cosines = named.trainee->cosine.col(static_cast<Index>(k));
      const FiniteRange range = finite_range({cosines.data(), static_cast<std::size_t>(cosines.size())});
      s.value[row] = range.mean;
      s.low[row] = range.low;
      s.high[row] = range.high;
    }
    rows[0].insert(rows[0].end(), {named.name + ", mean", "lowest"});
    for (std::size_t r = 0; r < plot.rows.size(); ++r) {
      rows[r + 1].insert(rows[r + 1].end(), {cosine_text(s.value[r]), cosine_text(s.low[r])});
    }
    plot.series.push_back(std::move(s));
  }
  choose_cosine_axis(plot);
  const std::string dots = trainees.size() > most_dots ? "" : dot_figure(plot);  // beyond, a picture nobody can read
  return out + grid(dots + over_steps(trainees)) + table(rows) + "</section>\n";
}

}  // namespace nudge::report
