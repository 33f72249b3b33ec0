// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "training/config/phase_options.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/learning/controller.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

template <class S>
class DampingHook final : public StepHook<S> {
 public:
  explicit DampingHook(const DampingOptions& options) : controller_(options) {}

  void begin(Network<S>& network) override { network.circuit().set_damping(controller_.value()); }
  std::optional<ControlEvent> observe(const StepFacts& facts) override {
    return controller_.observe({facts.step, facts.epsilon * facts.residual, !facts.accepted});
  }
  std::vector<ScalarState> scalars() override {
    std::vector<ScalarState> all = controller_.state();
    for (ScalarState& one : all) one.name = "damping_" + one.name;
    return all;
  }

 private:
  DampingController controller_;
};

template <class S>
class MemoryHook final : public StepHook<S> {
 public:
  MemoryHook(const WeightBound& bound, std::string name, const MemoryBoundOptions& options, std::uint64_t seed,
             Index channels)
      : bound_(bound),
        name_(std::move(name)),
        memory_(channels, options, seed, bound.returns >= 0 ? bound.memory.count : 0) {}

  void updated(Network<S>& network, std::uint64_t /*step*/) override {
    LinearMap<S>& input = network.map(bound_.parameter);
    const Damping& damping = network.circuit().damping();
    const auto w_m = input.weights().middleCols(bound_.memory.begin, bound_.memory.count);
    LinearMap<S>* back = bound_.returns < 0 ? nullptr : &network.map(bound_.returns);
    const MemoryBoundResult result =
        memory_.measure(w_m, back ? &back->weights() : nullptr, damping.gain, damping.value);
    if (!result.bound) return;
    delta_.setZero(input.inputs(), input.outputs());
    delta_.middleCols(bound_.memory.begin, bound_.memory.count) = static_cast<S>(result.scale - 1) * w_m;
    input.apply({.direction = &delta_, .kind = UpdateKind::immediate});
    if (!back) return;
    const Matrix<S> shrunk = back->weights();
    back->apply({.direction = &shrunk, .scale = static_cast<S>(result.scale - 1), .kind = UpdateKind::immediate});
  }

  std::vector<StateArray<S>> arrays() override {
    std::vector<StateArray<S>> all = memory_.state();
    for (StateArray<S>& one : all) one.name = name_ + "/" + one.name;
    return all;
  }

 private:
  WeightBound bound_;
  std::string name_;
  MemoryBound<S> memory_;
  Matrix<S> delta_;
};

/// Counts the phases of a training step, one after the other: of every sample its free phase and those that its
/// estimator nudges. A twin has the first nudged phase beside the free one.
double phases_of_step(const Config& config) {
  const EstimatorKind* kind = find_estimator(run_options(config).estimator);
  double phases = 1;
  if (kind != nullptr && kind->nudge != Nudge::none) {
    const bool both =
        find_row(kind->keys, "nudge.sides") != nullptr && phase_options(config).phases.sides == NudgeSides::centered;
    phases += both ? 2 : 1;
    if (netlist_section().read(config).twin_mismatch > 0) phases -= 1;
  }
  return phases * static_cast<double>(train_section().read(config).batch);
}

/// Hook for the share of parameters that leaks away between one update and the next (Parameter::leak).
template <class S>
class LeakHook final : public StepHook<S> {
 public:
  explicit LeakHook(std::vector<std::pair<int, double>> leaks) : leaks_(std::move(leaks)) {}
  void updated(Network<S>& network, std::uint64_t /*step*/) override {
    for (const auto& [parameter, leak] : leaks_) {
      LinearMap<S>& map = network.map(parameter);
      const Matrix<S> stored = map.weights();
      map.apply({.direction = &stored, .scale = static_cast<S>(-leak), .kind = UpdateKind::immediate});
    }
  }

 private:
  std::vector<std::pair<int, double>> leaks_;
};

}  // namespace

template <class S>
std::vector<std::unique_ptr<StepHook<S>>> make_hooks(const Config& config, const Network<S>& network) {
  std::vector<std::unique_ptr<StepHook<S>>> hooks;
  const std::vector<Node>& nodes = network.circuit().nodes();
  const bool damped = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.damped; });
  StabiliserOptions options = stabiliser_section().read(config);
  if (damped && options.control) {
    options.damping.initial = network.circuit().damping().value;
    hooks.push_back(std::make_unique<DampingHook<S>>(options.damping));
  }
  std::vector<std::pair<int, double>> leaks;
  const std::vector<Parameter> parameters = network.plan().parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    double leak = parameters[p].leak;
    if (parameters[p].leak_periods > 0) leak = -std::expm1(-phases_of_step(config) / parameters[p].leak_periods);
    if (leak > 0) leaks.emplace_back(static_cast<int>(p), leak);
  }
  if (!leaks.empty()) hooks.push_back(std::make_unique<LeakHook<S>>(std::move(leaks)));
  if (options.memory.fraction <= 0) return hooks;
  const std::vector<WeightBound> bounds = network.plan().bounds();
  for (const WeightBound& bound : bounds) {
    const std::string name = bounds.size() == 1 ? "memory_bound" : fmt::format("memory_bound_{}", bound.parameter);
    hooks.push_back(std::make_unique<MemoryHook<S>>(bound, name, options.memory, run_options(config).seed,
                                                    network.map(bound.parameter).inputs()));
  }
  return hooks;
}

template std::vector<std::unique_ptr<StepHook<float>>> make_hooks<float>(const Config&, const Network<float>&);
template std::vector<std::unique_ptr<StepHook<double>>> make_hooks<double>(const Config&, const Network<double>&);

}  // namespace nudge
