// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "training/train/final_loss.hpp"

namespace nudge::report {

namespace {

constexpr std::size_t most_bins = 120;  // a chart is about 400 pixels wide
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<NamedLane> lanes_of(const std::vector<RunFile>& runs) {
  const auto trains = std::count_if(runs.begin(), runs.end(), [](const RunFile& r) { return !r.lanes.empty(); });
  std::vector<NamedLane> out;
  for (const auto& run : runs) {
    for (std::size_t i = 0; i < run.lanes.size(); ++i) {
      std::string name =
          run.lanes[i].estimator.empty() ? (i == 0 ? "trained" : "beside") : words(run.lanes[i].estimator);
      if (trains > 1) name = run.name + ": " + name;
      out.push_back({name, &run, &run.lanes[i], i > 0, static_cast<int>(out.size())});
    }
  }
  return out;
}

/// Mean and range over equal bins of steps: what is left of a long noisy curve in a small drawing.
Series binned(const TimeSeries& series) {
  Series out;
  const std::size_t n = series.y.size(), bins = std::min(n, most_bins);
  for (std::size_t b = 0; b < bins; ++b) {
    double sum = 0, x = 0, low = nan, high = nan;
    int finite = 0;
    const std::size_t begin = b * n / bins, end = (b + 1) * n / bins;
    for (std::size_t i = begin; i < end; ++i) {
      x += series.x[i] / static_cast<double>(end - begin);
      if (!std::isfinite(series.y[i])) continue;
      sum += series.y[i];
      low = std::fmin(low, series.y[i]);
      high = std::fmax(high, series.y[i]);
      ++finite;
    }
    out.x.push_back(x);
    out.y.push_back(finite > 0 ? sum / finite : nan);
    out.low.push_back(low);
    out.high.push_back(high);
  }
  return out;
}

/// Of the first file that has them.
std::optional<TextLines> lines_of(const std::vector<NamedLane>& lanes) {
  for (const auto& lane : lanes) {
    if (lane.run->lines) return lane.run->lines;
  }
  return std::nullopt;
}

std::string loss_figure(const std::vector<NamedLane>& lanes) {
  Chart chart;
  chart.title = "Loss";
  chart.x_label = "training step";
  chart.y_label = "cross-entropy (nat per token)";
  chart.note =
      "Thin line and band: training loss, mean and range over neighbouring steps. Markers: validation loss on held-out "
      "text. Lower is better.";
  chart.clip_outliers = true;
  for (const auto& lane : lanes) {
    Series train = binned(lane.lane->of("loss"));
    train.color = lane.color;
    train.thin = true;
    chart.series.push_back(std::move(train));
    const TimeSeries& validation = lane.lane->of("validation_loss");
    chart.series.push_back({lane.name, validation.x, validation.y, {}, {}, lane.color, true, true});
    if (validation.y.size() > 40) chart.series.back().markers = false;
  }
  if (const auto lines = lines_of(lanes)) add_text_lines(chart, lines->validation);
  return chart_figure(chart);
}

/// One chart of one quantity of all lanes that have it; the second and further quantities are dashed.
std::string lanes_figure(const std::vector<NamedLane>& lanes, Chart chart,
                         const std::vector<std::pair<std::string, std::string>>& quantities) {
  for (const auto& lane : lanes) {
    for (std::size_t q = 0; q < quantities.size(); ++q) {
      const TimeSeries& values = lane.lane->of(quantities[q].first);
      const bool any = std::any_of(values.y.begin(), values.y.end(), [](double v) { return std::isfinite(v); });
      if (!any) continue;
      Series series = binned(values);
      series.label = quantities[q].second.empty() ? lane.name : lane.name + ", " + quantities[q].second;
      series.color = lane.color;
      series.dashed = q > 0;
      if (chart.y_scale == Scale::logarithmic) {
        series.low.clear();
        series.high.clear();
      }
      chart.series.push_back(std::move(series));
    }
  }
  chart.x_label = "training step";
  return chart.series.empty() ? "" : chart_figure(chart);
}

double lowest(const TimeSeries& series) {
  double out = nan;
  for (const double v : series.y) out = std::isfinite(v) ? std::fmin(out, v) : out;
  return out;
}

/// What a lane is compared with: the lane beside it in the same file, else the first lane of the page.
const Lane* reference_of(const NamedLane& lane, const std::vector<NamedLane>& all) {
  for (const auto& other : all) {
    if (other.run == lane.run && other.beside) return other.lane;
  }
  return all.front().lane;
}

/// "+0.031 (+1.4 %)"
std::string signed_difference(double value, double reference) {
  const double difference = value - reference;
  return fmt::format("{0}{1:.3f} ({0}{2:.1f} %)", difference < 0 ? "−" : "+", std::abs(difference),
                     100 * std::abs(difference / reference));
}

std::string loss_text(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "–"; }

std::string final_table(const std::vector<NamedLane>& lanes) {
  std::vector<std::vector<std::string>> rows{{"", "steps", "training loss", "validation loss", "best validation",
                                              "test loss", "difference", "skipped", "not finite"}};
  for (const auto& lane : lanes) {
    const Lane* reference = reference_of(lane, lanes);
    const double validation = lane.lane->of("validation_loss").last_finite();
    const auto& lines = lane.run->lines;
    const auto line = lines ? std::optional<TextEntropy>(lines->validation) : std::nullopt;
    const auto test_line = lines ? lines->test : std::nullopt;
    const double other = reference->of("validation_loss").last_finite();
    const std::string difference = reference == lane.lane ? "reference" : signed_difference(validation, other);
    rows.push_back({lane.name, fmt::format("{}", lane.lane->of("loss").y.size()),
                    loss_text(final_training_loss(lane.lane->of("loss").y)), marked_loss(validation, line),
                    loss_text(lowest(lane.lane->of("validation_loss"))),
                    marked_loss(lane.lane->of("test_loss").last_finite(), test_line),
                    std::isfinite(validation - other) ? difference : "–", number(lane.lane->sum("skipped")),
                    number(lane.lane->sum("nonfinite"))});
  }
  return table(rows) +
         "<p class=\"note\">Training loss: mean of the last tenth of the steps. Test: on the part that no choice has "
         "seen. Difference: last validation "
         "loss against the reference. Skipped: outlier steps left out; not finite: steps rolled back.</p>\n" +
         text_note(lines_of(lanes));
}

std::string events_of(const std::vector<RunFile>& runs) {
  constexpr std::size_t most = 200;
  std::string out;
  for (const auto& run : runs) {
    if (run.lanes.empty()) continue;
    if (run.events.empty()) {
      out += paragraph(run.name + ": no events (changes of the damping, skipped or rolled-back steps).");
      continue;
    }
    std::vector<std::vector<std::string>> rows{{"step", "lane", "event"}};
    for (const auto& [lane, event] : run.events) {
      if (rows.size() <= most) rows.push_back({number(event.step), words(run.lanes[lane].estimator), event.text});
    }
    out += fmt::format("<details><summary>{}: {}{}</summary>\n{}</details>\n", escape(run.name),
                       count(run.events.size(), "event"), run.events.size() > most ? ", the first 200 shown" : "",
                       table(rows));
  }
  return out;
}

}  // namespace

std::string training_section(const std::vector<RunFile>& runs) {
  const std::vector<NamedLane> lanes = lanes_of(runs);
  if (lanes.empty()) return "";
  Chart residual, damping, steps, growth;
  residual.title = "Force residual";
  residual.y_label = "‖F‖ / ‖z‖";
  residual.y_scale = Scale::logarithmic;
  residual.note =
      "How far from equilibrium the phases stop. The estimated gradient is only as good as the free phase is settled.";
  damping.title = "Damping c";
  damping.y_label = "c";
  damping.note = "The controller raises c when the free residual is large and relaxes it when it is small.";
  steps.title = "Relaxation steps";
  steps.y_label = "steps";
  steps.note = "Steps of the free phase until it had settled or the limit was reached.";
  growth.title = "Growth";
  growth.y_label = "measure of the growth penalty";
  growth.note = "How slowly the free phase's residual decays; the growth penalty acts where it is large.";
  std::string figures = loss_figure(lanes);
  const std::string residuals = lanes_figure(lanes, residual, {{"residual", "free"}, {"nudged_residual", "nudged"}});
  const std::string dampings = lanes_figure(lanes, damping, {{"damping", ""}});
  figures += residuals + dampings + lanes_figure(lanes, steps, {{"steps_used", ""}}) +
             lanes_figure(lanes, growth, {{"growth", ""}});
  std::string out =
      "<section>\n<h2>Training</h2>\n" + final_table(lanes) + "<div class=\"grid\">\n" + figures + "</div>\n";
  if (residuals.empty()) out += paragraph("No residuals were recorded.");
  if (dampings.empty()) out += paragraph("No damping was recorded.");
  return out + events_of(runs) + "</section>\n" + agreement_figures(lanes);
}

}  // namespace nudge::report
