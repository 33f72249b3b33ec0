// SPDX-License-Identifier: Apache-2.0
// The reference cases of deep resistive networks: as they are, in other units, spoiled, and through the program.
#include <algorithm>
#include <filesystem>

#include "reference/case_kind.hpp"
#include "reference/drn_problem.hpp"
#include "sim/base/errors.hpp"
#include "tests/reference/drn_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

bool starts(const std::string& name, const std::string& with) { return name.rfind(with, 0) == 0; }

/// The same network with all conductances, currents and β times s: voltages stay, currents, energies and powers take s,
/// gradients of conductances and currents and the adjoint take 1/s.
void rescale(DrnFile& file, double s) {
  file.attributes["beta"] = std::get<double>(file.attributes["beta"]) * s;
  for (auto& [name, data] : file.reals) {
    double by = 1;
    for (const char* each :
         {"params/", "out/kcl", "out/energy", "out/conductance", "out/jvp", "out/diode", "out/power"}) {
      if (starts(name, each)) by = s;
    }
    if (starts(name, "out/grad") || starts(name, "out/a_exact")) by = 1 / s;
    for (double& value : data.values) value *= by;
  }
}

}  // namespace

TEST_CASE("every drn reference case is computed to its tolerances", "[drn]") {
  for (const auto& path : reference_cases("drn_")) {
    const CaseOutcome outcome = run_case(path, std::nullopt);
    INFO(outcome.report);
    CHECK(outcome.failed == 0);
    std::size_t references = 0;
    for (const std::string& name : H5Reader(path).all_datasets()) references += starts(name, "out/") ? 1 : 0;
    CHECK(static_cast<std::size_t>(outcome.compared) == references);
  }
}

TEST_CASE("drn cases hold in siemens, in any unit", "[drn]") {
  const Folder folder;
  for (const auto& path : reference_cases("drn_")) {
    for (const double s : {1e-5, 1e-12, 1e6}) {
      DrnFile file(path.string(), true);
      rescale(file, s);
      const CaseOutcome outcome = run_case(file.write(folder), std::nullopt);
      INFO(outcome.report);
      CHECK(outcome.failed == 0);
      CHECK(outcome.compared > 20);
    }
  }
}

TEST_CASE("a drn case of another result fails", "[drn]") {
  const auto all = reference_cases("drn_");
  if (all.empty()) return;
  const Folder folder;
  for (const char* name : {"out/kcl_z0", "out/v_minus", "out/cd_plus", "out/grad_exact/g1", "out/power_inputs"}) {
    DrnFile file(all.front().string(), true);
    file.reals.at(name).values[0] += 1e-6 * std::abs(file.reals.at(name).values[1]) + 1e-8;
    const CaseOutcome outcome = run_case(file.write(folder), std::nullopt);
    CAPTURE(name, outcome.report);
    CHECK(outcome.failed == 1);
  }
}

TEST_CASE("drn cases need their inputs alone, and every bias has its datasets", "[drn]") {
  const Folder folder;
  for (const char* bias : {"node", "none"}) {
    DrnFile file;
    file.attributes["bias"] = std::string(bias);
    if (std::string(bias) == "none") {
      for (const char* name : {"params/gb1", "params/gb2", "params/gb3"}) file.reals.erase(name);
    }
    std::filesystem::remove(folder.file("out.h5"));
    const CaseOutcome outcome = run_case(file.write(folder), folder.file("out.h5"));
    CHECK(outcome.compared == 0);
    const H5Reader out(folder.file("out.h5"));
    CHECK(out.integer_list_attribute("widths") == file.widths);
    CHECK(out.text_attribute("bias") == bias);
    CHECK(out.shape("out/grad_cd_centered/g2") == H5Shape{5, 4});
    CHECK(out.has("out/grad_exact/gb3") == (std::string(bias) == "node"));
    CHECK(out.shape("out/conductance") == H5Shape{12});
    CHECK(out.shape("out/logits") == H5Shape{2, 3});
    // 21 states, energies and powers, and five groups.
    CHECK(out.all_datasets("out").size() == 23 + 5 * (std::string(bias) == "node" ? 6 : 3));
  }
}

TEST_CASE("drn tolerances are those of section 2.5", "[drn]") {
  const Folder folder;
  std::map<std::string, double> tolerance;
  for (const CaseDataset& each : compute_drn(H5Reader(DrnFile().write(folder)))) tolerance[each.name] = each.tolerance;
  for (const char* name : {"kcl_z0", "energy_z0", "energy_star", "conductance", "jvp_z0_v", "power_bias", "cd_minus"}) {
    CHECK(tolerance.at(std::string("out/") + name) == 1e-12);
  }
  for (const char* name : {"v_star", "v_plus", "v_minus", "diode_current_plus", "logits", "cost_star"}) {
    CHECK(tolerance.at(std::string("out/") + name) == 1e-11);
  }
  CHECK(tolerance.at("out/a_exact") == 1e-10);
  CHECK(tolerance.at("out/grad_exact/g1") == 1e-10);
  for (const char* name : {"grad_ep_plus", "grad_ep_minus", "grad_ep_centered", "grad_cd_centered"}) {
    CHECK(tolerance.at(std::string("out/") + name + "/gb2") == 1e-9);
  }
}

TEST_CASE("the program says 2 for a drn case that is none and 3 for a nudge without a minimum", "[drn]") {
  const Folder folder;
  DrnFile file;
  file.write(folder, "good.h5");
  CHECK(run_nudge(folder, "case good.h5 --out good_out.h5").exit_code == 0);
  CHECK(std::filesystem::exists(folder.file("good_out.h5")));
  const DrnProblem p(H5Reader(folder.file("good.h5")));
  const double limit = p.network->node_conductance().rightCols(3).minCoeff();
  file.attributes["beta"] = 0.999 * limit;
  file.write(folder, "unbounded.h5");
  const Outcome unbounded = run_nudge(folder, "case unbounded.h5 --out unbounded_out.h5");
  CHECK(unbounded.exit_code == 3);
  CHECK_THAT(unbounded.errors, Contains("unbounded.h5") && Contains("beta") && Contains(">="));
  CHECK_FALSE(std::filesystem::exists(folder.file("unbounded_out.h5")));
  file.attributes["beta"] = limit;
  file.write(folder, "above.h5");
  const Outcome above = run_nudge(folder, "case above.h5 --out above_out.h5");
  CHECK(above.exit_code == 2);
  CHECK_THAT(above.errors, Contains("above.h5: attribute beta: "));
  CHECK_FALSE(std::filesystem::exists(folder.file("above_out.h5")));
}
