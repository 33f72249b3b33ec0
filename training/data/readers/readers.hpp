// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/data/labelled_data.hpp"

// One file per format. All throw UserError: file, line or byte, what, rule.
namespace nudge {

/// `data file "PATH"`, as messages start.
std::string data_name(const std::string& path);

/// Comma, semicolon or tab separated numbers, one sample a line. Lines that start with # and empty lines are passed over;
/// a first line that is not all numbers is a header. The label is the first column or the one that source.labels names (a
/// list "a,b" for Target::value). CR LF, a byte order mark and quotes around names are taken off.
LabelledData parse_csv(std::string_view text, const std::string& name, const DataSource& source, Target target);

/// A matrix of numbers, and the line of the file that each row stands in.
struct NumberTable {
  Matrix<double> values;
  std::vector<std::size_t> lines;
};

/// What an empty field of a matrix is.
enum class EmptyFields { refused, nan };

/// The same lines as a matrix, "nan" and "inf" included; a first line without any number is a header. Not of an empty text.
NumberTable parse_csv_matrix(std::string_view text, const std::string& name, EmptyFields empty);

/// IDX, the format of MNIST: 00 00, element type (08 u8, 09 i8, 0B i16, 0C i32, 0D f32, 0E f64), number of dimensions,
/// their sizes (32 bit), the elements; all most significant byte first. Source: LeCun, Cortes and Burges, The MNIST
/// database, "File formats".
RawArray parse_idx(std::string_view bytes, const std::string& name);

/// NPZ: a zip archive (PKWARE's APPNOTE: stored or deflated, no zip64, not encrypted) of npy arrays.
LabelledData read_npz(std::string_view bytes, const DataSource& source, Target target);

/// npy: magic 93 NUMPY, version 1 to 3, a header that names type, order and shape, the elements in C or Fortran order, which is
/// turned into C order. Source: NEP 1.
RawArray parse_npy(std::string_view bytes, const std::string& name);

/// Two datasets of an HDF5 file, of floats or integers.
LabelledData read_hdf5(const DataSource& source, Target target);

/// All arrays of an NPZ file, by name; of a safetensors file; and all datasets directly below `group` of an HDF5 file, or in its
/// root where it has no such group.
std::map<std::string, RawArray> npz_arrays(std::string_view bytes, const std::string& name);
std::map<std::string, RawArray> parse_safetensors(std::string_view bytes, const std::string& name);
std::map<std::string, RawArray> hdf5_arrays(const std::string& path, const std::string& group);

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
