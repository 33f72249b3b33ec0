// SPDX-License-Identifier: Apache-2.0
// Alternating descent of the layers' own energies (Algorithms 1 and 3 of "Transformers as Intrinsic Optimizers"), held against
// energies that are written again here, sum by sum.
#include <cmath>
#include <functional>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_model.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/assembly.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;
using M = Eigen::MatrixXd;

namespace {

constexpr double kTemperature = 1.5;
constexpr Index kHeads = 2;

/// Σ_t F*(z_t; context rows 0 … t) = −(T/H) Σ_t Σ_h log Σ_i exp(−E_h/T), E = −(W1 z)·(W2 h) or ½‖W1 z − W2 h‖².
double free_energy(bool elastic, const M& z, const M& context, const M& w1, const M& w2) {
  const Index width = w1.rows() / kHeads;
  double sum = 0;
  for (Index t = 0; t < z.rows(); ++t) {
    for (Index h = 0; h < kHeads; ++h) {
      const Eigen::VectorXd q = w1.middleRows(h * width, width) * z.row(t).transpose();
      double mass = 0;
      for (Index i = 0; i <= t; ++i) {
        const Eigen::VectorXd k = w2.middleRows(h * width, width) * context.row(i).transpose();
        mass += std::exp(-(elastic ? 0.5 * (q - k).squaredNorm() : -q.dot(k)) / kTemperature);
      }
      sum -= kTemperature / static_cast<double>(kHeads) * std::log(mass);
    }
  }
  return sum;
}

/// −Σ max(m W, 0)².
double memory_energy(const M& m, const M& w) { return -(m * w).cwiseMax(0.0).array().square().sum(); }

M normed(const M& u) { return ((u.array().square().rowwise().mean() + 1e-5).rsqrt().matrix().asDiagonal() * u).eval(); }

/// Σ of the layers' energies at the settled state, x below the first node: nodes j even mix, j odd remember; the weights by number.
double layer_energies(const M& x, const M& z, const std::vector<M>& w, Index channels, Index layers, bool elastic,
                      bool moving) {
  const Index n = z.cols() / channels;
  double sum = 0;
  for (Index j = 0; j < n; ++j) {
    const M u = j == 0 ? x : M(z.middleCols((j - 1) * channels, channels));
    const M m = normed(u), moved = m + z.middleCols(j * channels, channels) - u;
    const auto at =
        static_cast<std::size_t>(2 + 3 * (j / 2 % layers));  // tok, pos, then W1, W2 and the patterns of each
    sum += j % 2 == 0 ? free_energy(elastic, moved, moving ? moved : m, w[at], w[at + 1])
                      : memory_energy(moved, w[at + 2]);
  }
  return sum;
}

/// ∂f/∂w of some entries of one matrix against what is expected there.
void check_slopes(std::vector<M>& w, std::size_t which, const Matrix<double>& expected,
                  const std::function<double()>& f) {
  const double h = 1e-5;
  REQUIRE(expected.norm() > 0);
  for (Index i = 0; i < w[which].size(); i += 3) {
    double& entry = w[which].data()[i];
    const double before = entry;
    entry = before + h;
    const double ahead = f();
    entry = before - h;
    const double slope = (ahead - f()) / (2 * h);
    entry = before;
    const Index r = i % w[which].rows(), c = i / w[which].rows();
    // Truncation h² f''' ~ 1e-10 and rounding ε |f|/h ~ 1e-16 · 10²/1e-5 ~ 1e-9, beside entries near the norm over √size.
    CHECK(std::abs(slope - expected(r, c)) < 1e-6 * expected.norm());
  }
}

Config layered(const std::string& mixer, const Settings& more = {}) {
  Settings settings{"transformer.mixer=" + mixer,
                    "transformer.feed_forward=memory",
                    "transformer.positions=learned",
                    "transformer.loops=2",
                    "mixer.temperature=1.5",
                    "relaxation.schedule=sweep",
                    "relaxation.step=1",
                    "relaxation.free_steps=1",
                    "relaxation.nudged_steps=1",
                    "estimator=energy_alternating",
                    "gradcheck.estimators=['implicit']"};
  settings.insert(settings.end(), more.begin(), more.end());
  return small("transformer", settings);
}

struct Case {
  std::unique_ptr<Network<double>> network;
  Gradient<double> gradient;
  Matrix<double> x, z;  ///< of the one sequence
  std::vector<M> weights;
  double share = 0;  ///< of a token in the mean cost
  double loss = 0;
};

Case learnt(const Config& config, const Batch& batch, const std::string& estimator = "") {
  Case c;
  c.network = make_network<double>(config, network_plan(config, sizes_for(config)), Weights::configured);
  BatchGradient<double> learner(*c.network, gradient_options<double>(config, estimator));
  c.gradient = Gradient<double>(c.network->parameter_shapes());
  c.loss = learner.compute(batch, 0, c.gradient).loss;
  c.z = learner.states().front();
  ReadContext exact;
  exact.policy = ReadPolicy::all_ideal();
  c.x.resize(c.network->rows(), c.network->circuit().inputs());
  c.network->clamp(batch, 0, c.x, exact);
  for (int p = 0; p < c.network->parameters(); ++p) c.weights.emplace_back(c.network->map(p).weights());
  c.share = 1.0 / static_cast<double>(batch.counted());
  return c;
}

Batch tokens() {
  Batch batch;
  batch.sequences = 1;
  batch.tokens = 4;
  batch.indices = {3, 5, 1, 2};
  batch.targets = {5, 1, 2, 7};
  return batch;
}

Batch samples(const Config& config) {
  const TaskSizes sizes = sizes_for(config);
  Batch batch;
  batch.sequences = 1;
  batch.tokens = sizes.rows;
  batch.features = random_matrix<double>(sizes.rows, sizes.features, 4).cast<float>();
  batch.targets = {1, 0, 2};
  return batch;
}

}  // namespace

