// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/fastest_product.hpp"
#include "training/models/tapes/sequence_model.hpp"

namespace nudge::bench {

/// Products of one sequence through a sequence model and back, and nothing else. For every weight W (in, out) of a
/// product with the T tokens y = x W, dx = dy Wᵀ, dW += xᵀ dy. For every head the scores q kᵀ and the read P v (dense,
/// also where a causal mask leaves half of them unused), each with both products of its derivative. Every product is
/// done by the library that is fastest for its shape on this machine (fastest_product.hpp). Floating point operations:
///     6·T·Σ in·out + 6·blocks·heads·T²·(key width + read width)
class MixerFloor {
 public:
  explicit MixerFloor(const SequenceShape& shape);

  void run();
  double flops() const;

 private:
  struct Weight {
    Matrix<float> x, w, y, g;
  };
  struct Read {
    Matrix<float> q, k, v, p, o;
  };
  void token_products(Weight& weight);
  void read_products(Read& read);

  Index reads_ = 0;
  std::vector<Weight> weights_;
  Read read_;
};

}  // namespace nudge::bench
