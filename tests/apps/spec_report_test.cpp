// SPDX-License-Identifier: Apache-2.0
// nudge report of a specification: the requirements and the front that the command prints, and files that have none.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const toy = R"(estimator = "ep"
beta = 0.5
threads = 1
[network]
kind = "hopfield"
[task]
kind = "classification"
references = ["majority"]
[data]
test_fraction = 0.2
[hopfield]
hidden = [6]
[relaxation]
schedule = "sweep"
step = 1.0
free_steps = 6
nudged_steps = 4
[train]
steps = 60
batch = 16
learning_rate = 1e-2
evaluate_every = "end"
[device]
preset = "ecram"
[crossbar]
forward_adc_bits = 8
[chip]
node = "130 nm"
[spec]
keys = ["crossbar.forward_adc_bits"]
metric = "loss"
loss = 0.2
seeds = [1, 2]
bisections = 1
designs = 2
)";

}  // namespace

TEST_CASE("report: a specification is its sheet, with the front as pictures", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", toy);
  const Outcome run = run_nudge(folder, "spec toy.toml --out a.h5 --json");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  REQUIRE(run_nudge(folder, "report a.h5 -o a.html").exit_code == 0);
  const std::string page = read_file(folder.file("a.html"));
  CHECK_THAT(page, Contains("of 1 requirements for certain") && Contains("crossbar.forward_adc_bits") &&
                       Contains("Score of the designs over their area") && Contains("on the Pareto front"));
  const auto& need = json["requirements"][0];
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find_first_of("<>", at)) != std::string::npos; ++at) {
      text.replace(at, 1, text[at] == '<' ? "&lt;" : "&gt;");
    }
    return text;
  };
  CHECK_THAT(page, Contains(escaped(need["text"].get<std::string>())) &&
                       Contains(escaped(need["alone"]["text"].get<std::string>())));
  CHECK_THAT(page, Contains(fmt::format("Pareto front of {} designs ({} on it)", json["designs"].get<int>(),
                                        json["pareto"].size())));
  // A part of the first stage has no sheet yet. Its page says how to go on.
  REQUIRE(run_nudge(folder, "spec toy.toml --out part.h5 --shard 1/2").exit_code == 0);
  REQUIRE(run_nudge(folder, "report part.h5 -o part.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("part.html")), Contains("still to be run") && !Contains("Pareto front of"));
}
