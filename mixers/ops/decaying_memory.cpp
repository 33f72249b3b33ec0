// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/decaying_memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nudge {
namespace {

/// log(eˣ + eʸ); one of the two may be −∞.
template <class S>
S log_add(S x, S y) {
  return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
}

/// eˣ/(eˣ + eʸ) from d = x − y.
template <class S>
S share(S d) {
  const S e = std::exp(-std::abs(d));
  return d >= S(0) ? S(1) / (S(1) + e) : e / (S(1) + e);
}

}  // namespace

template <class S>
DecayingMemory<S>::DecayingMemory(Index cells, Index channels)
    : log_mass(Matrix<S>::Constant(cells, 1, -std::numeric_limits<S>::infinity())),
      mean(Matrix<S>::Zero(cells, channels)),
      log_tilt(Matrix<S>::Constant(cells, channels, -std::numeric_limits<S>::infinity())) {}

template <class S>
void DecayingMemory<S>::absorb(const S* g, const S* log_b, const S* v, const S* beta_v) {
  const Index channels = mean.cols();
  for (Index n = 0; n < log_mass.rows(); ++n) {
    S& mass = log_mass(n, 0);
    const S old = share(mass + g[n] - log_b[n]);
    const S fresh = share(log_b[n] - mass - g[n]);
    mass = log_add(mass + g[n], log_b[n]);
    S* mean_n = mean.data() + n * channels;
    S* tilt_n = log_tilt.data() + n * channels;
    for (Index c = 0; c < channels; ++c) {
      mean_n[c] = old * mean_n[c] + fresh * v[c];
      tilt_n[c] = log_add(tilt_n[c] + g[n], log_b[n] + beta_v[c]);
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
