// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// One number of a component's internal state for checkpoints; writing through `value` restores it.
struct ScalarState {
  std::string name;
  std::string unit;
  std::string description;
  double* value;
};

/// What a training step showed to the controllers.
struct Observation {
  std::uint64_t step = 0;  ///< training step
  double step_residual = 0;  ///< ρ = ε‖F‖/‖z‖ at the end of the free phase: the relative change of one more step
  bool skipped = false;      ///< the step was skipped as an outlier or rejected as not finite
};

/// A change that a controller made, for the log.
struct ControlEvent {
  std::uint64_t step = 0;
  std::string quantity;  ///< what was changed: "damping"
  double before = 0;
  double after = 0;
  std::string reason;
};

/// Regulates one scalar of the model between training steps.
class Controller {
 public:
  virtual ~Controller() = default;

  /// The regulated quantity: "damping" is c.
  virtual std::string_view quantity() const = 0;

  /// Its present value; the caller hands it to the model.
  virtual double value() const = 0;

  /// Looks at one training step (each step once, in order) and may change the value for the next.
  virtual std::optional<ControlEvent> observe(const Observation& observation) = 0;

  virtual std::vector<ScalarState> state() = 0;
};

}  // namespace nudge
