// SPDX-License-Identifier: Apache-2.0
#include "tests/tree/rules.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace nudge::tree {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

bool ends_with(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool is_cpp(const SourceFile& file) { return ends_with(file.path, ".cpp") || ends_with(file.path, ".hpp"); }

std::string place(const SourceFile& file, std::size_t index) {
  return file.path + ":" + std::to_string(index + 1) + ": ";
}

/// Calls visit(line index, included name) for each #include of the file.
template <class Visit>
void for_each_include(const SourceFile& file, Visit&& visit) {
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  const auto lines = lines_of(file.text);
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], match, include)) visit(i, match[1].str());
  }
}

/// The rooms of training/ from left to right.
const std::vector<std::string>& training_rooms() {
  static const std::vector<std::string> rooms = {"data",    "learning",  "models", "batch",     "config",
                                                 "check",   "train",     "card",   "gradcheck", "sweep",
                                                 "compare", "benchmark", "spec"};
  return rooms;
}

/// The layer of a path: the top-level folder, below training/ its room, and below sim/ the second one or "sim header", "sim source".
std::string layer_of(const std::string& path) {
  const std::size_t first = path.find('/');
  if (first == std::string::npos) return "";
  const std::string top = path.substr(0, first);
  const std::size_t second = path.find('/', first + 1);
  if (top == "training" && second != std::string::npos) return path.substr(0, second);
  if (top != "sim") return top;
  if (second != std::string::npos) return path.substr(0, second);
  return ends_with(path, ".hpp") ? "sim header" : "sim source";
}

/// What each layer may include; a layer that is not named here is free.
const std::map<std::string, std::set<std::string>>& allowed_layers() {
  static const auto table = [] {
    const std::set<std::string> sim{"sim/base", "sim/config", "sim/io", "sim/steady", "sim/ode", "sim header"};
    const auto with = [](std::set<std::string> layers, const std::vector<std::string>& more) {
      layers.insert(more.begin(), more.end());
      return layers;
    };
    std::map<std::string, std::set<std::string>> layers{
        {"sim/base", {"sim/base"}},
        {"sim/config", {"sim/base", "sim/config"}},
        {"sim/io", {"sim/base", "sim/io"}},
        {"sim header", {"sim/base", "sim header"}},
        {"sim/steady", {"sim/base", "sim header", "sim/steady"}},
        {"sim/ode", {"sim/base", "sim header", "sim/steady", "sim/ode"}},
        {"sim source", sim},
        {"devices", with(sim, {"devices"})},
        {"netlist", with(sim, {"netlist"})},
        {"circuits", with(sim, {"devices", "netlist", "circuits"})},
        {"mixers", with(sim, {"mixers"})},
    };
    std::set<std::string> left = with(sim, {"devices", "netlist", "circuits", "mixers"});
    for (const std::string& room : training_rooms()) {
      left.insert("training/" + room);
      layers["training/" + room] = left;
    }
    for (const char* layer : {"reference", "apps"}) {
      left.insert(layer);
      layers[layer] = left;
    }
    return layers;
  }();
  return table;
}

/// Adds a violation for each line that matches, with the advice.
void forbid(const SourceFile& file, const std::regex& pattern, const std::string& advice, Violations& found) {
  const auto lines = lines_of(file.text);
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], match, pattern)) found.push_back(place(file, i) + match[0].str() + " " + advice);
  }
}

}  // namespace

Violations check_include_direction(const SourceFile& file) {
  Violations found;
  const std::string layer = layer_of(file.path);
  const auto rule = allowed_layers().find(layer);
  if (!is_cpp(file)) return found;
  if (rule == allowed_layers().end()) {
    if (starts_with(layer, "training/"))
      found.push_back(file.path + ": " + layer + " needs its place in the order of rooms");
    return found;
  }
  static const std::set<std::string> ours{"sim",       "devices", "netlist", "circuits", "mixers", "training",
                                          "reference", "apps",    "bench",   "examples", "tests"};
  for_each_include(file, [&](std::size_t line, const std::string& name) {
    if (ours.count(name.substr(0, name.find('/'))) == 0 || name.find('/') == std::string::npos) return;
    if (rule->second.count(layer_of(name)) == 0) {
      found.push_back(place(file, line) + rule->first + " must not include " + name +
                      " (includes point only leftwards: see CONTRIBUTING.md)");
    }
  });
  return found;
}

