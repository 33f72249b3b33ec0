// SPDX-License-Identifier: Apache-2.0
// What every kind of network must do when it learns: gradients, runs on devices, netlists. Loops over the registries.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/transformer/transformer_config.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("networks: estimators find the exact gradient, which central differences confirm", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    const std::vector<std::string> settings =
        kind.name == "transformer" ? std::vector<std::string>{"transformer.loops=1", "transformer.feedback=0.15"}
                                   : variants(kind.name);
    for (const std::string& setting : settings) {
      CAPTURE(kind.name, setting);
      const GradcheckReport report = gradcheck(small(kind.name, {setting}));
      CHECK(report.reference_converged());
      CHECK(report.difference_settled);
      for (const auto& row : report.rows) {
        CAPTURE(row.estimator, row.group);
        if (row.group != "all") continue;
        // Differences: settled to 1e-12, to the 2/3rd power times a ratio of scales below 100. Estimators: β = 1e-5 in double
        // leaves 1e-10/β of rounding and the transient of 120 steps.
        CHECK(row.agreement.relative_l2 < (row.estimator == "finite_difference" ? 1e-6 : 1e-4));
      }
    }
  }
}

TEST_CASE("transformer: any mixer may be a layer, and its gradient is exact", "[networks]") {
  for (const std::string& mixer : transformer_mixers()) {
    CAPTURE(mixer);
    const GradcheckReport report = gradcheck(small(
        "transformer", {"transformer.mixer=" + mixer, "transformer.projection_scale=2", "model.channels=32",
                        "gradcheck.finite_difference_entries=2", "train.batch=1",
                        mixer.starts_with("gd_") || mixer.starts_with("loop_") ? "mixer.temperature=6" : "seed=1"}));
    CHECK(report.reference_converged());
    for (const auto& row : report.rows) {
      CAPTURE(row.estimator, row.group);
      if (row.group == "all") CHECK(row.agreement.relative_l2 < (row.estimator == "finite_difference" ? 1e-5 : 1e-4));
    }
  }
}

TEST_CASE("networks: train on numbers and on devices, and resume to the same bits", "[networks]") {
  const TemporaryDirectory dir;
  int number = 0;
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"device.model=soft_bounds", "beta=0.1", "estimator=aep_transposed"}}) {
      CAPTURE(kind.name, more);
      std::vector<std::string> settings{"precision=float", "relaxation.free_steps=10", "relaxation.nudged_steps=10"};
      settings.insert(settings.end(), more.begin(), more.end());
      const Config config = small(kind.name, settings);
      const std::string name = std::to_string(number++);
      const TrainSummary summary = train(config, dir / (name + "whole.h5"));
      CHECK(summary.of("nonfinite") == 0);
      CHECK(std::isfinite(summary.of("test_loss")));
      const H5Reader file(dir / (name + "whole.h5"));
      CHECK(file.text_attribute("x", "train/validation_loss") == "train/validation_step");
      CHECK(file.text_attribute("x", "train/residual") == "train/step");
      CHECK(file.text_attribute("role", "train/step") == "axis");
      train(config, dir / (name + "broken.h5"), [](const TrainProgress& p) { return p.done < 4; });
      CHECK(resume(dir / (name + "broken.h5"), nullptr).done == 6);
      CHECK(differing_objects(dir / (name + "whole.h5"), dir / (name + "broken.h5")) == std::vector<std::string>{});
    }
  }
}

TEST_CASE("a kind that has a netlist writes it, and says how large it is", "[networks][spice]") {
  int exported = 0;
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    if (!kind.netlist) continue;
    ++exported;
    const Config config = small(kind.name, {"resistive.diode=ideal"});
    for (const std::string& key : kind.netlist->sizes) CHECK_FALSE(config.as_text(key).empty());
    const auto network = make_network<double>(config, network_plan(config, sizes_for(config)), Weights::digital);
    CHECK(kind.netlist->terms(network->plan()) > 0);
    NetlistOptions options;
    options.clamp = random_matrix<double>(network->rows(), network->circuit().inputs(), 7);
    options.data_file = "net.data";
    const std::string text = kind.netlist->write(*network, options).text;
    for (const char* part : {"written by nudge", ".control", "wrdata net.data", ".end"}) {
      CHECK(text.find(part) != std::string::npos);
    }
  }
  CHECK(exported == 5);  // all but the stack
}
