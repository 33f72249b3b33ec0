// SPDX-License-Identifier: Apache-2.0
#include "training/train/aged_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "circuits/crossbar/calibration.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/device_config.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/check/choices.hpp"
#include "training/config/run_options.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/stored_config.hpp"
#include "training/train/equilibrium_run.hpp"

namespace nudge {
namespace {

constexpr int kMost = 255;  ///< most seeds, and most ages

/// Number of a wait and of the evaluations after it: beyond the steps of trainings, below the 2³² of reads, with room
/// for 2¹⁵ batches.
std::uint64_t number_of(int seed, std::size_t age) {
  return (std::uint64_t{1} << 31U) | static_cast<std::uint64_t>(seed) << 23U | static_cast<std::uint64_t>(age) << 15U;
}

void check(const AgedTestOptions& options) {
  if (options.ages_s.empty() || options.ages_s.size() > kMost) {
    throw UserError(fmt::format("{} ages (must be 1 to {})", options.ages_s.size(), kMost));
  }
  for (const double age : options.ages_s) {
    if (!(age >= 0 && std::isfinite(age)))
      throw UserError(fmt::format("age = {} s (must be finite and at least 0)", age));
  }
  if (options.temperature_K && !(*options.temperature_K > 0 && std::isfinite(*options.temperature_K))) {
    throw UserError(fmt::format("temperature = {} K (must be above 0 K)", *options.temperature_K));
  }
  if (!(options.refresh_s >= 0 && std::isfinite(options.refresh_s))) {
    throw UserError(fmt::format("refresh = {} s (must be finite and at least 0)", options.refresh_s));
  }
  if (options.seeds < 1 || options.seeds > kMost) {
    throw UserError(fmt::format("seeds = {} (must be in [1, {}])", options.seeds, kMost));
  }
  if (options.part != "test" && options.part != "validation") {
    throw UserError(fmt::format("part = {} (must be test or validation)", options.part));
  }
}

void set_temperature(Config& config, const AgedTestOptions& options, AgedTest& out) {
  if (options.temperature_K) {
    const DeviceSpec device = crossbar_spec(config).device;
    if (heat_acceleration(device, 300) == heat_acceleration(device, 400)) {
      throw UserError(fmt::format(
          "--temperature: temperature does not change how these devices age (no relaxation or "
          "device.relaxation_activation = 0, and device.model = {} has no thermal process). Fit both with nudge "
          "devices fit FILE --bake",
          device.model));
    }
    config.set_from_text("circuit.temperature", fmt::format("{} K", *options.temperature_K));
  }
  const CrossbarSpec spec = crossbar_spec(config);
  out.temperature_K = spec.circuit.temperature_K;
  out.acceleration = heat_acceleration(spec.device, spec.circuit.temperature_K);
}

/// Takes the room off the windows of resistors, which do not learn any more: the room would lift the lower end above
/// learnt conductances.
void take_room_off(Config& config, const NetworkPlan& plan, const AgedTestOptions& options) {
  const std::vector<Parameter> parameters = plan.parameters();
  const bool resistors =
      std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.conductance; });
  const bool asked = std::any_of(options.settings.begin(), options.settings.end(), [](const std::string& one) {
    return one.starts_with("crossbar.headroom") || one.starts_with("crossbar.w_max");
  });
  if (resistors && !asked) config.set_from_text("crossbar.headroom", "1");
}

template <class S>
class AgedRun {
 public:
  AgedRun(const Task& task, const AgedTestOptions& options)
      : options_(options), batches_(options.part == "test" ? task.test() : task.validation()) {
    if (batches_.empty()) throw UserError(fmt::format("the run has no {} split", options.part));
  }

  void add(EquilibriumRun<S>& run, int seed, AgedTest& out) const {
    double age = 0;
    std::vector<RefreshClock<S>> clocks;
    for (int p = 0; p < run.network().parameters(); ++p) {
      clocks.emplace_back(options_.refresh_s);
      clocks.back().written(run.network().map(p).weights());
    }
    for (std::size_t k = 0; k < options_.ages_s.size(); ++k) {
      for (int p = 0; p < run.network().parameters(); ++p) {
        LinearMap<S>& map = run.network().map(p);
        std::uint64_t number = number_of(seed, k);
        clocks[static_cast<std::size_t>(p)].pass(
            options_.ages_s[k] - age, [&](double seconds) { map.advance_time(seconds, number++); },
            [&](const Matrix<S>& weights) { map.program(weights); });
      }
      age = options_.ages_s[k];
      const auto all = run.evaluation(batches_, number_of(seed, k));
      out.equilibrium.add(run.verdict(batches_.front()));
      out.rows.push_back(
          {age, seed, all.loss, all.scores.value().value_or(std::numeric_limits<double>::quiet_NaN()), all.residual});
    }
  }

 private:
  const AgedTestOptions& options_;
  std::vector<Batch> batches_;
};

/// Tests every seed and adds the rows to `out`. file: the trained run, restored unless out.reprogrammed; tell: called
/// before each seed.
template <class S>
void run_seeds(const Config& config, const RunParts& parts, const H5Reader& file, const AgedTestOptions& options,
               const std::function<void(const std::string&)>& tell, AgedTest& out) {
  const AgedRun<S> aged(*parts.task, options);
  for (int seed = 1; seed <= options.seeds; ++seed) {
    if (tell) tell(fmt::format("seed {} of {}", seed, options.seeds));
    Config own = config;
    if (out.reprogrammed) own.set_from_text("seed", std::to_string(seed));
    EquilibriumRun<S> run(own, parts.plan, "", Weights::configured);
    if (!out.reprogrammed) run.restore(file, "");
    aged.add(run, seed, out);
  }
}

}  // namespace

AgedTest aged_test(const std::filesystem::path& run, const AgedTestOptions& asked,
                   const std::function<void(const std::string&)>& tell) {
  check(asked);
  AgedTestOptions options = asked;
  std::sort(options.ages_s.begin(), options.ages_s.end());
  const H5Reader file(run);
  expect_kind(file, "train", "has a network to test");
  Config config = stored_program_config(file);
  AgedTest out;
  out.reprogrammed = options.reprogram || !options.weights.empty() || !options.settings.empty();
  if (out.reprogrammed) {
    const std::string weights = options.weights.empty() ? run.string() : options.weights;
    std::vector<std::string> settings = options.settings;
    for (std::string& one : trained_settings(config, weights)) settings.push_back(std::move(one));
    config = config_on_top(config, run.string(), settings);
  }
  if (!on_devices(config)) {
    throw UserError(
        fmt::format("{}: its weights are digital and do not age. Write them into devices with --set "
                    "device.preset=NAME (nudge devices list)",
                    run.string()));
  }
  set_temperature(config, options, out);
  out.metric = score_metric(config);
  out.refresh_s = options.refresh_s;
  const RunParts parts = circuit_parts(config);
  config = chosen_bandwidth(config, parts);
  if (out.reprogrammed) take_room_off(config, *parts.plan, options);
  if (run_options(config).double_precision()) {
    run_seeds<double>(config, parts, file, options, tell, out);
  } else {
    run_seeds<float>(config, parts, file, options, tell, out);
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const AgedTestRow& a, const AgedTestRow& b) { return a.age_s < b.age_s; });
  return out;
}

}  // namespace nudge
