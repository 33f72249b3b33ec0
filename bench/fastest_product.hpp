// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/product.hpp"
#include "sim/base/product_kernel.hpp"

namespace nudge::bench {

/// A library that forms float products on the calling thread.
struct ProductLibrary {
  std::string name;  ///< with its version and what it was compiled for or found
  void (*form)(const detail::FloatProduct&);
};

/// Those of this build: Eigen, and oneDNN where CMake found it.
const std::vector<ProductLibrary>& product_libraries();

/// The products of sim/base/product.hpp by the library that is fastest for their shape on this machine: measured in turn when a
/// thread first meets the shape (the fastest of 7 rounds of at least 20 us each), so run a floor once before it is timed.
void fastest_multiply(ConstMatrixRef<float> x, ConstMatrixRef<float> w, MatrixRef<float> y,
                      Store store = Store::assign);
void fastest_transposed(ConstMatrixRef<float> y, ConstMatrixRef<float> w, MatrixRef<float> x,
                        Store store = Store::assign);
void fastest_outer(ConstMatrixRef<float> x, ConstMatrixRef<float> y, float scale, MatrixRef<float> g, Store store);

/// "oneDNN 2.6.3 (avx512_core): 9 shapes; Eigen 3.4.0 (x86-64-v3): 2 shapes": what the floors of this process were made of so far.
std::string fastest_libraries();

}  // namespace nudge::bench
