// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "reference/case_kind.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/reference/drn_file.hpp"
#include "tests/reference/hopnet_file.hpp"
#include "tests/reference/letnet_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

struct Reals {
  std::vector<double> values;
  H5Shape shape;
};
struct Integers {
  std::vector<std::int64_t> values;
  H5Shape shape;
};

/// An eqblock case that the tests make up: B = 2, T = 3, C = 4, M = 6, H = 2, V = 5.
struct SyntheticCase {
  std::map<std::string, H5Attribute> attributes{{"kind", std::string("eqblock")},
                                                {"z_init", std::string("x_in")},
                                                {"min_abs_u", 0.0},
                                                {"s", 1.0},
                                                {"c", 0.8},
                                                {"eps", 0.3},
                                                {"beta", 1e-3},
                                                {"clip", 1e-4},
                                                {"B", std::int64_t{2}},
                                                {"T", std::int64_t{3}},
                                                {"C", std::int64_t{4}},
                                                {"M", std::int64_t{6}},
                                                {"H", std::int64_t{2}},
                                                {"V", std::int64_t{5}},
                                                {"T1", std::int64_t{30}},
                                                {"T2", std::int64_t{20}}};
  std::map<std::string, Reals> reals;
  std::map<std::string, Integers> integers{{"inputs/idx", {{0, 1, 2, 4, 4, 3}, {2, 3}}},
                                           {"inputs/targets", {{1, 2, 0, 4, 3, 1}, {2, 3}}}};
  bool narrow = false;  ///< reals as float32

  SyntheticCase() {
    std::uint64_t seed = 50;
    for (const char* name : {"inputs/z0", "inputs/v", "inputs/w"}) add(name, {2, 3, 4}, 1.0, ++seed);
    add("params/tok", {5, 4}, 0.5, ++seed);
    add("params/pos", {3, 4}, 0.5, ++seed);
    add("params/Wm", {4, 6}, 0.1, ++seed);
    for (const char* name : {"params/Wq", "params/Wk", "params/Wv", "params/Wo"}) add(name, {4, 4}, 0.4, ++seed);
    add("params/Wh", {4, 5}, 0.5, ++seed);
  }

  void add(const std::string& name, const H5Shape& shape, double scale, std::uint64_t seed) {
    Index size = 1;
    for (const Index n : shape) size *= n;
    const Matrix<double> m = random_matrix<double>(1, size, seed, scale);
    reals[name] = {std::vector<double>(m.data(), m.data() + size), shape};
  }

  /// Takes over the computed datasets of an OUT.h5 as references.
  void add_references(const std::string& path) {
    const H5Reader file(path);
    for (const std::string& name : file.all_datasets("out")) reals[name] = {file.reals<double>(name), file.shape(name)};
  }

  std::string write(const Folder& folder, const std::string& name = "case.h5",
                    const std::function<void(H5Document&)>& last = {}) const {
    H5Document document;
    for (const auto& [key, value] : attributes) document.attribute(key, value);
    for (const auto& [key, data] : reals) {
      if (narrow) {
        document.dataset(key, std::vector<float>(data.values.begin(), data.values.end()), data.shape, {});
      } else {
        document.dataset(key, data.values, data.shape, {});
      }
    }
    for (const auto& [key, data] : integers) document.dataset(key, data.values, data.shape, {});
    if (last) last(document);
    std::filesystem::remove(folder.file(name));
    document.write(folder.file(name), Overwrite::must_not_exist);
    return folder.file(name);
  }
};

struct Malformed {
  std::string object;  ///< what the message must name, beside the file
  std::function<void(SyntheticCase&)> spoil;
};

