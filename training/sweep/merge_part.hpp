// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Dataset of one value per row.
struct RowColumn {
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
  H5Meaning meaning;

  std::size_t size() const;
  bool same(std::size_t row, const RowColumn& other, std::size_t other_row) const;  ///< compares rows bit by bit
  bool is_real() const { return std::holds_alternative<std::vector<double>>(values); }
  bool is_nan(std::size_t row) const;

  void take(std::size_t row, const RowColumn& other);  ///< appends a row of another column of the same type
  void take_nan();                                     ///< appends NaN to a column of reals
  RowColumn none() const;                              ///< column of the same type and meaning, without rows

  static RowColumn read(const H5Reader& file, const std::string& dataset);
  void write(H5Document& document, const std::string& dataset) const;
};

/// Columns of a file below one of the groups, by their paths.
using RowColumns = std::map<std::string, RowColumn>;
RowColumns read_columns(const H5Reader& file, const std::string& group);

/// True if two rows are equal except for `seconds`; a column that one of them lacks is NaN there.
bool same_row(const RowColumns& a, std::size_t row_a, const RowColumns& b, std::size_t row_b);

/// Appends a row of `from`; a column that it lacks gets NaN.
void append_row(RowColumns& columns, const RowColumns& from, std::size_t row);

/// Values of a column, or null where it is missing or of another type. T: double, std::int64_t or std::string.
template <class T>
const std::vector<T>* values_in(const RowColumns& columns, const std::string& path) {
  const auto at = columns.find(path);
  return at == columns.end() ? nullptr : std::get_if<std::vector<T>>(&at->second.values);
}

/// Table of runs of a file, written by write_points() of sweep_file.hpp.
struct PartTable {
  std::string name;       ///< "points" of a sweep, "tuning" and "test" of a comparison
  RowColumns rows, plan;  ///< finished runs and their cosines; and all runs. Both empty: no run has been made
  RowColumns outside;     ///< finished runs outside the plan, their cosines and seconds
  std::string plan_name() const;
  const std::vector<std::int64_t>& row() const;  ///< row of each point of the plan; -1: not run
  const std::vector<double>& seconds() const;    ///< duration of each run
  bool ok(std::size_t row) const;
  /// Text of a point of the plan: "device.read_noise = 0.01, seed = 2".
  std::string place(std::size_t point) const;
};

/// File of a study: of a shard, an interrupted run, or a merged one.
struct StudyPart {
  H5Reader file;
  std::string kind;
  std::vector<PartTable> tables;
  RowColumns others;  ///< other columns (text, reference, …) that do not follow from the tables
};

/// Reads a file of a study. UserError: no file of a sweep or a comparison, or one that is damaged.
StudyPart read_study_part(const std::filesystem::path& path);

/// Throws UserError with what differs, unless both are parts of one study: kind, config, build, data, and the plans of
/// tables that both have.
void expect_part_of(const StudyPart& first, const StudyPart& part);

/// Writes the runs of earlier grids that the parts keep beside their table `t`, one row for each run. If a run ended
/// well in one part only, writes that result. Returns the number of rows. UserError: a run that ended well in two parts
/// with different numbers.
std::size_t write_outside_runs(H5Document& document, const std::vector<StudyPart>& parts, std::size_t t);

}  // namespace nudge
