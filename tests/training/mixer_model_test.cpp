// SPDX-License-Identifier: Apache-2.0
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Settings = std::vector<std::string>;

Config config_of(const std::string& kind, Settings settings = {}) {
  settings.insert(settings.begin(), "model.mixer=" + kind);
  if (kind != MixerChoice::fused) settings.insert(settings.begin(), "mixer.initial_scale=0.6");
  if (kind == "linattn") settings.insert(settings.begin(), "model.heads=1");
  return parse_program_config("mixer.toml",
                              "threads = 1\nhardware.level = 'ideal'\n"
                              "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"

                              "[train]\nsteps = 20\nbatch = 3\nwarmup = 5\nevaluate_every = 9\nevaluation_batches = 2\n"
                              "checkpoint_every = 0\nlearning_rate = 1e-2\n"
                              "[relaxation]\nfree_steps = 8\nnudged_steps = 8\n",
                              settings);
}

/// What a kind reads of a temperature that leaves smooth forces, of fewer states than by default, and of less momentum.
Settings gentle(const std::string& kind, Settings settings) {
  for (const char* tempered : {"gd_elastic", "gd_inner", "loop_elastic", "loop_inner", "mha2nd", "light2nd"}) {
    if (kind == tempered) settings.emplace_back("mixer.temperature=6");
  }
  if (kind.starts_with("fem_ssm")) settings.emplace_back("mixer.states=3");
  if (kind.ends_with("_stack")) settings.emplace_back("mixer.momentum_start=0.5");  // at 0.9 it does not settle
  return settings;
}

/// Those of the gradient check; FEM starts from deviations of 0.02, which leave hardly any force.
const std::vector<std::pair<std::string, std::string>> kForces = {
    {"mha", "0.8"}, {"linattn", "0.5"}, {"light2nd1st", "0.8"}, {"fem_softmax", "10"}};

}  // namespace

TEST_CASE("every estimator finds the exact gradient of a mixer's block at equilibrium", "[mixer_model]") {
  for (const auto& [kind, scale] : kForces) {
    CAPTURE(kind);
    const Config config = config_of(
        kind, {"precision=double", "mixer.initial_scale=" + scale, "relaxation.free_steps=80",
               "relaxation.nudged_steps=80", "gradcheck.estimators=all", "gradcheck.finite_difference_entries=2"});
    const GradcheckReport report = gradcheck(config);
    CHECK(report.reference_converged());
    CHECK(report.finite());
    CHECK(report.stability.asymmetry > 0.01);  // not a gradient: plain EP is wrong
    // Settled (0.8^80 = 2e-8) and β = 1e-5: errors of 1e-4 at most, 1 − cos below 1e-7.
    for (const char* name : {"aep", "aep_anchored", "aep_tracked", "aep_transposed", "aep_npoint", "dyadic",
                             "linear_adjoint", "implicit", "implicit_dense", "bptt"}) {
      INFO(name);
      const GradcheckRow* row = report.find(name, "all");
      REQUIRE(row != nullptr);
      CHECK(row->agreement.cosine > 1 - 1e-6);
      if (kind == "fem_softmax")
        CHECK_FALSE(report.find(name, "b_k")->agreement.has_gradient);  // softmax does not feel it
    }
    const GradcheckRow* differences = report.find("finite_difference", "all");
    REQUIRE(differences != nullptr);
    CHECK(differences->agreement.relative_l2 < 1e-4);
  }
}

TEST_CASE("tracked AEP has the exact gradient of every mixer's block at equilibrium", "[mixer_model]") {
  // The bound; settled as above, β = 1e-5 leaves 1 − cos below 1e-7 where no gate flips.
  for (const std::string& kind : force_mixers()) {
    CAPTURE(kind);
    const bool free_energy = kind.rfind("fem_", 0) == 0;
    const Config config = config_of(
        kind, gentle(kind, {"precision=double", free_energy ? "mixer.initial_scale=10" : "mixer.initial_scale=0.5",
                            "relaxation.free_steps=80", "relaxation.nudged_steps=80",
                            "gradcheck.estimators=[\"aep_tracked\"]", "gradcheck.finite_difference_entries=0"}));
    const GradcheckReport report = gradcheck(config);
    CHECK(report.reference_converged());
    const GradcheckRow* row = report.find("aep_tracked", "all");
    REQUIRE(row != nullptr);
    CHECK(row->agreement.cosine > 0.9999);
  }
}

TEST_CASE("a mixer's model trains, stores its weights by name and resumes to the same bits", "[mixer_model]") {
  for (const char* kind : {"mha", "fem_softmax"}) {
    CAPTURE(kind);
    const TemporaryDirectory dir;
    const Config config = config_of(kind);
    train(config, dir / "whole.h5");
    train(config, dir / "broken.h5", [](const TrainProgress& p) { return p.done < 11; });
    CHECK(resume(dir / "broken.h5", nullptr).done == 20);
    CHECK(differing_objects(dir / "whole.h5", dir / "broken.h5") == std::vector<std::string>{});
    train(config_of(kind, {"threads=2"}), dir / "two.h5");
    const H5Reader one(dir / "whole.h5");
    const H5Reader two(dir / "two.h5");
    const auto plan = network_plan(config, character_sizes(config, load_dataset(config).vocabulary_size()));
    const auto start = make_network<float>(config, plan, Weights::configured);
    for (const auto& group : start->groups()) {
      CAPTURE(group.name);
      const Matrix<float> trained = one.matrix<float>("parameters/" + group.name);
      CHECK((trained == two.matrix<float>("parameters/" + group.name)));
      const Matrix<float> before =
          start->map(group.parameter).weights().middleCols(group.columns.begin, group.columns.count);
      CHECK_FALSE((trained == before));
    }
    CHECK(one.has(std::string("parameters/") + (std::string(kind) == "mha" ? "Wq" : "xb")));
  }
}

