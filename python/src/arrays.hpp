// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// Array argument: C-contiguous on the processor. NumPy hands over such an array as it is; another layout or type is
/// copied.
template <class T, std::size_t N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

/// Maps the memory of the argument as a row-major matrix: all dimensions but the last are rows.
template <class S, std::size_t N>
Eigen::Map<const Matrix<S>> map_of(const In<S, N>& x) {
  Index rows = 1;
  for (std::size_t i = 0; i + 1 < N; ++i) rows *= static_cast<Index>(x.shape(i));
  return {x.data(), rows, static_cast<Index>(x.shape(N - 1))};
}

/// Turns a matrix into a NumPy array of this shape, without a copy: the array owns the memory.
template <class S>
nb::object array_of(Matrix<S>&& values, std::vector<std::size_t> shape) {
  auto* kept = new Matrix<S>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Matrix<S>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, S>(kept->data(), shape.size(), shape.data(), owner));
}

template <class S>
nb::object array_of(Matrix<S>&& values) {
  const std::vector<std::size_t> shape = {static_cast<std::size_t>(values.rows()),
                                          static_cast<std::size_t>(values.cols())};
  return array_of(std::move(values), shape);
}

/// Shows columns of a matrix, which `owner` keeps alive, as a read-only NumPy array that follows the changes of the
/// matrix.
template <class S>
nb::object view_of(const Matrix<S>& values, Columns columns, nb::handle owner) {
  const std::size_t shape[2] = {static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(columns.count)};
  const std::int64_t strides[2] = {static_cast<std::int64_t>(values.cols()), 1};
  return nb::cast(nb::ndarray<nb::numpy, const S>(values.data() + columns.begin, 2, shape, owner, strides));
}

template <class S>
nb::object view_of(const Matrix<S>& values, nb::handle owner) {
  return view_of(values, {0, values.cols()}, owner);
}

}  // namespace nudge::python
