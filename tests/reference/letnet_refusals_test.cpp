// SPDX-License-Identifier: Apache-2.0
// Section 7 of the cases' LETNET.md: one thing at a time is broken in a case that is accepted.
#include <algorithm>
#include <functional>
#include <limits>

#include "reference/letnet_problem.hpp"
#include "sim/base/errors.hpp"
#include "tests/reference/letnet_file.hpp"
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
  std::function<void(LetnetFile&)> spoil;
};

std::string attribute(const std::string& name) { return "attribute " + name + ": "; }

/// Reads the spoiled case: it must be refused with file, object and rule.
void refuses(const Folder& folder, const Broken& broken, LetnetFile file) {
  broken.spoil(file);
  const std::string path = file.write(folder);
  CAPTURE(broken.object, broken.rule);
  const H5Reader reader(path);
  CHECK_THROWS_AS(LetnetProblem(reader), UserError);
  CHECK_THROWS_WITH(LetnetProblem(reader), Contains("case.h5: ") && Contains(broken.object) && Contains(broken.rule));
}

void refuse_all(const std::vector<Broken>& all, const LetnetFile& good = {}) {
  const Folder folder;
  REQUIRE_NOTHROW(LetnetProblem(H5Reader(good.write(folder))));
  for (const Broken& each : all) refuses(folder, each, good);
}

Broken wrong(const std::string& name, const H5Attribute& value, const std::string& rule) {
  return {attribute(name), rule, [=](LetnetFile& f) { f.attributes[name] = value; }};
}

Broken misshapen(const std::string& name, const H5Shape& shape, const std::string& rule) {
  return {name + ": ", rule, [=](LetnetFile& f) { f.reshape(name, shape); }};
}

H5Attribute whole(std::int64_t value) { return value; }
H5Attribute text(const char* value) { return std::string(value); }

}  // namespace

TEST_CASE("letnet datasets that are missing, of another type, shape or not finite are refused", "[letnet]") {
  std::vector<Broken> all;
  const LetnetFile good;
  for (const auto& entry : good.reals) {
    const std::string& name = entry.first;
    const H5Shape shape = entry.second.shape;
    const std::string object = name + ": ";
    all.push_back({object, "missing", [=](LetnetFile& f) { f.reals.erase(name); }});
    all.push_back({object, "element 1 is nan", [=](LetnetFile& f) { f.reals[name].values[1] = not_a_number; }});
    all.push_back({object, "finite", [=](LetnetFile& f) { f.reals[name].values.back() = -infinity; }});
    all.push_back({object, "float64 or float32 expected, found integer", [=](LetnetFile& f) {
                     f.integers[name] = {std::vector<std::int64_t>(f.reals[name].values.size(), 1), shape};
                     f.reals.erase(name);
                   }});
    for (std::size_t i = 0; i < shape.size(); ++i) {  // one more and one less along every dimension
      H5Shape longer = shape, shorter = shape;
      ++longer[i];
      --shorter[i];
      all.push_back(misshapen(name, longer, to_string(longer)));
      all.push_back(misshapen(name, shorter, to_string(shorter)));
    }
    Index size = 1;
    for (const Index n : shape) size *= n;
    all.push_back(misshapen(name, {size}, "expected"));
    H5Shape deeper = shape;
    deeper.insert(deeper.begin(), 1);
    all.push_back(misshapen(name, deeper, "expected"));
  }
  refuse_all(all);
}

