// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/report/run_file.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;

namespace {

const std::string kSmall =
    "precision = 'double'\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[relaxation]\nfree_steps = 60\nnudged_steps = 60\n[train]\nbatch = 2\nsteps = 2\nevaluate_every = 0\n"
    "evaluation_batches = 1\ntest_batches = 2\n[gradcheck]\nfinite_difference_entries = 2\n";

const std::string kSweep = kSmall + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\n'train.batch' = [1, 2]\n";

}  // namespace

TEST_CASE("gradcheck prints a table, JSON, and writes a file that the report reads") {
  const Folder folder;
  folder.write("a.toml", kSmall);
  const Outcome table = run_nudge(folder, "gradcheck a.toml --out a.h5");
  CHECK(table.exit_code == 0);
  for (const char* part : {"aep_anchored", "finite_difference", "relative L2", "reference, batch 1",
                           "rho = ", "settled: residual", " nat\n"}) {
    CHECK_THAT(table.output, Contains(part));
  }
  // The answer comes first, and what checks the reference is no competitor.
  const std::string first = table.output.substr(0, table.output.find('\n'));
  CHECK_THAT(first, Contains(" is closest to the exact gradient: cosine ") && !Contains("finite_difference"));
  CHECK_THAT(table.output, Contains("Finite differences of the cost check the exact gradient") &&
                               Contains("\nequilibrium: settled: residual"));
  // Whether phases settle is said once more, by the same rule: of the same samples, with the same residual.
  CHECK_THAT(table.output, Contains("settled: 100 % of the ") && Contains("end within 1 % of an equilibrium") &&
                               !Contains("at or below"));
  CHECK_THAT(table.errors, Contains("set for you") && !Contains("warning"));
  const auto file = nudge::report::load_run_file(folder.file("a.h5"));
  CHECK(file.kind == "gradcheck");
  CHECK(file.rows.rows == 9 * 7);
  CHECK(run_nudge(folder, "report a.h5 -o a.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("a.html")),
             Contains("Gradient check") && Contains(first) && Contains("Equilibrium: settled: residual") &&
                 Contains("largest part of the error") && Contains("relaxation.schedule = "));
  const Outcome again = run_nudge(folder, "gradcheck a.toml --out a.h5");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.errors, Contains("exists already"));
  const json parsed = json::parse(run_nudge(folder, "gradcheck a.toml --json").output);
  CHECK(parsed["rows"].size() == 63);
  for (const char* name : {"estimator", "group", "cosine", "relative_l2", "sign_agreement", "force_evaluations"}) {
    CHECK(parsed["rows"][0].contains(name));
  }
  CHECK(parsed["diagnostics"]["reference_converged"] == true);
}

TEST_CASE("gradcheck names phases of one step and a large nudge as causes") {
  const Folder folder;
  const std::string digits = "gradcheck " NUDGE_SOURCE_DIR
                             "/examples/digits.toml --set gradcheck.estimators=['ep'] "
                             "--set gradcheck.finite_difference_entries=0 ";
  CHECK_THAT(run_nudge(folder, digits + "--set hopfield.gain=1.2 --set relaxation.free_steps=1").output,
             Contains("short phases: ") && !Contains("not explained"));
  CHECK_THAT(run_nudge(folder, digits + "--set beta=5").output,
             Contains("too large a beta = 5: ") && Contains("at a tenth of it"));
}

TEST_CASE("gradcheck without a fixed point names no estimator the closest") {
  const Folder folder;
  const Outcome lost = run_nudge(folder, "gradcheck " NUDGE_SOURCE_DIR "/examples/digits.toml --out a.h5 " +
                                             std::string("--set relaxation.schedule=parallel --set relaxation.step=1.5 "
                                                         "--set hopfield.gain=2 --set gradcheck.estimators=['ep']"));
  CHECK(lost.exit_code == 3);
  CHECK_THAT(lost.output, StartsWith("No exact gradient to compare with\nNo fixed point was reached") &&
                              !Contains("closest") && !Contains("largest part of the error"));
  CHECK(run_nudge(folder, "report a.h5 -o a.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("a.html")),
             Contains("No exact gradient to compare with") && !Contains("closest to"));
}

TEST_CASE("gradcheck exits 3 when its reference did not converge, and still prints the table") {
  const Folder folder;
  folder.write("a.toml", kSmall);
  const Outcome outcome = run_nudge(folder,
                                    "gradcheck a.toml --set model.tokens=80 --set gradcheck.adjoint_iterations=1 "
                                    "--set gradcheck.finite_difference_entries=0");
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.output, Contains("aep_anchored") && Contains("0 adjoints are solved"));
  CHECK_THAT(outcome.errors, Contains("did not converge"));
}

