// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/data/labelled_data.hpp"

// One file per format. All throw UserError: file, line or byte, what, rule.
namespace nudge {

/// Start of messages: `data file "PATH"`.
std::string data_name(const std::string& path);

/// Parses comma, semicolon or tab separated numbers, one sample a line. Skips empty lines and lines that start with #;
/// a first line that is not all numbers is a header. The label is the first column or the one that source.labels names
/// (a list "a,b" for Target::value). CR LF, a byte order mark and quotes around names are removed.
LabelledData parse_csv(std::string_view text, const std::string& name, const DataSource& source, Target target);

/// Matrix of numbers, with the line of the file for each row.
struct NumberTable {
  Matrix<double> values;
  std::vector<std::size_t> lines;
};

/// Treatment of an empty field in a matrix.
enum class EmptyFields { refused, nan };

/// Columns of a CSV by the names of its header, "a,b", and the config's key that names them. Empty: all columns.
struct ColumnNames {
  std::string list, key;
};

/// Parses the lines of parse_csv() as a matrix, "nan" and "inf" included; a first line without any number is a header.
/// Columns that are not chosen may hold text. The text must not be empty.
NumberTable parse_csv_matrix(std::string_view text, const std::string& name, EmptyFields empty,
                             const ColumnNames& columns = {});

/// Parses IDX, the format of MNIST, most significant byte first. The header is 00 00, element type (08 u8, 09 i8, 0B
/// i16, 0C i32, 0D f32, 0E f64), number of dimensions, sizes (32 bit); the elements follow. Source: LeCun, Cortes and
/// Burges, The MNIST database, "File formats".
RawArray parse_idx(std::string_view bytes, const std::string& name);

/// Reads NPZ: a zip archive (PKWARE's APPNOTE: stored or deflated, no zip64, not encrypted) of npy arrays.
LabelledData read_npz(std::string_view bytes, const DataSource& source, Target target);

/// Parses npy: magic 93 NUMPY, version 1 to 3, a header with type, order and shape, then the elements. Fortran order is
/// turned into C order. Source: NEP 1.
RawArray parse_npy(std::string_view bytes, const std::string& name);

/// True for unpacked bytes that R's save() or saveRDS() wrote in binary form.
bool is_rdata(std::string_view bytes);

/// Parses an .rda or .rds of R (version 2 or 3 of its format): a data frame, the only one or the one that source.features names.
/// source.labels names the column of the label, or a list of them for Target::value. A label that is a factor is the number
/// of its level from 0 on; a factor among the features is the number that its level reads as.
/// Source: R Internals, section 1.8.
LabelledData parse_rdata(std::string_view bytes, const std::string& name, const DataSource& source, Target target);

/// True for text whose first line that is neither empty nor a comment begins with @, as the header of a .ts file does.
bool is_ts(std::string_view text);

/// Parses .ts, the text format of the UCR and UEA archives of time series: a header of lines "@key value" down to @data, then a
/// case a line. A case has its values, "a,b,c", for each of its dimensions, with a colon behind each. Its class follows, a name
/// from @classLabel, or a number (@targetLabel). The features of a sample are all values of the first dimension, then of the second;
/// its shape is (dimensions, length). All cases have one length and no missing value.
/// Source: Bagnall et al., The UEA multivariate time series classification archive (arXiv:1811.00075), appendix.
LabelledData parse_ts(std::string_view text, const std::string& name, const DataSource& source, Target target);

/// Adds a batch of CIFAR-10's Python version, a pickle of a dict with "labels" and "data" (n, 3072) of bytes. The pickle is
/// read, never run. Source: Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009), "dataset layout".
void add_cifar_pickle(std::string_view bytes, const std::string& name, RawArray& pictures, RawArray& labels);

/// Reads two datasets of an HDF5 file, of floats or integers.
LabelledData read_hdf5(const DataSource& source, Target target);

/// Reads arrays by name: all of an NPZ file, all of a safetensors file, or all datasets directly below `group` of an
/// HDF5 file. Without such a group hdf5_arrays() reads the datasets in the root.
std::map<std::string, RawArray> npz_arrays(std::string_view bytes, const std::string& name);
std::map<std::string, RawArray> parse_safetensors(std::string_view bytes, const std::string& name);
std::map<std::string, RawArray> hdf5_arrays(const std::string& path, const std::string& group);

/// Matrix of numbers of a file, with the place of each number in the file.
struct MatrixFile {
  std::string name;                     ///< start of messages: conductances file "g.csv"
  Matrix<double> values;                ///< finite numbers, or NaN where EmptyFields::nan allows it
  std::vector<std::size_t> lines = {};  ///< line of each row of a CSV; empty: npy

  /// Place of a number: "conductances file "g.csv", line 3, field 2", or "..., row 2, column 1" counted from 0 as NumPy
  /// does.
  std::string place(Index row, Index column) const;
};

/// True if a path is a file of one matrix (.npy, .csv, .tsv, .txt), not of arrays by name.
bool is_matrix_file(const std::string& path);

/// Reads a CSV (parse_csv_matrix) or, told by its first bytes, an .npy of one or two dimensions; one dimension is a
/// row and has no names. `noun` says what it holds. With EmptyFields::nan, empty fields and NaN become NaN. UserError naming the file,
/// the place and the rule.
MatrixFile read_matrix_file(const std::string& path, const std::string& noun, EmptyFields empty = EmptyFields::refused,
                            const ColumnNames& columns = {});

}  // namespace nudge
