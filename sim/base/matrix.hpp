// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace nudge {

using Index = Eigen::Index;

/// Dense row-major matrix. A state is (rows = tokens T, columns = channels C). A weight matrix is used as row vector
/// times matrix, y = x W. The papers and the HDF5 files have the same memory order.
template <class S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Writable view of a matrix or of a block of its columns or rows.
template <class S>
using MatrixRef = Eigen::Ref<Matrix<S>, 0, Eigen::OuterStride<>>;

/// Read-only view of a matrix or of a block of its columns or rows; never copies for row-major arguments.
template <class S>
using ConstMatrixRef = const Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>&;

/// Squared norm ‖x‖²; each row is summed in S, the rows in double.
template <class S>
double squared_norm(ConstMatrixRef<S> x) {
  double sum = 0;
  for (Index row = 0; row < x.rows(); ++row) sum += static_cast<double>(x.row(row).squaredNorm());
  return sum;
}

/// Half-open range of columns [begin, begin + count) of a weight matrix.
struct Columns {
  Index begin = 0;
  Index count = 0;
  Index end() const { return begin + count; }
};

/// Explicit instantiations for float and double: of all statements of a macro M(S), and of a class X<S>.
#define NUDGE_BOTH_PRECISIONS(M) \
  M(float)                       \
  M(double)
#define NUDGE_BOTH_PRECISIONS_OF(X) \
  template class X<float>;          \
  template class X<double>;

}  // namespace nudge