std::vector<Malformed> malformed_variants() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Malformed> all;
  const SyntheticCase good;
  for (const auto& entry : good.reals) {
    const std::string name = entry.first;  // clang before 16 captures no structured bindings
    all.push_back({name, [=](SyntheticCase& c) { c.reals.erase(name); }});
    all.push_back({name, [=](SyntheticCase& c) { c.reals[name].values.back() = nan; }});
    all.push_back({name, [=](SyntheticCase& c) {  // one more row
                     Reals& d = c.reals[name];
                     d.values.resize(d.values.size() + d.values.size() / static_cast<std::size_t>(d.shape[0]));
                     ++d.shape[0];
                   }});
    all.push_back({name, [=](SyntheticCase& c) {  // the right numbers, flattened
                     Reals& d = c.reals[name];
                     d.shape = {static_cast<Index>(d.values.size())};
                   }});
    all.push_back(
        {name, [=](SyntheticCase& c) {  // integers instead of reals
           c.integers[name] = {std::vector<std::int64_t>(c.reals[name].values.size(), 1), c.reals[name].shape};
           c.reals.erase(name);
         }});
  }
  all.push_back({"params/Wk", [=](SyntheticCase& c) { c.reals["params/Wk"].values[0] = -infinity; }});
  for (const std::string name : {"inputs/idx", "inputs/targets"}) {
    all.push_back({name, [=](SyntheticCase& c) { c.integers.erase(name); }});
    all.push_back({name, [=](SyntheticCase& c) { c.integers[name].values[3] = 5; }});
    all.push_back({name, [=](SyntheticCase& c) { c.integers[name].values[3] = -1; }});
    all.push_back({name, [=](SyntheticCase& c) { c.integers[name].values[3] = std::int64_t{1} << 32; }});
    all.push_back({name, [=](SyntheticCase& c) { c.integers[name].shape = {3, 2}; }});
    all.push_back({name, [=](SyntheticCase& c) {
                     c.integers.erase(name);
                     c.reals[name] = {std::vector<double>(6, 1.0), {2, 3}};
                   }});
  }
  for (const std::string name : {"B", "T", "C", "M", "H", "V", "T1", "T2"}) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
      all.push_back({name, [=](SyntheticCase& c) { c.attributes[name] = value; }});
    }
    all.push_back({name, [=](SyntheticCase& c) { c.attributes.erase(name); }});
    all.push_back({name, [=](SyntheticCase& c) { c.attributes[name] = std::string("many"); }});
    all.push_back({name, [=](SyntheticCase& c) { c.attributes[name] = 2.5; }});
  }
  for (const std::string name : {"s", "c", "eps", "beta", "clip"}) {
    all.push_back({name, [=](SyntheticCase& c) { c.attributes.erase(name); }});
    all.push_back({name, [=](SyntheticCase& c) { c.attributes[name] = nan; }});
    all.push_back({name, [=](SyntheticCase& c) { c.attributes[name] = std::string("1"); }});
  }
  all.push_back({"H", [](SyntheticCase& c) { c.attributes["H"] = std::int64_t{3}; }});
  all.push_back({"kind", [](SyntheticCase& c) { c.attributes["kind"] = std::string("eqblok"); }});
  all.push_back({"kind", [](SyntheticCase& c) { c.attributes["kind"] = std::int64_t{1}; }});
  all.push_back({"kind", [](SyntheticCase& c) { c.attributes.erase("kind"); }});
  all.push_back({"z_init", [](SyntheticCase& c) { c.attributes["z_init"] = std::string("zero"); }});
  all.push_back({"out/z_star", [](SyntheticCase& c) { c.reals["out/z_star"] = {std::vector<double>(24), {2, 12}}; }});
  all.push_back({"out/loss", [](SyntheticCase& c) { c.reals["out/loss"] = {{nan}, {}}; }});
  return all;
}

}  // namespace

TEST_CASE("every eqblock reference case is reproduced", "[cases]") {
  const auto all = reference_cases("eqblock_");
  for (const auto& path : all) {
    const CaseOutcome outcome = run_case(path, std::nullopt);
    INFO(outcome.report);
    CHECK(outcome.failed == 0);
    CHECK(outcome.compared > 100);
  }
  CHECK((all.empty() || all.size() >= 4));
}

