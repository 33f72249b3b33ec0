// SPDX-License-Identifier: Apache-2.0
#include "training/train/equilibrium_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "circuits/circuit_spec.hpp"
#include "sim/base/interrupts.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/stability.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/data/data_options.hpp"
#include "training/learning/factor_products.hpp"
#include "training/models/layer_rates.hpp"
#include "training/train/equilibrium_verdict.hpp"
#include "training/train/noise_gradient.hpp"

namespace nudge {
namespace {

/// First step at which a forecast may be made anew.
constexpr std::uint64_t kForecastAgain = 50;

/// Makes the options of a run; on exact numbers the correction path and the amplifiers are exact as well.
template <class S>
BatchGradientOptions run_gradient_options(const Config& config, const std::string& estimator, Weights weights) {
  BatchGradientOptions options = gradient_options<S>(config, estimator);
  if (weights == Weights::digital) {
    options.correction = {};
    options.correlator = {};
    leave_out_amplifiers(options.phases.free);
    options.slots = 1;
  }
  return options;
}

/// Makes the options of a learning run. Arrays that update by coincidences get the factors of their gradient
/// instead of the sum. So do numbers where a step is the gradient times a number.
template <class S>
BatchGradientOptions learner_options(const Config& config, const std::string& estimator, Weights weights,
                                     const Optimizer<S>& optimizer) {
  BatchGradientOptions options = run_gradient_options<S>(config, estimator, weights);
  const TrainOptions train = train_options(config);
  options.factors = true;
  options.few_factors = !options.correlator.on() && optimizer.factor(1).has_value() && train.weight_decay == 0 &&
                        train.learns != noise_gradient_name;
  return options;
}

}  // namespace

template <class S>
EquilibriumRun<S>::EquilibriumRun(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                  const std::string& estimator, Weights weights)
    : LearningRun(run_options(config).log_rows),
      config_(config),
      options_(train_options(config)),
      step_(config),
      estimator_(estimator.empty() ? run_options(config).estimator : estimator),
      network_(make_network<S>(config, plan, weights)),
      optimizer_(make_optimizer<S>(options_.optimizer, options_.rule, network_->parameter_shapes())),
      learner_(
          std::make_unique<BatchGradient<S>>(*network_, learner_options<S>(config, estimator, weights, *optimizer_))),
      guard_({options_.skip_ratio, 0.99, 10}),
      adjoint_guard_(options_.leave_out_ratio),
      phase_(run_gradient_options<S>(config, estimator, weights).phases.free),
      noise_(config, *plan),
      hooks_(make_hooks<S>(config, *network_)),
      gradient_(network_->parameter_shapes()),
      factors_(static_cast<std::size_t>(network_->parameters())),
      conductances_(static_cast<std::size_t>(network_->parameters())) {
  if (learner_->keeps() > 0) {
    memory_ = std::make_unique<SampleMemory<S>>(learner_->keeps());
    learner_->keep_in(memory_.get());
  }
  if (const Index kept = learner_->parameter_matrices(); kept > 0)
    parameters_ = std::make_unique<ParameterMemory<S>>(network_->parameter_shapes(), kept);
  for (int p = 0; p < network_->parameters(); ++p) conductances_[static_cast<std::size_t>(p)].begin(network_->map(p));
  rates_ = layer_rates(config, plan->parameters());
  for (const auto& s : network_->parameter_shapes()) deltas_.push_back(Matrix<S>::Zero(s.rows, s.cols));
  bare_options_ = run_gradient_options<S>(config, estimator, weights);
  bare_options_.growth.strength = 0;
}

/// Lets the hooks set what they regulate; ε follows the damping. Returns ε.
template <class S>
double EquilibriumRun<S>::begin() {
  for (auto& hook : hooks_) hook->begin(*network_);
  const double epsilon = step_.of(network_->circuit());
  learner_->set_step(epsilon);
  phase_.step = epsilon;
  return epsilon;
}

/// Runs the phases of a step and computes its gradient, with the weights of hardware-aware training.
template <class S>
BatchReport EquilibriumRun<S>::measure(std::uint64_t step, const Batch& batch) {
  const NoisyWeights<S> noisy(noise_, *network_, step);
  noise_share_ = noisy.share();
  return learner_->compute(batch, step, gradient_);
}

template <class S>
void EquilibriumRun<S>::step(std::uint64_t step, const Batch& batch) {
  const double epsilon = begin();
  const std::uint64_t every = options_.cosine_every;
  const bool compares = every > 0 && step % every == 0;
  // A forecast is as old as its weights: it is made anew where the free phase is judged, but for the first steps.
  // What an estimator keeps of samples would be missing.
  const bool renews = step >= kForecastAgain && is_judged(step, options_.rate.steps) && memory_ == nullptr &&
                      !log_.values("train/forecast_cosine").empty();
  std::optional<Cosines> cosines;
  if (compares || renews) cosines = measure_cosines(step, batch, epsilon);
  learner_->set_adjoint_limit(adjoint_guard_.limit());
  const BatchReport report = measure(step, batch);
  const Interruptible kept(false);  // what follows changes what the next step depends on
  if (compares) record_cosines(step, *cosines);
  if (renews) expect_cosine(step, cosines->all);
  if (options_.margin_every > 0 && !moves_input(config_) && step % options_.margin_every == 0)
    record_margin(step, batch, report.sequences, epsilon);
  judge(step, batch);
  adjoint_guard_.observe(report.adjoint);
  // Where every sequence is left out the growth penalty is all there is, and what brings an equilibrium back.
  const bool nothing_left = report.left_out == static_cast<int>(report.sequences.size()) && report.growth_active == 0;
  const GradientNorms norms = gradient_norms();
  const double norm = nothing_left ? std::numeric_limits<double>::quiet_NaN() : norms.all;
  const StepDecision decision = guard_.decide(norm);
  nonfinite_in_a_row_ = decision == StepDecision::reject_nonfinite ? nonfinite_in_a_row_ + 1 : 0;
  if (decision == StepDecision::accept) apply(step, norms);
  if (decision != StepDecision::accept) {
    log_.event(step, fmt::format("{}: gradient norm {}, running mean {:.3g}, {} sequences diverged, {} left out",
                                 to_string(decision), std::isfinite(norm) ? fmt::format("{:.3g}", norm) : "not finite",
                                 guard_.average(), report.diverged, report.left_out));
  }
  note_unsolved(step, batch, report);
  let_time_pass(step, report);
  record(step, report, norm, decision);
  for (auto& hook : hooks_) {
    const auto event = hook->observe({step, epsilon, report.residual, decision == StepDecision::accept});
    if (!event) continue;
    log_.event(step,
               fmt::format("{} {:.6g} -> {:.6g}: {}", event->quantity, event->before, event->after, event->reason));
  }
}

/// Norms of the gradient, including the factors held by maps that update by them.
template <class S>
typename EquilibriumRun<S>::GradientNorms EquilibriumRun<S>::gradient_norms() {
  double numbers = gradient_.squared_norm(), arrays = 0;
  for (int p = 0; p < network_->parameters(); ++p) {
    const LinearMap<S>& map = network_->map(p);
    auto& factors = factors_[static_cast<std::size_t>(p)];
    factors = learner_->take_factors(p);
    (map.takes_factors() ? arrays : numbers) += squared_norm<S>(factors, map.inputs(), map.outputs());
  }
  return {std::sqrt(numbers + arrays), std::sqrt(numbers)};
}

template <class S>
void EquilibriumRun<S>::apply(std::uint64_t step, const GradientNorms& norms) {
  if (parameters_) learner_->finish(*parameters_, gradient_);
  const NodeReadout readout = network_->plan().readout();
  if (options_.learns == noise_gradient_name)
    replace_by_noise<S>({options_.rule.seed, step, readout}, gradient_, factors_);
  const double clip = clip_factor(parameters_ ? gradient_.norm() : norms.clipped, options_.gradient_clip);
  const double rate = learning_rate_at(options_.rate, step);
  const S schedule = options_.rate.learning_rate > 0 ? static_cast<S>(rate / options_.rate.learning_rate) : S(0);
  const S decay = static_cast<S>(rate * options_.weight_decay);
  const std::optional<S> factor = decay > S(0) ? std::nullopt : optimizer_->factor(clip * rate);
  if (!factor) {
    if (clip < 1) gradient_.scale(static_cast<S>(clip));
    optimizer_->step(gradient_.matrices(), rate, deltas_);
  }
  const std::vector<Parameter> parameters = network_->plan().parameters();
  for (int p = 0; p < network_->parameters(); ++p) {
    if (options_.learns == "readout" && p != readout.parameter && p != readout.bias) continue;
    LinearMap<S>& map = network_->map(p);
    const S own = static_cast<S>(rates_[static_cast<std::size_t>(p)]);
    if (decay > S(0) && parameters[static_cast<std::size_t>(p)].decays) {
      deltas_[static_cast<std::size_t>(p)] -= decay * map.weights();
    }
    const auto& factors = factors_[static_cast<std::size_t>(p)];
    if (map.takes_factors()) {
      map.apply({.factors = factors, .scale = -own * static_cast<S>(rate), .schedule = schedule});
    } else if (!factors.empty()) {
      map.apply_factors(factors, own * static_cast<S>(clip * rate));
    } else if (factor) {
      map.apply({.direction = &gradient_[p], .scale = own * *factor, .schedule = schedule});
    } else {
      map.apply({.direction = &deltas_[static_cast<std::size_t>(p)], .scale = own, .schedule = schedule});
    }
  }
  for (auto& hook : hooks_) hook->updated(*network_, step);
}

/// Lets time pass between steps for drift, leak, telegraph noise and read disturb; within a step they stand still.
template <class S>
void EquilibriumRun<S>::let_time_pass(std::uint64_t step, const BatchReport& report) {
  const double simulated = static_cast<double>(report.passes) * (report.time + report.nudged_time + report.read_time) *
                           circuit_spec(config_).time_constant_s;
  const bool lost = !std::isfinite(simulated);  // the step diverged and is reported
  if (lost && options_.step_time <= 0) return;
  const Elapsed time(options_.step_time > 0 ? options_.step_time : simulated, lost ? 0 : simulated);
  for (int p = 0; p < network_->parameters(); ++p) network_->map(p).advance_time(time, step);
}

template <class S>
typename EquilibriumRun<S>::Cosines EquilibriumRun<S>::measure_cosines(std::uint64_t step, const Batch& batch,
                                                                       double epsilon) {
  Gradient<S> estimate(network_->parameter_shapes());
  if (!bare_) bare_ = std::make_unique<BatchGradient<S>>(*network_, bare_options_);
  bare_->set_step(epsilon);
  bare_->compute(batch, step, estimate);
  const auto copy = exact_copy(*network_, ExactSystem::circuit);
  BatchGradientOptions options = exact_options<double>(config_);
  options.phases.step = options.phases.free.step = epsilon;
  const Gradient<double> exact = exact_gradient(*copy, options, batch, step).gradient;
  const Gradient<double> estimated = in_double(estimate);
  Cosines cosines;
  for (const auto& group : network_->groups()) {
    const Agreement a = agreement<double>(estimated, exact, group);
    cosines.of.push_back(a.cosine);
    cosines.present.push_back(a.has_gradient ? 1 : 0);
  }
  cosines.all = agreement<double>(estimated, exact, equilibrium_groups(network_->plan())).cosine;
  return cosines;
}

template <class S>
void EquilibriumRun<S>::record_cosines(std::uint64_t step, const Cosines& cosines) {
  log_.axis("train/cosine_step");
  log_.add("train/cosine_step", static_cast<double>(step), "1", "steps at which the gradient was compared");
  log_.add("train/cosine_all", cosines.all, "1",
           "cosine over all parameters of the equilibrium as one vector: every group but the read-out");
  log_.add_row(
      "train/cosine", cosines.of, "1",
      "cosine of the estimated gradient with the exact one of the simulated circuit, at a z* settled without fresh "
      "noise and rounding; NaN where cosine_has_gradient is 0",
      "parameter group");
  log_.add_row("train/cosine_has_gradient", cosines.present, "1",
               "0: the exact gradient of the group is zero, so there is no cosine", "parameter group");
}

/// State arrays that the next step depends on, with names that are unique in a run.
template <class S>
std::vector<StateArray<S>> EquilibriumRun<S>::arrays() {
  std::vector<StateArray<S>> all;
  const auto take = [&all](const std::string& prefix, std::vector<StateArray<S>> part) {
    for (auto& array : part) {
      array.name = prefix + "/" + array.name;
      all.push_back(std::move(array));
    }
  };
  const auto names = network_->parameter_names();
  for (int p = 0; p < network_->parameters(); ++p)
    take("maps/" + names[static_cast<std::size_t>(p)], network_->map(p).state());
  take("optimizer", optimizer_->state());
  for (auto& hook : hooks_) take("hooks", hook->arrays());
  if (memory_) take("samples", memory_->arrays());
  if (parameters_) take("estimator", parameters_->arrays(names));
  return all;
}

template <class S>
std::vector<ScalarState> EquilibriumRun<S>::scalars() {
  std::vector<ScalarState> all;
  for (auto& s : guard_.state()) all.push_back({"guard_" + s.name, s.unit, s.description, s.value});
  for (auto& s : adjoint_guard_.state()) all.push_back({"adjoint_" + s.name, s.unit, s.description, s.value});
  for (auto& hook : hooks_) {
    for (auto& s : hook->scalars()) all.push_back(s);
  }
  if (options_.margin_every > 0)
    all.push_back({"alarmed", "1",
                   "0; 1: the margin fell towards what is too small at the last look; 2: it was too small", &alarmed_});
  all.push_back({"nonfinite_in_a_row", "1", "steps in a row that were not finite", &nonfinite_in_a_row_});
  return all;
}

template <class S>
void EquilibriumRun<S>::write(H5Document& document, const std::string& prefix) {
  write_log(document, prefix, loss_unit());
  document.attribute("estimator", estimator_, prefix + "train");
  document.attribute("network", std::string(network_->plan().kind()), prefix + "train");
  document.attribute("weights", static_cast<std::int64_t>(weights()), prefix + "train");
  const auto parameters = network_->plan().parameters();
  for (int p = 0; p < network_->parameters(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    conductances_[at].write(document, prefix + "conductance/" + parameters[at].name, network_->map(p));
  }
  std::vector<std::string> names;
  for (const auto& group : network_->groups()) {
    const auto& w = network_->map(group.parameter).weights();
    document.matrix<S>(prefix + "parameters/" + group.name, w.middleCols(group.columns.begin, group.columns.count),
                       {"1", "weights that a noise-free read uses", {"input", "output"}});
    const bool held = parameters[static_cast<std::size_t>(group.parameter)].on_devices;
    document.attribute("role", std::string(held ? "array" : "table"), prefix + "parameters/" + group.name);
    names.push_back(group.name);
  }
  if (options_.cosine_every > 0)
    document.column(prefix + "train/cosine_groups", names, {"1", "names of the parameter groups", {"group"}});
  for (const auto& array : arrays()) {
    document.matrix<S>(prefix + "checkpoint/" + array.name, *array.values, {array.unit, array.description, {}});
  }
  for (const auto& scalar : scalars()) {
    document.column(prefix + "checkpoint/" + scalar.name, std::vector<double>{*scalar.value},
                    {scalar.unit, scalar.description, {}});
  }
}

template <class S>
void EquilibriumRun<S>::restore(const H5Reader& file, const std::string& prefix) {
  restore_log(file, prefix);
  if (memory_) memory_->resize(static_cast<Index>(file.shape(prefix + "checkpoint/samples/visits").front()));
  for (auto& array : arrays()) {
    const H5Shape expected{array.values->rows(), array.values->cols()};
    *array.values = file.matrix<S>(prefix + "checkpoint/" + array.name, expected, NonFinite::rejected);
  }
  for (auto& scalar : scalars())
    *scalar.value = file.reals<double>(prefix + "checkpoint/" + scalar.name, H5Shape{1})[0];
  const auto map_names = network_->parameter_names();
  for (int p = 0; p < network_->parameters(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    network_->map(p).state_restored();
    conductances_[at].restore(file, prefix + "conductance/" + map_names[at]);
  }
  // The final values are not needed to go on, but whoever reads the file next does: damage to them is to be noticed.
  for (const auto& group : network_->groups()) {
    const H5Shape expected{network_->map(group.parameter).inputs(), group.columns.count};
    file.matrix<S>(prefix + "parameters/" + group.name, expected, NonFinite::allowed);
  }
}

NUDGE_BOTH_PRECISIONS_OF(EquilibriumRun)

std::unique_ptr<LearningRun> make_equilibrium_run(const Config& config, const std::shared_ptr<const NetworkPlan>& plan,
                                                  const std::string& estimator, Weights weights) {
  if (run_options(config).double_precision()) {
    return std::make_unique<EquilibriumRun<double>>(config, plan, estimator, weights);
  }
  return std::make_unique<EquilibriumRun<float>>(config, plan, estimator, weights);
}

}  // namespace nudge
