// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/digital_matrix.hpp"
#include "sim/base/rng.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge::test {

/// The character model with initial weights in exact maps.
inline std::unique_ptr<Network<double>> study_model(const ModelShape& shape, const InitialScales& scales, Damping leak,
                                                    std::uint64_t seed) {
  Maps<double> maps;
  for (auto& w : initial_weights<double>(shape, scales, seed)) {
    maps.push_back(std::make_unique<DigitalMatrix<double>>(std::move(w)));
  }
  return block_network<double>(shape, leak, std::move(maps));
}

inline Batch random_batch(const ModelShape& shape, Index sequences, std::uint64_t seed) {
  Batch batch{sequences, shape.tokens, {}, {}};
  const auto n = static_cast<std::uint32_t>(sequences * shape.tokens);
  const auto vocabulary = static_cast<std::uint64_t>(shape.vocabulary);
  for (std::uint32_t i = 0; i < n; ++i) {
    batch.indices.push_back(static_cast<int>(random_below(vocabulary, {seed, Purpose::synthetic_data, 0}, 0, 0, i)));
    batch.targets.push_back(static_cast<int>(random_below(vocabulary, {seed, Purpose::synthetic_data, 1}, 0, 0, i)));
  }
  return batch;
}

/// A gradient with the adjoints it was made of.
struct Estimate {
  Gradient<double> gradient;
  std::vector<Matrix<double>> states, adjoints;
  BatchReport report;
};

inline Estimate estimate(const Network<double>& model, const Batch& batch, const std::string& name,
                         const EstimatorOptions& phases) {
  BatchGradientOptions options;
  options.estimator = name;
  options.phases = phases;
  options.reads = ReadPolicy::all_ideal();
  BatchGradient<double> learner(model, options);
  Estimate out;
  out.gradient = Gradient<double>(model.parameter_shapes());
  out.report = learner.compute(batch, 0, out.gradient);
  out.states = learner.states();
  out.adjoints = learner.adjoints();
  return out;
}

/// Over the parameters of the equilibrium: all but Wh.
inline Agreement inside_agreement(const Network<double>& model, const Estimate& a, const Estimate& b) {
  return agreement<double>(a.gradient, b.gradient, equilibrium_groups(model.plan()));
}

}  // namespace nudge::test
