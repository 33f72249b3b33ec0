// SPDX-License-Identifier: Apache-2.0
// Runs that are damaged, cannot be written, or leave the finite numbers.
#include <limits>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/assembly.hpp"
#include "training/data/characters.hpp"
#include "training/models/block/block_plan.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("what cannot be resumed is refused and left alone", "[train]") {
  const TemporaryDirectory dir;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to settle is to learn, " + std::to_string(i * i) + "; ";
  write_bytes(dir / "text.txt", text);
  const Settings settings{"train.steps=6", "data.text=" + (dir / "text.txt").string()};
  train(tiny_config(settings), dir / "run.h5", stop_after(5));
  const std::string before = bytes_of(dir / "run.h5");
  const auto refused = [&](const char* words, const Config* config = nullptr) {
    CHECK_THROWS_AS(resume(dir / "run.h5", config), UserError);
    CHECK_THROWS_WITH(resume(dir / "run.h5", config), Contains(words) && Contains("run.h5"));
    CHECK(bytes_of(dir / "run.h5") == before);
  };

  Settings other = settings;
  other.emplace_back("train.batch=4");
  other.emplace_back("beta=1e-3");
  const Config changed = tiny_config(other);
  refused("train.batch: 3 in the file, 4 in the config", &changed);
  refused("beta", &changed);

  write_bytes(dir / "text.txt", text + "!");
  refused("text");
  std::filesystem::remove(dir / "text.txt");
  CHECK_THROWS_AS(resume(dir / "run.h5", nullptr), UserError);
  CHECK_THROWS_WITH(resume(dir / "run.h5", nullptr), Contains("text.txt"));
  CHECK(bytes_of(dir / "run.h5") == before);
  write_bytes(dir / "text.txt", text);
  CHECK(resume(dir / "run.h5", nullptr).done == 6);

  CHECK_THROWS_WITH(resume(dir / "none.h5", nullptr), Contains("none.h5"));
  CHECK_THROWS_WITH(resume(dir / "text.txt", nullptr), Contains("text.txt"));
}

TEST_CASE("a damaged checkpoint is noticed or harmless, never trained on", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config({"train.steps=6"});
  train(config, dir / "straight.h5");
  train(config, dir / "run.h5", stop_after(5));
  const std::string good = bytes_of(dir / "run.h5");
  int noticed = 0;
  constexpr int places = 60;
  for (int i = 0; i < places; ++i) {
    std::string bad = good;
    const std::size_t at = good.size() * static_cast<std::size_t>(2 * i + 1) / (2 * places);
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    write_bytes(dir / "bad.h5", bad);
    CAPTURE(at);
    try {
      resume(dir / "bad.h5", nullptr);
      // The byte lay in unused space or in a name of no consequence.
      const auto different = differing_objects(dir / "straight.h5", dir / "bad.h5");
      CHECK(different == std::vector<std::string>{});
    } catch (const UserError& error) {
      ++noticed;
      CHECK_THAT(error.what(), Contains("bad.h5"));
      CHECK(bytes_of(dir / "bad.h5") == bad);
    }
  }
  CHECK(noticed > places / 2);
  write_bytes(dir / "bad.h5", good.substr(0, good.size() / 2));  // cut short
  CHECK_THROWS_AS(resume(dir / "bad.h5", nullptr), UserError);
}

TEST_CASE("damage to the parameters of a finished run is noticed without the seal too", "[train]") {
  const TemporaryDirectory dir;
  train(tiny_config(), dir / "run.h5");
  const std::string whole = bytes_of(dir / "run.h5");
  const std::string good = whole.substr(0, whole.size() - 16);
  const H5Shape shape = H5Reader(dir / "run.h5").shape("parameters/Wh");
  const Matrix<float> weights = H5Reader(dir / "run.h5").matrix<float>("parameters/Wh", shape, NonFinite::rejected);
  const std::string bytes(reinterpret_cast<const char*>(weights.data()), 16);
  int places = 0;
  for (std::size_t at = good.find(bytes); at != std::string::npos; at = good.find(bytes, at + 1)) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_bytes(dir / "bad.h5", bad);
    CHECK_THROWS_WITH(resume(dir / "bad.h5", nullptr), Contains("bad.h5"));
    ++places;
  }
  CHECK(places >= 2);  // the values as a user reads them, and the checkpoint's
  write_bytes(dir / "bad.h5", good);
  CHECK(resume(dir / "bad.h5", nullptr).failure.empty());
}

TEST_CASE("an output that cannot be written stops a run before its first step", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config();
  bool stepped = false;
  const TrainObserver observer = [&stepped](const TrainProgress&) { return stepped = true; };
  write_bytes(dir / "taken.h5", "precious");
  for (const std::string name : {"taken.h5", "no/such/folder/run.h5", "taken.h5/run.h5", "."}) {
    CAPTURE(name);
    CHECK_THROWS_AS(train(config, dir / name, observer), UserError);
    CHECK_FALSE(stepped);
  }
  CHECK(bytes_of(dir / "taken.h5") == "precious");
  CHECK(files_in(dir) == 1);
  CHECK_THROWS_WITH(train(tiny_config({"data.text=none.txt"}), dir / "run.h5"), Contains("none.txt"));
  CHECK(files_in(dir) == 1);
}

