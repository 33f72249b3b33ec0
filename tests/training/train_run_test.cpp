// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_run.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/assembly.hpp"
#include "training/data/characters.hpp"
#include "training/models/block/block_plan.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// A run on crossbars whose pulses and reads draw random numbers: everything that a checkpoint must bring back.
const Settings kNoisyCrossbar{
    "device.model=soft_bounds", "device.update=pulsed",         "device.read_noise=0.1 %",    "device.update_noise=0.3",
    "device.step_spread=0.2",   "device.programming_error=1 %", "estimator=aep_transposed",   "beta=0.1",
    "reads.anchor=mean 2",      "relaxation.average_free=3",    "relaxation.average_nudged=3"};

/// Ways to change weights in the devices, each with state of its own.
Settings in_situ(const Settings& more) {
  Settings all = kNoisyCrossbar;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
const Settings kPlainSgd{"train.optimizer=sgd", "train.momentum=0", "train.gradient_clip=0"};
Settings coincidence() {
  Settings all = in_situ({"crossbar.update=coincidence"});
  all.insert(all.end(), kPlainSgd.begin(), kPlainSgd.end());
  return all;
}
Settings write_verify() { return in_situ({"crossbar.programming=write_verify", "crossbar.update=write_verify"}); }
/// A rule that gathers, at settings that move devices within a few steps.
Settings by_rule(const std::string& update) {
  Settings all = in_situ({"crossbar.update=" + update});
  if (update == "one_sided") all.insert(all.end(), {"crossbar.mapping=one_sided", "crossbar.refresh_every=2"});
  if (update == "accumulate") all.insert(all.end(), {"crossbar.read_back=true", "crossbar.random_start=true"});
  if (update == "residual") all.emplace_back("crossbar.residual_share=0.5");
  if (update == "c_ttv2") all.emplace_back("crossbar.chopper_probability=0.3");
  if (update == "agad") all.emplace_back("crossbar.chopper_period=2");
  return all;
}

}  // namespace

TEST_CASE("a run of the shipped text learns, and says what it did", "[train]") {
  const TemporaryDirectory dir;
  std::uint64_t calls = 0;
  const TrainObserver observer = [&calls](const TrainProgress& p) {
    if (!p.warning.empty()) return true;  // of the free phases, beside the steps
    ++calls;
    CHECK(p.done == calls);
    CHECK(p.finished == (p.done == 150));
    return true;
  };
  const Config config = tiny_config({"train.steps=150", "train.evaluate_every=30", "train.beside=bptt"});
  const TrainSummary summary = train(config, dir / "run.h5", observer);
  CHECK(calls == 150);
  CHECK(summary.done == 150);
  CHECK(summary.of("nonfinite") == 0);
  CHECK(summary.failure.empty());
  CHECK(summary.beside == "bptt");
  CHECK(files_in(dir) == 1);

  const H5Reader file(dir / "run.h5");
  const auto loss = file.reals<double>("train/loss", H5Shape{150});
  const auto validation = file.reals<double>("train/validation_loss");
  CHECK(file.reals<double>("train/validation_step") == std::vector<double>{0, 30, 60, 90, 120, 150});
  // Random weights give about ln V + the spread of the logits, over 4.5 for the 93 characters of the text; knowing the
  // frequencies of the letters alone is worth a nat of it.
  CHECK(validation.front() > 4.5);
  CHECK(validation.back() < 3.9);
  CHECK(summary.of("validation_loss") == validation.back());
  double last = 0;
  for (std::size_t i = 135; i < 150; ++i) last += loss[i] / 15;
  CHECK(summary.of("final_loss") == Approx(last).epsilon(1e-14));
  CHECK(summary.of("beside/validation_loss") == file.reals<double>("beside/train/validation_loss").back());
  CHECK(summary.of("beside/validation_loss") < 3.9);
  // Both trainees start from the same weights and see the same batches.
  CHECK(file.reals<double>("beside/train/loss")[0] == Approx(loss[0]).epsilon(1e-6));
  CHECK(file.text_attribute("estimator", "train") == "aep_anchored");
  CHECK(file.text_attribute("estimator", "beside/train") == "bptt");
  CHECK(file.text_attribute("kind") == "train");
  for (const char* name : {"tok", "pos", "Wm", "Wq", "Wk", "Wv", "Wo", "Wh"}) {
    CHECK(file.has(std::string("parameters/") + name));
  }
}

