// SPDX-License-Identifier: Apache-2.0
#include "training/batch/batch_gradient.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/rng.hpp"
#include "training/batch/batch_summary.hpp"
#include "training/learning/estimators/nudged_phase.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/factor_products.hpp"

namespace nudge {
namespace {

/// Streams of read noise: evaluations are apart from training, read-out and tables of the input from the other arrays.
enum class ReadPhase : std::uint32_t {
  training = 0,
  evaluation = 1,
  readout_training = 2,
  readout_evaluation = 3,
  embedding_training = 4,
  embedding_evaluation = 5
};

/// Stream of the order that chooses the side a batch is nudged to; 0 and 1 are the orders of texts and of samples.
constexpr std::uint32_t kSides = 2;

}  // namespace

/// Objects that one thread needs to learn from one sequence.
template <class S>
struct BatchGradient<S>::Worker {
  Worker(const Network<S>& network, const BatchGradientOptions& options)
      : estimator(make_estimator<S>(options.estimator, options.phases)),
        dynamics(network.circuit(), network.rows(), std::max<Index>(2, estimator->copies())),
        cost(network.make_cost(std::max<Index>(2, estimator->copies()))),
        growth(options.growth),
        path(options.correction.ideal() ? nullptr
                                        : std::make_unique<CorrectionPath<S>>(
                                              network.rows(), network.cols(), options.correction,
                                              std::max<Index>(2, estimator->copies()), options.seed, dynamics.read())),
        input(network.rows(), network.circuit().inputs()),
        input_gradient(input.rows(), input.cols()),
        state(network.rows(), network.cols()),
        initial_gradient(state.rows(), state.cols()) {
    if (network.plan().embedding().symbols < 0) dynamics.skip_input_gradient();
    HoldSpec held = options.hold;
    held.node_noise = network.circuit().sampled_noise();
    if (held.ideal()) return;
    Matrix<S> scale(1, network.cols());
    for (const Node& node : network.circuit().nodes()) {
      scale.middleCols(node.columns.begin, node.columns.count).setConstant(static_cast<S>(node.scale));
    }
    hold = std::make_unique<SampleHold<S>>(network.rows(), scale, held, options.seed, dynamics.read());
  }

  std::unique_ptr<GradientEstimator<S>> estimator;
  CircuitDynamics<S> dynamics;
  std::unique_ptr<ExampleCost<S>> cost;
  GrowthPenalty<S> growth;
  std::unique_ptr<CorrectionPath<S>> path;  ///< correction path; null: ideal
  std::unique_ptr<SampleHold<S>> hold;      ///< holds of the states; null: ideal
  ReadMeter meter;                          ///< reads of the present sequence
  ArrayUse use;                             ///< use of the arrays by the present sequence
  Matrix<S> input, input_gradient, state, initial_gradient;
  Matrix<S> recalled, kept;   ///< numbers from the memory; the estimator's part of them
  std::vector<char> visited;  ///< rows whose sample was there before
  SettleWorkspace<S> settle;
};

/// Adds every local correlation to the gradient of its chunk, but for two kinds that are kept as factors. First, those
/// of a map that updates by factors, to be handed over when the step is accepted. Second, those of few rows in several
/// chunks, to be multiplied once for the whole batch.
template <class S>
class BatchGradient<S>::MapSink final : public GradientSink<S> {
 public:
  MapSink(const Network<S>& network, Gradient<S>& gradient, Factors& factors, const SinkOptions& options)
      : network_(&network), gradient_(&gradient), factors_(&factors), options_(options) {}
  void accumulate(int parameter, Columns columns, S scale, ConstMatrixRef<S> x, ConstMatrixRef<S> y) override {
    auto& pairs = (*factors_)[static_cast<std::size_t>(parameter)];
    if (options_.factors && network_->map(parameter).takes_factors()) {
      pairs.push_back({columns, scale, x, y});
      return;
    }
    operations_ += 2.0 * static_cast<double>(x.rows() * x.cols() * y.cols());
    if (options_.keep && kept(pairs, x.rows(), {network_->map(parameter).inputs(), columns.count})) {
      pairs.push_back({columns, S(1), x, scale * y});
    } else {
      gradient_->accumulate(parameter, columns, scale, x, y);
    }
  }
  void accumulate(int parameter, S scale, ConstMatrixRef<S> gradient) override {
    gradient_->accumulate(parameter, scale, gradient);
    operations_ += static_cast<double>(gradient.size());
  }
  /// Digital operations of the correlations that were summed: a product and an addition each.
  double operations() const { return operations_; }

