// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/config/config_table.hpp"
#include "training/sweep/merge_rows.hpp"

namespace nudge {
namespace {

/// Attributes of the root that may differ between parts of one sweep.
const std::set<std::string> kOwn = {"config", "started", "wall_time_s", "threads", "machine", "shard"};

/// What each dataset of the plan says of the file, not of the sweep.
bool is_progress(const std::string& dataset) { return dataset == "plan/row" || dataset == "plan/seconds"; }

struct Part {
  H5Reader file;
  RowColumns rows, plan, others;  ///< points and points_cosine; plan; text, reference, …
  const std::vector<std::int64_t>& row() const {
    return std::get<std::vector<std::int64_t>>(plan.at("plan/row").values);
  }
  std::string status(std::size_t r) const {
    return std::get<std::vector<std::string>>(rows.at("points/status").values)[r];
  }
};

[[noreturn]] void refuse(const Part& part, const Part& first, const std::string& why) {
  throw UserError(fmt::format("{} is no part of the same sweep as {}:\n{}", part.file.name(), first.file.name(), why));
}

std::string shown(const H5Attribute& value) {
  return std::visit([](const auto& one) { return fmt::format("{}", one); }, value);
}

Part read_part(const std::filesystem::path& path) {
  Part part{H5Reader(path), {}, {}, {}};
  const H5Reader& file = part.file;
  const std::string kind = file.has_attribute("kind") ? file.text_attribute("kind") : "";
  if (kind != "sweep") {
    file.fail("attribute kind", fmt::format("\"{}\" (nudge merge joins files of nudge sweep)", kind));
  }
  if (!file.has("plan")) {
    file.fail("/plan", "is missing (a file of an older nudge: continue it once with nudge sweep --resume)");
  }
  part.plan = read_columns(file, "plan");
  part.rows = read_columns(file, "points");
  part.rows.merge(read_columns(file, "points_cosine"));
  for (const std::string& name : file.all_datasets()) {
    const bool row = part.rows.count(name) + part.plan.count(name) > 0;
    if (!row) part.others.emplace(name, RowColumn::read(file, name));
  }
  const std::size_t n = part.rows.at("points/status").size();
  for (const auto& [name, column] : part.rows) {
    if (column.size() != n) file.fail(name, fmt::format("{} rows expected, found {}", n, column.size()));
  }
  for (const std::int64_t r : part.row()) {
    if (r < -1 || r >= static_cast<std::int64_t>(n)) file.fail("plan/row", fmt::format("row {} of {}", r, n));
  }
  return part;
}

bool same_columns(const RowColumns& a, const RowColumns& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, column] : a) {
    const auto at = b.find(name);
    if (at == b.end() || at->second.size() != column.size()) return false;
    for (std::size_t i = 0; i < column.size() && !is_progress(name); ++i) {
      if (!column.same(i, at->second, i)) return false;
    }
  }
  return true;
}

std::string config_differences(const Part& part, const Part& first) {
  const auto config_of = [](const Part& one) {
    return parse_program_config(one.file.name() + " (stored config)", one.file.text_attribute("config"));
  };
  std::string all;
  for (const auto& d : difference(config_of(first), config_of(part))) {
    if (d.key == "threads" || d.key == "sweep.parallel" || d.key.starts_with("output.")) continue;
    all += fmt::format("  {}: {} there, {} here\n", d.key, d.first, d.second);
  }
  return all;
}

void expect_part_of(const Part& first, const Part& part) {
  std::string why = config_differences(part, first);
  bool build = false;
  for (const std::string& name : first.file.attributes()) {
    if (kOwn.count(name) > 0) continue;
    const std::string there = shown(first.file.attribute(name));
    const std::string here = part.file.has_attribute(name) ? shown(part.file.attribute(name)) : "nothing";
    if (there == here) continue;
    why += fmt::format("  {}: {} there, {} here\n", name, there, here);
    build = build || name != "points_total";
  }
  if (build) {
    why +=
        "  (another build or processor gives other last digits: run all parts with one program; product.kernel = "
        "eigen, or "
        "one instruction set for all, where processors differ)\n";
  }
  if (why.empty() && !same_columns(first.plan, part.plan)) why = "  the lists of points differ\n";
  if (why.empty() && !same_columns(first.others, part.others)) why = "  the data they were trained on differ\n";
  if (!why.empty()) refuse(part, first, why.substr(0, why.size() - 1));
}

/// "device.read_noise = 0.01, seed = 2" of a point of the plan.
std::string place_of(const Part& part, std::size_t point) {
  const auto text = [&](const std::string& name) {
    const auto value = [point](const auto& all) { return fmt::format("{}", all[point]); };
    return fmt::format("{} = {}", name.substr(std::string("plan/").size()),
                       std::visit(value, part.plan.at(name).values));
  };
  std::string out;
  for (const auto& [name, column] : part.plan) {
    if (!is_progress(name) && name != "plan/seed") out += text(name) + ", ";
  }
  return out + text("plan/seed");
}

