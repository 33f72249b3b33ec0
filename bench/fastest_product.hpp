// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/product.hpp"

namespace nudge::bench {

/// Library that forms float products on the calling thread.
struct ProductLibrary {
  std::string name;  ///< name with its version, and the target it was compiled for or found
  void (*form)(const detail::FloatProduct&);
};

/// Product libraries of this build: Eigen, and oneDNN where CMake found it.
const std::vector<ProductLibrary>& product_libraries();

/// Computes the products of sim/base/product.hpp by the library that is fastest for their shape on this machine. It is
/// measured in turn when a thread first meets the shape (the fastest of 7 rounds of at least 20 us each), so run a
/// floor once before it is timed.
void fastest_multiply(ConstMatrixRef<float> x, ConstMatrixRef<float> w, MatrixRef<float> y,
                      Store store = Store::assign);
void fastest_transposed(ConstMatrixRef<float> y, ConstMatrixRef<float> w, MatrixRef<float> x,
                        Store store = Store::assign);
void fastest_outer(ConstMatrixRef<float> x, ConstMatrixRef<float> y, float scale, MatrixRef<float> g, Store store);

/// Text of the libraries that the floors of this process have used so far: "oneDNN 2.6.3 (avx512_core): 9 shapes; Eigen
/// 3.4.0 (x86-64-v3): 2 shapes".
std::string fastest_libraries();

/// Peak floating point operations per second (GFLOP/s, float) of one thread, which no product can exceed. Runs a loop
/// of fused multiply-adds on registers alone, with the widest vectors of the processor (AVX-512, AVX2 with FMA, or the
/// compiler's default target). Sixteen independent sums hide the latency of two units of at most 8 cycles. Fastest of 9
/// rounds of about 1 ms.
double peak_gflops();

/// Thread counts to test: 1, 2 and every further power of two up to the processors of the machine.
std::vector<int> thread_counts();

}  // namespace nudge::bench
