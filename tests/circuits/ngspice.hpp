// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "sim/base/matrix.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

namespace nudge::test {

inline bool ngspice_installed() {
  const bool found = std::system("command -v ngspice >/dev/null 2>&1") == 0;
  if (!found) std::cout << "SKIPPED: ngspice is not installed (Debian package ngspice)\n";
  return found;
}

/// Runs ngspice in batch mode on a netlist, at most a minute, and returns what it printed.
inline std::string run_ngspice(const std::filesystem::path& folder, const std::string& netlist) {
  const auto file = folder / "circuit.cir";
  std::ofstream(file) << netlist;
  const auto log = folder / "log.txt";
  const int status = std::system(
      ("cd '" + folder.string() + "' && timeout 60 ngspice -b circuit.cir > log.txt 2>&1 < /dev/null").c_str());
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  INFO(text.str());
  CHECK(status == 0);
  return text.str();
}

/// "i(vs<j>) = ..." of what an exported crossbar prints.
inline double printed_current(const std::string& printed, Index j) {
  const std::string name = "i(vs" + std::to_string(j) + ") = ";
  const auto at = printed.find(name);
  REQUIRE(at != std::string::npos);
  return std::stod(printed.substr(at + name.size()));
}

}  // namespace nudge::test
