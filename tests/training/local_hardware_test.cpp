// SPDX-License-Identifier: Apache-2.0
// hardware.level = local: multipliers and activations that are circuits, and what it rules out.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/batch/equilibrium_layer.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/hardware.hpp"
#include "training/config/step_stages.hpp"
#include "training/config/stored_config.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/learning/correlator.hpp"
#include "training/models/hopfield/hopfield_plan.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;
using M = Matrix<double>;

namespace {

Config of(const Settings& more) {
  Settings all{"network.kind=hopfield", "task.kind=classification", "hopfield.hidden=[9]", "device.model=soft_bounds"};
  all.insert(all.end(), more.begin(), more.end());
  return parse_program_config("local", "", all);
}

/// One matrix of zeros (rows, cols) that went through multipliers.
M passed(const CorrelatorSpec& spec, double products, Index samples, double distance, std::uint64_t step,
         double before = 0, std::uint64_t seed = 1) {
  const std::vector<ParameterShape> shapes{{60, 70}};
  Gradient<double> gradient(shapes);
  gradient[0].setConstant(before);
  Correlators<double>(spec, shapes, {products}, seed).pass(gradient, {samples, samples}, distance, step);
  return gradient[0];
}

double sd(const M& m) { return std::sqrt((m.array() - m.mean()).square().mean()); }

}  // namespace

TEST_CASE("a multiplier's gain is static, its offset is divided by the nudge, its noise by the root of the batch",
          "[local]") {
  // A standard deviation of n normal numbers is known within 1/√(2n), of 4200 within 1.1 %: five of these.
  const double tolerance = 5 / std::sqrt(2 * 4200.0);
  const CorrelatorSpec gains{.gain_spread = 0.05};
  const M one = passed(gains, 1, 8, 0.2, 3, 2.0);
  CHECK(one == passed(gains, 7, 32, 0.1, 4, 2.0));  // whatever the step, the batch and the nudge
  CHECK(sd(one) == Approx(2 * 0.05).epsilon(tolerance));
  CHECK(one.mean() == Approx(2.0).margin(5 * 0.1 / std::sqrt(4200.0)));
  CHECK_FALSE(one == passed(gains, 1, 8, 0.2, 3, 2.0, 2));

  const CorrelatorSpec offsets{.offset = 1e-3};
  const M offset = passed(offsets, 1, 8, 0.2, 3);
  CHECK(sd(offset) == Approx(1e-3 / 0.2).epsilon(tolerance));
  CHECK(relative_error(M(passed(offsets, 9, 64, 0.1, 5)), M(18 * offset)) < 1e-14);  // nine products at half the nudge

  const CorrelatorSpec noise{.noise = 1e-3};
  const M fresh = passed(noise, 4, 16, 0.2, 3);
  CHECK(sd(fresh) == Approx(1e-3 * 2 / (4 * 0.2)).epsilon(tolerance));
  const M other = passed(noise, 4, 16, 0.2, 4);
  // Of independent ones the correlation has the standard deviation 1/√n.
  CHECK(std::abs(fresh.cwiseProduct(other).mean()) < 5 * sd(fresh) * sd(other) / std::sqrt(4200.0));
  CHECK(passed(noise, 0, 16, 0.2, 3).isZero());  // a parameter that learns in another way
}

TEST_CASE("the gradient of a batch goes through the multipliers, and that of a computation does not", "[local]") {
  const Settings base{"hardware.level=ideal", "precision=double",          "beta=0.1",
                      "train.batch=12",       "relaxation.free_steps=200", "relaxation.nudged_steps=200"};
  const auto gradient = [&](const std::string& estimator, const Settings& more) {
    Settings all = base;
    all.insert(all.end(), more.begin(), more.end());
    const Config config = of(all);
    const auto task = make_task(config);
    const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::configured);
    BatchGradient<double> learner(*network, gradient_options<double>(config, estimator));
    Gradient<double> g(network->parameter_shapes());
    learner.compute(task->training(0), 5, g);
    return g;
  };
  for (const std::string sides : {"centered", "positive"}) {
    CAPTURE(sides);
    const Settings setting{"nudge.sides=" + sides};
    const Gradient<double> exact = gradient("ep", setting);
    Gradient<double> noisy = gradient("ep", {"nudge.sides=" + sides, "correlator.noise=1e-3"});
    noisy.add(exact, -1);
    // β on one side or on both, twelve samples; W1 has 576 entries.
    const double expected = 1e-3 / ((sides == "centered" ? 2 : 1) * 0.1 * std::sqrt(12.0));
    CHECK(sd(noisy[0]) == Approx(expected).epsilon(5 / std::sqrt(2.0 * 576)));
  }
  Gradient<double> computed = gradient("implicit", {"correlator.noise=1e-3"});
  computed.add(gradient("implicit", {}), -1);
  CHECK(computed.norm() == 0);
}

