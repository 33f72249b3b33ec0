// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include "apps/commands/config.hpp"

namespace nudge {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {config_command()};
  return commands;
}

}  // namespace nudge
