// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/data/readers/readers.hpp"

namespace nudge {

/// A matrix of numbers of a file, and where in it each stands.
struct MatrixFile {
  std::string name;                     ///< conductances file "g.csv", as messages start
  Matrix<double> values;                ///< finite, or NaN where that is asked for
  std::vector<std::size_t> lines = {};  ///< of the rows of a CSV; empty: npy

  /// "conductances file "g.csv", line 3, field 2", or "..., row 2, column 1" counted from 0 as NumPy does.
  std::string place(Index row, Index column) const;
};

/// Whether a path is that of one matrix rather than of arrays by name: .npy, .csv, .tsv, .txt.
bool is_matrix_file(const std::string& path);

/// Reads a CSV (parse_csv_matrix) or, by its first bytes, an .npy of one or two dimensions, of which one is a row; `noun` is what it
/// holds. With EmptyFields::nan empty fields and NaN are NaN. UserError naming the file, the place and the rule.
MatrixFile read_matrix_file(const std::string& path, const std::string& noun, EmptyFields empty = EmptyFields::refused);

}  // namespace nudge
