// SPDX-License-Identifier: Apache-2.0
// The reference of gradient comparisons is the derivative of the circuit that is simulated.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/imperfections.hpp"
#include "tests/training/study_model.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/block/block_plan.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kSmall =
    "precision = 'double'\nhardware.level = 'ideal'\n[model]\nchannels = 8\ntokens = 4\nmemories = 12\nheads = "
    "2\nattention_scale = 1.0\n"
    "[relaxation]\nfree_steps = 90\nnudged_steps = 90\n[train]\nbatch = 2\n[gradcheck]\nfinite_difference_entries = "
    "12\nestimators = ['aep_transposed']\n[device]\nmodel = 'soft_bounds'\nread_noise = 0\nprogramming_error = 0\n";

Config small(const std::vector<std::string>& settings) { return parse_program_config("small.toml", kSmall, settings); }

double relative_l2(const GradcheckReport& report, const char* estimator) {
  const GradcheckRow* row = report.find(estimator, "all");
  REQUIRE(row != nullptr);
  return row->agreement.relative_l2;
}

}  // namespace

TEST_CASE("central differences of the noise-free circuit agree with the reference, for every imperfection",
          "[circuit_reference]") {
  GradcheckScope scope;
  scope.stability = false;
  for (const Imperfection& imperfection : circuit_imperfections()) {
    if (imperfection.derivative == Differentiable::no) continue;
    CAPTURE(imperfection.name);
    const GradcheckReport report = gradcheck(small(imperfection.settings), scope);
    CHECK(report.reference_converged());
    CHECK(report.difference_settled);
    // Settled to 1e-12: a difference quotient is good to its 2/3rd power, 1e-8, times the ratio of scales (below 100).
    CHECK(relative_l2(report, "finite_difference") < 1e-6);
  }
}

TEST_CASE("behind wires the reference is the gradient of devices, and shows what the local rule loses",
          "[circuit_reference]") {
  // Wires of 20 Ohm, drivers of 50, sense amplifiers of 30: W_input loses L/(1 + L) = 12.6 % of its signal. For a block of this size an
  // independent nodal program found the local rule at a cosine of .998 and .18 off the gradient of the devices.
  GradcheckScope scope;
  scope.stability = false;
  scope.estimators = {"implicit_dense", "aep_transposed"};
  const std::vector<std::string> wires = {"crossbar.row_resistance=20 Ohm", "crossbar.column_resistance=20 Ohm",
                                          "crossbar.driver_resistance=50 Ohm", "crossbar.sense_resistance=30 Ohm"};
  const GradcheckReport circuit = gradcheck(small(wires), scope);
  CHECK(relative_l2(circuit, "finite_difference") < 1e-6);  // as above
  for (const char* group : {"Wm", "Wv"}) {
    CAPTURE(group);
    const GradcheckRow* local = circuit.find("implicit_dense", group);
    REQUIRE(local != nullptr);
    CHECK(local->agreement.cosine > 0.99);
    CHECK(local->agreement.relative_l2 > 0.05);
    CHECK(local->agreement.relative_l2 < 0.5);
  }
  // The estimators lose that and no more: of what the lines see they are exact.
  CHECK(relative_l2(circuit, "aep_transposed") == Approx(relative_l2(circuit, "implicit_dense")).epsilon(1e-6));
  std::vector<std::string> seen = wires;
  seen.emplace_back("gradcheck.reference=device");
  CHECK(relative_l2(gradcheck(small(seen), scope), "implicit_dense") < 1e-8);
  // Wires of a tenth lose a tenth, to first order: the drop of W_input is L = .145 here, (1 + L)² − 1 = .31 is left for the second.
  const GradcheckReport weak = gradcheck(small({"crossbar.row_resistance=2 Ohm", "crossbar.column_resistance=2 Ohm",
                                                "crossbar.driver_resistance=5 Ohm", "crossbar.sense_resistance=3 Ohm"}),
                                         scope);
  CHECK(relative_l2(weak, "implicit_dense") == Approx(0.1 * relative_l2(circuit, "implicit_dense")).epsilon(0.31));
}

TEST_CASE("bptt, implicit and implicit_dense differentiate the circuit that they settle in", "[circuit_reference]") {
  GradcheckScope scope;
  scope.stability = false;
  scope.finite_differences = false;
  scope.estimators = {"bptt", "implicit", "implicit_dense", "aep_transposed"};
  const GradcheckReport report = gradcheck(small({"device.iv_sinh=0.25 V", "crossbar.forward_gain_error=0.05"}), scope);
  for (const char* estimator : {"bptt", "implicit", "implicit_dense"}) {
    CAPTURE(estimator);
    CHECK(relative_l2(report, estimator) < 1e-8);  // free phases of 90 steps leave 1e-10 of the transient
  }
  // Small drives through curved devices have another slope: what the circuit's own estimate is off by.
  CHECK(relative_l2(report, "aep_transposed") > 0.01);
  // Without curves both references are one.
  const auto plain = [&](const char* reference) {
    return relative_l2(gradcheck(small({std::string("gradcheck.reference=") + reference}), scope), "aep_transposed");
  };
  CHECK(plain("circuit") == Approx(plain("device")).epsilon(1e-6));
  // With curves the weights alone are not the truth.
  const GradcheckReport device = gradcheck(small({"device.iv_sinh=0.25 V", "gradcheck.reference=device"}), scope);
  CHECK(relative_l2(device, "implicit_dense") > 0.01);
}

TEST_CASE("bptt is the derivative of its own truncated, averaged and lagging forward pass", "[circuit_reference]") {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"relaxation.free_steps=6"},
           {"relaxation.free_steps=9", "relaxation.average_free=4"},
           {"relaxation.free_steps=7", "circuit.amplifier_bandwidth=20 MHz"},
           {"relaxation.free_steps=8", "relaxation.average_free=3", "circuit.amplifier_bandwidth=20 MHz"}}) {
    std::vector<std::string> all = {"device.iv_sinh=0.25 V"};
    all.insert(all.end(), settings.begin(), settings.end());
    CAPTURE(settings);
    const Config config = small(all);
    const ModelShape shape = model_shape(config, 11);
    const auto plan = network_plan(config, character_sizes(config, 11));
    const auto device = make_network<double>(config, plan, Weights::configured);
    const auto model = exact_copy(*device, ExactSystem::circuit);
    const Batch batch = random_batch(shape, 2, 3);
    BatchGradient<double> learner(*model, gradient_options<double>(config, "bptt"));
    Gradient<double> gradient(model->parameter_shapes());
    learner.compute(batch, 0, gradient);
    const double scale = gradient.norm() / std::sqrt(static_cast<double>(shape.channels * shape.channels));
    for (int p = 0; p < model->parameters(); ++p) {
      LinearMap<double>& map = model->map(p);
      const Matrix<double> weights = map.weights();
      for (const Index i : {Index(0), weights.size() / 2, weights.size() - 1}) {
        const auto loss = [&](double h) {
          Matrix<double> moved = weights;
          moved.data()[i] += h;
          map.program(moved);
          return learner.evaluate(batch, 0).loss;
        };
        const double h = 1e-5;
        const double quotient = (loss(h) - loss(-h)) / (2 * h);
        map.program(weights);
        CAPTURE(p, i);
        // h² f'''/6 and ε/h: both 1e-10 of losses of order 1.
        CHECK(std::abs(quotient - gradient[p].data()[i]) < 1e-7 * scale + 1e-9);
      }
    }
  }
}
