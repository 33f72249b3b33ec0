// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_cost.hpp"

namespace nudge::python {

OwnCost::OwnCost(const nb::object& object) {
  const nb::gil_scoped_acquire held;
  value_ = object.attr("value");
  gradient_ = object.attr("gradient");
}

OwnCost::~OwnCost() {
  release(value_);
  release(gradient_);
  release(told_);
}

/// The target as an array that can only be read.
nb::object OwnCost::told(ConstMatrixRef<double> target) const {
  const bool same = told_.is_valid() && target_.rows() == target.rows() && target_.cols() == target.cols();
  if (!same || target_ != target) {
    nb::object array = handed<double>(target);
    array.attr("flags").attr("writeable") = false;
    target_ = target;
    told_ = std::move(array);
  }
  return told_;
}

double OwnCost::value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  return nb::cast<double>(nb::float_(value_(y_.of<double>(y), told(target))));
}

Matrix<double> OwnCost::gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const {
  const nb::gil_scoped_acquire held;
  const nb::object found = gradient_(y_.of<double>(y), told(target));
  return taken(found, "gradient of the cost", y.rows(), y.cols());
}

}  // namespace nudge::python
