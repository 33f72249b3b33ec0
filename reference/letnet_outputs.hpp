// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/case_kind.hpp"
#include "reference/letnet_problem.hpp"

namespace nudge {

/// How a dataset of out/ is laid out.
enum class LetnetShape {
  states,         ///< [B, n, T, C]
  tokens,         ///< [B, T, C]
  logits,         ///< [B, T, V]
  probabilities,  ///< [B, L·K, H, T, T]
  scalar,         ///< one number
  free_steps,     ///< [T1 + 1]
  unit_steps,     ///< [n + 1], of networks without feedback only
  weights,        ///< a group, a dataset per parameter without Wh
  gradient,       ///< a group, a dataset per parameter
};

/// What divides a dataset's rounding: nothing, or the β of a nudged phase.
enum class LetnetNudge { none, transposed, frozen, aep };

/// A dataset, or a group with one dataset per parameter, that every case defines.
struct LetnetOutput {
  std::string name;  ///< without "out/"
  LetnetShape shape;
  double tolerance;  ///< in float64
  LetnetNudge divided_by = LetnetNudge::none;
  CaseError error = CaseError::relative;
};

/// All of section 4 of the cases' LETNET.md with the tolerances of section 6, in that order.
const std::vector<LetnetOutput>& letnet_outputs();

/// Collects the computed datasets of a case; shapes and tolerances are those of letnet_outputs(). Every number that is
/// handed over must fit its shape, every name must be in the list (contracts). The errors of inputs in float32 are
/// allowed what section 6 says of float32.
class LetnetWriter {
 public:
  explicit LetnetWriter(const LetnetProblem& problem);

  /// states, tokens, logits or probabilities. One matrix per sample: a state (T, n·C), tokens (T, C), logits (T, V),
  /// probabilities (L·K·H·T, T) with attention node, head and query from slow to fast.
  void samples(const std::string& name, const std::vector<Matrix<double>>& values);

  void scalar(const std::string& name, double value);

  /// A number after each of 0, 1, … steps.
  void steps(const std::string& name, std::vector<double> values);

  /// A group of parameters. Wh belongs to gradients and not to vf_z0_u, where it is left out if it is there.
  void parameters(const std::string& name, const LetnetParameters& values);

  /// The datasets in the order of the list. Needs every one that the case defines (contract).
  std::vector<CaseDataset> take();

 private:
  const LetnetOutput& claim(const std::string& name) const;  ///< in the list, defined here, and not yet given
  double tolerance(const LetnetOutput& output) const;
  H5Shape shape_of(const LetnetOutput& output) const;
  void add(const LetnetOutput& output, CaseDataset dataset);

  const LetnetProblem* problem_;
  std::map<std::string, std::vector<CaseDataset>> found_;  ///< by name in the list
};

}  // namespace nudge
