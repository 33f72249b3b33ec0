// SPDX-License-Identifier: Apache-2.0
#include "training/data/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "devices/fit/device_columns.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/text.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/measured_text.hpp"
#include "training/data/raw_array.hpp"

namespace nudge {
namespace {

/// Reads a field as a number, "nan" and "inf" included.
std::optional<double> number_of(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || field.empty()) return std::nullopt;
  return value;
}

/// Rows of a CSV (sim/io/measured_text.hpp) as numbers.
class Table {
 public:
  Table(std::string_view bytes, const std::string& name) : text_(read_measured_text(bytes, name)), name_(name) {
    const bool named = !text_.header.cells.empty();
    if (text_.empty()) {
      throw UserError(fmt::format("{}: has {}no line with numbers", name_, named ? "a header and " : ""));
    }
    columns_ = named ? text_.header.cells.size() : text_.row(0).cells.size();
  }

  void refuse_two_readings() const {
    text_.refuse_two_readings();
    for (std::size_t c = 0; c < columns_; ++c) text_.refuse_doubt(c);
  }
  void refuse_places() const { refuse_table_of_places(text_); }
  void refuse_other_lines() const {
    if (text_.aside.empty()) return;
    throw UserError(
        fmt::format("{}, line {}: is neither the header nor a row with numbers", name_, text_.aside.front()));
  }

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return text_.size(); }

  /// Place of a row: "data file "x.csv", line 12".
  std::string place(std::size_t row) const { return fmt::format("{}, line {}", name_, line(row)); }

  std::size_t column(const std::string& wanted, const std::string& key) const {
    const std::vector<std::string>& names = text_.header.cells;
    if (names.empty()) {
      throw UserError(
          fmt::format("{}: has no header line, so the column {} = \"{}\" cannot be found. Add one, or put the label "
                      "first and leave {} empty",
                      name_, key, wanted, key));
    }
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) {
      throw UserError(
          fmt::format("{}: has no column {} = \"{}\" ({})", name_, key, wanted, did_you_mean(wanted, names)));
    }
    return static_cast<std::size_t>(found - names.begin());
  }

  /// Place of the labels where no key names them: the first column. A header that names another one so is refused.
  std::size_t first_as_labels(const std::string& key) const {
    const std::vector<std::string>& names = text_.header.cells;
    const bool place = std::find(names.begin(), names.end(), "x") != names.end();  // beside which y is no label
    const auto of_labels = [place](std::string name) {
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      return name == "label" || name == "labels" || name == "class" || name == "target" || (name == "y" && !place);
    };
    const auto named = std::find_if(names.begin(), names.end(), of_labels);
    if (named == names.begin() || named == names.end()) return 0;
    throw UserError(
        fmt::format("{}: its column \"{}\" is not the first, \"{}\", which would be the labels. Set {} = \"{}\", or "
                    "\"{}\"",
                    name_, *named, names.front(), key, *named, names.front()));
  }

  std::size_t line(std::size_t row) const { return static_cast<std::size_t>(text_.line(row)); }

  /// Reads the numbers of a row: those of `chosen` columns, in that order; all of them without.
  void numbers(std::size_t row, std::vector<double>& out, EmptyFields empty = EmptyFields::refused,
               const std::vector<std::size_t>& chosen = {}) {
    text_.row(row, row_);
    const std::vector<std::string>& fields = row_.cells;
    if (fields.size() != columns_) {
      throw UserError(fmt::format("{}: {} fields (must be {}, as many as the first line has)", place(row),
                                  fields.size(), columns_));
    }
    out.resize(chosen.empty() ? columns_ : chosen.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t c = chosen.empty() ? i : chosen[i];
      const bool missing = fields[c].empty() && empty == EmptyFields::nan;
      const auto number = missing ? std::numeric_limits<double>::quiet_NaN() : number_of(fields[c]);
      if (!number) {
        throw UserError(fmt::format("{}: field {} is \"{}\" (must be a number)", place(row), c + 1, fields[c]));
      }
      out[i] = *number;
    }
  }

 private:
  MeasuredText text_;
  CsvRow row_;
  std::string name_;
  std::size_t columns_ = 0;
};

/// Columns of a list of names, "a,b".
std::vector<std::size_t> named_columns(const Table& table, const std::string& list, const std::string& key) {
  std::vector<std::size_t> columns;
  std::string_view names = list;
  for (const std::string& one : read_csv_record(names)) {
    columns.push_back(table.column(one, key));
    if (std::count(columns.begin(), columns.end(), columns.back()) > 1) {
      throw UserError(fmt::format("{} = \"{}\" names a column twice", key, list));
    }
  }
  return columns;
}

std::vector<std::size_t> target_columns(const Table& table, const DataSource& source, Target target) {
  if (source.labels.empty()) return {table.first_as_labels(source.labels_key)};
  if (target == Target::label) return {table.column(source.labels, source.labels_key)};
  return named_columns(table, source.labels, source.labels_key);
}

}  // namespace

