// SPDX-License-Identifier: Apache-2.0
#include "training/train/trainee.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "circuits/circuit_config.hpp"
#include "circuits/energy.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/check/reference_gradient.hpp"
#include "training/train/factor_norm.hpp"

namespace nudge {
namespace {

/// On exact numbers the correction path and the amplifiers are exact as well.
template <class S>
BatchGradientOptions trainee_options(const Config& config, const std::string& estimator, Weights weights) {
  BatchGradientOptions options = gradient_options<S>(config, estimator);
  if (weights == Weights::digital) {
    options.correction = {};
    options.phases.free.lag = 0;
    options.slots = 1;
  }
  return options;
}

/// Arrays that update by coincidences get the factors of their gradient and not the sum.
template <class S>
BatchGradientOptions learner_options(const Config& config, const std::string& estimator, Weights weights) {
  BatchGradientOptions options = trainee_options<S>(config, estimator, weights);
  options.factors = true;
  return options;
}

/// What the cost is a mean of, in words.
std::string cost_text(const std::string& unit, const std::string& where) {
  return unit == "nat" ? "mean cross-entropy per token or sample on the " + where
                       : "mean cost 1/2 |z - y|^2 of a sample on the " + where;
}

}  // namespace

template <class S>
Trainee<S>::Trainee(const Config& config, const std::shared_ptr<const NetworkPlan>& plan, const std::string& estimator,
                    Weights weights)
    : config_(&config),
      estimator_(estimator.empty() ? config.text("estimator") : estimator),
      network_(make_network<S>(config, plan, weights)),
      learner_(std::make_unique<BatchGradient<S>>(*network_, learner_options<S>(config, estimator, weights))),
      optimizer_(
          make_optimizer<S>(config.text("train.optimizer"), optimizer_options(config), network_->parameter_shapes())),
      guard_({config.real("train.skip_ratio"), 0.99, 10}),
      adjoint_guard_(config.real("train.leave_out_ratio")),
      hooks_(make_hooks<S>(config, *network_)),
      schedule_(schedule_of(config)),
      gradient_(network_->parameter_shapes()),
      factors_(static_cast<std::size_t>(network_->parameters())) {
  for (const auto& s : network_->parameter_shapes()) deltas_.push_back(Matrix<S>::Zero(s.rows, s.cols));
  if (config.integer("train.cosine_every") > 0) {
    BatchGradientOptions bare = trainee_options<S>(config, estimator, weights);
    bare.growth.strength = 0;
    bare_ = std::make_unique<BatchGradient<S>>(*network_, bare);
  }
}

/// The hooks set what they regulate; ε follows the damping. Returns ε.
template <class S>
double Trainee<S>::begin() {
  for (auto& hook : hooks_) hook->begin(*network_);
  const double epsilon = relaxation_step<S>(*config_, network_->circuit());
  learner_->set_step(epsilon);
  return epsilon;
}

template <class S>
void Trainee<S>::step(std::uint64_t step, const Batch& batch) {
  const double epsilon = begin();
  const auto every = static_cast<std::uint64_t>(config_->integer("train.cosine_every"));
  if (every > 0 && step % every == 0) {
    bare_->set_step(epsilon);
    measure_cosines(step, batch, epsilon);
  }
  learner_->set_adjoint_limit(adjoint_guard_.limit());
  const BatchReport report = learner_->compute(batch, step, gradient_);
  adjoint_guard_.observe(report.adjoint);
  const bool nothing_left = report.left_out == static_cast<int>(report.sequences.size());
  const double norm = nothing_left ? std::numeric_limits<double>::quiet_NaN() : whole_norm();
  const StepDecision decision = guard_.decide(norm);
  nonfinite_in_a_row_ = decision == StepDecision::reject_nonfinite ? nonfinite_in_a_row_ + 1 : 0;
  if (decision == StepDecision::accept) apply(step);
  if (decision != StepDecision::accept) {
    log_.event(step, fmt::format("{}: gradient norm {:.3g}, running mean {:.3g}, {} sequences diverged, {} left out",
                                 to_string(decision), norm, guard_.average(), report.diverged, report.left_out));
  }
  let_time_pass(step, report);
  record(step, report, norm, decision);
  for (auto& hook : hooks_) {
    const auto event = hook->observe({step, epsilon, report.residual, decision == StepDecision::accept});
    if (!event) continue;
    log_.event(step,
               fmt::format("{} {:.6g} -> {:.6g}: {}", event->quantity, event->before, event->after, event->reason));
  }
}

/// Norm of the gradient, with what maps that update by factors hold of it.
template <class S>
double Trainee<S>::whole_norm() {
  double squared = gradient_.squared_norm();
  for (int p = 0; p < network_->parameters(); ++p) {
    const LinearMap<S>& map = network_->map(p);
    if (!map.takes_factors()) continue;
    auto& factors = factors_[static_cast<std::size_t>(p)];
    factors = learner_->take_factors(p);
    squared += squared_norm<S>(factors, map.inputs(), map.outputs());
  }
  return std::sqrt(squared);
}

template <class S>
void Trainee<S>::apply(std::uint64_t step) {
  if (const double most = config_->real("train.gradient_clip"); most > 0) clip_by_norm(gradient_, most);
  const double rate = learning_rate_at(schedule_, step);
  optimizer_->step(gradient_.matrices(), rate, deltas_);
  const S decay = static_cast<S>(rate * config_->real("train.weight_decay"));
  const std::vector<Parameter> parameters = network_->plan().parameters();
  for (int p = 0; p < network_->parameters(); ++p) {
    LinearMap<S>& map = network_->map(p);
    if (decay > S(0) && parameters[static_cast<std::size_t>(p)].decays) {
      deltas_[static_cast<std::size_t>(p)] -= decay * map.weights();
    }
    if (map.takes_factors()) {
      map.apply_factors(factors_[static_cast<std::size_t>(p)], static_cast<S>(rate));
    } else {
      map.apply_update(deltas_[static_cast<std::size_t>(p)], step);
    }
  }
  for (auto& hook : hooks_) hook->updated(*network_, step);
}

/// Drift, leak and telegraph noise go on between steps; within one they stand still.
template <class S>
void Trainee<S>::let_time_pass(std::uint64_t step, const BatchReport& report) {
  const double simulated = static_cast<double>(report.passes) * (report.time + report.nudged_time + report.read_time) *
                           config_->real("circuit.time_constant");
  const double fixed = config_->real("train.step_time");
  const double seconds = fixed > 0 ? fixed : simulated;
  if (!std::isfinite(seconds)) return;  // the step diverged and is reported
  for (int p = 0; p < network_->parameters(); ++p) network_->map(p).advance_time(seconds, step);
}

template <class S>
void Trainee<S>::measure_cosines(std::uint64_t step, const Batch& batch, double epsilon) {
  Gradient<S> estimate(network_->parameter_shapes());
  bare_->compute(batch, step, estimate);
  const auto copy = exact_copy(*network_, Truth::circuit);
  BatchGradientOptions options = exact_options<double>(*config_);
  options.phases.step = options.phases.free.step = epsilon;
  Gradient<double> exact(network_->parameter_shapes());
  BatchGradient<double>(*copy, options).compute(batch, step, exact);
  const Gradient<double> estimated = in_double(estimate);
  std::vector<double> cosines, present;
  for (const auto& group : network_->groups()) {
    const Agreement a = agreement<double>(estimated, exact, group);
    cosines.push_back(a.cosine);
    present.push_back(a.has_gradient ? 1 : 0);
  }
  const Agreement all = agreement<double>(estimated, exact, equilibrium_groups(network_->plan()));
  log_.axis("train/cosine_step");
  log_.add("train/cosine_step", static_cast<double>(step), "1", "steps at which the gradient was compared");
  log_.add("train/cosine_all", all.cosine, "1",
           "cosine over all parameters of the equilibrium as one vector: every group but the read-out");
  log_.add_row(
      "train/cosine", cosines, "1",
      "cosine of the estimated gradient with the exact one of the simulated circuit, at a z* settled without fresh "
      "noise and rounding; NaN where cosine_has_gradient is 0",
      "parameter group");
  log_.add_row("train/cosine_has_gradient", present, "1",
               "0: the exact gradient of the group is zero, there is nothing to agree with", "parameter group");
}

template <class S>
void Trainee<S>::record(std::uint64_t step, const BatchReport& r, double norm, StepDecision decision) {
  log_.axis("train/step");
  const auto add = [this](const char* name, double value, const char* unit, const char* description) {
    log_.add(std::string("train/") + name, value, unit, description);
  };
  add("step", static_cast<double>(step), "1", "number of the training step");
  log_.add("train/loss", r.loss, loss_unit(), cost_text(loss_unit(), "step's batch"));
  add("residual", r.residual, "1", "mean over sequences of |F|/|z| at the end of the free phase");
  add("residual_max", r.residual_max, "1", "largest |F|/|z| of a sequence");
  add("nudged_residual", r.nudged_residual, "1", "what is left of the nudged transient, |f|/|z - z*| per tau");
  add("nudge_ratio", r.nudge_ratio, "1", "|z - z*|/|z*| of the nudged states");
  add("damping", network_->circuit().damping().value, "1", "damping c during the step");
  add("steps_used", r.steps, "1", "mean relaxation steps of the free phase");
  const double tau = config_->real("circuit.time_constant");
  add("settling_time", r.time * tau, "s", "mean simulated time of the free phase of a sequence");
  add("phase_time", (r.time + r.nudged_time + r.read_time) * tau, "s",
      "mean simulated time of a sequence: all phases, and the reads outside them (stored, anchor, correlation, ...)");
  const ReadTotals reads = r.reads.total();
  if (reads.reads > 0) {
    record_energy(reads, decision);
    for (std::size_t kind = 0; kind < read_classes; ++kind) {
      log_.add(std::string("train/reads_") + read_class_names()[kind], static_cast<double>(r.reads.of[kind].reads), "1",
               "those of the class " + std::string(read_class_names()[kind]));
    }
  }
  add("decay", r.decay, "1", "mean factor of the residual per free step");
  add("gradient_norm", norm, "1", "norm of the gradient before clipping");
  add("learning_rate", learning_rate_at(schedule_, step), "1", "learning rate");
  add("energy", r.energy, "1", "mean energy of a sequence at z* (clamp, damping and memory)");
  add("growth", r.growth, "1", "mean growth factor of the residual's direction");
  add("growth_active", r.growth_active, "1", "share of sequences on which the growth penalty acts");
  add("growth_drowned", r.growth_drowned, "1", "share of sequences whose slow mode is below the noise of the reads");
  add("diverged", r.diverged, "1", "sequences whose free or nudged phase left the finite numbers");
  add("left_out", r.left_out, "1", "sequences whose adjoint ran away (train.leave_out_ratio): not in the gradient");
  add("clipped", static_cast<double>(r.clipped), "1", "entries of the correction on which nudge.clip was active");
  add("cost_in_forces", r.cost_in_forces, "1", "work of a sequence in force evaluations");
  add("skipped", decision == StepDecision::skip_outlier ? 1 : 0, "1", "1: the step was an outlier and was skipped");
  add("nonfinite", decision == StepDecision::reject_nonfinite ? 1 : 0, "1", "1: not finite, rolled back");
}

/// What the step's reads and its digital work took, each item by itself; pulses are among the readings of the arrays.
template <class S>
void Trainee<S>::record_energy(const ReadTotals& reads, StepDecision decision) {
  ReadTotals all = reads;
  if (decision == StepDecision::accept) {
    for (int p = 0; p < network_->parameters(); ++p) {
      if (network_->map(p).takes_factors()) continue;
      all.operations += optimizer_operations(config_->text("train.optimizer")) *
                        static_cast<double>(network_->map(p).inputs() * network_->map(p).outputs());
    }
  }
  const EnergyReport energy = energy_report(all, circuit_spec(*config_));
  const auto add = [this](const char* name, double value, const char* unit, const char* description) {
    log_.add(std::string("train/") + name, value, unit, description);
  };
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  add("array_energy", energy.arrays_J, "J", "heat in the devices during all reads of the step's phases");
  add("conversion_energy", energy.conversions_J(), "J", "conversions of these reads (circuit.dac_energy, adc_energy)");
  add("amplifier_energy", energy.amplifiers_J, "J",
      "amplifiers of the sensed lines while read (circuit.amplifier_power)");
  add("driver_energy", energy.drivers_J, "J", "charging of the driven lines, C V^2 (circuit.line_capacitance)");
  add("digital_energy", energy.digital_J, "J", "digital operations (circuit.digital_energy)");
  add("reads", count(all.reads), "1", "reads of arrays, of one drive each");
  add("conversions", count(all.dac_conversions + all.adc_conversions), "1", "digital-to-analog and back");
  add("lines", count(all.driven + all.sensed), "1",
      "lines driven and sensed: conversions, if every line had a converter");
  add("amplifier_time", all.amplifier_s, "s", "sensed lines times the length of their read");
  add("driven_cells", all.cell_V2, "V^2", "devices on driven lines times the square of their voltage");
  add("digital_operations", all.operations, "1",
      "of attention, softmax, local correlations held as numbers, and the optimizer");
}

template <class S>
typename Trainee<S>::Evaluation Trainee<S>::evaluation(const std::vector<Batch>& batches, std::size_t first) {
  begin();
  Index rows = 0;
  for (const Batch& batch : batches) rows += batch.counted();
  Evaluation all;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const BatchReport report = learner_->evaluate(batches[i], first + i);
    // Each token or sample counts the same: the last batch of a part may be smaller.
    const double batches_of_it = static_cast<double>(rows) / static_cast<double>(report.rows);
    all.loss += report.loss / batches_of_it;
    all.residual += report.residual / batches_of_it;
    all.scores.add(batches[i], learner_->outputs());
  }
  return all;
}

