// SPDX-License-Identifier: Apache-2.0
// What wires do to the reads of arrays: what `nudge crossbar --out` solved.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

namespace {

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * share); }

std::string map_figure(const DeviceMap& map) {
  const std::string title = fmt::format("IR drop at the {} devices of {}", map.devices, map.array);
  const double mean = map.values.mean(), worst = map.values.maxCoeff();
  const std::string note = fmt::format(
      "Share of the read voltage that wires, drivers and sense amplifiers take from each device, all rows driven "
      "alike: "
      "{} in the mean, {} at most. {} × {} devices, rows are inputs, driven from the left; columns are sensed below{}.",
      percent(mean), percent(worst), map.values.rows(), map.values.cols(),
      map.values.rows() > 48 || map.values.cols() > 96 ? "; neighbours averaged" : "");
  return raster_figure({title, note, "columns", 100 * map.values, "lost of the read voltage (%)"});
}

/// Figure of the currents of an array's columns beside those of ideal wires.
std::string current_figure(const std::string& array, const std::vector<ColumnSeries>& all) {
  Chart chart;
  chart.title = "Column currents of " + array;
  chart.x_label = "column";
  chart.y_label = "current (uA)";
  chart.note = "All rows at the read voltage; ideal: the same devices without resistance of wires.";
  for (const ColumnSeries& one : all) {
    if (one.array != array || one.column.size() < 2) continue;
    std::vector<double> micro = one.value;
    for (double& v : micro) v *= 1e6;
    const bool ideal = one.name.ends_with("_ideal");
    chart.series.push_back({words(one.name), one.column, micro, {}, {}, one.name.starts_with("negative") ? 1 : 0});
    chart.series.back().thin = chart.series.back().dashed = ideal;
  }
  return chart.series.empty() ? "" : chart_figure(chart);
}

/// Table with a row per quantity that is not zero everywhere, an array a column.
std::string facts_table(const Table& arrays) {
  const auto names = arrays.texts.find("name");
  if (names == arrays.texts.end()) return "";
  std::vector<std::vector<std::string>> rows{{"as programmed"}};
  rows[0].insert(rows[0].end(), names->second.begin(), names->second.end());
  for (const auto& [column, values] : arrays.numbers) {
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) continue;
    rows.push_back({arrays.label(column)});
    for (const double v : values) rows.back().push_back(number(v));
  }
  return table(rows);
}

Opening opening_of(const ArrayPictures& pictures, const std::string& file) {
  Opening out;
  out.title = "Wires of " + file;
  const auto worst = std::max_element(pictures.ir_drop.begin(), pictures.ir_drop.end(),
                                      [](const auto& a, const auto& b) { return a.values.mean() < b.values.mean(); });
  if (worst == pictures.ir_drop.end()) return out;
  if (!(worst->values.maxCoeff() > 0)) {
    out.sentence = "The wires are ideal: every device sees the whole read voltage.";
    return out;
  }
  out.sentence =
      fmt::format("The {} devices of {} lose most to wires: {} of the read voltage in the mean, {} where it is worst.",
                  worst->devices, worst->array, percent(worst->values.mean()), percent(worst->values.maxCoeff()));
  out.figure = map_figure(*worst);
  double own = 0, ideal = 0;
  for (const ColumnSeries& one : pictures.currents) {
    if (one.array != worst->array) continue;
    double& sum = one.name == worst->devices ? own : ideal;
    if (one.name == worst->devices || one.name == worst->devices + "_ideal") {
      for (const double v : one.value) sum += v;
    }
  }
  if (ideal > 0) {
    out.sentence += fmt::format(" Of the current that ideal wires would give {:.3g} % arrives.", 100 * own / ideal);
  }
  return out;
}

}  // namespace

Section crossbar_section(const std::vector<RunFile>& runs) {
  Section out;
  for (const RunFile& run : runs) {
    if (run.kind != "crossbar") continue;
    const Opening opening = opening_of(run.arrays_read, run.name);
    const bool first = out.body.empty();
    if (first) {
      out.opening = opening;
    } else {
      out.opening.sentence += " " + opening.title + ". " + opening.sentence;
    }
    std::string figures, last;
    for (const DeviceMap& map : run.arrays_read.ir_drop) {
      const std::string figure = map_figure(map);
      if (!first || figure != opening.figure) figures += figure;  // the first file's worst stands in the heading
      if (map.array != last) figures += current_figure(map.array, run.arrays_read.currents);
      last = map.array;
    }
    out.body += "<section>\n<h2>Arrays: " + escape(run.name) + "</h2>\n" + facts_table(run.arrays) +
                "<div class=\"grid\">\n" + figures + "</div>\n</section>\n";
  }
  return out;
}

}  // namespace nudge::report
