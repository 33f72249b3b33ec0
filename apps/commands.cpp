// SPDX-License-Identifier: Apache-2.0
#include "apps/commands.hpp"

#include "apps/commands/case.hpp"
#include "apps/commands/compare.hpp"
#include "apps/commands/config.hpp"
#include "apps/commands/crossbar.hpp"
#include "apps/commands/devices.hpp"
#include "apps/commands/energy.hpp"
#include "apps/commands/experiment.hpp"
#include "apps/commands/export.hpp"
#include "apps/commands/files.hpp"
#include "apps/commands/gradcheck.hpp"
#include "apps/commands/merge.hpp"
#include "apps/commands/sweep.hpp"
#include "apps/commands/train.hpp"
#include "apps/commands/watch.hpp"

namespace nudge {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      train_command(),      gradcheck_command(), sweep_command(),  merge_command(),   compare_command(),
      experiment_command(), energy_command(),    case_command(),   devices_command(), crossbar_command(),
      report_command(),     info_command(),      export_command(), watch_command(),   config_command(),
  };
  return commands;
}

}  // namespace nudge
