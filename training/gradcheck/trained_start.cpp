// SPDX-License-Identifier: Apache-2.0
#include "training/gradcheck/gradcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>

#include "training/config/run_options.hpp"
#include "training/models/registry.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

constexpr const char* kLeftOut[] = {"device.",    "crossbar.", "circuit.", "correction.", "reads.",
                                    "gradcheck.", "sweep.",    "compare.", "spec.",       "output."};

template <class S>
std::shared_ptr<const TrainedStart> train_start(const Config& exact, std::uint64_t steps, const Task& task) {
  EquilibriumRun<S> run(exact, network_plan(exact, task.sizes()), "", Weights::digital);
  for (std::uint64_t step = 0; step < steps; ++step) run.step(step, task.training(step));
  auto start = std::make_shared<TrainedStart>();
  start->damping = run.network().circuit().damping().value;
  for (int p = 0; p < run.network().parameters(); ++p) {
    start->weights.push_back(run.network().map(p).weights().template cast<double>());
  }
  return start;
}

}  // namespace

Config exact_training_config(const Config& config) {
  Config exact(config.table());
  for (const std::string& key : config.keys()) {
    const bool left_out = std::any_of(std::begin(kLeftOut), std::end(kLeftOut),
                                      [&key](const char* section) { return key.starts_with(section); });
    if (!left_out) exact.set_from_text(key, config.as_text(key));
  }
  return exact;
}

std::shared_ptr<const TrainedStart> TrainedStarts::of(const Config& config, const Task& task) {
  const auto steps = gradcheck_section().read(config).train_steps;
  const Config exact = exact_training_config(config);
  std::promise<Made> promise;
  std::shared_future<Made> future;
  bool mine = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [at, fresh] = made_.try_emplace(fmt::format("{}\n{}", steps, dump_toml(exact, DumpComments::none)));
    if (fresh) at->second = promise.get_future().share();
    future = at->second;
    mine = fresh;
  }
  if (mine) {
    try {
      const bool exactly = run_options(exact).double_precision();
      promise.set_value(exactly ? train_start<double>(exact, steps, task) : train_start<float>(exact, steps, task));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return future.get();
}

std::size_t TrainedStarts::trained() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return made_.size();
}

}  // namespace nudge