TEST_CASE("AEP and backprop go below the entropy of letter frequencies: they use context", "[train][slow]") {
  const Config config =
      tiny_config({"train.steps=500", "train.batch=8", "model.channels=32", "model.memories=64", "model.tokens=8",
                   "relaxation.free_steps=16", "relaxation.nudged_steps=16", "estimator=aep_transposed",
                   "train.beside=bptt", "train.evaluate_every=0", "train.evaluation_batches=8", "threads=2"});
  const TextDataset text = load_dataset(config);
  std::vector<double> count(static_cast<std::size_t>(text.vocabulary_size()), 1.0);
  for (const int id : text.training()) count[static_cast<std::size_t>(id)] += 1;
  double total = 0;
  for (const double n : count) total += n;
  double entropy = 0;
  for (const int id : text.validation()) entropy -= std::log(count[static_cast<std::size_t>(id)] / total);
  entropy /= static_cast<double>(text.validation().size());
  const TrainSummary summary = train(config, std::nullopt);
  CAPTURE(entropy, summary.of("validation_loss"), summary.of("beside/validation_loss"));
  CHECK(summary.of("nonfinite") == 0);
  CHECK(summary.of("validation_loss") < entropy - 0.3);
  CHECK(summary.of("beside/validation_loss") < entropy - 0.3);
}

TEST_CASE("the bits of a run do not depend on the threads", "[train]") {
  const TemporaryDirectory dir;
  Settings settings =
      GENERATE(Settings{"train.beside=bptt", "train.cosine_every=6"}, kNoisyCrossbar, coincidence(), write_verify(),
               by_rule("accumulate"), by_rule("residual"), by_rule("c_ttv2"), by_rule("agad"), by_rule("one_sided"));
  settings.emplace_back("train.steps=12");
  settings.emplace_back("threads=1");
  train(tiny_config(settings), dir / "one.h5");
  settings.back() = "threads=2";
  train(tiny_config(settings), dir / "two.h5");
  CHECK(differing_objects(dir / "one.h5", dir / "two.h5", {"started", "wall_time_s", "threads", "config"}) ==
        std::vector<std::string>{});
}

TEST_CASE("a stopped run resumes to the bits of an unbroken one", "[train]") {
  const TemporaryDirectory dir;
  Settings settings = GENERATE(Settings{"train.beside=bptt", "train.cosine_every=8"},
                               Settings{"precision=double", "train.optimizer=sgd", "estimator=aep_tracked"},
                               Settings{"estimator=aep", "train.skip_ratio=1.01", "damping.high=6e-3"}, kNoisyCrossbar,
                               coincidence(), write_verify(), by_rule("accumulate"), by_rule("residual"),
                               by_rule("c_ttv2"), by_rule("agad"), by_rule("one_sided"));
  CAPTURE(settings);
  const Config config = tiny_config(settings);
  train(config, dir / "straight.h5");
  const TrainSummary part = train(config, dir / "broken.h5", stop_after(17));
  CHECK(part.done == 17);
  CHECK(H5Reader(dir / "broken.h5").reals<double>("train/loss").size() == 17);
  resume(dir / "broken.h5", nullptr, stop_after(30));
  settings.emplace_back("threads=2");  // may differ
  const Config again = tiny_config(settings);
  const TrainSummary rest = resume(dir / "broken.h5", &again);
  CHECK(rest.done == 40);
  CHECK(differing_objects(dir / "straight.h5", dir / "broken.h5", {"started", "wall_time_s", "threads", "config"}) ==
        std::vector<std::string>{});
  CHECK(rest.of("validation_loss") == H5Reader(dir / "straight.h5").reals<double>("train/validation_loss").back());
  CHECK(files_in(dir) == 2);
  const std::string finished = bytes_of(dir / "broken.h5");
  CHECK(resume(dir / "broken.h5", nullptr).done == 40);  // nothing left to do
  CHECK(bytes_of(dir / "broken.h5") == finished);
}

TEST_CASE("coincidence updates train the arrays without a gradient of theirs", "[train]") {
  const Settings settings = coincidence();
  const Config config = tiny_config(settings);
  CHECK_THROWS_WITH(tiny_config(in_situ({"crossbar.update=coincidence"})),
                    Contains("train.optimizer") && Contains("must be sgd") && Contains("train.gradient_clip"));
  const auto model = make_network<double>(config, network_plan(config, {6, 60, 60}), Weights::configured);
  BatchGradientOptions options = gradient_options<double>(config, "implicit");
  options.reads = ReadPolicy::all_ideal();
  Batch batch;
  batch.sequences = 3;
  batch.tokens = 6;
  for (int i = 0; i < 18; ++i) {
    batch.indices.push_back(i);
    batch.targets.push_back(i + 1);
  }
  BatchGradient<double> summed(*model, options);
  options.factors = true;
  BatchGradient<double> factored(*model, options);
  Gradient<double> gradient, rest;
  summed.compute(batch, 0, gradient);
  factored.compute(batch, 0, rest);
  for (const int p : {BlockParameter::input, BlockParameter::output, model->readout()}) {
    CHECK(rest[p].isZero(0));
    Matrix<double> sum = rest[p];
    for (const auto& pair : factored.take_factors(p)) {
      sum.middleCols(pair.columns.begin, pair.columns.count) += pair.scale * pair.x.transpose() * pair.y;
    }
    REQUIRE(gradient[p].norm() > 0);
    // The same outer products added in another order.
    CHECK((sum - gradient[p]).norm() <= 1e-12 * gradient[p].norm());
  }
  CHECK((rest[BlockParameter::tok] == gradient[BlockParameter::tok]));
}

