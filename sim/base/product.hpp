// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/matrix.hpp"

namespace nudge {

/// The three dense products of the simulator, each on the calling thread: callers parallelise over sequences. S is float
/// (oneDNN or Eigen, see ProductKernel) or double (Eigen). Operands may be blocks of columns or rows; nothing
/// is copied. The result must not overlap an operand. Shapes are checked by contract; the bits are a function of operands,
/// shape, kernel and processor, not of the number of threads.
enum class Store { assign, add, subtract };

/// Computes y = x W (or y += x W, y −= x W); x (n, in), W (in, out), y (n, out).
template <class S>
void multiply(ConstMatrixRef<S> x, ConstMatrixRef<S> w, MatrixRef<S> y, Store store = Store::assign);

/// Computes x = y Wᵀ (or x += y Wᵀ); y (n, out), W (in, out), x (n, in).
template <class S>
void multiply_transposed(ConstMatrixRef<S> y, ConstMatrixRef<S> w, MatrixRef<S> x, Store store = Store::assign);

/// G = scale xᵀ y (or G += scale xᵀ y): the sum of outer products over the n rows. Shapes: x (n, in), y (n, out), G
/// (in, out).
template <class S>
void multiply_outer(ConstMatrixRef<S> x, ConstMatrixRef<S> y, S scale, MatrixRef<S> g, Store store = Store::add);

/// Library that forms the float products. Products in double are always Eigen's.
enum class ProductKernel {
  automatic,  ///< oneDNN, which picks its code for the processor it runs on. Eigen for tiny products, for those that this
              ///< code reads badly (reads_badly), and in builds without oneDNN
  portable,  ///< Eigen as compiled: the same instructions, and so the same bits, on every processor that runs this build
};

/// Chooses for the whole process and, for `automatic`, lets the library make its code now and not within the first step.
/// Call it before a run, from one thread; without a call the choice is `automatic`.
void set_product_kernel(ProductKernel kernel);

/// Kernel for a config's text: "auto" or "portable". Contract: one of the two.
ProductKernel product_kernel_of(const std::string& text);

/// The kernel in use, for provenance: "oneDNN 2.6.3 (avx512_core); Eigen 3.4.0 (x86-64-v3)" or "Eigen 3.4.0 (x86-64-v3)".
std::string product_kernel_name();

/// True if oneDNN takes a float product of n x k by k x m numbers: from 16384 multiplications and two rows on. A smaller
/// product costs less than oneDNN's set-up; one row is a matrix times a vector, where Eigen is as fast. The rule looks at
/// the shape alone, so that no bit depends on a measurement.
constexpr bool library_takes(Index n, Index k, Index m) { return n > 1 && m > 1 && n * k * m >= 16384; }

namespace detail {

/// Row-major float product for the library, C = alpha op(A) op(B) + beta C with C (n, m), op(A) (n, k), op(B) (k, m); beta 0
/// does not read C. `ld` is the distance between rows of the matrix as stored.
struct FloatProduct {
  bool a_transposed, b_transposed;
  Index n, m, k;
  float alpha;
  const float* a;
  Index a_ld;
  const float* b;
  Index b_ld;
  float beta;
  float* c;
  Index c_ld;
};

/// True if oneDNN's code for AVX2 is slower than Eigen for this product, by a rule of the shape alone. Unless the result is large (from
/// some 768 x 384 on) that code reads B as stored and A transposed in place, row after row. With rows 2 KiB or a multiple apart these
/// share few sets of the first cache: 0.4 to 0.85 of Eigen's speed (oneDNN 2.6.3, Zen 3, n from 16 on; 1.1 with rows 32 bytes longer).
constexpr bool reads_badly(const FloatProduct& p) {
  constexpr Index apart = 2048 / static_cast<Index>(sizeof(float));
  const bool collides = (!p.b_transposed && p.b_ld % apart == 0) || (p.a_transposed && p.a_ld % apart == 0);
  return collides && p.n >= 16 && (p.n < 768 || p.m < 384);
}

/// True if oneDNN forms this product: by the choice of kernel, the build, the shape and the processor's instructions.
bool library_forms(const FloatProduct& p);

/// Forms the product on the calling thread and returns true; returns false without doing so where library_forms() is false.
bool multiply_by_library(const FloatProduct& p);

}  // namespace detail

}  // namespace nudge
