// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <sstream>

#include "apps/columns.hpp"
#include "sim/base/build_info.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("asking for help or the version exits 0") {
  const Folder folder;
  const Outcome version = run_nudge(folder, "--version");
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.output, Catch::StartsWith("nudge " + build_info().version));
  for (const char* library : {"Eigen 3.", "HDF5 1.", "Boost 1."}) CHECK_THAT(version.output, Contains(library));
  for (const char* words : {"--help", "config --help", "config check --help", "config dump -h", "config keys --help"}) {
    const Outcome help = run_nudge(folder, words);
    INFO(words);
    CHECK(help.exit_code == 0);
    CHECK_THAT(help.output, Contains("Example: nudge "));
    // In a pipe help has 80 columns; only what is one word, such as a path, may be longer.
    std::istringstream lines(help.output);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(
          (text_columns(line) <= 80 || line.find_last_of(' ') == line.find_last_of(' ', line.find_first_not_of(' '))));
    }
  }
  const Outcome nothing = run_nudge(folder, "");
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.output == run_nudge(folder, "--help").output);
  for (const char* words : {"--help", "train --help", "sweep --help", "crossbar --help", "config check --help",
                            "devices characterize --help"}) {
    INFO(words);
    const Outcome help = run_nudge(folder, words);
    CHECK_THAT(help.output, Contains("Sections of a config: "));
    for (const char* section : {"device", "crossbar", "train", "sweep"}) CHECK_THAT(help.output, Contains(section));
  }
  CHECK_THAT(run_nudge(folder, "report --help").output, !Contains("Sections of a config"));
}

TEST_CASE("a wrong command line exits 2 and names what was meant") {
  const Folder folder;
  struct Case {
    const char* arguments;
    const char* message;
  };
  const Case wrong =
      GENERATE(Case{"confg check", "unknown command confg (did you mean config?)"},
               Case{"config chekc run.toml", "unknown command config chekc (did you mean check?)"},
               Case{"dance", "unknown command dance (known: "},
               Case{"config check run.toml --sett a=1", "unknown option --sett (did you mean --set?)"},
               Case{"config check", "CONFIG is required\nExample: nudge config check examples/digits.toml"},
               Case{"config check run.toml --set", "--set"}, Case{"report run.h5", "required\nExample: nudge report "},
               Case{"config check a.toml b.toml", "b.toml"});
  const Outcome outcome = run_nudge(folder, wrong.arguments);
  INFO(wrong.arguments);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Contains(wrong.message));
}

TEST_CASE("threads wait briefly for each other, unless the environment says how") {
  const Folder folder;
  const auto looks = [&folder](const char* name, const char* value) {
    ::setenv("OMP_DISPLAY_ENV", "verbose", 1);  // each start prints what it read
    if (name != nullptr) ::setenv(name, value, 1);
    const Outcome outcome = run_nudge(folder, "--version");
    ::unsetenv("OMP_DISPLAY_ENV");
    if (name != nullptr) ::unsetenv(name);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.output, Catch::StartsWith("nudge " + build_info().version));
    const auto at = outcome.errors.rfind("GOMP_SPINCOUNT = '");
    return at == std::string::npos ? std::string()
                                   : outcome.errors.substr(at + 18, outcome.errors.find('\'', at + 18) - at - 18);
  };
  const std::string found = looks(nullptr, nullptr);
  if (found.empty()) SUCCEED("not GCC's OpenMP");
  if (found.empty()) return;
  CHECK(found == "2000");
  CHECK(looks("GOMP_SPINCOUNT", "17") == "17");
  CHECK(looks("OMP_WAIT_POLICY", "passive") == "0");
}
