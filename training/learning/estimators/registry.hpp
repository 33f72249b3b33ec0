// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/config/param_table.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/learning/estimators/requirement.hpp"

namespace nudge {

/// Nudge of an estimator.
enum class Nudge {
  none,        ///< it computes
  live,        ///< the circuit's own force while nudged, corrected or not
  transposed,  ///< linearised forces with transposed reads: linear in beta but for gates and the cost
};

/// Estimator by its value of the key estimator. To add one to nudge, write its file and a line in registry.cpp.
struct EstimatorKind {
  std::string name;
  std::function<std::unique_ptr<GradientEstimator<float>>(const EstimatorOptions&)> in_float;
  std::function<std::unique_ptr<GradientEstimator<double>>(const EstimatorOptions&)> in_double;
  Nudge nudge = Nudge::none;
  /// beta per token that is safe and accurate without noise, in float and in double (docs/reference/estimators.md).
  double beta_in_float = 1e-4, beta_in_double = 1e-5;
  /// Requirements on the run, in the order in which messages name them. Others also learn from them what the estimator
  /// can do.
  std::vector<Requirement> needs = {};
  /// Keys that it reads and that not all estimators read, its own among them. Set for other estimators, they are
  /// refused.
  ParamTable keys = {};
  bool corrects = false;    ///< its nudged phases carry the correction of [correction]
  int matrices = 0;         ///< numbers that it keeps for every weight (GradientEstimator::parameter_matrices())
  bool leaves_out = false;  ///< train.leave_out_ratio: it knows a sequence's adjoint before it correlates
  bool dense = false;       ///< it factors a dense matrix of J, of at most most_dense_unknowns

  bool asks(const Requirement& need) const;
  /// True if its gradient comes from nudged states (GradientEstimator::correlate). For a program's own estimator this
  /// is not known.
  bool correlates_states() const;
};

/// Value of estimator for networks that are no circuits: backprop through the tape. It has no EstimatorKind, since nothing
/// settles.
inline constexpr const char* backprop_name = "backprop";

/// Value of estimator for a LentEstimator.
inline constexpr const char* own_estimator_name = "own";
inline constexpr const char* own_estimator_missing =
    "it is code of the program that ran it, which is not available here. Use Python: nudge.train(..., "
    "estimator=...), nudge.resume(file, estimator=...)";

/// Estimator that find_estimator(own_estimator_name) finds for as long as this object lives. It belongs to a program that uses nudge
/// as a library, under whatever name it has there. One at a time: std::logic_error for a second.
class LentEstimator {
 public:
  explicit LentEstimator(EstimatorKind kind);
  ~LentEstimator();
  LentEstimator(const LentEstimator&) = delete;
  LentEstimator& operator=(const LentEstimator&) = delete;
};

/// All estimators but the lent one, in the order of tables.
const std::vector<EstimatorKind>& estimator_kinds();
/// Adds an estimator of a program's own, before anything else of nudge is used (OpenList).
void add_estimator(EstimatorKind kind);
std::vector<std::string> estimator_names();

/// Finds an estimator by its name; null for an unknown name.
const EstimatorKind* find_estimator(const std::string& name);
/// Returns an estimator by its name. UserError for an unknown name, naming the nearest.
const EstimatorKind& estimator_kind(const std::string& name);
/// Number of numbers that an estimator of these options keeps for every weight.
double estimator_numbers(const std::string& name, const EstimatorOptions& options);
template <class S>
std::unique_ptr<GradientEstimator<S>> make_estimator(const std::string& name, const EstimatorOptions& options);
template <class S>
double default_beta(const std::string& estimator);

}  // namespace nudge
