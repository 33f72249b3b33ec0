// SPDX-License-Identifier: Apache-2.0
// nudge with parts of one's own: a model of devices, a force term, a kind of network, an estimator, a cost, a task, keys and a command. Every
// command of nudge (train, gradcheck, sweep, report, ...) then knows them:
//     ./own gradcheck pendulum.toml
//     ./own train pendulum.toml --out run.h5 && ./own report run.h5
#include <algorithm>
#include <cmath>

#include "apps/commands.hpp"
#include "apps/program.hpp"
#include "apps/streams.hpp"
#include "devices/registry.hpp"
#include "devices/step_kernel.hpp"
#include "pendulum_network.hpp"
#include "sim/base/rng.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/train_options.hpp"
#include "training/data/task.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/learning/estimators/estimator_keys.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"
#include "training/learning/estimators/registry.hpp"

namespace mine {
namespace {

using namespace nudge;

// --- A model of devices: a pulse moves it by s √(1 − x), x its place in the window on the way that the pulse goes. -----------------

struct RootStep {
  template <class S>
  static S left(const Element<S>& e) {
    return std::max((e.upper - e.g) / e.width, S(0));
  }
  /// dx/dn = −(s/w) √x of the way x that is left: √x falls linearly.
  template <class S>
  S change(const Element<S>& e, Direction /*direction*/, S n) const {
    const S root = std::max(std::sqrt(left(e)) - n * e.step / (2 * e.width), S(0));
    return e.width * (left(e) - root * root);
  }
  template <class S>
  S noise(const Element<S>& e, Direction /*direction*/, S n, S sigma) const {
    return e.step * std::sqrt(left(e)) * sigma * std::sqrt(n);
  }
};

DeviceModel root_step_model() {
  DeviceModel model;
  model.name = "root_step";
  model.summary = "pulses shrink with the root of the way that is left";
  model.equation = "dg/dn = s sqrt((g_bound - g)/window)";
  model.source = "an example of examples/out_of_tree";
  model.limits = "none that was measured";
  model.not_modelled = "everything else";
  model.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> {
    return std::make_unique<RuleModel<RootStep>>(RootStep{});
  };
  return model;
}

// --- An estimator: plain EP with one phase alone, nudged by +beta. ------------------------------------------------------------------

template <class S>
std::unique_ptr<GradientEstimator<S>> make_one_phase(const EstimatorOptions& options) {
  return std::make_unique<NudgedEstimator<S>>(NudgeLaw::plain, false,
                                              sided_nodes<S>(NudgeSides::positive, options.beta), options);
}

EstimatorKind one_phase() {
  return {.name = "ep_one_phase",
          .in_float = make_one_phase<float>,
          .in_double = make_one_phase<double>,
          .nudge = Nudge::live,
          .needs = {needs::no_bath},
          .keys = estimator_section().rows_of(
              {&EstimatorOptions::beta, &EstimatorOptions::nudged_steps, &EstimatorOptions::average_nudged})};
}

// --- A cost: errors below a tolerance are none, C = Σ ½ max(|y − t| − ½, 0)². --------------------------------------------------------

class TolerantCost final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return gradient(y, target).squaredNorm() / 2;
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    const Eigen::ArrayXXd error = (y - target).array();
    return (error.sign() * (error.abs() - 0.5).max(0.0)).matrix();
  }
};

CostKind tolerant() {
  return {"tolerant", "errors below 1/2 cost nothing",
          [](const Config& /*config*/) -> std::shared_ptr<const NodeCost> { return std::make_shared<TolerantCost>(); }};
}

// --- A task: the sign of the product of two numbers, which no linear model tells. ----------------------------------------------------

class SignTask final : public Task {
 public:
  explicit SignTask(const Config& config) : batch_(train_options(config).batch), seed_(run_options(config).seed) {}

  TaskSizes sizes() const override { return {.rows = 1, .classes = 2, .features = kFeatures, .shape = {kFeatures}}; }
  Batch training(std::uint64_t step) const override { return drawn(step, batch_); }
  std::vector<Batch> validation() const override { return {drawn(kValidation, 256)}; }
  std::vector<Batch> test() const override { return {drawn(kTest, 256)}; }
  std::int64_t fingerprint() const override { return static_cast<std::int64_t>(seed_); }

 private:
  static constexpr Index kFeatures = 4;
  static constexpr std::uint64_t kValidation = std::uint64_t{1} << 40U, kTest = kValidation + 1;  // beyond all steps

  Batch drawn(std::uint64_t step, Index sequences) const {
    Batch batch;
    batch.sequences = sequences;
    batch.tokens = 1;
    batch.features.resize(sequences, kFeatures);
    fill_uniform<float>({seed_, Purpose::synthetic_data, 0}, step, 0,
                        std::span<float>(batch.features.data(), static_cast<std::size_t>(batch.features.size())));
    batch.features = (2 * batch.features.array() - 1).matrix();
    batch.features.rightCols(1).setOnes();  // a bias: pendulums alone are odd, and a product of two is even
    for (Index i = 0; i < sequences; ++i) {
      batch.targets.push_back(batch.features(i, 0) * batch.features(i, 1) > 0 ? 1 : 0);
    }
    return batch;
  }

  Index batch_;
  std::uint64_t seed_;
};

TaskKind sign_kind() {
  return {.name = "sign_of_product",
          .summary = "whether the first two of three numbers have one sign",
          .make = [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<SignTask>(config); },
          .metric = "accuracy",
          .rows = Rows::features};
}

// --- A command. ----------------------------------------------------------------------------------------------------------------------

Command pendulum_command() {
  return {"pendulum", "Print the force of a unit that hangs as a pendulum", "own pendulum",
          [](CLI::App& /*app*/) -> std::function<ExitCode()> {
            return [] {
              const double weight = pendulum_weight(standard_program_config());
              for (const double z : {0.0, 0.5, 1.0}) answer("z = {}: F = {}\n", z, -z - weight * std::sin(z));
              return ExitCode::ok;
            };
          }};
}

}  // namespace
}  // namespace mine

int main(int argc, char** argv) {
  nudge::add_device_model(mine::root_step_model());
  nudge::add_network_kind(mine::pendulum_kind());
  nudge::add_estimator(mine::one_phase());
  nudge::add_cost(mine::tolerant());
  nudge::add_task_kind(mine::sign_kind());
  nudge::add_command(mine::pendulum_command());
  return static_cast<int>(nudge::run_program(argc, argv));
}
