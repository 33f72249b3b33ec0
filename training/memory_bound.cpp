// SPDX-License-Identifier: Apache-2.0
#include "training/memory_bound.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

template <class S>
MemoryBound<S>::MemoryBound(Index channels, const MemoryBoundOptions& options, std::uint64_t seed)
    : options_(options), direction_(1, channels) {
  NUDGE_EXPECT(channels >= 1);
  if (!(options.fraction > 0 && options.fraction < 1)) {
    throw UserError(fmt::format("memory bound: fraction = {} (must be > 0 and < 1)", options.fraction));
  }
  if (options.iterations < 1) {
    throw UserError(fmt::format("memory bound: iterations = {} (must be at least 1)", options.iterations));
  }
  fill_normal<S>({seed, Purpose::probe, 0}, 0, 0, std::span(direction_.data(), static_cast<std::size_t>(channels)));
  direction_.normalize();
}

template <class S>
MemoryBoundResult MemoryBound<S>::enforce(ConstMatrixRef<S> w_m, double feedback_scale, double damping,
                                          MatrixRef<S> delta) {
  NUDGE_EXPECT(w_m.rows() == direction_.cols() && delta.rows() == w_m.rows() && delta.cols() == w_m.cols());
  MemoryBoundResult result;
  result.limit = std::sqrt(options_.fraction * (1 + feedback_scale * damping) / 2);
  image_.resize(1, w_m.cols());
  next_ = direction_;
  for (int i = 0; i < options_.iterations; ++i) {
    multiply<S>(next_, w_m, image_);
    const S length = image_.norm();
    if (length == S(0)) return result;  // W_m = 0 as far as u can see
    image_ /= length;
    multiply_transposed<S>(image_, w_m, next_);
    result.norm = static_cast<double>(next_.norm());
    if (!std::isfinite(result.norm)) return result;
    next_ /= static_cast<S>(result.norm);
  }
  direction_ = next_;
  if (result.norm > result.limit) {
    result.scale = result.limit / result.norm;
    result.bound = true;
    delta = static_cast<S>(result.scale - 1) * w_m;
  }
  return result;
}

template <class S>
std::vector<StateArray<S>> MemoryBound<S>::state() {
  return {{"memory_bound/direction", "1", "left singular vector of W_m followed by power iteration", &direction_}};
}

template class MemoryBound<float>;
template class MemoryBound<double>;

}  // namespace nudge
