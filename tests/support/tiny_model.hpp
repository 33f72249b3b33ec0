// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "circuits/digital_matrix.hpp"
#include "sim/base/rng.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge::test {

/// Problem of the gradient tests: T = 3, C = 6, H = 2, M = 10, V = 7, s = c = 1.
inline const ModelShape kTinyShape{7, 3, 6, 10, 2};
/// Full attention (weights of variance 1/C), where leaving the correction out shows, and a memory well inside its bound.
inline constexpr InitialScales kTinyScales{1.0, 1.0, 0.4, 0.5};

/// Makes a language model on digital matrices, a function of the seed; float is double rounded.
template <class S>
std::unique_ptr<Network<S>> tiny_model(std::uint64_t seed = 1, const ModelShape& shape = kTinyShape,
                                       const InitialScales& scales = kTinyScales, Damping leak = {1.0, 1.0}) {
  Maps<S> maps;
  for (auto& w : initial_weights<S>(shape, scales, seed))
    maps.push_back(std::make_unique<DigitalMatrix<S>>(std::move(w)));
  return block_network<S>(shape, leak, std::move(maps));
}

/// Draws random sequences with random targets.
inline Batch tiny_batch(Index sequences, std::uint64_t seed = 1, const ModelShape& shape = kTinyShape) {
  Batch batch;
  batch.sequences = sequences;
  batch.tokens = shape.tokens;
  for (Index i = 0; i < sequences * shape.tokens; ++i) {
    for (auto* list : {&batch.indices, &batch.targets}) {
      list->push_back(static_cast<int>(random_below(static_cast<std::uint64_t>(shape.vocabulary),
                                                    {seed, Purpose::synthetic_data, list == &batch.indices ? 1U : 2U},
                                                    0, 0, static_cast<std::uint32_t>(i))));
    }
  }
  return batch;
}

/// Picks one sequence of a batch.
inline Batch sequence_of(const Batch& batch, Index b) {
  Batch one;
  one.sequences = 1;
  one.tokens = batch.tokens;
  one.indices.assign(batch.indices_of(b).begin(), batch.indices_of(b).end());
  one.targets.assign(batch.targets_of(b).begin(), batch.targets_of(b).end());
  return one;
}

/// Options with ε = 0.3 (below 1/(1 + s c) = 0.5) and the given numbers of steps, on one thread.
inline BatchGradientOptions tiny_options(const std::string& estimator, int free_steps, int nudged_steps,
                                         double beta = 1e-5) {
  BatchGradientOptions options;
  options.estimator = estimator;
  options.phases.free.max_steps = free_steps;
  options.phases.nudged_steps = nudged_steps;
  options.phases.beta = beta;
  options.phases.adjoint_tolerance = 1e-13;
  options.threads = 1;
  return options;
}

template <class S>
struct Learned {
  Gradient<S> gradient;
  BatchReport report;
  std::vector<Matrix<S>> states, adjoints;
};

template <class S>
Learned<S> learn(const Network<S>& model, const Batch& batch, const BatchGradientOptions& options,
                 std::uint64_t step = 0) {
  BatchGradient<S> learner(model, options);
  Learned<S> out;
  out.report = learner.compute(batch, step, out.gradient);
  out.states = learner.states();
  out.adjoints = learner.adjoints();
  return out;
}

/// Flattens all parameters of a gradient to one column, in double.
template <class S>
Eigen::VectorXd flat(const Gradient<S>& gradient) {
  Index size = 0;
  for (const auto& m : gradient.matrices()) size += m.size();
  Eigen::VectorXd all(size);
  Index at = 0;
  for (const auto& m : gradient.matrices()) {
    all.segment(at, m.size()) =
        Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, 1>>(m.data(), m.size()).template cast<double>();
    at += m.size();
  }
  return all;
}

/// Relative error ‖a − b‖/‖b‖ over all parameters.
template <class S>
double gradient_error(const Gradient<S>& a, const Gradient<S>& b) {
  return (flat(a) - flat(b)).norm() / flat(b).norm();
}

template <class S>
bool same_bits(const Gradient<S>& a, const Gradient<S>& b) {
  for (int p = 0; p < a.size(); ++p) {
    if (!(a[p].array() == b[p].array()).all()) return false;
  }
  return a.size() == b.size();
}

/// Computes ∂value/∂θ of every parameter of the model by central differences with step h.
template <class Value>
std::vector<Matrix<double>> model_difference_quotients(Network<double>& model, double h, Value value) {
  std::vector<Matrix<double>> all;
  for (int p = 0; p < model.parameters(); ++p) {
    LinearMap<double>& map = model.map(p);
    const Matrix<double> weights = map.weights();
    Matrix<double> quotients(weights.rows(), weights.cols());
    for (Index i = 0; i < weights.size(); ++i) {
      Matrix<double> moved = weights;
      moved.data()[i] = weights.data()[i] + h;
      map.program(moved);
      const double ahead = value();
      moved.data()[i] = weights.data()[i] - h;
      map.program(moved);
      quotients.data()[i] = (ahead - value()) / (2 * h);
    }
    map.program(weights);
    all.push_back(std::move(quotients));
  }
  return all;
}

}  // namespace nudge::test
