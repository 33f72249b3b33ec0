// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <initializer_list>

#include "sim/base/ranks.hpp"

namespace nudge {

// Each launcher tells its processes in its own way: Open MPI; MPICH's hydra and Slurm's PMI; Slurm's PMIx, which gives
// the rank only, so that Slurm's own count stands for it.
int launched_ranks() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
  };
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (number(name) > 0) return number(name);
  }
  return std::getenv("PMIX_RANK") != nullptr && number("SLURM_NTASKS") > 0 ? number("SLURM_NTASKS") : 1;
}

}  // namespace nudge
