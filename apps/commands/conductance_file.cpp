// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/conductance_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "apps/commands/place_table.hpp"
#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/data/raw_array.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

ArrayKind of_conductances() { return {"conductances", "conductance", {"conductance", Unit::siemens, true, "uS"}}; }
ArrayKind of_weights() { return {"weights", "weight", {"weight", Unit::none, true}, true}; }

/// Unit that a file tells, and where.
struct ToldUnit {
  std::string unit, where;
};

bool is_of(const std::string& unit, Unit kind) { return read_quantity("1 " + unit, kind).problem.empty(); }

/// Unit of a name, a unit itself, or a title ("unit: mS"); empty: none.
std::string told_unit(const std::string& cell) {
  const std::string named = named_unit(cell).unit;
  const std::string unit = named.empty() ? named_unit("x " + cell).unit : named;
  return is_of(unit, Unit::siemens) || is_of(unit, Unit::ohm) || is_of(unit, Unit::ampere) ? unit : "";
}

/// Unit in the names, the row of units or a title line; UserError where two differ, for currents, and for resistances without a unit.
ToldUnit unit_in(const MeasuredText& text, bool told) {
  ToldUnit out;
  const auto take = [&](const std::string& cell, int line) {
    const std::string unit = cell.empty() ? "" : told_unit(cell);
    const std::string where = text.place(line);
    const LongColumn resistance{"resistance", Unit::ohm, false};
    if (unit.empty() && !told && rank_of(cell, resistance)) {
      csv_fail(where, fmt::format("\"{}\" without a unit: say which with --unit, for example kOhm", cell));
    }
    if (unit.empty()) return;
    if (is_of(unit, Unit::ampere)) {
      csv_fail(where,
               fmt::format("currents in {}: write conductances, or a table row, column, current, read_voltage", unit));
    }
    if (!out.unit.empty() && out.unit != unit) {
      csv_fail(where, fmt::format("{} here and {} in {}: one unit for the whole matrix", unit, out.unit, out.where));
    }
    if (out.unit.empty()) out = {unit, where};
  };
  const int first = text.empty() ? 0 : text.line(0);
  for (const int line : text.aside) {
    std::string title = text.line_text(line);
    title.erase(
        std::find_if(title.rbegin(), title.rend(), [](char c) { return c != ',' && c != ';' && c != '\t'; }).base(),
        title.end());
    // A line behind the table is one of units where it says so.
    if (line < first || boost::icontains(title, "unit") || boost::icontains(title, " in ")) take(title, line);
  }
  for (const int line : text.comment_lines()) {
    const std::string comment = boost::trim_left_copy_if(text.line_text(line), boost::is_any_of("#%/ \t"));
    const bool tells = boost::icontains(comment, "unit") || boost::icontains(comment, " in ") || comment.ends_with(')');
    if (tells && !told_unit(comment).empty()) take(comment, line);
  }
  for (const std::string& name : text.header.cells) take(name, text.header.line);
  for (const std::string& unit : text.units.cells) take(unit, text.units.line);
  return out;
}

/// Whole numbers of the first column; nothing: it holds something else.
std::optional<std::vector<long>> first_numbers(const MeasuredText& text) {
  std::vector<long> out;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    char* end = nullptr;
    out.push_back(std::strtol(row.cells[0].c_str(), &end, 10));
    if (row.cells[0].empty() || *end != 0) return {};
  }
  return out;
}

/// True if the first column counts 0, 1, 2, ... or 1, 2, 3, ...
bool counts_rows(const MeasuredText& text) {
  const auto all = first_numbers(text);
  if (!all || all->size() < 2 || (all->front() != 0 && all->front() != 1)) return false;
  const auto gap = [](long before, long now) { return now != before + 1; };
  return std::adjacent_find(all->begin(), all->end(), gap) == all->end();
}

bool all_names(const MeasuredText& text) {
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (row.cells[0].empty() || is_measured_number(row.cells[0])) return false;
  }
  return !text.empty();
}

/// True if any number behind the first column has a fraction.
bool has_fractions(const MeasuredText& text) {
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    for (std::size_t c = 1; c < row.cells.size(); ++c) {
      if (row.cells[c].find('.') != std::string::npos) return true;
    }
  }
  return false;
}

/// True of whole numbers from 0 on that grow: places of rows, every fourth one perhaps.
bool holds_places(const MeasuredText& text) {
  const auto all = first_numbers(text);
  if (!all || all->empty() || all->front() < 0) return false;
  return std::adjacent_find(all->begin(), all->end(), std::greater_equal<>()) == all->end();
}