TEST_CASE("energy_alternating: every layer's gradient is the slope of its own energy at what it has settled to",
          "[energy_alternating]") {
  struct Of {
    const char* mixer;
    bool elastic, moving;
    Settings more;
  };
  const std::vector<Of> all = {{"gd_inner", false, false, {}},
                               {"gd_elastic", true, false, {}},
                               {"loop_inner", false, true, {"mixer.iterations=2", "mixer.eta=0.1"}},
                               {"loop_elastic", true, true, {"mixer.iterations=3"}},
                               {"loop_elastic", true, false, {"mixer.iterations=3", "mixer.refresh=false"}},
                               {"gd_elastic",
                                true,
                                false,
                                {"transformer.feedback=0.2", "growth.strength=0", "relaxation.schedule=parallel",
                                 "relaxation.step=0.5", "relaxation.free_steps=200"}},
                               {"gd_inner", false, false, {"device.preset=ecram"}},
                               {"gd_elastic", true, false, {"device.preset=ecram"}}};
  for (const Of& of : all) {
    CAPTURE(of.mixer, of.more);
    Case c = learnt(layered(of.mixer, of.more), tokens());
    REQUIRE(c.weights.size() == 9);
    const auto energy = [&] { return c.share * layer_energies(c.x, c.z, c.weights, 8, 2, of.elastic, of.moving); };
    for (const std::size_t p : {2, 3, 4, 5, 6, 7}) {
      CAPTURE(p);
      check_slopes(c.weights, p, c.gradient[static_cast<int>(p)], energy);
    }
    CHECK(c.gradient[0].norm() == 0);  // the tables are in no layer's energy
    CHECK(c.gradient[1].norm() == 0);
  }
}

TEST_CASE("energy_alternating: a layer's update descends its energy while what it reads is held",
          "[energy_alternating]") {
  // So that the energies above are those of the paper's steps: z_j − u = −η ∂F*/∂m for gd_*, −∂E/∂m for memories.
  for (const bool elastic : {false, true}) {
    const Case c = learnt(layered(elastic ? "gd_elastic" : "gd_inner", {"mixer.eta=0.3"}), tokens());
    for (const bool memory : {false, true}) {
      const Index j = memory ? 1 : 0;
      const M u = memory ? M(c.z.leftCols(8)) : M(c.x);
      const M m = normed(u), update = c.z.middleCols(j * 8, 8) - u;
      M moved = m;
      const double h = 1e-5, eta = memory ? 1 : 0.3;
      for (Index i = 0; i < m.size(); ++i) {
        const auto at = [&](double shift) {
          moved.data()[i] = m.data()[i] + shift;
          const double e =
              memory ? memory_energy(moved, c.weights[4]) : free_energy(elastic, moved, m, c.weights[2], c.weights[3]);
          moved.data()[i] = m.data()[i];
          return e;
        };
        // As above; a kink of max is met by no entry within h.
        CHECK(update.data()[i] == Approx(-eta * (at(h) - at(-h)) / (2 * h)).margin(1e-7));
      }
    }
  }
}

