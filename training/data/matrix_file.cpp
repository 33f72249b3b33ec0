// SPDX-License-Identifier: Apache-2.0
#include "training/data/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/data/raw_array.hpp"

namespace nudge {
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

MatrixFile read_matrix_file(const std::string& path, const std::string& noun, EmptyFields empty) {
  const std::string bytes = read_file_bytes(path, noun);
  MatrixFile file{fmt::format("{} file \"{}\"", noun, path), {}};
  if (bytes.starts_with("\x93NUMPY")) {
    file.values = matrix_of_npy(parse_npy(bytes, file.name));
  } else if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("\x89HDF")) {
    throw UserError(fmt::format("{}: holds arrays by name (must be one matrix: CSV or .npy)", file.name));
  } else {
    NumberTable table = parse_csv_matrix(bytes, file.name, empty);
    file.values = std::move(table.values);
    file.lines = std::move(table.lines);
  }
  if (file.values.size() == 0) throw UserError(fmt::format("{}: holds no number", file.name));
  check_numbers(file, empty);
  return file;
}

}  // namespace nudge
