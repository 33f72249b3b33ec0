// SPDX-License-Identifier: Apache-2.0
// Pictures of a device: what `nudge devices characterize` measured.
// What wires do to the reads of arrays: what `nudge crossbar --out` solved.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/units.hpp"

namespace nudge::report {
namespace {

constexpr double micro = 1e6;
constexpr Index shown_devices = 4;

std::string siemens(double g) { return format_quantity(g, Unit::siemens, 3); }

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& v : values) v *= factor;
  return values;
}

/// Series of a mean with one standard deviation to either side, in uS; conductances are not negative. color: place in
/// the palette.
Series with_spread(const std::string& label, const std::vector<double>& x, const std::vector<double>& mean,
                   const std::vector<double>& spread, int color) {
  Series out{label, x, scaled(mean, micro), {}, {}, color};
  for (std::size_t i = 0; i < mean.size(); ++i) {
    out.low.push_back(micro * std::max(0.0, mean[i] - spread[i]));
    out.high.push_back(micro * (mean[i] + spread[i]));
  }
  return out;
}

std::vector<double> row_of(const Matrix<double>& m, Index row) { return {m.row(row).begin(), m.row(row).end()}; }

std::string replay_figure(const DevicePictures& d) {
  const std::size_t n = d.measured_pulse.size();
  if (n < 2 || d.measured_replayed.size() != n) return "";
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(d.measured_mean[i] - d.measured_replayed[i], 2);
  const auto [low, high] = std::minmax_element(d.measured_mean.begin(), d.measured_mean.end());
  Chart chart{"Measured and simulated",
              fmt::format("The record of the laboratory, and the fitted device without noise after the same pulses. "
                          "They differ by {:.2f} % rms of the record's range.",
                          100 * std::sqrt(squares / static_cast<double>(n)) / (*high - *low)),
              "pulses sent", "conductance (uS)"};
  chart.series.push_back({"measured", d.measured_pulse, scaled(d.measured_mean, micro), {}, {}, 1, false, true});
  chart.series.push_back({"simulated", d.measured_pulse, scaled(d.measured_replayed, micro), {}, {}, 0});
  return chart_figure(chart);
}

std::string staircase_figure(const DevicePictures& d) {
  if (d.pulse.empty()) return "";
  Chart chart{"Pulses up, then down",
              "Line and band: mean and standard deviation over the devices. Thin lines: single devices.", "pulses sent",
              "conductance (uS)"};
  for (Index k = 0; k < std::min(shown_devices, d.stairs.rows()); ++k) {
    chart.series.push_back({"", d.pulse, scaled(row_of(d.stairs, k), micro), {}, {}, 7});
    chart.series.back().thin = true;
  }
  chart.series.push_back(with_spread("simulated", d.pulse, d.stair_mean, d.stair_std, 0));
  return chart_figure(chart);
}

/// Index of the point at which the pulses turn: as many go up as down.
std::size_t turn_of(const DevicePictures& d) { return (d.pulse.size() - 1) / 2; }

std::string step_figure(const DevicePictures& d) {
  if (d.pulse.size() < 4) return "";
  Chart chart{
      "Step of one pulse",
      "Step of the mean device, up and down. Where the two differ in size, pulses of alternating sign do not cancel.",
      "conductance (uS)", "change per pulse (nS)"};
  Series up{"up", {}, {}, {}, {}, 0}, down{"down", {}, {}, {}, {}, 1};
  const std::size_t top = turn_of(d);
  for (std::size_t i = 1; i < d.pulse.size(); ++i) {
    Series& side = i <= top ? up : down;
    side.x.push_back(0.5 * micro * (d.stair_mean[i] + d.stair_mean[i - 1]));
    side.y.push_back(1e9 * (d.stair_mean[i] - d.stair_mean[i - 1]) / (d.pulse[i] - d.pulse[i - 1]));
  }
  chart.series = {up, down};
  return chart_figure(chart);
}

std::string endurance_figure(const DevicePictures& d) {
  if (d.cycle_pulses.empty()) return "";
  Chart chart{
      "From bound to bound",
      "After the up pulses and after the down pulses of each cycle. Bands: standard deviation over the devices.",
      "pulses per device", "conductance (uS)"};
  if (spans_decades(d.cycle_pulses)) chart.x_scale = Scale::logarithmic;
  chart.series.push_back(with_spread("high", d.cycle_pulses, d.high, d.high_std, 0));
  chart.series.push_back(with_spread("low", d.cycle_pulses, d.low, d.low_std, 1));
  return chart_figure(chart);
}

std::string drift_figure(const DevicePictures& d) {
  if (d.drifted.size() == 0) return "";
  Chart chart{"After programming",
              "Levels programmed once and read at decades of time. Bands: standard deviation over the devices.",
              "time (s)", "conductance (uS)", Scale::logarithmic};
  for (std::size_t k = 0; k < d.target.size(); ++k) {
    const auto row = static_cast<Index>(k);
    chart.series.push_back(with_spread("to " + siemens(d.target[k]), d.time, row_of(d.drifted, row),
                                       row_of(d.drifted_std, row), static_cast<int>(k)));
  }
  return chart_figure(chart);
}

std::string histogram_figure(const DevicePictures& d) {
  if (d.deviation.size() < 2) return "";
  Chart chart{"Reads of one programmed level", "Slow and fresh noise in the middle of the window.",
              "deviation from the device's line (%)", "share of the reads"};
  chart.series.push_back({"", scaled(d.deviation, 100), d.share, {}, {}, 0});
  return chart_figure(chart);
}