TEST_CASE("units that differ have their own curves and limits, and the gradient is theirs", "[local]") {
  const Settings small{"hardware.level=ideal",
                       "seed=4",
                       "precision=double",
                       "train.batch=4",
                       "relaxation.free_steps=800",
                       "relaxation.nudged_steps=800",
                       "neuron.gain_spread=0.1",
                       "neuron.offset_spread=0.05",
                       "gradcheck.finite_difference_entries=6",
                       "gradcheck.estimators=['ep','ep_contrastive','aep_transposed','implicit']"};
  for (const Settings& more :
       std::initializer_list<Settings>{{"hopfield.form=energy", "hopfield.activation=tanh"},
                                       {"hopfield.form=energy", "hopfield.activation=sigmoid",
                                        "hopfield.output_activation=tanh", "hopfield.hidden=[7, 5]"},
                                       {"network.kind=convolutional", "convolutional.maps=[2]"},
                                       {}}) {
    CAPTURE(more);
    Settings all = small;
    all.insert(all.end(), more.begin(), more.end());
    const GradcheckReport report = gradcheck(of(all));
    CHECK(report.reference_converged());
    for (const auto& row : report.rows) {
      CAPTURE(row.estimator, row.group);
      // As in hopfield_kind_test.cpp.
      if (row.group == "all") CHECK(row.agreement.relative_l2 < (row.estimator == "finite_difference" ? 1e-5 : 1e-4));
    }
  }
  const Config boxed = of({"hardware.level=ideal", "neuron.gain_spread=0.1", "neuron.offset_spread=0.05"});
  const auto plan = network_plan(boxed, make_task(boxed)->sizes());
  const Node hidden = plan->nodes()[0];
  REQUIRE(hidden.units != nullptr);
  CHECK(hidden.lower_of(3) == hidden.units->offset[3]);
  CHECK(hidden.upper_of(3) == 1 + hidden.units->gain[3] + hidden.units->offset[3]);
  CHECK(plan->nodes()[1].units == nullptr);  // no box, no curve
  const auto network = make_network<double>(boxed, plan, Weights::configured);
  const CircuitDynamics<double> dynamics(network->circuit(), 1, 1);
  M z = M::Constant(1, network->cols(), 5.0);
  dynamics.box()->project(z, {0, z.cols()});
  for (Index j = 0; j < 9; ++j) CHECK(z(0, j) == hidden.upper_of(j));
}

TEST_CASE("hardware.level = local leaves nothing digital at a weight, and says what it cannot be", "[local]") {
  const Config local = of({"hardware.level=local"});
  CHECK(local.text("train.optimizer") == "sgd");
  CHECK(local.real("correlator.gain_spread") == 0.02);
  CHECK(local.real("neuron.offset_spread") == 0.01);
  CHECK(of({}).real("correlator.gain_spread") == 0);
  CHECK(ideal_parts(local).empty());
  CHECK(ideal_parts(of({"hardware.level=local", "correlator.noise=0"})) ==
        std::vector<std::string>{"correlator.noise = 0"});
  std::vector<std::string> digital;
  for (const StepStage& stage : step_stages(local, *network_plan(local, make_task(local)->sizes()))) {
    if (stage.home == StageHome::digital) digital.push_back(stage.stage);
  }
  // Tables of biases, what averages and converts, what the task says, and one number for all.
  const std::vector<std::string> allowed{"weights b1",
                                         "weights b2",
                                         "converters at the arrays",
                                         "means of the last states of a phase",
                                         "cost and its derivative",
                                         "stored point (gates, attention, derivatives of activations)",
                                         "learning rate and its schedule"};
  for (const std::string& stage : digital) {
    CAPTURE(stage);
    CHECK(std::find(allowed.begin(), allowed.end(), stage) != allowed.end());
  }
  // Pulse trains multiply at the device.
  CHECK(of({"hardware.level=local", "crossbar.update=coincidence"}).real("correlator.noise") == 0);
  CHECK_THROWS_WITH(
      of({"crossbar.update=coincidence", "train.optimizer=sgd", "train.gradient_clip=0", "correlator.noise=1e-3"}),
      Contains("must not be coincidence, whose pulses multiply at the device"));
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"train.optimizer=adam", "must be sgd where hardware.level = local"},
      {"train.momentum=0.9", "must be 0 (it is a number per weight)"},
      {"train.weight_decay=0.1", "it reads digital weights"},
      {"train.gradient_clip=1", "a norm over all weights is digital"},
      {"crossbar.update=write_verify", "must be a rule without digital numbers per weight"},
      {"estimator=implicit", "must be one that reads nudged states"},
      {"estimator=aep_npoint", "must compare two static states"},
      {"hopfield.cost=cross_entropy", "must be squared_error (a softmax is digital)"},
      {"nudge.form=oscillating", "the lock-in of an oscillating nudge is digital"},
      {"network.kind=oscillator", "its phases learn by cosines of their differences"},
      {"network.kind=thermal", "its units learn by means over samples of a bath"}};
  for (const auto& [setting, message] : refusals) {
    CAPTURE(setting);
    CHECK_THROWS_WITH(of({"hardware.level=local", setting}), Contains(message));
  }
  CHECK(hardware_section().read(stored_program_config("old.h5", "[hardware]\nlevel = \"physical\"\n")).level ==
        HardwareLevel::mixed);
}

