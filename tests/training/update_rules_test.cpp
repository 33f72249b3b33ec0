// SPDX-License-Identifier: Apache-2.0
// Update rules in a training: what a config must not ask of them, and what reaches them of the schedule.

#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

Settings on_devices_by(const std::string& update, const Settings& more = {}) {
  Settings all = {"hardware.level=ideal", "device.preset=reram_es", "crossbar.update=" + update};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void refused(const Settings& settings, const std::string& words) {
  CAPTURE(settings);
  CHECK_THROWS_WITH(run_parts(tiny_config(settings)), Contains(words));
}

}  // namespace

TEST_CASE("every rule of the list is a value of crossbar.update, and reads keys that exist", "[rules]") {
  for (const RuleKind& kind : rule_kinds()) {
    CAPTURE(kind.name);
    CHECK(tiny_config(on_devices_by(kind.name, kind.one_sided ? Settings{"crossbar.mapping=one_sided"} : Settings{}))
              .text("crossbar.update") == kind.name);
    CHECK(crossbar_section().rows_of({&CrossbarSpec::rule}).size() > kind.options.size());
    CHECK_FALSE(kind.options.empty());
  }
}

TEST_CASE("what a rule cannot do is refused before a run", "[rules]") {
  refused(on_devices_by("residual", {"crossbar.residual_share=1"}), "crossbar.residual_share");
  refused(on_devices_by("residual", {"crossbar.residual_share=0"}), "crossbar.residual_share");
  refused(on_devices_by("accumulate", {"crossbar.threshold=0.5"}), "crossbar.threshold");
  refused(on_devices_by("tiki_taka", {"device.preset=idealized"}), "a symmetry point");
  refused(on_devices_by("one_sided"), "crossbar.mapping = one_sided");
  refused(on_devices_by("pulses", {"crossbar.threshold=3"}), "nothing reads it");
  refused(on_devices_by("ttv2", {"crossbar.chopper_period=3"}), "crossbar.update = ttv2; agad would");
  refused(on_devices_by("ttv2", {"crossbar.fast_update=coincidence"}), "crossbar.fast_update = coincidence");
}

TEST_CASE("a threshold beyond four learning rates of Adam is refused, one pulse never", "[rules]") {
  // reram_es: 2/0.00135 pulses; the weights of the tiny block are below 1, so that w_max < 2 and q < 0.0027.
  CHECK_NOTHROW(run_parts(tiny_config(on_devices_by("accumulate", {"crossbar.w_max=1", "crossbar.threshold=8"}))));
  // q = 2/1481.5 = 0.00135: 4 · 3e-3/q = 8.9.
  const Settings over =
      on_devices_by("accumulate", {"crossbar.w_max=1", "crossbar.threshold=9", "train.learning_rate=3e-3"});
  refused(over, "crossbar.threshold = 9 (must be at most 8, or 1)");
  Settings sgd = over;
  sgd.emplace_back("train.optimizer=sgd");
  CHECK_NOTHROW(run_parts(tiny_config(sgd)));
  CHECK_NOTHROW(run_parts(tiny_config(
      on_devices_by("accumulate", {"crossbar.w_max=1", "crossbar.threshold=1", "train.learning_rate=1e-5"}))));
}

TEST_CASE("the schedule acts on transfers: at a falling rate the fast arrays get as many pulses as at a constant one",
          "[rules]") {
  const auto pulses = [](const std::string& schedule) {
    const TemporaryDirectory dir;
    train(tiny_config(on_devices_by("tiki_taka", {"train.steps=30", "train.warmup=0", "train.null=off",
                                                  "train.schedule=" + schedule, "train.optimizer=sgd"})),
          dir / "run.h5");
    const H5Reader file(dir / "run.h5");
    const auto up = file.reals<double>("device/Winput/fast_pulses_up"),
               down = file.reals<double>("device/Winput/fast_pulses_down");
    return up.back() + down.back() - up.front() - down.front();
  };
  const double constant = pulses("constant"), falling = pulses("cosine");
  CHECK(constant > 0);
  // A half cosine has a mean of 1/2: pulses would halve if the schedule acted on the fast array.
  CHECK(falling > 0.8 * constant);
  CHECK(falling < 1.25 * constant);
}
