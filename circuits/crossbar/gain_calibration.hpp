// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"
#include "devices/array_identity.hpp"

namespace nudge {

/// One gain of an array's amplifiers that follows what time does to all of its devices alike. n inputs of ±1, drawn once, are read twice
/// after every write, Y₀, Y₁ ≈ X W, and again after every wait, Y; the gain is then multiplied by
///     a = ⟨Y₀, Y₁⟩/⟨½(Y₀ + Y₁), Y⟩
/// the factor that brings the part of Y along X W back to X W. A common loss, W = e W₀, is undone (a = 1/e); a spread that is independent of the
/// weights leaves a near 1. Global drift compensation (Joshi et al., Nat. Commun. 11:2473 (2020), methods) with the sum of magnitudes replaced
/// by a projection whose reads have noise of their own, so that neither it nor spread biases a: of one read, ⟨Y₀, Y₀⟩ holds its noise too. A step is at most a factor 4: beyond it nothing is left to be followed.
template <class S>
class GainCalibration {
 public:
  GainCalibration(int reads, const ArrayIdentity& identity, Index inputs);

  bool active() const { return inputs_.rows() > 0; }
  /// X (n, N).
  const Matrix<S>& inputs() const { return inputs_; }
  S gain() const { return active() ? gain_(0, 0) : S(1); }

  /// What the inputs gave (n, M) in two reads, with the gain: after a programming, which begins with the gain 1, or after another write.
  void programmed() { gain_(0, 0) = 1; }
  void written(const Matrix<S>& first, const Matrix<S>& second);
  /// After a wait: gain ← a gain.
  void aged(const Matrix<S>& response);

  void append_state(std::vector<StateArray<S>>& all);

 private:
  Matrix<S> inputs_, response_;
  Matrix<S> gain_ = Matrix<S>::Ones(1, 1), wanted_ = Matrix<S>::Zero(1, 1);
};

}  // namespace nudge
