// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>

#include "tests/apps/run_nudge.hpp"

namespace nudge::test {

#ifdef NUDGE_MPIRUN
/// Under the address sanitizer leaks of ranks are not counted: Open MPI unloads plugins whose memory it has not freed, which no
/// suppression can name.
inline constexpr const char* kLeaks = "LSAN_OPTIONS=detect_leaks=0";

/// nudge under mpirun: as root and with more ranks than cores, without tying ranks to cores.
inline Outcome run_ranks(const Folder& folder, int ranks, const std::string& arguments) {
  const std::string output = folder.file("mpi_out.txt"), errors = folder.file("mpi_err.txt");
  const std::string command =
      "cd '" + folder.file("") +
      "' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      // A session folder of its own: mpiruns that start and end side by side remove the one they share.
      "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_orte_tmpdir_base=\"$(pwd)\" " +
      std::string(kLeaks) + " timeout 120 '" NUDGE_MPIRUN "' -n " + std::to_string(ranks) + " '" NUDGE_PROGRAM "' " +
      arguments + " >'" + output + "' 2>'" + errors + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output), read_file(errors)};
}
#else
inline bool skipped() {
  std::cout << "SKIPPED: no MPI in this build\n";
  return true;
}
#endif

}  // namespace nudge::test
