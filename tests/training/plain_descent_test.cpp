// SPDX-License-Identifier: Apache-2.0
// A step of plain gradient descent, where maps of numbers take the factors of their gradient.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("a step of plain descent is that of its gradient, clipped and floored, and its norm is logged") {
  for (const char* kind : {"hopfield", "resistive"}) {
    for (const char* clip : {"0", "1e-3"}) {
      CAPTURE(kind, clip);
      const Config config = parse_program_config(
          "t", "",
          {"precision=double", std::string("network.kind=") + kind, "task.kind=classification",
           "estimator=ep_contrastive", "beta=0.1", "train.optimizer=sgd", "train.momentum=0", "train.schedule=constant",
           "train.warmup=0", "train.weight_decay=0", "train.learning_rate=0.5", "train.batch=4", "data.side_by_side=4",
           "relaxation.free_steps=30", "relaxation.nudged_steps=30", std::string("train.gradient_clip=") + clip});
      RunInDouble run(config);
      Network<double>& network = run.run.network();
      Gradient<double> gradient;
      BatchGradient<double> batches(network, gradient_options<double>(config, ""));
      batches.set_step(RelaxationStep(config).of(network.circuit()));
      batches.compute(run.task->training(0), 0, gradient);
      const double factor = clip_factor(gradient.norm(), config.real("train.gradient_clip"));
      REQUIRE((factor < 1) == (std::string(clip) != "0"));
      std::vector<Matrix<double>> expected;
      for (int p = 0; p < network.parameters(); ++p) {
        Matrix<double> next = network.map(p).weights() - 0.5 * factor * gradient[p];
        if (network.map(p).traits().sums != nullptr) next = next.cwiseMax(0.0);
        expected.push_back(next);
      }
      run.train(1);
      // The same sums in another order.
      for (int p = 0; p < network.parameters(); ++p) {
        CHECK(relative_error(network.map(p).weights(), expected[static_cast<std::size_t>(p)]) < 1e-13);
      }
      CHECK(run.run.log().last("train/gradient_norm") == Approx(gradient.norm()).epsilon(1e-12));
    }
  }
}
