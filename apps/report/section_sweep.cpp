// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "apps/report/page_text.hpp"
#include "apps/report/sections.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge::report {

namespace {

/// Replaces the numbers of a reason by "…": the same reason has other numbers in every run.
std::string without_numbers(const std::string& reason) {
  static const std::regex number(R"([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  return std::regex_replace(reason, number, "…");
}

std::string failures(const Table& points) {
  const auto status = points.texts.find("status");
  if (status == points.texts.end()) return "";
  std::map<std::string, std::size_t> counts;
  for (const auto& text : status->second) ++counts[without_numbers(text)];
  counts.erase("ok");
  if (counts.empty()) return paragraph("All " + count(points.rows, "run") + " ended well.");
  std::string out;
  for (const auto& [text, n] : counts) out += (out.empty() ? "" : "; ") + count(n, "run") + ": " + text;
  return paragraph("Of " + count(points.rows, "run") + " some did not end well. " + out + ".");
}

Table over(const Table& points, const std::string& key) {
  Table out = points;
  out.keys = {key};
  for (const std::string& other : points.keys) {
    if (other == key) continue;
    out.numbers.erase(other);
    out.texts.erase(other);
  }
  return out;
}

bool as_first(const Table& points, const std::string& key, std::size_t i) {
  const auto real = points.numbers.find(key);
  return real != points.numbers.end() ? real->second[i] == real->second[0]
                                      : points.texts.at(key)[i] == points.texts.at(key)[0];
}

/// Key that was moved to reach a point of a sweep of one key at a time; empty for the first point. A choice
/// (device.preset, hardware.level) moves dependent keys too. Of several keys that differ from the first point it is the
/// name whose value no point has with this key moved alone.
std::string moved_key(const Table& points, std::size_t i) {
  const auto moved = [&](std::size_t at) {
    std::vector<std::string> keys;
    for (const std::string& key : points.keys) {
      if (!as_first(points, key, at)) keys.push_back(key);
    }
    return keys;
  };
  const std::vector<std::string> all = moved(i);
  if (all.size() < 2) return all.empty() ? "" : all.front();
  for (const std::string& key : all) {
    const auto names = points.texts.find(key);
    if (names == points.texts.end()) continue;
    bool alone = false;
    for (std::size_t j = 0; j < points.rows && !alone; ++j) {
      alone = names->second[j] == names->second[i] && moved(j).size() == 1;
    }
    if (!alone) return key;
  }
  return all.front();
}

/// Points of a sweep of one key at a time at which this key was moved, and the first point.
Table along(const Table& points, const std::string& key) {
  Table out = points;  // what is known of the columns
  out.keys = {key};
  out.rows = 0;
  out.numbers.clear();
  out.texts.clear();
  for (std::size_t i = 0; i < points.rows; ++i) {
    if (const std::string own = moved_key(points, i); !own.empty() && own != key) continue;
    ++out.rows;
    for (const auto& [name, values] : points.numbers) {
      const bool other_key =
          name != key && std::find(points.keys.begin(), points.keys.end(), name) != points.keys.end();
      if (!other_key) out.numbers[name].push_back(values[i]);
    }
    for (const auto& [name, values] : points.texts) out.texts[name].push_back(values[i]);
  }
  return out;
}

std::string figures_by_key(const Table& points, const std::optional<TextEntropy>& line) {
  std::string out;
  for (const std::string& key : points.keys) {
    const PointFigures figures = point_figures(points.scattered ? over(points, key) : along(points, key), line);
    out += "<h3>" + escape(key) + "</h3>\n";
    out += grid(figures.first) + figures.others;
  }
  return out;
}

Section sweep_of(const Table& all, const std::optional<TextEntropy>& line,
                 const std::optional<ReferenceScores>& references) {
  Section out;
  if (all.keys.empty() || all.rows == 0) {
    out.opening = {"A sweep without points", "No run has ended yet, or the file does not name its swept keys.", ""};
    out.body = paragraph("The file holds no points, or does not name its swept keys.");
    return out;
  }
  const Table points = ranked_failures(all);
  out.opening = sweep_opening(points, line, references);
  out.body = failures(points);
  const std::string effects = points.keys.size() > 1 ? effects_figure(points) : "";
  if (points.scattered || points.one_at_a_time) {
    out.opening.figure = effects;
    out.body += paragraph(points.scattered ? "All keys change from point to point, so every figure shows every "
                                             "point."
                                           : "Each point changes one key of the config, which is the baseline.") +
                figures_by_key(points, line);
    return out;
  }
  const PointFigures figures = point_figures(points, line);
  const std::string map = heat_map(points);
  out.opening.figure = !map.empty() || effects.empty() ? figures.first : effects;
  out.body += map;
  std::string more;
  if (out.opening.figure != figures.first) more += figures.first;
  if (!map.empty()) more += effects;
  out.body += grid(more) + figures.others;
  return out;
}

/// Text that two sweeps must share so that their runs are one study.
std::string study_of(const RunFile& run) {
  std::istringstream in(run.config);
  std::string out;
  for (std::string row; std::getline(in, row);) {
    const bool counts = row.starts_with("seeds =") || row.starts_with("seed =") || row.starts_with("threads =") ||
                        row.starts_with("parallel =") || row.starts_with("directory =");
    if (!counts) out += row + "\n";
  }
  for (const std::string& key : run.points.keys) out += key + "\n";
  return out;
}

/// Name of the run of a row: the values of its keys, and its seed.
std::string run_of(const Table& points, std::size_t row) {
  std::string out;
  for (const std::string& key : points.keys) {
    const auto real = points.numbers.find(key);
    out += real != points.numbers.end() ? fmt::format("{}\n", real->second[row]) : points.texts.at(key)[row] + "\n";
  }
  const auto seed = points.numbers.find("seed");
  return seed == points.numbers.end() ? out : out + fmt::format("{}", seed->second[row]);
}

/// Appends the rows of `more`, except for runs that are there already: a run of two files is one run. False when their
/// columns differ.
bool join(Table& all, const Table& more) {
  const auto same_names = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  if (!same_names(all.numbers, more.numbers) || !same_names(all.texts, more.texts)) return false;
  std::set<std::string> known;
  for (std::size_t i = 0; i < all.rows; ++i) known.insert(run_of(all, i));
  for (std::size_t i = 0; i < more.rows; ++i) {
    if (!known.insert(run_of(more, i)).second) continue;
    for (auto& [name, values] : all.numbers) values.push_back(more.numbers.at(name)[i]);
    for (auto& [name, values] : all.texts) values.push_back(more.texts.at(name)[i]);
    ++all.rows;
  }
  return true;
}

/// Pools sweeps of one config, apart from seeds, to one with the seeds of all.
std::vector<RunFile> pooled(const std::vector<RunFile>& runs) {
  std::vector<RunFile> out;
  for (const RunFile& run : runs) {
    if (run.kind != "sweep") continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const RunFile& other) {
      return !run.config.empty() && study_of(other) == study_of(run);
    });
    if (same != out.end() && join(same->points, run.points)) {
      same->name += " + " + run.name;
      same->outside += run.outside;
    } else {
      out.push_back(run);
    }
  }
  return out;
}

}  // namespace

