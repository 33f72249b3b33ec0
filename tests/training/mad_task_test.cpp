// SPDX-License-Identifier: Apache-2.0
#include "training/data/mad/mad_task.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr MadKind kKinds[] = {MadKind::in_context_recall, MadKind::noisy_recall, MadKind::fuzzy_recall,
                              MadKind::selective_copy, MadKind::memorization};

Config config_of(MadKind kind, Index tokens, std::vector<std::string> settings = {}) {
  settings.push_back(std::string("task.kind=") + to_string(kind));
  settings.push_back("model.tokens=" + std::to_string(tokens));
  return parse_program_config(
      "mad.toml",
      "[task]\nexamples = 20\n[model]\nchannels = 16\nmemories = 16\nheads = 2\n[network]\nkind = 'transformer'\n"
      "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 1\nnudged_steps = 1\n[memory_bound]\nfraction = 0\n"
      "[train]\nbatch = 6\nevaluation_batches = 3\ntest_batches = 2\nsteps = 4\nevaluate_every = 2\n",
      settings);
}

/// How many tokens of 40 or a little less a kind can read.
Index tokens_of(MadKind kind) { return kind == MadKind::in_context_recall || kind == MadKind::noisy_recall ? 39 : 40; }

std::vector<std::vector<int>> sequences_of(const std::vector<Batch>& batches) {
  std::vector<std::vector<int>> all;
  for (const Batch& batch : batches) {
    for (Index b = 0; b < batch.sequences; ++b) {
      all.emplace_back(batch.indices_of(b).begin(), batch.indices_of(b).end());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("MAD tasks of a larger vocabulary: every token occurs, none beyond") {
  for (const MadKind kind : {MadKind::in_context_recall, MadKind::noisy_recall, MadKind::fuzzy_recall,
                             MadKind::selective_copy, MadKind::compression, MadKind::memorization}) {
    CAPTURE(to_string(kind));
    MadSizes sizes = published_sizes(kind);
    sizes.vocabulary = 48;
    std::set<int> seen;
    for (std::uint64_t n = 0; n < 400; ++n) {  // 400 x 31 draws of 48 at the least: a token is missed once in e^258
      const MadExample example = mad_example(kind, sizes, 1, Split::training, n);
      seen.insert(example.tokens.begin(), example.tokens.end());
      seen.insert(example.targets.begin(), example.targets.end());
    }
    seen.erase(-1);
    CHECK(seen.size() == (kind == MadKind::memorization ? 47 : 48));  // V/2 − 1 keys have one value each, of V/2
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() == 47);
  }
  CHECK(make_task(config_of(MadKind::memorization, 40, {"task.vocabulary=512"}))->sizes().symbols == 512);
  // Keys and values of noisy_recall are half of what its 16 tokens of noise leave.
  const auto noisy = make_task(config_of(MadKind::noisy_recall, 39, {"task.vocabulary=48"}));
  CHECK(noisy->references({})->rows[0].score == Approx(1.0 / 16));
  CHECK_THROWS_WITH(make_task(config_of(MadKind::noisy_recall, 39, {"task.vocabulary=22"})),
                    Contains("task.vocabulary = 22") && Contains("an even number from 24"));
  CHECK_THROWS_WITH(make_task(config_of(MadKind::memorization, 40, {"task.vocabulary=9"})),
                    Contains("an even number from 8"));
}

TEST_CASE("MAD tasks: sizes, parts that share no sequence, epochs that have each once") {
  for (const MadKind kind : kKinds) {
    CAPTURE(to_string(kind));
    const auto task = make_task(config_of(kind, tokens_of(kind)));
    CHECK(task->sizes().rows == tokens_of(kind));
    CHECK(task->sizes().symbols == published_sizes(kind).vocabulary);
    const auto validation = task->validation(), test = task->test();
    REQUIRE(validation.size() == 3);
    REQUIRE(test.size() == 2);
    for (const auto* part : {&validation, &test}) {
      for (const Batch& batch : *part) {
        CHECK(batch.sequences == 6);
        CHECK(batch.tokens == tokens_of(kind));
        for (Index b = 0; b < 6; ++b) CHECK(batch.counted(b) > 0);
      }
    }
    const auto held_out = sequences_of(validation), tested = sequences_of(test);
    std::set<std::vector<int>> different(held_out.begin(), held_out.end());
    different.insert(tested.begin(), tested.end());
    CHECK(different.size() == 5 * 6);
    // 20 sequences in batches of 6, 6, 6 and 2; the next epoch has the same in another order.
    std::vector<std::vector<int>> first, second;
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Batch batch = task->training(step);
      CHECK(batch.sequences == (step == 3 ? 2 : 6));
      for (auto& s : sequences_of({batch})) first.push_back(s);
      for (auto& s : sequences_of({task->training(step + 4)})) second.push_back(s);
    }
    CHECK(first != second);
    const std::set<std::vector<int>> once(first.begin(), first.end());
    CHECK(once.size() == 20);
    CHECK(once == std::set<std::vector<int>>(second.begin(), second.end()));
    for (const auto& s : held_out) CHECK(once.count(s) == 0);
  }
}

TEST_CASE("MAD tasks: chance is one of the answers that a kind has") {
  for (const MadKind kind : kKinds) {
    CAPTURE(to_string(kind));
    const auto task = make_task(config_of(kind, tokens_of(kind), {"train.evaluation_batches=40"}));
    std::set<int> answers;
    for (const Batch& batch : task->validation()) {
      for (const int target : batch.targets) {
        if (target != Batch::kIgnored) answers.insert(target);
      }
    }
    const auto references = task->references({});
    REQUIRE(references);
    const ReferenceScore* chance = references->find("chance", "validation");
    REQUIRE(chance != nullptr);
    // 240 sequences ask hundreds of times for one of at most 128 values: nearly all occur, and no others.
    CHECK(static_cast<double>(answers.size()) <= 1 / chance->score + 0.5);
    CHECK(static_cast<double>(answers.size()) >= 0.9 / chance->score);
    CHECK(chance->loss == Approx(-std::log(chance->score)));
  }
}

TEST_CASE("MAD tasks refuse numbers of tokens that their sequences cannot have") {
  const auto refused = [](MadKind kind, Index tokens) -> std::string {
    try {
      make_task(config_of(kind, tokens));
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refused(MadKind::in_context_recall, 40), Contains("use model.tokens = 39"));
  CHECK_THAT(refused(MadKind::memorization, 41), Contains("use model.tokens = 42"));
  CHECK_THAT(refused(MadKind::fuzzy_recall, 12), Contains("must be at least 18"));
  CHECK(refused(MadKind::fuzzy_recall, 41).empty());
}

TEST_CASE("training on a MAD task is scored by its accuracy and goes on to the same bits", "[train]") {
  const TemporaryDirectory dir;
  for (const char* estimator : {"aep_transposed", "bptt"}) {
    const Config config = config_of(MadKind::in_context_recall, 39, {std::string("estimator=") + estimator});
    const auto whole = dir / (std::string(estimator) + "_whole.h5"), part = dir / (std::string(estimator) + "_part.h5");
    const TrainSummary summary = train(config, whole);
    CHECK(summary.metric == "accuracy");
    CHECK(summary.of("validation_accuracy") == H5Reader(whole).reals<double>("train/validation_accuracy").back());
    CHECK(summary.of("test_accuracy") == H5Reader(whole).reals<double>("train/test_accuracy").back());
    CHECK((summary.of("validation_accuracy") >= 0 && summary.of("validation_accuracy") <= 1));
    REQUIRE(summary.references);
    train(config, part, [](const TrainProgress& progress) { return progress.done < 3; });
    resume(part, nullptr);
    CHECK(differing_objects(whole, part, {"started", "wall_time_s"}).empty());
  }
}

TEST_CASE("keys in the weights are learnt by currents as by backprop", "[train]") {
  // 8 keys, a sequence of 18 tokens shows each about once: what a network of 16 channels holds after 60 steps.
  TrainSummary results[2];
  const char* estimators[] = {"aep_transposed", "bptt"};
  for (int e = 0; e < 2; ++e) {
    const Config config =
        config_of(MadKind::memorization, 32,
                  {"beta=1e-2", std::string("estimator=") + estimators[e], "task.examples=256", "train.steps=60",
                   "train.batch=16", "train.learning_rate=1e-2", "model.channels=32", "train.evaluate_every=0"});
    results[e] = train(config, std::nullopt);
  }
  const double chance = std::log(128.0);
  CHECK(results[0].of("validation_loss") < chance);
  // The estimate differs from the exact gradient by rounding/β and terms in β: thousandths, and so do 60 steps of it.
  CHECK(results[0].of("validation_loss") == Approx(results[1].of("validation_loss")).margin(0.05));
}
