// SPDX-License-Identifier: Apache-2.0
// How the tokens of a sequence use arrays, in training: time, energy, checkpoints, threads, the reference gradient.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/study_model.hpp"
#include "training/check/gradient_agreement.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Settings = std::vector<std::string>;
constexpr Index kTokens = 5;

Config tiny(const Settings& settings) {
  return parse_program_config(
      "tiny.toml",
      "threads = 1\nhardware.level = 'ideal'\nestimator = 'aep_transposed'\nbeta = 0.1\n"
      "[model]\nchannels = 8\ntokens = 5\nmemories = 12\nheads = 2\n"
      "[train]\nsteps = 12\nbatch = 3\nwarmup = 5\nevaluate_every = 4\nevaluation_batches = 2\ncheckpoint_every = 0\n"
      "learning_rate = 1e-2\n[relaxation]\nfree_steps = 8\nnudged_steps = 8\n"
      "[device]\nmodel = 'soft_bounds'\nupdate = 'pulsed'\nread_noise = '0.1 %'\nupdate_noise = 0.3\n"
      "programming_error = '1 %'\n",
      settings);
}

/// relative distance of two gradients over all parameters
double distance(const Gradient<double>& a, const Gradient<double>& b) {
  double squares = 0;
  for (int p = 0; p < a.size(); ++p) squares += (a[p] - b[p]).squaredNorm();
  return std::sqrt(squares) / b.norm();
}

}  // namespace

TEST_CASE("tokens by turns take T times as long with the same reads, noise and heat", "[tokens]") {
  const TemporaryDirectory dir;
  const TrainSummary turns = train(tiny({"circuit.tokens=multiplexed"}), dir / "turns.h5");
  const TrainSummary shared = train(tiny({"circuit.tokens=shared"}), dir / "shared.h5");
  const H5Reader a(dir / "turns.h5"), b(dir / "shared.h5");
  for (const char* same : {"train/loss", "train/array_energy", "train/reads", "train/gradient_norm"}) {
    CAPTURE(same);
    CHECK(a.reals<double>(same) == b.reals<double>(same));
  }
  for (const char* longer : {"train/phase_time", "train/settling_time"}) {
    const auto slow = a.reals<double>(longer), fast = b.reals<double>(longer);
    for (std::size_t i = 0; i < slow.size(); ++i) CHECK(slow[i] == Approx(kTokens * fast[i]).epsilon(1e-13));
  }
  CHECK(turns.token_use == "multiplexed");
  CHECK(turns.tokens == kTokens);
  CHECK(turns.of("hardware/devices") == shared.of("hardware/devices"));
  // A digital lane has no arrays to take turns at, nor one that is read forward and backward in every step.
  train(tiny({"device.model=digital"}), dir / "digital.h5");
  CHECK(2 * H5Reader(dir / "digital.h5").reals<double>("train/settling_time")[0] ==
        Approx(b.reals<double>("train/settling_time")[0]));
}

TEST_CASE("leaking holds change what is computed", "[tokens]") {
  // A step of 0.35 τ lasts −ln(1 − 0.7)/2 τ = 15 ns: four slots of waiting against 100 ns leave exp(−0.6) = 0.55 of a drive.
  const Config config = tiny({"circuit.hold_time=100 ns", "relaxation.step=0.35", "damping.control=false"});
  const CrossbarSpec arrays = model_arrays(config);
  CHECK(arrays.tokens.held_share() == Approx(std::exp(-4 * -std::log(1 - 0.7) / 2 * 25 / 100.0)).epsilon(1e-12));
  const TrainSummary leaking = train(config, std::nullopt);
  const TrainSummary tight = train(tiny({"relaxation.step=0.35", "damping.control=false"}), std::nullopt);
  CHECK(std::isfinite(leaking.of("final_loss")));
  CHECK(std::abs(leaking.of("final_loss") - tight.of("final_loss")) > 1e-3);
  CHECK_THROWS_WITH(tiny({"circuit.hold_time=soon"}), Contains("circuit.hold_time"));
}

TEST_CASE("replicas: T times the devices, any thread count and a broken run give the same bits", "[tokens]") {
  const TemporaryDirectory dir;
  Settings settings = GENERATE(
      Settings{}, Settings{"crossbar.update=residual", "crossbar.residual_share=0.5"},
      Settings{"crossbar.update=coincidence", "train.optimizer=sgd", "train.momentum=0", "train.gradient_clip=0"});
  settings.emplace_back("circuit.tokens=replicated");
  const TrainSummary whole = train(tiny(settings), dir / "whole.h5");
  const TrainObserver stop = [](const TrainProgress& p) { return p.done < 7; };
  train(tiny(settings), dir / "broken.h5", stop);
  settings.emplace_back("threads=2");
  const Config two = tiny(settings);
  CHECK(resume(dir / "broken.h5", &two).done == 12);
  CHECK(differing_objects(dir / "whole.h5", dir / "broken.h5", {"started", "wall_time_s", "threads", "config"}) ==
        std::vector<std::string>{});
  CHECK(whole.of("nonfinite") == 0);
  settings.back() = "circuit.tokens=multiplexed";
  CHECK(whole.of("hardware/devices") == kTokens * train(tiny(settings), std::nullopt).of("hardware/devices"));
  CHECK(H5Reader(dir / "whole.h5").reals<double>("device/Winput/replicas")[0] == kTokens);
}

