// SPDX-License-Identifier: Apache-2.0
// Kinds hopnet and convnet of `nudge case`: the reference cases, made-up ones against central differences of the re-settled
// network, and what must be refused (the cases' NETWORKS.md).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "reference/case_kind.hpp"
#include "sim/base/errors.hpp"
#include "tests/reference/hopnet_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Datasets = std::map<std::string, CaseDataset>;

Datasets compute(const HopnetFile& file) {
  const Folder folder;
  Datasets all;
  for (CaseDataset& each : compute_hopnet(H5Reader(file.write(folder)))) {
    const std::string name = each.name;
    CHECK(all.emplace(name, std::move(each)).second);
  }
  return all;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  std::vector<double> difference(a);
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] -= b[i];
  return norm(difference) / norm(b);
}

double mean_cost(const HopnetFile& file, const std::string& cost) {
  const std::vector<double> values = compute(file).at("out/" + cost).values;
  double sum = 0;
  for (const double v : values) sum += v / static_cast<double>(values.size());
  return sum;
}

/// The gradients of the mean cost at the fixed point and after T1 steps are central differences, along one direction per parameter.
void check_gradients(const HopnetFile& file) {
  const Datasets all = compute(file);
  for (const auto& [name, data] : file.reals) {
    if (name.rfind("params/", 0) != 0) continue;
    const std::string parameter = name.substr(7);
    CAPTURE(parameter);
    std::vector<double> direction(data.values.size());
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] = std::cos(1.0 + 3.0 * static_cast<double>(i));
    constexpr double h = 1e-5;
    HopnetFile ahead = file, behind = file;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      ahead.reals[name].values[i] += h * direction[i];
      behind.reals[name].values[i] -= h * direction[i];
    }
    const auto along = [&](const std::string& gradient) {
      const std::vector<double>& g = all.at("out/" + gradient + "/" + parameter).values;
      double sum = 0;
      for (std::size_t i = 0; i < g.size(); ++i) sum += g[i] * direction[i];
      return sum;
    };
    // Truncation h² C'''/6 and rounding 1e-16/h, both below 1e-9 for costs of order 1.
    CHECK(along("grad_exact") ==
          Approx((mean_cost(ahead, "cost_fp") - mean_cost(behind, "cost_fp")) / (2 * h)).margin(1e-8));
    CHECK(along("grad_bptt") ==
          Approx((mean_cost(ahead, "euler_cost_T1") - mean_cost(behind, "euler_cost_T1")) / (2 * h)).margin(1e-8));
  }
}

}  // namespace

TEST_CASE("every dataset of the hopnet and convnet reference cases is computed and right", "[hopnet]") {
  std::vector<std::filesystem::path> all = reference_cases("hopnet_");
  for (const auto& path : reference_cases("convnet_")) all.push_back(path);
  for (const auto& path : all) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    std::map<std::string, H5Shape> expected, computed;
    for (const std::string& dataset : file.all_datasets("out")) expected[dataset] = file.shape(dataset);
    for (const CaseDataset& each : compute_hopnet(file)) {
      CAPTURE(each.name);
      computed[each.name] = each.shape;
      if (!file.has(each.name)) continue;
      CHECK(distance(each.values, file.reals<double>(each.name)) <= each.tolerance);
    }
    CHECK(computed == expected);
  }
  CHECK((all.empty() || all.size() >= 8));
}

TEST_CASE("gradients of layered networks are central differences of the re-settled network", "[hopnet]") {
  SECTION("one layer") { check_gradients(HopnetFile::dense({5, 4})); }
  SECTION("four layers, sigmoid") {
    check_gradients(HopnetFile::dense({5, 4, 6, 3, 4}).activations("energy", "sigmoid", "tanh"));
  }
  SECTION("asymmetric, cross-entropy") {
    check_gradients(HopnetFile::dense({5, 4, 6, 3}).cross_entropy().asymmetric());
  }
  SECTION("projected relu") {
    HopnetFile file = HopnetFile::dense({5, 7, 6, 4}).activations("projected", "relu", "identity");
    for (double& w : file.reals["params/W2"].values) w *= 0.5;  // ‖W2‖ < 1: the energy has a minimum
    check_gradients(file);
  }
  SECTION("projected box on the output") {
    check_gradients(HopnetFile::dense({5, 7, 4}).cross_entropy().activations("projected", "hard_sigmoid", "relu"));
  }
  SECTION("convolutions, two pools") { check_gradients(HopnetFile::convolutional()); }
  SECTION("asymmetric convolutions") { check_gradients(HopnetFile::convolutional().cross_entropy().asymmetric()); }
  SECTION("projected convolutions") {
    check_gradients(HopnetFile::convolutional().activations("projected", "hard_sigmoid", "identity"));
  }
}

