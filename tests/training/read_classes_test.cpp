// SPDX-License-Identifier: Apache-2.0
// Every class of reads reaches what it is for: one policy, from the loss to the anchor.
#include <cmath>

#include "circuits/linear_map_factory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// The tiny model on crossbars with read noise; `readout_only`: of the read-out alone.
std::unique_ptr<Network<double>> noisy_model(bool readout_only) {
  Maps<double> maps;
  std::uint32_t id = 0;
  const std::size_t parameters = BlockPlan(kTinyShape, {}, {}).parameters().size();
  for (auto& w : initial_weights<double>(kTinyShape, kTinyScales, 1)) {
    CrossbarSpec spec;
    spec.device.model = "ideal";
    spec.device.read_noise = readout_only && id + 1 < parameters ? 0 : 3e-3;
    if (id <= BlockParameter::pos) spec.device.model = digital_model;
    maps.push_back(make_linear_map<double>(spec, w, id, 1));
    ++id;
  }
  return block_network<double>(kTinyShape, Damping{1.0, 1.0}, std::move(maps));
}

BatchGradientOptions with(const std::string& estimator, ReadClass kind, int reads) {
  BatchGradientOptions options = tiny_options(estimator, 40, 40, 0.1);
  options.reads = ReadPolicy::all_ideal();
  options.reads.of(kind).reads = reads;
  return options;
}

double distance(const Gradient<double>& a, const Gradient<double>& b) { return gradient_error(a, b); }

}  // namespace

TEST_CASE("the loss is read through a noisy read-out", "[reads]") {
  const auto model = noisy_model(true);
  const Batch batch = tiny_batch(4, 1);
  const double exact = learn(*model, batch, with("aep_transposed", ReadClass::loss, 0)).report.loss;
  const double read = learn(*model, batch, with("aep_transposed", ReadClass::loss, 1)).report.loss;
  const double averaged = learn(*model, batch, with("aep_transposed", ReadClass::loss, 4096)).report.loss;
  CHECK(read != exact);
  // Noise falls by √4096 = 64; the first-order part of the loss with it.
  CHECK(std::abs(averaged - exact) < 0.2 * std::abs(read - exact));
  BatchGradientOptions options = with("aep_transposed", ReadClass::loss, 1);
  BatchGradient<double> settler(*model, options);
  CHECK(settler.evaluate(batch, 0).loss != exact);
}

TEST_CASE("noise in a class of reads moves what that class is for, and nothing else", "[reads]") {
  const auto model = noisy_model(false);
  const Batch batch = tiny_batch(4, 1);
  for (const char* estimator : {"ep_anchored", "aep_anchored", "aep_transposed", "aep_npoint"}) {
    const auto exact = learn(*model, batch, with(estimator, ReadClass::free, 0));
    const auto gradient_with = [&](ReadClass kind, int reads) {
      return learn(*model, batch, with(estimator, kind, reads));
    };
    for (const ReadClass kind : {ReadClass::nudged, ReadClass::stored, ReadClass::anchor, ReadClass::correlation}) {
      CAPTURE(estimator, static_cast<int>(kind));
      const auto noisy = gradient_with(kind, 1);
      const double error = distance(noisy.gradient, exact.gradient);
      // The law of plain EP is driven by the state alone: of what is stored only the correlation's factors are noisy.
      CHECK(error > 1e-5);
      CHECK(distance(gradient_with(kind, 1024).gradient, exact.gradient) < 0.25 * error);  // 1/√1024 = 0.03
      CHECK((noisy.states[0] == exact.states[0]));
      CHECK(noisy.report.loss == exact.report.loss);
      CHECK(noisy.report.residual == exact.report.residual);
    }
    const auto monitored = gradient_with(ReadClass::monitor, 1);
    CHECK(same_bits(monitored.gradient, exact.gradient));
    CHECK(monitored.report.residual > 2 * exact.report.residual);  // the floor of the noise
    const auto lossy = gradient_with(ReadClass::loss, 1);
    CHECK(same_bits(lossy.gradient, exact.gradient));
    const auto free = gradient_with(ReadClass::free, 1);
    CHECK_FALSE((free.states[0] == exact.states[0]));
  }
}

TEST_CASE("residuals mean one thing: training, evaluation and backprop read the same", "[reads]") {
  const auto model = noisy_model(false);
  const Batch batch = tiny_batch(16, 1);
  const auto residual = [&](const char* estimator) {
    BatchGradientOptions options = tiny_options(estimator, 40, 10, 0.1);
    return learn(*model, batch, options).report.residual;
  };
  BatchGradientOptions options = tiny_options("aep_transposed", 40, 10, 0.1);
  BatchGradient<double> settler(*model, options);
  const double evaluated = settler.evaluate(batch, 0).residual;
  // 16 sequences of tokens x channels numbers: the norm of each noise is known to a few percent; 20 % over their mean.
  for (const char* estimator : {"ep", "aep_transposed", "linear_adjoint", "implicit", "bptt"}) {
    CAPTURE(estimator);
    CHECK(residual(estimator) == Approx(evaluated).epsilon(0.2));
  }
}

TEST_CASE("dyadic relaxes its state by noisy reads", "[reads]") {
  const auto model = noisy_model(false);
  const Batch batch = tiny_batch(2, 1);
  const auto exact = learn(*model, batch, with("dyadic", ReadClass::nudged, 0));
  const auto noisy = learn(*model, batch, with("dyadic", ReadClass::nudged, 1));
  CHECK(distance(noisy.gradient, exact.gradient) > 1e-5);
}

TEST_CASE("the section [reads] is read, checked, and tells where anchor_reads went", "[reads]") {
  const Config config = parse_program_config("c.toml", "[reads]\nanchor = 'mean 8'\nmonitor = 'ideal'\ntime = 2\n");
  const ReadPolicy policy = read_policy(config);
  CHECK(policy.of(ReadClass::anchor).reads == 8);
  CHECK(policy.of(ReadClass::monitor).ideal());
  CHECK(policy.of(ReadClass::loss).reads == 1);
  CHECK(policy.time == 2);
  CHECK_THROWS_WITH(parse_program_config("c.toml", "[reads]\nloss = 'quiet'\n"),
                    Catch::Contains("c.toml:2") && Catch::Contains("reads.loss") && Catch::Contains("mean N"));
  CHECK_THROWS_WITH(parse_program_config("c.toml", "[nudge]\nanchor_reads = 8\n"), Catch::Contains("reads.anchor"));
}
