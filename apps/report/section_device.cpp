// SPDX-License-Identifier: Apache-2.0
// Pictures of a device: what `nudge devices characterize` measured.
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

std::vector<double> row_of(const Matrix<double>& m, Index row) {
  return std::vector<double>(m.data() + row * m.cols(), m.data() + (row + 1) * m.cols());
}

/// Figure of the measured protocol, measured and simulated.
std::string replay_figure(const DevicePictures& d) {
  const std::size_t n = d.measured_pulse.size();
  if (n < 2 || d.measured_replayed.size() != n) return "";
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(d.measured_mean[i] - d.measured_replayed[i], 2);
  const auto [low, high] = std::minmax_element(d.measured_mean.begin(), d.measured_mean.end());
  Chart chart;
  chart.title = "Measured and simulated";
  chart.x_label = "pulses sent";
  chart.y_label = "conductance (uS)";
  chart.note = fmt::format(
      "The laboratory's record, and the fitted device without noise after the same pulses: {:.2f} % rms of the range "
      "of "
      "the record apart.",
      100 * std::sqrt(squares / static_cast<double>(n)) / (*high - *low));
  chart.series.push_back({"measured", d.measured_pulse, scaled(d.measured_mean, micro), {}, {}, 1, false, true});
  chart.series.push_back({"simulated", d.measured_pulse, scaled(d.measured_replayed, micro), {}, {}, 0});
  return chart_figure(chart);
}

std::string staircase_figure(const DevicePictures& d) {
  if (d.pulse.empty()) return "";
  Chart chart;
  chart.title = "Pulses up, then down";
  chart.x_label = "pulses sent";
  chart.y_label = "conductance (uS)";
  chart.note = "Line and band: mean and standard deviation over the devices. Thin lines: single devices.";
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
  Chart chart;
  chart.title = "Step of one pulse";
  chart.x_label = "conductance (uS)";
  chart.y_label = "change per pulse (nS)";
  chart.note =
      "Of the mean device, up and down: where the two differ in size, pulses of alternating sign do not cancel.";
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
  Chart chart;
  chart.title = "From bound to bound";
  chart.x_label = "pulses per device";
  chart.y_label = "conductance (uS)";
  chart.note =
      "After the pulses up and after the pulses down of each cycle; bands: standard deviation over the devices.";
  if (spans_decades(d.cycle_pulses)) chart.x_scale = Scale::logarithmic;
  chart.series.push_back(with_spread("high", d.cycle_pulses, d.high, d.high_std, 0));
  chart.series.push_back(with_spread("low", d.cycle_pulses, d.low, d.low_std, 1));
  return chart_figure(chart);
}

std::string drift_figure(const DevicePictures& d) {
  if (d.drifted.size() == 0) return "";
  Chart chart;
  chart.title = "After programming";
  chart.x_label = "time (s)";
  chart.y_label = "conductance (uS)";
  chart.x_scale = Scale::logarithmic;
  chart.note =
      "Levels that were programmed once and read at decades of time; bands: standard deviation over the devices.";
  for (std::size_t k = 0; k < d.target.size(); ++k) {
    const auto row = static_cast<Index>(k);
    chart.series.push_back(with_spread("to " + siemens(d.target[k]), d.time, row_of(d.drifted, row),
                                       row_of(d.drifted_std, row), static_cast<int>(k)));
  }
  return chart_figure(chart);
}

std::string histogram_figure(const DevicePictures& d) {
  if (d.deviation.size() < 2) return "";
  Chart chart;
  chart.title = "Reads of one programmed level";
  chart.x_label = "deviation from the device's line (%)";
  chart.y_label = "share of the reads";
  chart.note = "Slow and fresh noise in the middle of the window.";
  chart.series.push_back({"", scaled(d.deviation, 100), d.share, {}, {}, 0});
  return chart_figure(chart);
}

std::string spectrum_figure(const DevicePictures& d) {
  if (d.frequency.size() < 2) return "";
  Chart chart;
  chart.title = "Spectrum of the slow noise";
  chart.x_label = "frequency (Hz)";
  chart.y_label = "spectrum over g² (1/Hz)";
  chart.x_scale = chart.y_scale = Scale::logarithmic;
  chart.note = "Within the band that the record can show. Dashed: 1/f through its middle.";
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
          "From {} the mean device reaches the middle of its range after {} pulses up, from {} after {} down; at the "
          "top "
          "devices differ by {:.2g} % of the range.",
          siemens(low), number(d.half_up), siemens(high), number(d.half_down),
          high > low ? 100 * d.stair_std[top] / (high - low) : 0.0);
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

}  // namespace nudge::report
