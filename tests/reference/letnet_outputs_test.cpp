// SPDX-License-Identifier: Apache-2.0
// The list of a letnet case's datasets: complete, with the shapes and tolerances of the cases' LETNET.md.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <numeric>

#include "reference/letnet_outputs.hpp"
#include "sim/base/errors.hpp"
#include "tests/reference/letnet_file.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

std::vector<Matrix<double>> per_sample(const LetnetProblem& p, Index rows, Index cols) {
  std::vector<Matrix<double>> out;
  for (Index b = 0; b < p.sizes.batch; ++b) {
    out.push_back(random_matrix<double>(rows, cols, static_cast<std::uint64_t>(b) + 1));
  }
  return out;
}

void give(LetnetWriter& writer, const LetnetProblem& p, const LetnetOutput& output) {
  const LetnetSizes& s = p.sizes;
  switch (output.shape) {
    case LetnetShape::states: return writer.samples(output.name, p.z0);
    case LetnetShape::tokens: return writer.samples(output.name, per_sample(p, s.tokens, s.channels));
    case LetnetShape::logits: return writer.samples(output.name, per_sample(p, s.tokens, s.vocabulary));
    case LetnetShape::probabilities:
      return writer.samples(output.name, per_sample(p, s.layers * s.loops * s.heads * s.tokens, s.tokens));
    case LetnetShape::scalar: return writer.scalar(output.name, 2.5);
    case LetnetShape::free_steps:
      return writer.steps(output.name, std::vector<double>(static_cast<std::size_t>(p.free_steps) + 1, 0.5));
    case LetnetShape::unit_steps:
      return writer.steps(output.name, std::vector<double>(static_cast<std::size_t>(s.nodes) + 1, 0.5));
    case LetnetShape::weights:
    case LetnetShape::gradient: return writer.parameters(output.name, p.weights);
  }
}

/// Everything but one dataset, with made-up numbers of the right sizes.
LetnetWriter filled(const LetnetProblem& p, const std::string& without = "") {
  LetnetWriter writer(p);
  for (const LetnetOutput& output : letnet_outputs()) {
    if (output.shape == LetnetShape::unit_steps && p.kappa > 0) continue;
    if (output.name != without) give(writer, p, output);
  }
  return writer;
}

std::map<std::string, CaseDataset> by_name(const std::vector<CaseDataset>& all) {
  std::map<std::string, CaseDataset> out;
  for (const CaseDataset& each : all) CHECK(out.emplace(each.name, each).second);
  return out;
}

LetnetProblem read(const LetnetFile& file) {
  const Folder folder;
  return LetnetProblem(H5Reader(file.write(folder)));
}

}  // namespace

TEST_CASE("the list of letnet datasets is that of every reference case", "[letnet]") {
  const auto all = reference_cases("letnet_");
  for (const auto& path : all) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    const auto datasets = by_name(filled(LetnetProblem(file)).take());
    std::map<std::string, H5Shape> expected, listed;
    for (const std::string& name : file.all_datasets("out")) expected[name] = file.shape(name);
    for (const auto& [name, dataset] : datasets) listed[name] = dataset.shape;
    CHECK(listed == expected);
  }
  CHECK((all.empty() || all.size() >= 4));
}

TEST_CASE("letnet datasets carry the tolerances and error measures of section 6", "[letnet]") {
  const auto datasets = by_name(filled(read({})).take());
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
  CHECK(datasets.at("out/z_fp").values == datasets.at("out/a_exact").values);  // both were given z0
}

TEST_CASE("letnet datasets of float32 inputs are allowed what float32 costs", "[letnet]") {
  LetnetFile file;
  file.narrow = true;
  const auto datasets = by_name(filled(read(file)).take());
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
  const auto datasets = by_name(filled(read(file)).take());
  for (const char* group : {"vf_z0_u", "grad_exact", "grad_frozen"}) {
    for (const char* name : {"Wq", "Wk"}) {
      CHECK(datasets.at(std::string("out/") + group + "/" + name).error == CaseError::absolute);
    }
    CHECK(datasets.at(std::string("out/") + group + "/Wv").error == CaseError::relative);
  }
}

TEST_CASE("letnet datasets are laid out as the file has them", "[letnet]") {
  const LetnetFile file;
  const LetnetProblem p = read(file);
  LetnetWriter writer = filled(p, "prob_z0");
  // [B, L·K, H, T, T] = [2, 4, 2, 3, 3]: a number that tells where it belongs.
  std::vector<Matrix<double>> probabilities(2, Matrix<double>(4 * 2 * 3, 3));
  for (Index b = 0; b < 2; ++b) {
    for (Index i = 0; i < 72; ++i)
      probabilities[static_cast<std::size_t>(b)].data()[i] = static_cast<double>(b * 72 + i);
  }
  writer.samples("prob_z0", probabilities);
  const auto datasets = by_name(writer.take());
  CHECK(datasets.at("out/prob_z0").shape == H5Shape{2, 4, 2, 3, 3});
  std::vector<double> counted(144);
  std::iota(counted.begin(), counted.end(), 0.0);
  CHECK(datasets.at("out/prob_z0").values == counted);
  CHECK(datasets.at("out/z_fp").values == file.reals.at("inputs/z0").values);
  CHECK(datasets.at("out/grad_exact/W1").shape == H5Shape{2, 4, 5});
  CHECK(datasets.at("out/grad_exact/W1").values == file.reals.at("params/W1").values);
  CHECK(datasets.at("out/cost_fp").shape.empty());
  CHECK(datasets.at("out/euler_cost").shape == H5Shape{7});
  CHECK(datasets.at("out/unit_residual").shape == H5Shape{9});
}

TEST_CASE("a letnet dataset that is missing, unknown, doubled or of another size is a bug of ours", "[letnet]") {
  const LetnetProblem p = read({});
  for (const LetnetOutput& output : letnet_outputs()) {
    CAPTURE(output.name);
    LetnetWriter incomplete = filled(p, output.name);
    CHECK_THROWS_AS(incomplete.take(), ContractViolation);
    give(incomplete, p, output);
    CHECK_THROWS_AS(give(incomplete, p, output), ContractViolation);
  }
  LetnetWriter writer(p);
  CHECK_THROWS_AS(writer.scalar("cost", 1.0), ContractViolation);
  CHECK_THROWS_AS(writer.scalar("z_fp", 1.0), ContractViolation);
  CHECK_THROWS_AS(writer.samples("cost_fp", p.z0), ContractViolation);
  CHECK_THROWS_AS(writer.samples("dcost_fp", p.z0), ContractViolation);
  CHECK_THROWS_AS(writer.samples("z_fp", {p.z0[0]}), ContractViolation);
  CHECK_THROWS_AS(writer.steps("euler_cost", {1.0, 2.0}), ContractViolation);
  LetnetParameters transposed = p.weights;
  for (auto& each : transposed["W1"]) each = Matrix<double>(each.transpose());
  CHECK_THROWS_AS(writer.parameters("grad_exact", transposed), ContractViolation);
  LetnetFile feedback;
  feedback.attributes["kappa"] = 0.1;
  const LetnetProblem recurrent = read(feedback);
  LetnetWriter without = filled(recurrent);
  CHECK_THROWS_AS(without.steps("unit_residual", std::vector<double>(9, 0.0)), ContractViolation);
  CHECK(by_name(without.take()).count("out/unit_residual") == 0);
}
