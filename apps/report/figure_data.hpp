// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/report/svg_chart.hpp"

namespace nudge::report {

/// The numbers of a chart as CSV: a row per x, a column per labelled series, behind it `low` and `high` where it has them. Six
/// digits; empty cells where a series has no value. Names are quoted where RFC 4180 asks for it.
std::string figure_csv(const Chart& chart);

/// The numbers of a dot plot as CSV: a row per name.
std::string figure_csv(const DotPlot& plot);

/// The script behind the buttons that save a figure as SVG, in its colours of the moment, and its numbers as CSV.
/// Nothing is fetched; without scripts the page lacks the buttons only.
std::string download_script();

}  // namespace nudge::report
