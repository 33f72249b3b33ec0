// SPDX-License-Identifier: Apache-2.0
// Costs of a program's own, on every network that is fed samples: loops over the registry.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/stored_config.hpp"
#include "training/learning/cost_kinds.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Σ ¼ (y − t)⁴.
class Quartic final : public NodeCost {
 public:
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).array().pow(4).sum() / 4;
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return (y - target).array().cube().matrix();
  }
};

/// c ½ Σ (y − t)².
class Scaled final : public NodeCost {
 public:
  explicit Scaled(double scale) : scale_(scale) {}
  double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return scale_ * (y - target).squaredNorm() / 2;
  }
  Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const override {
    return scale_ * (y - target);
  }

 private:
  double scale_;
};

/// Three rows of which the second does not count.
Batch three(const Network<double>& network, Index classes) {
  Batch batch;
  batch.sequences = 1;
  batch.tokens = network.rows();
  batch.features = Matrix<float>::Zero(network.rows(), network.circuit().inputs());
  for (Index t = 0; t < network.rows(); ++t) {
    batch.targets.push_back(t == 1 ? Batch::kIgnored : static_cast<int>(t % classes));
  }
  return batch;
}

}  // namespace

TEST_CASE("costs: one's own has its derivatives through every network's output", "[costs]") {
  const LentCost lent(std::make_shared<const Quartic>());
  for (const NetworkKind& kind : circuit_kinds()) {
    if (!of_samples(kind.name)) {
      CHECK_THROWS_WITH(small(kind.name, {"network.cost=own"}), Catch::Contains("must be auto for network.kind"));
      continue;
    }
    for (const std::string& setting : variants(kind.name)) {
      CAPTURE(kind.name, setting);
      const Config config = small(kind.name, {setting, "network.cost=own"});
      const TaskSizes sizes = sizes_for(config);
      const auto network = make_network<double>(config, network_plan(config, sizes), Weights::digital);
      CHECK(network->loss_unit() == "1");
      const auto cost = network->make_cost(2);
      const Batch batch = three(*network, sizes.classes);
      cost->bind(batch, 0, ReadContext{});
      const Index rows = network->rows(), cols = network->cols();
      const Matrix<double> z = random_matrix<double>(rows, cols, 1), v = random_matrix<double>(rows, cols, 2);
      Matrix<double> two(2 * rows, cols), g(two);
      two << z, z + v;
      cost->gradient(two, g);
      const double h = 1e-5;  // h² of truncation against rounding/h: both about 1e-10 of sums of the size of 1
      const double slope = (cost->value(z + h * v) - cost->value(z - h * v)) / (2 * h);
      CHECK(std::abs(slope - g.topRows(rows).cwiseProduct(v).sum()) < 1e-8 * (1 + std::abs(slope)));
      CHECK(g.row(1).norm() == 0);  // it does not count
      Matrix<double> alone(rows, cols);
      cost->gradient(z + v, alone);
      CHECK((g.bottomRows(rows) - alone).norm() <= 1e-14 * alone.norm());
    }
  }
}

TEST_CASE("costs: one is lent at a time, and none is not here", "[costs]") {
  CHECK_THROWS_WITH(small("hopfield", {"network.cost=own"}), Catch::Contains("code of the program that ran it"));
  const LentCost lent(std::make_shared<const Quartic>());
  CHECK_THROWS_AS(LentCost(std::make_shared<const Quartic>()), std::logic_error);
  CHECK_NOTHROW(small("hopfield", {"network.cost=own"}));
}

TEST_CASE("costs: a file of before there was a key has the cost that it names", "[costs]") {
  const LentCost lent(std::make_shared<const Quartic>());
  const auto of = [](const char* text) { return stored_program_config("f.h5", text).text("network.cost"); };
  CHECK(of("[network]\nkind = \"hopfield\"\n\n[task]\nkind = \"classification\"\n\n[own]\nsystem = \"\"\ncost = "
           "\"Quartic\"\n") == "own");
  CHECK(of("[network]\nkind = \"hopfield\"\ncost = \"auto\"\n\n[task]\nkind = \"classification\"\n\n[own]\ncost = "
           "\"\"\n") == "auto");
  CHECK(of("[network]\nkind = \"hopfield\"\n\n[task]\nkind = \"classification\"\n\n[own]\ncost = \"\"\n\n[cost]\nnode "
           "= \"32 nm\"\n") == "auto");
}

TEST_CASE("costs: whether a run failed does not depend on the unit of its cost", "[costs]") {
  const auto failure = [](double scale, const std::vector<std::string>& more) {
    const LentCost lent(std::make_shared<const Scaled>(scale));
    std::vector<std::string> all{"network.kind=hopfield",
                                 "task.kind=classification",
                                 "hopfield.hidden=[16]",
                                 "hopfield.feedback=none",
                                 "network.cost=own",
                                 "estimator=implicit",
                                 "precision=double",
                                 "relaxation.step=1",
                                 "relaxation.free_steps=10",
                                 "train.steps=20",
                                 "threads=1"};
    all.insert(all.end(), more.begin(), more.end());
    return train(parse_program_config("c", "", all), std::nullopt).failure;
  };
  for (const double scale : {1e-9, 1.0, 1e9}) {
    CAPTURE(scale);
    CHECK(failure(scale, {}).empty());
    // Outputs of some 100 targets from the first step to the last.
    CHECK_THAT(failure(scale, {"hopfield.gain=200", "train.learning_rate=1e-9"}),
               Catch::StartsWith("the loss ends at") && Catch::Contains("times that of a constant answer"));
  }
}
