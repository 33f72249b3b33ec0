// SPDX-License-Identifier: Apache-2.0
// Files that a config names belong to a run: one that changes between start and resume is another run.
#include "training/config/input_files.hpp"

#include <filesystem>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/sweep/sweep.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

std::string inl_table(const std::string& last) { return "code,inl\n0,0\n1,0.1\n2,-0.1\n3," + last + "\n"; }

Config converted(const std::filesystem::path& table, const Settings& more = {}) {
  Settings all = {"device.model=soft_bounds",
                  "crossbar.forward_adc_bits=2",
                  "crossbar.forward_adc_range=4",
                  "crossbar.forward_adc_inl=" + table.string(),
                  "train.steps=4",
                  "train.checkpoint_every=1"};
  all.insert(all.end(), more.begin(), more.end());
  return tiny_config(all);
}

}  // namespace

TEST_CASE("a table that changed since the start is refused by both digests", "[resume]") {
  const TemporaryDirectory dir;
  const std::filesystem::path table = dir / "inl.csv", run = dir / "run.h5";
  write_bytes(table, inl_table("0"));
  const Config config = converted(table);
  train(config, run, stop_after(2));
  const std::string before = H5Reader(run).text_attribute("inputs");
  CHECK_THAT(before, Contains("crossbar.forward_adc_inl = " + table.string() + " "));
  write_bytes(table, inl_table("0.2"));
  const auto digest = [](const std::string& line) { return line.substr(line.size() - 17, 16); };
  const std::string now = input_files(config);
  REQUIRE(digest(now) != digest(before));
  CHECK_THROWS_WITH(resume(run, nullptr), Contains("crossbar.forward_adc_inl") && Contains(digest(before)) &&
                                              Contains(digest(now)) && Contains("--out"));
  CHECK_THROWS_WITH(resume(run, &config), Contains(digest(before)));
  std::filesystem::remove(table);
  CHECK_THROWS_WITH(resume(run, nullptr), Contains("inl.csv"));
  write_bytes(table, inl_table("0"));
  CHECK(resume(run, nullptr).done == 4);
}

TEST_CASE("maps of stuck devices are files of a run, its data and outputs are not", "[resume]") {
  const TemporaryDirectory dir;
  write_bytes(dir / "stuck.csv", "10,,\n");
  write_bytes(dir / "run.h5", "");
  const std::string stuck = "device.stuck_map=['Wm=" + (dir / "stuck.csv").string() + "']";
  const Config config = tiny_config({"device.model=soft_bounds", stuck, "output.file=" + (dir / "run.h5").string()});
  CHECK_THAT(input_files(config),
             Contains("device.stuck_map = " + (dir / "stuck.csv").string()) && !Contains("run.h5"));
  CHECK(input_files(tiny_config()).empty());
}
