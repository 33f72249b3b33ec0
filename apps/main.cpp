// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "apps/program.hpp"

namespace {

/// How long threads wait for each other at full speed is read from the environment before main() begins. Left alone, GCC's OpenMP looks
/// 300,000 times before it sleeps, milliseconds of a processor that the awaited thread may need: beside other programs two threads took
/// two to nine times as long as one (docs/scaling.md). With 2000 looks two cores of one's own are as fast. The program starts itself again to have
/// that, in the same process; who sets a variable decides. Whether it has to.
bool wait_briefly() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return false;
  return setenv("GOMP_SPINCOUNT", "2000", 0) == 0;
}

/// Bytes of stack: what a run is given, which is the default of Linux, and what every command has been seen to end with; below that it ends by a
/// SIGSEGV that nobody can put into words.
constexpr rlim_t kStack = rlim_t{8} << 20U, kLeastStack = rlim_t{512} << 10U;

/// Asks for the stack of kStack where `ulimit -s` says less, as far as that is allowed. Threads take the limit that their process starts with:
/// true where it has to start again. False in `enough` where too little is left.
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
        "nudge: the stack is limited to less than {} kB (ulimit -s), which it needs: ulimit -s 8192 allows what it "
        "asks for\n",
        kLeastStack >> 10U);
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    return static_cast<int>(nudge::ExitCode::user_input);
  }
  const bool briefly = wait_briefly();
  if (raised || briefly) execv("/proc/self/exe", argv);  // returns where it cannot
  return static_cast<int>(nudge::run_program(argc, argv));
}
