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

/// One requirement instead of two, whose converters have the energy of their bits, and so an area.
const std::string small =
    " --set 'spec.keys=[\"crossbar.forward_adc_bits\"]' --set spec.loss=0.2 --set 'circuit.adc_energy=0 pJ'";

}  // namespace

TEST_CASE("report: a specification is its sheet, with the front as pictures", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", read_file(NUDGE_SOURCE_DIR "/tests/support/toy_spec.toml"));
  const Outcome run = run_nudge(folder, "spec toy.toml --out a.h5 --json" + small);
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
  REQUIRE(run_nudge(folder, "spec toy.toml --out part.h5 --shard 1/2" + small).exit_code == 0);
  REQUIRE(run_nudge(folder, "report part.h5 -o part.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("part.html")), Contains("still to be run") && !Contains("Pareto front of"));
}
