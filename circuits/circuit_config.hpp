// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/circuit_spec.hpp"
#include "circuits/token_spec.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// The section [circuit]: volts, seconds, kelvin and joule of a simulation whose equations have none.
const Section<CircuitSpec>& circuit_section();

CircuitSpec circuit_spec(const Config& config);

/// The rest of it: how tokens use arrays. Count and slot are those of the model, which this section does not know.
const Section<TokenSpec>& token_section();

}  // namespace nudge
