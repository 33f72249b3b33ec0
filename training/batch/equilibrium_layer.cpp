// SPDX-License-Identifier: Apache-2.0
#include "training/batch/equilibrium_layer.hpp"

#include <algorithm>
#include <cmath>

#include "circuits/correction_path.hpp"
#include "sim/base/parallel.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {
namespace {

/// Root mean square √(mean ‖u_t‖²) over the nonzero rows; 0 where there is none.
template <class S>
double row_size(ConstMatrixRef<S> u) {
  double sum = 0;
  Index rows = 0;
  for (Index t = 0; t < u.rows(); ++t) {
    const double squared = u.row(t).template cast<double>().squaredNorm();
    sum += squared;
    rows += squared > 0 ? 1 : 0;
  }
  return rows > 0 ? std::sqrt(sum / static_cast<double>(rows)) : 0.0;
}

}  // namespace

template <class S>
struct EquilibriumLayer<S>::Worker {
  Worker(const Network<S>& network, const BatchGradientOptions& options)
      : estimator(make_estimator<S>(options.estimator, options.phases)),
        dynamics(network.circuit(), network.rows(), std::max<Index>(2, estimator->copies())),
        path(options.correction.ideal() ? nullptr
                                        : std::make_unique<CorrectionPath<S>>(
                                              network.rows(), network.cols(), options.correction,
                                              std::max<Index>(2, estimator->copies()), options.seed, dynamics.read())),
        input(network.rows(), network.circuit().inputs()),
        state(network.rows(), network.cols()),
        start_gradient(network.rows(), network.cols()) {}

  std::unique_ptr<GradientEstimator<S>> estimator;
  CircuitDynamics<S> dynamics;
  std::unique_ptr<CorrectionPath<S>> path;  ///< correction path; null: ideal
  LinearCost<S> cost;
  Matrix<S> input, state, start_gradient;
  SettleWorkspace<S> settle;
};

template <class S>
EquilibriumLayer<S>::EquilibriumLayer(const Network<S>& network, const BatchGradientOptions& options)
    : network_(&network), options_(options) {
  options_.phases.frozen_cost = true;  // u is the same at every state: nothing is computed anew
  if (options_.correlator.on()) {
    correlators_.emplace(options_.correlator, network.parameter_shapes(), network.products(), options_.seed);
  }
  workers_.resize(static_cast<std::size_t>(thread_count(options.threads)));
  for (auto& w : workers_) w = std::make_unique<Worker>(network, options_);
}

template <class S>
EquilibriumLayer<S>::~EquilibriumLayer() = default;

template <class S>
void EquilibriumLayer<S>::bind(Worker& w, ConstMatrixRef<S> x, Index example, std::uint64_t step) {
  w.input = x.middleRows(example * network_->rows(), network_->rows());
  ReadContext read;
  read.seed = options_.seed;
  read.step = step;
  read.sequence = static_cast<std::uint32_t>(example);
  read.policy = options_.reads;
  read.relaxation = {options_.phases.step, options_.phases.step};
  w.dynamics.bind(w.input, read);
  if (w.path) w.path->bind();
  network_->initial_state(w.input, w.state);
  w.start_gradient.setZero();
}

template <class S>
std::vector<SettleResult> EquilibriumLayer<S>::settle(ConstMatrixRef<S> x, std::uint64_t step, Matrix<S>& z) {
  const Index rows = network_->rows(), examples = x.rows() / rows;
  NUDGE_EXPECT(x.rows() == examples * rows && x.cols() == network_->circuit().inputs());
  z.resize(x.rows(), network_->cols());
  std::vector<SettleResult> results(static_cast<std::size_t>(examples));
  parallel_for(examples, options_.threads, [&](Index b, int thread) {
    Worker& w = *workers_[static_cast<std::size_t>(thread)];
    bind(w, x, b, step);
    w.dynamics.begin_reads(ReadClass::free);
    results[static_cast<std::size_t>(b)] = nudge::settle<S>(w.dynamics, w.state, options_.phases.free, w.settle);
    z.middleRows(b * rows, rows) = w.state;
  });
  return results;
}

template <class S>
std::vector<SequenceReport> EquilibriumLayer<S>::pull_back(ConstMatrixRef<S> x, ConstMatrixRef<S> u, std::uint64_t step,
                                                           Gradient<S>& gradient, Matrix<S>& x_gradient) {
  const Index rows = network_->rows(), examples = x.rows() / rows;
  NUDGE_EXPECT(x.rows() == examples * rows && u.rows() == x.rows() && u.cols() == network_->cols());
  const auto shapes = network_->parameter_shapes();
  gradient = Gradient<S>(shapes);
  x_gradient.setZero(x.rows(), x.cols());
  std::vector<SequenceReport> reports(static_cast<std::size_t>(examples));
  const double size = row_size<S>(u);
  if (size == 0 || examples == 0) return reports;
  const Matrix<S> asked = u / static_cast<S>(size);
  const BatchChunks chunks(examples, false);
  std::vector<Gradient<S>> sums(static_cast<std::size_t>(chunks.count()), Gradient<S>(shapes));
  chunks.for_each(options_.threads, [&](Index chunk, Index /*k*/, int thread, Index begin, Index end) {
    Worker& w = *workers_[static_cast<std::size_t>(thread)];
    Gradient<S>& sink = sums[static_cast<std::size_t>(chunk)];
    for (Index b = begin; b < end; ++b) {
      bind(w, x, b, step);
      w.cost.bind(asked.middleRows(b * rows, rows));
      Example<S> task{&w.dynamics, &w.cost, &w.state, &w.start_gradient, static_cast<S>(size), &sink, w.path.get()};
      reports[static_cast<std::size_t>(b)] = w.estimator->estimate(task);
      auto out = x_gradient.middleRows(b * rows, rows);
      out = w.dynamics.input_gradient();
      network_->accumulate_start(w.start_gradient, out);
    }
  });
  sum_gradients<S>(sums, gradient, options_.threads);
  if (correlators_) correlators_->pass(gradient, {x.rows(), 1}, options_.nudge_distance() / size, step);
  return reports;
}

NUDGE_BOTH_PRECISIONS_OF(EquilibriumLayer)

}  // namespace nudge