TEST_CASE("the gradient of replicas is that of their circuits, not of their mean weights", "[tokens]") {
  const Config config = tiny({"precision=double", "circuit.tokens=replicated", "device.programming_error=3 %"});
  const ModelShape shape = model_shape(config, 11);
  const auto plan = network_plan(config, character_sizes(config, 11));
  const auto device = make_network<double>(config, plan, Weights::configured);
  const double step = RelaxationStep(config).at(config.real("model.damping"));
  const Batch batch = random_batch(shape, 2, 3);
  const auto gradient = [&](ExactSystem truth) {
    return reference_gradient(config, *exact_copy(*device, truth), step, batch);
  };
  const Reference circuit = gradient(ExactSystem::circuit);
  CHECK(circuit.facts.converged());
  CHECK(distance(gradient(ExactSystem::device).gradient, circuit.gradient) > 1e-3);
}

TEST_CASE("every item of a step's energy is counted by itself", "[tokens]") {
  const TemporaryDirectory dir;
  const Settings priced = {"circuit.amplifier_power=1 uW", "circuit.line_capacitance=0.1 fF",
                           "circuit.digital_energy=1 pJ", "crossbar.forward_adc_bits=8", "circuit.adc_energy=1 pJ"};
  const TrainSummary free = train(tiny({}), std::nullopt);
  const TrainSummary run = train(tiny(priced), dir / "run.h5");
  const auto of = [](const TrainSummary& s, const std::string& item) {
    return s.of("hardware/energy_per_step_J/" + item);
  };
  CHECK(of(free, "digital") == 0);
  CHECK(of(free, "counts/digital_operations") > 0);
  CHECK(of(free, "counts/lines") > 0);
  CHECK(of(run, "amplifiers") == Approx(1e-6 * of(run, "counts/amplifier_seconds")));
  CHECK(of(run, "drivers") == Approx(1e-16 * of(run, "counts/driven_cells_V2")));
  CHECK(of(run, "digital") == Approx(1e-12 * of(run, "counts/digital_operations")));
  CHECK(of(run, "converters") == Approx(1e-12 * of(run, "counts/conversions")));
  CHECK(of(run, "counts/conversions") > 0);
  CHECK(of(run, "counts/conversions") <
        of(run, "counts/lines"));  // only the read-outs of forward reads have converters
  CHECK(H5Reader(dir / "run.h5").reals<double>("train/digital_operations").size() == 12);
  // The optimizer: 15 operations of every parameter, of sgd 6, beside the same reads. Correlations of 15 tokens: 2 of every
  // weight and token at least.
  const Config config = tiny({});
  const auto model =
      make_network<float>(config, network_plan(config, character_sizes(config, load_dataset(config).vocabulary_size())),
                          Weights::configured);
  double all = 0, weights = 0;
  for (int p = 0; p < model->parameters(); ++p) {
    const double size = static_cast<double>(model->map(p).inputs() * model->map(p).outputs());
    all += size;
    if (p >= BlockParameter::input) weights += size;
  }
  CHECK(of(run, "counts/digital_operations") > 15 * all + 2 * 15 * weights);
  Settings plain = priced;
  plain.insert(plain.end(), {"train.optimizer=sgd"});
  train(tiny(plain), dir / "sgd.h5");
  const auto first = [&](const char* file) {
    return H5Reader(dir / file).reals<double>("train/digital_operations")[0];
  };
  CHECK(first("run.h5") - first("sgd.h5") == 9 * all);
}

TEST_CASE("T replicas must fit into memory together", "[tokens]") {
  CrossbarSpec spec;
  ModelShape shape;
  shape.channels = 1024;
  shape.memories = 4096;  // 0.4 GB of one array in float
  spec.tokens.count = 1 << 14;
  CHECK_NOTHROW(check_arrays_fit(spec, BlockPlan(shape, {}, {}), sizeof(float)));
  spec.tokens.use = TokenUse::replicated;
  CHECK_THROWS_WITH(check_arrays_fit(spec, BlockPlan(shape, {}, {}), sizeof(float)),
                    Contains("circuit.tokens = multiplexed"));
}
