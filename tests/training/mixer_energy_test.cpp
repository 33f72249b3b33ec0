// SPDX-License-Identifier: Apache-2.0
#include "training/check/mixer_energy.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

MixerEnergy energy_of(std::vector<std::string> settings) {
  return mixer_energy(parse_program_config("energy.toml",
                                           "precision = 'double'\n[model]\nmixer = 'loop_elastic'\nchannels = 8\n"
                                           "tokens = 6\nheads = 2\n[mixer]\niterations = 5\n[train]\nbatch = 3\n",
                                           settings));
}

}  // namespace

TEST_CASE("the energy of a loop with a frozen context falls for every token, every iteration", "[mixer_energy]") {
  for (const char* kind : {"model.mixer=loop_elastic", "model.mixer=loop_inner"}) {
    const MixerEnergy trace = energy_of({kind, "mixer.refresh=false"});
    REQUIRE(trace.energy.size() == 6);
    REQUIRE(trace.energy[0].size() == 18);
    for (std::size_t n = 1; n < 6; ++n) {
      CHECK(trace.largest_rise[n] < 0);
      CHECK(trace.share_risen[n] == 0);
      CHECK(trace.mean[n] < trace.mean[n - 1]);
    }
    CHECK(std::isnan(trace.largest_rise[0]));
  }
}

TEST_CASE("a loop whose context moves along is the single step repeated", "[mixer_energy]") {
  // The same computation: rounding alone.
  const MixerEnergy loop = energy_of({}), steps = energy_of({"model.mixer=gd_elastic"});
  for (std::size_t n = 0; n < 6; ++n) CHECK(loop.mean[n] == Approx(steps.mean[n]).epsilon(1e-13));
  CHECK(energy_of({"threads=1"}).energy == energy_of({"threads=3"}).energy);
}

TEST_CASE("the energy of every mixer that has one can be logged, in float too, others are refused", "[mixer_energy]") {
  CHECK(energy_mixers().size() == 11);
  for (const std::string& kind : energy_mixers()) {
    CAPTURE(kind);
    const bool reads_it =
        kind.starts_with("gd_") || kind.starts_with("loop_") || kind == "mha2nd" || kind == "light2nd";
    const MixerEnergy trace =
        energy_of({reads_it ? "mixer.temperature=20" : "threads=1", "model.mixer=" + kind, "precision=float",
                   "mixer.iterations=1", kind == "linattn" ? "model.heads=1" : "model.heads=2"});
    CHECK(trace.finite());
    CHECK(trace.mean.size() == 2);
  }
  CHECK_THROWS_WITH(energy_of({"model.mixer=fem_softmax"}), Contains("no energy") && Contains("loop_elastic"));
  CHECK_THROWS_AS(energy_of({"model.mixer=attention"}), UserError);
}
