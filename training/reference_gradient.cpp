// SPDX-License-Identifier: Apache-2.0
#include "training/reference_gradient.hpp"

#include <algorithm>
#include <limits>

#include "circuits/digital_matrix.hpp"
#include "training/setup.hpp"

namespace nudge {
namespace {

/// T·C up to which the dense solve is used: 512 vjps and an LU of 512³ · 2/3 = 0.09 GFLOP cost less than GMRES checks.
constexpr Index kDenseUnknowns = 512;

/// Steps at most: at a decay of 0.995 per step, 1e-12 is reached after 5500. Slower ones are left to newton_gmres.
constexpr int kEulerSteps = 6000;

/// Newton converges in some ten steps from anywhere near; 100 leave room for its line search.
constexpr int kNewtonSteps = 100;

/// F is a difference of terms of the size of z, each rounded: below 20 ulps the residual cannot be told from zero.
constexpr double kRounding = 20 * std::numeric_limits<double>::epsilon();

Reference attempt(const LanguageModel<double>& model, const BatchGradientOptions& options, const Batch& batch) {
  Reference out;
  BatchGradient<double> learner(model, options);
  out.gradient = Gradient<double>(model.parameter_shapes());
  const BatchReport report = learner.compute(batch, 0, out.gradient);
  out.states = learner.states();
  out.facts.solver = options.phases.free.solver;
  out.facts.adjoint = options.estimator;
  out.facts.sequences = static_cast<int>(batch.sequences);
  for (const SequenceReport& one : report.sequences) {
    out.facts.settled += one.free.status == Status::converged ? 1 : 0;
    out.facts.solved += one.nudged == Status::converged ? 1 : 0;
    out.facts.residual = std::max(out.facts.residual, one.free.residual);
    out.facts.adjoint_residual = std::max(out.facts.adjoint_residual, one.nudged_residual);
  }
  return out;
}

}  // namespace

template <class S>
std::unique_ptr<LanguageModel<double>> exact_copy(const LanguageModel<S>& model, Truth truth) {
  std::vector<LanguageModel<double>::Map> maps;
  for (int p = 0; p < model.parameters(); ++p) {
    const LinearMap<S>& map = model.map(p);
    if (truth == Truth::circuit) {
      maps.push_back(map.noise_free());
    } else {
      maps.push_back(std::make_unique<DigitalMatrix<double>>(map.weights().template cast<double>()));
    }
  }
  return std::make_unique<LanguageModel<double>>(model.shape(), model.block().leak(), std::move(maps));
}

BatchGradientOptions fixed_point_options(const Config& config, const std::string& solver, double step) {
  BatchGradientOptions options = exact_options<double>(config);
  const Index unknowns = static_cast<Index>(config.integer("model.tokens") * config.integer("model.channels"));
  options.estimator = unknowns <= kDenseUnknowns ? "implicit_dense" : "implicit";
  options.phases.free.solver = solver;
  options.phases.free.max_steps = solver == "euler" ? kEulerSteps : kNewtonSteps;
  options.phases.free.tolerance = std::max(config.real("gradcheck.settle_tolerance"), kRounding);
  options.phases.free.average_last = 1;
  options.phases.step = options.phases.free.step = step;
  return options;
}

Reference reference_gradient(const Config& config, const LanguageModel<double>& model, double step,
                             const Batch& batch) {
  Reference first = attempt(model, fixed_point_options(config, "euler", step), batch);
  if (first.facts.settled == first.facts.sequences) return first;
  Reference second = attempt(model, fixed_point_options(config, "newton_gmres", step), batch);
  return second.facts.settled > first.facts.settled ? second : first;
}

template std::unique_ptr<LanguageModel<double>> exact_copy<float>(const LanguageModel<float>&, Truth);
template std::unique_ptr<LanguageModel<double>> exact_copy<double>(const LanguageModel<double>&, Truth);

}  // namespace nudge
