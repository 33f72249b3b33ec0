// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/circuit_spec.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// The section [circuit]: volts, seconds, kelvin and joule of a simulation whose equations have none.
ParamTable circuit_param_rows();

CircuitSpec circuit_spec(const Config& config);

}  // namespace nudge
