// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// The digital copy of the weights that in-situ write–verify keeps: it takes every change exactly, and says which devices
/// it has moved away from what they were last written to. A device whose target moves by less than the tolerance is not
/// touched; small changes add up in the copy (the accumulation of mixed-precision training: Nandakumar et al., Front.
/// Neurosci. 14:406 (2020), doi:10.3389/fnins.2020.00406).
template <class S>
class ShadowWeights {
 public:
  /// Copy and last written target both become `weights`.
  void reset(const Matrix<S>& weights);

  /// weights ← clip(weights + delta, [least, most]). Returns the flat places that are now at least `threshold` from where they
  /// were last written, in ascending order, and takes them as written.
  std::vector<Index> move(const Matrix<S>& delta, S threshold, S least, S most);

  Matrix<S>& weights() { return weights_; }
  Matrix<S>& written() { return written_; }

 private:
  Matrix<S> weights_;
  Matrix<S> written_;
};

}  // namespace nudge