TEST_CASE("nudged estimates of layered networks agree with the exact gradient to the order of beta", "[hopnet]") {
  const auto errors = [](HopnetFile file, double beta, const std::string& estimate) {
    file.attributes["beta"] = beta;
    const Datasets all = compute(file);
    return distance(all.at("out/" + estimate + "/W2").values, all.at("out/grad_exact/W2").values);
  };
  // Halving β divides an O(β²) error by 4 and an O(β) one by 2; between 1e-9/β of rounding and higher orders.
  const HopnetFile symmetric = HopnetFile::dense({5, 6, 4});
  for (const char* name : {"grad_ep_centered", "grad_vf_centered"}) {
    CHECK(errors(symmetric, 0.1, name) / errors(symmetric, 0.05, name) == Approx(4).margin(0.3));
  }
  for (const char* name : {"grad_ep_plus", "grad_ep_minus"}) {
    CHECK(errors(symmetric, 0.02, name) / errors(symmetric, 0.01, name) == Approx(2).margin(0.2));
  }
  const HopnetFile separate = HopnetFile::dense({5, 6, 4}).asymmetric();
  for (const char* name : {"grad_aep", "grad_transposed"}) {
    CHECK(errors(separate, 0.1, name) / errors(separate, 0.05, name) == Approx(4).margin(0.5));
  }
  CHECK(errors(separate, 0.01, "grad_plain") > 0.05);  // wrong, whatever beta is
}

TEST_CASE("a layer without one below has a closed form", "[hopnet]") {
  const HopnetFile file = HopnetFile::dense({5, 4}).activations("energy", "tanh", "identity");
  const Datasets all = compute(file);
  const auto& x = file.reals.at("inputs/x").values;
  const auto& w = file.reals.at("params/W1").values;
  const auto& y = file.reals.at("inputs/y").values;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < 4; ++j) {
      double h = file.reals.at("params/b1").values[j];
      for (std::size_t i = 0; i < 5; ++i) h += x[b * 5 + i] * w[i * 4 + j];
      CHECK(all.at("out/z_fp").values[b * 4 + j] == Approx(h).margin(1e-13));  // F = −s + h
      CHECK(all.at("out/z_plus").values[b * 4 + j] == Approx((h + 0.05 * y[b * 4 + j]) / 1.05).margin(1e-13));
      CHECK(all.at("out/a_exact").values[b * 4 + j] == Approx(h - y[b * 4 + j]).margin(1e-13));
    }
  }
}

TEST_CASE("layered networks settle from a state of zeros, where the relative residual has no size to be relative to",
          "[hopnet]") {
  for (HopnetFile file : {HopnetFile::dense({5, 7, 6, 3}), HopnetFile::convolutional().cross_entropy()}) {
    file.activations("projected", "hard_sigmoid", "hard_sigmoid");
    const Datasets from_anywhere = compute(file);
    auto& start = file.reals.at("inputs/s_init").values;
    std::fill(start.begin(), start.end(), 0.0);
    const Datasets from_zero = compute(file);
    // Both end where Newton's step no longer lowers the residual, on the same units: rounding of a solve of some ten unknowns.
    CHECK(distance(from_zero.at("out/z_fp").values, from_anywhere.at("out/z_fp").values) < 1e-10);
  }
}

TEST_CASE("layered networks that do not settle are a numerical failure", "[hopnet]") {
  HopnetFile saturated = HopnetFile::dense({5, 4}).activations("energy", "hard_sigmoid", "hard_sigmoid");
  saturated.reals["params/b1"].values = {3, 3, 3, 3};  // E is least on the kink s = 1, where no force vanishes
  CHECK_THROWS_AS(compute(saturated), NumericalFailure);
  HopnetFile unbounded = HopnetFile::dense({5, 4}).activations("energy", "tanh", "identity");
  unbounded.attributes["beta"] = 1.5;  // −β: the curvature 1 − β of the output is negative
  CHECK_THROWS_AS(compute(unbounded), NumericalFailure);
}

