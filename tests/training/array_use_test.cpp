// SPDX-License-Identifier: Apache-2.0
// What an array does in a slot: time of phases by the reads of the busiest array.
#include "circuits/array_use.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/block/block_plan.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

BatchReport report_of(std::vector<std::string> settings) {
  settings.insert(settings.begin(),
                  {"device.model=soft_bounds", "beta=0.1", "relaxation.free_steps=10", "relaxation.nudged_steps=10",
                   "relaxation.step=0.3", "damping.control=false", "growth.strength=0"});
  const Config config = small("block", settings);
  const RunParts parts = run_parts(config);
  const auto network = make_network<double>(config, parts.plan, Weights::configured);
  BatchGradientOptions options = gradient_options<double>(config, "");
  options.noise_every = 0;
  BatchGradient<double> learner(*network, options);
  Gradient<double> gradient(network->parameter_shapes());
  return learner.compute(parts.task->training(0), 0, gradient);
}

/// τ that 10 steps of ε = 0.3 take without taking turns, 4 tokens one after the other: each −ln(1 − .3 L)/L, L = 1 + s c.
double plain(const std::vector<std::string>& settings) {
  const Config config = small("block", settings);
  const double leak = block_leak(config).at(config.real("model.damping"));
  return 4 * 10 * -std::log(1 - 0.3 * leak) / leak;
}

}  // namespace

TEST_CASE("slots are those of the busiest array, and never less than one", "[slots]") {
  ArrayUse use;
  CHECK(use.slots(ReadClass::free, 10, 4) == 1);
  const auto read = [&use](std::uint32_t array, ReadDirection way, ReadClass kind, double rows) {
    use.read(array, Directions::sequential, way, kind, rows);
  };
  read(0, ReadDirection::forward, ReadClass::free, 30);
  read(0, ReadDirection::transposed, ReadClass::free, 50);
  read(1, ReadDirection::forward, ReadClass::free, 40);
  read(1, ReadDirection::transposed, ReadClass::nudged, 400);
  CHECK(use.slots(ReadClass::free, 10, 4) == 2);
  CHECK(use.slots(ReadClass::nudged, 10, 4) == 10);
  CHECK(use.slots(ReadClass::free, 0, 4) == 1);
  use.clear();
  CHECK(use.slots(ReadClass::free, 10, 4) == 1);
  // Both ways at once: as many as the busier way.
  use.read(0, Directions::simultaneous, ReadDirection::forward, ReadClass::free, 40);
  use.read(0, Directions::simultaneous, ReadDirection::transposed, ReadClass::free, 120);
  CHECK(use.slots(ReadClass::free, 10, 4) == 3);
}

TEST_CASE("an array that is read both ways in a step, or many times, takes as many slots for it", "[slots]") {
  // A step of the free phase reads the input array forward for q, k, v and gates and backward for the memory, the output array once.
  const BatchReport ep = report_of({"estimator=ep"});
  CHECK(ep.time == Approx(2 * plain({})).epsilon(1e-12));
  CHECK(ep.nudged_time == Approx(2 * 2 * plain({})).epsilon(1e-12));  // the same force for +β and −β
  // The correction reads the output array backward too, which waits for the input array anyway: one read more of six, no slot.
  const BatchReport aep = report_of({"estimator=aep"});
  const auto nudged = [](const BatchReport& report) {
    return static_cast<double>(report.reads.at(ReadClass::nudged).reads);
  };
  CHECK(nudged(aep) - nudged(ep) == Approx(2.0 * 2 * 4 * 10));  // sequences, phases, tokens, steps
  CHECK(aep.nudged_time == Approx(ep.nudged_time).epsilon(1e-12));
  // A transposed nudge drives the input array with the state and, backward, with what comes back: the same two.
  CHECK(report_of({"estimator=aep_transposed"}).nudged_time == Approx(ep.nudged_time).epsilon(1e-12));
  // The mean of a hundred reads is a hundred reads.
  const BatchReport mean = report_of({"estimator=ep", "reads.free=mean 100"});
  CHECK(mean.time == Approx(100 * ep.time).epsilon(1e-12));
  CHECK(mean.nudged_time == Approx(ep.nudged_time).epsilon(1e-12));
  CHECK(static_cast<double>(mean.reads.at(ReadClass::free).reads) ==
        Approx(100.0 * static_cast<double>(ep.reads.at(ReadClass::free).reads)));
  // Replicas read their tokens at once: the same slots, without turns of the tokens.
  const BatchReport replicas = report_of({"estimator=ep", "circuit.tokens=replicated"});
  CHECK(replicas.time == Approx(ep.time / 4).epsilon(1e-12));
}