Violations check_library_isolation(const SourceFile& file) {
  static const std::vector<std::pair<std::string, std::string>> homes{{"boost/numeric/odeint", "sim/ode/"},
                                                                      {"toml++/", "sim/config/"},
                                                                      {"hdf5.h", "sim/io/"},
                                                                      {"zlib.h", "sim/io/"},
                                                                      {"mpi.h", "sim/base/"},
                                                                      {"Eigen/Eigenvalues", "sim/base/"},
                                                                      {"Eigen/Cholesky", "sim/base/"},
                                                                      {"Eigen/LU", "sim/base/"},
                                                                      {"Eigen/SVD", "sim/base/"},
                                                                      {"Eigen/QR", "sim/base/"},
                                                                      {"CLI/", "apps/"}};
  Violations found;
  if (!is_cpp(file) || starts_with(file.path, "tests/")) return found;
  for_each_include(file, [&](std::size_t line, const std::string& name) {
    for (const auto& [library, home] : homes) {
      if (starts_with(name, library) && !starts_with(file.path, home)) {
        found.push_back(place(file, line) + name + " is included outside " + home + " (use what that folder offers)");
      }
    }
  });
  return found;
}

Violations check_randomness_and_threads(const SourceFile& file) {
  static const std::regex random(
      R"(\b(std::rand|s?rand\s*\(|random_device|mt19937|(normal|uniform_\w+)_distribution))");
  static const std::regex threads(R"(#\s*pragma\s+omp\s+(?!simd\b)|\bstd::(j?thread|async)\b(?!::))");
  Violations found;
  if (!is_cpp(file) || starts_with(file.path, "tests/")) return found;
  forbid(file, random, "(use sim/base/rng.hpp: same seed, same bits for any thread count)", found);
  if (!starts_with(file.path, "sim/base/")) forbid(file, threads, "(use nudge::parallel_for)", found);
  return found;
}

Violations check_decompositions(const SourceFile& file) {
  // The precompiled headers have them all, so that includes alone do not tell.
  static const std::regex own(
      R"(\b(ldlt|llt|lu|partialPivLu|fullPivLu|\w*[hH]ouseholderQr|jacobiSvd|bdcSvd)\(\)|Eigen::(LDLT|LLT|\w*Lu|\w*LU|\w*QR|\w*SVD|\w*EigenSolver)<)");
  Violations found;
  if (!is_cpp(file) || starts_with(file.path, "tests/") || starts_with(file.path, "bench/") ||
      starts_with(file.path, "sim/base/decompositions."))
    return found;
  forbid(file, own, "(use sim/base/decompositions.hpp: compiled once, not in every source that calls one)", found);
  return found;
}

Violations check_output_files(const SourceFile& file) {
  static const std::regex writes(R"(\b(std::o?fstream|fopen|mkstemp|O_CREAT|H5Fcreate)\b)");
  Violations found;
  if (!is_cpp(file) || starts_with(file.path, "tests/") || starts_with(file.path, "sim/io/")) return found;
  forbid(file, writes, "(use sim/io/atomic_file.hpp: no links, no halves, permissions kept)", found);
  return found;
}

Violations check_test_names(const SourceFile& file) {
  static const std::regex name(R"re(TEST_CASE\(\s*"([^"]*;[^"]*)")re");
  Violations found;
  if (!starts_with(file.path, "tests/") || !is_cpp(file)) return found;
  for (std::sregex_iterator at(file.text.begin(), file.text.end(), name); at != std::sregex_iterator(); ++at) {
    found.push_back(file.path + ": a test's name holds a semicolon, ctest would never run it: " + (*at)[1].str());
  }
  return found;
}

Violations check_licence_line(const SourceFile& file) {
  static const std::vector<std::string> endings{".cpp",   ".hpp",           ".in",      ".py",    ".sh",
                                                ".cmake", "CMakeLists.txt", "Makefile", ".ci/run"};
  const auto covered = [&](const std::string& ending) { return ends_with(file.path, ending); };
  if (std::none_of(endings.begin(), endings.end(), covered)) return {};
  const auto lines = lines_of(file.text);
  const auto head = lines.begin() + std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(lines.size()));
  const auto has_line = [](const std::string& line) { return ends_with(line, "SPDX-License-Identifier: Apache-2.0"); };
  if (std::any_of(lines.begin(), head, has_line)) return {};
  return {file.path + ":1: no \"SPDX-License-Identifier: Apache-2.0\" in the first three lines"};
}

Violations check_length(const SourceFile& file) {
  if (!is_cpp(file)) return {};
  const std::size_t limit = starts_with(file.path, "tests/") ? 500 : ends_with(file.path, ".hpp") ? 200 : 400;
  const std::size_t length = lines_of(file.text).size();
  if (length <= limit) return {};
  return {file.path + ":" + std::to_string(limit + 1) + ": " + std::to_string(length) + " lines, the limit is " +
          std::to_string(limit) + " (one concept per file: split it)"};
}

Violations check_machine_paths(const SourceFile& file) {
  static const std::regex machine(R"((^|[\s"'(=`:])/(work|home|root|tmp|Users|mnt)(/|\b))");
  Violations found;
  if (starts_with(file.path, "tests/")) return found;
  forbid(file, machine, "(a path of one machine: use a relative one)", found);
  return found;
}

}  // namespace nudge::tree
