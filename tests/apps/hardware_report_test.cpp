// SPDX-License-Identifier: Apache-2.0
// The hardware section of a training report: conductances before and after, and pictures of what arrays hold.

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("the report draws every device's conductance before and after training, and arrays but no tables", "[apps]") {
  const Folder folder;
  folder.write("run.toml",
               "[model]\nchannels = 8\ntokens = 4\nmemories = 8\nheads = 2\n[train]\nsteps = 6\nbatch = 2\n"
               "evaluate_every = 3\nevaluation_batches = 1\n[device]\npreset = 'ecram'\n");
  REQUIRE(run_nudge(folder, "train run.toml --out run.h5").exit_code == 0);
  REQUIRE(run_nudge(folder, "report run.h5 -o run.html").exit_code == 0);
  const std::string page = read_file(folder.file("run.html"));
  CHECK_THAT(page, Contains("Conductances of Winput") && Contains("positive, before") && Contains("negative, after") &&
                       Contains("devices per bin") && Contains("conductance (uS)"));
  // Parameters that arrays hold are drawn, whatever they are called; the tables of tokens and positions are digital.
  CHECK_THAT(page, Contains("The array of Wo") && Contains("The array of Wm"));
  CHECK_THAT(page, !Contains("The array of tok") && !Contains("The array of pos"));
  REQUIRE(run_nudge(folder, "export run.h5 --csv out").exit_code == 0);
  CHECK_THAT(read_file(folder.file("out/conductance.Wo.positive.level.csv")), StartsWith("level,after,before\n"));
  // Who does what in a step, and what of the circuit was ideal: nothing by default.
  CHECK_THAT(page, Contains("What is digital here") && Contains("bound of the memory") &&
                       Contains("Physical hardware (hardware.level = mixed)"));
  CHECK_THAT(run_nudge(folder, "info run.h5").output,
             Contains("digital: ") && Contains("\"optimizer\"") && !Contains("\"weights Wo\""));
  REQUIRE(run_nudge(folder, "train run.toml --set circuit.leak_spread=0 --out alike.h5").exit_code == 0);
  CHECK(H5Reader(folder.file("alike.h5")).text_attribute("ideal_parts") == "circuit.leak_spread = 0");
  // Digital weights: no section.
  REQUIRE(
      run_nudge(folder, "train run.toml --set device.preset='' --set device.model=digital --out exact.h5").exit_code ==
      0);
  CHECK_FALSE(H5Reader(folder.file("exact.h5")).has("conductance"));
  REQUIRE(run_nudge(folder, "report exact.h5 -o exact.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("exact.html")), !Contains("Conductances of"));
}
