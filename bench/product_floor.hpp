// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/fastest_product.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge::bench {

/// Products of one training step and nothing else: the time of a perfect implementation that does every product as the
/// formulas are written. Per token, with t = T (dense attention):
///     F = 4CM + 8C² + 4tC,  jvp = vjp = 8C² + 8tC,  dC/dz = 4CV,  G = 8CM + 24C² + 12tC + 2CV
///     step = B·T·[T1·F + 2·T2·(F + jvp + vjp + dC/dz) + G]
/// in the shapes of one sequence (the two nudged states side by side), one sequence after the other on each thread.
/// Every product is done by the library that is fastest for its shape on this machine (fastest_product.hpp). Products
/// that the simulator merges or drops are included, so they show as a ratio below one.
class ProductFloor {
 public:
  explicit ProductFloor(const ModelShape& shape);

  void force(Index copies);
  void jvp(Index copies);
  void vjp(Index copies);
  void cost(Index copies);
  void gradient();

 private:
  ModelShape shape_;
  Matrix<float> z_, projections_, memory_, mixed_, output_, logits_, scores_;
  Matrix<float> w_qkv_, w_m_, w_o_, w_h_, g_qkv_, g_m_, g_o_, g_h_;
};

/// Floating point operations of the step by the formula above.
double step_flops(const ModelShape& shape, Index sequences, int free_steps, int nudged_steps);

}  // namespace nudge::bench
