// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "training/learning/estimators/free_phase.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// An estimator whose nudged phase is estimate(example) of a Python object (nudge.Estimator): the free phase, the storing of z* and the
/// learning of the read-out are the program's. What it returns is the adjoint a (rows, cols), which then correlates with ∂F/∂θ at z*; None:
/// it has added its gradient itself.
template <class S>
class OwnEstimator final : public GradientEstimator<S> {
 public:
  OwnEstimator(const nb::object& object, const EstimatorOptions& options);
  ~OwnEstimator() override;
  SequenceReport estimate(Example<S>& example) override;
  Index keeps() const override { return keeps_; }

 private:
  nb::object object_;
  Index keeps_ = 0;  ///< the object's attribute of this name
  FreePhase<S> free_;
};

/// As an EstimatorKind: nudge, beta and what it asks for are attributes of the object.
EstimatorKind own_estimator_kind(const nb::object& object);

}  // namespace nudge::python
