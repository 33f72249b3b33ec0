// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/merge_outside.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "sim/base/errors.hpp"
#include "training/sweep/point_table.hpp"

namespace nudge {
namespace {

/// A row of what a part keeps.
struct OutsideRow {
  const StudyPart* part;
  const RowColumns* columns;
  std::size_t row;
  bool ok;
};

/// "beta = 0.1, seed = 2": the keys of the group, and the seed.
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

/// A column of numbers may be lacking: it is NaN then.
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
