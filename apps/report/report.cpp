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
std::string heading(const std::vector<Section>& sections, const std::vector<RunFile>& runs) {
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
  if (said > 1) title = fmt::format("{} of nudge", count(runs.size(), "result"));
  return "<header>\n<h1>" + escape(title) + "</h1>\n" + sentences + sources(runs) + "<div class=\"key\">\n" + figure +
         "</div>\n</header>\n";
}

}  // namespace

namespace {

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
                       is_first ? "" : ", where that differs from the first file") +
           table(rows) + "</details>\n";
    const bool whole = is_first || run.kind != runs.front().kind;
    out += fmt::format("<details><summary>{}: resolved config{}</summary>\n", escape(run.name),
                       whole ? "" : ", where it differs from the first file's");
    const std::string shown = whole ? run.config : config_difference(runs.front().config, run.config);
    out += run.config.empty() ? paragraph("The file holds no config.") : "<pre>" + escape(shown) + "</pre>\n";
    out += "</details>\n";
  }
  return out + "</section>\n";
}

std::string report_html(const std::vector<std::filesystem::path>& files) {
  if (files.empty()) throw UserError("report: no result file given: nudge report RUN.h5 -o REPORT.html");
  std::vector<RunFile> runs;
  for (const auto& path : files) {
    RunFile run = load_run_file(path);
    const bool taken = std::any_of(runs.begin(), runs.end(), [&](const RunFile& r) { return r.name == run.name; });
    if (taken) run.name = path.string();  // two files of one name in two directories
    runs.push_back(std::move(run));
  }
  std::vector<Section> sections{training_section(runs), gradcheck_section(runs), sweep_section(runs),
                                compare_section(runs),  age_section(runs),       device_section(runs),
                                crossbar_section(runs)};
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
         "</style>\n</head>\n<body>\n<main>\n" + heading(sections, runs) + body + provenance_section(runs) +
         "</main>\n" + download_script() + "</body>\n</html>\n";
}

}  // namespace nudge::report
