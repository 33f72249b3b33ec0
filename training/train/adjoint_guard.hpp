// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/learning/estimators/estimator.hpp"
#include "training/train/outlier_guard.hpp"

namespace nudge {

/// Beyond which adjoint a sequence is left out of its batch's gradient: above `ratio` times the running means (OutlierGuard)
/// of the batches' median norms and gains, both; 0: none is left out.
class AdjointGuard {
 public:
  explicit AdjointGuard(double ratio) : norm_({ratio, 0.99, 10}), gain_({ratio, 0.99, 10}) {}

  AdjointSize limit() const { return {norm_.limit(), gain_.limit()}; }

  /// The medians of a batch.
  void observe(const AdjointSize& median) {
    norm_.decide(median.norm);
    gain_.decide(median.gain);
  }

  std::vector<ScalarState> state() {
    std::vector<ScalarState> all;
    for (auto& s : norm_.state()) all.push_back({"norm_" + s.name, s.unit, s.description, s.value});
    for (auto& s : gain_.state()) all.push_back({"gain_" + s.name, s.unit, s.description, s.value});
    return all;
  }

 private:
  OutlierGuard norm_, gain_;
};

}  // namespace nudge
