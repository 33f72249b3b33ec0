// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// The three dense products of the simulator, each on the calling thread: callers parallelise over sequences. S is float
/// (oneDNN or Eigen, see sim/base/product_kernel.hpp) or double (Eigen). Operands may be blocks of columns or rows; nothing
/// is copied. The result must not overlap an operand. Shapes are checked by contract; the bits are a function of operands,
/// shape, kernel and processor, not of the number of threads.
enum class Store { assign, add, subtract };

/// y = x W (or y += x W, y −= x W); x (n, in), W (in, out), y (n, out).
template <class S>
void multiply(ConstMatrixRef<S> x, ConstMatrixRef<S> w, MatrixRef<S> y, Store store = Store::assign);

/// x = y Wᵀ (or x += y Wᵀ); y (n, out), W (in, out), x (n, in).
template <class S>
void multiply_transposed(ConstMatrixRef<S> y, ConstMatrixRef<S> w, MatrixRef<S> x, Store store = Store::assign);

/// G = scale xᵀ y (or G += scale xᵀ y): the sum of outer products over the n rows; x (n, in), y (n, out), G (in, out).
template <class S>
void multiply_outer(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> g, Store store = Store::add);

}  // namespace nudge