template <class S>
void Trainee<S>::record_scores(const std::string& part, const SampleScores& scores) {
  const auto value = scores.value();
  if (!value) return;
  if (scores.confusion()) {
    log_.add("train/" + part + "_accuracy", *value, "1", "share of the " + part + " samples whose class was found");
    confusion_.insert_or_assign(part, *scores.confusion());
  } else {
    log_.add("train/" + part + "_rmse", *value, "1",
             "root mean square error of a value on the " + part + " samples, as data.value_scaling scales it");
  }
}

template <class S>
void Trainee<S>::evaluate(std::uint64_t done, const std::vector<Batch>& batches) {
  const Evaluation all = evaluation(batches, 0);
  log_.axis("train/validation_step");
  log_.add("train/validation_step", static_cast<double>(done), "1", "training steps done at the evaluation");
  log_.add("train/validation_loss", all.loss, loss_unit(), cost_text(loss_unit(), "validation part"));
  log_.add("train/validation_residual", all.residual, "1", "mean |F|/|z| on the validation part");
  record_scores("validation", all.scores);
  record_statistics();
}

template <class S>
void Trainee<S>::evaluate_test(std::uint64_t done, const std::vector<Batch>& batches, std::size_t first) {
  const Evaluation all = evaluation(batches, first);
  log_.axis("train/test_step");
  log_.add("train/test_step", static_cast<double>(done), "1", "training steps done at the evaluation: all");
  log_.add("train/test_loss", all.loss, loss_unit(), cost_text(loss_unit(), "test part, which no choice has seen"));
  record_scores("test", all.scores);
}

