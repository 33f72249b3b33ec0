// SPDX-License-Identifier: Apache-2.0
// What a letnet case is compared by: every dataset of the cases' LETNET.md with its shape, tolerance and measure of error.
#include <map>

#include "reference/case_kind.hpp"
#include "tests/reference/letnet_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

std::map<std::string, CaseDataset> computed(const H5Reader& file) {
  std::map<std::string, CaseDataset> out;
  for (const CaseDataset& each : compute_letnet(file)) CHECK(out.emplace(each.name, each).second);
  return out;
}

std::map<std::string, CaseDataset> computed(const LetnetFile& file) {
  const Folder folder;
  return computed(H5Reader(file.write(folder)));
}

}  // namespace

TEST_CASE("the letnet datasets are those of every reference case", "[letnet]") {
  for (const auto& path : reference_cases("letnet_")) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    std::map<std::string, H5Shape> expected, found;
    for (const std::string& name : file.all_datasets("out")) expected[name] = file.shape(name);
    for (const auto& [name, dataset] : computed(file)) found[name] = dataset.shape;
    CHECK(found == expected);
  }
}

TEST_CASE("letnet datasets carry the tolerances and error measures of section 6", "[letnet]") {
  const auto datasets = computed(LetnetFile());
  // 9 + 8 at z0, 4 + 1 + 9 at the fixed point, 6 of Euler, 4 phases of 3 + 9, bptt.
  CHECK(datasets.size() == 9 + 8 + 4 + 1 + 9 + 6 + 4 * (3 + 9) + 9);
  const std::map<std::string, double> expected = {{"x", 1e-13},
                                                  {"prob_z0", 1e-13},
                                                  {"cost_z0", 1e-13},
                                                  {"vjp_z0_u", 1e-13},
                                                  {"vf_z0_u/W2", 1e-13},
                                                  {"euler_z_1", 1e-13},
                                                  {"euler_z_T1", 1e-12},
                                                  {"euler_cost", 1e-12},
                                                  {"z_fp", 1e-12},
                                                  {"logits_fp", 1e-12},
                                                  {"cost_fp", 1e-12},
                                                  {"dcost_fp", 1e-12},
                                                  {"z_plus_aep", 1e-12},
                                                  {"z_minus_frozen", 1e-12},
                                                  {"a_exact", 1e-11},
                                                  {"grad_exact/pos", 1e-11},
                                                  {"grad_bptt/W1", 1e-11},
                                                  {"a_transposed", 1e-11},
                                                  {"grad_frozen/tok", 1e-11},
                                                  {"a_aep", 1e-10},
                                                  {"grad_anchored/Wq", 1e-10},
                                                  {"grad_anchored/Wh", 1e-12},
                                                  {"grad_exact/Wh", 1e-12},
                                                  {"grad_bptt/Wh", 1e-12}};
  for (const auto& [name, tolerance] : expected) {
    CAPTURE(name);
    REQUIRE(datasets.count("out/" + name) == 1);
    CHECK(datasets.at("out/" + name).tolerance == tolerance);
    CHECK(datasets.at("out/" + name).error == CaseError::relative);
  }
  for (const char* name : {"out/euler_residual", "out/euler_distance", "out/unit_residual"}) {
    CHECK(datasets.at(name).tolerance == 1e-13);
    CHECK(datasets.at(name).error == CaseError::absolute);
  }
  CHECK(datasets.count("out/vf_z0_u/Wh") == 0);
  LetnetFile feedback;
  feedback.attributes["kappa"] = 0.1;
  CHECK(computed(feedback).count("out/unit_residual") == 0);
}

TEST_CASE("letnet datasets of float32 inputs are allowed what float32 costs", "[letnet]") {
  LetnetFile file;
  file.narrow = true;
  const auto datasets = computed(file);
  // beta = 0.05, beta_frozen = 2, beta_aep = 1e-3.
  CHECK(datasets.at("out/force_z0").tolerance == 1e-5);
  CHECK(datasets.at("out/grad_bptt/W1").tolerance == 1e-5);
  CHECK(datasets.at("out/z_plus_transposed").tolerance == 1e-5);
  CHECK(datasets.at("out/a_transposed").tolerance == Approx(4e-5 + 1e-5).epsilon(1e-12));
  CHECK(datasets.at("out/grad_frozen/W1").tolerance == Approx(1e-6 + 1e-5).epsilon(1e-12));
  CHECK(datasets.at("out/grad_anchored/W1").tolerance == Approx(5e-3).epsilon(1e-12));
  CHECK(datasets.at("out/grad_anchored/Wh").tolerance == 1e-5);
}

TEST_CASE("with one token the attention's gradients of queries and keys are compared absolutely", "[letnet]") {
  LetnetFile file;
  file.attributes["T"] = std::int64_t{1};
  for (const char* name : {"inputs/z0", "inputs/v", "inputs/u"}) file.reshape(name, {2, 8, 1, 4});
  file.reshape("params/pos", {1, 4});
  for (auto& [name, data] : file.integers) data = {{1, 2}, {2, 1}};
  const auto datasets = computed(file);
  for (const char* group : {"vf_z0_u", "grad_exact", "grad_frozen"}) {
    for (const char* name : {"Wq", "Wk"}) {
      CHECK(datasets.at(std::string("out/") + group + "/" + name).error == CaseError::absolute);
    }
    CHECK(datasets.at(std::string("out/") + group + "/Wv").error == CaseError::relative);
  }
}
