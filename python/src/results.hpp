// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"
#include "training/train/train_run.hpp"

namespace nudge::python {

namespace nb = nanobind;

// Results as dicts, with the names that `nudge ... --json` has for them; what was not measured is NaN. With the GIL.
nb::dict dict_of(const TrainProgress& progress);
nb::dict dict_of(const TrainSummary& summary);
nb::dict dict_of(const GradcheckReport& report);
nb::dict dict_of(const Sweep& sweep);
/// One finished point, the `done`th.
nb::dict dict_of(const Sweep& sweep, const SweepPoint& point, std::size_t done);
nb::dict dict_of(const SettleResult& result);
nb::dict dict_of(const SequenceReport& report);

}  // namespace nudge::python