Table ranked_failures(Table points) {
  const auto status = points.texts.find("status");
  if (status == points.texts.end()) return points;
  for (const std::string& result : points.results) {
    std::vector<double>& values = points.numbers.at(result);
    for (std::size_t i = 0; i < points.rows; ++i) {
      const std::string& text = status->second[i];
      if (text != "ok") values[i] = text.starts_with(SweepPoint::kInvalid) ? std::nan("") : failed_value(result);
    }
  }
  return points;
}

std::string outside_note(const RunFile& run) {
  if (run.outside == 0) return "";
  return paragraph(count(run.outside, "finished run") + " of an earlier grid " + (run.outside == 1 ? "is" : "are") +
                   " kept in the file and not shown on this page.");
}

Section sweep_section(const std::vector<RunFile>& runs) {
  Section out;
  const std::vector<RunFile> sweeps = pooled(runs);
  for (const RunFile& run : sweeps) {
    const Section one = sweep_of(
        run.points, run.lines ? std::optional<TextEntropy>(run.lines->validation) : std::nullopt, run.references);
    const bool first = out.body.empty();
    if (first) {
      out.opening = one.opening;
    } else {
      out.opening.title = count(sweeps.size(), "sweep");
      out.opening.sentence += " " + run.name + ": " + one.opening.sentence;
    }
    out.body +=
        "<section>\n<h2>Sweep" + (runs.size() > 1 ? ": " + escape(run.name) : "") + "</h2>\n" +
        (first || one.opening.figure.empty() ? "" : "<div class=\"grid\">\n" + one.opening.figure + "</div>\n") +
        one.body + outside_note(run) + text_note(run.lines) + reference_note(run.references) + "</section>\n";
  }
  return out;
}

}  // namespace nudge::report
