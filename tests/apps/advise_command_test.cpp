// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kConfig =
    "estimator = 'ep'\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\nreferences = 'off'\n"
    "[data]\nvalidation_fraction = 0.1\ntest_fraction = 0.2\n[hopfield]\nhidden = [12]\n"
    "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 10\nnudged_steps = 6\n"
    "[train]\nsteps = 40\nbatch = 8\noptimizer = 'sgd'\nlearning_rate = 0.1\nevaluate_every = 'end'\nnull = 'none'\n"
    "[device]\npreset = 'ecram'\n[crossbar]\nprogramming = 'write_verify'\n"
    "[compare]\ntest_seeds = [11, 12]\n[compare.grid]\n'train.learning_rate' = [0.1]\n";

std::vector<std::string> named(const nlohmann::json& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row["rule"]);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("advise ranks every rule that the devices can have, and says why not the others", "[apps]") {
  const Folder folder;
  folder.write("mine.toml", kConfig);
  const Outcome done = run_nudge(folder, "advise mine.toml --out a.h5 --json");
  REQUIRE(done.exit_code == 0);
  const auto json = nlohmann::json::parse(done.output);
  const std::vector<std::string> ranked = named(json["ranking"]), refused = named(json["refused"]);
  CHECK(ranked.size() + refused.size() == 11);  // all values of crossbar.update but none
  CHECK(has(ranked, "pulses"));
  CHECK(has(refused, "coincidence"));  // train.momentum
  for (const auto& row : json["refused"]) CHECK_THAT(row["why"].get<std::string>(), Contains("must"));
  double before = 0;
  for (const auto& row : json["ranking"]) {
    CHECK(row.at("edges") == nlohmann::json::array());  // of one rate none is outermost
    const double loss = row["test_loss"]["mean"];
    CHECK(loss >= before);
    before = loss;
    // Differences of means are means of differences: sums of two losses of order one.
    CHECK(row["lost"]["mean"].get<double>() == Approx(loss - json["exact"]["mean"].get<double>()).margin(1e-12));
    CHECK(row["behind"]["mean"].get<double>() ==
          Approx(loss - json["ranking"][0]["test_loss"]["mean"].get<double>()).margin(1e-12));
    if (row["regained"].is_null()) continue;
    const double frozen = json["frozen"]["mean"], exact = json["exact"]["mean"];
    CHECK(row["regained"].get<double>() == Approx((frozen - loss) / (frozen - exact)).epsilon(1e-9));
  }
  // It is a comparison: what nudge compare of the same entrants would find.
  CHECK(run_nudge(folder, "info a.h5").exit_code == 0);
  const Outcome again = run_nudge(folder, "advise mine.toml --resume a.h5");
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.output, Contains("regained: ") && Contains("not tried: coincidence: "));
}

TEST_CASE("advise without devices is refused", "[apps]") {
  const Folder folder;
  folder.write("mine.toml", kConfig);
  const Outcome none = run_nudge(folder, "advise mine.toml --set device.preset= --set device.model=digital");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.errors, Contains("mine.toml: no devices to advise on"));
}
