// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "devices/device_draws.hpp"
#include "devices/registry.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Statistics of a stochastic binary device (p-bit).
struct StochasticBitSpec {
  double gain = 1;           ///< slope of the log-odds per unit of x; 2 for the tanh convention of the p-bit papers
  double offset = 0;         ///< input at which both values are equally likely
  double gain_spread = 0;    ///< device to device, of the gain (relative); a gain stays positive
  double offset_spread = 0;  ///< device to device, of the offset, in units of x
  double correlation = 0;    ///< ρ: correlation of one device's values at consecutive steps, in [0, 1)

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

/// Devices that return 1 with a known probability,
///
///     P_i(1 | x) = 1/(1 + exp(−gain_i (x − offset_i))),
///
/// gain and offset drawn once per device (static). The value at `step` is [u < P(x)] with one uniform number u per
/// device. u is kept from the step before with probability ρ and drawn anew otherwise. So the probability of each value
/// is exactly P whatever ρ and whatever x did before. At constant x the values are a two-state Markov chain with
/// autocorrelation ρ^k at lag k: a telegraph signal read every dt, ρ = exp(−dt/τ_c). In general P(1 at s and 1 at s +
/// k) = ρ^k min(P, P′) + (1 − ρ^k) P P′.
///
/// Every value is a pure function of (seed, array, device, lane, step, x): nothing is stored, calls are thread-safe and
/// may come in any order. A lane is an independent sequence of reads (one sequence of a batch); steps count from 0
/// within it. Cost: 1/(1 − ρ) looks back on average.
///
/// Source: p-bits, Camsari, Faria, Sutton and Datta, Phys. Rev. X 7, 031014 (2017), arXiv:1610.00377: m = sgn(u(−1, 1)
/// + tanh I), so that P(+1) = 1/(1 + exp(−2 I)): gain 2. The memory ρ: derived here.
class StochasticBits {
 public:
  /// Draws the devices; UserError for an invalid spec.
  StochasticBits(const StochasticBitSpec& spec, Index devices, const ArrayIdentity& identity);

  Index devices() const { return static_cast<Index>(gain_.size()); }
  double gain(Index device) const { return gain_[static_cast<std::size_t>(device)]; }
  double offset(Index device) const { return offset_[static_cast<std::size_t>(device)]; }

  /// Probability P_i(1 | x).
  double probability(Index device, double x) const;

  /// Value of a device, 0 or 1 (1 with exactly its probability, to 2⁻⁵³).
  bool sample(Index device, double x, std::uint64_t step, std::uint32_t lane = 0) const;

  /// Computes probabilities(n, i) = P_i(1 | x(n, i)); both (rows, devices).
  template <class S>
  void probability(ConstMatrixRef<S> x, MatrixRef<S> probabilities) const;

  /// Samples bits(n, i) = value of device i at x(n, i) as 0 or 1, row n being lane first_lane + n; both (rows, devices).
  template <class S>
  void sample(ConstMatrixRef<S> x, MatrixRef<S> bits, std::uint64_t step, std::uint32_t first_lane = 0) const;

 private:
  double uniform(Index device, std::uint64_t step, std::uint32_t lane) const;

  ArrayIdentity identity_;
  double correlation_;
  std::vector<double> gain_;
  std::vector<double> offset_;
};

/// Documentation of the p-bit for the catalogue (no step model: make is null).
const DeviceModel& stochastic_bit_description();

}  // namespace nudge