TEST_CASE("a step that is not finite is counted and leaves the weights alone", "[train]") {
  const Config config = tiny_config();
  const TextDataset data = load_dataset(config);
  const auto plan = network_plan(config, character_sizes(config, data.vocabulary_size()));
  EquilibriumRun<float> trainee(config, plan, "", Weights::configured);
  const auto batch = [&](std::uint64_t step) { return training_batch(data.training(), 3, plan->rows(), 1, step); };
  const auto weights = [&] {
    std::vector<Matrix<float>> all;
    for (int p = 0; p < trainee.network().parameters(); ++p) all.push_back(trainee.network().map(p).weights());
    return all;
  };
  trainee.step(0, batch(0));
  const auto before = weights();
  Matrix<float> poisoned = before[BlockParameter::pos];
  poisoned(0, 0) = std::numeric_limits<float>::quiet_NaN();
  trainee.network().map(BlockParameter::pos).program(poisoned);
  trainee.step(1, batch(1));
  trainee.step(2, batch(2));
  for (int p = 0; p < trainee.network().parameters(); ++p) {
    if (p != BlockParameter::pos) CHECK((trainee.network().map(p).weights() == before[static_cast<std::size_t>(p)]));
  }
  trainee.network().map(BlockParameter::pos).program(before[BlockParameter::pos]);
  trainee.step(3, batch(3));
  const auto after = weights();
  for (std::size_t p = 0; p < after.size(); ++p) {
    CHECK(after[p].allFinite());
    CHECK_FALSE((after[p] == before[p]));
  }
  CHECK(trainee.log().values("train/nonfinite") == std::vector<double>{0, 1, 1, 0});
}

TEST_CASE("a trainee is stuck after fifty steps in a row that were not finite, and not before", "[train]") {
  const Config config = tiny_config({"relaxation.free_steps=1", "relaxation.nudged_steps=1"});
  const TextDataset data = load_dataset(config);
  const auto plan = network_plan(config, character_sizes(config, data.vocabulary_size()));
  EquilibriumRun<float> trainee(config, plan, "", Weights::configured);
  const Batch batch = training_batch(data.training(), 1, plan->rows(), 1, 0);
  const Matrix<float> sound = trainee.network().map(BlockParameter::pos).weights();
  Matrix<float> poisoned = sound;
  poisoned(0, 0) = std::numeric_limits<float>::quiet_NaN();
  std::uint64_t step = 1001;  // from here on 150 steps are not judged for their equilibrium, of which NaN has none
  const auto poison = [&](int steps) {
    trainee.network().map(BlockParameter::pos).program(poisoned);
    for (int i = 0; i < steps; ++i) trainee.step(step++, batch);
  };
  poison(49);
  CHECK(trainee.stuck().empty());
  trainee.network().map(BlockParameter::pos).program(sound);
  trainee.step(step++, batch);  // one that is finite: the count starts anew
  poison(49);
  CHECK(trainee.stuck().empty());
  poison(1);
  CHECK_THAT(trainee.stuck(), Contains("50 steps in a row"));
}

TEST_CASE("a hopeless run stops with the weights it started from", "[train]") {
  const TemporaryDirectory dir;
  const Settings settings{"train.steps=80", "estimator=aep", "beta=1e30", "train.checkpoint_every=20"};
  const Config config = tiny_config(settings);
  const TrainSummary summary = train(config, dir / "run.h5");
  CHECK_THAT(summary.failure, Contains("not finite 50 steps in a row"));
  CHECK(summary.done == 50);
  CHECK(summary.of("nonfinite") == 50);
  const H5Reader file(dir / "run.h5");
  const auto plan = network_plan(config, character_sizes(config, load_dataset(config).vocabulary_size()));
  const auto model = make_network<float>(config, plan, Weights::configured);
  for (const auto& group : model->groups()) {
    const Matrix<float> start =
        model->map(group.parameter).weights().middleCols(group.columns.begin, group.columns.count);
    CHECK((file.matrix<float>("parameters/" + group.name) == start));
  }
  CHECK(file.reals<double>("train/nonfinite") == std::vector<double>(50, 1.0));
  CHECK(file.texts("events/text").size() >= 50);
  CHECK_THAT(file.texts("events/text")[0], Contains("reject_nonfinite"));

  // The count of steps in a row belongs to the state of a run: broken off and resumed, it stops at the same step.
  train(config, dir / "broken.h5", stop_after(30));
  CHECK_FALSE(resume(dir / "broken.h5", nullptr).failure.empty());
  CHECK(differing_objects(dir / "run.h5", dir / "broken.h5") == std::vector<std::string>{});
}

TEST_CASE("a network that nothing drives is settled where it is: its residual is 0, not undefined", "[train]") {
  const TemporaryDirectory dir;
  std::string text;
  for (int i = 0; i < 40; ++i) text += std::to_string(i % 2) + ",0,0,0\n";  // a label and features that are all zero
  write_bytes(dir / "zero.csv", text);
  for (const char* rest : {"estimator=ep", "estimator=aep_transposed", "estimator=bptt"}) {
    CAPTURE(rest);
    const Config config = parse_program_config(
        "zero.toml", "",
        {"task.kind=classification", "data.file=" + (dir / "zero.csv").string(), "network.kind=resistive",
         "resistive.bias=none", "resistive.hidden=[4]", "train.steps=3", "train.batch=4", rest});
    const TrainSummary run = train(config, std::nullopt);
    CHECK(run.failure.empty());
    CHECK(run.of("residual") == 0);
    CHECK_FALSE(run.notes.empty());  // of features that tell nothing
  }
}
