// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/gradcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/build_info.hpp"
#include "sim/base/product.hpp"
#include "training/batch/batch_ranks.hpp"
#include "training/check/choices.hpp"
#include "training/check/free_phase_check.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/phase_options.hpp"
#include "training/config/rounding.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/data/data_options.hpp"
#include "training/gradcheck/error_cause.hpp"
#include "training/learning/estimators/adjoint_estimators.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

/// A free phase is settled enough for plain AEP at this ‖F‖/‖z‖ (measured: docs/reference/estimators.md).
constexpr double kSettled = 1e-3;

template <class S>
class Check {
 public:
  Check(const Config& config, const GradcheckScope& scope, const std::function<void(const std::string&)>& say)
      : config_(config),
        options_(gradcheck_section().read(config)),
        scope_(scope),
        say_(say),
        parts_(circuit_parts(config)),
        programmed_(options_.weights == "programmed"),
        trained_(config, parts_.plan, "", programmed_ ? Weights::digital : Weights::configured) {}

  GradcheckReport run() {
    train();
    out_.damping = trained_.network().circuit().damping().value;
    out_.loss_unit = network().loss_unit();
    if (programmed_) program();
    out_.step = RelaxationStep(config_).of(network().circuit());
    const std::string& truth = options_.reference;
    exact_ = truth == "nominal"
                 ? exact_copy(trained_.network(), ExactSystem::device)
                 : exact_copy(network(), truth == "circuit" ? ExactSystem::circuit : ExactSystem::device);
    const double tolerance = phase_options(config_).phases.free.tolerance;
    out_.settled_at = tolerance > 0 ? tolerance : kSettled;
    const std::vector<std::string> names = scope_.estimators.empty()
                                               ? gradcheck_estimators(config_, network().rows() * network().cols())
                                               : scope_.estimators;
    batches_ = options_.batches;
    for (std::int64_t k = 0; k < batches_; ++k) {
      const Batch batch = parts_.task->training(first_step() + static_cast<std::uint64_t>(k));
      tell(fmt::format("exact adjoint, batch {} of {}", k + 1, batches_));
      const Reference reference = reference_gradient(config_, *exact_, out_.step, batch);
      out_.references.push_back(reference.facts);
      free_phase(batch, k);
      for (std::size_t e = 0; e < names.size(); ++e) estimate(names[e], e, batch, k, reference);
      if (k == 0) once(batch, reference);
      if (k == 0 && scope_.estimators.empty() && !options_.record.empty()) record(batch, names);
    }
    out_.rows.insert(out_.rows.end(), differences_.begin(), differences_.end());
    if (scope_.estimators.empty() && first_step() == 0) name_causes();
    return std::move(out_);
  }

 private:
  void tell(const std::string& what) const {
    if (say_) say_(what);
  }

  std::uint64_t first_step() const { return options_.train_steps; }

  /// Looks for what makes gradients wrong, at the weights that a run begins with.
  void name_causes() {
    constexpr double kFair = 0.99;
    for (std::size_t e = 0; e < out_.estimators.size(); ++e) {
      EstimatorFacts& one = out_.estimators[e];
      const GradcheckRow* all = out_.find(one.name, "all");
      if (all == nullptr || !(all->agreement.cosine < kFair)) continue;
      tell("what makes the gradient of " + one.name + " wrong");
      one.cause = error_cause(config_, parts_, one.name, one.beta, all->agreement.cosine);
    }
  }

  void train() {
    if (first_step() > 0) tell(fmt::format("training {} steps first", first_step()));
    if (programmed_) return take_start();
    for (std::uint64_t step = 0; step < first_step(); ++step) trained_.step(step, parts_.task->training(step));
  }

  /// Trained on exact numbers, here or for an earlier check.
  void take_start() {
    TrainedStarts own;
    const auto start = (scope_.starts != nullptr ? *scope_.starts : own).of(config_, *parts_.task);
    for (int p = 0; p < trained_.network().parameters(); ++p) {
      trained_.network().map(p).program(start->weights[static_cast<std::size_t>(p)].template cast<S>());
    }
    trained_.network().circuit().set_damping(start->damping);
  }

  /// Writes the trained weights into the configured devices and lets them age: what is then compared.
  void program() {
    write();
    if (!leaves_circuit_open(config_)) return;
    config_ = chosen_circuit<S>(config_, *device_, parts_.task->training(first_step()));
    write();
  }