TEST_CASE("a block of clamp and mixer alone trains and resumes", "[mixer_model]") {
  const TemporaryDirectory dir;
  const Config config = config_of("light2nd1st", {"model.memories=0", "train.beside=bptt"});
  const TrainSummary whole = train(config, dir / "whole.h5");
  CHECK(whole.of("nonfinite") == 0);
  train(config, dir / "broken.h5", [](const TrainProgress& p) { return p.done < 7; });
  resume(dir / "broken.h5", nullptr);
  CHECK(differing_objects(dir / "whole.h5", dir / "broken.h5") == std::vector<std::string>{});
  CHECK_FALSE(H5Reader(dir / "whole.h5").has("parameters/Wm"));
}

TEST_CASE("a mixer's matrices are held by arrays, its gains are numbers", "[mixer_model]") {
  const Config config = config_of("mha", {"device.model=soft_bounds", "estimator=aep_transposed", "beta=0.1",
                                          "train.steps=3", "device.programming_error=1 %"});
  CHECK(train(config, std::nullopt).of("nonfinite") == 0);
  const auto plan = network_plan(config, character_sizes(config, 10));
  const auto held = make_network<float>(config, plan, Weights::configured);
  const auto exact = make_network<float>(config, plan, Weights::digital);
  const auto parameters = plan->parameters();
  for (int p = 0; p < held->parameters(); ++p) {
    CAPTURE(parameters[static_cast<std::size_t>(p)].name);
    CHECK((held->map(p).weights() == exact->map(p).weights()) != parameters[static_cast<std::size_t>(p)].on_devices);
  }
}

TEST_CASE("every mixer held by curved devices has the derivatives of its circuit", "[mixer_model]") {
  for (const std::string& kind : force_mixers()) {
    CAPTURE(kind);
    const bool free_energy = kind.rfind("fem_", 0) == 0;
    // Stacks with 5 % more gain have no equilibrium at 0.5.
    const std::string scale = std::string("mixer.initial_scale=") + (free_energy                ? "10"
                                                                     : kind.ends_with("_stack") ? "0.3"
                                                                                                : "0.5");
    const Config config = config_of(
        kind,
        gentle(kind, {"precision=double", scale, "relaxation.free_steps=80", "relaxation.nudged_steps=80",
                      "train.batch=1", "gradcheck.estimators=[\"implicit\"]", "gradcheck.finite_difference_entries=2",
                      "device.model=soft_bounds", "device.read_noise=0", "device.programming_error=0",
                      "device.iv_sinh=0.25 V", "crossbar.forward_gain_error=0.05"}));
    const GradcheckReport report = gradcheck(config);
    CHECK(report.reference_converged());
    const GradcheckRow* implicit = report.find("implicit", "all");
    const GradcheckRow* differences = report.find("finite_difference", "all");
    REQUIRE((implicit != nullptr && differences != nullptr));
    CHECK(implicit->agreement.relative_l2 < 1e-6);  // settled to 2e-8 of the transient
    // Differences of a cost settled to 1e-12, 1e-8 relative, times the ratio of scales of groups (below 1e3 for FEM).
    CHECK(differences->agreement.relative_l2 < 1e-5);
  }
}

TEST_CASE("a mixer's initial weights follow its spec", "[mixer_model]") {
  const Config config = config_of("light2nd1st", {"model.channels=64", "model.heads=4"});
  const auto plan = network_plan(config, character_sizes(config, 10));
  const auto weights = initial_weights<double>(model_shape(config, 10), {}, 1);
  const auto parameters = plan->parameters();
  REQUIRE(weights.size() == parameters.size());
  for (std::size_t p = 0; p < weights.size(); ++p) {
    CAPTURE(parameters[p].name);
    CHECK(weights[p].rows() == parameters[p].shape.rows);
    CHECK(weights[p].cols() == parameters[p].shape.cols);
  }
  // 4096 numbers of deviation 0.6/8: its estimate has the relative deviation 1/√8192 = 1.1 %, five of them 5.5 %.
  CHECK(std::sqrt(weights[BlockParameter::output].squaredNorm() / 4096) == Approx(0.6 / 8).epsilon(0.055));
  CHECK((weights[BlockParameter::output + 4].array() == 0.01).all());  // tau
}

TEST_CASE("wrong mixers are the user's errors, named", "[mixer_model]") {
  const auto refuses = [](const std::string& kind, const Settings& settings, const std::string& word) {
    CAPTURE(kind, word);
    CHECK_THROWS_WITH(config_of(kind, settings), Contains(word));
  };
  refuses("mhaa", {}, "mha");
  refuses("fem_softmx", {}, "fem_softmax");
  refuses("glinattn", {}, "model.mixer");
  refuses("linattn", {"model.heads=2"}, "one head");
  refuses("mha", {"model.heads=3"}, "must divide");
  refuses("fem_softmax", {"mixer.rope=true", "model.heads=4", "mixer.keys=4"}, "odd");
  refuses("fem_softmax", {"mixer.values=3"}, "values");
  refuses("fem_gla", {"mixer.window=3"}, "window = 3");
  refuses("mha", {"mixer.window=-1"}, "mixer.window");
  refuses("light2nd", {"mixer.ridge=0"}, "mixer.ridge");
  refuses("mha", {"mixer.ropes=true"}, "mixer.rope");
  refuses("attention", {"mixer.values=3"}, "nothing reads it");  // sizes of another mixer than the chosen one
}