/// Refuses arrays below each other, which are parts of as many rows, or have the names again. Other empty lines between rows are noted.
void refuse_second_array(const MeasuredText& text, std::vector<std::string>& notes) {
  if (const int line = text.names_again(); line > 0) {
    csv_fail(text.place(line), "the names stand here again: is this another array? Give each array a file");
  }
  std::vector<std::size_t> parts{0};
  int second = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool empty = false;
    for (int line = i == 0 ? text.line(0) : text.line(i - 1) + 1; line < text.line(i); ++line) {
      empty = empty || boost::trim_copy(text.line_text(line)).empty();
    }
    if (empty) parts.push_back(0);
    if (empty && second == 0) second = text.line(i);
    ++parts.back();
  }
  if (parts.size() < 2) return;
  const bool alike =
      parts[0] > 1 && std::all_of(parts.begin(), parts.end(), [&](std::size_t n) { return n == parts[0]; });
  if (alike) {
    csv_fail(text.place(second),
             fmt::format("rows follow an empty line: {0} arrays of {1} rows? Give each array a file. Or take the empty "
                         "lines out, if it is one array of {2} rows",
                         parts.size(), parts[0], text.size()));
  }
  notes.push_back(fmt::format("empty lines between rows, the first above line {}, are left out: one array", second));
}

/// Refuses what stands in a matrix beside its devices: sums, other quantities, a row that counts the columns.
void refuse_no_devices(const MeasuredText& text, const ArrayKind& kind) {
  const auto refuse_sum = [&](const std::string& name, int line) {
    if (sums_up(named_unit(name).name))
      csv_fail(text.place(line), fmt::format("\"{}\" sums up the others. Take it out", name));
  };
  for (const std::string& name : text.header.cells) {
    refuse_sum(name, text.header.line);
    const std::string unit = named_unit(name).unit;
    if (unit.empty() || !told_unit(name).empty()) continue;
    csv_fail(text.place(text.header), fmt::format("column \"{}\" is in {}, no {}: take it out", name, unit, kind.one));
  }
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    refuse_sum(row.cells[0], row.line);
  }
  text.row(0, row);
  bool counts = text.header.cells.empty() && row.cells.size() > 2 && text.size() > 1 && has_fractions(text);
  for (std::size_t c = 0; c < row.cells.size() && counts; ++c) {
    counts = row.cells[c] == fmt::format("{}", c) || row.cells[c] == fmt::format("{}", c + 1);
  }
  if (counts)
    csv_fail(text.place(row), "the first row counts the columns: take it out, or write names there (BL0,BL1,BL2)");
}

/// True if the first column names the rows: its own name is none of a column of devices.
bool has_row_names(const MeasuredText& text) {
  const auto& names = text.header.cells;
  if (names.size() < 2 || text.row(0).cells.size() != names.size()) return false;
  const std::string& corner = names[0];
  const bool of_rows = corner.empty() || corner == "#" || corner == "index" || corner == "\\" ||
                       !told_unit(corner).empty() || names_row(corner) || names_column(corner);
  if (all_names(text)) return true;
  const auto word = [](const std::string& name) { return name.substr(0, name.find_last_not_of("0123456789") + 1); };
  const bool others_alike = names.size() > 2 && word(names[1]) != names[1] &&
                            std::all_of(names.begin() + 2, names.end(),
                                        [&](const std::string& name) { return word(name) == word(names[1]); });
  if (of_rows && counts_rows(text)) return true;
  if ((of_rows || (others_alike && word(corner) != word(names[1]))) && !corner.empty() && holds_places(text))
    return true;
  if (corner.empty()) csv_fail(text.place(text.header), "the first column has no name, and does not count the rows");
  if (others_alike && word(corner) != word(names[1])) {
    csv_fail(
        text.place(text.header),
        fmt::format("column \"{}\" has another name than the others: take it out, or name it as they are", corner));
  }
  return false;
}

/// True if the first row is ",0,1,2" and the first column counts below it.
bool has_counted_edges(const MeasuredText& text) {
  if (!text.header.cells.empty() || text.size() < 2) return false;
  const CsvRow first = text.row(0);
  return first.cells.size() > 1 && first.cells[0].empty() && (first.cells[1] == "0" || first.cells[1] == "1");
}

/// Numbers of the matrix, without names of rows.
MatrixFile numbers_of(const std::string& path, const MeasuredText& text, const ArrayKind& kind, Understood& said) {
  refuse_table_of_places(text);
  refuse_no_devices(text, kind);
  refuse_second_array(text, said.notes);
  if (has_counted_edges(text)) {
    MatrixFile all = read_matrix_file(path, kind.noun, EmptyFields::nan);
    for (Index i = 1; i < all.values.rows(); ++i) {
      if (all.values(i, 0) == all.values(1, 0) + static_cast<double>(i - 1)) continue;
      throw UserError(fmt::format("{}: does not count the rows below the empty cell", all.place(i, 0)));
    }
    said.left_columns.push_back("the first, which counts the rows");
    all.values = Matrix<double>(all.values.bottomRightCorner(all.values.rows() - 1, all.values.cols() - 1));
    all.lines.erase(all.lines.begin());
    if (all.values.array().isNaN().any())
      throw UserError(fmt::format("{}: an empty cell (must be a number)", all.name));
    return all;
  }
  if (has_row_names(text)) {
    said.left_columns.push_back(text.header.cells[0].empty() ? "the first, which counts the rows"
                                                             : text.header.cells[0]);
    const std::vector<std::string> others(text.header.cells.begin() + 1, text.header.cells.end());
    return read_matrix_file(path, kind.noun, EmptyFields::refused,
                            {fmt::format("{}", fmt::join(others, ",")), "names"});
  }
  if (text.header.cells.empty() && text.size() > 2 && counts_rows(text) && has_fractions(text)) {
    csv_fail(text.place(text.line(0)),
             fmt::format("the first column counts the rows: write names above it (row,BL0,BL1), or BL0,BL1,BL2 if it "
                         "holds {}",
                         kind.noun));
  }
  return read_matrix_file(path, kind.noun);
}

