// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge::test {

/// Number of calls of malloc() in this process so far (Eigen and operator new end there), or −1 in builds that cannot
/// count them: sanitizers and other C libraries bring their own malloc. Link tests/support/count_allocations.cpp.
long allocations();

}  // namespace nudge::test
