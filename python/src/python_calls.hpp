// SPDX-License-Identifier: Apache-2.0
// What is handed to methods of Python objects and taken from them. With the GIL.
#pragma once

#include <string>

#include "python/src/arrays.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {

/// A state, or a part of one, as an array of Python's own: what Python keeps must not change behind it.
template <class S>
nb::object handed(ConstMatrixRef<S> z) {
  return array_of(Matrix<double>(z.template cast<double>()));
}

/// What a method returned, a matrix of this shape. UserError naming the method.
inline Matrix<double> taken(const nb::object& result, const char* method, Index rows, Index cols) {
  In<double, 2> array;
  if (!nb::try_cast(result, array) || static_cast<Index>(array.shape(0)) != rows ||
      static_cast<Index>(array.shape(1)) != cols) {
    throw UserError(std::string(method) + " must return an array of shape (" + std::to_string(rows) + ", " +
                    std::to_string(cols) + ") of numbers");
  }
  return map_of<double, 2>(array);
}

/// Forgets an object; takes the GIL.
inline void release(nb::object& object) {
  const nb::gil_scoped_acquire held;
  object.reset();
}

}  // namespace nudge::python
