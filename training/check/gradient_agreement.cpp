// SPDX-License-Identifier: Apache-2.0
#include "training/check/gradient_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "circuits/digital_matrix.hpp"
#include "circuits/kept_state.hpp"
#include "circuits/terms/node_terms.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "training/config/assembly.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/data/data_options.hpp"

namespace nudge {
namespace {

/// Sums that the three measures are made of; they add up over groups.
struct Sums {
  double product = 0, estimate = 0, reference = 0, difference = 0, agreeing = 0, counted = 0;

  template <class S>
  void add(ConstMatrixRef<S> g, ConstMatrixRef<S> r) {
    for (Index i = 0; i < g.rows(); ++i) {
      for (Index j = 0; j < g.cols(); ++j) {
        const double a = static_cast<double>(g(i, j));
        const double b = static_cast<double>(r(i, j));
        product += a * b;
        estimate += a * a;
        reference += b * b;
        difference += (a - b) * (a - b);
        counted += b != 0 ? 1 : 0;
        agreeing += b != 0 && a * b > 0 ? 1 : 0;
      }
    }
  }

  /// Computes the measures. `rounding`: the norm up to which the reference is no gradient.
  Agreement result(double rounding, double whole_norm) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(estimate) || !std::isfinite(reference)) return {nan, nan, nan, true};
    if (std::sqrt(reference) <= rounding) {
      const double scale = whole_norm > 0 ? whole_norm : 1.0;
      return {nan, difference > 0 ? std::sqrt(difference) / scale : 0.0, nan, false};
    }
    const double cosine = estimate > 0 ? product / std::sqrt(estimate) / std::sqrt(reference) : 0.0;
    return {cosine, std::sqrt(difference / reference), agreeing / counted, true};
  }
};

}  // namespace

template <class S>
Agreement agreement(ConstMatrixRef<S> estimate, ConstMatrixRef<S> reference, double whole_norm) {
  Sums sums;
  sums.add<S>(estimate, reference);
  return sums.result(10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * whole_norm, whole_norm);
}

template <class S>
Agreement agreement(const Gradient<S>& estimate, const Gradient<S>& reference,
                    const std::vector<ParameterGroup>& groups) {
  Sums sums;
  for (const auto& group : groups) {
    sums.add<S>(estimate[group.parameter].middleCols(group.columns.begin, group.columns.count),
                reference[group.parameter].middleCols(group.columns.begin, group.columns.count));
  }
  const double whole_norm = reference.norm();
  return sums.result(10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * whole_norm, whole_norm);
}

#define NUDGE_GRADIENT_AGREEMENT(S)                                              \
  template Agreement agreement<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, double); \
  template Agreement agreement<S>(const Gradient<S>&, const Gradient<S>&, const std::vector<ParameterGroup>&);
NUDGE_BOTH_PRECISIONS(NUDGE_GRADIENT_AGREEMENT)

namespace {

/// Number of sequences in the cost: two settled states per entry each, so that a check at full model size takes
/// seconds.
constexpr Index kExamples = 2;

/// Residual from which no entries are drawn. A residual r leaves the cost uncertain by about r, and its difference over
/// 2h ≈ 1e-4 w (difference_step) by a share r/1e-4: here a hundredth.
constexpr double kUnreached = 1e-6;

/// Residual that counts as zero: F is a difference of terms of the size of z, each rounded, so 20 ulps cannot be told
/// from zero.
constexpr double kRounding = 20 * std::numeric_limits<double>::epsilon();

struct Entry {
  std::size_t group;
  Index row, col;
  double h;
};

/// Step h that balances the two errors of a central difference. The settled cost is known to δ ≈ the settle tolerance,
/// which becomes δ/h. The third derivative adds h²/6 · C''', with C''' ≈ C'/w², where w, the rms weight of the group,
/// is the scale on which the cost changes. Both are equal at h = w δ^(1/3) for C ≈ w C', with a relative error of
/// δ^(2/3).
double difference_step(const Network<double>& network, const ParameterGroup& group, double delta) {
  const auto w = network.map(group.parameter).weights().middleCols(group.columns.begin, group.columns.count);
  const double rms = w.norm() / std::sqrt(static_cast<double>(w.size()));
  return std::cbrt(delta) * (rms > 0 ? rms : 1.0);
}

/// Draws `count` entries of every parameter group at random, rows of tok among the characters of the batch. delta: δ of
/// difference_step().
std::vector<Entry> draw_entries(const Network<double>& network, const Batch& batch, std::uint64_t seed,
                                std::int64_t count, double delta) {
  std::vector<Entry> entries;
  const auto groups = network.groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    const double h = difference_step(network, group, delta);
    const Index rows = network.map(group.parameter).inputs();
    for (std::int64_t k = 0; k < count; ++k) {
      const RngKey key{seed, Purpose::probe, static_cast<std::uint32_t>(g)};
      const auto draw = [&](Index n, std::uint32_t lane) {
        return static_cast<Index>(
            random_below(static_cast<std::uint64_t>(n), key, static_cast<std::uint64_t>(k), lane, 0));
      };
      Index row = draw(rows, 0);
      if (group.parameter == network.plan().embedding().symbols) {
        row = batch.indices[static_cast<std::size_t>(draw(batch.sequences * batch.tokens, 0))];
      }
      entries.push_back({g, row, group.columns.begin + draw(group.columns.count, 1), h});
    }
  }
  return entries;
}

