// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/merge_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "sim/base/errors.hpp"
#include "training/config/stored_config.hpp"
#include "training/sweep/estimate.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {
namespace {

/// Attributes of the root that may differ between parts of one study. The number of test runs of a comparison is known
/// only after the choice.
const std::set<std::string> kOwn = {
    "config",     "started",      "wall_time_s",         "threads",          "machine", "shard",
    "test_total", "outside_runs", "tuning_outside_runs", "test_outside_runs"};

[[noreturn]] void refuse(const StudyPart& part, const StudyPart& first, const std::string& why) {
  throw UserError(fmt::format("{} does not belong to the same {} as {}:\n{}", part.file.name(), first.kind,
                              first.file.name(), why));
}

std::string shown(const H5Attribute& value) {
  return std::visit([](const auto& one) { return fmt::format("{}", one); }, value);
}

template <class T>
void expect_column(const H5Reader& file, const RowColumns& columns, const std::string& path) {
  if (values_in<T>(columns, path) == nullptr) file.fail("/" + path, "is missing or of another type");
}

void expect_equal_lengths(const H5Reader& file, const RowColumns& columns, std::size_t n) {
  for (const auto& [path, column] : columns) {
    if (column.size() != n) file.fail(path, fmt::format("{} rows expected, found {}", n, column.size()));
  }
}

/// Reads the columns of finished runs, with their cosines; sets `n` to the number of rows.
RowColumns read_runs(const H5Reader& file, const std::string& group, std::size_t& n) {
  RowColumns runs = read_columns(file, group);
  runs.merge(read_columns(file, cosine_group(group)));
  n = 0;
  if (runs.empty()) return runs;
  expect_column<std::string>(file, runs, group + "/status");
  expect_column<std::int64_t>(file, runs, group + "/seed");
  n = runs.at(group + "/status").size();
  expect_equal_lengths(file, runs, n);
  return runs;
}

PartTable read_table(const H5Reader& file, const std::string& name) {
  std::size_t n = 0;
  PartTable table{name, {}, read_columns(file, plan_group(name)), read_runs(file, outside_group(name), n)};
  table.rows = read_runs(file, name, n);
  const std::string plan = plan_group(name);
  if (!table.plan.empty()) {
    expect_column<std::int64_t>(file, table.plan, plan + "/row");
    expect_column<std::int64_t>(file, table.plan, plan + "/seed");
    expect_column<double>(file, table.plan, plan + "/seconds");
    expect_equal_lengths(file, table.plan, table.row().size());
  } else if (table.rows.empty()) {
    return table;
  } else {
    file.fail("/" + plan, "is missing: an older nudge wrote the file. Continue it once with --resume");
  }
  for (const std::int64_t r : table.row()) {
    if (r < -1 || r >= static_cast<std::int64_t>(n)) file.fail(plan + "/row", fmt::format("row {} of {}", r, n));
  }
  return table;
}

/// True for a dataset of a plan that concerns the file, not the study.
bool is_progress(const std::string& path, const std::string& plan) {
  return path == plan + "/row" || path == plan + "/seconds";
}

bool same_columns(const RowColumns& a, const RowColumns& b, const std::string& plan) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, column] : a) {
    const auto at = b.find(name);
    if (at == b.end() || at->second.size() != column.size()) return false;
    for (std::size_t i = 0; i < column.size() && !is_progress(name, plan); ++i) {
      if (!column.same(i, at->second, i)) return false;
    }
  }
  return true;
}

/// Compares the other columns of two parts; a part that has not ended has no references yet.
bool same_others(const RowColumns& a, const RowColumns& b) {
  const auto without = [](RowColumns columns) {
    std::erase_if(columns, [](const auto& column) { return column.first.starts_with("reference/"); });
    return columns;
  };
  const bool both = a.count("reference/model") == b.count("reference/model");
  return both ? same_columns(a, b, "") : same_columns(without(a), without(b), "");
}

std::string config_differences(const StudyPart& part, const StudyPart& first) {
  if (part.file.text_attribute("config") == first.file.text_attribute("config")) return "";
  std::string all;
  for (const auto& d : difference(stored_program_config(first.file), stored_program_config(part.file))) {
    if (d.key == "threads" || d.key == "sweep.parallel" || d.key.starts_with("output.")) continue;
    all += fmt::format("  {}: {} there, {} here\n", d.key, d.first, d.second);
  }
  return all;
}

/// Text on columns that only one file has, or that have another type. A missing column of real numbers does not count:
/// it is NaN there.
std::string column_differences(const RowColumns& there, const RowColumns& here) {
  std::string why;
  for (const auto& [one, other] : {std::pair(&there, &here), std::pair(&here, &there)}) {
    for (const auto& [path, column] : *one) {
      const auto at = other->find(path);
      if (at == other->end() ? !column.is_real() : at->second.values.index() != column.values.index()) {
        why += fmt::format("  /{}: missing in one of them, or of another type\n", path);
      }
    }
  }
  return why;
}

