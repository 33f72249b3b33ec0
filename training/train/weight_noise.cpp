// SPDX-License-Identifier: Apache-2.0
#include "training/train/weight_noise.hpp"

#include <cmath>

#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/base/rng.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
template <class S>
WeightNoise<S>::WeightNoise(const Config& config, const NetworkPlan& plan)
    : parameters_(plan.parameters()), seed_(run_options(config).seed) {
  if (on_devices(config)) return;
  options_ = hardware_aware_section().read(config);
  devices_ = hardware_aware_devices(config);
  if (devices_) devices_->threads = model_arrays(config).threads;
}

template <class S>
Matrix<S> WeightNoise<S>::seen(const Matrix<S>& weights, int parameter, double largest, std::uint64_t step) const {
  const Parameter& of = parameters_[static_cast<std::size_t>(parameter)];
  const RngKey key{seed_, Purpose::programming_error,
                   static_cast<std::uint32_t>(parameter)};  // numbers have none of their own
  Matrix<S> all = weights;
  if (devices_) {
    const std::uint64_t chip = random_bits(key, step, 0, 0);
    const auto array = make_linear_map<S>(parameter_array(*devices_, of, largest), weights,
                                          static_cast<std::uint32_t>(parameter), chip);
    if (options_.age_s > 0) array->advance_time(options_.age_s, 0);
    all = array->weights();
  }
  if (options_.weight_noise > 0) {
    Matrix<S> draws(weights.rows(), weights.cols());
    fill_normal<S>(key, step, 1, {draws.data(), static_cast<std::size_t>(draws.size())});
    all += static_cast<S>(options_.weight_noise) * weights.cwiseAbs().maxCoeff() * draws;
  }
  if (of.conductance) all = all.cwiseMax(S(0));
  return all;
}

template <class S>
NoisyWeights<S>::NoisyWeights(const WeightNoise<S>& noise, Network<S>& network, std::uint64_t step)
    : network_(network) {
  if (!noise.active()) return;
  const Interruptible whole(false);  // left half-way it would not be undone
  for (int p = 0; p < network.parameters(); ++p) kept_.push_back(network.map(p).weights());
  const double largest = largest_conductance<S>(noise.parameters(), kept_);
  double moved = 0, size = 0;
  for (int p = 0; p < network.parameters(); ++p) {
    const Matrix<S>& weights = kept_[static_cast<std::size_t>(p)];
    if (!noise.parameters()[static_cast<std::size_t>(p)].on_devices || weights.size() == 0) continue;
    const Matrix<S> seen = noise.seen(weights, p, largest, step);
    moved += static_cast<double>((seen - weights).squaredNorm());
    size += static_cast<double>(weights.squaredNorm());
    network.map(p).program(seen);
  }
  share_ = size > 0 ? std::sqrt(moved / size) : 0;
}

template <class S>
NoisyWeights<S>::~NoisyWeights() {
  const Interruptible whole(false);
  for (std::size_t p = 0; p < kept_.size(); ++p) network_.map(static_cast<int>(p)).program(kept_[p]);
}

NUDGE_BOTH_PRECISIONS_OF(WeightNoise)
NUDGE_BOTH_PRECISIONS_OF(NoisyWeights)

}  // namespace nudge
