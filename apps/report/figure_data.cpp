// SPDX-License-Identifier: Apache-2.0
#include "apps/report/svg_chart.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "sim/base/text.hpp"

namespace nudge::report {

namespace {

std::string cell(const std::vector<double>& values, std::size_t at) {
  return at < values.size() && std::isfinite(values[at]) ? fmt::format("{:.6g}", values[at]) : "";
}

bool has_range(const std::vector<double>& low) {
  for (const double v : low) {
    if (std::isfinite(v)) return true;
  }
  return false;
}

std::string head(const std::string& label, bool range) {
  const std::string ends = range ? fmt::format(",{},{}", csv_field(label + " low"), csv_field(label + " high")) : "";
  return fmt::format(",{}{}", csv_field(label), ends);
}

std::string label_of(const Series& series, std::size_t place) {
  return series.label.empty() ? fmt::format("curve {}", place + 1) : series.label;
}

std::string x_text(const Chart& chart, double x) {
  const double name = std::round(x);  // series of names stand a little beside each other
  const bool named = name >= 0 && name < static_cast<double>(chart.x_names.size());
  return named ? csv_field(chart.x_names[static_cast<std::size_t>(name)]) : fmt::format("{:.6g}", x);
}

}  // namespace

std::string figure_csv(const Chart& chart) {
  std::string out = csv_field(chart.x_label);
  std::map<double, std::vector<std::size_t>> rows;  // x -> place in every series, one past the end where it has none
  constexpr auto none = static_cast<std::size_t>(-1);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& series = chart.series[s];
    out += head(label_of(series, s), has_range(series.low));
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const double x = chart.x_names.empty() ? series.x[i] : std::round(series.x[i]);
      auto& row = rows.try_emplace(x, chart.series.size(), none).first->second;
      row[s] = i;
    }
  }
  out += "\n";
  for (const auto& [x, places] : rows) {
    out += x_text(chart, x);
    for (std::size_t s = 0; s < places.size(); ++s) {
      const Series& series = chart.series[s];
      out += fmt::format(",{}", cell(series.y, places[s]));
      if (has_range(series.low))
        out += fmt::format(",{},{}", cell(series.low, places[s]), cell(series.high, places[s]));
    }
    out += "\n";
  }
  return out;
}

std::string figure_csv(const DotPlot& plot) {
  std::string out = "name";
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const std::string& label = plot.series[s].label;
    out += head(label.empty() ? plot.x_label : label, has_range(plot.series[s].low));
  }
  out += "\n";
  for (std::size_t r = 0; r < plot.rows.size(); ++r) {
    out += csv_field(plot.rows[r]);
    for (const DotSeries& s : plot.series) {
      out += fmt::format(",{}", cell(s.value, r));
      if (has_range(s.low)) out += fmt::format(",{},{}", cell(s.low, r), cell(s.high, r));
    }
    out += "\n";
  }
  return out;
}

std::string download_script() {
  // No < and & in it: the page stays well-formed XML. Styles are written into the saved drawing, which has no style sheet.
  return R"js(<script>
"use strict";
const painted = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity",
                 "font-size", "font-family"];
function paint(from, to) {
  const style = getComputedStyle(from);
  for (const name of painted) to.setAttribute(name, style.getPropertyValue(name));
  to.removeAttribute("class");
  Array.from(from.children).forEach((child, i) => paint(child, to.children[i]));
}
function element(name, attributes, text) {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text) made.textContent = text;
  return made;
}
function drawing(figure) {
  const shown = figure.querySelector("svg.chart"), copy = shown.cloneNode(true), box = shown.viewBox.baseVal;
  paint(shown, copy);
  const style = getComputedStyle(figure), ink = getComputedStyle(document.body).color, entries = figure.querySelectorAll(".legend li");
  const text = {"font-size": 12.5, "font-family": "sans-serif", fill: ink};
  const top = 30 + 18 * entries.length, height = box.height + top;
  copy.setAttribute("viewBox", [0, -top, box.width, height].join(" "));
  copy.setAttribute("width", 2 * box.width);
  copy.setAttribute("height", 2 * height);
  copy.prepend(element("rect", {x: 0, y: -top, width: box.width, height: height, fill: style.backgroundColor}));
  copy.append(element("text", Object.assign({x: 0, y: 16 - top, "font-weight": 600}, text),
                      figure.querySelector("figcaption").firstChild.textContent));
  entries.forEach((entry, i) => {
    const swatch = entry.querySelector("svg");  // none before what all have in common
    copy.append(element("text", Object.assign({x: swatch ? 32 : 0, y: 35 + 18 * i - top}, text), entry.textContent));
    if (!swatch) return;
    const mine = swatch.cloneNode(true);
    paint(swatch, mine);
    mine.setAttribute("x", 0);
    mine.setAttribute("y", 24 + 18 * i - top);
    mine.setAttribute("width", 26);
    mine.setAttribute("height", 14);
    copy.append(mine);
  });
  return new XMLSerializer().serializeToString(copy);
}
function button(figure, label, type, extension, content) {
  const made = document.createElement("a"), caption = figure.querySelector("figcaption");
  const name = caption.firstChild.textContent.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "");
  made.textContent = label;
  made.href = "#";
  made.addEventListener("click", () => {
    made.href = URL.createObjectURL(new Blob([content()], {type: type}));
    made.download = name + extension;
  });
  caption.append(made);
}
for (const figure of document.querySelectorAll("figure")) {
  button(figure, "SVG", "image/svg+xml", ".svg", () => drawing(figure));
  const data = figure.querySelector(".data pre");
  if (data) button(figure, "CSV", "text/csv", ".csv", () => data.textContent);
}
</script>
)js";
}

}  // namespace nudge::report
