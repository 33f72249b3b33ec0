// SPDX-License-Identifier: Apache-2.0
#include "training/train/noise_gradient.hpp"

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Streams of Purpose::probe, whose entity 0 is that of spectra and of the growth penalty.
constexpr std::uint32_t kFirstEntity = 0x10000;

/// Replaces m by noise of the same norm.
template <class S, class M>
void replace(const RngKey& key, std::uint64_t step, std::uint32_t lane, M&& m) {
  Matrix<S> noise(m.rows(), m.cols());
  fill_normal<S>(key, step, lane, {noise.data(), static_cast<std::size_t>(noise.size())});
  const double norm = noise.template cast<double>().norm();
  const double wanted = m.template cast<double>().norm();
  m = norm > 0 ? Matrix<S>(static_cast<S>(wanted / norm) * noise) : Matrix<S>::Zero(m.rows(), m.cols());
}

}  // namespace

template <class S>
void replace_by_noise(const NoisePlace& place, Gradient<S>& gradient,
                      std::vector<std::vector<FactorPair<S>>>& factors) {
  for (int p = 0; p < gradient.size(); ++p) {
    if (p == place.readout.parameter || p == place.readout.bias) continue;
    const RngKey key{place.seed, Purpose::probe, kFirstEntity + static_cast<std::uint32_t>(p)};
    if (gradient.met(p) && gradient[p].size() > 0) replace<S>(key, place.step, 0, gradient[p]);
    std::uint32_t lane = 1;
    for (FactorPair<S>& pair : factors[static_cast<std::size_t>(p)]) {
      for (Index row = 0; row < pair.y.rows(); ++row) replace<S>(key, place.step, lane++, pair.y.row(row));
    }
  }
}

template void replace_by_noise(const NoisePlace&, Gradient<float>&, std::vector<std::vector<FactorPair<float>>>&);
template void replace_by_noise(const NoisePlace&, Gradient<double>&, std::vector<std::vector<FactorPair<double>>>&);

}  // namespace nudge
