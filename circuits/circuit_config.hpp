// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/circuit_spec.hpp"
#include "circuits/token_spec.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// The section [circuit]: volts, seconds, kelvin and joule of a simulation whose equations have none.
ParamTable circuit_param_rows();

CircuitSpec circuit_spec(const Config& config);

/// How tokens use arrays; count and slot are those of the model, which this section does not know. UserError for a hold time
/// that is neither "none" nor a time above 0.
TokenSpec token_spec(const Config& config);

}  // namespace nudge
