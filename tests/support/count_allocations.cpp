// SPDX-License-Identifier: Apache-2.0
#include "tests/support/count_allocations.hpp"

#include <atomic>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define NUDGE_COUNTS_MALLOC 0
#elif defined(__clang__)
#define NUDGE_COUNTS_MALLOC !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define NUDGE_COUNTS_MALLOC 1
#endif

#if NUDGE_COUNTS_MALLOC

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