  void write() {
    device_ = make_network<S>(config_, trained_.network().shared_plan(), Weights::configured);
    device_->circuit().set_damping(out_.damping);
    const double age = options_.age;
    for (int p = 0; p < device_->parameters(); ++p) {
      device_->map(p).program(trained_.network().map(p).weights());
      device_->map(p).advance_time(age, first_step());
    }
  }

  /// What is checked.
  Network<S>& network() { return device_ ? *device_ : trained_.network(); }

  /// beta 0: that of the config.
  BatchGradientOptions options_of(const std::string& estimator, double beta) const {
    BatchGradientOptions options = gradient_options<S>(config_, estimator);
    if (beta > 0) options.phases.beta = beta;
    options.growth.strength = 0;
    options.all_states = true;
    options.noise_every = 1;
    options.phases.step = options.phases.free.step = out_.step;
    options.phases.adjoint_tolerance = exact_options<S>(config_).phases.adjoint_tolerance;
    options.phases.adjoint_iterations = exact_options<S>(config_).phases.adjoint_iterations;
    return options;
  }
  BatchGradient<S> learner(const std::string& estimator, double beta) {
    return BatchGradient<S>(network(), options_of(estimator, beta));
  }

  void free_phase(const Batch& batch, std::int64_t k) {
    const BatchReport report = learner("", 0).evaluate(batch, first_step() + static_cast<std::uint64_t>(k));
    const double n = static_cast<double>(batches_);
    out_.loss += report.loss / n;
    out_.residual += report.residual / n;
    out_.residual_max = std::max(out_.residual_max, report.residual_max);
    for (const auto& one : report.sequences) settled_ += one.free.residual <= out_.settled_at ? 1 : 0;
    seen_ += batch.sequences;
    out_.settled = static_cast<double>(settled_) / static_cast<double>(seen_);
  }

  void estimate(const std::string& name, std::size_t number, const Batch& batch, std::int64_t k,
                const Reference& reference) {
    tell(fmt::format("{}, batch {} of {}", name, k + 1, batches_));
    const auto shapes = exact_->parameter_shapes();
    if (k == 0) betas_.push_back(chosen_nudge<S>(config_, network(), name, batch).beta);
    BatchGradient<S> learner = this->learner(name, betas_[number]);
    Gradient<S> gradient(shapes);
    const BatchReport report = learner.compute(batch, first_step() + static_cast<std::uint64_t>(k), gradient);
    const Gradient<double> estimated = in_double(gradient);
    std::vector<std::pair<std::string, Agreement>> found;
    for (const auto& group : exact_->groups()) {
      found.emplace_back(group.name, agreement<double>(estimated, reference.gradient, group));
    }
    found.emplace_back("all", agreement<double>(estimated, reference.gradient, equilibrium_groups(exact_->plan())));
    for (std::size_t g = 0; g < found.size(); ++g) {
      add_row(number * found.size() + g, name, found[g].first, found[g].second, report.cost_in_forces);
    }
    add_facts(name, number, report, learner);
  }

  /// Adds a batch to a row's means; one in which the group has no gradient counts only where there is no other.
  void add_row(std::size_t at, const std::string& name, const std::string& group, const Agreement& a, double cost) {
    if (at == out_.rows.size()) out_.rows.push_back({name, group, {}, 0, 0});
    GradcheckRow& row = out_.rows[at];
    row.force_evaluations += cost / static_cast<double>(batches_);
    if (!a.has_gradient) {
      if (row.counted == 0) row.agreement = a;
      return;
    }
    if (row.counted == 0) row.agreement = {};
    const double weight = 1.0 / ++row.counted;
    const auto towards = [weight](double& mean, double value) { mean += weight * (value - mean); };
    towards(row.agreement.cosine, a.cosine);
    towards(row.agreement.relative_l2, a.relative_l2);
    towards(row.agreement.sign_agreement, a.sign_agreement);
  }

