// SPDX-License-Identifier: Apache-2.0
// Section 3 of the cases' NETWORKS.md for drn: one thing at a time is broken in a case that is accepted.
#include <functional>
#include <limits>

#include "reference/drn_problem.hpp"
#include "sim/base/errors.hpp"
#include "tests/reference/drn_file.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Broken {
  std::string object;  ///< what the message must name, beside the file
  std::string rule;    ///< words of the rule that it must state
  std::function<void(DrnFile&)> spoil;
};

/// Reads the spoiled cases: each must be refused with file, object and rule.
void refuse_all(const std::vector<Broken>& all, const DrnFile& good = {}) {
  const Folder folder;
  REQUIRE_NOTHROW(DrnProblem(H5Reader(good.write(folder))));
  for (const Broken& broken : all) {
    DrnFile file = good;
    broken.spoil(file);
    const H5Reader reader(file.write(folder));
    CAPTURE(broken.object, broken.rule);
    CHECK_THROWS_AS(DrnProblem(reader), UserError);
    CHECK_THROWS_WITH(DrnProblem(reader), Contains("case.h5: ") && Contains(broken.object) && Contains(broken.rule));
  }
}

std::string attribute(const std::string& name) { return "attribute " + name + ": "; }

Broken wrong(const std::string& name, const H5Attribute& value, const std::string& rule) {
  return {attribute(name), rule, [=](DrnFile& f) { f.attributes[name] = value; }};
}

Broken number(const std::string& name, std::size_t at, double value, const std::string& rule) {
  return {name + ": ", rule, [=](DrnFile& f) { f.reals.at(name).values.at(at) = value; }};
}

H5Attribute whole(std::int64_t value) { return value; }
H5Attribute text(const char* value) { return std::string(value); }

DrnFile with_currents() {
  DrnFile file;
  file.attributes["bias"] = text("current");
  for (const std::size_t l : {1U, 2U, 3U}) {
    file.reals.erase("params/gb" + std::to_string(l));
    file.add("params/b" + std::to_string(l), {file.widths[l]}, 40 + l);
  }
  return file;
}

}  // namespace

TEST_CASE("a drn case is read as it stands", "[drn]") {
  const Folder folder;
  const DrnFile file;
  const DrnProblem p(H5Reader(file.write(folder)));
  REQUIRE(p.network);
  CHECK(p.network->depth() == 3);
  CHECK(p.network->cols() == 12);
  CHECK(p.network->layer(2).conductance(3, 1) == file.reals.at("params/g2").values[3 * 4 + 1]);
  CHECK(p.network->layer(3).bias(1, 2) == file.reals.at("params/gb3").values[5]);
  CHECK(p.network->gain(1) == 2.0);
  CHECK(p.network->rail_V() == 0.7);
  CHECK(p.x(1, 1) == file.reals.at("inputs/x").values[4]);
  CHECK(p.target(1, 2) == file.reals.at("inputs/y").values[5]);
  CHECK(p.z0(1, 3) == file.reals.at("inputs/z0").values[15]);
  CHECK(p.nudged_sweeps == 2);
  CHECK_FALSE(p.float32);
  DrnFile narrow;
  narrow.narrow = true;
  CHECK(DrnProblem(H5Reader(narrow.write(folder))).float32);
  const DrnProblem currents(H5Reader(with_currents().write(folder)));
  CHECK(currents.network->bias() == ResistiveBias::current);
  DrnFile none;
  none.attributes["bias"] = text("none");
  for (const char* name : {"params/gb1", "params/gb2", "params/gb3"}) none.reals.erase(name);
  CHECK_NOTHROW(DrnProblem(H5Reader(none.write(folder))));
}

TEST_CASE("drn datasets that are missing, of another type, shape or not finite are refused", "[drn]") {
  std::vector<Broken> all;
  const DrnFile good;
  for (const auto& entry : good.reals) {
    const std::string name = entry.first;
    const H5Shape shape = entry.second.shape;
    all.push_back({name, "missing", [=](DrnFile& f) { f.reals.erase(name); }});
    all.push_back(number(name, 1, not_a_number, "element 1 is nan"));
    all.push_back(number(name, 2, infinity, "finite"));
    all.push_back({name + ": ", "float64 or float32 expected, found integer", [=](DrnFile& f) {
                     f.integers[name] = f.reals[name];
                     f.reals.erase(name);
                   }});
    for (std::size_t i = 0; i < shape.size(); ++i) {
      for (const Index change : {Index{1}, Index{-1}}) {
        H5Shape other = shape;
        other[i] += change;
        all.push_back({name, "expected", [=](DrnFile& f) { f.reshape(name, other); }});
      }
    }
    H5Shape deeper = shape;
    deeper.insert(deeper.begin(), 1);
    all.push_back({name + ": ", "expected", [=](DrnFile& f) { f.reshape(name, deeper); }});
  }
  // One column of x more or less is said of the widths, which name x.
  for (Broken& each : all) {
    if (each.object == "inputs/x" && each.rule == "expected") each = {"inputs/x", "", each.spoil};
  }
  refuse_all(all);
}

