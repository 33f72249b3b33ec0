// SPDX-License-Identifier: Apache-2.0
#include "apps/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "sim/base/errors.hpp"

namespace nudge::report {

namespace {

std::string fact(const RunFile& run, const std::string& name) {
  for (const auto& [key, value] : run.facts) {
    if (key == name) return value;
  }
  return "unknown";
}

std::string heading(const std::vector<RunFile>& runs) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n<ul class=\"files\">",
                                runs.size() == 1 ? escape(runs[0].name) : "nudge report");
  for (const auto& run : runs) {
    out +=
        fmt::format("<li><strong>{}</strong> {}, seed {}, {}, {} s, started {}, nudge {}</li>", escape(run.name),
                    escape(run.kind), escape(fact(run, "seed")), escape(fact(run, "precision")),
                    escape(fact(run, "wall_time_s")), escape(fact(run, "started")), escape(fact(run, "nudge_version")));
  }
  return out + "</ul>\n</header>\n";
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const char* tag = r == 0 || c == 0 ? "th" : "td";
      out += fmt::format("<{0}>{1}</{0}>", tag, escape(rows[r][c]));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string paragraph(const std::string& text) { return "<p>" + escape(text) + "</p>\n"; }

std::string provenance_section(const std::vector<RunFile>& runs) {
  std::string out = "<section>\n<h2>Config and provenance</h2>\n";
  for (const auto& run : runs) {
    out += fmt::format("<details><summary>{}: where it comes from</summary>\n", escape(run.name));
    std::vector<std::vector<std::string>> rows{{"fact", "value"}};
    for (const auto& [key, value] : run.facts) rows.push_back({words(key), value});
    out += table(rows) + "</details>\n";
    out += fmt::format("<details><summary>{}: resolved config</summary>\n", escape(run.name));
    out += run.config.empty() ? paragraph("The file holds no config.") : "<pre>" + escape(run.config) + "</pre>\n";
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
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         escape(runs.size() == 1 ? runs[0].name : "nudge report") + "</title>\n<style>\n" + page_style() +
         "</style>\n</head>\n<body>\n<main>\n" + heading(runs) + training_section(runs) + gradcheck_section(runs) +
         sweep_section(runs) + compare_section(runs) + provenance_section(runs) + "</main>\n</body>\n</html>\n";
}

}  // namespace nudge::report