TEST_CASE("attention by circuits that differ settles in the circuit that they make, and its gradient is of that",
          "[local]") {
  const Settings cells{"attention.products=analog", "attention.gain_spread=0.1", "attention.offset_spread=0.2"};
  GradcheckScope scope;
  scope.stability = false;
  scope.estimators = {"aep_transposed", "implicit", "implicit_dense"};
  for (const std::string kind : {"block", "stack"}) {
    CAPTURE(kind);
    const auto report = [&](const Settings& more) {
      Settings all{"device.model=soft_bounds", "relaxation.free_steps=300", "relaxation.nudged_steps=300",
                   "train.batch=2"};
      all.insert(all.end(), more.begin(), more.end());
      return gradcheck(small(kind, all), scope);
    };
    const GradcheckReport differ = report(cells), alike = report({"attention.products=analog"}), digital = report({});
    CHECK(differ.reference_converged());
    // As in circuit_reference_test.cpp; the estimator's error is of order β², 1e-10 at its 1e-5, and what rounding leaves of it.
    CHECK(differ.find("finite_difference", "all")->agreement.relative_l2 < 1e-6);
    CHECK(differ.find("implicit_dense", "all")->agreement.relative_l2 < 1e-6);
    CHECK(differ.find("aep_transposed", "all")->agreement.relative_l2 < 1e-4);
    CHECK(alike.loss == digital.loss);  // circuits without errors form the same products
    CHECK(std::abs(differ.loss - alike.loss) > 1e-6);
  }
}

TEST_CASE("every token is a product of the multipliers, and tables and read-outs learn by numbers", "[local]") {
  for (const std::string kind : {"block", "stack", "transformer", "resistive"}) {
    CAPTURE(kind);
    const auto gradient = [&](const Settings& more) {
      Settings all{"device.model=soft_bounds", "beta=0.1", "train.batch=3"};
      if (kind == "resistive")
        all.insert(all.end(), {"resistive.bias=none", "relaxation.solver=coordinate", "gradcheck.estimators=['ep']"});
      all.insert(all.end(), more.begin(), more.end());
      const Config config = small(kind, all);
      const auto task = make_task(config);
      const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::configured);
      BatchGradient<double> learner(*network,
                                    gradient_options<double>(config, of_samples(kind) ? "ep" : "aep_transposed"));
      std::pair<Gradient<double>, std::vector<double>> out{Gradient<double>(network->parameter_shapes()),
                                                           network->products()};
      learner.compute(task->training(0), 5, out.first);
      return out;
    };
    const auto [exact, products] = gradient({});
    auto [noisy, same] = gradient({"correlator.noise=1e-3"});
    noisy.add(exact, -1);
    const double rows = of_samples(kind) ? 3 : 3 * 4;  // samples, or sequences of four tokens, which all count
    int met = 0;
    for (int p = 0; p < noisy.size(); ++p) {
      CAPTURE(p);
      if (products[static_cast<std::size_t>(p)] == 0) {
        CHECK(noisy[p].isZero());
        continue;
      }
      ++met;
      // Five deviations of a standard deviation of so many entries.
      const double margin = 5 / std::sqrt(2.0 * static_cast<double>(noisy[p].size()));
      CHECK(std::abs(sd(noisy[p]) * 0.2 * std::sqrt(rows) / 1e-3 - 1) < margin);
    }
    CHECK(met >= 2);
    CHECK((of_samples(kind) || met < noisy.size()));
  }
}

