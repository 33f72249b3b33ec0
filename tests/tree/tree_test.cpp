// SPDX-License-Identifier: Apache-2.0
// The rules of tests/tree/rules.hpp applied to the repository.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/tree/rules.hpp"

namespace {

using namespace nudge::tree;
namespace fs = std::filesystem;

/// The text files of the repository: those of its own folders, and the ones in the root. Untracked folders (build, ...) of
/// other names are left alone, so the test needs no git.
std::vector<SourceFile> repository() {
  static const std::set<std::string> folders{".ci",  "apps",     "bench",  "circuits", "cmake",  "devices",
                                             "docs", "examples", "mixers", "netlist",  "python", "reference",
                                             "sim",  "tests",    "tools",  "training"};
  static const std::set<std::string> endings{".cpp", ".hpp", ".in",   ".py",   ".sh",  ".cmake",
                                             ".txt", ".md",  ".toml", ".json", ".cff", ""};
  const fs::path root = NUDGE_SOURCE_DIR;
  std::vector<SourceFile> files;
  const auto add = [&](const fs::path& path) {
    if (!fs::is_regular_file(path) || endings.count(path.extension().string()) == 0) return;
    std::ifstream stream(path, std::ios::binary);
    files.push_back({path.lexically_relative(root).generic_string(),
                     {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}});
  };
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && entry.path().filename() != ".git")
      add(entry.path());  // .git is a file in a worktree
    if (!entry.is_directory() || folders.count(entry.path().filename().string()) == 0) continue;
    for (const auto& inner : fs::recursive_directory_iterator(entry.path())) add(inner.path());
  }
  for (const auto& entry : fs::directory_iterator(root / "results")) {
    if (entry.path().extension() == ".md") add(entry.path());  // scripts leave other files there, of one machine
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

void expect_none(const std::function<Violations(const SourceFile&)>& rule) {
  const auto files = repository();
  REQUIRE(files.size() > 50);  // the walk found the repository, not an empty folder
  for (const auto& file : files) {
    for (const auto& violation : rule(file)) FAIL_CHECK(violation);
  }
}

TEST_CASE("repository: includes point only leftwards", "[tree]") { expect_none(check_include_direction); }
TEST_CASE("repository: libraries stay in their folder", "[tree]") { expect_none(check_library_isolation); }
TEST_CASE("repository: random numbers and threads come from sim/base", "[tree]") {
  expect_none(check_randomness_and_threads);
}
TEST_CASE("repository: matrices are decomposed in one place", "[tree]") { expect_none(check_decompositions); }
TEST_CASE("repository: files are written in one place", "[tree]") { expect_none(check_output_files); }
TEST_CASE("repository: every test has a name that ctest can run", "[tree]") { expect_none(check_test_names); }
TEST_CASE("repository: licence lines", "[tree]") { expect_none(check_licence_line); }
TEST_CASE("repository: file lengths", "[tree]") { expect_none(check_length); }
TEST_CASE("repository: no path of one machine", "[tree]") { expect_none(check_machine_paths); }

TEST_CASE("repository: the doors stay small", "[tree]") {
  // What a system, a map or a term must or may say of itself. A need of one caller is no virtual of all: an optional capability in a
  // header of its own (sim/layered.hpp), a field of the traits, or an argument.
  static const std::regex virtual_function("^ *virtual [^~]*\\(");
  int doors = 0;
  for (const SourceFile& file : repository()) {
    static const std::set<std::string> of_doors{"sim/dynamics.hpp",        "sim/layered.hpp",
                                                "sim/kept_points.hpp",     "sim/nudged_law.hpp",
                                                "circuits/linear_map.hpp", "circuits/terms/term.hpp"};
    if (of_doors.count(file.path) == 0) continue;
    std::istringstream lines(file.text);
    for (std::string line; std::getline(lines, line);) doors += std::regex_search(line, virtual_function) ? 1 : 0;
  }
  CHECK(doors > 40);  // they were found
  CHECK(doors <= 60);
}

TEST_CASE("repository: keys are read by the row that names them", "[tree]") {
  // A key is named by its row, which fills a field (sim/config/section.hpp); what uses it knows the field. Rules name keys in their
  // messages and may ask for them.
  static const std::regex getter(R"(\.(integer|real|flag|text|integers|reals|texts|grid)\("[a-z_.]+"\))");
  int asked = 0;
  for (const SourceFile& file : repository()) {
    const bool product = file.path.rfind("tests/", 0) != 0 && file.path.rfind("bench/", 0) != 0;
    const bool rule = file.path.rfind("_rules.cpp") != std::string::npos || file.path == "training/config/rules.cpp";
    if (!product || rule) continue;
    asked += static_cast<int>(std::distance(std::sregex_iterator(file.text.begin(), file.text.end(), getter), {}));
  }
  CHECK(asked > 0);  // they were found
  CHECK(asked <= 95);
}

TEST_CASE("repository: the licence is the Apache License 2.0", "[tree]") {
  std::ifstream stream(NUDGE_SOURCE_DIR "/LICENSE", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  // Length and FNV-1a hash of the text that Debian ships as common-licenses/Apache-2.0, which is apache.org's.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  CHECK(text.size() == 11358);
  CHECK(hash == 3366767594291386680ULL);
}

}  // namespace
