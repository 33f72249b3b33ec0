// SPDX-License-Identifier: Apache-2.0
#include "bench/product_floor.hpp"

namespace nudge::bench {
namespace {

Matrix<float> filled(Index rows, Index cols) { return Matrix<float>::Random(rows, cols) * 0.1F; }

}  // namespace

ProductFloor::ProductFloor(const ModelShape& s)
    : shape_(s),
      z_(filled(2 * s.tokens, s.channels)),
      projections_(filled(2 * s.tokens, 3 * s.channels)),
      memory_(filled(2 * s.tokens, s.memories)),
      mixed_(filled(2 * s.tokens, s.channels)),
      output_(filled(2 * s.tokens, s.channels)),
      logits_(filled(2 * s.tokens, s.vocabulary)),
      scores_(filled(s.tokens, s.tokens)),
      w_qkv_(filled(s.channels, 3 * s.channels)),
      w_m_(filled(s.channels, s.memories)),
      w_o_(filled(s.channels, s.channels)),
      w_h_(filled(s.channels, s.vocabulary)),
      g_qkv_(w_qkv_),
      g_m_(w_m_),
      g_o_(w_o_),
      g_h_(w_h_) {}

void ProductFloor::force(Index copies) {
  const Index rows = copies * shape_.tokens;
  const Index width = shape_.channels / shape_.heads;
  fastest_multiply(z_.topRows(rows), w_qkv_, projections_.topRows(rows));
  fastest_multiply(z_.topRows(rows), w_m_, memory_.topRows(rows));
  for (Index row = 0; row < rows; row += shape_.tokens) {
    const auto h = projections_.middleRows(row, shape_.tokens);
    for (Index at = 0; at < shape_.channels; at += width) {
      fastest_transposed(h.middleCols(at, width), h.middleCols(shape_.channels + at, width), scores_);
      fastest_multiply(scores_, h.middleCols(2 * shape_.channels + at, width),
                       mixed_.middleRows(row, shape_.tokens).middleCols(at, width));
    }
  }
  fastest_multiply(mixed_.topRows(rows), w_o_, output_.topRows(rows));
  fastest_transposed(memory_.topRows(rows), w_m_, output_.topRows(rows), Store::add);
}

void ProductFloor::jvp(Index copies) {
  const Index rows = copies * shape_.tokens;
  const Index width = shape_.channels / shape_.heads;
  fastest_multiply(z_.topRows(rows), w_qkv_, projections_.topRows(rows));
  for (Index row = 0; row < rows; row += shape_.tokens) {
    const auto h = projections_.middleRows(row, shape_.tokens);
    for (Index at = 0; at < shape_.channels; at += width) {
      const auto q = h.middleCols(at, width);
      const auto k = h.middleCols(shape_.channels + at, width);
      const auto v = h.middleCols(2 * shape_.channels + at, width);
      auto o = mixed_.middleRows(row, shape_.tokens).middleCols(at, width);
      fastest_transposed(q, k, scores_);
      fastest_transposed(k, q, scores_, Store::add);
      fastest_multiply(scores_, v, o);
      fastest_multiply(scores_, v, o, Store::add);
    }
  }
  fastest_multiply(mixed_.topRows(rows), w_o_, output_.topRows(rows));
}

void ProductFloor::vjp(Index copies) {
  const Index rows = copies * shape_.tokens;
  const Index width = shape_.channels / shape_.heads;
  fastest_transposed(z_.topRows(rows), w_o_, mixed_.topRows(rows));
  for (Index row = 0; row < rows; row += shape_.tokens) {
    auto h = projections_.middleRows(row, shape_.tokens);
    for (Index at = 0; at < shape_.channels; at += width) {
      const auto w = mixed_.middleRows(row, shape_.tokens).middleCols(at, width);
      auto q = h.middleCols(at, width);
      auto k = h.middleCols(shape_.channels + at, width);
      auto v = h.middleCols(2 * shape_.channels + at, width);
      fastest_transposed(w, v, scores_);
      fastest_outer(scores_, w, 1.0F, v, Store::assign);
      fastest_multiply(scores_, w, q);
      fastest_outer(scores_, w, 1.0F, k, Store::assign);
    }
  }
  fastest_transposed(projections_.topRows(rows), w_qkv_, output_.topRows(rows));
}

void ProductFloor::cost(Index copies) {
  const Index rows = copies * shape_.tokens;
  fastest_multiply(z_.topRows(rows), w_h_, logits_.topRows(rows));
  fastest_transposed(logits_.topRows(rows), w_h_, output_.topRows(rows));
}

void ProductFloor::gradient() {
  const Index rows = shape_.tokens;
  force(1);
  vjp(1);
  fastest_outer(z_.topRows(rows), projections_.topRows(rows), 1.0F, g_qkv_, Store::assign);
  fastest_outer(z_.topRows(rows), memory_.topRows(rows), 1.0F, g_m_, Store::assign);
  fastest_outer(output_.topRows(rows), memory_.topRows(rows), 1.0F, g_m_, Store::assign);
  fastest_outer(z_.topRows(rows), mixed_.topRows(rows), 1.0F, g_o_, Store::assign);
  fastest_outer(z_.topRows(rows), logits_.topRows(rows), 1.0F, g_h_, Store::assign);
}

double step_flops(const ModelShape& s, Index sequences, int free_steps, int nudged_steps) {
  const double c = static_cast<double>(s.channels);
  const double m = static_cast<double>(s.memories);
  const double t = static_cast<double>(s.tokens);
  const double v = static_cast<double>(s.vocabulary);
  const double force = 4 * c * m + 8 * c * c + 4 * t * c;
  const double probe = 8 * c * c + 8 * t * c;
  const double gradient = 8 * c * m + 24 * c * c + 12 * t * c + 2 * c * v;
  return static_cast<double>(sequences) * t *
         (free_steps * force + 2.0 * nudged_steps * (force + 2 * probe + 4 * c * v) + gradient);
}

}  // namespace nudge::bench
