// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python/src/python_calls.hpp"
#include "training/learning/node_cost.hpp"

namespace nudge::python {

/// A cost that is a Python object (nudge.Cost): its methods are called with the GIL, which they take.
class OwnCost final : public NodeCost {
 public:
  explicit OwnCost(const nb::object& object);
  ~OwnCost() override;

  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override;

 private:
  nb::object told(ConstMatrixRef<double> target) const;

  nb::object value_, gradient_;
  // The target that was handed over last: the calls of a phase share it. With the GIL.
  mutable Matrix<double> target_;
  mutable nb::object told_;
  mutable InTurn y_;
};

}  // namespace nudge::python