TEST_CASE("the heat and time of a run are medians over the steps that counted", "[train]") {
  const TemporaryDirectory dir;
  const TrainSummary summary = train(tiny_config(in_situ({"train.steps=15"})), dir / "run.h5");
  const H5Reader file(dir / "run.h5");
  const auto skipped = file.reals<double>("train/skipped");
  const auto nonfinite = file.reals<double>("train/nonfinite");
  const auto median = [&](const char* column) {
    std::vector<double> kept;
    const auto all = file.reals<double>(column);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (skipped[i] == 0 && nonfinite[i] == 0) kept.push_back(all[i]);
    }
    std::sort(kept.begin(), kept.end());
    return kept.at(kept.size() / 2);
  };
  CHECK(summary.of("array_energy") > 0);
  CHECK(summary.of("array_energy") == median("train/array_energy"));
  CHECK(summary.of("hardware/phase_time_s") == median("train/phase_time"));
}

TEST_CASE("a run tells the pulses that wrote its weights from those by which it learnt", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config(
      in_situ({"train.steps=12", "crossbar.programming=write_verify", "device.pulse_voltage_up=1 V",
               "device.pulse_voltage_down=1 V", "device.pulse_width_up=1 us", "device.pulse_width_down=1 us"}));
  const TrainSummary whole = train(config, dir / "whole.h5");
  const H5Reader file(dir / "whole.h5");
  double first = 0, last = 0, first_heat = 0, heat = 0;
  for (const std::string& path : file.all_datasets("device")) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name != "pulses_up" && name != "pulses_down" && name != "programming_energy" && name != "write_energy")
      continue;
    const auto values = file.reals<double>(path);
    if (name.starts_with("pulses")) first += values.front();  // evaluated before the first step: all are of programming
    if (name.starts_with("pulses")) last += values.back();
    if (name == "programming_energy") first_heat += values.back();
    if (name == "write_energy") heat += values.back();
  }
  CHECK((first > 0 && last > first));
  CHECK(whole.of("programming_pulses") == first);
  CHECK(whole.of("pulses") == last - first);
  CHECK(whole.of("hardware/programming/energy_J") == Approx(first_heat));
  CHECK(whole.of("hardware/write_energy_J") == Approx(heat - first_heat));
  CHECK(whole.of("hardware/energy_per_step_J/writes") == Approx(whole.of("hardware/write_energy_J") / 12));
  train(config, dir / "broken.h5", stop_after(5));
  const TrainSummary resumed = resume(dir / "broken.h5", nullptr);
  CHECK(resumed.of("pulses") == whole.of("pulses"));
  CHECK(resumed.of("programming_pulses") == whole.of("programming_pulses"));
  // Sums of the same numbers of several arrays, whose columns a restored log has in another order.
  CHECK(resumed.of("hardware/write_energy_J") == Approx(whole.of("hardware/write_energy_J")).epsilon(1e-14));
}

TEST_CASE("coupled channels train on devices and resume to the same bits", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config(in_situ({"model.coupling_scale=0.3", "train.steps=12"}));
  CHECK(train(config, dir / "whole.h5").of("nonfinite") == 0);
  train(config, dir / "broken.h5", stop_after(5));
  CHECK(resume(dir / "broken.h5", nullptr).done == 12);
  CHECK(differing_objects(dir / "whole.h5", dir / "broken.h5") == std::vector<std::string>{});
  const auto plan = network_plan(config, character_sizes(config, load_dataset(config).vocabulary_size()));
  const auto start = make_network<float>(config, plan, Weights::configured);
  for (const auto& group : start->groups()) {
    if (group.name != "Wc") continue;
    const Matrix<float> first =
        start->map(group.parameter).weights().middleCols(group.columns.begin, group.columns.count);
    CHECK_FALSE((H5Reader(dir / "whole.h5").matrix<float>("parameters/Wc") == first));
  }
}
