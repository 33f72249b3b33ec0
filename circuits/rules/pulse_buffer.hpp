// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/rules/rule_spec.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// A number per weight that gathers changes until they are worth pulses: H += δ, and where |H| ≥ θ q, n = trunc(H/q) pulses
/// are due and H −= (1 − m) n q; q the change of a weight by one pulse. With m = 0 what is asked for is never lost: requests
/// that add up to Σ have sent trunc-wise all of it but a rest below θ q.
/// Mixed precision: Nandakumar et al., Front. Neurosci. 14:406 (2020), doi:10.3389/fnins.2020.00406 (θ = 1); the buffer of TTv2:
/// Gokmen, Front. Artif. Intell. 4:699148 (2021), doi:10.3389/frai.2021.699148.
template <class S>
class PulseBuffer {
 public:
  PulseBuffer(double threshold, double momentum)
      : threshold_(static_cast<S>(threshold)), kept_(static_cast<S>(momentum)) {}

  void begin(Index rows, Index cols) { sum_.setZero(rows, cols); }

  /// The pulses that are due in the columns first, first + 1, … (count of them, modulo the width), signed; those of all other
  /// columns are 0. False: none.
  bool take(S pulse, Index first, Index count, Matrix<S>& counts);

  Matrix<S>& sum() { return sum_; }

 private:
  S threshold_, kept_;
  Matrix<S> sum_;
};

}  // namespace nudge