  void add_facts(const std::string& name, std::size_t number, const BatchReport& report,
                 const BatchGradient<S>& learner) {
    if (number == out_.estimators.size()) out_.estimators.push_back({.name = name});
    const double n = static_cast<double>(batches_);
    EstimatorFacts& facts = out_.estimators[number];
    facts.free_residual += report.residual / n;
    facts.nudged_residual += report.nudged_residual / n;
    facts.nudge_ratio += report.nudge_ratio / n;
    facts.diverged += report.diverged;
    if (estimator_kind(name).nudge == Nudge::none) return;
    facts.beta = betas_[number];
    facts.signal += report.signal;
    facts.flipped_gates += flipped_share(learner, facts.beta) / n;
  }

  /// Of the gates (tokens, memories) of all sequences.
  double flipped_share(const BatchGradient<S>& learner, double beta) const {
    double flipped = 0;
    double gates = 0;
    for (const Gates& gates_at : exact_->plan().gates()) {
      const Matrix<double> w =
          exact_->map(gates_at.parameter).weights().middleCols(gates_at.columns.begin, gates_at.columns.count);
      const Columns node = gates_at.node;
      for (std::size_t b = 0; b < learner.states().size(); ++b) {
        const Matrix<double> u = learner.states()[b].template cast<double>().middleCols(node.begin, node.count) * w;
        const Matrix<double> change =
            beta * learner.adjoints()[b].template cast<double>().middleCols(node.begin, node.count) * w;
        flipped += static_cast<double>((change.array().abs() > u.array().abs()).count());
        gates += static_cast<double>(u.size());
      }
    }
    return gates > 0 ? flipped / gates : 0;
  }

  /// The phases of those that nudge.
  void record(const Batch& batch, const std::vector<std::string>& names) {
    tell("phases, step by step");
    std::vector<RecordedEstimator> recorded;
    for (std::size_t e = 0; e < names.size(); ++e) {
      if (estimator_kind(names[e]).correlates_states()) recorded.push_back({names[e], betas_[e]});
    }
    const auto options = [&](const RecordedEstimator& one) {
      BatchGradientOptions its = options_of(one.name, one.beta);
      its.over_ranks = false;  // every rank has it all
      its.noise_every = 0;     // a phase runs once
      return its;
    };
    out_.record = record_phases<S>(network(), batch, options_.record, recorded, first_step(), options);
  }

  void add_difference(const std::string& group, const Agreement& a, double cost) {
    differences_.push_back({"finite_difference", group, a, a.has_gradient ? 1 : 0, cost});
  }

  /// What is looked at on the first batch only.
  void once(const Batch& batch, const Reference& reference) {
    if (scope_.finite_differences && options_.finite_difference_entries > 0) {
      tell("finite differences");
      const FiniteDifferenceReport fd = compare_finite_differences(config_, *exact_, out_.step, batch);
      const auto groups = exact_->groups();
      for (std::size_t g = 0; g < fd.groups.size(); ++g) {
        add_difference(groups[g].name, fd.groups[g], fd.cost_in_forces);
      }
      if (fd.entries > 0) add_difference("all", fd.all, fd.cost_in_forces);
      out_.difference_entries = fd.entries;
      out_.difference_sequences = static_cast<int>(fd.sequences);
      out_.difference_residual = fd.residual;
      out_.difference_settled = fd.settled;
    }
    if (options_.starts > 0 && !moves_input(config_)) {
      tell("random starts");
      out_.multistability =
          measure_multistability(*exact_, batch, reference.states, out_.step, static_cast<int>(options_.starts),
                                 run_options(config_).seed, run_options(config_).threads);
    }
    const SettleOptions phase = options_of("", 0).phases.free;
    out_.equilibrium = judge_free_phase(config_, *exact_, phase, batch);
    if (moves_input(config_)) {
      out_.verdict = "none, since inputs change in time; the gradient is that of the trajectory";
      return;
    }
    if (!scope_.stability) return;
    tell("leading eigenvalues");
    out_.stability = measure_stability(*exact_, batch, reference.states, reference.report.sequences, phase,
                                       run_options(config_).seed, run_options(config_).threads);
    out_.verdict = stability_verdict(out_.stability, out_.equilibrium);
  }

  Config config_;
  GradcheckOptions options_;
  const GradcheckScope& scope_;
  const std::function<void(const std::string&)>& say_;
  RunParts parts_;
  bool programmed_;
  EquilibriumRun<S> trained_;
  std::unique_ptr<Network<S>> device_;      ///< only where trained weights are programmed
  std::unique_ptr<Network<double>> exact_;  ///< whose gradient is the truth
  std::int64_t batches_ = 1;
  Index settled_ = 0, seen_ = 0;  ///< sequences
  std::vector<double> betas_;     ///< of the estimators
  std::vector<GradcheckRow> differences_;
  GradcheckReport out_;
};

}  // namespace

