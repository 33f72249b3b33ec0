// SPDX-License-Identifier: Apache-2.0
#include "devices/affine_step.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

/// Limit on max(n, 1) q for the binomial series of (1 − (1 − q)ⁿ)/q, cut after q⁴. Below it the series is right to rounding:
/// the next term is below x⁵/6 of it, 6e-10 (float) and 2e-16 (double). It spares most updates two transcendental functions.
template <class S>
constexpr S straight = sizeof(S) == 4 ? S(0.02) : S(1e-3);

/// Largest q: beyond it one pulse reaches the bound anyway (fewer than two pulses across the window).
constexpr double largest_q = 0.999;

template <class S>
struct Line {
  S f;
  S q;
};

template <class S>
Line<S> line(const AffineStep& step, const Element<S>& e, Direction direction) {
  const S common = static_cast<S>(direction == Direction::up ? step.gamma_up : step.gamma_down);
  const S gamma = e.gamma < S(0) ? common : e.gamma;
  const S span = e.upper - e.reference;
  const S f = S(1) - gamma * (e.g - e.reference) / span;
  return {std::max(f, S(0)), std::min(gamma * e.step / span, static_cast<S>(largest_q))};
}

}  // namespace

template <class S>
S AffineStep::change(const Element<S>& e, Direction direction, S n) const {
  const Line<S> l = line(*this, e, direction);
  if (n == S(1)) return e.step * l.f;
  if (std::max(n, S(1)) * l.q < straight<S>) {
    const S tail = S(1) - (n - 3) * l.q / S(4) * (S(1) - (n - 4) * l.q / S(5));
    return e.step * l.f * n * (S(1) - (n - 1) * l.q / S(2) * (S(1) - (n - 2) * l.q / S(3) * tail));
  }
  return -e.step * l.f * std::expm1(n * std::log1p(-l.q)) / l.q;
}

std::vector<StraightCell> AffineStep::straight_cells(const Element<double>& e, Direction direction) const {
  const double gamma = e.gamma < 0 ? (direction == Direction::up ? gamma_up : gamma_down) : e.gamma;
  if (!(gamma <= 1)) return {};
  const double slope = -gamma * e.step / (e.upper - e.reference);
  return {{e.width, e.step + slope * (e.upper - e.width - e.reference), slope}};
}

template <class S>
S AffineStep::noise(const Element<S>& e, Direction direction, S n, S sigma) const {
  const Line<S> l = line(*this, e, direction);
  const S ratio = l.q * sigma / (S(1) - l.q);
  if (std::max(n, S(1)) * l.q < straight<S> && n * ratio * ratio < S(1e-4)) {
    // σ √n (1 − q)ⁿ⁻¹ to second order in q; what is left out is below 3e-5 of it.
    return e.step * l.f * sigma * std::sqrt(n) * (S(1) - (n - 1) * l.q * (S(1) - (n - 2) * l.q / S(2)));
  }
  if (l.f == 0) return 0;  // at the bound, where the variance below may have overflowed
  const S shrink = S(2) * std::log1p(-l.q);
  const S growth = n * std::log1p(ratio * ratio);
  // exp(growth) − 1 = exp(growth) to the last bit of a double from growth = 37 on.
  const S variance = growth < S(37) ? std::exp(n * shrink) * std::expm1(growth) : std::exp(n * shrink + growth);
  return e.step * l.f * std::sqrt(variance) / l.q;
}

template <class S>
void AffineStep::moves(const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change,
                       ChunkArray<S>& noise) const {
  const auto part = [&chunk](const ChunkArray<S>& field) { return field.head(chunk.size); };
  const auto n = part(chunk.n);
  ChunkArray<S> q_all, base_all, decay_all;
  auto q = q_all.head(chunk.size);
  auto base = base_all.head(chunk.size);
  auto decay = decay_all.head(chunk.size);
  const S mean = static_cast<S>((gamma_up + gamma_down) / 2);
  const S tilt = static_cast<S>((gamma_up - gamma_down) / 2);
  const auto reference = part(chunk.reference);
  q = mean + tilt * part(chunk.sign);
  if (chunk.own_gamma) q = part(chunk.gamma);
  q /= part(chunk.upper) - reference;
  base = part(chunk.step) * (S(1) - q * (part(chunk.g) - reference)).max(S(0));
  q = (q * part(chunk.step)).min(static_cast<S>(largest_q));
  const S bend = (n.max(S(1)) * q).maxCoeff();
  auto spread = noise.head(chunk.size);
  if (bend < straight<S>) {
    decay = n * (S(1) -
                 (n - S(1)) * q / S(2) *
                     (S(1) - (n - S(2)) * q / S(3) * (S(1) - (n - S(3)) * q / S(4) * (S(1) - (n - S(4)) * q / S(5)))));
    spread = S(1) - (n - S(1)) * q * (S(1) - (n - S(2)) * q / S(2));
  } else {
    // 1e-30: where γ = 0 in one direction the quotient is n to the last bit.
    q = q.max(S(1e-30));
    if (bend <= static_cast<S>(compound_decay_nq) && q.maxCoeff() <= static_cast<S>(compound_decay_q)) {
      compound_decay(q_all.data(), chunk.n.data(), chunk.size, noise.data());
    } else {
      spread = (n * (-q).log1p()).expm1();
    }
    decay = -spread / q;
    spread = (S(1) + spread) / (S(1) - q);
  }
  change.head(chunk.size) = base * decay;
  const auto held = (floor * part(chunk.step)).square() * decay * (S(2) - q * decay) / (S(2) - q);
  if (sigma == 0) {
    if (floor > 0) spread = held.sqrt();
    return;
  }
  // σ √n (1 − q)ⁿ⁻¹ (1 + (n − 1) ratio/4); the next term is below (n ratio)²/16 of it, and beyond 0.02 the closed form
  // is used.
  ChunkArray<S> ratio_all;
  auto ratio = ratio_all.head(chunk.size);
  ratio = (sigma * q / (S(1) - q)).square();
  spread *= base * sigma * n.sqrt() * (S(1) + (n - S(1)) * ratio / S(4));
  if ((n * ratio).maxCoeff() >= S(0.02)) {
    for (Index i = 0; i < chunk.size; ++i) {
      if (chunk.n[i] * ratio[i] >= S(0.02)) {
        spread[i] = this->noise(chunk.element(i), chunk.direction(i), chunk.n[i], sigma);
      }
    }
  }
  if (floor > 0) spread = (spread.square() + held).sqrt();
}

#define NUDGE_AFFINE_STEP(S)                                                 \
  template S AffineStep::change<S>(const Element<S>&, Direction, S) const;   \
  template S AffineStep::noise<S>(const Element<S>&, Direction, S, S) const; \
  template void AffineStep::moves<S>(const ElementChunk<S>&, S, S, ChunkArray<S>&, ChunkArray<S>&) const;
NUDGE_BOTH_PRECISIONS(NUDGE_AFFINE_STEP)

}  // namespace nudge