TEST_CASE("the shapes that LETNET.md names are refused with the letters of the right one", "[letnet]") {
  refuse_all({
      misshapen("params/Wh", {7, 4}, "shape (C, V) = (4, 7) expected, found (7, 4)"),
      misshapen("params/W1", {2, 5, 4}, "shape (L, C, M) = (2, 4, 5) expected, found (2, 5, 4)"),
      misshapen("params/W2", {3, 5, 4}, "shape (L, M, C) = (2, 5, 4) expected, found (3, 5, 4)"),
      misshapen("params/Wk", {4, 4}, "shape (L, C, C) = (2, 4, 4) expected, found (4, 4)"),
      misshapen("inputs/z0", {2, 16, 3, 4}, "shape (B, n, T, C) = (2, 8, 3, 4) expected, found (2, 16, 3, 4)"),
      misshapen("inputs/z0", {2, 3, 32}, "(B, n, T, C)"),
      misshapen("inputs/u", {2, 8, 3, 3}, "found (2, 8, 3, 3)"),
      misshapen("params/pos", {4, 4}, "shape (T, C) = (3, 4) expected"),
      misshapen("params/tok", {4, 7}, "shape (V, C) = (7, 4) expected"),
  });
}

TEST_CASE("letnet parameters that do not belong there are refused", "[letnet]") {
  const auto add = [](const std::string& name, const H5Shape& shape, const std::string& rule) {
    return Broken{name + ": ", rule, [=](LetnetFile& f) { f.add(name, shape, 1.0, 5); }};
  };
  refuse_all({add("params/W3", {2, 4, 5}, "unknown parameter (did you mean"),
              add("params/bias", {4}, "unknown parameter"),
              add("params/old/Wq", {2, 4, 4}, "unknown parameter"),
              {"params/pos: ", "rope = 1", [](LetnetFile& f) { f.attributes["rope"] = whole(1); }},
              {"params/pos: ", "rope = 0", [](LetnetFile& f) { f.reals.erase("params/pos"); }}});
  refuse_all({add("params/pos", {3, 4}, "rope = 1"),
              {"params/pos: ", "rope = 0", [](LetnetFile& f) { f.attributes["rope"] = whole(0); }}},
             LetnetFile::rotary());
}

TEST_CASE("letnet tokens that are none are refused", "[letnet]") {
  std::vector<Broken> all;
  for (const std::string name : {"inputs/idx", "inputs/targets"}) {
    const std::string object = name + ": ";
    const auto value = [&](std::int64_t token) {
      all.push_back({object, "must be in [0, 7)", [=](LetnetFile& f) { f.integers[name].values[3] = token; }});
    };
    value(7);
    value(-1);
    value(std::int64_t{1} << 32);
    value(std::numeric_limits<std::int64_t>::min());
    all.push_back({object, "missing", [=](LetnetFile& f) { f.integers.erase(name); }});
    for (const H5Shape& shape : {H5Shape{3, 2}, H5Shape{6}, H5Shape{2, 3, 1}, H5Shape{1, 2, 3}}) {
      all.push_back({object, "shape (B, T) = (2, 3) expected, found " + to_string(shape),
                     [=](LetnetFile& f) { f.integers[name].shape = shape; }});
    }
    all.push_back({object, "int32 or int64 expected, found float64", [=](LetnetFile& f) {
                     f.integers.erase(name);
                     f.reals[name] = {{0, 1, 2, 3, 4, 5}, {2, 3}};
                   }});
  }
  all.push_back({"inputs/idx: ", "found (0, 3)", [](LetnetFile& f) {  // an empty batch
                   for (const char* name : {"inputs/idx", "inputs/targets"}) f.integers[name] = {{}, {0, 3}};
                   for (const char* name : {"inputs/z0", "inputs/v", "inputs/u"}) f.reshape(name, {0, 8, 3, 4});
                 }});
  refuse_all(all);
}