TEST_CASE("drn shapes that contradict each other are refused with the right one", "[drn]") {
  const auto misshapen = [](const std::string& name, const H5Shape& shape, const std::string& rule) {
    return Broken{name + ": ", rule, [=](DrnFile& f) { f.reshape(name, shape); }};
  };
  refuse_all({
      misshapen("params/g2", {4, 5}, "shape (n_1, n_2) = (5, 4) expected"),
      misshapen("params/g1", {3, 5}, "shape (2*n_in, n_1) = (6, 5) expected"),
      misshapen("params/gb2", {4, 2}, "(2, 4) expected"),
      misshapen("inputs/y", {3, 3}, "(B, n_L)"),
      misshapen("inputs/z0", {2, 11}, "(B, N)"),
      misshapen("inputs/gain", {4}, "(L) = (3,) expected"),
      misshapen("inputs/x", {0, 3}, "attribute B"),
      wrong("N", whole(13), "must be n_1 + ... + n_L = 12"),
      {"attribute widths: ", "L = 2", [](DrnFile& f) { f.attributes["L"] = whole(2); }},
      wrong("L", whole(0), "positive"),
      wrong("B", whole(0), "positive"),
      wrong("B", text("2"), "integer"),
      {"attribute widths", "missing", [](DrnFile& f) { f.widths.clear(); }},
      {attribute("widths"), "2*n_in", [](DrnFile& f) { f.widths[0] = 3; }},
      {attribute("widths"), "n_2 = 0", [](DrnFile& f) { f.widths[2] = 0; }},
      {attribute("widths"), "L + 1 = 4", [](DrnFile& f) { f.widths.push_back(3); }},
      {"params/g2: ", "shape (n_1, n_2) = (6, 3)",
       [](DrnFile& f) {
         f.widths = {6, 6, 3, 3};
         f.reshape("params/g1", {6, 6});
         f.reshape("params/gb1", {2, 6});
       }},
  });
}

TEST_CASE("drn links that are missing, one too many or not asked for are refused", "[drn]") {
  const auto extra = [](const std::string& name, const H5Shape& shape, const std::string& rule) {
    return Broken{name + ": ", rule, [=](DrnFile& f) { f.add_positive(name, shape, 1, 7); }};
  };
  refuse_all({extra("params/g4", {3, 2}, "not asked for"),
              extra("params/b1", {5}, "not asked for"),
              extra("params/gb4", {2, 3}, "not asked for"),
              extra("params/W", {2, 3}, "not asked for"),
              {"params/gb1: ", "not asked for", [](DrnFile& f) { f.attributes["bias"] = text("none"); }},
              {"params/b1: ", "missing", [](DrnFile& f) { f.attributes["bias"] = text("current"); }},
              wrong("bias", text("rails"), "node, current or none"),
              wrong("bias", whole(1), "text expected")});
  refuse_all({{"params/gb1: ", "missing", [](DrnFile& f) { f.attributes["bias"] = text("node"); }},
              {"params/b2: ", "missing", [](DrnFile& f) { f.reals.erase("params/b2"); }}},
             with_currents());
}

TEST_CASE("drn numbers that no circuit has are refused with their place", "[drn]") {
  refuse_all({number("params/g2", 4 * 4 + 3, -1e-12, "[4, 3] = -1e-12 (a conductance must be >= 0)"),
              number("params/gb1", 5 + 2, -0.5, "[1, 2] = -0.5"), number("inputs/gain", 1, 0, "A_1 = 0"),
              number("inputs/gain", 0, -2, "A_0 = -2"),
              number("inputs/v_init", 1, -0.5, "[0, 1] = -0.5 is against the diode of node 1 of layer 1"),
              number("inputs/z0", 12 + 7, 0.25, "[1, 7] = 0.25 is against the diode of node 2 of layer 2"),
              wrong("beta", 0.0, "must be > 0"), wrong("beta", -0.1, "must be > 0"),
              wrong("beta", infinity, "must be finite"), wrong("sweeps2", whole(0), "positive"),
              wrong("v_bias", not_a_number, "must be finite")});
  std::vector<Broken> missing;
  for (const std::string name : {"B", "L", "N", "beta", "bias", "v_bias", "sweeps2"}) {
    missing.push_back({"attribute " + name, "missing", [=](DrnFile& f) { f.attributes.erase(name); }});
  }
  refuse_all(missing);
}

TEST_CASE("drn nodes that float are refused by name", "[drn]") {
  DrnFile good = with_currents();
  const auto cut = [](DrnFile& f, const std::string& name, std::size_t columns, std::size_t column) {
    auto& values = f.reals.at(name).values;
    for (std::size_t i = column; i < values.size(); i += columns) values[i] = 0;
  };
  refuse_all({{"params/g2: ", "node 1 of layer 2 floats: its total conductance is 0",
               [&](DrnFile& f) {
                 cut(f, "params/g2", 4, 1);
                 for (std::size_t k = 0; k < 3; ++k) f.reals.at("params/g3").values[3 + k] = 0;
               }},
              {"params/g2: ", "node 1 of layer 2, node 0 of layer 3",
               [&](DrnFile& f) {  // node 1 of layer 2 and output 0 hang on each other alone
                 cut(f, "params/g2", 4, 1);
                 cut(f, "params/g3", 3, 0);
                 f.reals.at("params/g3").values[3] = 1;
                 f.reals.at("params/g3").values[4] = f.reals.at("params/g3").values[5] = 0;
               }}},
             good);
}

TEST_CASE("drn: beta at or above the conductance of an output node is refused with the limit", "[drn]") {
  double limit = 0;
  {
    const Folder folder;
    DrnFile file;
    limit = DrnProblem(H5Reader(file.write(folder))).network->node_conductance().rightCols(3).minCoeff();
    file.attributes["beta"] = 0.999 * limit;  // the hidden nodes give way: a numerical outcome, not the user's mistake
    CHECK_NOTHROW(DrnProblem(H5Reader(file.write(folder))));
  }
  refuse_all({wrong("beta", limit, "the total conductance of node"), wrong("beta", 10.0, "must be below")});
}
