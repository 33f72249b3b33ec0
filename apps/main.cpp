// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>

#include "apps/program.hpp"

namespace {

/// How long threads wait for each other at full speed is read from the environment before main() begins. Left alone, GCC's OpenMP looks
/// 300,000 times before it sleeps, milliseconds of a processor that the awaited thread may need: beside other programs two threads took
/// two to nine times as long as one (docs/scaling.md). With 2000 looks two cores of one's own are as fast. The program starts itself again to have
/// that, in the same process; who sets a variable decides.
void wait_briefly(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("GOMP_SPINCOUNT", "2000", 0) == 0) execv("/proc/self/exe", argv);  // returns where it cannot
}

}  // namespace

int main(int argc, char** argv) {
  wait_briefly(argv);
  return static_cast<int>(nudge::run_program(argc, argv));
}
