// SPDX-License-Identifier: Apache-2.0
// A circuit as a graph: width and shade of a wire say its conductance or power, the shade of a node its voltage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/pictures.hpp"
#include "apps/report/sections.hpp"
#include "apps/report/svg_chart.hpp"

namespace nudge::report {
namespace {

constexpr double kWidth = 480, kMargin = 26, kSpan = kWidth - 2 * kMargin;
constexpr double kDecades = 3;  // what is less than the largest by more than these is drawn alike

/// Logarithmic scale for values of wires: a share of the range between the least value that is told apart and the
/// largest.
struct WireScale {
  double low = 0, high = 0;
  double share(double value) const {
    if (!(value > low) || !(high > low)) return value >= high && high > 0 ? 1 : 0;
    return std::min(1.0, std::log(value / low) / std::log(high / low));
  }
};

template <class Get>
WireScale scale_of(const CircuitPicture& picture, std::initializer_list<Get> all) {
  WireScale out;
  double least = INFINITY;
  for (const CircuitWire& wire : picture.wires) {
    for (const Get get : all) {
      const double v = wire.*get;
      out.high = std::max(out.high, v);
      if (v > 0) least = std::min(least, v);
    }
  }
  out.low = std::max(least, out.high * std::pow(10, -kDecades));
  return out;
}

/// Draws a wire from (x1, y1) to (x2, y2), thicker with its share of the scale, in another colour if it learns.
std::string stroke(double share, bool learns, double x1, double y1, double x2, double y2) {
  return fmt::format(
      R"(<line class="{}" stroke-linecap="round" stroke-width="{:.1f}" opacity="{:.2f}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
      learns ? "s0" : "s7", 0.8 + 4.2 * share, 0.2 + 0.8 * share, x1, y1, x2, y2);
}

/// Key of the wires, thin to thick, with the values at its ends. y: its place; what, unit: label of the values.
std::string wire_key(double y, const WireScale& scale, const std::string& what, const std::string& unit) {
  constexpr double begin = 120, end = 360;
  constexpr int steps = 12;
  std::string out;
  for (int s = 0; s < steps; ++s) {
    const double x = begin + (end - begin) * s / steps;
    out += stroke(static_cast<double>(s) / (steps - 1), true, x + 3, y, x + (end - begin) / steps - 3, y);
  }
  return out + label("tick", begin - 6, y + 4, "end", number(scale.low)) +
         label("tick", end + 6, y + 4, "start", number(scale.high)) +
         label("name", 0.5 * (begin + end), y + 20, "middle", what + " (" + unit + ")");
}

double x_of(const CircuitSpot& spot) { return kMargin + kSpan * spot.x; }

struct View {
  std::string title, note, what, unit;
  double CircuitWire::*wire;
  double CircuitSpot::*volts;
};

std::string spot_mark(const CircuitSpot& spot, double volts, double largest, double y) {
  const double share = largest > 0 ? std::abs(volts) / largest : 0, r = spot.source || spot.output ? 6.5 : 4.5;
  const std::string shape = spot.source ? fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")",
                                                      x_of(spot) - r, y - r, 2 * r, 2 * r)
                                        : fmt::format(R"(cx="{:.1f}" cy="{:.1f}" r="{:.1f}")", x_of(spot), y, r);
  const char* tag = spot.source ? "rect" : "circle";
  std::string out = fmt::format(R"(<{0} style="fill: var(--card); stroke: var(--ink); stroke-width: {1}" {2}/>)", tag,
                                spot.output ? 2.4 : 0.8, shape);
  out += fmt::format(R"(<{} class="{}" opacity="{:.2f}" {}><title>{}: {} V</title></{}>)", tag, volts < 0 ? "f0" : "f1",
                     0.95 * share, shape, escape(spot.name), number(volts), tag);
  return out;
}

std::string drawn(const CircuitPicture& picture, const WireScale& scale, const View& view) {
  double height = 0, largest = 0;
  for (const CircuitSpot& spot : picture.spots) {
    height = std::max(height, spot.y);
    largest = std::max({largest, std::abs(spot.before_V), std::abs(spot.after_V)});
  }
  const double tall = std::max(kSpan * height, 60.0);
  const auto y_of = [&](const CircuitSpot& spot) { return kMargin + tall - kSpan * spot.y; };
  std::string out;
  for (const CircuitWire& wire : picture.wires) {
    const CircuitSpot& a = picture.spots[static_cast<std::size_t>(wire.from)];
    const double share = scale.share(wire.*view.wire), x = x_of(a), y = y_of(a);
    if (wire.to < 0) {  // to ground: a stub with a bar
      out += stroke(share, wire.learns, x, y, x, y + 16) + line("axis", x - 5, y + 16, x + 5, y + 16);
    } else {
      const CircuitSpot& b = picture.spots[static_cast<std::size_t>(wire.to)];
      out += stroke(share, wire.learns, x, y, x_of(b), y_of(b));
    }
  }
  const bool few = picture.spots.size() <= 60;
  for (const CircuitSpot& spot : picture.spots) {
    out += spot_mark(spot, spot.*view.volts, largest, y_of(spot));
    if (few || spot.source || spot.output) out += label("tick", x_of(spot), y_of(spot) - 9, "middle", spot.name);
  }
  const double bottom = 2 * kMargin + tall + 12;
  out += wire_key(bottom, scale, view.what, view.unit);
  std::string csv = "element,from,to,learns," + view.unit + "\n";
  for (const CircuitWire& wire : picture.wires) {
    csv += fmt::format("{},{},{},{},{:.6g}\n", wire.name, picture.spots[static_cast<std::size_t>(wire.from)].name,
                       wire.to < 0 ? "0" : picture.spots[static_cast<std::size_t>(wire.to)].name, wire.learns ? 1 : 0,
                       wire.*view.wire);
  }
  return figure(view.title, "", kWidth, bottom + 28, out, view.note, csv);
}

}  // namespace

std::string circuit_figures(const CircuitPicture& picture) {
  if (!picture.missing.empty()) return paragraph(picture.missing);
  if (picture.spots.empty()) return "";
  const WireScale siemens = scale_of(picture, {&CircuitWire::before_S, &CircuitWire::after_S});
  const WireScale watts = scale_of(picture, {&CircuitWire::after_W});
  const std::string marks =
      "Squares: set by a source; thick rims: outputs; blue wires learn. Orange nodes are above ground, blue below, the "
      "deeper the farther. ";
  const std::string out =
      drawn(picture, siemens,
            {"The circuit before training", marks + "Sources have the values of the netlist.", "conductance", "S",
             &CircuitWire::before_S, &CircuitSpot::before_V}) +
      drawn(picture, siemens,
            {"The circuit after training", "The same scale of wires and of nodes.", "conductance", "S",
             &CircuitWire::after_S, &CircuitSpot::after_V}) +
      drawn(picture, watts,
            {"Where its power goes, after training", "Of the same sources; what sources take is not shown.", "power",
             "W", &CircuitWire::after_W, &CircuitSpot::after_V});
  return "<div class=\"grid\">\n" + out + "</div>\n";
}

}  // namespace nudge::report