TEST_CASE("sweep prints means with their spread and writes a file that the report reads") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  const Outcome outcome = run_nudge(folder, "sweep s.toml --out s.h5");
  CHECK(outcome.exit_code == 0);
  for (const char* part : {"train.batch", "final_loss", "validation_loss", " ± "}) {
    CHECK_THAT(outcome.output, Contains(part));
  }
  // At most five results, those that differ, the others with --all; below them the answer, as the report has it.
  std::istringstream heading(outcome.output.substr(0, outcome.output.find('\n')));
  CHECK(std::distance(std::istream_iterator<std::string>(heading), {}) <= 1 + 5);
  CHECK_THAT(outcome.output, Contains("more columns: --all") && Contains("the validation loss"));
  CHECK_THAT(run_nudge(folder, "sweep s.toml --resume s.h5 --all").output,
             Contains("cosine") && !Contains("more columns"));
  CHECK_THAT(outcome.errors, Contains("4/4") && Contains("train.batch = 2"));
  const auto file = nudge::report::load_run_file(folder.file("s.h5"));
  CHECK(file.kind == "sweep");
  CHECK(file.points.rows == 4);
  CHECK(file.points.keys == std::vector<std::string>{"train.batch"});
  CHECK(run_nudge(folder, "report s.h5 -o s.html").exit_code == 0);
  const Outcome resumed = run_nudge(folder, "sweep s.toml --resume s.h5 --json");
  CHECK(resumed.exit_code == 0);
  CHECK(resumed.errors.empty());  // nothing was left to run
  CHECK(json::parse(resumed.output)["points"].size() == 4);
  CHECK(run_nudge(folder, "sweep s.toml --out s.h5").exit_code == 2);
  CHECK(run_nudge(folder, "sweep s.toml --set sweep.grid.model.heads=3 --out t.h5").exit_code == 2);
}

TEST_CASE("compare prints a row per entrant with its difference, JSON, and a file that the report reads") {
  const Folder folder;
  folder.write("c.toml", kSmall +
                             "[compare]\nentrants = ['bptt', 'aep_anchored', 'short: estimator=bptt; "
                             "train.batch=1']\ntuning_seeds = [1]\ntest_seeds = [2, 3]\n"
                             "[compare.grid]\n'train.learning_rate' = [1e-3, 1e-2]\n");
  const Outcome outcome = run_nudge(folder, "compare c.toml --out c.h5");
  CHECK(outcome.exit_code == 0);
  for (const char* part : {"method", "train.learning_rate", "test loss", "baseline", "short", " ± ", "[",
                           "at the edge of the grid", "unigram", "learnt nothing beyond letter frequencies"}) {
    CHECK_THAT(outcome.output, Contains(part));
  }
  CHECK_THAT(outcome.errors, Contains("tuning 6/6") && Contains("test 6/6"));
  const Outcome resumed = run_nudge(folder, "compare c.toml --resume c.h5 --json");
  CHECK(resumed.exit_code == 0);
  CHECK(resumed.errors.empty());  // nothing was left to run
  const json parsed = json::parse(resumed.output);
  REQUIRE(parsed["entrants"].size() == 3);
  CHECK(parsed["entrants"][1]["difference"]["seeds"] == 2);
  CHECK(parsed["entrants"][1]["difference"]["low"] <= parsed["entrants"][1]["difference"]["high"]);
  CHECK(parsed["entrants"][0]["chosen"].contains("train.learning_rate"));
  CHECK(parsed["test"].size() == 6);
  CHECK(parsed["text"]["test"]["unigram"] > 1);
  CHECK(run_nudge(folder, "report c.h5 -o c.html").exit_code == 0);
  const std::string page = read_file(folder.file("c.html"));
  for (const char* part : {"Comparison", "Tuning", "unigram: letter frequencies", "paired by seed"}) {
    CHECK_THAT(page, Contains(part));
  }
  CHECK_THAT(run_nudge(folder, "info c.h5").output, Contains("aep_anchored"));
  const Outcome stale = run_nudge(folder, "compare c.toml --out d.h5 --set compare.test_seeds=[1]");
  CHECK(stale.exit_code == 2);
  CHECK_THAT(stale.errors, Contains("must be fresh"));
}