TEST_CASE("malformed hopnet and convnet cases are refused", "[hopnet]") {
  using Spoil = std::function<void(HopnetFile&)>;
  struct Broken {
    std::string object, rule;
    Spoil spoil;
  };
  const auto text = [](const std::string& name, const std::string& value) {
    return [=](HopnetFile& f) { f.attributes[name] = value; };
  };
  const auto number = [](const std::string& name, H5Attribute value) {
    return [=](HopnetFile& f) { f.attributes[name] = value; };
  };
  const auto dataset = [](const std::string& name, const H5Shape& shape) {
    return [=](HopnetFile& f) { f.add(name, shape, 0.1); };
  };
  const auto refuse = [](const HopnetFile& good, const std::vector<Broken>& all) {
    const Folder folder;
    REQUIRE_NOTHROW(compute_hopnet(H5Reader(good.write(folder))));
    for (const Broken& each : all) {
      HopnetFile file = good;
      each.spoil(file);
      CAPTURE(each.object, each.rule);
      const H5Reader reader(file.write(folder));
      CHECK_THROWS_AS(compute_hopnet(reader), UserError);
      CHECK_THROWS_WITH(compute_hopnet(reader), Contains("case.h5") && Contains(each.object) && Contains(each.rule));
    }
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const HopnetFile dense = HopnetFile::dense({5, 6, 4});
  std::vector<Broken> all = {
      {"attribute activation", "unknown", text("activation", "tan")},
      {"attribute output_activation", "unknown", text("output_activation", "gelu")},
      {"attribute form", "unknown", text("form", "boxed")},
      {"attribute cost", "unknown", text("cost", "mse")},
      {"attribute activation", "hard_sigmoid or relu", text("form", "projected")},
      {"attribute beta", "> 0", number("beta", 0.0)},
      {"attribute beta", "finite", number("beta", nan)},
      {"attribute eps", "> 0", number("eps", -0.1)},
      {"attribute T1", "positive", number("T1", std::int64_t{0})},
      {"attribute T2", "positive", number("T2", std::int64_t{0})},
      {"attribute N", "shapes say", number("N", std::int64_t{11})},
      {"inputs/x", "attribute B", number("B", std::int64_t{3})},
      {"params/W3", "missing", number("L", std::int64_t{3})},
      {"attribute widths", "shapes say", number("L", std::int64_t{1})},
      {"attribute asymmetric", "0 or 1", number("asymmetric", std::int64_t{2})},
      {"params/B2", "missing", number("asymmetric", std::int64_t{1})},
      {"params/B2", "asymmetric = 0", dataset("params/B2", {4, 6})},
      {"params/W1", "expected", dataset("params/W1", {6, 5})},
      {"params/W3", "unknown", dataset("params/W3", {4, 4})},
      {"params/b2", "expected", dataset("params/b2", {5})},
      {"params/Wo", "cross_entropy", dataset("params/Wo", {4, 3})},
      {"params/Wo", "missing", text("cost", "cross_entropy")},
      {"inputs/y", "expected", dataset("inputs/y", {2, 5})},
      {"inputs/v", "expected", dataset("inputs/v", {3, 10})},
      {"attribute widths", "shapes say",
       [](HopnetFile& f) {
         f.lists["widths"] = {5, 4, 6};
       }},
      {"widths", "missing", [](HopnetFile& f) { f.lists.clear(); }},
      {"inputs/targets", "present",
       [](HopnetFile& f) {
         f.targets["inputs/targets"] = {0, 1};
       }},
      {"params/W1", "nan", [=](HopnetFile& f) { f.reals["params/W1"].values[2] = nan; }},
  };
  for (const char* name :
       {"params/W2", "params/b1", "inputs/x", "inputs/y", "inputs/s_init", "inputs/z0", "inputs/u"}) {
    all.push_back({name, "missing", [=](HopnetFile& f) { f.reals.erase(name); }});
  }
  refuse(dense, all);
  HopnetFile projected = HopnetFile::dense({5, 6, 4}).activations("projected", "hard_sigmoid", "identity");
  refuse(projected,
         {{"attribute activation", "hard_sigmoid or relu", text("activation", "tanh")},
          {"attribute output_activation", "identity", text("output_activation", "tanh")},
          {"attribute asymmetric", "projected", number("asymmetric", std::int64_t{1})},
          {"inputs/z0", "outside the box", [](HopnetFile& f) { f.reals["inputs/z0"].values[0] = -0.1; }},
          {"inputs/s_init", "outside the box", [](HopnetFile& f) { f.reals["inputs/s_init"].values[3] = 1.1; }}});
  HopnetFile softmax = HopnetFile::dense({5, 6, 4});
  softmax.cross_entropy();
  refuse(softmax, {{"inputs/targets", "[0, 3)",
                    [](HopnetFile& f) {
                      f.targets["inputs/targets"] = {3, 0};
                    }},
                   {"inputs/targets", "[0, 3)",
                    [](HopnetFile& f) {
                      f.targets["inputs/targets"] = {-1, 0};
                    }},
                   {"inputs/targets", "int32",
                    [](HopnetFile& f) {
                      f.targets.clear();
                      f.add("inputs/targets", {2}, 1);
                    }},
                   {"params/bo", "missing", [](HopnetFile& f) { f.reals.erase("params/bo"); }},
                   {"inputs/y", "present", dataset("inputs/y", {2, 4})}});
  refuse(HopnetFile::convolutional(), {{"params/K1", "odd", dataset("params/K1", {2, 1, 2, 2})},
                                       {"params/K2", "channels", dataset("params/K2", {3, 3, 3, 3})},
                                       {"attribute pool", "divide",
                                        [](HopnetFile& f) {
                                          f.lists["pool"] = {4, 1};
                                        }},
                                       {"attribute pool", "1 or more",
                                        [](HopnetFile& f) {
                                          f.lists["pool"] = {0, 1};
                                        }},
                                       {"K3", "missing",
                                        [](HopnetFile& f) {
                                          f.lists["pool"] = {2, 1, 1};
                                        }},
                                       {"W2", "missing", [](HopnetFile& f) { f.lists["pool"] = {2}; }},
                                       {"attribute pool", "one per convolution",
                                        [](HopnetFile& f) {
                                          f.lists["pool"] = {2, 1, 1, 1};
                                        }},
                                       {"inputs/x", "(B, C_0, H, W)", dataset("inputs/x", {2, 24})},
                                       {"pool", "missing", [](HopnetFile& f) { f.lists.erase("pool"); }}});
}