TEST_CASE("energy_alternating: the read-out learns from the cost as everywhere, the layers nothing of the targets",
          "[energy_alternating]") {
  const Config config = layered("gd_inner");
  const Case own = learnt(config, tokens());
  const Case exact = learnt(config, tokens(), "bptt");
  const int readout = own.network->readout();
  CHECK(own.loss == exact.loss);
  CHECK(relative_error(own.gradient[readout], exact.gradient[readout]) < 1e-15);
  Batch others = tokens();
  others.targets = {0, 0, 8, 0};
  const Case other = learnt(config, others);
  for (int p = 0; p < readout; ++p) CHECK((own.gradient[p].array() == other.gradient[p].array()).all());
  CHECK_FALSE((own.gradient[readout].array() == other.gradient[readout].array()).all());
}

TEST_CASE("energy_alternating: a block descends s F*(z, z) + E_mem, a Hopfield network its energy",
          "[energy_alternating]") {
  const std::string estimator = "estimator=energy_alternating";
  for (const char* mixer : {"model.mixer=gd_elastic", "model.mixer=mha2nd"}) {
    CAPTURE(mixer);
    const Config of_block = small("block", {estimator, mixer, "mixer.temperature=1.5", "model.attention_gain=0.7",
                                            "growth.strength=0", "mixer.initial_scale=0.5"});
    Case block = learnt(of_block, tokens());
    const auto energy = [&] {
      return block.share * (0.7 * free_energy(true, block.z, block.z, block.weights[3], block.weights[4]) +
                            memory_energy(block.z, block.weights[2]));
    };
    for (const std::size_t p : {2, 3, 4}) check_slopes(block.weights, p, block.gradient[static_cast<int>(p)], energy);
  }

  const Config of_layers = small("hopfield", {estimator, "hopfield.cost=cross_entropy", "growth.strength=0"});
  Case net = learnt(of_layers, samples(of_layers));
  CircuitDynamics<double> dynamics(net.network->circuit(), net.network->rows(), 1);
  dynamics.bind(net.x, ReadContext{});
  for (int p = 0; p < net.network->readout(); ++p) {
    if (net.gradient[p].norm() == 0) continue;
    check_slopes(net.weights, static_cast<std::size_t>(p), net.gradient[p], [&] {
      net.network->map(p).program(net.weights[static_cast<std::size_t>(p)]);
      dynamics.bind(net.x, ReadContext{});
      return net.share * dynamics.energy(net.z).value();
    });
  }
}

TEST_CASE("energy_alternating: networks with weights that no energy has are refused by name", "[energy_alternating]") {
  const auto refused = [](const std::string& kind, Settings settings, const std::string& why) {
    settings.emplace_back("estimator=energy_alternating");
    CHECK_THROWS_WITH(small(kind, settings), Contains("does not fit") && Contains(why));
  };
  refused("transformer", {}, "transformer.mixer = attention has weights outside any energy (W_v, W_o");
  refused("transformer", {"transformer.mixer=mha", "transformer.feed_forward=memory"}, "transformer.mixer = mha has");
  refused("transformer", {"transformer.mixer=gd_inner"}, "transformer.feed_forward = two_layer has W1 and W2");
  refused("block", {}, "model.mixer = attention has weights");
  refused("block", {"model.mixer=linattn", "model.heads=1"}, "gd_elastic");
  refused("block", {"model.mixer=gd_inner", "model.memory_arrays=2"}, "returns through other weights");
  refused("stack", {}, "network.kind = stack does not have an energy per layer");
  refused("hopfield", {}, "without a read-out nothing learns from the cost");
  refused("hopfield", {"hopfield.cost=cross_entropy", "hopfield.feedback=separate"}, "only links that act both ways");
  refused("resistive", {}, "network.kind = resistive does not have an energy per layer");
  CHECK_NOTHROW(small("block", {"model.mixer=gd_inner", "estimator=energy_alternating"}));
}

TEST_CASE("train.learns = readout leaves every other parameter as it started", "[energy_alternating]") {
  for (const Settings& settings : {Settings{"train.weight_decay=0.1"}, Settings{"device.preset=ecram"}}) {
    Settings all = settings;
    all.emplace_back("train.learns=readout");
    const Config config = small("transformer", all);
    EquilibriumRun<double> trainee(config, network_plan(config, sizes_for(config)), "", Weights::configured);
    std::vector<Matrix<double>> before;
    for (int p = 0; p < trainee.network().parameters(); ++p) before.push_back(trainee.network().map(p).weights());
    trainee.step(0, tokens());
    for (int p = 0; p < trainee.network().parameters(); ++p) {
      const bool same =
          (trainee.network().map(p).weights().array() == before[static_cast<std::size_t>(p)].array()).all();
      CHECK(same == (p != trainee.network().readout()));
    }
  }
  CHECK_THROWS_WITH(small("resistive", {"train.learns=readout"}), Contains("a network with a read-out would"));
  CHECK_THROWS_WITH(small("hopfield", {"train.learns=readout"}), Contains("no read-out to learn alone"));
}
