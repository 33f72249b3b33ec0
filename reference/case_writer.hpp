// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reference/case_kind.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// How far a dataset may be from its reference: of inputs in float64, and where one of them holds seven digits only.
struct CaseTolerance {
  double wide, narrow;
};

/// Collects the computed datasets of a case, out/<name>.
class CaseWriter {
 public:
  explicit CaseWriter(bool float32 = false) : float32_(float32) {}

  /// The numbers of a matrix, row by row, in a shape of as many (contract).
  void add(const std::string& name, H5Shape shape, const Matrix<double>& values, CaseTolerance tolerance,
           CaseError error = CaseError::relative, const std::string& scale = {});
  /// The matrix as it is.
  void matrix(const std::string& name, const Matrix<double>& values, CaseTolerance tolerance) {
    add(name, {values.rows(), values.cols()}, values, tolerance);
  }
  /// A list of numbers.
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

}  // namespace nudge
