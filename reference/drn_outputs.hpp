// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/case_kind.hpp"
#include "reference/drn_problem.hpp"

namespace nudge {

/// How a dataset of out/ is laid out.
enum class DrnShape {
  states,    ///< [B, N]
  nodes,     ///< [N]
  outputs,   ///< [B, n_L]
  samples,   ///< [B]
  gradient,  ///< a group, a dataset per parameter
};

/// A dataset, or a group with one dataset per parameter, that every case defines.
struct DrnOutput {
  std::string name;  ///< without "out/"
  DrnShape shape;
  double tolerance;          ///< in float64
  double float32_tolerance;  ///< with inputs of seven digits
};

/// All of section 2.4 of the cases' NETWORKS.md with the tolerances of section 2.5 (of 1.6 in float32), in that order.
const std::vector<DrnOutput>& drn_outputs();

/// Collects the computed datasets of a case; shapes and tolerances are those of drn_outputs(). Every name must be in the
/// list, every number must fit its shape (contracts).
class DrnWriter {
 public:
  explicit DrnWriter(const DrnProblem& problem) : problem_(&problem) {}

  /// Any dataset that is no group: the numbers of the matrix, row by row.
  void values(const std::string& name, const Matrix<double>& numbers);

  /// A group of parameters: g of every layer, then its biases.
  void gradient(const std::string& name, const std::vector<Matrix<double>>& parameters);

  /// The datasets in the order of the list. Needs every one that the case defines (contract).
  std::vector<CaseDataset> take();

 private:
  const DrnOutput& claim(const std::string& name) const;  ///< in the list and not yet given
  H5Shape shape_of(const DrnOutput& output) const;
  void add(const DrnOutput& output, const std::string& name, const H5Shape& shape, const Matrix<double>& numbers);

  const DrnProblem* problem_;
  std::map<std::string, std::vector<CaseDataset>> found_;  ///< by name in the list
};

}  // namespace nudge
