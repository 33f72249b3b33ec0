// SPDX-License-Identifier: Apache-2.0
#include "apps/report/benchmark_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/report/page_text.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/base/text.hpp"

namespace nudge::report {

std::string share_text(const Share& share) {
  if (!share.known()) return "no score: " + share.unknown;
  if (!std::isfinite(share.low)) return fmt::format("{:.2f}, no interval", share.value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", share.value, share.low, share.high);
}

std::string rank_text(const RankRange& rank) {
  if (rank.rank == 0) return "";
  if (rank.of == 1) return "1 of 1";
  return fmt::format("{} of {}, 95 % interval {} to {}", rank.rank, rank.of, rank.first, rank.last);
}

namespace {

constexpr double row_height = 24, head_height = 78, cell_width = 44, rank_width = 46;  // in pixels of the drawing

/// Rules of the entries in the order in which they come.
std::vector<std::string> rules_of(const BenchmarkMap& map) {
  std::vector<std::string> rules;
  for (const RankedEntry& row : map.ranked) {
    for (const BenchmarkResult& one : row.entry->networks) {
      for (const BenchmarkRule& rule : one.rules) place(rules, rule.name);
    }
  }
  return rules;
}

/// A drawing with its size, to stand in a page or alone.
struct Drawing {
  double width = 0, height = 0;
  std::string body;
};

/// Draws a share as a shaded square with its number.
std::string share_cell(const Share& share, double x, double y, double width) {
  if (!share.known()) return label("tick", x + 0.5 * width, y + 16, "middle", "–");
  const double shade = share.significant() ? 0.08 + 0.6 * std::clamp(std::abs(share.value), 0.0, 1.0) : 0;
  return fmt::format(
             R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="3" fill="{}" fill-opacity="{:.2f}" )"
             R"(stroke="#7d8591" stroke-opacity="{}"/>)",
             x + 2, y + 2, width - 4, row_height - 4, share.value < 0 ? "#D55E00" : "#0072B2", shade,
             shade > 0 ? 0 : 1) +
         label("row", x + 0.5 * width, y + 16, "middle", fmt::format("{:.2f}", share.value));
}

/// Draws the name of a column, which leans over its cells.
std::string leaning(double x, const std::string& text) {
  return fmt::format(R"x(<text class="tick" transform="translate({:.1f} {:.1f}) rotate(-50)">{}</text>)x", x,
                     head_height - 8, escape(text));
}

std::string place_text(const RankRange& rank) {
  if (rank.rank == 0) return "–";
  return rank.first == rank.last ? std::to_string(rank.rank) : fmt::format("{}–{}", rank.first, rank.last);
}

Drawing drawing_of(const BenchmarkMap& map) {
  const std::vector<std::string> rules = rules_of(map);
  std::size_t longest = 6;
  for (const RankedEntry& row : map.ranked) longest = std::max(longest, row.entry->device.size() + 2);
  const double scores = rank_width + 8 + 7.4 * static_cast<double>(longest);
  const auto column = [&](std::size_t k) { return scores + cell_width * static_cast<double>(k); };
  Drawing out{column(rules.size() + 1) + 40, head_height, ""};
  out.body = label("tick", rank_width - 8, head_height - 8, "end", "rank") +
             label("tick", rank_width, head_height - 8, "start", "device") + leaning(column(0) + 18, "score");
  for (std::size_t r = 0; r < rules.size(); ++r) out.body += leaning(column(r + 1) + 18, rules[r]);
  for (const RankedEntry& row : map.ranked) {
    const bool own = std::find(map.own.begin(), map.own.end(), row.entry->device) != map.own.end();
    const double y = out.height;
    out.body += label("row", rank_width - 8, y + 16, "end", place_text(row.rank)) +
                label("row", rank_width, y + 16, "start", row.entry->device + (own ? " ◂" : "")) +
                share_cell(row.score, column(0), y, cell_width);
    for (std::size_t r = 0; r < rules.size(); ++r)
      out.body += share_cell(row.entry->rule_share(rules[r]), column(r + 1), y, cell_width);
    out.body += "\n";
    out.height += row_height;
  }
  out.height += 4;
  return out;
}

std::string map_title(const BenchmarkMap& map) {
  std::string title;
  for (const RankedEntry& row : map.ranked) {
    if (std::find(map.own.begin(), map.own.end(), row.entry->device) == map.own.end()) continue;
    const std::string rank = rank_text(row.rank);
    title += fmt::format("{}{}: {}{}", title.empty() ? "" : "; ", row.entry->device, share_text(row.score),
                         rank.empty() ? "" : ", rank " + rank);
  }
  return title.empty() ? "Ranking of devices" : title;
}

std::string map_csv(const BenchmarkMap& map) {
  const std::vector<std::string> rules = rules_of(map);
  std::string out = "device,rank,score,low,high";
  for (const std::string& rule : rules) out += "," + csv_field(rule);
  const auto cell = [](double value) { return std::isfinite(value) ? fmt::format(",{:.6g}", value) : ","; };
  for (const RankedEntry& row : map.ranked) {
    out += fmt::format("\n{},{}", csv_field(row.entry->device), row.rank.rank > 0 ? std::to_string(row.rank.rank) : "");
    out += cell(row.score.value) + cell(row.score.low) + cell(row.score.high);
    for (const std::string& rule : rules) out += cell(row.entry->rule_share(rule).value);
  }
  return out + "\n";
}

constexpr const char* kScoreNote =
    "Score: share of what digital weights learn beyond the strongest null, with the rule that the tuning chose. 1 is "
    "as "
    "much as digital weights, 0 no more than the null.";

}  // namespace

Section benchmark_section(const BenchmarkMap& map) {
  const Drawing drawing = drawing_of(map);
  Section out;
  out.opening.title = map_title(map);
  out.opening.sentence = kScoreNote;
  out.opening.figure = figure("Devices in the order of their scores, and the share of each update rule", "",
                              drawing.width, drawing.height, drawing.body,
                              "Rank: its 95 % interval, for all devices together. A rule is averaged over the networks "
                              "that can have it. Hollow: the interval contains 0. A dash: not known.",
                              map_csv(map));
  std::string missing;
  for (const RankedEntry& row : map.ranked) {
    if (!row.score.known()) missing += paragraph(row.entry->device + ": " + share_text(row.score) + ".");
    for (const BenchmarkResult& one : row.entry->networks) {
      for (const RefusedRule& refused : one.refused)
        missing += paragraph(
            fmt::format("{} on {}: {} was not tried: {}.", row.entry->device, one.network, refused.rule, refused.why));
    }
  }
  out.body = "<section>\n<h2>What is missing</h2>\n" +
             (missing.empty() ? paragraph("Nothing: every device has a score.") : missing) + "</section>\n";
  return out;
}

std::string benchmark_svg(const BenchmarkMap& map) {
  const Drawing drawing = drawing_of(map);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n<style>text {{ font: 12.5px system-ui, \"DejaVu Sans\", sans-serif; fill: "
      "#59626f; }} .row {{ fill: #1c2230; }}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{4}"
      "</svg>\n",
      drawing.width, drawing.height, escape(map_title(map)), escape(kScoreNote), drawing.body);
}

}  // namespace nudge::report