TEST_CASE("a network inside another model correlates by the same multipliers", "[local]") {
  const auto pulled = [&](const Settings& more, const std::string& estimator) {
    Settings all{"device.model=soft_bounds", "beta=0.1"};
    all.insert(all.end(), more.begin(), more.end());
    const Config config = small("hopfield", all);
    const auto network = make_network<double>(config, network_plan(config, sizes_for(config)), Weights::configured);
    EquilibriumLayer<double> layer(*network, gradient_options<double>(config, estimator));
    const M x = M::Constant(4 * network->rows(), network->circuit().inputs(), 0.3);
    M u = M::Zero(x.rows(), network->cols()), x_gradient;
    u.rightCols(1).setConstant(2.0);  // rows of size 2
    Gradient<double> g;
    layer.pull_back(x, u, 3, g, x_gradient);
    return std::pair(std::move(g), x.rows());
  };
  auto [noisy, rows] = pulled({"correlator.noise=1e-3"}, "ep");
  noisy.add(pulled({}, "ep").first, -1);
  // A sum over rows of size 2 instead of a mean of size 1.
  const double expected = 2 * 1e-3 * std::sqrt(static_cast<double>(rows)) / 0.2;
  CHECK(sd(noisy[0]) == Approx(expected).epsilon(5 / std::sqrt(2.0 * static_cast<double>(noisy[0].size()))));
  auto [computed, same] = pulled({"correlator.noise=1e-3"}, "implicit");
  computed.add(pulled({}, "implicit").first, -1);
  CHECK(computed.norm() == 0);
}

TEST_CASE("what is left digital at hardware.level = local, of every kind that has it", "[local]") {
  const std::set<std::string> always{
      "converters at the arrays", "means of the last states of a phase", "cost and its derivative",
      "stored point (gates, attention, derivatives of activations)", "learning rate and its schedule"};
  const std::map<std::string, std::set<std::string>> more{
      {"block", {"weights tok", "weights pos"}},
      {"stack", {"weights tok", "weights pos"}},
      {"transformer",
       {"weights tok", "products of activations, softmax and norms in force attention_layer",
        "products of activations, softmax and norms in force feed_forward_layer"}},
      {"hopfield", {"weights b1", "weights b2"}},
      {"convolutional", {"weights b1", "weights b2", "weights b3"}},
      {"resistive", {"weights b1", "weights b2", "read-out of these states"}}};
  for (const auto& [kind, own] : more) {
    CAPTURE(kind);
    Settings all{"device.preset=ecram", "hardware.level=local", "network.kind=" + kind};
    if (of_samples(kind)) all.emplace_back("task.kind=classification");
    const Config config = parse_program_config("local", "", all);
    CHECK(ideal_parts(config).empty());
    std::set<std::string> digital, expected = always;
    expected.insert(own.begin(), own.end());
    for (const StepStage& stage : step_stages(config, *network_plan(config, make_task(config)->sizes()))) {
      if (stage.home == StageHome::digital) digital.insert(stage.stage);
    }
    CHECK(digital == expected);
  }
  const auto block = [](const Settings& settings) {
    Settings all{"device.preset=ecram", "hardware.level=local"};
    all.insert(all.end(), settings.begin(), settings.end());
    return parse_program_config("block", "", all);
  };
  CHECK(ideal_parts(block({"attention.products=digital"})) == std::vector<std::string>{"attention.products = digital"});
  CHECK_THROWS_WITH(block({"memory_bound.fraction=0.5"}), Contains("its power iteration is digital"));
  CHECK_THROWS_WITH(parse_program_config("x", "", {"device.preset=ecram", "attention.gain_spread=0.1"}),
                    Contains("attention.products = digital; analog would"));
  CHECK_THROWS_WITH(
      parse_program_config("x", "", {"device.preset=ecram", "model.mixer=mha", "attention.products=analog"}),
      Contains("model.mixer = mha; attention would"));
}

TEST_CASE("local hardware learns, by the same bits on any number of threads", "[local]") {
  const TemporaryDirectory folder;
  const auto loss = [&](const std::string& name, const Settings& more) {
    Settings all{"hardware.level=local",
                 "device.preset=ecram",
                 "hopfield.hidden=[24]",
                 "beta=0.2",
                 "train.batch=16",
                 "train.steps=150",
                 "train.learning_rate=0.3",
                 "train.warmup=5",
                 "train.evaluate_every=150",
                 "train.checkpoint_every=150",
                 "data.validation_samples=200"};
    all.insert(all.end(), more.begin(), more.end());
    return train(of(all), (folder.path() / name).string()).of("validation_loss");
  };
  const double one = loss("one.h5", {"threads=1"});
  CHECK(one == loss("two.h5", {"threads=2"}));
  const double frozen = loss("frozen.h5", {"crossbar.update=none"});
  CAPTURE(one, frozen);
  CHECK(one < 0.7 * frozen);  // it learns; by how much, docs/reference/hardware_levels.md links
}