/// Whether two rows say the same; a column that one file lacks is NaN there.
bool same_row(const Part& a, std::size_t row_a, const Part& b, std::size_t row_b) {
  const auto covered = [](const Part& one, std::size_t row, const Part& other, std::size_t other_row) {
    return std::all_of(one.rows.begin(), one.rows.end(), [&](const auto& entry) {
      const auto at = other.rows.find(entry.first);
      return at == other.rows.end() ? entry.second.is_nan(row) : entry.second.same(row, at->second, other_row);
    });
  };
  return covered(a, row_a, b, row_b) && covered(b, row_b, a, row_a);
}

/// A row of one of the parts.
struct Source {
  const Part* part = nullptr;
  std::size_t row = 0;
  bool ok() const { return part->status(row) == "ok"; }
};

std::optional<Source> source_of(const std::vector<Part>& parts, std::size_t point) {
  std::optional<Source> best;
  for (const Part& part : parts) {
    if (part.row()[point] < 0) continue;
    const Source here{&part, static_cast<std::size_t>(part.row()[point])};
    if (best && best->ok() && here.ok() && !same_row(*best->part, best->row, part, here.row)) {
      throw UserError(fmt::format("{} and {} have different results of the same point: {}", best->part->file.name(),
                                  part.file.name(), place_of(part, point)));
    }
    if (!best || (!best->ok() && here.ok())) best = here;
  }
  return best;
}

void expect_complete(const std::vector<Part>& parts, const std::vector<std::optional<Source>>& sources) {
  constexpr std::size_t kShown = 10;
  std::string names;
  std::size_t missing = 0;
  for (std::size_t p = 0; p < sources.size(); ++p) {
    if (sources[p] || ++missing > kShown) continue;
    names += "\n  " + place_of(parts.front(), p);
  }
  if (missing == 0) return;
  if (missing > kShown) names += fmt::format("\n  and {} more", missing - kShown);
  throw UserError(
      fmt::format("{} of {} points are in none of the files (--partial merges all the same, and nudge sweep "
                  "--resume runs them):{}",
                  missing, sources.size(), names));
}

/// The file of the first part with the rows of all: times are summed, machines listed.
void write_root(H5Document& document, const std::vector<Part>& parts) {
  const H5Reader& first = parts.front().file;
  for (const std::string& name : first.attributes()) {
    if (name != "shard") document.attribute(name, first.attribute(name));
  }
  std::string started = first.text_attribute("started"), machines;
  std::set<std::string> seen;
  double seconds = 0;
  for (const Part& part : parts) {
    started = std::min(started, part.file.text_attribute("started"));
    seconds += part.file.real_attribute("wall_time_s");
    const std::string machine = part.file.text_attribute("machine");
    if (seen.insert(machine).second) machines += (machines.empty() ? "" : "; ") + machine;
  }
  document.attribute("started", started);
  document.attribute("wall_time_s", seconds);
  document.attribute("machine", machines);
  for (const std::string& group : first.groups()) {
    for (const std::string& name : first.attributes(group))
      document.attribute(name, first.attribute(name, group), group);
  }
  for (const auto& [name, column] : parts.front().others) column.write(document, name);
}

void write_rows(H5Document& document, const std::vector<Part>& parts,
                const std::vector<std::optional<Source>>& sources) {
  RowColumns merged;
  for (const Part& part : parts) {
    for (const auto& [name, column] : part.rows) merged.emplace(name, column.none());
  }
  RowColumns plan = parts.front().plan;
  auto& row = std::get<std::vector<std::int64_t>>(plan.at("plan/row").values);
  auto& seconds = std::get<std::vector<double>>(plan.at("plan/seconds").values);
  std::int64_t next = 0;
  for (std::size_t p = 0; p < sources.size(); ++p) {
    row[p] = sources[p] ? next++ : -1;
    if (!sources[p]) continue;
    const Part& part = *sources[p]->part;
    seconds[p] = std::get<std::vector<double>>(part.plan.at("plan/seconds").values)[p];
    for (auto& [name, column] : merged) {
      const auto at = part.rows.find(name);
      if (at != part.rows.end()) {
        column.take(sources[p]->row, at->second);
      } else {
        column.take_nan();
      }
    }
  }
  for (const auto& columns : {merged, plan}) {
    for (const auto& [name, column] : columns) column.write(document, name);
  }
}

}  // namespace

MergeSummary merge_sweeps(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                          MissingPoints missing) {
  check_output_path(output, Overwrite::must_not_exist);
  const OutputLock lock(output);
  std::vector<Part> parts;
  for (const auto& path : inputs) {
    parts.push_back(read_part(path));
    expect_part_of(parts.front(), parts.back());
  }
  std::vector<std::optional<Source>> sources;
  for (std::size_t p = 0; p < parts.front().row().size(); ++p) sources.push_back(source_of(parts, p));
  if (missing == MissingPoints::refuse) expect_complete(parts, sources);
  H5Document document;
  write_root(document, parts);
  write_rows(document, parts, sources);
  document.write(output, Overwrite::must_not_exist);
  MergeSummary summary{sources.size(), 0, 0};
  for (const auto& source : sources) {
    summary.finished += source ? 1 : 0;
    summary.failed += source && !source->ok() ? 1 : 0;
  }
  return summary;
}

}  // namespace nudge
