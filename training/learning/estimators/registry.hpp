// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// How an estimator nudges the output.
enum class Nudge {
  none,        ///< it computes
  live,        ///< the circuit's own force while nudged, corrected or not
  transposed,  ///< linearised forces with transposed reads: linear in beta but for gates and the cost
};

/// An estimator by the name that the key estimator has. Adding one of ours is its file and a line in registry.cpp.
struct EstimatorKind {
  std::string name;
  std::function<std::unique_ptr<GradientEstimator<float>>(const EstimatorOptions&)> in_float;
  std::function<std::unique_ptr<GradientEstimator<double>>(const EstimatorOptions&)> in_double;
  Nudge nudge = Nudge::none;
  /// beta per token that is safe and accurate without noise, in float and in double (docs/estimators.md).
  double beta_in_float = 1e-4, beta_in_double = 1e-5;
  bool follows = false;      ///< the law of its nudged phase is linearised anew at every state
  bool all_at_once = false;  ///< state and adjoint of all nodes move together: no sweeps
  bool both_sides = false;   ///< nudge.sides has to be centered
  bool contrasts = false;    ///< it takes the difference of energies, of the whole force
  bool plain = false;        ///< nudged phases have the force as it is: neither corrected nor anchored
  bool direct = false;       ///< it needs a system that solves itself (Dynamics::direct)
  bool in_bath = false;      ///< it needs one in a bath, whose states it averages over (Bath)
  bool of_layers = false;    ///< it descends the energies of the layers, not the cost (LayerEnergies)
  /// Keys and beginnings of keys ("correction.") that it reads of those that only some estimators do; others that are set are refused
  /// where it alone runs (expect_estimator_keys_read).
  std::vector<std::string> reads = {};
  std::vector<std::string> reads_swinging = {};  ///< and those that it reads where the nudge swings
  bool declares = false;                         ///< `reads` is told; else it may read them all
  bool unrolls = false;                          ///< it goes back through the steps of the free phase
};

/// The value of estimator of networks that are no circuits: backprop through the tape. No EstimatorKind, since nothing settles.
inline constexpr const char* backprop_name = "backprop";

/// The value of estimator of a LentEstimator.
inline constexpr const char* own_estimator_name = "own";
inline constexpr const char* own_estimator_missing =
    "it is code of the program that ran it, and not here (from Python: nudge.train(..., estimator=...), "
    "nudge.resume(file, estimator=...))";

/// What find_estimator(own_estimator_name) finds for as long as this lives: the estimator of a program that nudge is a library of, of
/// whatever name it has there. One at a time: std::logic_error for a second.
class LentEstimator {
 public:
  explicit LentEstimator(EstimatorKind kind);
  ~LentEstimator();
  LentEstimator(const LentEstimator&) = delete;
  LentEstimator& operator=(const LentEstimator&) = delete;
};

/// All of them but that, in the order of tables.
const std::vector<EstimatorKind>& estimator_kinds();
/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_estimator(EstimatorKind kind);
std::vector<std::string> estimator_names();

/// Null for a name that no estimator has.
const EstimatorKind* find_estimator(const std::string& name);
/// UserError for an unknown name, naming the nearest.
const EstimatorKind& estimator_kind(const std::string& name);
template <class S>
std::unique_ptr<GradientEstimator<S>> make_estimator(const std::string& name, const EstimatorOptions& options);
template <class S>
double default_beta(const std::string& estimator);

}  // namespace nudge