/// Text on attributes of the root that differ, with the meaning where they concern the build.
std::string root_differences(const StudyPart& part, const StudyPart& first) {
  std::string why;
  bool build = false;
  for (const std::string& name : first.file.attributes()) {
    if (kOwn.count(name) > 0) continue;
    const std::string there = shown(first.file.attribute(name));
    const std::string here = part.file.has_attribute(name) ? shown(part.file.attribute(name)) : "nothing";
    if (there == here) continue;
    why += fmt::format("  {}: {} there, {} here\n", name, there, here);
    build = build || !name.ends_with("_total");
  }
  if (build) {
    why +=
        "  (another build or processor gives other last digits: run all parts with one program, and with "
        "product.kernel = portable where processors differ)\n";
  }
  return why;
}

}  // namespace

std::string PartTable::plan_name() const { return plan_group(name); }

const std::vector<std::int64_t>& PartTable::row() const {
  return std::get<std::vector<std::int64_t>>(plan.at(plan_name() + "/row").values);
}

const std::vector<double>& PartTable::seconds() const {
  return std::get<std::vector<double>>(plan.at(plan_name() + "/seconds").values);
}

bool PartTable::ok(std::size_t row) const {
  return std::get<std::vector<std::string>>(rows.at(name + "/status").values)[row] == "ok";
}

std::string PartTable::place(std::size_t point) const {
  const std::string group = plan_name() + "/";
  const auto text = [&](const std::string& path) {
    const auto value = [point](const auto& all) { return fmt::format("{}", all[point]); };
    return axis_text(path.substr(group.size()), std::visit(value, plan.at(path).values));
  };
  std::string out;
  for (const auto& [path, column] : plan) {
    if (!is_progress(path, plan_name()) && path != group + "seed") out += text(path) + ", ";
  }
  return out + text(group + "seed");
}

StudyPart read_study_part(const std::filesystem::path& path) {
  StudyPart part{H5Reader(path), "", {}, {}};
  const H5Reader& file = part.file;
  part.kind = file.has_attribute("kind") ? file.text_attribute("kind") : "";
  if (part.kind != "sweep" && part.kind != "spec" && part.kind != "compare") {
    file.fail("attribute kind",
              fmt::format("kind \"{}\" cannot be merged. nudge merge joins files of nudge sweep, spec and compare",
                          part.kind));
  }
  const std::vector<std::string> names =
      part.kind != "compare" ? std::vector<std::string>{"points"} : std::vector<std::string>{"tuning", "test"};
  for (const std::string& name : names) part.tables.push_back(read_table(file, name));
  for (const std::string& name : file.all_datasets()) {
    bool other = !name.starts_with("entrants/");  // follows from the runs
    for (const PartTable& table : part.tables) {
      other = other && table.rows.count(name) + table.plan.count(name) + table.outside.count(name) == 0;
    }
    if (other) part.others.emplace(name, RowColumn::read(file, name));
  }
  return part;
}

void expect_part_of(const StudyPart& first, const StudyPart& part) {
  if (first.kind != part.kind) refuse(part, first, fmt::format("  kind: {} there, {} here", first.kind, part.kind));
  std::string why = config_differences(part, first) + root_differences(part, first);
  for (std::size_t t = 0; t < first.tables.size(); ++t) {
    const PartTable &there = first.tables[t], &here = part.tables[t];
    if (!there.rows.empty() && !here.rows.empty()) why += column_differences(there.rows, here.rows);
    if (there.plan.empty() || here.plan.empty() || same_columns(there.plan, here.plan, here.plan_name())) continue;
    if (why.empty()) why = fmt::format("  the lists of {} differ\n", t == 0 ? "points" : "test runs");
  }
  if (why.empty() && !same_others(first.others, part.others)) {
    why = "  the data they were trained on differ\n";
  }
  if (!why.empty()) refuse(part, first, why.substr(0, why.size() - 1));
}

std::size_t RowColumn::size() const {
  return std::visit([](const auto& all) { return all.size(); }, values);
}

bool RowColumn::same(std::size_t row, const RowColumn& other, std::size_t other_row) const {
  if (values.index() != other.values.index()) return false;
  if (const auto* real = std::get_if<std::vector<double>>(&values)) {
    const double mine = (*real)[row], theirs = std::get<std::vector<double>>(other.values)[other_row];
    return std::bit_cast<std::uint64_t>(mine) == std::bit_cast<std::uint64_t>(theirs);
  }
  if (const auto* text = std::get_if<std::vector<std::string>>(&values))
    return (*text)[row] == std::get<std::vector<std::string>>(other.values)[other_row];
  return std::get<std::vector<std::int64_t>>(values)[row] ==
         std::get<std::vector<std::int64_t>>(other.values)[other_row];
}

bool RowColumn::is_nan(std::size_t row) const { return is_real() && std::isnan(std::get<0>(values)[row]); }

void RowColumn::take(std::size_t row, const RowColumn& other) {
  std::visit([&](auto& mine) { mine.push_back(std::get<std::decay_t<decltype(mine)>>(other.values)[row]); }, values);
}

void RowColumn::take_nan() { std::get<0>(values).push_back(std::numeric_limits<double>::quiet_NaN()); }

