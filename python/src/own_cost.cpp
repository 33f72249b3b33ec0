// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_cost.hpp"

#include "python/src/python_calls.hpp"

namespace nudge::python {

OwnCost::OwnCost(const nb::object& object) {
  const nb::gil_scoped_acquire held;
  object_ = object;
}

OwnCost::~OwnCost() { release(object_); }

double OwnCost::value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(nb::float_(object_.attr("value")(handed<double>(y), handed<double>(target))));
}

Matrix<double> OwnCost::gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  const nb::object found = object_.attr("gradient")(handed<double>(y), handed<double>(target));
  return taken(found, "gradient of the cost", y.rows(), y.cols());
}

}  // namespace nudge::python
