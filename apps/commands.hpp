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

/// A subcommand of the program. `add` declares its options on the app and returns what runs once they are parsed; what
/// `run` throws becomes a message and an exit code.
struct Command {
  std::string name;
  std::string description;
  std::string example;
  std::function<std::function<ExitCode()>(CLI::App&)> add;
};

/// Every subcommand in the order of --help. A new one of ours is its file in apps/commands/ and a line in commands.cpp.
const std::vector<Command>& all_commands();
/// Adds one of a program's own, before run_program() (OpenList).
void add_command(Command command);

}  // namespace nudge
