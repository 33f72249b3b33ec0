// SPDX-License-Identifier: Apache-2.0
#include "tests/support/count_allocations.hpp"

#include <atomic>
#include <cstdlib>

#include "tests/support/sanitizers.hpp"

#if defined(__GLIBC__) && !NUDGE_SANITIZED

extern "C" void* __libc_malloc(std::size_t size);  // NOLINT: the name of glibc's own malloc behind the symbol

namespace {
std::atomic<long> calls{0};
}

extern "C" void* malloc(std::size_t size) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}

long nudge::test::allocations() { return calls.load(std::memory_order_relaxed); }

#else

long nudge::test::allocations() { return -1; }

#endif
