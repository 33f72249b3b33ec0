// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Measure of the error of a dataset against its reference.
enum class CaseError {
  relative,     ///< ‖x − ref‖_F/‖ref‖_F, or ‖x‖_F where ‖ref‖_F = 0
  relative_to,  ///< ‖x − ref‖_F/‖scale‖_F with the reference dataset named in `scale`
  absolute,     ///< ‖x − ref‖_F
};

/// Dataset that a reference case defines, as computed.
struct CaseDataset {
  std::string name;  ///< "out/z_star"
  H5Shape shape;
  std::vector<double> values;  ///< row-major
  double tolerance;
  CaseError error = CaseError::relative;
  std::string scale = {};  ///< for relative_to: name of the dataset that sets the scale
  double least_scale = 0;  ///< for relative: ‖ref‖ counts as at least this (gradients that are zero but for rounding)
};

/// Kind of reference case: computes every dataset it defines from the inputs alone. compute() throws UserError naming
/// the file and the dataset or attribute for malformed input.
struct CaseKind {
  std::string name;
  std::vector<CaseDataset> (*compute)(const H5Reader& file);
  std::string (*remarks)(const H5Reader& file) = nullptr;  ///< further lines of the report
};

/// Returns all kinds of reference cases.
const std::vector<CaseKind>& case_kinds();

/// Reads a positive integer attribute; UserError naming file and attribute otherwise.
Index positive_size(const H5Reader& file, const std::string& attribute);

/// Reads the sizes of a matrix (rows, columns), both positive; UserError naming file and dataset otherwise.
H5Shape matrix_shape(const H5Reader& file, const std::string& dataset);

/// Reads an attribute that is 0 or 1.
bool flag_of(const H5Reader& file, const std::string& attribute);

/// Reads a finite real attribute.
double finite_real(const H5Reader& file, const std::string& attribute);

/// Reads a finite real attribute above zero.
double positive_real(const H5Reader& file, const std::string& attribute);

/// Checks that a dataset has reals; float32 is set for one in float32.
void expect_reals(const H5Reader& file, const std::string& dataset, bool& float32);

/// Reads integers of a shape, each in [0, limit).
std::vector<int> bounded_integers(const H5Reader& file, const std::string& dataset, const H5Shape& shape, Index limit);

/// Root of the sum of squares.
double euclidean_norm(const std::vector<double>& x);

/// Computes the equilibrium block of the cases' README.md; `beta` multiplies the mean cost as it stands.
std::vector<CaseDataset> compute_eqblock(const H5Reader& file);
/// Computes the layered equilibrium transformer of LETNET.md.
std::vector<CaseDataset> compute_letnet(const H5Reader& file);
/// Computes layered Hopfield networks, dense and convolutional, of NETWORKS.md, section 1: kinds hopnet and convnet.
std::vector<CaseDataset> compute_hopnet(const H5Reader& file);
/// Computes deep resistive networks of NETWORKS.md, section 2. NumericalFailure naming the file where a phase has no
/// steady state.
std::vector<CaseDataset> compute_drn(const H5Reader& file);

/// Kinds of MIXERS.md, by family.
std::vector<CaseKind> attention_case_kinds();         ///< mha, ..., loop_elastic
std::vector<CaseKind> free_energy_case_kinds();       ///< fem_*, tdc
std::vector<CaseKind> read_case_kinds();              ///< hidden_temp, stress
std::vector<CaseKind> free_transformer_case_kinds();  ///< ft_mapper, ..., ft_gen
std::vector<CaseKind> training_case_kinds();          ///< toy, ft_synth_examples

/// Tolerances of a dataset against its reference: for inputs in float64, and for inputs of which one holds only seven
/// digits.
struct CaseTolerance {
  double wide, narrow;
};

/// Collects the computed datasets of a case, out/<name>.
class CaseWriter {
 public:
  explicit CaseWriter(bool float32 = false) : float32_(float32) {}

  /// Adds the numbers of a matrix, row by row, in a shape of as many (contract).
  void add(const std::string& name, H5Shape shape, const Matrix<double>& values, CaseTolerance tolerance,
           CaseError error = CaseError::relative, const std::string& scale = {});
  /// Adds the matrix in its own shape.
  void matrix(const std::string& name, const Matrix<double>& values, CaseTolerance tolerance) {
    add(name, {values.rows(), values.cols()}, values, tolerance);
  }
  /// Adds a list of numbers.
  void list(const std::string& name, const std::vector<double>& values, CaseTolerance tolerance,
            CaseError error = CaseError::relative);
  void scalar(const std::string& name, double value, CaseTolerance tolerance, CaseError error = CaseError::relative) {
    add(name, {}, Matrix<double>::Constant(1, 1, value), tolerance, error);
  }
  std::vector<CaseDataset> take() { return std::move(all_); }

 private:
  bool float32_;
  std::vector<CaseDataset> all_;
};

/// Outcome of one reference case: the lines to print and whether every dataset with a reference is within its tolerance.
struct CaseOutcome {
  std::string report;
  int compared = 0;
  int failed = 0;
};

/// Computes a reference case from its inputs, compares the datasets that have a reference, and writes every computed
/// dataset and the root attributes to `output` when given. UserError for malformed input (then nothing is written) and
/// for an output that exists.
CaseOutcome run_case(const std::filesystem::path& input, const std::optional<std::filesystem::path>& output);

}  // namespace nudge
