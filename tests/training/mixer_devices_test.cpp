// SPDX-License-Identifier: Apache-2.0
// Every mixer that trains, with its weights as numbers, on arrays, and on arrays that are read through noise: the gradient against
// central differences of the settled noise-free circuit, and a training.

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/transformer/transformer_config.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using Settings = std::vector<std::string>;

namespace {

struct Lane {
  const char* name;
  Settings settings;
};

/// Static errors alone; then the read noise that preset = noisy_reads is for.
const std::vector<Lane>& lanes() {
  static const std::vector<Lane> all = {
      {"digital", {}},
      {"ecram", {"device.preset=ecram"}},
      {"noisy_reads",
       {"device.model=soft_bounds", "device.programming_error=3 %", "device.read_noise=1 %", "preset=noisy_reads"}}};
  return all;
}

/// Temperatures that leave smooth forces, few states, and FEM weights that make a force at all.
Settings gentle(const std::string& mixer) {
  Settings settings;
  for (const char* tempered : {"gd_elastic", "gd_inner", "loop_elastic", "loop_inner", "mha2nd", "light2nd"}) {
    if (mixer == tempered) settings.emplace_back("mixer.temperature=6");
  }
  if (mixer.starts_with("fem_ssm")) settings.emplace_back("mixer.states=3");
  if (mixer.ends_with("_stack")) settings.emplace_back("mixer.momentum_start=0.5");
  if (mixer == "fem_softmax_lt") settings.emplace_back("model.channels=32");  // 7/8 of them in pairs per head
  return settings;
}

Config config_of(const std::string& kind, const std::string& mixer, const Lane& lane, const Settings& more) {
  Settings settings{"network.kind=" + kind};
  settings.push_back((kind == "block" ? "model.mixer=" : "transformer.mixer=") + mixer);
  if (kind == "block") {
    const bool free_energy = mixer.starts_with("fem_");
    settings.push_back(std::string("mixer.initial_scale=") + (free_energy                 ? "10"
                                                              : mixer.ends_with("_stack") ? "0.3"
                                                                                          : "0.5"));
    if (mixer == "linattn") settings.emplace_back("model.heads=1");
  } else {
    // Noise is averaged over states: those of steps, not of one sweep.
    if (std::string(lane.name) != "noisy_reads") {
      settings.insert(settings.end(), {"relaxation.schedule=sweep", "relaxation.step=1", "relaxation.free_steps=1",
                                       "relaxation.nudged_steps=1"});
    }
    if (mixer.starts_with("gd_") || mixer.starts_with("loop_")) settings.emplace_back("transformer.positions=learned");
  }
  for (const Settings& part : {gentle(mixer), lane.settings, more})
    settings.insert(settings.end(), part.begin(), part.end());
  return parse_program_config("mixers.toml",
                              "threads = 1\nhardware.level = 'ideal'\n"
                              "[model]\nchannels = 8\ntokens = 4\nmemories = 12\nheads = 2\n"
                              "[train]\nsteps = 4\nbatch = 2\nwarmup = 1\nevaluate_every = 0\nevaluation_batches = 1\n"
                              "test_batches = 1\ncheckpoint_every = 0\nlearning_rate = 1e-2\n"
                              "[relaxation]\nfree_steps = 80\nnudged_steps = 80\n",
                              settings);
}

std::vector<std::pair<std::string, std::string>> trained_mixers() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& mixer : force_mixers()) all.emplace_back("block", mixer);
  for (const std::string& mixer : transformer_mixers()) all.emplace_back("transformer", mixer);
  return all;
}

}  // namespace

TEST_CASE("every mixer, as numbers and on arrays: the gradient of the settled noise-free circuit", "[mixer_devices]") {
  for (const auto& [kind, mixer] : trained_mixers()) {
    for (const Lane& lane : lanes()) {
      CAPTURE(kind, mixer, lane.name);
      const bool noisy = std::string(lane.name) == "noisy_reads";
      Settings settings = {"precision=double", "gradcheck.estimators=['aep_transposed', 'bptt']",
                           "gradcheck.finite_difference_entries=2",
                           noisy ? "nudge.cost_current=frozen" : "nudge.sides=centered"};
      // What 1 % makes of layers that write with keys and gates of their own reads is not small, and no bound is known: the cosine is .06 for
      // deltanet, .91 for gated_deltanet and .86 for mamba2. To first order it is in proportion to the noise: here a fiftieth.
      const bool writes = mixer == "deltanet" || mixer == "gated_deltanet" || mixer == "mamba2";
      if (noisy && writes) settings.emplace_back("device.read_noise=0.02 %");
      const GradcheckReport report = gradcheck(config_of(kind, mixer, lane, settings));
      CHECK(report.reference_converged());
      const GradcheckRow* differences = report.find("finite_difference", "all");
      const GradcheckRow* transposed = report.find("aep_transposed", "all");
      const GradcheckRow* unrolled = report.find("bptt", "all");
      REQUIRE((differences != nullptr && transposed != nullptr && unrolled != nullptr));
      // Differences of a cost settled to 1e-12, 1e-8 relative, times the ratio of scales of groups (below 1e3 for FEM).
      CHECK(differences->agreement.relative_l2 < 1e-5);
      // Settled to 0.8^80 = 2e-8 and β = 1e-5 where reads are exact. Reads with 1 % of noise: an adjoint at β = 0.1 is off by
      // .78 σ/β = 8 % before averages over 12 states (notes on the equilibrium block), which leave 2 to 3 %, 1 − cos of 5e-4;
      // a feed-forward sweep of one step has one state, and a gradient of some weights that are hardly driven.
      CHECK(transposed->agreement.cosine > (noisy ? 0.95 : 1 - 1e-6));
      CHECK(unrolled->agreement.cosine > (noisy ? 0.95 : 1 - 1e-6));
    }
  }
}

TEST_CASE("every mixer trains as numbers, on arrays and through read noise, by aep_transposed and by bptt",
          "[mixer_devices]") {
  for (const auto& [kind, mixer] : trained_mixers()) {
    for (const Lane& lane : lanes()) {
      for (const char* estimator : {"aep_transposed", "bptt"}) {
        CAPTURE(kind, mixer, lane.name, estimator);
        const std::string by = std::string("estimator=") + estimator;
        const TrainSummary done = train(config_of(kind, mixer, lane, {by, "train.null=off"}), std::nullopt);
        CHECK(done.done == 4);
        CHECK(done.of("nonfinite") == 0);
      }
    }
  }
}
