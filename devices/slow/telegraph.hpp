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
/// With a NoiseTable, amplitude and times are those at the conductance of the device, with the device's own factors.
template <class S>
class Telegraph {
 public:
  Telegraph(const DeviceSpec& spec, Index rows, Index cols, const ArrayIdentity& identity, int threads);

  bool active() const { return spec_.active() || (spec_.share > 0 && table_.has_traps()); }
  /// Devices were programmed: with a table, traps come to the shares of their states at these conductances.
  void programmed(const Matrix<S>& g);
  /// Time passes at these conductances; no two calls on one array share `step`.
  void advance_time(const Matrix<S>& g, double seconds, std::uint64_t step);
  /// τ_c at the mean times; of a table the longest.
  double correlation_time_s() const;
  /// a² p (1 − p) of device i at its conductance: what a sum over many devices sees of them is Gaussian of the sum of these variances, and of
  /// correlation exp(−t/τ_c) (central limit; times alike).
  double relative_variance(double g, Index i) const;
  /// Adds a (s − p) of each device to `relative` (rows, cols).
  void add_to(const Matrix<S>& g, Matrix<S>& relative) const;
  void append_state(std::vector<SlowArray<S>>& out);

 private:
  /// Of device i at the conductance g, without its factor on the times.
  TrapValues trap(double g, Index i) const;

  TelegraphSpec spec_;
  NoiseTable table_;
  ArrayIdentity identity_;
  int threads_;
  Matrix<S> occupied_;     ///< s: 0 or 1
  Matrix<S> amplitude_;    ///< a, with a table its factor; 0 without a trap
  Matrix<S> time_factor_;  ///< of both times
};

}  // namespace nudge
