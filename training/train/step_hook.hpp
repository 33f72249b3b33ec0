// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/config/config.hpp"
#include "training/learning/controller.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// What a hook sees of a training step.
struct StepFacts {
  std::uint64_t step = 0;
  double epsilon = 0;     ///< ε of its free phase
  double residual = 0;    ///< mean ‖F‖/‖z‖ at the end of it
  bool accepted = false;  ///< neither skipped nor rolled back
};

/// What keeps a network stable while it learns, beside the gradient: called around every training step. Its state is part of
/// the checkpoint.
template <class S>
class StepHook {
 public:
  virtual ~StepHook() = default;

  /// Before the phases of a step or of an evaluation.
  virtual void begin(Network<S>& /*network*/) {}
  /// After an accepted update of the weights.
  virtual void updated(Network<S>& /*network*/, std::uint64_t /*step*/) {}
  /// After a step, whatever became of it; what it changed is logged.
  virtual std::optional<ControlEvent> observe(const StepFacts& /*facts*/) { return std::nullopt; }

  /// For checkpoints, with names that are unique in a network.
  virtual std::vector<StateArray<S>> arrays() { return {}; }
  virtual std::vector<ScalarState> scalars() { return {}; }
};

/// The hooks that a network asks for and the config leaves on: damping control (damping.*) where it has damped nodes, bounds of
/// its memories (memory_bound.*), and none of its conductances below 0.
template <class S>
std::vector<std::unique_ptr<StepHook<S>>> make_hooks(const Config& config, const Network<S>& network);

}  // namespace nudge
