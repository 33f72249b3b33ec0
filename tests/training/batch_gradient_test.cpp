// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <limits>

#include "circuits/linear_map_factory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/count_allocations.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// The tiny model on crossbars of ideal devices with the given read noise (relative to the conductance window).
template <class S>
std::unique_ptr<Network<S>> noisy_model(double read_noise) {
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.device.read_noise = read_noise;
  Maps<S> maps;
  std::uint32_t id = 0;
  for (auto& w : initial_weights<S>(kTinyShape, kTinyScales, 1)) {
    const bool embedding = id <= BlockParameter::pos;
    maps.push_back(embedding ? std::make_unique<DigitalMatrix<S>>(w) : make_linear_map<S>(spec, w, id, 1));
    ++id;
  }
  return block_network<S>(kTinyShape, Damping{1.0, 1.0}, std::move(maps));
}

}  // namespace

TEMPLATE_TEST_CASE("the bits of a batch gradient do not depend on the threads", "[batch_gradient]", float, double) {
  using S = TestType;
  // 19 sequences: more than the chunks and no multiple of them. Noise and growth penalty on: all that has state.
  const auto model = noisy_model<S>(1e-3);
  const Batch batch = tiny_batch(19, 1);
  for (const char* estimator : {"aep_anchored", "aep_npoint", "bptt", "dyadic"}) {
    BatchGradientOptions options = tiny_options(estimator, 20, 20, 1e-3);
    options.growth = {0.3, 0.1, 1e-2, 1};
    options.seed = 5;
    const auto one = learn(*model, batch, options, 3);
    CHECK(one.gradient.all_finite());
    for (const int threads : {2, 3}) {
      CAPTURE(estimator, threads);
      options.threads = threads;
      const auto many = learn(*model, batch, options, 3);
      CHECK(same_bits(many.gradient, one.gradient));
      CHECK(many.report.loss == one.report.loss);
      CHECK(many.report.growth == one.report.growth);
      CHECK(many.report.energy == one.report.energy);
      for (std::size_t b = 0; b < 19; ++b) CHECK((many.states[b] == one.states[b]));
      BatchGradient<S> several(*model, options);
      options.threads = 1;
      BatchGradient<S> single(*model, options);
      CHECK(several.evaluate(batch, 2).loss == single.evaluate(batch, 2).loss);
    }
  }
}

TEST_CASE("a batch's gradient is the mean of its sequences' gradients", "[batch_gradient]") {
  const auto model = tiny_model<double>();
  const Batch batch = tiny_batch(5, 2);
  BatchGradientOptions options = tiny_options("aep_anchored", 30, 30);
  options.growth = {0.3, 0.1, 1e-2, 0};
  const auto whole = learn(*model, batch, options);
  Gradient<double> mean(model->parameter_shapes());
  double loss = 0;
  for (Index b = 0; b < batch.sequences; ++b) {
    const auto one = learn(*model, sequence_of(batch, b), options);
    mean.add(one.gradient, 1.0 / 5);
    loss += one.report.loss / 5;
    CHECK((one.states[0] == whole.states[static_cast<std::size_t>(b)]));
  }
  // Weights 1/(B T) enter before instead of after the sums: a few roundings per term.
  CHECK(gradient_error(whole.gradient, mean) < 20 * std::numeric_limits<double>::epsilon());
  CHECK(whole.report.loss == Approx(loss).epsilon(1e-14));
  CHECK(whole.report.sequences.size() == 5);
  CHECK(whole.report.growth_active == 1);
}

TEST_CASE("read noise is a function of seed and step", "[batch_gradient]") {
  const auto model = noisy_model<float>(1e-3);
  const Batch batch = tiny_batch(4, 3);
  BatchGradientOptions options = tiny_options("aep_transposed", 20, 20, 0.1);
  options.seed = 9;
  const auto first = learn(*model, batch, options, 1);
  CHECK(same_bits(learn(*model, batch, options, 1).gradient, first.gradient));
  CHECK_FALSE(same_bits(learn(*model, batch, options, 2).gradient, first.gradient));
  options.seed = 10;
  CHECK_FALSE(same_bits(learn(*model, batch, options, 1).gradient, first.gradient));
  // Sequences have noise of their own: equal inputs do not settle at the same state.
  Batch twins = sequence_of(batch, 0);
  twins.sequences = 2;
  for (auto* list : {&twins.indices, &twins.targets}) {
    list->resize(3);
    list->insert(list->end(), list->begin(), list->begin() + 3);
  }
  const auto pair = learn(*model, twins, options, 1);
  CHECK_FALSE((pair.states[0] == pair.states[1]));
  // Quiet reads: the noise is off altogether, and so the steps are alike.
  options.reads = ReadPolicy::all_ideal();
  const auto quiet = learn(*model, twins, options, 1);
  CHECK((quiet.states[0] == quiet.states[1]));
  CHECK(same_bits(learn(*model, twins, options, 2).gradient, quiet.gradient));
  // Training and evaluation of one step draw different noise, and evaluations of a step repeat.
  options.reads = {};
  BatchGradient<float> settler(*model, options);
  const double loss = settler.evaluate(batch, 1).loss;
  CHECK(settler.evaluate(batch, 1).loss == loss);
  CHECK(settler.evaluate(batch, 2).loss != loss);
  options.phases.nudged_steps = 1;
  CHECK(learn(*model, batch, options, 1).report.loss != loss);
}

TEST_CASE("crossbars without noise train like digital matrices to rounding", "[batch_gradient]") {
  const auto ideal = noisy_model<double>(0);
  const auto digital = tiny_model<double>(1);
  const Batch batch = tiny_batch(3, 4);
  const BatchGradientOptions options = tiny_options("aep_transposed", 60, 60, 1e-3);
  // Conductances G = middle ± k w/2 lose ε G/(k w) ~ 4 ε per weight (headroom 2), amplified by ‖z‖/(β ‖a‖) ~ 1e4.
  CHECK(gradient_error(learn(*ideal, batch, options).gradient, learn(*digital, batch, options).gradient) < 1e-10);
}

TEST_CASE("sequences allocate nothing in their phases", "[batch_gradient]") {
  if (allocations() < 0) {
    std::printf("SKIPPED: allocations cannot be counted in a sanitizer build\n");
    return;
  }
  const auto model = tiny_model<float>();
  const Batch batch = tiny_batch(4, 5);
  for (const std::string& name : estimator_names()) {
    if (estimator_kind(name).asks(needs::solves_itself)) continue;  // of circuits that solve themselves
    if (name.starts_with("implicit")) continue;                     // the references build matrices and Krylov spaces
    if (estimator_kind(name).asks(needs::energy))
      continue;                                  // the block has none of its whole force: hopfield_kind_test.cpp
    if (name == "energy_alternating") continue;  // nor has attention one of its own
    if (estimator_kind(name).asks(needs::bath)) continue;  // of a bath: thermal_kind_test.cpp
    const auto count = [&](int steps) {
      BatchGradient<float> learner(*model, tiny_options(name, name == "bptt" ? 10 : steps, steps));
      Gradient<float> gradient(model->parameter_shapes());
      learner.compute(batch, 0, gradient);
      const long before = allocations();
      learner.compute(batch, 1, gradient);
      return allocations() - before;
    };
    CAPTURE(name);
    CHECK(count(10) == count(40));  // per step nothing, once the buffers are there
  }
}
