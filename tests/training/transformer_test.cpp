// SPDX-License-Identifier: Apache-2.0
// The layered transformer: settled by a sweep, and trained as backprop trains it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/study_model.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kSmall =
    "[network]\nkind = 'transformer'\n[transformer]\nlayers = 2\nloops = 2\n[model]\nchannels = 8\ntokens = 6\n"
    "memories = 16\nheads = 2\n[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 1\nnudged_steps = "
    "1\n[train]\n"
    "steps = 12\nbatch = 3\nwarmup = 2\nskip_ratio = 0\nweight_decay = 0.1\nevaluation_batches = 2\ntest_batches = 2\n";

Config small(const std::vector<std::string>& settings = {}) {
  return parse_program_config("transformer.toml", kSmall, settings);
}

constexpr Index kVocabulary = 9;

/// A gradient of the small network on one batch.
Gradient<double> gradient_of(const Config& config, const std::string& estimator) {
  const auto network =
      make_network<double>(config, network_plan(config, character_sizes(config, kVocabulary)), Weights::digital);
  ModelShape shape;
  shape.vocabulary = kVocabulary;
  shape.tokens = network->rows();
  BatchGradient<double> learner(*network, gradient_options<double>(config, estimator));
  Gradient<double> gradient(network->parameter_shapes());
  learner.compute(random_batch(shape, 3, 1), 0, gradient);
  return gradient;
}

double difference(const Gradient<double>& a, const Gradient<double>& b) {
  Gradient<double> d = a;
  d.add(b, -1.0);
  return d.norm() / b.norm();
}

constexpr double kRounding = 50 * std::numeric_limits<double>::epsilon();  // eight layers, each a few roundings

}  // namespace

TEST_CASE("transformer: n unit steps, or one sweep, leave no residual", "[transformer]") {
  const Config config = small({"precision=double"});
  const auto network =
      make_network<double>(config, network_plan(config, character_sizes(config, kVocabulary)), Weights::digital);
  CircuitDynamics<double> dynamics(network->circuit(), network->rows(), 1);
  const Matrix<double> x = random_matrix<double>(network->rows(), 8, 1);
  dynamics.bind(x, ReadContext{});
  REQUIRE(dynamics.traits().feed_forward);
  REQUIRE(dynamics.nodes() == 8);
  SettleWorkspace<double> scratch;
  SettleOptions options;
  options.step = 1.0;
  Matrix<double> parallel(network->rows(), network->cols()), swept(parallel);
  network->initial_state(x, parallel);
  swept = parallel;
  options.max_steps = 7;
  CHECK(settle<double>(dynamics, parallel, options, scratch).residual > 1e-3);  // one node is still on its way
  options.max_steps = 1;
  CHECK(settle<double>(dynamics, parallel, options, scratch).residual < kRounding);
  options.schedule = RelaxationSchedule::sweep;
  const SettleResult result = settle<double>(dynamics, swept, options, scratch);
  CHECK(result.residual < kRounding);
  CHECK(relative_error(swept, parallel) < kRounding);
  CHECK(result.time == Approx(8 * euler_timing(1.0, 1.0).duration));  // the nodes settle one after the other
}

TEST_CASE("transformer: the transposed nudge is backpropagation", "[transformer]") {
  const Gradient<double> exact = gradient_of(small(), "implicit");
  const Gradient<double> backprop = gradient_of(small(), "bptt");
  CHECK(difference(backprop, exact) < kRounding);
  const Gradient<double> unrolled = gradient_of(
      small({"relaxation.schedule=parallel", "relaxation.free_steps=8", "relaxation.nudged_steps=8"}), "bptt");
  CHECK(difference(unrolled, exact) < kRounding);
  CHECK(difference(gradient_of(small(), "linear_adjoint"), exact) < kRounding);
  // Frozen, the nudge is linear in β: exact at any β, up to the rounding of z over the size of the nudge.
  for (const char* beta : {"beta=0.1", "beta=1", "beta=1000"}) {
    CAPTURE(beta);
    const Config frozen = small({beta, "nudge.cost_current=frozen"});
    CHECK(difference(gradient_of(frozen, "aep_transposed"), exact) < 1e-12);
    const Config one_sided = small({beta, "nudge.cost_current=frozen", "nudge.sides=positive"});
    CHECK(difference(gradient_of(one_sided, "aep_transposed"), exact) < 1e-12);
  }
  // Live: of second order in β, and settled by as many sweeps as the current needs rounds.
  const auto live = [&](const char* beta) {
    return difference(gradient_of(small({beta, "relaxation.nudged_steps=12"}), "aep_transposed"), exact);
  };
  const double large = live("beta=0.4"), half = live("beta=0.2");
  CHECK(large < 0.1);
  CHECK(large / half == Approx(4).epsilon(0.2));
}