TEST_CASE("a case without references computes everything", "[cases]") {
  const Folder folder;
  SyntheticCase synthetic;
  synthetic.attributes["note"] = std::string("kept");
  synthetic.write(folder);
  const Outcome outcome = run_nudge(folder, "case case.h5 --out out.h5");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Contains("0 compared, 0 failed"));
  const H5Reader out(folder.file("out.h5"));
  CHECK(out.text_attribute("note") == "kept");
  CHECK(out.integer_attribute("T1") == 30);
  // 13 at z0, 9 at z*, 6 variants of 3 or 4 states, dyadic, linear adjoint, exact, and 10 gradients of 8 parameters.
  CHECK(out.all_datasets("out").size() == 13 + 9 + 6 * 3 + 1 + 2 + 1 + 3 + 10 * 8);
  for (const char* gradient :
       {"aep", "plain", "anchor", "clip", "tracked", "transposed", "dyadic", "linadj", "exact", "bptt"}) {
    CHECK(out.shape(std::string("out/grad_") + gradient + "/Wm") == H5Shape{4, 6});
  }
  CHECK(out.shape("out/attn_prob_z0") == H5Shape{2, 2, 3, 3});
  CHECK(out.shape("out/loss") == H5Shape{});
  CHECK(out.shape("out/z_plus_tracked") == H5Shape{2, 3, 4});
  for (const std::string& name : out.all_datasets("out")) {
    for (const double value : out.reals<double>(name)) CHECK(std::isfinite(value));
  }
}

TEST_CASE("references are compared, and a wrong one fails with exit 3", "[cases]") {
  const Folder folder;
  SyntheticCase synthetic;
  synthetic.write(folder);
  REQUIRE(run_nudge(folder, "case case.h5 --out first.h5").exit_code == 0);
  synthetic.add_references(folder.file("first.h5"));
  synthetic.write(folder);
  const Outcome good = run_nudge(folder, "case case.h5 --out second.h5");
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.output, Contains("127 compared, 0 failed") && !Contains("FAIL"));

  // Relative 1e-9 on one dataset: 1000 times its tolerance of 1e-12.
  for (double& value : synthetic.reals["out/z_star"].values) value *= 1 + 1e-9;
  synthetic.write(folder);
  const Outcome bad = run_nudge(folder, "case case.h5 --out third.h5");
  CHECK(bad.exit_code == 3);
  CHECK_THAT(bad.output, Contains("127 compared, 1 failed"));
  const auto line = bad.output.substr(bad.output.find("out/z_star "));
  CHECK_THAT(line.substr(0, line.find('\n')), Contains("1.000e-09") && Contains("FAIL"));
  CHECK(H5Reader(folder.file("third.h5")).all_datasets("out").size() == 127);

  // A zero reference is compared absolutely.
  for (double& value : synthetic.reals["out/z_star"].values) value /= 1 + 1e-9;
  synthetic.reals["out/loss"].values[0] = 0;
  synthetic.write(folder);
  CHECK(run_nudge(folder, "case case.h5").exit_code == 3);
}

TEST_CASE("float32 inputs are widened", "[cases]") {
  const Folder folder;
  SyntheticCase synthetic;
  synthetic.narrow = true;
  synthetic.write(folder);
  CHECK(run_nudge(folder, "case case.h5 --out narrow.h5").exit_code == 0);
  synthetic.narrow = false;
  for (auto& [name, data] : synthetic.reals) {
    for (double& value : data.values) value = static_cast<double>(static_cast<float>(value));
  }
  synthetic.write(folder);
  CHECK(run_nudge(folder, "case case.h5 --out wide.h5").exit_code == 0);
  const H5Reader narrow(folder.file("narrow.h5")), wide(folder.file("wide.h5"));
  for (const std::string& name : wide.all_datasets("out")) {
    CHECK(narrow.reals<double>(name) == wide.reals<double>(name));
  }
}

