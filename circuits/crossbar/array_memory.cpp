// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_spec.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/errors.hpp"

namespace nudge {

double physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : 0;
}

double array_memory_bytes(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes) {
  const double arrays = kind == MappingKind::differential || kind == MappingKind::one_sided ? 2 : 1;
  // Per device: 5 kept, 1 target and 1 error while programming; per weight: the weight.
  return (7 * arrays + 1) * static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(scalar_bytes);
}

void check_array_memory(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes, double available,
                        Index copies) {
  const double needed = static_cast<double>(copies) * array_memory_bytes(rows, cols, kind, scalar_bytes);
  if (available == 0 || needed <= available) return;
  if (copies > 1) {
    throw UserError(
        fmt::format("{} arrays of {} x {} weights: need {:.3g} GB, this machine has {:.3g} GB; use "
                    "circuit.tokens = multiplexed (one array), a smaller model (model.channels, "
                    "model.memories, model.tokens) or precision = float",
                    copies, rows, cols, 1e-9 * needed, 1e-9 * available));
  }
  throw UserError(
      fmt::format("crossbar of {} x {} weights: needs {:.3g} GB, this machine has {:.3g} GB; use a smaller model "
                  "(model.channels, model.memories), precision = float, or a mapping with one device per weight",
                  rows, cols, 1e-9 * needed, 1e-9 * available));
}

}  // namespace nudge