TEST_CASE("transformer: trained by currents it is the network that backprop trains", "[transformer]") {
  const auto loss = [](const std::vector<std::string>& settings) {
    return train(small(settings), std::nullopt).of("test_loss");
  };
  const double backprop = loss({"estimator=bptt"});
  // Float, β = 1e-2: gradients agree to 2e-6/β per step (measured on the cases); twelve steps of Adam.
  CHECK(loss({"estimator=aep_transposed", "beta=1e-2"}) == Approx(backprop).epsilon(2e-3));
  CHECK(loss({"estimator=aep_transposed", "beta=1", "nudge.cost_current=frozen"}) == Approx(backprop).epsilon(2e-4));
}

TEST_CASE("transformer: on devices its reads are noisy, counted and named by class", "[transformer]") {
  const Config config = small({"device.model=soft_bounds", "hardware.level=ideal", "device.read_noise=1 %",
                               "device.programming_error=0", "estimator=aep_transposed", "beta=0.1", "train.steps=2"});
  const auto plan = network_plan(config, character_sizes(config, kVocabulary));
  const auto network = make_network<float>(config, plan, Weights::configured);
  CHECK(network->circuit().noisy());
  ModelShape shape;
  shape.vocabulary = kVocabulary;
  shape.tokens = network->rows();
  const Batch batch = random_batch(shape, 2, 1);
  BatchGradientOptions options = gradient_options<float>(config, "");
  options.noise_every = 0;
  BatchGradient<float> learner(*network, options);
  Gradient<float> one(network->parameter_shapes()), again(one), other(one);
  const BatchReport report = learner.compute(batch, 0, one);
  learner.compute(batch, 0, again);
  learner.compute(batch, 1, other);
  CHECK((one[1] == again[1]));  // a read is named by its place
  CHECK_FALSE((one[1] == other[1]));
  // Every weight is read once per layer and token in the sweep up, and for both nudges in the sweep down: 2 arrays per node
  // and 8 nodes; the first node pulls nothing back to the input while nudged.
  const auto reads = [&](ReadClass kind) { return static_cast<double>(report.reads.at(kind).reads); };
  const double rows = 2.0 * 6;  // sequences, tokens
  CHECK(reads(ReadClass::free) == 16 * rows);
  // And the read-out both ways, for the sweep and once more for what is left of it at its end.
  CHECK(reads(ReadClass::nudged) == 2 * (14 + 2 * 2) * rows);
  CHECK(reads(ReadClass::stored) == 16 * rows);
}

TEST_CASE("transformer: gradcheck of sweeps takes the estimators that fit", "[transformer]") {
  const std::vector<std::string> rest{"gradcheck.estimators=[\"all\"]"};
  const auto feeding = gradcheck_estimators(small(rest), 1);
  const auto recurrent = gradcheck_estimators(small({rest[0], "transformer.feedback=0.1"}), 1);
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has(feeding, "bptt"));
  CHECK_FALSE(has(feeding, "dyadic"));
  CHECK_FALSE(has(recurrent, "bptt"));
  CHECK(has(recurrent, "aep_transposed"));
  const GradcheckReport report =
      gradcheck(small({"transformer.feedback=0.1", "precision=double", "train.batch=1", "relaxation.free_steps=60",
                       "relaxation.nudged_steps=60", "relaxation.step=0.9", "gradcheck.finite_difference_entries=2"}));
  CHECK(report.reference_converged());
  // Sixty sweeps settle it; β = 1e-5 in double leaves 1e-10/β of rounding.
  CHECK(report.find("aep_transposed", "all")->agreement.relative_l2 < 1e-4);
  CHECK(report.find("linear_adjoint", "all")->agreement.relative_l2 < 1e-6);
  CHECK(report.find("finite_difference", "all")->agreement.relative_l2 < 1e-6);
}

TEST_CASE("transformer: what it cannot do is refused with the rule", "[transformer]") {
  CHECK_THROWS_WITH(small({"model.heads=8"}), Catch::Contains("model.heads") && Catch::Contains("even width"));
  CHECK_THROWS_WITH(small({"model.memories=0"}), Catch::Contains("hidden units"));
  CHECK_THROWS_WITH(small({"estimator=dyadic"}), Catch::Contains("relaxation.schedule") && Catch::Contains("dyadic"));
  CHECK_THROWS_WITH(small({"relaxation.solver=rk4"}), Catch::Contains("relaxation.schedule"));
  CHECK_THROWS_WITH(small({"estimator=bptt", "transformer.feedback=0.1"}),
                    Catch::Contains("relaxation.schedule") && Catch::Contains("driven by earlier ones alone"));
  CHECK_THROWS_WITH(small({"estimator=bptt", "relaxation.step=0.9"}), Catch::Contains("relaxation.step = 1"));
  CHECK_THROWS_WITH(small({"network.kind=transfomer"}), Catch::Contains("transformer"));
}
