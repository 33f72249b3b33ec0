// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// A dataset of one value per row.
struct RowColumn {
  std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>> values;
  H5Meaning meaning;

  std::size_t size() const;
  bool same(std::size_t row, const RowColumn& other, std::size_t other_row) const;  ///< bit by bit
  bool is_real() const { return std::holds_alternative<std::vector<double>>(values); }
  bool is_nan(std::size_t row) const;

  void take(std::size_t row, const RowColumn& other);  ///< appends a row of another column of the same type
  void take_nan();                                     ///< appends NaN to a column of reals
  RowColumn none() const;                              ///< of the same type and meaning, without rows

  static RowColumn read(const H5Reader& file, const std::string& dataset);
  void write(H5Document& document, const std::string& dataset) const;
};

/// All columns of a file below one of the groups, by their paths.
using RowColumns = std::map<std::string, RowColumn>;
RowColumns read_columns(const H5Reader& file, const std::string& group);

/// Whether two rows say the same but for `seconds`; a column that one of them lacks is NaN there.
bool same_row(const RowColumns& a, std::size_t row_a, const RowColumns& b, std::size_t row_b);

/// Appends a row of `from`; a column that it lacks gets NaN.
void append_row(RowColumns& columns, const RowColumns& from, std::size_t row);

/// The values of a column, or null where it is missing or of another type. T: double, std::int64_t or std::string.
template <class T>
const std::vector<T>* values_in(const RowColumns& columns, const std::string& path) {
  const auto at = columns.find(path);
  return at == columns.end() ? nullptr : std::get_if<std::vector<T>>(&at->second.values);
}

}  // namespace nudge
