// SPDX-License-Identifier: Apache-2.0
// What is handed to methods of Python objects and taken from them. With the GIL.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "python/src/arrays.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {

/// Memory of an object as the buffer protocol shows it: for small arrays it costs a fraction of an nb::ndarray.
class Memory {
 public:
  Memory(const nb::object& object, int flags) : there_(PyObject_GetBuffer(object.ptr(), &buffer_, flags) == 0) {
    if (!there_) PyErr_Clear();
  }
  ~Memory() {
    if (there_) PyBuffer_Release(&buffer_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Returns its numbers, where it is an array of this shape of float64; else null. Row-major if the flags ask for it.
  double* numbers(Index rows, Index cols) const {
    const bool fits = there_ && buffer_.ndim == 2 && buffer_.shape[0] == rows && buffer_.shape[1] == cols &&
                      std::string_view(buffer_.format) == "d";
    return fits ? static_cast<double*>(buffer_.buf) : nullptr;
  }

 private:
  Py_buffer buffer_ = {};
  bool there_;
};

/// Returns numpy.empty. The import does not initialise the static: importing may give the GIL away, and a thread that
/// waits for the static would hold it.
inline nb::handle numpy_empty() {
  static std::atomic<PyObject*> kept{nullptr};
  if (kept.load() == nullptr) kept = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  return kept.load();
}

/// Copies a state, or a part of one, to an array of Python's own: what Python keeps must not change behind it.
template <class S>
nb::object handed(ConstMatrixRef<S> z) {
  nb::object array = numpy_empty()(nb::make_tuple(z.rows(), z.cols()));
  const Memory memory(array, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT);
  Eigen::Map<Matrix<double>>(memory.numbers(z.rows(), z.cols()), z.rows(), z.cols()) = z.template cast<double>();
  return array;
}

/// Hands over states one after the other: in the array of the last one where Python has kept no reference to it, else
/// in a new one.
class InTurn {
 public:
  ~InTurn() {
    const nb::gil_scoped_acquire held;
    array_.reset();
  }

  template <class S>
  nb::object of(ConstMatrixRef<S> z) {
    if (!array_.is_valid() || Py_REFCNT(array_.ptr()) > 1 || rows_ != z.rows() || cols_ != z.cols()) {
      rows_ = z.rows();
      cols_ = z.cols();
      array_ = handed<S>(z);
      numbers_ = Memory(array_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT).numbers(rows_, cols_);
    } else {
      Eigen::Map<Matrix<double>>(numbers_, rows_, cols_) = z.template cast<double>();
    }
    return array_;
  }

 private:
  nb::object array_;
  double* numbers_ = nullptr;
  Index rows_ = 0, cols_ = 0;
};

/// Converts the result of a method to a matrix of this shape. UserError naming the method.
inline Matrix<double> taken(const nb::object& result, const char* method, Index rows, Index cols) {
  {
    const Memory memory(result, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
    if (const double* numbers = memory.numbers(rows, cols)) return Eigen::Map<const Matrix<double>>(numbers, rows, cols);
  }
  In<double, 2> array;  // of another type or layout, or of another library
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
