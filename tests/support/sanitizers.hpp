// SPDX-License-Identifier: Apache-2.0
#pragma once

// NUDGE_SANITIZED: 1 where the address or the thread sanitizer owns the memory, 0 otherwise. GCC says so by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NUDGE_SANITIZED 1
#elif defined(__clang__)
#define NUDGE_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define NUDGE_SANITIZED 0
#endif
