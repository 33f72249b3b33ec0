// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/errors.hpp"

namespace CLI {
class App;
}

namespace nudge {

/// Subcommand of the program. `add` declares its options on the app and returns the function to run once they are
/// parsed. Exceptions of `run` become a message and an exit code.
struct Command {
  std::string name;
  std::string description;
  std::string example;
  std::function<std::function<ExitCode()>(CLI::App&)> add;
};

/// Subcommands in the order of --help. To add one of ours, write its file in apps/commands/ and a line in apps/program.cpp.
const std::vector<Command>& all_commands();
/// Adds a subcommand of the program, before run_program() (OpenList).
void add_command(Command command);

}  // namespace nudge
