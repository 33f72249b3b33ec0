// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "training/learning/controller.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// Decision on a step. Only `accept` may reach the optimizer.
enum class StepDecision {
  accept,
  skip_outlier,      ///< norm > ratio · EMA
  reject_nonfinite,  ///< the norm is not finite
};

constexpr std::string_view to_string(StepDecision decision) {
  switch (decision) {
    case StepDecision::accept: return "accept";
    case StepDecision::skip_outlier: return "skip_outlier";
    case StepDecision::reject_nonfinite: return "reject_nonfinite";
  }
  return "unknown";
}

struct OutlierGuardOptions {
  double ratio = 30.0;  ///< skip above ratio · EMA, > 1; 0 switches skipping off (non-finite steps are still rejected)
  double decay = 0.99;  ///< decay of the EMA, in [0, 1)
  int warmup = 10;      ///< the first finite norms are accepted whatever they are, ≥ 1
};

/// Protects the weights from single bad steps, by the gradient norm n before clipping.
///     not finite:                         reject, counted; the EMA is left alone
///     n > ratio · EMA after the warm-up:  skip, counted
///     else:                               accept
/// Every finite norm enters, the k-th with weight w = max(1 − decay, 1/k), a plain mean until 1/k < 1 − decay:
///     EMA ← EMA + w (min(n, ratio · EMA) − EMA),  the first EMA being the first norm
/// By the clipped entry one outlier moves the threshold little. If gradients have really become larger, the threshold
/// grows by 1 + (1 − decay)(ratio − 1) per skip (1.29 by default), so the guard cannot skip for ever. An EMA of zero
/// clips and skips nothing. UserError on options that break the ranges above.
class OutlierGuard {
 public:
  explicit OutlierGuard(const OutlierGuardOptions& options);

  /// Judges one step by the norm of its gradient (NaN or infinity when any entry is not finite).
  StepDecision decide(double gradient_norm);

  double average() const { return average_; }
  /// Largest norm that is accepted next: ratio · EMA; infinite in the warm-up, where the EMA is 0 and where nothing is
  /// skipped.
  double limit() const;
  std::uint64_t skipped() const { return static_cast<std::uint64_t>(skipped_); }
  std::uint64_t nonfinite() const { return static_cast<std::uint64_t>(nonfinite_); }
  std::vector<ScalarState> state();

 private:
  OutlierGuardOptions options_;
  double average_ = 0;
  double seen_ = 0;
  double skipped_ = 0;
  double nonfinite_ = 0;
};

/// Limit of the adjoint beyond which a sequence is left out of its batch's gradient. It is `ratio` times the running
/// means (OutlierGuard) of the batches' median norms and gains. Both must be above it. ratio 0: no sequence is left
/// out.
class AdjointGuard {
 public:
  explicit AdjointGuard(double ratio) : norm_({ratio, 0.99, 10}), gain_({ratio, 0.99, 10}) {}

  AdjointSize limit() const { return {norm_.limit(), gain_.limit()}; }

  /// Takes the medians of a batch.
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
