// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Noisy weights W̃ that a step of hardware-aware training sees in place of W:
///     W̃ = D(W) + σ max|W| ξ
/// with ξ standard normal and fresh for every weight and step. D(W) are the weights that a noise-free read finds after
/// W was written into new devices and an age has passed. Every step has other devices (spreads, programming errors,
/// stuck cells). Without devices D(W) = W. All phases of a step read W̃. The gradient of the loss at W̃ moves W. For a
/// readout W̃ᵀx of n outputs and squared error, s = σ max|W|, the mean loss is ½|Wᵀx − y|² + ½ s² n |x|². So the layers
/// that make x learn by ridge regression, and W itself by an unbiased gradient (Bishop, Neural Comput. 7 (1995) 108).
/// Weights that devices do not hold (Parameter::on_devices) stay; conductances end at 0.
template <class S>
class WeightNoise {
 public:
  /// Makes the noise; off where the config has its weights on devices. UserError for devices that are neither a preset
  /// nor a readable file.
  WeightNoise(const Config& config, const NetworkPlan& plan);

  bool active() const { return options_.weight_noise > 0 || devices_.has_value(); }

  /// Returns W̃ of one parameter; a function of the seed of the run, the parameter and the step. `largest`: of all
  /// conductances.
  Matrix<S> seen(const Matrix<S>& weights, int parameter, double largest, std::uint64_t step) const;

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  HardwareAwareOptions options_;
  std::optional<CrossbarSpec> devices_;
  std::vector<Parameter> parameters_;
  std::uint64_t seed_ = 0;
};

/// Puts W̃ into the network for as long as this object lives; then puts W back, bit for bit, whatever has happened in
/// between.
template <class S>
class NoisyWeights {
 public:
  NoisyWeights(const WeightNoise<S>& noise, Network<S>& network, std::uint64_t step);
  ~NoisyWeights();
  NoisyWeights(const NoisyWeights&) = delete;
  NoisyWeights& operator=(const NoisyWeights&) = delete;

  /// Relative size ‖W̃ − W‖/‖W‖ over all weights that devices would hold.
  double share() const { return share_; }

 private:
  Network<S>& network_;
  std::vector<Matrix<S>> kept_;  ///< weights W of each parameter; empty: unchanged
  double share_ = 0;
};

}  // namespace nudge
