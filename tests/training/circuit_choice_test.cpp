// SPDX-License-Identifier: Apache-2.0
// What the first batch of a run sets once: full scales of converters, slots of a turn; and arrays driven at both ends.
#include "tests/support/catch.hpp"
#include "training/check/choices.hpp"

#include <cmath>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stored_config.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

const Settings kShort{"device.model=soft_bounds", "beta=0.1",
                      "relaxation.free_steps=12", "relaxation.nudged_steps=8",
                      "relaxation.step=0.3",      "damping.control=false"};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Config block(const Settings& more) { return small("block", with(kShort, more)); }

const Settings kConverters{"crossbar.forward_dac_bits=8", "crossbar.forward_adc_bits=8",
                           "crossbar.transposed_adc_bits=6", "crossbar.ranging=once"};

Settings hopfield(const Settings& more) {
  return with({"device.model=soft_bounds", "device.programming_error=0.03", "estimator=ep", "beta=1e-4",
               "crossbar.directions=simultaneous", "crossbar.load_trim=2e-3", "relaxation.step=0.4"},
              more);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("converters that are ranged once get what the first batch reaches, times the headroom", "[ranging]") {
  const Config config = block(kConverters);
  CHECK(leaves_circuit_open(config));
  const Config chosen = chosen_circuit(config, run_parts(config));
  CHECK_FALSE(leaves_circuit_open(chosen));
  CHECK(chosen.real("crossbar.transposed_dac_range") == 0);  // it has no bits: nothing to range
  for (const char* key :
       {"crossbar.forward_dac_range", "crossbar.forward_adc_range", "crossbar.transposed_adc_range"}) {
    CHECK(chosen.real(key) > 0);
    CHECK(chosen.origin(key).where == "reached in the first batch");
  }
  const Config roomier = block(with(kConverters, {"crossbar.headroom=4"}));
  // Other windows round otherwise: 8 bits of the largest value are a percent of it, six are three.
  CHECK(chosen_circuit(roomier, run_parts(roomier)).real("crossbar.forward_dac_range") ==
        Approx(2 * chosen.real("crossbar.forward_dac_range")).epsilon(0.05));
  CHECK_FALSE(leaves_circuit_open(block({"crossbar.forward_dac_bits=8"})));
  CHECK_FALSE(leaves_circuit_open(block({"crossbar.ranging=once"})));
  CHECK_FALSE(leaves_circuit_open(small("block", {"crossbar.ranging=once", "crossbar.forward_dac_bits=8"})));
}

TEST_CASE("a run has its full scales in its file, and resumes with them to the same bits", "[ranging]") {
  const TemporaryDirectory dir;
  const Config config = block(kConverters);
  train(config, dir / "whole.h5");
  const H5Reader whole(dir / "whole.h5");
  const Config chosen = chosen_circuit(config, run_parts(config));
  // The same as if they had been asked for, and other than ranged by each read.
  Settings asked = kConverters;
  for (const char* key :
       {"crossbar.forward_dac_range", "crossbar.forward_adc_range", "crossbar.transposed_adc_range"}) {
    CHECK(stored_program_config(whole).real(key) == chosen.real(key));
    asked.push_back(std::string(key) + "=" + chosen.as_text(key));
  }
  train(block(asked), dir / "asked.h5");
  const auto losses = [&](const char* file) { return H5Reader(dir / file).reals<double>("train/loss"); };
  CHECK(losses("whole.h5") == losses("asked.h5"));
  // Stopped after three steps and resumed with a config that leaves them open.
  train(config, dir / "half.h5", [](const TrainProgress& p) { return p.done < 3; });
  resume(dir / "half.h5", &config, {});
  CHECK(losses("whole.h5") == losses("half.h5"));
  Settings per_read = kConverters;
  per_read.back() = "crossbar.ranging=per_read";
  train(block(per_read), dir / "per_read.h5");
  CHECK(losses("whole.h5") != losses("per_read.h5"));
  CHECK(H5Reader(dir / "per_read.h5").reals<double>("train/clipped_conversions").back() == 0);
  // Full scales of twice the largest values clip nothing in a few steps, one of a hundredth of them does, and says so.
  CHECK(whole.reals<double>("train/clipped_conversions").back() == 0);
  Settings low = kConverters;
  low.emplace_back("crossbar.forward_dac_range=0.01");
  train(block(low), dir / "low.h5");
  CHECK(H5Reader(dir / "low.h5").reals<double>("train/clipped_conversions").back() > 1000);
}

TEST_CASE("a hold lasts for the turns of a round, whose slots the first batch counts", "[ranging]") {
  const Config config = block({"circuit.hold_time=1 us"});
  const Config chosen = chosen_circuit(config, run_parts(config));
  CHECK(chosen.real("circuit.turn_slots") == 2);  // the input array is read forward and backward in a step
  const TokenSpec before = model_arrays(config).tokens, tokens = model_arrays(chosen).tokens;
  CHECK(before.held_share() == Approx(std::exp(-3 * tokens.slot_s / 1e-6)).epsilon(1e-12));
  CHECK(tokens.held_share() == Approx(std::exp(-7 * tokens.slot_s / 1e-6)).epsilon(1e-12));
  const Config means = block({"circuit.hold_time=1 us", "reads.nudged=mean 10"});
  CHECK(chosen_circuit(means, run_parts(means)).real("circuit.turn_slots") == 20);
}

TEST_CASE("arrays driven at both ends take one slot for two directions", "[simultaneous]") {
  const TemporaryDirectory dir;
  const auto trained = [&](const char* directions) {
    const std::string name = std::string(directions) + ".h5";
    train(small("hopfield", hopfield({std::string("crossbar.directions=") + directions, "relaxation.free_steps=40",
                                      "relaxation.nudged_steps=20"})),
          dir / name);
    return H5Reader(dir / name).reals<double>("train/phase_time");
  };
  // One hidden layer: the array between it and the output is read both ways in every step, the first one forward.
  CHECK(mean(trained("sequential")) == Approx(2 * mean(trained("simultaneous"))).epsilon(0.05));
}

TEST_CASE("the read-out of a simultaneous network waits for what it has read", "[simultaneous]") {
  const auto slots = [](const char* current) {
    const Config config = small("hopfield", hopfield({"crossbar.directions=simultaneous", "hopfield.cost=cross_entropy",
                                                      std::string("nudge.cost_current=") + current,
                                                      "relaxation.free_steps=20", "relaxation.nudged_steps=20"}));
    const RunParts parts = run_parts(config);
    const auto network = make_network<double>(config, parts.plan, Weights::configured);
    BatchGradientOptions options = gradient_options<double>(config, "");
    options.noise_every = 0;
    BatchGradient<double> learner(*network, options);
    Gradient<double> gradient(network->parameter_shapes());
    return learner.compute(parts.task->training(0), 0, gradient).reads.slots;
  };
  CHECK(slots("live") == 2);    // logits, then the error backward
  CHECK(slots("frozen") == 1);  // before the phase
}

TEST_CASE("arrays driven at both ends keep the gradient: what is left of the loads has an energy", "[simultaneous]") {
  const Config config =
      small("hopfield", hopfield({"crossbar.directions=simultaneous", "gradcheck.estimators=['ep', 'implicit']"}));
  const GradcheckReport report = gradcheck(config);
  REQUIRE(report.reference_converged());
  // Centred differences of the settled circuit: as of every kind (circuit_reference_test.cpp).
  const GradcheckRow* differences = report.find("finite_difference", "all");
  REQUIRE(differences != nullptr);
  CHECK(differences->agreement.relative_l2 < 1e-6);
  // One-sided in beta it would be β; centred, β² = 1e-8 of third derivatives, and what settling leaves.
  CHECK(report.find("ep", "all")->agreement.cosine > 1 - 1e-6);
  const Config sequential = small("hopfield", hopfield({"crossbar.load_trim=1e-3", "crossbar.directions=sequential"}));
  CHECK(std::abs(report.loss - gradcheck(sequential).loss) > 1e-6);  // another circuit
}

TEST_CASE("arrays are driven at both ends only where both are known", "[simultaneous]") {
  const auto refused = [](const std::string& kind, Settings settings, const std::string& why) {
    settings.insert(settings.begin(), {"crossbar.directions=simultaneous", "device.model=soft_bounds"});
    CHECK_THROWS_WITH(small(kind, settings),
                      Contains("crossbar.directions = simultaneous (must be sequential unless " + why));
  };
  refused("block", {}, "network.kind = hopfield");
  refused("hopfield", {"relaxation.schedule=sweep", "relaxation.step=1", "estimator=ep"},
          "relaxation.schedule = parallel");
  refused("hopfield", {"hopfield.feedback=separate", "estimator=aep_transposed"}, "hopfield.feedback = transpose");
  refused("hopfield", {"crossbar.mapping=offset", "estimator=ep"}, "crossbar.mapping = differential");
  refused("hopfield", {"crossbar.row_resistance=1 Ohm", "estimator=ep"}, "crossbar.row_resistance = 0");
  refused("hopfield", {"device.iv_sinh=1 V", "estimator=ep"}, "device.iv_sinh = 0");
  CHECK_NOTHROW(small("block", {"crossbar.directions=simultaneous"}));  // no arrays
}