 private:
  bool kept(const std::vector<FactorPair<S>>& pairs, Index n, ParameterShape result) const {
    if (!options_.few) return worth_keeping<S>(pairs, n, result);
    for (const FactorPair<S>& pair : pairs) n += pair.x.rows();
    return few_rows(n, result);
  }

  const Network<S>* network_;
  Gradient<S>* gradient_;
  Factors* factors_;
  SinkOptions options_;
  double operations_ = 0;
};

template <class S>
BatchGradient<S>::BatchGradient(const Network<S>& network, const BatchGradientOptions& options)
    : network_(&network), options_(options) {
  workers_.resize(static_cast<std::size_t>(thread_count(options.threads)));
  for (auto& w : workers_) w = std::make_unique<Worker>(network, options);
  if (parameter_matrices() > 0) options_.few_factors = false;  // it needs the sum
  if (!options.correlator.on()) return;
  NUDGE_EXPECT(!options_.few_factors);
  correlators_.emplace(options.correlator, network.parameter_shapes(), network.products(), options.seed);
}

template <class S>
BatchGradient<S>::~BatchGradient() = default;

template <class S>
GradientEstimator<S>& BatchGradient<S>::estimator() const {
  return *workers_.front()->estimator;
}

template <class S>
Index BatchGradient<S>::keeps() const {
  return (options_.persistent_states ? network_->cols() : 0) + workers_.front()->estimator->keeps();
}

/// Recalls the numbers kept of the samples of an example; free phases start from their states.
template <class S>
void BatchGradient<S>::recall(Worker& w, const Batch& batch, Index sequence) const {
  memory_->recall(batch, sequence, w.recalled, w.visited);
  w.kept = w.recalled.rightCols(w.estimator->keeps());
  if (!options_.persistent_states) return;
  for (Index row = 0; row < w.state.rows(); ++row) {
    if (w.visited[static_cast<std::size_t>(row)] != 0) w.state.row(row) = w.recalled.row(row).leftCols(w.state.cols());
  }
}

/// Collects the numbers to keep of the samples of an example; none of states that are no equilibrium.
template <class S>
void BatchGradient<S>::collect(Worker& w, const SequenceReport& report, Matrix<S>& kept) const {
  const bool lost = report.free.status == Status::diverged || !w.state.allFinite() || !w.kept.allFinite();
  if (lost) return kept.resize(0, 0);
  kept.resize(w.recalled.rows(), w.recalled.cols());
  if (options_.persistent_states) kept.leftCols(w.state.cols()) = w.state;
  kept.rightCols(w.kept.cols()) = w.kept;
}

template <class S>
void BatchGradient<S>::set_step(double step) {
  options_.phases.step = options_.phases.free.step = step;
  for (auto& w : workers_) w->estimator->set_step(step);
}

template <class S>
void BatchGradient<S>::set_adjoint_limit(const AdjointSize& limit) {
  for (auto& w : workers_) w->estimator->set_adjoint_limit(limit);
}

template <class S>
typename BatchGradient<S>::Worker& BatchGradient<S>::worker(int thread) {
  return *workers_[static_cast<std::size_t>(thread)];
}

template <class S>
void BatchGradient<S>::bind(Worker& w, const Batch& batch, Index sequence, std::uint64_t step, bool evaluates) {
  ReadContext read;
  read.seed = options_.seed;
  read.step = step;
  read.sequence = static_cast<std::uint32_t>(sequence);
  read.phase = static_cast<std::uint32_t>(evaluates ? ReadPhase::embedding_evaluation : ReadPhase::embedding_training);
  read.policy = options_.reads;
  read.relaxation = {options_.phases.step, options_.phases.step};
  w.meter = {};
  w.use.clear();
  read.meter = &w.meter;
  read.use = &w.use;
  ReadContext tables = read;
  network_->clamp(batch, sequence, w.input, tables);
  read.phase = static_cast<std::uint32_t>(evaluates ? ReadPhase::evaluation : ReadPhase::training);
  w.dynamics.bind(w.input, read);
  if (w.path) w.path->bind();
  if (w.hold) w.hold->bind();
  read.phase = static_cast<std::uint32_t>(evaluates ? ReadPhase::readout_evaluation : ReadPhase::readout_training);
  w.cost->bind(batch, sequence, read);
  network_->initial_state(w.dynamics.input(), w.state);
  w.initial_gradient.setZero();
}

/// Number of rows of a drive that one evaluation asks of an array.
template <class S>
double BatchGradient<S>::rows_at_a_time() const {
  return options_.replicated ? 1.0 : static_cast<double>(network_->rows());
}

/// Multiplies the times of the phases by the slots that the busiest array needs for each of their evaluations.
template <class S>
void BatchGradient<S>::take_slots(Worker& w, SequenceReport& report) const {
  const SettleOptions& free = options_.phases.free;
  const ReadTiming nudged = euler_timing(options_.phases.step, w.dynamics.leak(), free.motion);
  const ReadTiming of_free = free.solver == SettleSolver::rk4 ? rk4_timing(free.step, w.dynamics.leak()) : nudged;
  const double rows = rows_at_a_time();
  const double of_step = w.use.slots(ReadClass::free, report.free.time / of_free.duration, rows);
  const double of_nudged = w.use.slots(ReadClass::nudged, report.nudged_time / nudged.duration, rows);
  report.free.time *= of_step;
  report.nudged_time *= of_nudged;
  w.meter.slots = std::max(of_step, of_nudged);
}

/// True for one sequence in noise_every, counted over all steps.
template <class S>
bool BatchGradient<S>::measures_noise(const Batch& batch, Index sequence, std::uint64_t step) const {
  const auto number = step * static_cast<std::uint64_t>(batch.sequences) + static_cast<std::uint64_t>(sequence);
  return options_.noise_every > 0 && number % options_.noise_every == 0;
}

template <class S>
SequenceReport BatchGradient<S>::learn(Worker& w, const Batch& batch, Index sequence, std::uint64_t step,
                                       Gradient<S>& gradient, Factors& factors, GrowthReport& growth) {
  bind(w, batch, sequence, step, false);
  const double weight = 1.0 / static_cast<double>(batch.counted());
  MapSink sink(*network_, gradient, factors, sinks_);
  Example<S> task{&w.dynamics,         w.cost.get(),           &w.state,
                  &w.initial_gradient, static_cast<S>(weight), &sink,
                  w.path.get(),        w.hold.get(),           measures_noise(batch, sequence, step)};
  if (options_.phases.sides == NudgeSides::random) {
    task.sign = random_below(2, {options_.seed, Purpose::batch_order, kSides}, step, 0, 0) == 0 ? 1 : -1;
  }
  if (memory_ != nullptr) {
    recall(w, batch, sequence);
    task.kept = &w.kept;
    task.visited = &w.visited;
  }
  if (watch_) task.watch = watch_(sequence);
  SequenceReport report = w.estimator->estimate(task);
  if (task.watch != nullptr) task.watch->end(task, *w.estimator);
  take_slots(w, report);
  if (!report.left_out && w.dynamics.input_gradient().size() > 0) {
    w.input_gradient = w.dynamics.input_gradient();
    network_->accumulate_start(w.initial_gradient, w.input_gradient);
    w.meter.at(ReadClass::correlation).operations +=
        network_->accumulate_clamp(batch, sequence, w.input_gradient, gradient, sink, w.dynamics.read());
  }
  // What every node of a feed-forward network forgets in one step cannot grow: there its residual is rounding.
  const bool coupled = network_->plan().couples_rows();
  if (options_.growth.strength > 0 && (coupled || options_.growth.samples) && !network_->circuit().feed_forward()) {
    growth = coupled ? w.growth.apply(w.dynamics, w.state, options_.phases.step, batch.sequences, sink)
                     : w.growth.apply_rows(w.dynamics, w.state, options_.phases.step, batch, sequence, sink);
    report.cost_in_forces += 3.0 + 2.0 * options_.growth.iterations + (growth.active > 0 ? 4.0 : 0.0);
  }
  w.meter.extents = w.use.extents();
  if (!correlators_) w.meter.at(ReadClass::correlation).operations += sink.operations();
  w.meter.time = 0;
  for (std::size_t kind = 0; kind < read_classes; ++kind) {
    const double evaluations = w.meter.times[kind] / options_.reads.time;
    w.meter.time += w.meter.times[kind] * w.use.slots(static_cast<ReadClass>(kind), evaluations, rows_at_a_time());
  }
  return report;
}

template <class S>
BatchReport BatchGradient<S>::compute(const Batch& batch, std::uint64_t step, Gradient<S>& gradient) {
  const BatchChunks parts(batch.sequences, options_.over_ranks);
  const Index chunks = parts.count();
  const auto shapes = network_->parameter_shapes();
  const bool alone = chunks == 1 && !options_.over_ranks;  // nothing to add up
  if (gradient.size() != static_cast<int>(shapes.size())) gradient = Gradient<S>(shapes);
  if (alone) {
    chunks_.clear();
  } else if (static_cast<Index>(chunks_.size()) != parts.mine().count()) {
    chunks_.assign(static_cast<std::size_t>(parts.mine().count()), Gradient<S>(shapes));
  }
  const bool one = chunks == 1;  // nothing to wait for, but for a map that takes it
  sinks_ = {options_.factors, !one || options_.few_factors, one};
  factors_.resize(static_cast<std::size_t>(chunks));
  for (Factors& factors : factors_) factors.assign(shapes.size(), {});
  const auto count = static_cast<std::size_t>(batch.sequences);
  Outcomes all{std::vector<SequenceReport>(count), std::vector<GrowthReport>(count), std::vector<double>(count),
               std::vector<ReadMeter>(count), std::vector<Matrix<S>>(memory_ != nullptr ? count : 0)};
  states_.resize(count);
  adjoints_.resize(count);
  parts.for_each(options_.threads, [&](Index chunk, Index k, int thread, Index begin, Index end) {
    Gradient<S>& sum = alone ? gradient : chunks_[static_cast<std::size_t>(k)];
    sum.begin();
    Factors& factors = factors_[static_cast<std::size_t>(chunk)];
    for (Index b = begin; b < end; ++b) {
      const auto at = static_cast<std::size_t>(b);
      Worker& w = worker(thread);
      all.reports[at] = learn(w, batch, b, step, sum, factors, all.growth[at]);
      all.meters[at] = w.meter;
      all.energy[at] = w.dynamics.energy(w.state).value_or(0.0);
      if (memory_ != nullptr) collect(w, all.reports[at], all.kept[at]);
      states_[at] = w.state;
      adjoints_[at] = w.estimator->adjoint();
    }
  });
  if (!alone) sum_chunks(chunks, gradient);
  if (options_.over_ranks) exchange_outcomes(chunks, all);
  add_kept(gradient);
  for (std::size_t b = 0; b < all.kept.size(); ++b) {  // in order, whoever computed them
    if (all.kept[b].size() > 0) memory_->remember(batch.samples_of(static_cast<Index>(b)), all.kept[b]);
  }
  BatchReport report =
      summarise(batch, network_->plan().couples_rows(), std::move(all.reports), all.growth, all.energy, options_.slots);
  for (const ReadMeter& meter : all.meters) report.reads += meter;
  const auto slots = static_cast<double>(options_.slots);
  report.read_time = options_.zero_time + slots * report.reads.time / static_cast<double>(count);
  if (correlators_) {
    const Index multiplied = network_->plan().couples_rows() ? batch.sequences * network_->rows() : report.rows;
    correlators_->pass(gradient, {multiplied, report.rows}, options_.nudge_distance(), step);
  }
  return report;
}

/// Sums the chunks; parameters that no chunk of any rank has met stay unwritten.
template <class S>
void BatchGradient<S>::sum_chunks(Index chunks, Gradient<S>& gradient) {
  std::vector<char> met = met_by_any<S>(chunks_, gradient.size());
  if (options_.over_ranks) any_of_ranks(met);
  for (Gradient<S>& chunk : chunks_) {
    for (int p = 0; p < gradient.size(); ++p) {
      if (met[static_cast<std::size_t>(p)] != 0) chunk.fill(p);
    }
  }
  if (options_.over_ranks) {
    sum_over_ranks<S>(chunks_, met, chunks, gradient);
  } else {
    sum_gradients<S>(chunks_, gradient, options_.threads);
  }
}

/// Adds the products of the kept factors, except those that digital matrices take: only their gradient stays unwritten.
template <class S>
void BatchGradient<S>::add_kept(Gradient<S>& gradient) {
  std::vector<std::vector<FactorPair<S>>> kept(static_cast<std::size_t>(gradient.size()));
  std::vector<char> unwritten(kept.size(), 0);
  for (int p = 0; p < gradient.size(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    const LinearMap<S>& map = network_->map(p);
    if (options_.factors && map.takes_factors()) continue;
    kept[at] = take_factors(p);
    if (!options_.few_factors || gradient.met(p) || !map.plain() || kept[at].empty()) continue;
    Index rows = 0;
    for (const FactorPair<S>& pair : kept[at]) rows += pair.x.rows();
    if (!few_rows(rows, {map.inputs(), map.outputs()})) continue;
    unwritten[at] = 1;
    factors_[0][at] = stacked(std::exchange(kept[at], {}));
  }
  add_products<S>(std::move(kept), gradient, options_.threads);
  for (int p = 0; p < gradient.size(); ++p) {
    if (unwritten[static_cast<std::size_t>(p)] == 0) gradient.fill(p);
  }
}

template <class S>
std::vector<FactorPair<S>> BatchGradient<S>::take_factors(int parameter) {
  std::vector<FactorPair<S>> all;
  for (Factors& chunk : factors_) {
    for (FactorPair<S>& pair : chunk[static_cast<std::size_t>(parameter)]) all.push_back(std::move(pair));
    chunk[static_cast<std::size_t>(parameter)].clear();
  }
  return all;
}

template <class S>
BatchReport BatchGradient<S>::evaluate(const Batch& batch, std::uint64_t step) {
  const auto count = static_cast<std::size_t>(batch.sequences);
  const OwnPart mine =
      options_.over_ranks ? own_part(batch.sequences, this_rank(), rank_count()) : OwnPart{0, batch.sequences};
  std::vector<SequenceReport> reports(count);
  outputs_.resize(count);
  parallel_for(mine.count(), options_.threads, [&](Index k, int thread) {
    const Index b = mine.begin + k;
    Worker& w = worker(thread);
    bind(w, batch, b, step, true);
    w.dynamics.begin_reads(ReadClass::free);
    SequenceReport& report = reports[static_cast<std::size_t>(b)];
    report.free = settle<S>(w.dynamics, w.state, options_.phases.free, w.settle);
    if (w.hold) hold_state<S>(w.dynamics, *w.hold, w.state, options_.phases.free.average_last);
    report.loss = w.cost->value(w.state);
    outputs_[static_cast<std::size_t>(b)] = w.cost->output();
  });
  if (options_.over_ranks) exchange_evaluations(reports);
  return summarise(batch, network_->plan().couples_rows(), std::move(reports), std::vector<GrowthReport>(count),
                   std::vector<double>(count), options_.slots);
}

NUDGE_BOTH_PRECISIONS_OF(BatchGradient)

}  // namespace nudge
