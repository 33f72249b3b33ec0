// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Place where one stage of a training step happens.
enum class StageHome {
  device,   ///< an element with its own physics
  circuit,  ///< a circuit between them, with the physics that the config gives it
  digital,  ///< numbers: exact but for rounding, and counted as operations where they are counted at all
};

struct StepStage {
  std::string stage;
  StageHome home;
  std::string how;  ///< its physics, or "exact"
};

/// Every stage of a step of this network, in its order. The stages are weights, clamp and coupling of the nodes, phases, kept states,
/// cost, correlation, and change of the weights.
std::vector<StepStage> step_stages(const Config& config, const NetworkPlan& plan);

/// Name of a place: "device", "circuit", "digital".
const char* home_name(StageHome home);

/// The stages as the columns stages/stage, stages/home and stages/how of a file.
void write_step_stages(const std::vector<StepStage>& stages, H5Document& document);

}  // namespace nudge
