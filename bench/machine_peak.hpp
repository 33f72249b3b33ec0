// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge::bench {

/// Floating point operations per second (GFLOP/s, float) of one thread in a loop of fused multiply-adds on registers alone, with
/// the widest vectors that the processor has (AVX-512, AVX2 with FMA, or the compiler's default target): what no product can
/// exceed. Sixteen independent sums hide the latency of two units of at most 8 cycles. Fastest of 9 rounds of about 1 ms.
double peak_gflops();

/// 1, 2 and every further power of two up to the processors of the machine.
std::vector<int> thread_counts();

}  // namespace nudge::bench
