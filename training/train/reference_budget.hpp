// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"
#include "sim/config/config.hpp"
#include "training/data/reference_request.hpp"

namespace nudge {

/// What task.references asks for, within a tenth of the run: a sample takes a network no less than 50 times as long as one multiply-add of the linear
/// model for each of its weights (docs/scaling.md), so that a tenth of train.steps of train.batch samples are
///     5 steps batch parameters
/// multiply-adds. 2·10¹⁰, about a second of one core, are allowed in any case. A function of the config alone.
ReferenceRequest reference_request(const Config& config, Index weights,
                                   const std::function<bool(const std::string& doing)>& progress = {});

}  // namespace nudge
