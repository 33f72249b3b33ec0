// SPDX-License-Identifier: Apache-2.0
#include "training/compare/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/config/stored_config.hpp"
#include "training/data/task.hpp"

namespace nudge {
namespace {

/// Row of the table of one of the parts.
struct Source {
  const StudyPart* part = nullptr;
  const PartTable* table = nullptr;
  std::size_t row = 0;
  bool ok() const { return table->ok(row); }
};

/// Table of the whole study: the plan, and for each of its points the row with its result. No plan: no part has a run
/// of it.
struct JoinedTable {
  std::string name;
  const PartTable* first = nullptr;  ///< first part's table with a plan
  std::vector<std::optional<Source>> sources = {};

  std::size_t missing() const {
    return static_cast<std::size_t>(std::count(sources.begin(), sources.end(), std::nullopt));
  }
};

std::optional<Source> source_of(const std::vector<StudyPart>& parts, std::size_t table, std::size_t point) {
  std::optional<Source> best;
  for (const StudyPart& part : parts) {
    const PartTable& own = part.tables[table];
    if (own.plan.empty() || own.row()[point] < 0) continue;
    const Source here{&part, &own, static_cast<std::size_t>(own.row()[point])};
    if (best && best->ok() && here.ok() && !same_row(best->table->rows, best->row, own.rows, here.row)) {
      throw UserError(fmt::format("{} and {} have different results of the same point: {}", best->part->file.name(),
                                  part.file.name(), own.place(point)));
    }
    if (!best || (!best->ok() && here.ok())) best = here;
  }
  return best;
}

/// Reads the parts; each must be of the same study as those before.
std::vector<StudyPart> read_parts(const std::vector<std::filesystem::path>& inputs) {
  std::vector<StudyPart> parts;
  std::vector<std::size_t> planned;  // per table, the first part that has its plan
  for (const auto& path : inputs) {
    parts.push_back(read_study_part(path));
    const StudyPart& part = parts.back();
    planned.resize(part.tables.size(), inputs.size());
    std::set<std::size_t> others = {0};
    for (std::size_t t = 0; t < part.tables.size(); ++t) {
      if (planned[t] == inputs.size() && !part.tables[t].plan.empty()) planned[t] = parts.size() - 1;
      if (planned[t] < parts.size()) others.insert(planned[t]);
    }
    for (const std::size_t other : others) expect_part_of(parts[other], part);
  }
  return parts;
}

std::vector<JoinedTable> join(const std::vector<StudyPart>& parts) {
  std::vector<JoinedTable> tables;
  for (std::size_t t = 0; t < parts.front().tables.size(); ++t) {
    JoinedTable table{parts.front().tables[t].name};
    for (const StudyPart& part : parts) {
      if (table.first == nullptr && !part.tables[t].plan.empty()) table.first = &part.tables[t];
    }
    if (table.first != nullptr) {
      for (std::size_t p = 0; p < table.first->row().size(); ++p) table.sources.push_back(source_of(parts, t, p));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

void expect_complete(const JoinedTable& table, const std::string& kind) {
  constexpr std::size_t kShown = 10;
  std::string names;
  std::size_t missing = 0;
  for (std::size_t p = 0; p < table.sources.size(); ++p) {
    if (table.sources[p] || ++missing > kShown) continue;
    names += "\n  " + table.first->place(p);
  }
  if (missing == 0) return;
  if (missing > kShown) names += fmt::format("\n  and {} more", missing - kShown);
  throw UserError(fmt::format(
      "{} of {} points{} are in none of the files. --partial merges anyway, and nudge {} --resume runs them:{}",
      missing, table.sources.size(), kind == "compare" ? " of the " + table.name : "", kind, names));
}

/// Writes the root of the first part's file for the rows of all parts: times are summed, machines listed.
void write_root(H5Document& document, const std::vector<StudyPart>& parts) {
  const H5Reader& first = parts.front().file;
  for (const std::string& name : first.attributes()) {
    if (name != "shard" && !name.ends_with("outside_runs")) document.attribute(name, first.attribute(name));
  }
  std::string started = first.text_attribute("started"), machines;
  std::set<std::string> seen;
  double seconds = 0;
  for (const StudyPart& part : parts) {
    started = std::min(started, part.file.text_attribute("started"));
    seconds += part.file.real_attribute("wall_time_s");
    const std::string machine = part.file.text_attribute("machine");
    if (seen.insert(machine).second) machines += (machines.empty() ? "" : "; ") + machine;
  }
  document.attribute("started", started);
  document.attribute("wall_time_s", seconds);
  document.attribute("machine", machines);
  std::set<std::string> written;  // a part that was interrupted may lack the references
  for (const StudyPart& part : parts) {
    for (const auto& [name, column] : part.others) {
      if (written.insert(name).second) column.write(document, name);
    }
  }
}

/// Writes the attributes of the groups that will exist, each from the first part that has the group.
void write_group_attributes(H5Document& document, const std::vector<StudyPart>& parts) {
  std::set<std::string> done = {"entrants"};
  for (const StudyPart& part : parts) {
    for (const std::string& group : part.file.groups()) {
      if (!done.insert(group).second) continue;
      for (const std::string& name : part.file.attributes(group))
        document.attribute(name, part.file.attribute(name, group), group);
    }
  }
}

/// Writes table number t and returns its rows.
RowColumns write_rows(H5Document& document, const std::vector<StudyPart>& parts, std::size_t t,
                      const JoinedTable& table) {
  RowColumns merged;
  if (table.first == nullptr) return merged;
  for (const StudyPart& part : parts) {
    for (const auto& [name, column] : part.tables[t].rows) merged.emplace(name, column.none());
  }
  RowColumns plan = table.first->plan;
  const std::string group = table.first->plan_name();
  auto& row = std::get<std::vector<std::int64_t>>(plan.at(group + "/row").values);
  auto& seconds = std::get<std::vector<double>>(plan.at(group + "/seconds").values);
  std::int64_t next = 0;
  for (std::size_t p = 0; p < table.sources.size(); ++p) {
    const std::optional<Source>& source = table.sources[p];
    row[p] = source ? next++ : -1;
    if (!source) continue;
    seconds[p] = source->table->seconds()[p];
    append_row(merged, source->table->rows, source->row);
  }
  for (const auto* columns : {&merged, &plan}) {
    for (const auto& [name, column] : *columns) column.write(document, name);
  }
  return merged;
}

/// Writes the rest of a comparison: the number of test runs and, once the whole tuning is there, the entrants.
/// tables[0] is the tuning, tables[1] the test; `tuning` and `test` are their rows.
void write_comparison(H5Document& document, const StudyPart& first, const std::vector<JoinedTable>& tables,
                      const RowColumns& tuning, const RowColumns& test) {
  document.attribute("test_total", static_cast<std::int64_t>(tables[1].sources.size()));
  if (tables[0].missing() > 0) return;
  const std::string name = first.file.name() + " (stored config)";
  write_merged_entrants(document, stored_program_config(first.file), name, tuning, test);
}

}  // namespace

MergeSummary merge_sweeps(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                          MissingPoints missing) {
  check_output_path(output, Overwrite::must_not_exist);
  const OutputLock lock(output);
  const std::vector<StudyPart> parts = read_parts(inputs);
  const std::string& kind = parts.front().kind;
  const std::vector<JoinedTable> tables = join(parts);
  MergeSummary summary;
  for (const JoinedTable& table : tables) {
    if (missing == MissingPoints::refuse) expect_complete(table, kind);
    summary.points += table.sources.size();
    summary.finished += table.sources.size() - table.missing();
    for (const auto& source : table.sources) summary.failed += source && !source->ok() ? 1 : 0;
  }
  if (summary.points == 0) throw UserError(parts.front().file.name() + ": no file has a finished run");
  H5Document document;
  write_root(document, parts);
  write_group_attributes(document, parts);
  std::vector<RowColumns> rows;
  rows.reserve(tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    rows.push_back(write_rows(document, parts, t, tables[t]));
    summary.outside += write_outside_runs(document, parts, t);
  }
  if (kind == "compare") write_comparison(document, parts.front(), tables, rows[0], rows[1]);
  document.write(output, Overwrite::must_not_exist);
  return summary;
}

namespace {

template <class T>
const std::vector<T>& values_of(const RowColumns& rows, const std::string& path) {
  const std::vector<T>* values = values_in<T>(rows, path);
  if (values == nullptr)
    throw UserError(fmt::format("/{} is missing or of another type: this is not a file of nudge compare", path));
  return *values;
}

/// Converts the rows of a table to points. The texts of numbers are left empty: nothing that is written needs them.
Sweep table_of(const CompareProtocol& protocol, CompareStage stage, const RowColumns& rows) {
  Sweep table = empty_table(protocol, stage);
  if (rows.empty()) return table;
  const std::string group = stage == CompareStage::tuning ? "tuning/" : "test/";
  const auto& seeds = values_of<std::int64_t>(rows, group + "seed");
  const auto& statuses = values_of<std::string>(rows, group + "status");
  for (std::size_t i = 0; i < seeds.size(); ++i) table.points.push_back({{}, {}, seeds[i], statuses[i], {}});
  for (std::size_t k = 0; k < table.keys.size(); ++k) {
    const std::string path = group + table.keys[k];
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      table.points[i].numbers.push_back(table.numeric[k] ? values_of<double>(rows, path)[i] : std::nan(""));
      table.points[i].values.push_back(table.numeric[k] ? "" : values_of<std::string>(rows, path)[i]);
    }
  }
  for (const Measure& metric : table.metrics) {
    const auto* column = values_in<double>(rows, group + metric.name);  // null: of an earlier version
    for (std::size_t i = 0; i < seeds.size(); ++i)
      table.points[i].metrics.push_back(column != nullptr ? (*column)[i] : std::nan(""));
  }
  return table;
}

/// Throws UserError for test runs at another point than the tuning chooses: a grid that has grown may have another best
/// point. `entrants`: with their choices; `name`: the config's name in messages.
void expect_tests_of_choices(const CompareProtocol& protocol, const Sweep& tuning, const Sweep& test,
                             const std::vector<ComparedEntrant>& entrants, const std::string& name) {
  std::size_t first = 0;  // of the entrant's places in the tuning
  for (std::size_t e = 0; e < entrants.size(); ++e) {
    const auto& own = protocol.combinations[e];
    const std::size_t begin = first;
    first += own.size();
    if (!entrants[e].choice) continue;
    const auto best = std::find(own.begin(), own.end(), entrants[e].choice->combination) - own.begin();
    const SweepPoint& chosen = tuning.points[(begin + static_cast<std::size_t>(best)) * protocol.tuning_seeds.size()];
    for (const SweepPoint& run : test.points) {
      if (run.values.front() != entrants[e].entrant.name || same_place(run, chosen, test.numeric)) continue;
      throw UserError(
          fmt::format("{}: the test runs of \"{}\" are not at the grid point that the whole tuning chooses. Run "
                      "them with nudge compare --resume FILE, then merge",
                      name, entrants[e].entrant.name));
    }
  }
}

}  // namespace

void write_merged_entrants(H5Document& document, const Config& config, const std::string& name,
                           const RowColumns& tuning, const RowColumns& test) {
  const CompareProtocol protocol = read_protocol(config, name);
  const Sweep tuned = table_of(protocol, CompareStage::tuning, tuning);
  const Sweep tested = table_of(protocol, CompareStage::tests, test);
  if (protocol.tunes() && tuned.points.size() != protocol.tuning_runs()) {
    throw UserError(fmt::format("{}: {} runs of the tuning do not belong to its config", name, tuned.points.size()));
  }
  std::vector<ComparedEntrant> entrants = chosen_entrants(protocol, tuned);
  if (protocol.tunes()) expect_tests_of_choices(protocol, tuned, tested, entrants, name);
  summarise(protocol, tested, entrants);
  write_entrants(document, entrants, score_metric(config), intervals_hold(config));
}

}  // namespace nudge
