// SPDX-License-Identifier: Apache-2.0
// A training step of a layered Hopfield network by equilibrium propagation, per sample, beside its products alone; see
// bench/README.md.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "training/config/config_table.hpp"
#include "training/data/sample_task.hpp"
#include "training/models/registry.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge::bench {
namespace {

constexpr Index kInputs = 784, kHidden = 512, kClasses = 10;
constexpr int kSweeps = 15;       // of every phase, as in the published runs of this size
constexpr double kEpoch = 60000;  // samples

Config config_for(Index batch, Index rows, const std::string& estimator) {
  return parse_program_config(
      "bench", "",
      {"network.kind=hopfield", "task.kind=classification", "hopfield.hidden=[" + std::to_string(kHidden) + "]",
       "estimator=" + estimator, "beta=0.2", "relaxation.schedule=sweep", "relaxation.step=1",
       "relaxation.free_steps=" + std::to_string(kSweeps), "relaxation.nudged_steps=" + std::to_string(kSweeps),
       "train.optimizer=sgd", "train.momentum=0", "train.learning_rate=0.01", "train.schedule=constant",
       "train.gradient_clip=0", "train.batch=" + std::to_string(batch), "data.side_by_side=" + std::to_string(rows),
       "threads=1"});
}

/// Makes random pictures with labels.
Batch samples(Index batch, Index rows) {
  Batch out{batch, 1, {}, {}, uniform(batch, kInputs, 20), {}};
  for (Index b = 0; b < batch; ++b) out.targets.push_back(static_cast<int>(b % kClasses));
  return side_by_side(out, rows);
}

/// Floor: every product of the step once, in the order of the step, by the fastest library, and nothing else. The
/// sample's drive comes first, then both ways through the upper link in every sweep of the free phase and of two nudged
/// ones. The outer products of both and the step of the weights follow.
class Floor {
 public:
  explicit Floor(Index batch)
      : x_(uniform(batch, kInputs, 30)),
        hidden_(uniform(batch, kHidden, 31)),
        output_(uniform(batch, kClasses, 32)),
        first_(uniform(kInputs, kHidden, 33)),
        second_(uniform(kHidden, kClasses, 34)) {}
  void run() {
    fastest_multiply(x_, first_, hidden_);
    for (int i = 0; i < 3 * kSweeps; ++i) {
      fastest_transposed(output_, second_, hidden_);
      fastest_multiply(hidden_, second_, output_);
    }
    for (int phase = 0; phase < 2; ++phase) {
      fastest_outer(x_, hidden_, 1e-9F, first_, Store::add);
      fastest_outer(hidden_, output_, 1e-9F, second_, Store::add);
    }
  }

 private:
  Matrix<float> x_, hidden_, output_, first_, second_;
};

/// Seconds of this thread's processor, which do not count other programs.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void epoch(benchmark::State& state, Index batch, Index rows, const std::string& estimator) {
  const Config config = config_for(batch, rows, estimator);
  const TaskSizes sizes{rows, 0, kClasses, kInputs, 0, {28, 28}};
  EquilibriumRun<float> trainee(config, network_plan(config, sizes), "", Weights::configured);
  const Batch data = samples(batch, rows);
  Floor floor(batch);
  floor.run();
  std::uint64_t step = 0;
  const Matrix<float> before = trainee.network().map(0).weights();
  trainee.step(step++, data);
  const Matrix<float>& after = trainee.network().map(0).weights();
  if (after == before || !after.allFinite()) {  // a step that is not finite is rolled back
    state.SkipWithError("the network did not learn");
    return;
  }
  std::vector<double> times, processor, ratios;
  for (auto _ : state) {
    const double begin = processor_seconds();
    floor.run();
    const double middle = processor_seconds();
    times.push_back(seconds_of([&] { trainee.step(step++, data); }));
    processor.push_back(processor_seconds() - middle);
    ratios.push_back(processor.back() / (middle - begin));
    state.SetIterationTime(times.back());
  }
  const double per_epoch = kEpoch / static_cast<double>(batch);
  state.counters["epoch_s"] = per_epoch * median(times);
  state.counters["epoch_cpu_s"] = per_epoch * median(processor);
  state.counters["fastest_s"] = per_epoch * *std::min_element(times.begin(), times.end());
  state.counters["ratio"] = median(ratios);
  state.SetLabel(fastest_libraries());
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  for (const nudge::Index batch : {16, 64}) {
    for (const nudge::Index rows : {nudge::Index{1}, nudge::Index{8}, nudge::Index{16}, nudge::Index{64}}) {
      if (batch % rows != 0) continue;
      for (const std::string estimator : {"ep_contrastive", "ep"}) {
        add(estimator + "/784-512-10/B" + std::to_string(batch) + "/R" + std::to_string(rows), 101,
            [=](benchmark::State& s) { epoch(s, batch, rows, estimator); });
      }
    }
  }
  return run_added(argc, argv);
}
