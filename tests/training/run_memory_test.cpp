// SPDX-License-Identifier: Apache-2.0
// What a network takes is known by its sizes, of every kind, before anything of it is made.
#include "training/config/run_parts.hpp"

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/network_kinds.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

Config of_kind(const NetworkKind& kind, std::vector<std::string> more = {}) {
  if (kind.is_circuit()) return small(kind.name, std::move(more));
  std::vector<std::string> all{"network.kind=" + kind.name, "precision=double", "model.channels=8", "model.heads=2"};
  if (!kind.only_task.empty()) all.push_back("task.kind=" + kind.only_task);
  all.insert(all.end(), more.begin(), more.end());
  return parse_program_config("m.toml", "", all);
}

RunMemory memory_of(const Config& config) {
  const RunParts parts = run_parts(config);
  return parts.plan != nullptr ? run_memory(config, *parts.plan) : run_memory(config, parts.task->sizes());
}

/// The key of a hidden width, of kinds that have one without an upper bound of its own.
const std::vector<std::pair<std::string, std::string>>& wide() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"oscillator", "oscillator.hidden"},
      {"thermal", "thermal.hidden"},
      {"predictive_coding", "predictive_coding.hidden"},
      {"hopfield", "hopfield.hidden"},
      {"convolutional", "hopfield.hidden"}};
  return all;
}

}  // namespace

TEST_CASE("memory: every kind of network has an estimate, and is refused by it", "[memory]") {
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.name == "own") continue;  // lent by who runs it
    CAPTURE(kind.name);
    const Config config = of_kind(kind);
    const RunMemory needed = memory_of(config);
    CHECK(needed.weights > 0);
    CHECK(needed.network >= 8 * needed.weights);   // double, as all of these configs
    CHECK(needed.learning >= 8 * needed.weights);  // one gradient at least
    CHECK((needed.states > 0) == kind.is_circuit());
    CHECK_NOTHROW(check_memory(config, needed, Work::learns, {1e9, "this machine has free"}));
    CHECK_THROWS_WITH(
        check_memory(config, needed, Work::learns, {100, "ulimit -v leaves"}),
        Contains(" = ") && Contains("needs at least") && Contains("0.1 kB, which ulimit -v leaves. Make "));
    // Who only reads needs no gradient.
    CHECK_NOTHROW(check_memory(config, needed, Work::reads, {needed.network + 1, ""}));
    CHECK_THROWS_AS(check_memory(config, needed, Work::learns, {needed.network + 1, ""}), UserError);
  }
}

TEST_CASE("memory: a width that no machine has is refused with its key before anything is made", "[memory]") {
  for (const auto& [kind, key] : wide()) {
    const bool list = key.ends_with("hidden");
    const std::string value = list ? "[10000000000000]" : "10000000000000";  // 10^13 weights at least: 80 TB
    CAPTURE(kind, value);
    const Config config = of_kind(named(network_kinds(), kind), {key + "=" + value});
    CHECK_THROWS_WITH(run_parts(config, Work::learns), Contains("--set: " + key + " = " + value + ": needs at least"));
  }
}

TEST_CASE("memory: units that differ are not drawn of a network that is never made", "[memory]") {
  // 10^11 of them would be 0.8 TB for each number of a unit.
  CHECK_THROWS_WITH(run_parts(small("thermal", {"relaxation.solver=sample", "estimator=finite_nudge",
                                                "gradcheck.estimators=['finite_nudge']", "thermal.units=binary",
                                                "thermal.bit_gain_spread=0.1", "thermal.hidden=[100000000000]"})),
                    Contains("thermal.hidden = [100000000000]: needs at least"));
  CHECK_THROWS_WITH(run_parts(small("hopfield", {"device.model=soft_bounds", "neuron.gain_spread=0.1",
                                                 "hopfield.hidden=[100000000000]"})),
                    Contains("crossbar of 64 x 100000000000 weights: needs"));  // what one array takes is said first
}

TEST_CASE("memory: a batch is refused by the states that it settles", "[memory]") {
  const Config config = small("block", {"train.batch=1048576"});  // 0.8 GB of states
  CHECK_THROWS_WITH(check_memory(config, memory_of(config), Work::learns, {1e8, "this machine has free"}),
                    Contains("train.batch = 1048576: needs at least") && Contains("Make train.batch smaller"));
}
