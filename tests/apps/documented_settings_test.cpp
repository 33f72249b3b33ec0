// SPDX-License-Identifier: Apache-2.0
// The settings that documents, examples and the program's own messages write, `section.key = value`, are keys of the program with
// values that it takes.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/config/param_table.hpp"
#include "tests/apps/documents.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

namespace fs = std::filesystem;
using nudge::ParamKind;
using nudge::ParamRow;

namespace {

std::set<std::string> sections() {
  std::set<std::string> names;
  for (const ParamRow& row : nudge::program_table()) {
    if (const auto dot = row.key.rfind('.'); dot != std::string::npos) names.insert(row.key.substr(0, dot));
  }
  return names;
}

struct Setting {
  std::string key, value;
};

/// `a.b = value`, `--set a.b=value` and the like where a is a section. Of a value, what stands before a space or a closing mark.
std::vector<Setting> settings_of(const std::string& text) {
  static const std::set<std::string> known = sections();
  static const std::regex form("([a-z_]+(?:\\.[a-z_]+)*)\\.([a-z_0-9]+) ?= ?\"?([A-Za-z0-9_.+-]*)");
  std::vector<Setting> found;
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) {
    if (known.count((*at)[1]) == 0) continue;
    std::string value = (*at)[3];
    while (!value.empty() && value.back() == '.') value.pop_back();  // of the sentence
    found.push_back({(*at)[1].str() + "." + (*at)[2].str(), value});
  }
  return found;
}

/// Why the program would not take it; "" if it would. Values of numbers may be written with units and spaces, or be a list: their names alone.
std::string complaint(const Setting& setting) {
  const ParamRow* row = nudge::find_row(nudge::program_table(), setting.key);
  if (row == nullptr) return "no such key";
  if (row->kind != ParamKind::choice && row->kind != ParamKind::flag) return "";
  std::vector<std::string> choices = row->choices;
  if (row->kind == ParamKind::flag) choices = {"true", "false"};
  if (setting.value.empty()) return "";    // "...", a list of a grid
  if (setting.value == "NAME") return "";  // a word for a value
  for (const std::string& choice : choices) {
    if (setting.value == choice) return "";
  }
  return "not a value of it: " + setting.value;
}

/// The string literals of a C++ source, those that follow each other as one; without comments.
std::vector<std::string> literals(const std::string& source) {
  static const std::regex token("//[^\\n]*|'(?:\\\\.|[^'\\\\])'|\"((?:\\\\.|[^\"\\\\])*)\"|[^\\s]");
  std::vector<std::string> found;
  bool open = false;
  for (std::sregex_iterator at(source.begin(), source.end(), token), end; at != end; ++at) {
    if ((*at)[0].str().rfind("//", 0) == 0) continue;
    const bool literal = (*at)[0].str().front() == '"';
    if (literal && !open) found.emplace_back();
    if (literal) found.back() += std::regex_replace((*at)[1].str(), std::regex("\\\\\""), "\"");
    open = literal;
  }
  return found;
}

}  // namespace

TEST_CASE("settings in the documents and examples are settings of the program") {
  int seen = 0;
  for (const fs::path& path : nudge::test::documents()) {
    for (const Setting& setting : settings_of(nudge::test::read_file(path.string()))) {
      CAPTURE(path.string(), setting.key, setting.value);
      CHECK(complaint(setting) == "");
      ++seen;
    }
  }
  CHECK(seen > 200);
}

TEST_CASE("what messages and help advise are settings of the program") {
  int seen = 0;
  for (const char* folder : {"sim", "devices", "netlist", "circuits", "mixers", "training", "apps", "python/src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(NUDGE_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      for (const std::string& literal : literals(nudge::test::read_file(entry.path().string()))) {
        for (const Setting& setting : settings_of(literal)) {
          CAPTURE(entry.path().string(), literal, setting.key, setting.value);
          CHECK(complaint(setting) == "");
          ++seen;
        }
      }
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("a wrong setting in a message is found") {
  const auto all = literals(
      "x.y = 1;  // \"product.kernel = eigen\"\n f(\"take \" \"product.kernel = \\\"eigen\\\"\", '\"', \"b\");");
  REQUIRE(all == std::vector<std::string>{"take product.kernel = \"eigen\"", "b"});
  CHECK(complaint(settings_of(all[0]).at(0)) == "not a value of it: eigen");
}

TEST_CASE("a wrong setting in a document is found") {
  const auto wrong = [](const std::string& text) { return complaint(settings_of(text).at(0)); };
  CHECK(wrong("Set `product.kernel = \"portable\"` for all") == "");
  CHECK(wrong("Set `product.kernel = \"eigen\"` for all") == "not a value of it: eigen");
  CHECK(wrong("--set relaxation.stepp=0.1") == "no such key");
  CHECK(wrong("--set circuit.read_voltage='0.2 V'") == "");
  CHECK(settings_of("points.csv = x, `log/loss`, nudge.train(c)").empty());
}
