// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace nudge {

/// Runs work(0) … work(count − 1) on a thread each while the calling thread runs `here`; returns when all have ended. The
/// first exception, of `here` before those of work, is thrown again then: what the others wait for must come all the same.
void run_side_by_side(int count, const std::function<void(int)>& work, const std::function<void()>& here);

/// Lets other threads run for about a millisecond: between two looks at a mailbox.
void wait_a_moment();

}  // namespace nudge
