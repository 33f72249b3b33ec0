// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "training/learning/node_cost.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// A cost that is a Python object (nudge.Cost): its methods are called with the GIL, which they take.
class OwnCost final : public NodeCost {
 public:
  explicit OwnCost(const nb::object& object);
  ~OwnCost() override;

  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;

 private:
  nb::object object_;
};

}  // namespace nudge::python