TEST_CASE("losses stand beside what counting letters scores, in train, sweep and the report") {
  const Folder folder;
  folder.write("t.toml", kSmall);
  const Outcome outcome = run_nudge(folder, "train t.toml --out t.h5");
  CHECK(outcome.exit_code == 0);
  for (const char* part : {"test loss", "unigram", "bigram", "learnt nothing beyond letter frequencies"}) {
    CHECK_THAT(outcome.output, Contains(part));
  }
  CHECK(run_nudge(folder, "report t.h5 -o t.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("t.html")), Contains("unigram: letter frequencies") && Contains("test loss"));
  // The verdict on the equilibrium is the sentence of the file.
  const auto trained = nudge::report::load_run_file(folder.file("t.h5"));
  REQUIRE_FALSE(trained.equilibrium.empty());
  CHECK_THAT(read_file(folder.file("t.html")), Contains("Equilibrium: " + trained.equilibrium.substr(0, 20)));
  const json parsed = json::parse(run_nudge(folder, "train t.toml --out u.h5 --json").output);
  CHECK(parsed["test_loss"] > 0);
  // Beside another run each has a sentence of its own.
  CHECK(run_nudge(folder, "report t.h5 u.h5 -o two.html").exit_code == 0);
  for (const char* name : {"t.h5", "u.h5"}) {
    CHECK_THAT(read_file(folder.file("two.html")),
               Contains(std::string(name) + ": equilibrium: " + trained.equilibrium.substr(0, 20)));
  }
  CHECK(parsed["text"]["validation"]["bigram"] < parsed["text"]["validation"]["unigram"]);
  folder.write("s.toml", kSweep);
  CHECK_THAT(run_nudge(folder, "sweep s.toml --out s.h5").output, Contains(" !") && Contains("unigram"));
}

TEST_CASE("a group without gradient is a dash in tables and null in JSON") {
  const Folder folder;
  folder.write("a.toml", kSmall);
  const std::string run = "gradcheck a.toml --set model.attention_gain=0 --set 'gradcheck.estimators=[\"ep\"]'";
  CHECK_THAT(run_nudge(folder, run).output, Contains("the exact gradient of the group is zero"));
  const json parsed = json::parse(run_nudge(folder, run + " --json").output);
  int empty = 0;
  for (const auto& row : parsed["rows"]) {
    CHECK(row["cosine"].is_null() == (row["has_gradient"] == false));
    empty += row["cosine"].is_null() ? 1 : 0;
  }
  CHECK(empty == 3 * 4);  // ep, bptt and finite_difference: Wq, Wk, Wv, Wo
}

TEST_CASE("networks that do not settle are swept, trained and written with, and refuse what circuits have") {
  const Folder folder;
  const std::string train_part = "[train]\nsteps = 2\nbatch = 2\nevaluation_batches = 2\ntest_batches = 2\n";
  folder.write(
      "a.toml",
      "[network]\nkind = 'argmax_read'\n[task]\nkind = 'argmax'\n[model]\nchannels = 8\ntokens = 6\nheads = 2\n" +
          train_part + "[sweep.grid]\n'argmax.read' = ['softmax', 'free_energy']\n");
  const Outcome table = run_nudge(folder, "sweep a.toml");
  CHECK(table.exit_code == 0);
  for (const char* part : {"softmax", "free_energy", "validation_rmse", "--all", "a.h5"})
    CHECK_THAT(table.output, Contains(part));
  CHECK_THAT(run_nudge(folder, "sweep a.toml --resume a.h5 --all").output, Contains("index_accuracy"));
  CHECK_THAT(table.output, !Contains("residual"));
  const json parsed = json::parse(run_nudge(folder, "sweep a.toml --resume a.h5 --json").output);
  CHECK(parsed["points"].size() == 2);
  CHECK(run_nudge(folder, "info a.h5").exit_code == 0);
  CHECK(run_nudge(folder, "report a.h5 -o a.html").exit_code == 0);
  folder.write("c.toml",
               "[network]\nkind = 'sequence_model'\n[model]\nchannels = 8\ntokens = 6\nheads = 2\n" + train_part);
  const Outcome run = run_nudge(folder, "train c.toml --out c.h5");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.errors + run.output, !Contains("nan"));
  const Outcome text = run_nudge(folder, "generate c.h5 --tokens 5");
  CHECK(text.exit_code == 0);
  CHECK(run_nudge(folder, "report c.h5 -o c.html").exit_code == 0);
  CHECK(run_nudge(folder, "watch c.h5 --once").exit_code == 0);
  for (const std::string door : {"gradcheck c.toml", "test c.h5 --set device.preset=ecram"}) {
    CAPTURE(door);
    const Outcome outcome = run_nudge(folder, door);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, Contains("sequence_model"));
  }
  const Outcome gone = run_nudge(folder, "experiment c.toml");
  CHECK(gone.exit_code == 2);
  CHECK_THAT(gone.errors, Contains("is now nudge sweep"));
}

TEST_CASE("a comparison pairs circuits with networks that do not settle on the same batches") {
  const Folder folder;
  folder.write(
      "c.toml",
      "beta = 0.01\n[network]\nkind = 'transformer'\n[model]\nchannels = 8\ntokens = 6\nmemories = 8\nheads = 2\n"
      "[relaxation]\nschedule = 'sweep'\nstep = 1\nfree_steps = 1\nnudged_steps = 1\n"
      "[train]\nsteps = 3\nbatch = 2\nevaluation_batches = 2\ntest_batches = 2\n"
      "[compare]\nentrants = ['aep_transposed', 'mha: network.kind=sequence_model; estimator=backprop']\n"
      "tuning_seeds = [1]\ntest_seeds = [3, 4]\n[compare.grid]\n'train.learning_rate' = [1e-2]\n");
  const Outcome outcome = run_nudge(folder, "compare c.toml --out c.h5");
  INFO(outcome.errors);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Contains("mha"));
}
