// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices/array_identity.hpp"
#include "devices/device_spec.hpp"
#include "devices/slow/slow_array.hpp"

namespace nudge {

/// Random telegraph noise with memory: in a share of the devices a trap is occupied or not, and the conductance is
/// g (1 + a (s − p)) with s = 1 in the higher state, p = τ_high/(τ_high + τ_low) its probability, a the amplitude: mean g,
/// variance a² g² p (1 − p), correlation exp(−t/τ_c) with 1/τ_c = 1/τ_high + 1/τ_low, and the Lorentzian
/// S(f) = 4 a² g² p (1 − p) τ_c/(1 + (2π f τ_c)²) (Machlup, J. Appl. Phys. 25 (1954) 341). The state of a trap after
/// any time is drawn with the exact transition probability, so that results do not depend on how time is cut.
template <class S>
class Telegraph {
 public:
  Telegraph(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads);

  bool active() const { return spec_.active(); }
  /// Time passes; no two calls on one array share `step`.
  void advance_time(double seconds, std::uint64_t step);
  /// τ_c at the mean times.
  double correlation_time_s() const;
  /// a² p (1 − p) of device i: what a sum over many devices sees of them is Gaussian of the sum of these variances, and of
  /// correlation exp(−t/τ_c) (central limit; times alike).
  double relative_variance(Index i) const;
  /// Adds a (s − p) of each device to `relative` (rows, cols).
  void add_to(Matrix<S>& relative) const;
  void append_state(std::vector<SlowArray<S>>& out);

 private:
  TelegraphSpec spec_;
  ArrayIdentity identity_;
  int threads_;
  Matrix<S> occupied_;     ///< s: 0 or 1
  Matrix<S> amplitude_;    ///< a; 0 without a trap
  Matrix<S> time_factor_;  ///< of both times
};

}  // namespace nudge