template <class S>
void Trainee<S>::record_statistics() {
  for (const auto& group : network_->groups()) {
    const auto w = network_->map(group.parameter)
                       .weights()
                       .middleCols(group.columns.begin, group.columns.count)
                       .template cast<double>();
    const double mean = w.mean();
    const std::string at = "weights/" + group.name + "/";
    log_.add(at + "mean", mean, "1", "mean of the weights at each evaluation");
    log_.add(at + "std", std::sqrt((w.array() - mean).square().mean()), "1", "standard deviation of the weights");
    log_.add(at + "min", w.minCoeff(), "1", "smallest weight");
    log_.add(at + "max", w.maxCoeff(), "1", "largest weight");
  }
  const auto names = network_->parameter_names();
  for (int p = 0; p < network_->parameters(); ++p) {
    for (const MapReading& reading : network_->map(p).readings()) {
      log_.add("device/" + names[static_cast<std::size_t>(p)] + "/" + reading.name, reading.value, reading.unit,
               reading.description);
    }
  }
}

/// Every array that the next step depends on, with names that are unique in a trainee.
template <class S>
std::vector<StateArray<S>> Trainee<S>::arrays() {
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
  return all;
}

template <class S>
std::vector<ScalarState> Trainee<S>::scalars() {
  std::vector<ScalarState> all;
  for (auto& s : guard_.state()) all.push_back({"guard_" + s.name, s.unit, s.description, s.value});
  for (auto& s : adjoint_guard_.state()) all.push_back({"adjoint_" + s.name, s.unit, s.description, s.value});
  for (auto& hook : hooks_) {
    for (auto& s : hook->scalars()) all.push_back(s);
  }
  all.push_back({"nonfinite_in_a_row", "1", "steps in a row that were not finite", &nonfinite_in_a_row_});
  return all;
}

