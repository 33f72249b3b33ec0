// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/data/task.hpp"
#include "training/models/resistive/resistive_plan.hpp"

namespace nudge {

enum class HiddenDiode { ideal, shockley, none };

/// The section [resistive].
struct ResistiveOptions {
  std::vector<Index> hidden;
  std::vector<double> gain;
  ResistiveBias bias = {};
  double rail_voltage = {};
  HiddenDiode diode = {};
  double saturation_current = {}, emission = {};
  bool doubled_inputs = {};
  double initial_scale = {};
};
const Section<ResistiveOptions>& resistive_section();

/// The plan of resistive.* for a task of samples. UserError for a task of symbols, more gains than layers, or one that is not
/// positive.
std::shared_ptr<const NetworkPlan> resistive_plan(const Config& config, const TaskSizes& task);

/// What it reads. Its nodes hang on the lines of its arrays (NetworkKind::bare).
ParamTable resistive_keys();

/// At most one gain behind the inputs and each hidden layer.
void check_resistive(const Config& config);

}  // namespace nudge