std::string spectrum_figure(const DevicePictures& d) {
  if (d.frequency.size() < 2) return "";
  Chart chart{"Spectrum of the slow noise",
              "Within the band that the record resolves. Dashed: 1/f through its middle.",
              "frequency (Hz)",
              "spectrum over g² (1/Hz)",
              Scale::logarithmic,
              Scale::logarithmic};
  chart.series.push_back({"measured", d.frequency, d.spectrum, {}, {}, 0});
  const std::size_t middle = d.frequency.size() / 2;
  Series law{"1/f", {d.frequency.front(), d.frequency.back()}, {}, {}, {}, 7};
  law.dashed = true;
  for (const double f : law.x) law.y.push_back(d.spectrum[middle] * d.frequency[middle] / f);
  chart.series.push_back(std::move(law));
  return chart_figure(chart);
}

std::string map_figure(const DevicePictures& d) {
  if (d.stairs.rows() < 2) return "";
  return raster_figure({"Every device along the staircase", "Rows: devices; columns: pulses up, then down.",
                        "pulses sent", micro * d.stairs, "conductance (uS)"});
}

Opening opening_of(const DevicePictures& d) {
  Opening out;
  out.title = d.device;
  if (d.stair_mean.size() > 2) {
    const std::size_t top = turn_of(d);
    const double low = d.stair_mean.front(), high = d.stair_mean[top];
    out.title += fmt::format(": {} to {}", siemens(low), siemens(high));
    if (std::isfinite(d.half_up) && std::isfinite(d.half_down)) {
      out.sentence = fmt::format(
          "From its bounds the mean device reaches the middle after {} up pulses and {} down pulses. At the top of "
          "the record devices differ by {:.2g} % of its range.",
          number(d.half_up), number(d.half_down), high > low ? 100 * d.stair_std[top] / (high - low) : 0.0);
    }
  }
  if (!d.exponent.empty() && d.drifted.size() > 0) {
    const Index middle = d.drifted.rows() / 2, last = d.drifted.cols() - 1;
    out.sentence +=
        fmt::format(" A level of {} stands at {} after {:.1g} s.", siemens(d.target[static_cast<std::size_t>(middle)]),
                    siemens(d.drifted(middle, last)), d.time.back());
  }
  double variance = 0;
  for (std::size_t i = 0; i < d.share.size(); ++i) variance += d.share[i] * d.deviation[i] * d.deviation[i];
  if (d.share.size() == 1) out.sentence += " Reads do not scatter.";
  if (d.share.size() > 1) out.sentence += fmt::format(" A read scatters by {:.2g} %.", 100 * std::sqrt(variance));
  return out;
}

}  // namespace

Section device_section(const std::vector<RunFile>& runs) {
  Section out;
  std::size_t devices = 0;
  for (const RunFile& run : runs) {
    if (run.kind != "characterize") continue;
    const Opening opening = opening_of(run.device);
    const std::string stairs = staircase_figure(run.device);
    if (devices++ == 0) {
      out.opening = opening;
      out.opening.figure = stairs.empty() ? drift_figure(run.device) : stairs;
    } else {
      out.opening.title = count(devices, "device");
      out.opening.sentence += " " + opening.title + ". " + opening.sentence;
    }
    out.body += "<section>\n<h2>Device: " + escape(run.device.device) + "</h2>\n<div class=\"grid\">\n" +
                (devices > 1 ? stairs : "") + replay_figure(run.device) + step_figure(run.device) +
                endurance_figure(run.device) + (devices == 1 && stairs.empty() ? "" : drift_figure(run.device)) +
                histogram_figure(run.device) + spectrum_figure(run.device) + map_figure(run.device) +
                "</div>\n</section>\n";
  }
  return out;
}

namespace {

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * share); }

std::string map_figure(const DeviceMap& map) {
  const std::string title = fmt::format("IR drop at the {} devices of {}", map.devices, map.array);
  const double mean = map.values.mean(), worst = map.values.maxCoeff();
  const std::string note = fmt::format(
      "Share of the read voltage that wires, drivers and sense amplifiers take from each device: {} in the mean, {} "
      "at most. {} × {} devices: all rows (inputs) have the same drive, from the left; columns are sensed below{}.",
      percent(mean), percent(worst), map.values.rows(), map.values.cols(),
      map.values.rows() > 48 || map.values.cols() > 96 ? "; neighbours averaged" : "");
  return raster_figure({title, note, "columns", 100 * map.values, "lost of the read voltage (%)"});
}

/// Figure of the currents of an array's columns beside those of ideal wires.
std::string current_figure(const std::string& array, const std::vector<ColumnSeries>& all) {
  Chart chart{"Column currents of " + array,
              "All rows at the read voltage. Ideal: the same devices without wire resistance.", "column",
              "current (uA)"};
  for (const ColumnSeries& one : all) {
    if (one.array != array || one.column.size() < 2) continue;
    chart.series.push_back(
        {words(one.name), one.column, scaled(one.value, micro), {}, {}, one.name.starts_with("negative") ? 1 : 0});
    chart.series.back().thin = chart.series.back().dashed = one.name.ends_with("_ideal");
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
      fmt::format("The {} devices of {} lose most to wires: {} of the read voltage in the mean, {} at worst.",
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
    out.sentence += fmt::format(" Of the current with ideal wires {:.3g} % arrives.", 100 * own / ideal);
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
    out.body += "<section>\n<h2>Arrays: " + escape(run.name) + "</h2>\n" + facts_table(run.arrays) + grid(figures) +
                "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
