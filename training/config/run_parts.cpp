// SPDX-License-Identifier: Apache-2.0
#include "training/config/run_parts.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "training/config/assembly.hpp"
#include "training/config/hardware_aware.hpp"
#include "training/config/run_memory.hpp"
#include "training/config/run_options.hpp"
#include "training/config/write_threshold.hpp"
#include "training/models/registry.hpp"

namespace nudge {

RunParts run_parts(const Config& config, Work work) {
  use_product_kernel(config);
  RunParts parts;
  check_placed(config, [&parts, work](const Config& c) {
    parts.task = make_task(c);
    if (!network_kind(c).is_circuit()) return check_memory(c, run_memory(c, parts.task->sizes()), work);
    parts.plan = network_plan(c, parts.task->sizes());
    const CrossbarSpec arrays = model_arrays(c);
    check_arrays_fit(arrays, *parts.plan, run_options(c).twofold() ? sizeof(double) : sizeof(float));
    check_memory(c, run_memory(c, *parts.plan), work);
    check_write_threshold(c, arrays, *parts.plan);
    static_cast<void>(hardware_aware_devices(c));
  });
  return parts;
}

RunParts circuit_parts(const Config& config) {
  RunParts parts = run_parts(config);
  if (parts.plan == nullptr) {
    throw UserError(
        fmt::format("network.kind = {} is no circuit: it is trained (nudge train, sweep, compare) and writes text "
                    "(nudge generate), "
                    "and has no gradient to check, no devices and no netlist",
                    network_kind(config).name));
  }
  return parts;
}

}  // namespace nudge
