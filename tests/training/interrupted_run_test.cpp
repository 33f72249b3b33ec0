// SPDX-License-Identifier: Apache-2.0
// A signal in the middle of a step, an evaluation or the fit of the references: what is saved goes on to the bits of an unbroken run.
#include <chrono>
#include <thread>

#include "sim/base/interrupts.hpp"
#include "sim/base/parallel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// A signal after so many microseconds, taken back at the end.
class SignalAfter {
 public:
  explicit SignalAfter(int microseconds)
      : thread_([microseconds] {
          std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
          detail::asked_to_stop = true;
        }) {}
  ~SignalAfter() {
    thread_.join();
    detail::asked_to_stop = false;
  }

 private:
  std::thread thread_;
};

const TrainObserver kUntilSignal = [](const TrainProgress&) { return !interrupted(); };

Config classification(const std::string& references) {
  return parse_program_config(
      "digits.toml",
      "threads = 1\nestimator = \"ep_contrastive\"\nbeta = 0.25\n[network]\nkind = \"hopfield\"\n"
      "[task]\nkind = \"classification\"\n[hopfield]\nhidden = [8]\nform = \"projected\"\n"
      "[relaxation]\nschedule = \"sweep\"\nstep = 1.0\nfree_steps = 6\nnudged_steps = 4\n"
      "[train]\nsteps = 8\nbatch = 8\nevaluate_every = 3\ncheckpoint_every = 2\n",
      {"task.references=" + references});
}

}  // namespace

TEST_CASE("stop points are left only where it is allowed, in loops of threads too", "[interrupts]") {
  detail::asked_to_stop = true;
  CHECK_NOTHROW(stop_point());
  {
    const Interruptible here;
    CHECK_THROWS_AS(stop_point(), Interrupted);
    int begun = 0;
    CHECK_THROWS_AS(parallel_for(8, 2, [&](Index, int) { ++begun; }), Interrupted);
    CHECK(begun == 0);
    const Interruptible kept(false);
    CHECK_NOTHROW(stop_point());
    CHECK_NOTHROW(parallel_for(8, 2, [](Index, int) { stop_point(); }));
  }
  detail::asked_to_stop = false;
  const Interruptible here;
  CHECK_NOTHROW(stop_point());
}

TEST_CASE("a run that is interrupted anywhere resumes to the bits of an unbroken one", "[train][interrupts]") {
  const TemporaryDirectory dir;
  const Settings settings = GENERATE(Settings{"train.beside=bptt", "train.cosine_every=4", "train.evaluate_every=3"},
                                     Settings{"device.model=soft_bounds", "device.update=pulsed",
                                              "device.read_noise=0.1 %", "estimator=aep_transposed", "beta=0.1"});
  const Config config = tiny_config(settings);
  train(config, dir / "straight.h5");
  for (int round = 0; round < 5; ++round) {
    const auto path = dir / ("broken" + std::to_string(round) + ".h5");
    {
      const SignalAfter signal(4000 * round + 2000);
      train(config, path, kUntilSignal);
    }
    if (!std::filesystem::exists(path)) continue;  // before the first step
    const std::uint64_t first = static_cast<std::uint64_t>(H5Reader(path).integer_attribute("checkpoint_done"));
    CAPTURE(settings, round, first);
    {
      const SignalAfter signal(3000);
      resume(path, nullptr, kUntilSignal);
    }
    resume(path, nullptr);
    CHECK(differing_objects(dir / "straight.h5", path, {"started", "wall_time_s"}) == std::vector<std::string>{});
  }
}

TEST_CASE("references come after the first checkpoint, may be interrupted, and are made by the run that resumes",
          "[train][interrupts]") {
  const TemporaryDirectory dir;
  const Config config = classification("auto");
  std::vector<std::uint64_t> fitted_at;
  const TrainSummary whole = train(config, dir / "straight.h5", [&](const TrainProgress& p) {
    if (!p.doing.empty()) {
      fitted_at.push_back(p.done);
      CHECK(H5Reader(dir / "straight.h5").integer_attribute("checkpoint_done") == 2);  // there is a file by now
    }
    return true;
  });
  REQUIRE_FALSE(fitted_at.empty());
  CHECK(fitted_at.front() == 2);
  CHECK(fitted_at.back() == 2);
  REQUIRE(whole.references);
  CHECK(whole.references->seconds > 0);
  const double wall = H5Reader(dir / "straight.h5").real_attribute("wall_time_s");
  CHECK(whole.seconds == Approx(wall).margin(1.0));  // both without the references
  CHECK(H5Reader(dir / "straight.h5").real_attribute("wall_time_s", "reference") == whole.references->seconds);

  int passes = 0;
  const TrainSummary part = train(config, dir / "broken.h5", [&](const TrainProgress& p) {
    if (!p.doing.empty() && ++passes == 3) detail::asked_to_stop = true;
    return !interrupted();
  });
  detail::asked_to_stop = false;
  CHECK(part.stopped);
  CHECK_FALSE(part.references);
  CHECK(part.done == 2);
  CHECK(resume(dir / "broken.h5", nullptr).references);
  CHECK(differing_objects(dir / "straight.h5", dir / "broken.h5", {"started", "wall_time_s"}) ==
        std::vector<std::string>{});
}

TEST_CASE("a run without references has none", "[train]") {
  const TemporaryDirectory dir;
  CHECK_FALSE(train(classification("off"), dir / "off.h5").references);
  CHECK_FALSE(H5Reader(dir / "off.h5").has("reference/model"));
  const TrainSummary two = train(classification("[chance, majority]"), dir / "two.h5");
  REQUIRE(two.references);
  CHECK(two.references->rows.size() == 4);
  CHECK(two.references->find("linear", "test") == nullptr);
  CHECK_THROWS_WITH(classification("[auto, linear]"), Catch::Contains("stand alone"));
  CHECK_THROWS_WITH(classification("linar"), Catch::Contains("did you mean linear"));
}
