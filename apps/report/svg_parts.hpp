// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge::report {

/// The palette has eight colours; a series beyond them repeats a colour with another marker and a dashed line.
constexpr int palette_size = 8;

/// Marker of a series at a pixel: circle, square, diamond or triangle by its place, so that colour is not the only sign.
std::string marker(int series, double x, double y);

/// Straight line of a CSS class.
std::string line(const std::string& css, double x1, double y1, double x2, double y2);

/// Text of a CSS class; anchor is start, middle or end.
std::string label(const std::string& css, double x, double y, const std::string& anchor, const std::string& text);

struct LegendEntry {
  std::string label;
  int color = 0;
  bool line = true, markers = true, dashed = false;
};

/// Legend that wraps, with the same line and marker as the chart; nothing for fewer than two entries. What all labels have in common is said
/// once, before them: parts are separated by ", " or ": ".
std::string legend(const std::vector<LegendEntry>& entries);

/// The figure around an SVG drawing of the given size; the note is HTML-escaped here. `csv`: the numbers of the drawing, folded
/// away below it; empty: none.
std::string figure(const std::string& title, const std::string& legend, double width, double height,
                   const std::string& drawing, const std::string& note, const std::string& csv);

}  // namespace nudge::report
