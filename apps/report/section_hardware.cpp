// SPDX-License-Identifier: Apache-2.0
// What training did to the arrays that hold the weights: readings over the run, and the weights as they are in the end.
// Energy, latency and area of the circuit of a run, by part.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/info/card_text.hpp"
#include "apps/info/run_card.hpp"
#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/base/errors.hpp"
#include "training/config/stored_config.hpp"

namespace nudge::report {
namespace {

constexpr std::size_t most_pictures = 6;

/// Names of all readings of a trainee's arrays, in alphabetical order.
std::set<std::string> readings_of(const Lane& trainee) {
  std::set<std::string> names;
  for (const auto& [matrix, readings] : trainee.arrays) {
    for (const auto& [name, series] : readings) names.insert(name);
  }
  return names;
}

const TimeSeries* reading(const Lane& trainee, const std::string& matrix, const std::string& name) {
  const auto& readings = trainee.arrays.at(matrix);
  const auto at = readings.find(name);
  return at == readings.end() ? nullptr : &at->second;
}

bool moves(const TimeSeries& series) {
  return std::any_of(series.y.begin(), series.y.end(),
                     [&](double v) { return std::isfinite(v) && v != series.y.front(); });
}

std::string reading_figure(const Lane& trainee, const std::string& name) {
  Chart chart{capitalised(words(name)), {}, "training step"};
  bool any = false;
  for (const auto& [matrix, readings] : trainee.arrays) {
    const TimeSeries* series = reading(trainee, matrix, name);
    if (series == nullptr) continue;
    any = any || moves(*series);
    chart.y_label = words(name) + unit_in_brackets(series->unit);
    chart.note = series->description;
    chart.series.push_back({matrix, series->x, series->y, {}, {}, static_cast<int>(chart.series.size()), true, true});
    chart.series.back().dashed = chart.series.size() > palette_size;
  }
  return any ? chart_figure(chart) : "";
}

/// Table of the final readings that differ from zero somewhere, an array a column.
std::string end_table(const Lane& trainee) {
  std::vector<std::vector<std::string>> rows{{"at the end"}};
  for (const auto& [matrix, readings] : trainee.arrays) rows[0].push_back(matrix);
  for (const std::string& name : readings_of(trainee)) {
    std::vector<std::string> row{words(name)};
    bool any = false;
    for (const auto& [matrix, readings] : trainee.arrays) {
      const TimeSeries* series = reading(trainee, matrix, name);
      const double last = series == nullptr ? std::nan("") : series->last_finite();
      any = any || (std::isfinite(last) && last != 0);
      if (series != nullptr && row.size() == 1) row[0] = words(name) + unit_in_brackets(series->unit);
      row.push_back(std::isfinite(last) ? number(last) : "–");
    }
    if (any) rows.push_back(std::move(row));
  }
  return table(rows);
}

std::vector<Histogram> positive_first(std::vector<Histogram> all) {
  std::stable_partition(all.begin(), all.end(), [](const Histogram& one) { return one.devices.ends_with("positive"); });
  return all;
}

/// Figure of the conductances of an array's devices at the start (dashed) and at the end of the run.
std::string histogram_figure(const std::string& array, const std::vector<Histogram>& all) {
  Chart chart{"Conductances of " + array,
              "All devices, before training (dashed) and after. The outermost bins include everything beyond them.",
              {},
              "devices per bin"};
  std::vector<std::string> kinds;
  for (const Histogram& one : positive_first(all)) {
    if (one.array != array) continue;
    const bool siemens = one.unit == "S";
    chart.x_label = siemens ? "conductance (uS)" : fmt::format("conductance ({})", one.unit);
    std::vector<double> level = one.level;
    for (double& v : level) v *= siemens ? 1e6 : 1;
    chart.series.push_back(
        {words(one.devices) + ", " + one.name, level, one.count, {}, {}, static_cast<int>(place(kinds, one.devices))});
    chart.series.back().dashed = chart.series.back().thin = one.name == "before";
  }
  return chart.series.empty() ? "" : chart_figure(chart);
}

std::string histogram_figures(const Lane& trainee) {
  std::string out, last;
  for (const Histogram& one : trainee.conductances) {
    if (one.array != last) out += histogram_figure(one.array, trainee.conductances);
    last = one.array;
  }
  return grid(out);
}

/// Pictures of the weights by row and column, as an array would be seen from above.
std::string pictures(const Lane& trainee) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, weights] : trainee.weights) {
    if (std::min(weights.rows(), weights.cols()) < 2 || shown == most_pictures) continue;
    ++shown;
    out += raster_figure({"The array of " + name,
                          fmt::format("{} × {} weights at the end, rows are inputs{}.", weights.rows(), weights.cols(),
                                      weights.rows() > 48 || weights.cols() > 96 ? ", neighbours averaged" : ""),
                          "outputs", weights, "weight"});
  }
  return grid(out);
}

}  // namespace

std::string step_stages(const std::vector<RunFile>& runs) {
  std::string out;
  for (const RunFile& run : runs) {
    if (run.stages.rows == 0) continue;
    const auto& stages = run.stages.texts.at("stage");
    const auto& homes = run.stages.texts.at("home");
    const auto& hows = run.stages.texts.at("how");
    if (std::count(homes.begin(), homes.end(), "digital") == static_cast<std::ptrdiff_t>(homes.size())) continue;
    std::vector<std::vector<std::string>> rows{{"stage of a step", "done by", "how"}};
    for (std::size_t i = 0; i < run.stages.rows; ++i) rows.push_back({stages[i], homes[i], hows[i]});
    const bool local = run.config.find("\nlevel = \"local\"") != std::string::npos;
    out += "<section>\n<h2>What is digital here: " + escape(run.name) + "</h2>\n" +
           paragraph(run.ideal_parts.empty()
                         ? fmt::format("Physical hardware (hardware.level = {}).", local ? "local" : "mixed")
                         : "Ideal in this run: " + run.ideal_parts + ".") +
           table(rows) + "</section>\n";
  }
  return out;
}

std::string hardware_figures(const std::vector<NamedLane>& trainees) {
  std::string out;
  for (const NamedLane& named : trainees) {
    const Lane& trainee = *named.trainee;
    if (trainee.arrays.empty()) continue;
    std::string figures;
    for (const std::string& name : readings_of(trainee)) figures += reading_figure(trainee, name);
    out += "<section>\n<h2>Hardware: " + escape(named.name) + "</h2>\n" + end_table(trainee) +
           (figures.empty() ? paragraph("No reading of an array changed during the run.") : grid(figures)) +
           histogram_figures(trainee) + pictures(trainee) + "</section>\n";
  }
  return out;
}

namespace {

bool has_arrays(const RunFile& run) {
  return run.kind == "train" && std::any_of(run.trainees.begin(), run.trainees.end(),
                                            [](const Lane& lane) { return lane.lane.empty() && !lane.arrays.empty(); });
}

std::string card_of(const RunFile& run) {
  std::string out = "<section>\n<h2>Cost card: " + escape(run.name) + "</h2>\n";
  try {
    const CostCard card = run_card(stored_program_config(run.name, run.config), run);
    out += table(card_rows(card));
    for (const std::string& note : card_notes(card)) out += paragraph(note);
  } catch (const UserError& error) {  // a config that this version does not know
    out += paragraph(error.what());
  }
  return out + "</section>\n";
}

}  // namespace

std::string cost_cards(const std::vector<RunFile>& runs) {
  std::string out;
  for (const RunFile& run : runs) {
    if (has_arrays(run)) out += card_of(run);
  }
  return out;
}

}  // namespace nudge::report
