// SPDX-License-Identifier: Apache-2.0
#include "apps/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/base/errors.hpp"

namespace nudge::report {
namespace {

// Colours of the curves: the palette of M. Okabe and K. Ito, "Color Universal Design" (2002, revised 2008), which stays
// distinct with every common colour vision; its yellow is left out on light and its black is the ink of each theme.
constexpr const char* colors = R"(
:root { color-scheme: light dark;
  --page: #f7f6f3; --card: #ffffff; --ink: #1c2230; --soft: #59626f; --rule: #dedbd4; --grid: #ebe8e2;
  --c0: #0072B2; --c1: #D55E00; --c2: #009E73; --c3: #CC79A7; --c4: #E69F00; --c5: #56B4E9; --c6: #1c2230; --c7: #7d8591; }
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #13161b; --card: #1b1f26; --ink: #e7e9ee; --soft: #a3acb9; --rule: #323945; --grid: #2a303a;
  --c0: #56B4E9; --c1: #E69F00; --c2: #009E73; --c3: #CC79A7; --c4: #F0E442; --c5: #D55E00; --c6: #e7e9ee; --c7: #8a93a1; } }
)";

constexpr const char* layout = R"(
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 8px 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 34px 0 10px; }
h3 { font-size: 1rem; margin: 22px 0 8px; }
p { max-width: 72ch; margin: 8px 0; }
.files { list-style: none; margin: 0; padding: 0; color: var(--soft); font-size: 0.9rem; }
.files strong { color: var(--ink); overflow-wrap: anywhere; }
.verdict { font-size: 1.08rem; margin: 6px 0 10px; max-width: 78ch; }
.key { margin: 14px 0 4px; }
.key figure { max-width: 760px; }
figcaption a { float: right; margin-left: 12px; font-size: 0.8rem; font-weight: 400; color: var(--soft); }
.data { font-size: 0.8rem; color: var(--soft); margin: 0; }
.data pre { max-height: 220px; overflow: auto; }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); align-items: start; }
.grid + .grid { margin-top: 16px; }
figure { margin: 0; padding: 14px 14px 8px; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.grid > figure { max-width: 640px; }
figcaption { font-weight: 600; margin-bottom: 6px; }
.note { color: var(--soft); font-size: 0.85rem; line-height: 1.4; margin: 6px 0; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 6px; padding: 0; font-size: 0.85rem; }
.legend li { display: flex; align-items: center; gap: 6px; overflow-wrap: anywhere; }
.legend .head { flex-basis: 100%; }
.legend svg { width: 26px; height: 14px; flex: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 10px 0; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child { text-align: left; }
.words { text-align: left; white-space: normal; min-width: 16em; }
tr:first-child th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
.scroll th:first-child { position: sticky; left: 0; background: var(--page); }
th { font-weight: 500; }
.heat td, .heat tr:first-child th { padding: 4px 10px; text-align: center; }
.heat .none { color: var(--soft); }
details { margin: 8px 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
details td { text-align: left; white-space: normal; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; overflow-x: auto; font-size: 0.82rem; }
)";

/// Styles for paper: controls are left out, wide tables wrap instead of being cut off, and two figures stand side by
/// side. The colours of heat maps are printed although the dialog leaves backgrounds out.
constexpr const char* paper = R"(
@media print {
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  :root { font-size: 13px; }
  body { background: #fff; font-size: 1rem; }
  main { max-width: none; padding: 0; }
  figcaption a, .data { display: none; }
  figure, tr, .heat, .verdict { break-inside: avoid; }
  h1, h2, h3, summary { break-after: avoid; }
  .grid { grid-template-columns: repeat(auto-fit, minmax(290px, 1fr)); gap: 10px; }
  figure { padding: 10px; }
  .scroll { overflow: visible; }
  table { font-size: 0.85rem; }
  .grid .chart text { font-size: 15px; }
  th, td { white-space: normal; padding: 3px 7px 3px 0; }
  .heat td, .heat tr:first-child th { padding: 2px 4px; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
)";

constexpr const char* drawing = R"(
.chart { display: block; width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 12.5px; }
.chart .row { fill: var(--ink); }
.chart .grid { stroke: var(--grid); }
.chart .axis { stroke: var(--soft); }
.chart .rule { stroke: var(--grid); }
.chart .gap { stroke: var(--soft); stroke-dasharray: 2 4; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.thin { stroke-width: 1.1; }
.dashed { stroke-dasharray: 6 4; }
.whisker { stroke-width: 1.6; opacity: 0.6; }
.band { stroke: none; opacity: 0.18; }
.mark { stroke: var(--card); stroke-width: 0.8; }
.hollow { fill: var(--card); stroke-width: 1.6; }
)";

std::string page_style() {
  std::string out = colors;
  out.append(layout).append(drawing).append(paper);
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    out.append(".s").append(n).append(" { stroke: var(--c").append(n).append("); }");
    out.append(" .f").append(n).append(" { fill: var(--c").append(n).append("); }\n");
  }
  return out;
}

std::string fact(const RunFile& run, const std::string& name) {
  for (const auto& [key, value] : run.facts) {
    if (key == name) return value;
  }
  return "unknown";
}

std::string sources(const std::vector<RunFile>& runs) {
  std::string out = "<ul class=\"files\">";
  for (const auto& run : runs) {
    out +=
        fmt::format("<li><strong>{}</strong> {}, seed {}, {}, {} s, started {}, nudge {}</li>", escape(run.name),
                    escape(run.kind), escape(fact(run, "seed")), escape(fact(run, "precision")),
                    escape(fact(run, "wall_time_s")), escape(fact(run, "started")), escape(fact(run, "nudge_version")));
  }
  return out + "</ul>\n";
}

/// Heading of the page: the sentences of each kind of files, and the figure of the first.
std::string heading(const std::vector<Section>& sections, const std::vector<RunFile>& runs, const Section* lead) {
  const auto said = std::count_if(sections.begin(), sections.end(), [](const Section& s) { return !s.body.empty(); });
  std::string title, sentences, figure;
  for (const Section& section : sections) {
    if (section.body.empty()) continue;
    title += (title.empty() ? "" : "; ") + section.opening.title;
    sentences += fmt::format("<p class=\"verdict\">{}{}</p>\n", said > 1 ? escape(section.opening.title) + ". " : "",
                             escape(section.opening.sentence));
    if (title == section.opening.title)
      figure = section.opening.figure;  // the first one's; others stand with their sections
  }
  if (said > 1)
    title = lead != nullptr ? lead->opening.title : fmt::format("{} of nudge", count(runs.size(), "result"));
  return "<header>\n<h1>" + escape(title) + "</h1>\n" + sentences + sources(runs) + "<div class=\"key\">\n" + figure +
         "</div>\n</header>\n";
}

/// True if a column has sentences, which wrap, and no numbers, which stand below each other.
bool of_words(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  constexpr std::size_t longest_number = 44;
  return std::any_of(rows.begin() + 1, rows.end(), [&](const std::vector<std::string>& row) {
    return column < row.size() && row[column].size() > longest_number;
  });
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> words;
  for (std::size_t c = 0; !rows.empty() && c < rows[0].size(); ++c) words.push_back(c > 0 && of_words(rows, c));
  std::string out = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const char* tag = r == 0 || c == 0 ? "th" : "td";
      const char* of = c < words.size() && words[c] ? " class=\"words\"" : "";
      out += fmt::format("<{0}{2}>{1}</{0}>", tag, escape(rows[r][c]), of);
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string heat_table(const std::string& corner, const std::vector<std::string>& columns,
                       const std::vector<HeatRow>& rows) {
  std::string out = "<div class=\"scroll\"><table class=\"heat\">\n<tr><th>" + escape(corner) + "</th>";
  for (const std::string& name : columns) out += "<th>" + escape(name) + "</th>";
  out += "</tr>\n";
  for (const HeatRow& row : rows) out += "<tr><th>" + escape(row.name) + "</th>" + row.cells + "</tr>\n";
  return out + "</table></div>\n";
}

std::string heat_cell(double percent, const std::string& text, const char* color) {
  if (!std::isfinite(percent)) return "<td class=\"none\">" + escape(text) + "</td>";
  return fmt::format("<td style=\"background:color-mix(in srgb, var({}) {:.0f}%, transparent)\">{}</td>", color,
                     percent, escape(text));
}

std::string paragraph(const std::string& text) { return "<p>" + escape(text) + "</p>\n"; }

namespace {

/// Rows of a config with their section: "[train] steps = 100".
std::vector<std::string> config_rows(const std::string& config) {
  std::istringstream in(config);
  std::vector<std::string> out;
  std::string section;
  for (std::string row; std::getline(in, row);) {
    if (row.empty()) continue;
    if (row[0] == '[') {
      section = row + " ";
    } else {
      out.push_back(section + row);
    }
  }
  return out;
}

/// Differences of a config from the first one; runs of one study differ in a row or two.
std::string config_difference(const std::string& first, const std::string& other) {
  const std::vector<std::string> known = config_rows(first);
  std::string out;
  for (const std::string& row : config_rows(other)) {
    if (std::find(known.begin(), known.end(), row) == known.end()) out += row + "\n";
  }
  return out.empty() ? "the same\n" : out;
}

}  // namespace

std::string provenance_section(const std::vector<RunFile>& runs) {
  std::string out = "<section>\n<h2>Config and provenance</h2>\n";
  for (const auto& run : runs) {
    const bool is_first = &run == &runs.front();
    std::vector<std::vector<std::string>> rows{{"fact", "value"}};
    for (const auto& [key, value] : run.facts) {
      if (is_first || fact(runs.front(), key) != value) rows.push_back({words(key), value});
    }
    out += fmt::format("<details><summary>{}: where it comes from{}</summary>\n", escape(run.name),
                       is_first ? "" : " (where it differs from the first file)") +
           table(rows) + "</details>\n";
    const bool whole = is_first || run.kind != runs.front().kind;
    out += fmt::format("<details><summary>{}: resolved config{}</summary>\n", escape(run.name),
                       whole ? "" : " (where it differs from that of the first file)");
    const std::string shown = whole ? run.config : config_difference(runs.front().config, run.config);
    out += run.config.empty() ? paragraph("The file holds no config.") : "<pre>" + escape(shown) + "</pre>\n";
    out += "</details>\n";
  }
  return out + "</section>\n";
}

std::string report_html(const std::vector<std::filesystem::path>& files, const Section* lead) {
  if (files.empty()) throw UserError("report: a result file is missing. Example: nudge report RUN.h5 -o REPORT.html");
  std::vector<RunFile> runs;
  for (const auto& path : files) {
    RunFile run = load_run_file(path);
    const bool taken = std::any_of(runs.begin(), runs.end(), [&](const RunFile& r) { return r.name == run.name; });
    if (taken) run.name = path.string();  // two files of one name in two directories
    runs.push_back(std::move(run));
  }
  std::vector<Section> sections{training_section(runs), gradcheck_section(runs), sweep_section(runs),
                                spec_section(runs),     compare_section(runs),   age_section(runs),
                                device_section(runs),   crossbar_section(runs)};
  if (lead != nullptr) sections.insert(sections.begin(), *lead);
  std::string body, first = "";
  for (const Section& section : sections) {
    if (section.body.empty()) continue;
    const bool is_first = first.empty();
    if (is_first) first = section.opening.title;
    const bool shown = is_first || section.opening.figure.empty();  // the first section's figure stands in the heading
    body += (shown ? "" : "<div class=\"grid\">\n" + section.opening.figure + "</div>\n") + section.body;
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         escape(runs.size() == 1 ? first : "nudge report") + "</title>\n<style>\n" + page_style() +
         "</style>\n</head>\n<body>\n<main>\n" + heading(sections, runs, lead) + body + provenance_section(runs) +
         "</main>\n" + download_script() + "</body>\n</html>\n";
}

}  // namespace nudge::report
