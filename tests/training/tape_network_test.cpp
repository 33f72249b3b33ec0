// SPDX-License-Identifier: Apache-2.0
// Networks that are no circuits, trained as any other.
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stored_config.hpp"
#include "training/sweep/sweep.hpp"
#include "training/train/generate.hpp"
#include "training/train/tape_run.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Texts = std::vector<std::string>;
const Texts kOwn = {"started", "wall_time_s", "threads", "config"};

const std::string kSizes =
    "[model]\nchannels = 8\nheads = 2\n[sequence]\nblocks = 2\n[train]\nsteps = 4\nbatch = 5\nevaluate_every = 2\n"
    "evaluation_batches = 2\ntest_batches = 2\nlearning_rate = 1e-2\nwarmup = 0\n";
const std::string kArgmax = "[network]\nkind = 'argmax_read'\n[task]\nkind = 'argmax'\n" + kSizes;

/// A kind of network and a task that it can learn.
Config small(const std::string& network, const std::string& task, Texts settings = {}) {
  settings.insert(settings.begin(), {"network.kind=" + network, "task.kind=" + task});
  std::string text = kSizes;
  if (network == "argmax_read") text = text.substr(0, text.find("[sequence]")) + text.substr(text.find("[train]"));
  settings.push_back(task == "latent"              ? "model.tokens=66"
                     : task == "in_context_recall" ? "model.tokens=23"
                                                   : "model.tokens=18");
  return parse_program_config("small.toml", text, settings);
}

const std::vector<std::pair<std::string, std::string>>& pairs() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"sequence_model", "characters"},       {"sequence_model", "in_context_recall"},
      {"sequence_model", "compression"},      {"sequence_model", "latent"},
      {"free_transformer", "characters"},     {"free_transformer", "latent"},
      {"free_transformer", "selective_copy"}, {"argmax_read", "argmax"},
      {"sequence_model", "forecasting"}};
  return all;
}

}  // namespace

TEST_CASE("networks on tapes learn any task of their rows, log it, and end in the same bits on any number of threads") {
  for (const auto& [network, task] : pairs()) {
    INFO(network << " on " << task);
    const TemporaryDirectory folder;
    const Texts few = network == "free_transformer" ? Texts{"latent.bits=2", "latent.pairs=3"} : Texts{};
    Texts one = few, three = few;
    one.push_back("threads=1");
    three.push_back("threads=3");
    const TrainSummary summary = train(small(network, task, one), folder / "one.h5");
    train(small(network, task, three), folder / "three.h5");
    CHECK(differing_objects(folder / "one.h5", folder / "three.h5", kOwn) == Texts{});
    CHECK(summary.failure.empty());
    const H5Reader file(folder / "one.h5");
    CHECK(file.text_attribute("network", "train") == network);
    CHECK(file.text_attribute("estimator", "train") == "backprop");
    CHECK(stored_program_config(file).text("estimator") == "backprop");
    CHECK(static_cast<double>(file.integer_attribute("weights", "train")) == summary.of("weights"));
    CHECK(file.reals<double>("train/loss").size() == 4);
    CHECK(file.reals<double>("train/validation_step") == std::vector<double>{0, 2, 4});
    CHECK(file.reals<double>("train/test_loss").size() == 1);
    CHECK(file.reals<double>("train/validation_loss").back() == summary.of("validation_loss"));
    CHECK(file.reals<double>("sample_losses/validation/loss").size() == 10);
    int measures = 0;
    for (const RunValue& value : summary.values.all()) {
      if (value.column != Column::measure) continue;
      ++measures;
      CHECK(file.reals<double>("train/validation_" + value.name).size() == 3);
    }
    if (task == "latent" && network == "free_transformer") CHECK(measures == 11);
    for (const std::string& dataset : file.all_datasets()) CHECK_FALSE(file.meaning(dataset).description.empty());
  }
}

TEST_CASE("a stopped run of a network on a tape goes on to the same bits") {
  const TemporaryDirectory folder;
  for (const auto& [network, task] : pairs()) {
    INFO(network << " on " << task);
    const Config config = small(network, task);
    const std::string name = network + task;
    train(config, folder / (name + ".h5"));
    train(config, folder / (name + "_part.h5"), [](const TrainProgress& p) { return p.done < 3; });
    const TrainSummary rest = resume(folder / (name + "_part.h5"), &config);
    CHECK(rest.done == 4);
    CHECK(differing_objects(folder / (name + ".h5"), folder / (name + "_part.h5"), kOwn) == Texts{});
  }
}

TEST_CASE("a network on a tape whose loss is not finite is stuck, and its last weights stay") {
  const TemporaryDirectory folder;
  // A rate of 1e30 sends the free energy's weights to where products overflow.
  const TrainSummary s = train(small("argmax_read", "argmax", {"train.learning_rate=1e30"}), folder / "a.h5");
  CHECK_THAT(s.failure, Contains("stopped: the ") && Contains("is not finite"));
  CHECK(s.done < 4);
  for (const float w : H5Reader(folder / "a.h5").reals<float>("parameters/Wq")) REQUIRE(std::isfinite(w));
}

