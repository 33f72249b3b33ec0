// SPDX-License-Identifier: Apache-2.0
// Gradient agreement per parameter group while training.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

constexpr std::size_t most_dots = 24;

std::string cosine_text(double value) { return std::isfinite(value) ? fmt::format("{:.6f}", value) : "–"; }

struct Range {
  double mean = no_value, low = no_value, high = no_value;
};

Range range_of(const Lane& trainee, Index group) {
  Range out;
  double sum = 0;
  int finite = 0;
  for (Index i = 0; i < trainee.cosine.rows(); ++i) {
    const double v = trainee.cosine(i, group);
    if (!std::isfinite(v)) continue;
    out.low = std::fmin(out.low, v);
    out.high = std::fmax(out.high, v);
    sum += v;
    ++finite;
  }
  if (finite > 0) out.mean = sum / finite;
  return out;
}

/// Cosine that represents a trainee among several: that of all parameters, or the lowest group in a file without it.
double one_cosine(const Lane& trainee, Index step) {
  if (trainee.groups.front() == "all") return trainee.cosine(step, 0);
  double lowest = no_value;
  for (Index g = 0; g < trainee.cosine.cols(); ++g) lowest = std::fmin(lowest, trainee.cosine(step, g));
  return lowest;
}

/// Figure over the steps. One trainee: a curve per group; several: one curve each.
std::string over_steps(const std::vector<NamedLane>& trainees) {
  Chart chart;
  chart.title =
      trainees.size() == 1 ? "Cosine with the exact gradient over steps" : "Cosine of all parameters over steps";
  chart.x_label = "training step";
  chart.y_label = "cosine";
  chart.note = "1: the estimated gradient points exactly along the exact adjoint's.";
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
  DotPlot plot;
  plot.title = "Cosine with the exact gradient per parameter group";
  plot.note =
      "Dots: mean over the run; lines: from the lowest to the highest value. all: the equilibrium's parameters as one "
      "vector, without the read-out; a group whose exact gradient is zero has no cosine.";
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
      const Range range = range_of(*named.trainee, static_cast<Index>(k));
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
  return out + "<div class=\"grid\">\n" + dots + over_steps(trainees) + "</div>\n" + table(rows) + "</section>\n";
}

}  // namespace nudge::report