RowColumn RowColumn::none() const {
  RowColumn empty = *this;
  std::visit([](auto& all) { all.clear(); }, empty.values);
  return empty;
}

RowColumn RowColumn::read(const H5Reader& file, const std::string& dataset) {
  RowColumn column{{}, file.meaning(dataset)};
  switch (file.type(dataset)) {
    case H5Type::text: column.values = file.texts(dataset, H5Shape{-1}); break;
    case H5Type::integer: column.values = file.integers(dataset, H5Shape{-1}); break;
    default: column.values = file.reals<double>(dataset, H5Shape{-1}); break;
  }
  return column;
}

void RowColumn::write(H5Document& document, const std::string& dataset) const {
  std::visit([&](const auto& all) { document.column(dataset, all, meaning); }, values);
}

RowColumns read_columns(const H5Reader& file, const std::string& group) {
  RowColumns columns;
  if (!file.has(group)) return columns;
  for (const std::string& name : file.datasets(group)) {
    const std::string path = fmt::format("{}/{}", group, name);
    columns.emplace(path, RowColumn::read(file, path));
  }
  return columns;
}

bool same_row(const RowColumns& a, std::size_t row_a, const RowColumns& b, std::size_t row_b) {
  const auto covered = [](const RowColumns& one, std::size_t row, const RowColumns& other, std::size_t other_row) {
    return std::all_of(one.begin(), one.end(), [&](const auto& entry) {
      const auto& [path, column] = entry;
      if (path.ends_with("/seconds")) return true;
      const auto at = other.find(path);
      return at == other.end() ? column.is_nan(row) : column.same(row, at->second, other_row);
    });
  };
  return covered(a, row_a, b, row_b) && covered(b, row_b, a, row_a);
}

void append_row(RowColumns& columns, const RowColumns& from, std::size_t row) {
  for (auto& [path, column] : columns) {
    const auto at = from.find(path);
    at == from.end() ? column.take_nan() : column.take(row, at->second);
  }
}

namespace {

/// Row of a run outside the grid that a part keeps.
struct OutsideRow {
  const StudyPart* part;
  const RowColumns* columns;
  std::size_t row;
  bool ok;
};

/// Name of a run: "beta = 0.1, seed = 2", the keys of the group and the seed.
std::string run_name(const StudyPart& part, const std::string& group, const RowColumns& columns, std::size_t row) {
  std::string out;
  std::istringstream keys(part.file.text_attribute("keys", group) + ", seed");
  for (std::string key; std::getline(keys, key, ',');) {
    key.erase(0, key.find_first_not_of(' '));
    const auto at = columns.find(group + "/" + key);
    if (at == columns.end()) part.file.fail(group, "column " + key + " is missing");
    const auto text = [row](const auto& all) { return fmt::format("{}", all[row]); };
    out += (out.empty() ? "" : ", ") + axis_text(key, std::visit(text, at->second.values));
  }
  return out;
}

/// Checks that a part has all columns; a missing column of numbers is allowed: it is NaN then.
void expect_columns(const StudyPart& part, const RowColumns& columns, const RowColumns& all) {
  for (const auto& [path, column] : all) {
    const auto at = columns.find(path);
    const bool fits =
        at == columns.end() ? columns.empty() || column.is_real() : at->second.values.index() == column.values.index();
    if (!fits) part.file.fail(path, "missing, or of another type than in the other files");
  }
}

}  // namespace

std::size_t write_outside_runs(H5Document& document, const std::vector<StudyPart>& parts, std::size_t t) {
  const std::string group = outside_group(parts.front().tables[t].name);
  std::vector<OutsideRow> rows;
  std::map<std::string, std::size_t> known;  // by name, in rows
  RowColumns merged;
  for (const StudyPart& part : parts) {
    const RowColumns& columns = part.tables[t].outside;
    for (const auto& [path, column] : columns) merged.emplace(path, column.none());
    const auto* statuses = values_in<std::string>(columns, group + "/status");
    for (std::size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
      const OutsideRow here{&part, &columns, i, (*statuses)[i] == "ok"};
      const std::string name = run_name(part, group, columns, i);
      const auto [at, is_new] = known.emplace(name, rows.size());
      if (is_new) {
        rows.push_back(here);
        continue;
      }
      OutsideRow& there = rows[at->second];
      if (there.ok && here.ok && !same_row(*there.columns, there.row, columns, i)) {
        throw UserError(fmt::format("{} and {} have different results of the same run outside the grid: {}",
                                    there.part->file.name(), part.file.name(), name));
      }
      if (!there.ok && here.ok) there = here;
    }
  }
  if (rows.empty()) return 0;
  for (const StudyPart& part : parts) expect_columns(part, part.tables[t].outside, merged);
  for (const OutsideRow& one : rows) append_row(merged, *one.columns, one.row);
  for (const auto& [path, column] : merged) column.write(document, path);
  document.attribute(outside_count(group), static_cast<std::int64_t>(rows.size()));
  return rows.size();
}

}  // namespace nudge
