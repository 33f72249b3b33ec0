// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "training/train/train_summary.hpp"

namespace nudge::report {

namespace {

constexpr std::size_t most_bins = 120;  // a chart is about 400 pixels wide
constexpr std::size_t most_training_losses = 3, most_bands = 8;

bool same_values(const TimeSeries& a, const TimeSeries& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.y.size() == b.y.size() && std::equal(a.y.begin(), a.y.end(), b.y.begin(), same);
}

/// True for trainees of several files that did the same to the last bit (a reference beside two runs, say): they count
/// as one.
bool is_same_run(const Lane& a, const Lane& b) {
  return a.lane == b.lane && a.estimator == b.estimator && !a.of("loss").empty() &&
         same_values(a.of("loss"), b.of("loss")) && same_values(a.of("validation_loss"), b.of("validation_loss")) &&
         same_values(a.of("residual"), b.of("residual"));
}

std::vector<NamedLane> trainees_of(const std::vector<RunFile>& runs) {
  const auto trains = std::count_if(runs.begin(), runs.end(), [](const RunFile& r) { return !r.trainees.empty(); });
  std::vector<NamedLane> out;
  for (const auto& run : runs) {
    for (std::size_t i = 0; i < run.trainees.size(); ++i) {
      const auto twin = std::find_if(
          out.begin(), out.end(), [&](const NamedLane& other) { return is_same_run(*other.trainee, run.trainees[i]); });
      if (twin != out.end()) {
        twin->name = run.name + ", " + twin->name;
        continue;
      }
      std::string name = lane_name(run.trainees[i]);
      if (run.trainees[i].network != run.trainees.front().network) {
        name += fmt::format(", {} of {} weights (the run has {})", words(run.trainees[i].network), run.trainees[i].size,
                            run.trainees.front().size);
      }
      if (trains > 1) name = fmt::format("{}: {}", run.name, name);
      out.push_back({name, &run, &run.trainees[i], static_cast<int>(out.size())});
    }
  }
  return out;
}

/// Number of bins of a curve: fewer where many curves share a chart, so that a page of 200 runs stays small.
std::size_t bins_for(std::size_t curves) { return std::clamp<std::size_t>(3000 / curves, 12, most_bins); }

/// Series of mean and range over equal bins of steps: a long noisy curve in a small drawing.
Series binned(const TimeSeries& series, std::size_t curves) {
  Series out;
  const std::size_t n = series.y.size(), bins = std::min(n, bins_for(curves));
  for (std::size_t b = 0; b < bins; ++b) {
    double x = 0;
    const std::size_t begin = b * n / bins, end = (b + 1) * n / bins;
    for (std::size_t i = begin; i < end; ++i) x += series.x[i] / static_cast<double>(end - begin);
    const FiniteRange range = finite_range({series.y.data() + begin, end - begin});
    out.x.push_back(x);
    out.y.push_back(range.mean);
    out.low.push_back(range.low);
    out.high.push_back(range.high);
  }
  return out;
}

/// Reference losses of the text, of the first file that has them.
std::optional<TextLines> lines_of(const std::vector<NamedLane>& trainees) {
  for (const auto& trainee : trainees) {
    if (trainee.run->lines) return trainee.run->lines;
  }
  return std::nullopt;
}

std::string loss_figure(const std::vector<NamedLane>& trainees) {
  // Beyond a few runs the training losses would bury what they are compared by.
  const bool thin_lines = trainees.size() <= most_training_losses;
  const bool samples = !metric_of(*trainees.front().trainee).empty();
  Chart chart{"Loss",
              thin_lines ? "Thin line and band: training loss, mean and range over neighbouring steps. Markers: "
                           "validation loss. Lower is better."
                         : "Loss on the validation split. Lower is better.",
              "training step", samples ? "cost of a sample" : "cross-entropy (nat per token)"};
  chart.clip_outliers = true;
  for (const auto& trainee : trainees) {
    Series train = binned(trainee.trainee->of("loss"), trainees.size());
    train.color = trainee.color;
    train.thin = true;
    if (thin_lines) chart.series.push_back(std::move(train));
    const TimeSeries& validation = trainee.trainee->of("validation_loss");
    chart.series.push_back({trainee.name, validation.x, validation.y, {}, {}, trainee.color, true, true});
    if (validation.y.size() > 40) chart.series.back().markers = false;
  }
  if (const auto lines = lines_of(trainees)) add_text_lines(chart, lines->validation);
  return chart_figure(chart);
}

/// Value of a quantity if it is the same at every step of every trainee; nothing where it moves or no trainee has it.
std::optional<double> constant_of(const std::vector<NamedLane>& trainees, const std::string& quantity) {
  std::optional<double> value;
  for (const auto& trainee : trainees) {
    for (const double v : trainee.trainee->of(quantity).y) {
      if (!std::isfinite(v)) continue;
      if (value && v != *value) return std::nullopt;
      value = v;
    }
  }
  return value;
}

/// Chart of one quantity of all trainees that have it; the second and further quantities are dashed.
std::string trainees_figure(const std::vector<NamedLane>& trainees, Chart chart,
                            const std::vector<std::pair<std::string, std::string>>& quantities) {
  for (const auto& trainee : trainees) {
    for (std::size_t q = 0; q < quantities.size(); ++q) {
      const TimeSeries& values = trainee.trainee->of(quantities[q].first);
      const bool any = std::any_of(values.y.begin(), values.y.end(), [](double v) { return std::isfinite(v); });
      if (!any) continue;
      Series series = binned(values, trainees.size());
      series.label = quantities[q].second.empty() ? trainee.name : trainee.name + ", " + quantities[q].second;
      series.color = trainee.color;
      series.dashed = q > 0;
      if (chart.y_scale == Scale::logarithmic || trainees.size() > most_bands) {
        series.low.clear();
        series.high.clear();
      }
      chart.series.push_back(std::move(series));
    }
  }
  chart.x_label = "training step";
  const bool still = quantities.size() == 1 && constant_of(trainees, quantities.front().first);
  return chart.series.empty() || still ? "" : chart_figure(chart);
}

/// Reference of a trainee: the trainee beside it in the same file, else the first trainee of the page.
const Lane* reference_of(const NamedLane& trainee, const std::vector<NamedLane>& all) {
  for (const auto& other : all) {
    if (other.run == trainee.run && other.beside()) return other.trainee;
  }
  return all.front().trainee;
}

/// Text of a difference: "+0.031 (+1.4 %)".
std::string signed_difference(double value, double reference) {
  const double difference = value - reference;
  return fmt::format("{0}{1:.3f} ({0}{2:.1f} %)", difference < 0 ? "−" : "+", std::abs(difference),
                     100 * std::abs(difference / reference));
}

std::string loss_text(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "–"; }

std::string final_table(const std::vector<NamedLane>& trainees) {
  std::vector<std::vector<std::string>> rows{{"", "steps", "training loss", "validation loss", "best validation",
                                              "test loss", "difference", "skipped", "not finite"}};
  const auto scored =
      std::find_if(trainees.begin(), trainees.end(), [](const NamedLane& t) { return !metric_of(*t.trainee).empty(); });
  const std::string metric = scored == trainees.end() ? "" : metric_of(*scored->trainee);
  if (!metric.empty()) rows[0].insert(rows[0].begin() + 6, {"validation " + metric, "test " + metric});
  for (const auto& trainee : trainees) {
    const Lane* reference = reference_of(trainee, trainees);
    const double validation = trainee.trainee->of("validation_loss").last_finite();
    const auto& lines = trainee.run->lines;
    const auto line = lines ? std::optional<TextEntropy>(lines->validation) : std::nullopt;
    const auto test_line = lines ? lines->test : std::nullopt;
    const double other = reference->of("validation_loss").last_finite();
    const std::string difference = reference == trainee.trainee ? "reference" : signed_difference(validation, other);
    rows.push_back({trainee.name, fmt::format("{}", trainee.trainee->of("loss").y.size()),
                    loss_text(final_training_loss(trainee.trainee->of("loss").y)), marked_loss(validation, line),
                    loss_text(finite_range(trainee.trainee->of("validation_loss").y).low),
                    marked_loss(trainee.trainee->of("test_loss").last_finite(), test_line),
                    std::isfinite(validation - other) ? difference : "–", number(trainee.trainee->count("skipped")),
                    number(trainee.trainee->count("nonfinite"))});
    if (metric.empty()) continue;
    const auto last = [&](const std::string& part) {
      return score_cell(metric, trainee.trainee->of(fmt::format("{}_{}", part, metric)).last_finite());
    };
    rows.back().insert(rows.back().begin() + 6, {last("validation"), last("test")});
  }
  return table(rows) +
         "<p class=\"note\">Training loss: mean of the last tenth of the steps. Test: on the split that no choice "
         "has seen. Difference: last validation loss minus that of the reference. Skipped: outlier steps left out. "
         "Not finite: steps rolled back.</p>\n" +
         text_note(lines_of(trainees)) + reference_note(trainees.front().run->references);
}

std::string circuits_of(const std::vector<RunFile>& runs) {
  std::string out;
  for (const auto& run : runs) {
    const std::string figures = circuit_figures(run.circuit);
    if (!figures.empty()) out += "<section>\n<h2>Circuit: " + escape(run.name) + "</h2>\n" + figures + "</section>\n";
  }
  return out;
}

/// Verdicts of each run. The one on the equilibrium stands in the opening where a page has one run.
std::string verdict_notes(const std::vector<RunFile>& runs) {
  const auto trained =
      std::count_if(runs.begin(), runs.end(), [](const RunFile& run) { return !run.trainees.empty(); });
  std::string out;
  for (const auto& run : runs) {
    if (trained > 1 && !run.trainees.empty() && !run.equilibrium.empty())
      out += paragraph(fmt::format("{}: equilibrium: {}.", run.name, run.equilibrium));
    if (run.null) out += paragraph(fmt::format("{}: {}.", run.name, run.null->text));
    if (run.plateau) out += paragraph(fmt::format("{}: {}.", run.name, run.plateau->text));
  }
  return out;
}

std::string failure_notes(const std::vector<RunFile>& runs) {
  std::string out;
  for (const auto& run : runs) {
    if (run.failure.empty()) continue;
    out += paragraph(fmt::format("{}: the run failed, do not use its numbers: {}.", run.name, run.failure));
  }
  return out;
}

std::string events_of(const std::vector<RunFile>& runs) {
  constexpr std::size_t most = 200;
  std::string out;
  for (const auto& run : runs) {
    if (run.trainees.empty()) continue;
    if (run.events.empty()) {
      out += paragraph(run.name + ": no events (changes of the damping, skipped or rolled-back steps).");
      continue;
    }
    std::vector<std::vector<std::string>> rows{{"step", "trainee", "event"}};
    for (const auto& [trainee, event] : run.events) {
      if (rows.size() <= most) rows.push_back({number(event.step), lane_name(run.trainees[trainee]), event.text});
    }
    const std::string kept =
        run.events_left_out > 0 ? fmt::format(", {} of them no longer in the log", run.events_left_out) : "";
    out += fmt::format("<details><summary>{}: {}{}{}</summary>\n{}</details>\n", escape(run.name),
                       count(run.events.size() + run.events_left_out, "event"), kept,
                       run.events.size() > most ? ", the first 200 shown" : "", table(rows));
  }
  return out;
}

/// Figures of the curves of the log that no figure above shows: title from the name, axis from the unit, note from the
/// description.
std::string other_series(const std::vector<NamedLane>& trainees, const std::vector<std::string>& shown) {
  std::vector<std::string> names;
  for (const auto& trainee : trainees) {
    for (const auto& [name, series] : trainee.trainee->series) {
      const bool known = std::find(shown.begin(), shown.end(), name) != shown.end() ||
                         std::find(names.begin(), names.end(), name) != names.end();
      const auto [low, high] = std::minmax_element(series.y.begin(), series.y.end());
      if (!known && series.y.size() > 1 && *low != *high) names.push_back(name);
    }
  }
  std::string out;
  for (const std::string& name : names) {
    Chart chart;
    const TimeSeries* meant = nullptr;
    for (const auto& trainee : trainees) {
      if (meant == nullptr && !trainee.trainee->of(name).empty()) meant = &trainee.trainee->of(name);
    }
    chart.title = capitalised(words(name));
    chart.y_label = unit_behind(meant->unit).empty() ? words(name) : meant->unit;
    chart.note = meant->description;
    const bool positive = std::all_of(meant->y.begin(), meant->y.end(), [](double v) { return !(v <= 0); });
    if (positive && spans_decades(meant->y)) chart.y_scale = Scale::logarithmic;
    out += trainees_figure(trainees, chart, {{name, ""}});
  }
  if (out.empty()) return out;
  return "<details><summary>" + count(names.size(), "more curve") + " of the log</summary>\n" + grid(out) +
         "</details>\n";
}

}  // namespace

std::string lane_name(const Lane& lane) {
  if (lane.lane == "null") return null_kinds().front().words;  // of an earlier version
  for (const NullKind& null : null_kinds()) {
    if (lane.lane == null.lane()) return null.words;
  }
  if (!lane.estimator.empty()) return words(lane.estimator);
  return lane.lane.empty() ? "trained" : lane.lane == "beside" ? "alongside" : lane.lane;
}

Section training_section(const std::vector<RunFile>& runs) {
  const std::vector<NamedLane> trainees = trainees_of(runs);
  if (trainees.empty()) return {};
  const Chart residual{
      "Force residual",
      "Distance from equilibrium where the phases stop. An unsettled free phase makes the estimated gradient wrong.",
      "training step",
      "‖F‖ / ‖z‖",
      Scale::linear,
      Scale::logarithmic};
  const Chart damping{"Damping c",
                      "The controller raises c when the free residual is large and lowers it when it is small.",
                      "training step", "c, relative to the leak"};
  const Chart growth{"Growth",
                     "How slowly the free phase's residual decays; the growth penalty acts where it is large.",
                     "training step", "growth factor of the residual per step"};
  Section out;
  out.opening = training_opening(trainees);
  const std::string score = score_figure(trainees), loss = loss_figure(trainees);
  out.opening.figure = score.empty() ? loss : score;
  const std::string residuals =
      trainees_figure(trainees, residual, {{"residual", "free"}, {"nudged_residual", "nudged"}});
  const std::string dampings = trainees_figure(trainees, damping, {{"damping", ""}});
  const std::string figures =
      (score.empty() ? "" : loss) + residuals + dampings + trainees_figure(trainees, growth, {{"growth", ""}});
  out.body = "<section>\n<h2>Training</h2>\n" + final_table(trainees) + failure_notes(runs) + verdict_notes(runs) +
             grid(figures);
  if (residuals.empty()) out.body += paragraph("No residuals were recorded.");
  std::string still;
  for (const char* quantity : {"damping", "growth", "steps_used"}) {
    const auto value = constant_of(trainees, quantity);
    if (value) still += fmt::format("{}{} {}", still.empty() ? "" : ", ", words(quantity), number(*value));
  }
  if (!still.empty()) out.body += paragraph("The same at every step: " + still + ".");
  if (dampings.empty() && !constant_of(trainees, "damping")) out.body += paragraph("No damping was recorded.");
  out.body += confusion_tables(trainees) +
              other_series(trainees, {"loss", "validation_loss", "test_loss", "validation_accuracy", "validation_rmse",
                                      "test_accuracy", "test_rmse", "residual", "nudged_residual", "damping", "growth",
                                      "skipped", "nonfinite"}) +
              events_of(runs) + "</section>\n" + circuits_of(runs) + agreement_figures(trainees) + step_stages(runs) +
              cost_cards(runs) + hardware_figures(trainees);
  return out;
}

}  // namespace nudge::report
