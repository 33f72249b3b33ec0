// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "training/experiments/tapes/problem.hpp"
#include "training/train/optimizer.hpp"
#include "training/train/schedule.hpp"

namespace nudge {

/// How a problem is learned: AdamW over schedule.steps steps.
struct LearnerOptions {
  Schedule schedule;
  OptimizerOptions adam;
  double weight_decay = 0;           ///< λ ≥ 0, decoupled
  double gradient_clip = 0;          ///< norm that a larger gradient is scaled to; 0: off
  std::uint64_t evaluate_every = 0;  ///< steps; 0: at the end only
  std::uint64_t seed = 1;            ///< of the initial parameters
  int threads = 0;
};

/// What learning gave. `measures` has a row per evaluation, the last one of the finished model.
struct Curves {
  std::vector<double> loss;  ///< per step: mean over the batch, before the step
  std::vector<std::int64_t> evaluated_at;
  std::vector<std::vector<double>> measures;
  std::string status;  ///< "ok", what went wrong, or empty: stopped
};

/// Parameters that training starts from: a pure function of fields and seed.
template <class S>
std::vector<Matrix<S>> initial_parameters(std::span<const Field> fields, std::uint64_t seed);

/// Called after each step; false stops.
using LearnerProgress = std::function<bool(std::uint64_t step, const Curves& curves)>;

/// Trains from the initial parameters; `parameters` (may be null) receives the final ones. A loss or gradient that is
/// not finite ends it with that as status.
template <class S>
Curves learn(const Problem<S>& problem, const LearnerOptions& options, const LearnerProgress& progress,
             std::vector<Matrix<S>>* parameters = nullptr);

}  // namespace nudge