/// Model whose weights can be moved, with the phases that settle it.
struct Probe {
  Probe(const Network<double>& original, const BatchGradientOptions& options)
      : model(exact_copy(original, ExactSystem::circuit)), free(*model, options) {}
  std::unique_ptr<Network<double>> model;
  BatchGradient<double> free;
};

}  // namespace

FiniteDifferenceReport compare_finite_differences(const Config& config, const Network<double>& network, double step,
                                                  const Batch& batch) {
  FiniteDifferenceReport out;
  const Batch part = batch.first(kExamples);
  const Reference exact = reference_gradient(config, network, step, part);
  out.sequences = part.sequences;
  if (!(exact.facts.residual <= kUnreached)) {
    out.residual = exact.facts.residual;
    out.settled = false;
    return out;
  }
  BatchGradientOptions options =
      moves_input(config) ? exact_options<double>(config)
                          : fixed_point_options(config, network.rows() * network.cols(), exact.facts.solver, step);
  if (moves_input(config)) options.phases.step = options.phases.free.step = step;
  options.threads = 1;
  options.over_ranks = false;  // every rank measures all entries, several at a time
  const auto entries =
      draw_entries(network, part, run_options(config).seed, gradcheck_section().read(config).finite_difference_entries,
                   std::max(options.phases.free.tolerance, kRounding));
  const auto groups = network.groups();
  const int threads = run_options(config).threads;
  std::vector<std::unique_ptr<Probe>> probes(static_cast<std::size_t>(thread_count(threads)));
  const auto n = static_cast<Index>(entries.size());
  Matrix<double> estimate(1, n), reference(1, n), residual(1, n), cost(1, n);
  parallel_for(n, threads, [&](Index i, int thread) {
    auto& probe = probes[static_cast<std::size_t>(thread)];
    if (!probe) probe = std::make_unique<Probe>(network, options);
    const Entry& e = entries[static_cast<std::size_t>(i)];
    const int parameter = groups[e.group].parameter;
    LinearMap<double>& map = probe->model->map(parameter);
    KeptState<double> before(map);
    Matrix<double> change = Matrix<double>::Zero(map.inputs(), map.outputs());
    const auto evaluated = [&](double h) {
      change(e.row, e.col) = h;
      map.apply_update(change);
      const BatchReport report = probe->free.evaluate(part, 0);
      before.restore();
      return report;
    };
    const BatchReport up = evaluated(e.h);
    const BatchReport down = evaluated(-e.h);
    estimate(i) = (up.loss - down.loss) / (2 * e.h);
    reference(i) = exact.gradient[parameter](e.row, e.col);
    residual(i) = std::max(up.residual_max, down.residual_max);
    cost(i) = up.steps + down.steps;
  });
  const Index each = n / static_cast<Index>(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Index at = static_cast<Index>(g) * each;
    out.groups.push_back(
        agreement<double>(estimate.middleCols(at, each), reference.middleCols(at, each), exact.gradient.norm()));
  }
  std::vector<double> inside_estimate, inside_reference;
  for (Index i = 0; i < n; ++i) {
    if (groups[entries[static_cast<std::size_t>(i)].group].readout) continue;
    inside_estimate.push_back(estimate(i));
    inside_reference.push_back(reference(i));
  }
  const auto row = [](const std::vector<double>& v) {
    return Eigen::Map<const Matrix<double>>(v.data(), 1, static_cast<Index>(v.size()));
  };
  out.all = agreement<double>(row(inside_estimate), row(inside_reference));
  out.entries = static_cast<int>(n);
  out.cost_in_forces = cost.sum();
  out.residual = n > 0 ? residual.maxCoeff() : 0;
  out.settled = exact.facts.settled == exact.facts.sequences && out.residual <= options.phases.free.tolerance;
  return out;
}

