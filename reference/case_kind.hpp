// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/io/h5_reader.hpp"

namespace nudge {

/// How the error of a dataset is measured against its reference.
enum class CaseError {
  relative,     ///< ‖x − ref‖_F/‖ref‖_F, or ‖x‖_F where ‖ref‖_F = 0
  relative_to,  ///< ‖x − ref‖_F/‖scale‖_F with the reference dataset named in `scale`
  absolute,     ///< ‖x − ref‖_F
};

/// One dataset that a reference case defines, as computed.
struct CaseDataset {
  std::string name;  ///< "out/z_star"
  H5Shape shape;
  std::vector<double> values;  ///< row-major
  double tolerance;
  CaseError error = CaseError::relative;
  std::string scale = {};  ///< relative_to: name of the dataset that sets the scale
  double least_scale = 0;  ///< relative: ‖ref‖ counts as at least this (gradients that are zero but for rounding)
};

/// A kind of reference case: computes every dataset it defines from the inputs alone. compute() throws UserError naming
/// the file and the dataset or attribute for malformed input.
struct CaseKind {
  std::string name;
  std::vector<CaseDataset> (*compute)(const H5Reader& file);
  std::string (*remarks)(const H5Reader& file) = nullptr;  ///< lines that the report shows besides
};

/// All kinds, one line each.
const std::vector<CaseKind>& case_kinds();

/// A positive integer attribute; an error that names file and attribute otherwise.
Index positive_size(const H5Reader& file, const std::string& attribute);

/// Sizes of a matrix (rows, columns), both positive; an error that names file and dataset otherwise.
H5Shape matrix_shape(const H5Reader& file, const std::string& dataset);

/// An attribute that is 0 or 1.
bool flag_of(const H5Reader& file, const std::string& attribute);

/// A finite real attribute.
double finite_real(const H5Reader& file, const std::string& attribute);

/// A finite real attribute above zero.
double positive_real(const H5Reader& file, const std::string& attribute);

/// Integers of a shape, each in [0, limit).
std::vector<int> bounded_integers(const H5Reader& file, const std::string& dataset, const H5Shape& shape, Index limit);

/// Root of the sum of squares.
double euclidean_norm(const std::vector<double>& x);

}  // namespace nudge