TEST_CASE("a case that leaves the finite numbers says so in its output", "[cases]") {
  const Folder folder;
  SyntheticCase synthetic;
  synthetic.write(folder);
  REQUIRE(run_nudge(folder, "case case.h5 --out first.h5").exit_code == 0);
  synthetic.add_references(folder.file("first.h5"));
  synthetic.attributes["eps"] = 1e30;
  synthetic.write(folder);
  const Outcome outcome = run_nudge(folder, "case case.h5 --out out.h5");
  CHECK(outcome.exit_code == 3);
  const auto z = H5Reader(folder.file("out.h5")).reals<double>("out/z_star");
  CHECK(std::any_of(z.begin(), z.end(), [](double value) { return !std::isfinite(value); }));
}

TEST_CASE("malformed cases exit 2, name file and object, and write nothing", "[cases]") {
  const Folder folder;
  std::size_t number = 0;
  for (const Malformed& variant : malformed_variants()) {
    SyntheticCase synthetic;
    variant.spoil(synthetic);
    synthetic.write(folder);
    const Outcome outcome = run_nudge(folder, "case case.h5 --out out.h5");
    CAPTURE(number, variant.object, outcome.errors);
    ++number;
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.output.empty());
    CHECK_THAT(outcome.errors, Contains("case.h5: ") && Contains(variant.object));
    CHECK_FALSE(std::filesystem::exists(folder.file("out.h5")));
  }
}

TEST_CASE("a case that is no case, and an output that is taken, exit 2", "[cases]") {
  const Folder folder;
  folder.write("text.h5", "this is not HDF5");
  CHECK(run_nudge(folder, "case text.h5 --out out.h5").exit_code == 2);
  CHECK_THAT(run_nudge(folder, "case none.h5 --out out.h5").errors, Contains("none.h5"));
  CHECK(run_nudge(folder, "case . --out out.h5").exit_code == 2);
  const SyntheticCase synthetic;
  const std::string whole = read_file(synthetic.write(folder));
  folder.write("cut.h5", whole.substr(0, whole.size() / 2));
  CHECK(run_nudge(folder, "case cut.h5 --out out.h5").exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(folder.file("out.h5")));
  folder.write("taken.h5", "precious");
  const Outcome taken = run_nudge(folder, "case case.h5 --out taken.h5");
  CHECK(taken.exit_code == 2);
  CHECK_THAT(taken.errors, Contains("taken.h5"));
  CHECK(read_file(folder.file("taken.h5")) == "precious");
  CHECK(run_nudge(folder, "case case.h5 --out case.h5").exit_code == 2);
  CHECK(read_file(folder.file("case.h5")) == whole);
}

TEST_CASE("cases whose states are zeros have residuals of 0 and no number that is none", "[cases]") {
  const Folder folder;
  SyntheticCase block;
  for (const char* name : {"params/tok", "params/pos"}) {
    auto& values = block.reals.at(name).values;
    std::fill(values.begin(), values.end(), 0.0);
  }
  HopnetFile layers = HopnetFile::dense({5, 6, 4}).activations("projected", "hard_sigmoid", "hard_sigmoid");
  for (auto& [name, data] : layers.reals) std::fill(data.values.begin(), data.values.end(), 0.0);
  LetnetFile transformer;
  for (const char* name : {"params/tok", "params/pos"}) {
    auto& values = transformer.reals.at(name).values;
    std::fill(values.begin(), values.end(), 0.0);
  }
  DrnFile resistors;
  for (auto& [name, data] : resistors.reals) {
    if (name.rfind("inputs/", 0) == 0 && name != "inputs/gain") std::fill(data.values.begin(), data.values.end(), 0.0);
  }
  resistors.attributes["v_bias"] = 0.0;
  for (const std::string& path : {block.write(folder, "block.h5"), layers.write(folder),
                                  transformer.write(folder, "letnet.h5"), resistors.write(folder, "drn.h5")}) {
    std::filesystem::remove(folder.file("out.h5"));
    run_case(path, folder.file("out.h5"));
    const H5Reader out(folder.file("out.h5"));
    for (const std::string& name : out.all_datasets("out")) {
      CAPTURE(path, name);
      for (const double value : out.reals<double>(name)) CHECK(std::isfinite(value));
    }
  }
}
