// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/merge_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "sim/base/errors.hpp"
#include "training/sweep/sweep_file.hpp"

namespace nudge {

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
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key, std::visit(text, at->second.values));
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