template <class S>
void Trainee<S>::write(H5Document& document, const std::string& prefix) {
  log_.write(document, prefix);
  document.attribute("estimator", estimator_, prefix + "train");
  for (const auto& [part, matrix] : confusion_) matrix.write(prefix + "confusion/" + part, document);
  std::vector<std::string> names;
  for (const auto& group : network_->groups()) {
    const auto& w = network_->map(group.parameter).weights();
    document.matrix<S>(prefix + "parameters/" + group.name, w.middleCols(group.columns.begin, group.columns.count),
                       {"1", "weights that a noise-free read uses", {"input", "output"}});
    names.push_back(group.name);
  }
  if (bare_) document.column(prefix + "train/cosine_groups", names, {"1", "names of the parameter groups", {"group"}});
  for (const auto& array : arrays()) {
    document.matrix<S>(prefix + "checkpoint/" + array.name, *array.values, {array.unit, array.description, {}});
  }
  for (const auto& scalar : scalars()) {
    document.column(prefix + "checkpoint/" + scalar.name, std::vector<double>{*scalar.value},
                    {scalar.unit, scalar.description, {}});
  }
}

template <class S>
void Trainee<S>::restore(const H5Reader& file, const std::string& prefix) {
  log_.restore(file, prefix);
  for (const std::string part : {"validation", "test"}) {
    if (const auto matrix = ConfusionMatrix::read(prefix + "confusion/" + part, file)) confusion_[part] = *matrix;
  }
  for (auto& array : arrays()) {
    const H5Shape expected{array.values->rows(), array.values->cols()};
    *array.values = file.matrix<S>(prefix + "checkpoint/" + array.name, expected, NonFinite::rejected);
  }
  for (auto& scalar : scalars())
    *scalar.value = file.reals<double>(prefix + "checkpoint/" + scalar.name, H5Shape{1})[0];
  for (int p = 0; p < network_->parameters(); ++p) network_->map(p).state_restored();
}

template class Trainee<float>;
template class Trainee<double>;

}  // namespace nudge
