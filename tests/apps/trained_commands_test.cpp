// SPDX-License-Identifier: Apache-2.0
// Commands that use a trained network: test, generate.
#include <nlohmann/json.hpp>

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("test: rows of ages and seeds as a table and as JSON, wrong ages and settings are the user's", "[aged]") {
  const Folder folder;
  folder.write(
      "digits.toml",
      "estimator = 'ep'\nbeta = 0.1\n[hardware]\nlevel = 'ideal'\n[network]\nkind = 'hopfield'\n[task]\nkind = "
      "'classification'\n[hopfield]\nhidden = [8]\n[data]\ntest_fraction = 0.2\nvalidation_fraction = 0.1\n"
      "[device]\nmodel = 'soft_bounds'\n[relaxation]\nfree_steps = 10\nnudged_steps = 5\n[train]\nsteps = 3\nbatch = "
      "8\n"
      "null = 'off'\n");
  REQUIRE(run_nudge(folder, "train digits.toml --out run.h5").exit_code == 0);
  const Outcome json = run_nudge(folder, "test run.h5 --age \"1 s\" --age \"1e5 s\" --seeds 2 --json");
  REQUIRE(json.exit_code == 0);
  const auto parsed = nlohmann::json::parse(json.output);
  REQUIRE(parsed["rows"].size() == 4);
  for (const auto& row : parsed["rows"]) {
    CHECK(row["loss"].get<double>() > 0);
    CHECK(row["accuracy"].get<double>() >= 0);
  }
  CHECK(parsed["rows"][0]["age_s"] == 1.0);
  CHECK(parsed["rows"][3]["age_s"] == 1e5);
  CHECK(parsed["rows"][3]["seed"] == 2);
  const Outcome table = run_nudge(folder, "test run.h5 --seeds 3 --reprogram");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, Contains("accuracy") && Contains("new devices for every seed"));
  // A file of the rows, and its figures.
  const Outcome kept =
      run_nudge(folder, "test run.h5 --age \"1 s\" --age \"2 h\" --seeds 2 --refresh \"1 h\" --out aged.h5");
  CHECK(kept.exit_code == 0);
  CHECK_THAT(kept.output, Contains("written anew every 3.6 ks") && Contains("aged.h5"));
  const std::string verdict = H5Reader(folder.file("aged.h5")).text_attribute("equilibrium");
  CHECK_THAT(verdict, Contains("residual"));
  REQUIRE(run_nudge(folder, "report aged.h5 -o aged.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("aged.html")), Contains(verdict));
  CHECK_THAT(read_file(folder.file("aged.html")), Contains("The network after a wait") &&
                                                      Contains("Accuracy after a wait") &&
                                                      Contains("Loss after a wait"));
  CHECK(run_nudge(folder, "test run.h5 --out aged.h5").exit_code == 2);  // it is there
  CHECK_THAT(run_nudge(folder, "test run.h5 --refresh \"0 s\"").errors, Contains("--refresh 0 s (must be > 0 s)"));
  const Outcome soon = run_nudge(folder, "test run.h5 --age soon");
  CHECK(soon.exit_code == 2);
  CHECK_THAT(soon.errors, Contains("--age soon"));
  CHECK(run_nudge(folder, "test run.h5 --set device.presett=pcm").exit_code == 2);
  CHECK(run_nudge(folder, "test digits.toml").exit_code == 2);
}

TEST_CASE("generate: text behind its prompt, and as JSON, a prompt of other characters is the user's", "[generate]") {
  const Folder folder;
  folder.write(
      "text.toml",
      "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n[relaxation]\nfree_steps = 8\nnudged_steps = "
      "8\n[train]\nsteps = 2\nbatch = 2\nevaluation_batches = 1\ntest_batches = 1\n");
  REQUIRE(run_nudge(folder, "train text.toml --out run.h5").exit_code == 0);
  const Outcome plain = run_nudge(folder, "generate run.h5 --prompt \"int \" --tokens 12");
  CHECK(plain.exit_code == 0);
  CHECK(plain.output.rfind("int ", 0) == 0);
  CHECK_THAT(plain.errors, Contains("nat per character"));
  const Outcome json = run_nudge(folder, "generate run.h5 --prompt \"int \" --tokens 12 --json");
  REQUIRE(json.exit_code == 0);
  const auto parsed = nlohmann::json::parse(json.output);
  CHECK("int " + parsed["text"].get<std::string>() + "\n" == plain.output);
  const Outcome wrong = run_nudge(folder, "generate run.h5 --prompt \"\xCE\xA9\"");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.errors, Contains("vocabulary"));
}
