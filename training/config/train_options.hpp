// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/config/section.hpp"
#include "training/learning/growth_penalty.hpp"
#include "training/learning/optimizer.hpp"

namespace nudge {

/// Section [train].
struct TrainOptions {
  std::int64_t batch = {};
  double step_time = {};  ///< s; 0: the time of the phases
  std::string optimizer;
  OptimizerOptions rule;
  Schedule rate;  ///< schedule of the rate, and train.steps
  double weight_decay = {};
  double gradient_clip = {};
  double skip_ratio = {}, leave_out_ratio = {};  ///< 0: off
  std::uint64_t evaluate_every = {};             ///< steps; 0: at the end
  std::int64_t evaluation_batches = {}, test_batches = {};
  std::uint64_t cosine_every = {};      ///< 0: never
  std::uint64_t margin_every = {};      ///< 0: never
  std::uint64_t checkpoint_every = {};  ///< 0: at the end
  std::string beside;                   ///< an estimator, feed_forward, or none
  std::string learns;                   ///< all, readout, noise_gradient: what the other parameters do
  std::string null;                     ///< see null_runs.hpp
};
const Section<TrainOptions>& train_section();
TrainOptions train_options(const Config& config);

/// Section [growth].
const Section<GrowthOptions>& growth_section();

}  // namespace nudge
