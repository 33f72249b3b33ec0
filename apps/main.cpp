// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "apps/program.hpp"

namespace {

/// Sets how long threads wait for each other at full speed; true: the program has to start again. The environment gives
/// this time, read before main() begins, so the program starts itself again in the same process; a variable that the
/// user sets decides. By default GCC's OpenMP looks 300,000 times before it sleeps, milliseconds of a processor that
/// the awaited thread may need: beside other programs two threads took two to nine times as long as one
/// (docs/project/scaling.md). With 2000 looks two cores of one's own are as fast.
bool wait_briefly() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return false;
  return setenv("GOMP_SPINCOUNT", "2000", 0) == 0;
}

/// Bytes of stack. kStack: for a run, the default of Linux. kLeastStack: enough for every command that we have seen;
/// below that a command ends by a SIGSEGV without a message.
constexpr rlim_t kStack = rlim_t{8} << 20U, kLeastStack = rlim_t{512} << 10U;

/// Raises the stack to kStack where `ulimit -s` is lower, as far as that is allowed. Threads take the limit that their
/// process starts with, so true means that the program has to start again. Sets `enough` to false where too little is
/// left.
bool raise_stack(bool& enough) {
  rlimit stack{};
  enough = true;
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= kStack)
    return false;
  rlimit more = stack;
  more.rlim_cur = stack.rlim_max == RLIM_INFINITY ? kStack : std::min(kStack, stack.rlim_max);
  const bool raised = more.rlim_cur > stack.rlim_cur && ::setrlimit(RLIMIT_STACK, &more) == 0;
  enough = (raised ? more : stack).rlim_cur >= kLeastStack;
  return raised && enough;
}

}  // namespace

int main(int argc, char** argv) {
  bool enough = true;
  const bool raised = raise_stack(enough);
  if (!enough) {
    const std::string text = fmt::format(
        "nudge: the stack limit is below the {} kB that nudge needs. Run ulimit -s 8192 first\n", kLeastStack >> 10U);
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    return static_cast<int>(nudge::ExitCode::user_input);
  }
  const bool briefly = wait_briefly();
  if (raised || briefly) execv("/proc/self/exe", argv);  // returns where it cannot
  return static_cast<int>(nudge::run_program(argc, argv));
}
