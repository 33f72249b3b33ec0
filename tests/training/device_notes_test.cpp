// SPDX-License-Identifier: Apache-2.0
// What a run says of devices whose retention could not act, and of bounds that are cut.
#include "tests/support/catch.hpp"
#include "training/train/train_summary.hpp"

#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

std::vector<std::string> notes(const std::vector<std::string>& settings, double elapsed_s) {
  return device_notes(parse_program_config("notes.toml", "", settings), elapsed_s);
}

}  // namespace

TEST_CASE("device notes: retention that cannot act is named with its time, and only then", "[training]") {
  // t0 = 20 s for this preset: one per cent is 0.2 s.
  const auto early = notes({"device.preset=pcm"}, 0.016);
  REQUIRE(early.size() == 1);
  CHECK_THAT(early[0], Contains("drift does not act") && Contains("16 ms") && Contains("0.08 %") &&
                           Contains("device.drift_start = 20 s") && Contains("train.step_time"));
  CHECK(notes({"device.preset=pcm"}, 0.2).empty());
  CHECK_THAT(notes({"device.preset=cmo_hfox_2"}, 1e-6).at(0), Contains("decay does not act"));
  CHECK_THAT(notes({"device.model=soft_bounds", "device.leak_time=10 s"}, 0.05).at(0),
             Contains("leak does not act") && Contains("0.5 %"));
  CHECK(notes({"device.model=soft_bounds", "device.leak_time=10 s"}, 0.1).empty());
  const auto disturbed = [](const Elapsed& time) {
    return device_notes(
        parse_program_config("notes.toml", "", {"device.model=soft_bounds", "device.read_disturb_time=10 s"}), time);
  };
  CHECK_THAT(disturbed({20, 0.05}).at(0), Contains("read disturb does not act") && Contains("0.5 %"));
  CHECK(disturbed({20, 0.1}).empty());
  CHECK(notes({"device.model=soft_bounds"}, 0).empty());
  CHECK(notes({}, 0).empty());
}

TEST_CASE("device notes: a g_min that cuts the published bounds is said to", "[training]") {
  CHECK(notes({"device.preset=ecram"}, 1).empty());
  CHECK_THAT(notes({"device.preset=ecram", "device.g_min=0.25 uS"}, 1).at(0),
             Contains("device.g_min = 250 nS") && Contains("4 standard deviations"));
}