TEST_CASE("the free energy learns what a convex read cannot") {
  // T = 16, D = 16: F = Δ + ε − log(T)/β recovers the winner where β > log(T)/0.43 = 6.4 (the value is then nearer to
  // the winner's than to the noise); β grows by about the rate per step from 1.95, so 1000 steps of 0.01 reach 10. A
  // convex read is at the mean, Δ/T, unless it picks the one winner of a channel: 1/T = 6 % and a little more.
  const ConfigSource source{"a.toml",
                            kArgmax.substr(0, kArgmax.find("[sequence]")) +
                                "[train]\nsteps = 1000\nbatch = 16\n"
                                "evaluate_every = 'end'\nschedule = 'constant'\nwarmup = 0\nlearning_rate = 1e-2\n"
                                "weight_decay = 0.01\nadam_beta2 = 0.999\nevaluation_batches = 7\n"
                                "[sweep.grid]\n'argmax.read' = ['softmax', 'free_energy']\n",
                            {"model.channels=16", "model.tokens=16"}};
  const TemporaryDirectory folder;
  const Sweep sweep = run_sweep(source, {folder / "a.h5"});
  const auto metric = [&](std::size_t point, const std::string& name) {
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      if (sweep.metrics[m].name == name) return sweep.points[point].metrics[m];
    }
    return std::nan("");
  };
  REQUIRE(sweep.points.size() == 2);
  CHECK(metric(0, "index_accuracy") < 0.3);
  CHECK(metric(1, "index_accuracy") > 0.9);
  CHECK(std::isnan(metric(0, "beta")));
  CHECK(metric(1, "beta") > 6.4);
  CHECK(metric(1, "validation_rmse") == Approx(std::sqrt(metric(1, "validation_loss"))).epsilon(1e-5));  // float sums
  for (const Measure& one : sweep.metrics) CHECK(one.name != "residual");
}

TEST_CASE("what only circuits have is refused for a network on a tape") {
  CHECK_THROWS_WITH(circuit_parts(small("sequence_model", "characters")),
                    Contains("network.kind = sequence_model does not settle"));
  CHECK_THROWS_WITH(small("sequence_model", "characters", {"sweep.run=gradcheck"}),
                    Contains("sweep.run = gradcheck (must be train for network.kind = sequence_model"));
}

TEST_CASE("networks on tapes write text, a Free Transformer with latents of its prior or of the prompt") {
  const TemporaryDirectory folder;
  for (const std::string network : {"sequence_model", "free_transformer"}) {
    INFO(network);
    const auto file = folder / (network + ".h5");
    train(small(network, "characters"), file);
    const Generated first = generate(file, {.prompt = "The ", .tokens = 30});
    CHECK(first.text.size() >= 30);
    CHECK(generate(file, {.prompt = "The ", .tokens = 30}).text == first.text);
    CHECK(generate(file, {.prompt = "The ", .tokens = 12}).text == first.text.substr(0, 12));
    CHECK(generate(file, {.prompt = "The ", .tokens = 30, .seed = 2}).text != first.text);
    // After four steps hardly better than chance, ln 93 = 4.5, and nowhere near 0.
    CHECK(first.negative_log_likelihood == Approx(4.5).margin(1.0));
  }
  CHECK(generate(folder / "free_transformer.h5", {.prompt = "The ", .tokens = 30, .prefill = true}).text.size() >= 30);
  CHECK_THROWS_WITH(generate(folder / "sequence_model.h5", {.prefill = true}), Contains("has no latents"));
}

TEST_CASE("a sequence model writes by the logits that its evaluation has") {
  const TemporaryDirectory folder;
  const Config config = small("sequence_model", "characters", {"precision=double"});
  train(config, folder / "a.h5");
  const RunParts parts = run_parts(config);
  TapeRun<double> learner(config, parts.task->sizes());
  learner.restore(H5Reader(folder / "a.h5"), "");
  const Batch batch = parts.task->validation().front();
  const auto tape = learner.model().record(learner.parameters());
  tape->load(batch, 0, {});
  tape->tape().run();
  const auto writer = learner.model().writer(learner.parameters(), {});
  const auto symbols = batch.indices_of(0);
  for (const std::size_t length : {std::size_t{1}, std::size_t{7}, symbols.size()}) {
    const std::vector<double> logits =
        writer->next({symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(length)}, 0);
    for (std::size_t k = 0; k < logits.size(); ++k) {
      // Causal: what fills up the window is not seen.
      CHECK(logits[k] == Approx(tape->output()(static_cast<Index>(length) - 1, static_cast<Index>(k))).margin(1e-12));
    }
  }
}

TEST_CASE("files of the time of nudge experiment keep their config, without its keys") {
  const TemporaryDirectory folder;
  std::string text = dump_toml(small("sequence_model", "characters"), DumpComments::none);
  text.insert(text.find("\n[sweep]\n"), "\n[experiment]\ntasks = [\"argmax\"]\nepochs = 30\n");
  H5Document document;
  document.attribute("config", text);
  document.write(folder / "old.h5", Overwrite::must_not_exist);
  CHECK(stored_program_config(H5Reader(folder / "old.h5")).integer("model.channels") == 8);
}
