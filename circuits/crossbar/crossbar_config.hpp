// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// The sections [crossbar], how devices become weights, and [circuit].
const Section<CrossbarSpec>& crossbar_section();

/// The crossbar of a configuration over a table that holds device_param_rows() and crossbar_section().
CrossbarSpec crossbar_spec(const Config& config);

}  // namespace nudge
