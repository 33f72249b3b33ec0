// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include <utility>

#include "sim/base/open_list.hpp"

// In the order of --help; each is defined in a file of apps/commands/ as <name>_command().
#define NUDGE_COMMANDS(X) \
  X(train)                \
  X(gradcheck)            \
  X(stability)            \
  X(sweep)                \
  X(merge)                \
  X(compare)              \
  X(advise)               \
  X(energy)               \
  X(case)                 \
  X(devices)              \
  X(crossbar)             \
  X(netlist)              \
  X(report)               \
  X(info)                 \
  X(export)               \
  X(watch)                \
  X(generate)             \
  X(test)                 \
  X(config)

namespace nudge {

#define NUDGE_DECLARE(name) Command name##_command();
NUDGE_COMMANDS(NUDGE_DECLARE)
#undef NUDGE_DECLARE

namespace {

OpenList<Command>& list() {
#define NUDGE_LIST(name) name##_command(),
  static OpenList<Command> commands({NUDGE_COMMANDS(NUDGE_LIST)});
#undef NUDGE_LIST
  return commands;
}

}  // namespace

const std::vector<Command>& all_commands() { return list().all(); }

void add_command(Command command) { list().add(std::move(command)); }

}  // namespace nudge
