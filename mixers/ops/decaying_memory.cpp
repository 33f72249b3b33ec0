// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/decaying_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nudge {
namespace {

/// high + low ← log(e^(high + low + g) + eʸ), gap = high + low + g − y; high may be −∞. The sum that the rounding of `high`
/// loses goes to `low` (Knuth's two-sum): after 10⁵ tokens one more changes a log mass by 10⁻⁵, ten times the spacing of
/// floats there, and without `low` a float memory ends 10⁻³ off.
template <class S>
void grow(S gap, S g, S y, S& high, S& low) {
  const S base = gap < S(0) ? y : high;
  const S more = gap < S(0) ? std::log1p(std::exp(gap)) : low + g + std::log1p(std::exp(-gap));
  high = base + more;
  const S added = high - base;
  low = (base - (high - added)) + (more - added);
}

}  // namespace

template <class S>
DecayingMemory<S>::DecayingMemory(Index cells, Index channels)
    : log_mass(Matrix<S>::Constant(cells, 1, -std::numeric_limits<S>::infinity())),
      mean(Matrix<S>::Zero(cells, channels)),
      log_tilt(Matrix<S>::Constant(cells, channels, -std::numeric_limits<S>::infinity())),
      log_mass_low(Matrix<S>::Zero(cells, 1)),
      log_tilt_low(Matrix<S>::Zero(cells, channels)) {}

template <class S>
void DecayingMemory<S>::absorb(const S* g, const S* log_b, const S* v, const S* beta_v) {
  const Index channels = mean.cols();
  for (Index n = 0; n < log_mass.rows(); ++n) {
    const S gap = (log_mass(n, 0) - log_b[n]) + (log_mass_low(n, 0) + g[n]);
    const S fresh = share(-gap);
    grow(gap, g[n], log_b[n], log_mass(n, 0), log_mass_low(n, 0));
    S* mean_n = mean.data() + n * channels;
    S* tilt_n = log_tilt.data() + n * channels;
    S* low_n = log_tilt_low.data() + n * channels;
    for (Index c = 0; c < channels; ++c) {
      mean_n[c] += fresh * (v[c] - mean_n[c]);
      const S y = log_b[n] + beta_v[c];
      grow((tilt_n[c] - y) + (low_n[c] + g[n]), g[n], y, tilt_n[c], low_n[c]);
    }
  }
}

template <class S>
void DecayingMemory<S>::read(const S* log_a, const S* beta, const S* log_direct, const S* v, S* mu,
                             S* free_energy) const {
  const Index cells = log_mass.rows();
  const Index channels = mean.cols();
  S largest = log_direct != nullptr ? *log_direct : -std::numeric_limits<S>::infinity();
  for (Index n = 0; n < cells; ++n) largest = std::max(largest, log_a[n] + log_mass(n, 0));
  S mass = log_direct != nullptr ? std::exp(*log_direct - largest) : S(0);
  for (Index c = 0; c < channels; ++c) mu[c] = mass != S(0) ? mass * v[c] : S(0);
  for (Index n = 0; n < cells; ++n) {
    const S weight = std::exp(log_a[n] + log_mass(n, 0) - largest);
    mass += weight;
    for (Index c = 0; c < channels; ++c) mu[c] += weight * mean(n, c);
  }
  const S log_mass_total = largest + std::log(mass);
  for (Index c = 0; c < channels; ++c) {
    mu[c] /= mass;
    const S direct = log_direct != nullptr ? *log_direct + beta[c] * v[c] : -std::numeric_limits<S>::infinity();
    S top = direct;
    for (Index n = 0; n < cells; ++n) top = std::max(top, log_a[n] + log_tilt(n, c));
    S sum = std::exp(direct - top);
    for (Index n = 0; n < cells; ++n) sum += std::exp(log_a[n] + log_tilt(n, c) - top);
    free_energy[c] = (top + std::log(sum) - log_mass_total) / beta[c];
  }
}

template struct DecayingMemory<float>;
template struct DecayingMemory<double>;

}  // namespace nudge