bool GradcheckReport::reference_converged() const {
  return std::all_of(references.begin(), references.end(), [](const ReferenceFacts& r) { return r.converged(); });
}

double GradcheckReport::snr(const std::string& estimator) const {
  const auto at =
      std::find_if(estimators.begin(), estimators.end(), [&](const EstimatorFacts& e) { return e.name == estimator; });
  return at == estimators.end() ? std::numeric_limits<double>::quiet_NaN() : at->signal.snr();
}

bool GradcheckReport::finite() const {
  return std::all_of(rows.begin(), rows.end(), [](const GradcheckRow& row) {
    return (std::isfinite(row.agreement.cosine) || !row.agreement.has_gradient) &&
           std::isfinite(row.agreement.relative_l2);
  });
}

const GradcheckRow* GradcheckReport::find(const std::string& estimator, const std::string& group) const {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const GradcheckRow& row) {
    return row.estimator == estimator && row.group == group;
  });
  return at == rows.end() ? nullptr : &*at;
}

std::vector<std::string> gradcheck_estimators(const Config& config, Index unknowns) {
  std::vector<std::string> names;
  const auto take = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  const bool by_name = config.origin("gradcheck.estimators").layer != Layer::standard;
  for (const std::string& asked : gradcheck_section().read(config).estimators) {
    if (asked != "all") {
      if (by_name || estimator_misfit(config, asked).empty()) take(asked);
      continue;
    }
    for (const EstimatorKind& kind : estimator_kinds()) {
      const bool solvable = !kind.dense || unknowns <= most_dense_unknowns;
      if (solvable && estimator_misfit(config, kind.name).empty()) take(kind.name);
    }
  }
  if (find_estimator(own_estimator_name) != nullptr) take(own_estimator_name);
  if (estimator_misfit(config, "bptt").empty()) take("bptt");
  return names;
}

namespace {

/// Why a report is no result, with what helps of the keys that are read.
std::string gradcheck_failure(const Config& config, const GradcheckReport& report) {
  if (report.finite() && report.reference_converged()) return "";
  const std::vector<std::string> keys = advisable_keys(config);
  const auto has = [&keys](const char* key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  const std::string damping = has("model.damping") ? "model.damping" : "";
  const bool fixed = std::all_of(report.references.begin(), report.references.end(),
                                 [](const ReferenceFacts& r) { return r.settled == r.sequences; });
  if (report.finite() && !fixed && !report.stability.at_rest()) {
    const std::string mends = remedy(report.equilibrium);
    return "no fixed point was reached, so the table compares with no exact gradient" +
           (mends.empty() ? "" : ". What helps: " + mends);
  }
  if (report.finite()) {
    return fmt::format(
        "the exact adjoint did not converge everywhere, so the table compares with its best estimate. Raise "
        "gradcheck.adjoint_iterations{}, or loosen gradcheck.settle_tolerance",
        damping.empty() ? "" : " or " + damping);
  }
  std::string helps = beta_advice(config);
  if (has("relaxation.step")) helps += ", a smaller relaxation.step";
  if (!damping.empty()) helps += ", a larger " + damping;
  return fmt::format("a gradient is not finite, see the rows. What helps: {}", helps);
}

}  // namespace

GradcheckReport gradcheck(const Config& config, const GradcheckScope& scope,
                          const std::function<void(const std::string&)>& say) {
  if (scope.estimators.empty()) check_placed(config, expect_gradcheck);
  use_product_kernel(config);
  expect_as_on_rank_0("build and products", version_and_revision() + ", " + product_kernel_name());
  const bool programs = gradcheck_section().read(config).weights == "programmed";  // and chooses when it has
  const Config placed =
      programs || !leaves_circuit_open(config) ? config : chosen_circuit(config, circuit_parts(config));
  GradcheckReport report = run_options(placed).double_precision() ? Check<double>(placed, scope, say).run()
                                                                  : Check<float>(placed, scope, say).run();
  report.failure = gradcheck_failure(placed, report);
  return report;
}

}  // namespace nudge