NumberTable parse_csv_matrix(std::string_view text, const std::string& name, EmptyFields empty,
                             const ColumnNames& columns) {
  Table table(text, name);
  table.refuse_two_readings();
  if (columns.key.empty()) table.refuse_places();
  std::vector<std::size_t> chosen;
  if (!columns.list.empty()) chosen = named_columns(table, columns.list, columns.key);
  NumberTable out;
  out.values.resize(static_cast<Index>(table.rows()),
                    static_cast<Index>(chosen.empty() ? table.columns() : chosen.size()));
  std::vector<double> row;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    stop_point();
    table.numbers(i, row, empty, chosen);
    out.lines.push_back(table.line(i));
    for (std::size_t j = 0; j < row.size(); ++j) out.values(static_cast<Index>(i), static_cast<Index>(j)) = row[j];
  }
  return out;
}

LabelledData parse_csv(std::string_view text, const std::string& name, const DataSource& source, Target target) {
  Table table(text, name);
  table.refuse_other_lines();
  const std::vector<std::size_t> targets = target_columns(table, source, target);
  if (table.columns() <= targets.size()) {
    throw UserError(
        fmt::format("{}: has {} columns, a label and at least one feature are needed", name, table.columns()));
  }
  std::vector<std::size_t> features;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (std::find(targets.begin(), targets.end(), c) == targets.end()) features.push_back(c);
  }
  LabelledData data;
  const auto n = static_cast<Index>(table.rows());
  data.features.resize(n, static_cast<Index>(features.size()));
  if (target == Target::value) data.values.resize(n, static_cast<Index>(targets.size()));
  std::vector<double> row;
  for (Index i = 0; i < n; ++i) {
    stop_point();
    const auto at = static_cast<std::size_t>(i);
    table.numbers(at, row);
    const auto where = [&](std::size_t c) { return fmt::format("{}: field {}", table.place(at), c + 1); };
    for (std::size_t j = 0; j < features.size(); ++j) {
      data.features(i, static_cast<Index>(j)) = finite_number(row[features[j]], where(features[j]));
    }
    if (target == Target::label) data.labels.push_back(class_of(row[targets[0]], where(targets[0]) + ", the label,"));
    for (std::size_t j = 0; target == Target::value && j < targets.size(); ++j) {
      data.values(i, static_cast<Index>(j)) = finite_number(row[targets[j]], where(targets[j]));
    }
  }
  data.shape = {data.features.cols()};
  return data;
}

namespace {

Matrix<double> matrix_of_npy(const RawArray& array) {
  const std::size_t dimensions = array.shape.size();
  if (dimensions != 1 && dimensions != 2) {
    throw UserError(
        fmt::format("{}: has the shape {} (must be a matrix: two dimensions)", array.name, shape_text(array.shape)));
  }
  Matrix<double> out(dimensions == 1 ? 1 : array.shape[0], array.shape.back());
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = array.at(i);
  return out;
}

void check_numbers(const MatrixFile& file, EmptyFields empty) {
  for (Index i = 0; i < file.values.rows(); ++i) {
    for (Index j = 0; j < file.values.cols(); ++j) {
      const double value = file.values(i, j);
      if (std::isfinite(value) || (std::isnan(value) && empty == EmptyFields::nan)) continue;
      throw UserError(fmt::format("{}: {} (must be a finite number{})", file.place(i, j), value,
                                  empty == EmptyFields::nan ? ", or nothing" : ""));
    }
  }
}

}  // namespace

std::string MatrixFile::place(Index row, Index column) const {
  if (lines.empty()) return fmt::format("{}, row {}, column {}", name, row, column);
  return fmt::format("{}, line {}, field {}", name, lines[static_cast<std::size_t>(row)], column + 1);
}

bool is_matrix_file(const std::string& path) {
  constexpr std::array ends = {".npy", ".csv", ".tsv", ".txt"};
  return std::any_of(ends.begin(), ends.end(), [&](const char* end) { return path.ends_with(end); });
}

MatrixFile read_matrix_file(const std::string& path, const std::string& noun, EmptyFields empty,
                            const ColumnNames& columns) {
  const std::string bytes = read_file_bytes(path, noun);
  MatrixFile file{fmt::format("{} file \"{}\"", noun, path), {}};
  if (bytes.starts_with("\x93NUMPY")) {
    if (!columns.list.empty()) {
      throw UserError(fmt::format("{} = \"{}\": {} has no names of columns (must be a CSV with a header)", columns.key,
                                  columns.list, file.name));
    }
    file.values = matrix_of_npy(parse_npy(bytes, file.name));
  } else if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\x89HDF")) {
    throw UserError(fmt::format("{}: holds arrays by name (must be one matrix: CSV or .npy)", file.name));
  } else {
    NumberTable table = parse_csv_matrix(bytes, file.name, empty, columns);
    file.values = std::move(table.values);
    file.lines = std::move(table.lines);
  }
  if (file.values.size() == 0) throw UserError(fmt::format("{}: holds no number", file.name));
  check_numbers(file, empty);
  return file;
}

}  // namespace nudge
