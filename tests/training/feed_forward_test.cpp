// SPDX-License-Identifier: Apache-2.0
// The plain feed-forward network of as many weights: train.beside = feed_forward, and the entrant of that name.
#include "training/config/feed_forward.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/entrants.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

Index weights_of(const Config& config) { return count_weights(*run_parts(config).plan); }

Settings behind(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const Settings samples{"task.kind=classification", "network.kind=hopfield", "hopfield.hidden=[20, 12]"};

}  // namespace

TEST_CASE("the feed-forward network has as many weights", "[train]") {
  // With C = 8: a block has 3C² + C² for attention and C M = 96 of memories, a layer of the transformer 4C² + 2C M'. Table, positions and
  // read-out are the same.
  struct Case {
    Settings settings;
    Index off;  ///< of M', which comes in steps of 2C = 16 weights per layer
  };
  const auto [settings, off] = GENERATE(
      Case{{}, 0}, Case{{"network.kind=stack", "stack.layers=3"}, 0}, Case{{"model.coupling_scale=0.1"}, 0},
      Case{{"model.memory_arrays=2"}, 0}, Case{{"model.memories=13"}, 8}, Case{{"model.mixer=light2nd1st"}, 8},
      Case{{"network.kind=transformer", "transformer.feedback=0.3", "memory_bound.fraction=off"}, 0}, Case{samples, 0});
  CAPTURE(settings);
  const Config config = tiny_config(settings);
  const Config plain = tiny_config(behind(settings, feed_forward_settings(config)));  // sound by every rule
  CHECK(std::abs(weights_of(plain) - weights_of(config)) <= off);
}

TEST_CASE("every kind of network has a feed-forward one, on devices too", "[train]") {
  const Settings kind =
      GENERATE(Settings{}, Settings{"network.kind=stack"}, Settings{"network.kind=transformer"}, samples,
               Settings{"task.kind=classification", "network.kind=convolutional", "convolutional.maps=[2]"},
               Settings{"task.kind=classification", "network.kind=hopfield", "hopfield.form=energy",
                        "hopfield.activation=tanh"});
  const Settings devices = GENERATE(Settings{}, Settings{"device.preset=ecram", "circuit.amplifier_bandwidth=100 MHz"});
  const Config config = tiny_config(behind(kind, devices));
  const Config plain = tiny_config(behind(behind(kind, devices), feed_forward_settings(config)));
  CHECK(plain.text("estimator") == "bptt");
  CHECK(plain.text("device.model") == "digital");
  CHECK(network_kind(plain).feed_forward(plain));
  CHECK(run_parts(plain).plan->rows() == run_parts(config).plan->rows());
}

TEST_CASE("the lane beside a run is the run that its settings make", "[train]") {
  const TemporaryDirectory dir;
  const Settings kind = GENERATE(Settings{}, samples);
  CAPTURE(kind);
  const Settings settings = behind(kind, {"train.steps=15", "device.model=soft_bounds", "train.null=off"});
  const Config config = tiny_config(behind(settings, {"train.beside=feed_forward"}));
  const TrainSummary summary = train(config, dir / "run.h5");
  CHECK(summary.beside == "feed_forward");
  CHECK(summary.of("beside/weights") == summary.of("weights"));
  train(tiny_config(behind(settings, feed_forward_settings(config))), dir / "alone.h5");
  const H5Reader run(dir / "run.h5"), alone(dir / "alone.h5");
  for (const std::string name : {"loss", "validation_loss", "gradient_norm"}) {
    CAPTURE(name);
    CHECK(run.reals<double>("beside/train/" + name) == alone.reals<double>("train/" + name));
  }
  CHECK(static_cast<double>(run.integer_attribute("weights", "beside/train")) == summary.of("weights"));
  CHECK(run.text_attribute("estimator", "beside/train") == "bptt");
  CHECK(run.text_attribute("network", "beside/train") == alone.text_attribute("network", "train"));
  // One sweep of unit steps is the forward pass: nothing is left of the force but rounding.
  for (const double residual : run.reals<double>("beside/train/residual")) CHECK(residual < 1e-5);
  // Resumed to the same bits.
  train(config, dir / "broken.h5", stop_after(7));
  resume(dir / "broken.h5", nullptr);
  CHECK(H5Reader(dir / "broken.h5").reals<double>("beside/train/loss") == run.reals<double>("beside/train/loss"));
}

TEST_CASE("a comparison takes feed_forward by its name", "[train]") {
  const Config config = tiny_config({"compare.entrants=[\"aep_anchored\", \"feed_forward: train.weight_decay=0.5\"]"});
  const std::vector<Entrant> entrants = read_entrants(config);
  REQUIRE(entrants.size() == 2);
  CHECK(entrants[1].name == "feed_forward");
  CHECK(entrants[1].settings.back() == "train.weight_decay=0.5");  // its own behind
  const Config plain = tiny_config(entrants[1].settings);
  CHECK(plain.text("network.kind") == "transformer");
  CHECK(weights_of(plain) == weights_of(config));
}
