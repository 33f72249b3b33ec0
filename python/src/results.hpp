// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

#include "training/learning/estimators/estimator.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// An object of JSON as Python has it: dicts, lists, str, bool, int, float and None. With the GIL.
nb::dict dict_of(const nlohmann::json& object);

// Results as dicts; what was not measured is NaN. With the GIL.
nb::dict dict_of(const SettleResult& result);
nb::dict dict_of(const SequenceReport& report);

}  // namespace nudge::python
