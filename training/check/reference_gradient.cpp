// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_agreement.hpp"

#include <algorithm>
#include <limits>

#include "circuits/digital_matrix.hpp"
#include "circuits/terms/node_terms.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"

namespace nudge {
namespace {

/// Largest T·C of the dense solve: 512 vjps and an LU of 512³ · 2/3 = 0.09 GFLOP cost less than GMRES checks.
constexpr Index kDenseUnknowns = 512;

/// Most Euler steps: at a decay of 0.995 per step, 1e-12 is reached after 5500. Slower ones are left to newton_gmres.
constexpr int kEulerSteps = 6000;

/// Most Newton steps: it converges in some ten steps from anywhere near; 100 leave room for its line search.
constexpr int kNewtonSteps = 100;

/// Residual that counts as zero: F is a difference of terms of the size of z, each rounded, so 20 ulps cannot be told
/// from zero.
constexpr double kRounding = 20 * std::numeric_limits<double>::epsilon();

Reference attempt(const Network<double>& model, BatchGradientOptions options, const Batch& batch) {
  Reference out;
  options.all_states = true;
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
std::unique_ptr<Network<double>> exact_copy(const Network<S>& network, Truth truth) {
  Maps<double> maps;
  for (int p = 0; p < network.parameters(); ++p) {
    const LinearMap<S>& map = network.map(p);
    if (truth == Truth::circuit) {
      maps.push_back(map.noise_free());
    } else {
      maps.push_back(
          std::make_unique<DigitalMatrix<double>>(map.weights().template cast<double>(), map.traits().unit_heat_J));
    }
  }
  auto copy = std::make_unique<Network<double>>(network.shared_plan(), std::move(maps), network.own_cost());
  copy->circuit().set_damping(network.circuit().damping().value);
  const auto* spread = network.circuit().template find<LeakSpread<S>>();
  if (truth == Truth::circuit && spread != nullptr) {
    copy->circuit().add(std::make_unique<LeakSpread<double>>(spread->deviations().template cast<double>(),
                                                             network.circuit().nodes().size()));
  }
  return copy;
}

BatchGradientOptions fixed_point_options(const Config& config, Index unknowns, SettleSolver solver, double step) {
  BatchGradientOptions options = exact_options<double>(config);
  const bool direct = solver == SettleSolver::direct;  // which is exact at any size
  options.estimator = unknowns <= kDenseUnknowns ? "implicit_dense" : (direct ? "adjoint" : "implicit");
  options.phases.free.solver = solver;
  if (solver != SettleSolver::euler) options.phases.free.schedule = RelaxationSchedule::parallel;
  options.phases.free.max_steps = solver == SettleSolver::newton_gmres ? kNewtonSteps : kEulerSteps;
  options.phases.free.tolerance = std::max(gradcheck_section().read(config).settle_tolerance, kRounding);
  options.phases.free.average_last = 1;
  options.phases.step = options.phases.free.step = step;
  return options;
}

Reference reference_gradient(const Config& config, const Network<double>& network, double step, const Batch& batch) {
  const Index unknowns = network.rows() * network.cols();
  Matrix<double> loads;
  SettleSolver way = network.circuit().loads(loads) ? SettleSolver::coordinate : SettleSolver::euler;
  if (phase_options(config).phases.free.solver == SettleSolver::direct) way = SettleSolver::direct;
  Reference first = attempt(network, fixed_point_options(config, unknowns, way, step), batch);
  const auto& nodes = network.circuit().nodes();
  const bool boxed = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.bounded(); });
  if (first.facts.settled == first.facts.sequences || boxed) return first;
  Reference second = attempt(network, fixed_point_options(config, unknowns, SettleSolver::newton_gmres, step), batch);
  return second.facts.settled > first.facts.settled ? second : first;
}

template std::unique_ptr<Network<double>> exact_copy<float>(const Network<float>&, Truth);
template std::unique_ptr<Network<double>> exact_copy<double>(const Network<double>&, Truth);

}  // namespace nudge
