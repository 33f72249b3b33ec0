// SPDX-License-Identifier: Apache-2.0
// What counting letters and pairs scores on the same text, in charts and tables of losses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"

namespace nudge::report {

void add_text_lines(Chart& chart, const std::optional<TextEntropy>& line) {
  if (!line) return;
  double from = std::numeric_limits<double>::infinity(), to = -from;
  int color = 0;
  for (const Series& series : chart.series) {
    color = std::max(color, series.color + 1);
    for (const double x : series.x) {
      if (!std::isfinite(x) || (chart.x_scale == Scale::logarithmic && x <= 0)) continue;
      from = std::min(from, x);
      to = std::max(to, x);
    }
  }
  if (!(from <= to)) return;
  if (from == to && chart.x_scale == Scale::linear) {
    from -= 0.5;
    to += 0.5;
  }
  const auto add = [&](const std::string& label, double value) {
    chart.series.push_back({label, {from, to}, {value, value}, {}, {}, color++, true, false, true, true});
  };
  add("unigram: letter frequencies", line->unigram);
  add("bigram: pairs of letters", line->bigram);
}

std::string marked_loss(double loss, const std::optional<TextEntropy>& line) {
  if (!std::isfinite(loss)) return "–";
  return fmt::format("{:.4f}{}", loss, line && loss >= line->unigram ? " !" : "");
}

std::string text_note(const std::optional<TextLines>& lines) {
  if (!lines) return "";
  const auto one = [](const TextEntropy& e, const char* part) {
    return fmt::format("{:.4f} (letter frequencies, unigram) and {:.4f} (pairs, bigram) on the {} part", e.unigram,
                       e.bigram, part);
  };
  std::string out = fmt::format("Counting alone scores {:.4f} (chance), ", lines->validation.chance) +
                    one(lines->validation, "validation");
  if (lines->test) out += ", " + one(*lines->test, "test");
  return "<p class=\"note\">" +
         escape(out +
                " nat. !: not below the unigram line: learnt nothing beyond letter "
                "frequencies.") +
         "</p>\n";
}

}  // namespace nudge::report
