// SPDX-License-Identifier: Apache-2.0
#include "training/config/run_parts.hpp"
#include "training/config/run_options.hpp"

#include "sim/config/config_load.hpp"
#include "training/config/assembly.hpp"
#include "training/models/registry.hpp"

namespace nudge {

RunParts run_parts(const Config& config) {
  RunParts parts;
  check_placed(config, [&parts](const Config& c) {
    parts.task = make_task(c);
    parts.plan = network_plan(c, parts.task->sizes());
    check_arrays_fit(model_arrays(c), *parts.plan, run_options(c).twofold() ? sizeof(double) : sizeof(float));
  });
  return parts;
}

}  // namespace nudge