namespace {

/// Largest T·C of the dense solve: 512 vjps and an LU of 512³ · 2/3 = 0.09 GFLOP cost less than GMRES checks.
constexpr Index kDenseUnknowns = 512;

/// Most Euler steps: at a decay of 0.995 per step, 1e-12 is reached after 5500. Slower ones are left to newton_gmres.
constexpr int kEulerSteps = 6000;

/// Most Newton steps: it converges in some ten steps from anywhere near; 100 leave room for its line search.
constexpr int kNewtonSteps = 100;

}  // namespace

Reference exact_gradient(const Network<double>& network, BatchGradientOptions options, const Batch& batch,
                         std::uint64_t step) {
  Reference out;
  options.all_states = true;
  BatchGradient<double> learner(network, options);
  out.gradient = Gradient<double>(network.parameter_shapes());
  out.report = learner.compute(batch, step, out.gradient);
  out.states = learner.states();
  out.facts.solver = options.phases.free.solver;
  out.facts.adjoint = options.estimator;
  out.facts.sequences = static_cast<int>(batch.sequences);
  for (const SequenceReport& one : out.report.sequences) {
    out.facts.settled += one.free.status == Status::converged ? 1 : 0;
    out.facts.solved += one.nudged == Status::converged ? 1 : 0;
    out.facts.residual = std::max(out.facts.residual, one.free.residual);
    out.facts.adjoint_residual = std::max(out.facts.adjoint_residual, one.nudged_residual);
  }
  return out;
}

template <class S>
std::unique_ptr<Network<double>> exact_copy(const Network<S>& network, ExactSystem truth) {
  Maps<double> maps;
  for (int p = 0; p < network.parameters(); ++p) {
    const LinearMap<S>& map = network.map(p);
    if (truth == ExactSystem::circuit) {
      maps.push_back(map.noise_free());
    } else {
      maps.push_back(
          std::make_unique<DigitalMatrix<double>>(map.weights().template cast<double>(), map.traits().unit_heat_J));
    }
  }
  auto copy = std::make_unique<Network<double>>(network.shared_plan(), std::move(maps), network.own_cost());
  copy->circuit().set_damping(network.circuit().damping().value);
  const auto* spread = network.circuit().template find<LeakSpread<S>>();
  if (truth == ExactSystem::circuit && spread != nullptr) {
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
  options.phases.step = options.phases.free.step = options.phases.free.motion.euler_step(step);
  options.phases.free.motion = {};
  return options;
}

Reference reference_gradient(const Config& config, const Network<double>& network, double step, const Batch& batch) {
  if (moves_input(config)) {
    BatchGradientOptions options = exact_options<double>(config);
    options.phases.step = options.phases.free.step = step;
    Reference out = exact_gradient(network, options, batch);
    const auto ended = [](const SequenceReport& one) { return one.free.status != Status::diverged; };
    const auto& all = out.report.sequences;
    out.facts.settled = out.facts.solved = static_cast<int>(std::count_if(all.begin(), all.end(), ended));
    return out;
  }
  const Index unknowns = network.rows() * network.cols();
  Matrix<double> loads;
  SettleSolver way = network.circuit().loads(loads) ? SettleSolver::coordinate : SettleSolver::euler;
  if (phase_options(config).phases.free.solver == SettleSolver::direct) way = SettleSolver::direct;
  Reference first = exact_gradient(network, fixed_point_options(config, unknowns, way, step), batch);
  const auto& nodes = network.circuit().nodes();
  const bool boxed = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.bounded(); });
  if (first.facts.settled == first.facts.sequences || boxed) return first;
  Reference second =
      exact_gradient(network, fixed_point_options(config, unknowns, SettleSolver::newton_gmres, step), batch);
  return second.facts.settled > first.facts.settled ? second : first;
}

template std::unique_ptr<Network<double>> exact_copy<float>(const Network<float>&, ExactSystem);
template std::unique_ptr<Network<double>> exact_copy<double>(const Network<double>&, ExactSystem);

}  // namespace nudge
