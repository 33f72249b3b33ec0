// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "training/data/characters.hpp"

namespace nudge {

const std::vector<TaskKind>& task_kinds() {
  static const std::vector<TaskKind> kinds = {
      {"characters", "next character of a text (data.text)",
       [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<CharacterTask>(config); }},
  };
  return kinds;
}

std::unique_ptr<Task> make_task(const Config& config) {
  const std::string& name = config.text("task.kind");
  std::vector<std::string> names;
  for (const TaskKind& kind : task_kinds()) {
    if (kind.name == name) return kind.make(config);
    names.push_back(kind.name);
  }
  throw UserError(fmt::format("task.kind = \"{}\" is unknown ({})", name, did_you_mean(name, names)));
}

}  // namespace nudge