/// Conductances of a matrix of this unit; each at least 0, and at most 0.1 S.
Matrix<double> siemens_of(const MatrixFile& file, const std::string& unit) {
  const bool ohms = is_of(unit, Unit::ohm);
  const double si = parse_quantity("1 " + unit, ohms ? Unit::ohm : Unit::siemens);
  Matrix<double> g(file.values.rows(), file.values.cols());
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index j = 0; j < g.cols(); ++j) {
      const double value = file.values(i, j);
      if (value < 0 || (ohms && value == 0)) {
        throw UserError(fmt::format("{}: {} {} ({})", file.place(i, j), value, unit,
                                    ohms ? "a resistance must be above 0" : "a conductance must be at least 0"));
      }
      g(i, j) = ohms ? 1 / (si * value) : si * value;
      if (g(i, j) <= kMostConductance_S && !(ohms && std::abs(value) >= 9.9e37)) continue;
      throw UserError(fmt::format("{}: {:g} {} ({}, which no device has: an overflow, or the unit is another: --unit)",
                                  file.place(i, j), value, unit, ohms ? "not from 10 Ohm on" : "above 0.1 S"));
    }
  }
  return g;
}

bool holds_text(const std::string& bytes) {
  return !bytes.starts_with("\x93NUMPY") && !bytes.starts_with("PK\x03\x04") && !bytes.starts_with("\x89HDF");
}

/// Array as it was read, its matrix with the places of numbers, and the unit that it or the file tells. No matrix: a table of places.
struct ReadArray {
  ArrayFile file;
  MatrixFile matrix = {};
  std::string unit = {};
};

/// Reads a matrix or a table of places. `unit`: told by the user; empty: not.
ReadArray read_array(const std::string& path, const ArrayKind& kind, const std::string& unit,
                     const std::string& columns) {
  const std::string bytes = read_file_bytes(path, kind.noun);
  ReadArray out{{fmt::format("{} file \"{}\"", kind.noun, path), {}, {columns}}, {}, unit};
  if (!holds_text(bytes)) {
    if (!columns.empty()) throw UserError("crossbar: --columns is of tables: an array of NumPy has no columns by name");
    out.matrix = read_matrix_file(path, kind.noun);
    out.file.values = out.matrix.values;
    return out;
  }
  const MeasuredText text = read_measured_text(bytes, path);
  if (!columns.empty() || is_place_table(text)) {
    if (!unit.empty()) {
      throw UserError(
          fmt::format("crossbar: --unit {}: a table of places has its unit in a name, or in --columns "
                      "\"conductance=COL3 {}\"",
                      unit, unit));
    }
    read_place_table(bytes, path, kind, out.file);
    return out;
  }
  if (text.empty()) csv_fail(path, "no row of numbers (write plain numbers: 8.073, not 8.073u)");
  const ToldUnit told = unit_in(text, !unit.empty() || kind.negative);
  if (kind.negative && !told.unit.empty()) {
    csv_fail(told.where,
             fmt::format("{} here, and a weight has no unit. Give conductances with --conductances", told.unit));
  }
  if (!unit.empty() && !told.unit.empty() && unit != told.unit) {
    throw UserError(fmt::format("{}: {} here, --unit says {}", told.where, told.unit, unit));
  }
  if (unit.empty()) out.unit = told.unit;
  Understood said = layout_of(text);
  out.matrix = numbers_of(path, text, kind, said);
  out.file.values = out.matrix.values;
  const std::string meaning = !out.unit.empty() && is_of(out.unit, Unit::ohm) ? "resistance" : kind.one;
  said.columns.push_back({meaning, meaning, kind.negative ? "" : out.unit.empty() ? "uS" : out.unit});
  said.notes.push_back(
      fmt::format("an array of {} rows and {} columns", out.matrix.values.rows(), out.matrix.values.cols()));
  out.file.look.understood.push_back(std::move(said));
  return out;
}

}  // namespace

ArrayFile read_weights(const std::string& path, const std::string& columns) {
  return read_array(path, of_weights(), "", columns).file;
}

ArrayFile read_conductances(const std::string& path, const std::string& unit, const std::string& columns) {
  auto [out, matrix, found] = read_array(path, of_conductances(), unit, columns);
  if (matrix.values.size() == 0) return out;
  out.values = siemens_of(matrix, found.empty() ? "uS" : found);
  if (found.empty()) refuse_tiny(out, "--unit S");
  return out;
}

}  // namespace nudge
