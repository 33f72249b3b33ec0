// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nlohmann/json.hpp>

#include "circuits/linear_map.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// Converts an object of JSON to Python: dicts, lists, str, bool, int, float and None. With the GIL.
nb::dict dict_of(const nlohmann::json& object);

// Results as dicts; what was not measured is NaN. With the GIL.
nb::dict dict_of(const SettleResult& result);
nb::dict dict_of(const SequenceReport& report);

/// Facts of the map that holds a matrix of weights, as a dict: `readings` of the hardware (name: (value, unit,
/// description)). A crossbar also has `conductance` and, where it has a second array, `reference` (S), `pulses` of
/// every device, `lower` and `upper` bounds (S), and siemens_per_weight. Arrays are views that `owner` keeps alive and
/// that follow the devices.
template <class S>
nb::dict facts_of(const LinearMap<S>& map, nb::handle owner);

}  // namespace nudge::python