TEST_CASE("letnet sizes that are none, or contradict each other or the shapes, are refused", "[letnet]") {
  std::vector<Broken> all;
  for (const std::string name : {"B", "T", "C", "H", "M", "V", "L", "K", "n", "T1", "T2"}) {
    all.push_back({attribute(name), "missing", [=](LetnetFile& f) { f.attributes.erase(name); }});
    all.push_back(wrong(name, 2.0, "an integer expected"));
    all.push_back(wrong(name, text("2"), "an integer expected"));
    all.push_back(wrong(name, whole(0), "must be a positive integer"));
    all.push_back(wrong(name, whole(-3), "must be a positive integer"));
    all.push_back(wrong(name, whole(std::int64_t{1} << 31), "must be at most"));
  }
  all.push_back(wrong("n", whole(4), "2·L·K"));
  all.push_back(wrong("n", whole(7), "2·L·K"));
  all.push_back({attribute("n"), "2·1·2", [](LetnetFile& f) { f.attributes["L"] = whole(1); }});
  all.push_back({attribute("n"), "2·2·1", [](LetnetFile& f) { f.attributes["K"] = whole(1); }});
  constexpr std::int64_t largest = std::numeric_limits<int>::max();  // the product must not overflow
  all.push_back({attribute("n"), "2·L·K", [](LetnetFile& f) {
                   f.attributes["L"] = whole(largest);
                   f.attributes["K"] = whole(largest);
                 }});
  all.push_back(wrong("H", whole(3), "must divide C = 4"));
  all.push_back(wrong("H", whole(8), "must divide C = 4"));
  const auto contradicts = [&](const std::string& name, std::int64_t value, const std::string& letters) {
    all.push_back({letters, "expected, found", [=](LetnetFile& f) { f.attributes[name] = whole(value); }});
  };
  contradicts("B", 3, "inputs/idx: shape (B, T)");
  contradicts("T", 2, "params/pos: shape (T, C)");
  contradicts("C", 6, "params/tok: shape (V, C)");
  contradicts("V", 6, "params/tok: shape (V, C)");
  contradicts("M", 4, "params/W1: shape (L, C, M)");
  all.push_back({"params/Wq: shape (L, C, C)", "(1, 4, 4) expected", [](LetnetFile& f) {
                   f.attributes["L"] = whole(1);
                   f.attributes["K"] = whole(4);
                 }});
  all.push_back({"inputs/z0: shape (B, n, T, C)", "(2, 12, 3, 4) expected", [](LetnetFile& f) {
                   f.attributes["n"] = whole(12);
                   f.attributes["K"] = whole(3);
                 }});
  refuse_all(all);
  refuse_all({wrong("H", whole(4), "must be even")}, LetnetFile::rotary());
}

TEST_CASE("letnet settings outside their range are refused", "[letnet]") {
  std::vector<Broken> all;
  for (const std::string name : {"eps", "kappa", "beta", "beta_frozen", "beta_aep"}) {
    all.push_back({attribute(name), "missing", [=](LetnetFile& f) { f.attributes.erase(name); }});
    all.push_back(wrong(name, text("0.5"), "a number expected"));
    all.push_back(wrong(name, not_a_number, "must be finite"));
    all.push_back(wrong(name, infinity, "must be finite"));
    if (name == "kappa") continue;
    all.push_back(wrong(name, 0.0, "must be > 0"));
    all.push_back(wrong(name, -0.1, "must be > 0"));
  }
  all.push_back(wrong("kappa", -1e-9, "must be in [0, 1)"));
  all.push_back(wrong("kappa", 1.0, "must be in [0, 1)"));
  all.push_back(wrong("kappa", 2.5, "must be in [0, 1)"));
  for (const std::string name : {"rope", "activation"}) {
    all.push_back({attribute(name), "missing", [=](LetnetFile& f) { f.attributes.erase(name); }});
  }
  all.push_back(wrong("rope", whole(2), "must be 0 or 1"));
  all.push_back(wrong("rope", whole(-1), "must be 0 or 1"));
  all.push_back(wrong("rope", 0.0, "an integer expected"));
  all.push_back(wrong("rope", text("0"), "an integer expected"));
  all.push_back(wrong("activation", whole(1), "text expected"));
  all.push_back(wrong("activation", text("relu"), "relu2 or gelu"));
  all.push_back(wrong("activation", text("GELU"), "relu2 or gelu"));
  all.push_back(wrong("activation", text(""), "relu2 or gelu"));
  refuse_all(all);
}
