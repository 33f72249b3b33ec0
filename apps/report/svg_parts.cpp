// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/report/page_text.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/base/text.hpp"

namespace nudge::report {
namespace {

/// Splits "device.pulses = 4, beta = 0.1" into its parts.
std::vector<std::string> parts_of(const std::string& label) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = label.find_first_of(",:", at)) != std::string::npos; ++at) {
    if (label.compare(at + 1, 1, " ") != 0) continue;
    parts.push_back(label.substr(begin, at - begin));
    begin = at + 2;
  }
  parts.push_back(label.substr(begin));
  return parts;
}

/// Labels shortened by what they have in common. With equally many parts, a part that is the same in all, and a key
/// whose value alone differs, move to the head, which is written once; the rest stays. Labels with different numbers of
/// parts stay as they are.
struct ShortLabels {
  std::string head;
  std::vector<std::string> labels;
};

ShortLabels shortened(const std::vector<LegendEntry>& entries) {
  std::vector<std::vector<std::string>> all;
  ShortLabels out;
  for (const auto& entry : entries) {
    all.push_back(parts_of(entry.label));
    out.labels.push_back(entry.label);
    if (all.back().size() != all.front().size()) all.front().clear();
  }
  if (all.front().size() < 2) return out;
  std::vector<std::string> same, keys, left(entries.size());
  for (std::size_t p = 0; p < all.front().size(); ++p) {
    const std::string& first = all.front()[p];
    const std::size_t equals = first.find(" = ");
    const std::string key = equals == std::string::npos ? "" : first.substr(0, equals + 3);
    const auto each = [&](auto holds) { return std::all_of(all.begin(), all.end(), holds); };
    if (each([&](const auto& parts) { return parts[p] == first; })) {
      same.push_back(first);
      continue;
    }
    const bool keyed = !key.empty() && each([&](const auto& parts) { return parts[p].starts_with(key); });
    if (keyed) keys.push_back(first.substr(0, equals));
    for (std::size_t e = 0; e < all.size(); ++e) {
      left[e] += (left[e].empty() ? "" : ", ") + all[e][p].substr(keyed ? key.size() : 0);
    }
  }
  if ((same.empty() && keys.empty()) || left.front().empty()) return out;
  out.labels = left;
  out.head =
      fmt::format("{}{}{}:", fmt::join(same, ", "), same.empty() || keys.empty() ? "" : "; ", fmt::join(keys, ", "));
  return out;
}

}  // namespace

std::string marker(int series, double x, double y, bool hollow) {
  const int colour = series % palette_size;
  const std::string css = hollow ? fmt::format("mark hollow s{}", colour) : fmt::format("mark f{}", colour);
  switch ((series + series / palette_size) % 4) {
    case 0: return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3.6"/>)", css, x, y);
    case 1:
      return fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="6.4" height="6.4"/>)", css, x - 3.2, y - 3.2);
    case 2: return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}l4.6 4.6l-4.6 4.6l-4.6 -4.6z"/>)", css, x, y - 4.6);
    default: return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}l4.4 7.6h-8.8z"/>)", css, x, y - 4.8);
  }
}

std::string line(const std::string& css, double x1, double y1, double x2, double y2) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", css, x1, y1, x2, y2);
}

std::string label(const std::string& css, double x, double y, const std::string& anchor, const std::string& text) {
  return fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", css, x, y, anchor,
                     escape(text));
}

std::string legend(const std::vector<LegendEntry>& entries) {
  if (entries.size() < 2) return "";
  const ShortLabels said = shortened(entries);
  std::string out = "<ul class=\"legend\">";
  if (!said.head.empty()) out += "<li class=\"head\">" + escape(said.head) + "</li>";
  constexpr std::size_t most = 24;  // three rounds of the palette: beyond, names are in the data below the figure
  for (const auto& entry : entries) {
    if (&entry - entries.data() == most) {
      out += fmt::format("<li>and {} more</li>", entries.size() - most);
      break;
    }
    std::string swatch;
    if (entry.line)
      swatch +=
          line(fmt::format("curve s{}{}", entry.color % palette_size, entry.dashed ? " dashed" : ""), 1, 7, 25, 7);
    if (entry.markers) swatch += marker(entry.color, 13, 7);
    out += fmt::format(R"(<li><svg width="26" height="14" viewBox="0 0 26 14" aria-hidden="true">{}</svg>{}</li>)",
                       swatch, escape(said.labels[static_cast<std::size_t>(&entry - entries.data())]));
  }
  return out + "</ul>\n";
}

std::string figure(const std::string& title, const std::string& legend, double width, double height,
                   const std::string& drawing, const std::string& note, const std::string& csv) {
  const std::string data =
      csv.empty() ? "" : "<details class=\"data\"><summary>data</summary><pre>" + escape(csv) + "</pre></details>\n";
  return fmt::format(
      "<figure>\n<figcaption>{0}</figcaption>\n{1}<svg class=\"chart\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 "
      "{2} {3}\"><title>{0}</title><desc>{5}</desc>\n{4}</svg>\n<p class=\"note\">{5}</p>\n{6}</figure>\n",
      escape(title), legend, width, height, drawing, escape(note), data);
}

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
