// SPDX-License-Identifier: Apache-2.0
#include "bench/fastest_product.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>

namespace nudge::bench {
namespace {

constexpr int kSums = 12;  // with the factor in the 16 registers of AVX2; two units of five cycles each want ten
constexpr int kSteps = 50000;

// Vectors of the compiler, so that one loop serves every instruction set; each function keeps its sums in registers.
#define NUDGE_FMA_LOOP(NAME, TARGET, BYTES)                          \
  TARGET float NAME(float factor) {                                  \
    typedef float Vector __attribute__((vector_size(BYTES)));        \
    constexpr int lanes = (BYTES) / static_cast<int>(sizeof(float)); \
    Vector sums[kSums];                                              \
    for (int i = 0; i < kSums; ++i) sums[i] = Vector{} + factor;     \
    const Vector a = Vector{} + factor;                              \
    for (int step = 0; step < kSteps; ++step) {                      \
      for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * a + a;     \
    }                                                                \
    Vector total{};                                                  \
    for (int i = 0; i < kSums; ++i) total += sums[i];                \
    float sum = 0;                                                   \
    for (int lane = 0; lane < lanes; ++lane) sum += total[lane];     \
    return sum;                                                      \
  }
#if defined(__x86_64__)
NUDGE_FMA_LOOP(by_avx512, __attribute__((target("avx512f"), noinline)), 64)
NUDGE_FMA_LOOP(by_avx2, __attribute__((target("avx2,fma"), noinline)), 32)
#endif
NUDGE_FMA_LOOP(by_default, __attribute__((noinline)), 16)
#undef NUDGE_FMA_LOOP

struct Loop {
  float (*run)(float);
  int lanes;
};

Loop widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {by_avx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {by_avx2, 8};
#endif
  return {by_default, 4};
}

double measure() {
  const Loop loop = widest();
  const double operations = 2.0 * kSums * kSteps * loop.lanes;
  volatile float factor = 0.5F;  // the loop cannot be computed in advance
  volatile float result = 0;
  double best = 0;
  for (int round = 0; round < 9; ++round) {
    const auto start = std::chrono::steady_clock::now();
    result = loop.run(factor);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::max(best, 1e-9 * operations / taken.count());
  }
  static_cast<void>(result);
  return best;
}

}  // namespace

double peak_gflops() {
  static const double peak = measure();
  return peak;
}

std::vector<int> thread_counts() {
  std::vector<int> counts = {1, 2};
  while (2 * counts.back() <= omp_get_num_procs()) counts.push_back(2 * counts.back());
  return counts;
}

}  // namespace nudge::bench
