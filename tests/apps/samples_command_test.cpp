// SPDX-License-Identifier: Apache-2.0
// Tasks of samples from the shell: scores in every command, and what is refused.
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string kDigits =
    "threads = 1\nestimator = 'ep_contrastive'\nbeta = 0.25\n[network]\nkind = 'hopfield'\n"
    "[task]\nkind = 'classification'\n[data]\nvalidation_fraction = 0.1\ntest_fraction = 0.2\n[hopfield]\nhidden = "
    "[16]\n"
    "[relaxation]\nschedule = 'sweep'\nstep = 1\nfree_steps = 6\nnudged_steps = 4\n"
    "[train]\nsteps = 60\nbatch = 16\nwarmup = 5\nlearning_rate = 1e-2\nevaluate_every = 30\n";

}  // namespace

TEST_CASE("train, info and report say how many samples were classified, beside trivial models", "[samples]") {
  const Folder folder;
  folder.write("d.toml", kDigits);
  const Outcome plain = run_nudge(folder,
                                  "train d.toml --set train.beside=bptt --set relaxation.schedule=parallel"
                                  " --set relaxation.step=0.5");
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.output, Contains("% on validation") && Contains("% on test") &&
                               Contains("trivial models: chance 10.00 %") && Contains("linear") && !Contains("letter"));
  CHECK_THAT(plain.errors, Contains("accuracy"));
  const json out = json::parse(run_nudge(folder, "train d.toml --out e.h5 --json").output);
  CHECK(out["test_accuracy"].get<double>() > 0.3);
  CHECK(out["reference"]["metric"] == "accuracy");
  CHECK(out["reference"]["test"]["linear"]["score"].get<double>() > 0.9);
  CHECK_FALSE(out.contains("text"));
  CHECK(run_nudge(folder, "report d.h5 -o d.html").exit_code == 0);
  const std::string page = read_file(folder.file("d.html"));
  for (const char* part :
       {"test accuracy", "Confusion on the test split", "Confusion on the validation split", "<figcaption>Accuracy",
        "linear model", "Trivial models of the same samples", "cost of a sample"}) {
    CHECK_THAT(page, Contains(part));
  }
  const json info = json::parse(run_nudge(folder, "info e.h5 --json").output);
  CHECK(info["lanes"][0]["test_accuracy"] == out["test_accuracy"]);
  const Outcome check =
      run_nudge(folder,
                "gradcheck d.toml --set gradcheck.estimators=all --set gradcheck.finite_difference_entries=2"
                " --set relaxation.schedule=parallel --set relaxation.step=.5 --set train.batch=2");
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.output, Contains("; loss ") && !Contains(" nat\n"));  // a squared error
}

TEST_CASE("sweeps and comparisons have the score as a column", "[samples]") {
  const Folder folder;
  folder.write("s.toml", kDigits + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\nbeta = [0.1, 0.5]\n");
  const Outcome sweep = run_nudge(folder, "sweep s.toml --out s.h5");
  CHECK(sweep.exit_code == 0);
  CHECK_THAT(sweep.output, Contains("validation_accuracy") && Contains("trivial models") && Contains("linear"));
  CHECK(run_nudge(folder, "report s.h5 -o s.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("s.html")), Contains("Validation accuracy against beta") && Contains("linear"));
  folder.write("c.toml", kDigits +
                             "[compare]\nentrants = ['bptt: estimator=bptt; relaxation.schedule=parallel; "
                             "relaxation.step=0.5', 'ep_contrastive', 'mlp: hopfield.feedback=none; estimator=bptt']\n"
                             "tuning_seeds = [1]\ntest_seeds = [2, 3]\n[compare.grid]\n"
                             "'train.learning_rate' = [3e-3, 1e-2]\n");
  const Outcome compare = run_nudge(folder, "compare c.toml --out c.h5");
  CHECK(compare.exit_code == 0);
  CHECK_THAT(compare.output,
             Contains("test accuracy") && Contains("in percentage points") && Contains("trivial models"));
  const json parsed = json::parse(run_nudge(folder, "compare c.toml --resume c.h5 --json").output);
  for (const auto& entrant : parsed["entrants"]) CHECK(entrant["test_accuracy"]["mean"].get<double>() > 0.2);
  CHECK(parsed["entrants"][1]["difference_accuracy"]["seeds"] == 2);
  CHECK(run_nudge(folder, "report c.h5 -o c.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("c.html")), Contains("test accuracy") && Contains("Trivial models"));
}

TEST_CASE("what does not fit samples ends with exit code 2 and says what to do", "[samples]") {
  const Folder folder;
  folder.write("d.toml", kDigits);
  folder.write("ragged.csv", "0,1,2\n1,2\n");
  folder.write("nan.csv", "0,1,2\n1,nan,3\n");
  std::string wide = "y,a,b,c\n";
  for (int i = 0; i < 60; ++i) wide += std::to_string(i % 3) + ",1," + std::to_string(i) + ",2\n";
  folder.write("three.csv", wide);
  struct Case {
    const char* settings;
    const char* message;
  };
  for (const Case& wrong :
       {Case{"--set data.file=ragged.csv", "ragged.csv"}, Case{"--set data.file=nan.csv", "nan.csv"},
        Case{"--set data.file=train-images-idx3-ubyte.gz", "train-images-idx3-ubyte.gz"},
        Case{"--set data.file=three.csv --set data.classes=2", "out of range"},
        Case{"--set data.file=three.csv --set network.kind=convolutional", "must be an image"},
        Case{"--set network.kind=convolutional --set convolutional.pool=[3]", "do not divide the 8 x 8 image"},
        Case{"--set network.kind=block --set estimator=ep --set relaxation.step=0",
             "must be hopfield, convolutional, resistive, netlist, oscillator, thermal or predictive_coding"},
        Case{"--set task.kind=characters", "must be block, stack, transformer, sequence_model or free_transformer"},
        Case{"--set data.side_by_side=5", "must divide train.batch = 16"},
        Case{"--set hopfield.feedback=none", "contrasts energies"}, Case{"--set hopfield.hiden=[3]", "did you mean"}}) {
    CAPTURE(wrong.settings);
    const Outcome outcome = run_nudge(folder, std::string("train d.toml ") + wrong.settings);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.errors, Contains(wrong.message));
    CHECK_FALSE(std::filesystem::exists(folder.file("d.h5")));
  }
}
