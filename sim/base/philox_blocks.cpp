// SPDX-License-Identifier: Apache-2.0
#include "sim/base/philox_blocks.hpp"

#include "sim/base/philox_kernel.hpp"

// NUDGE_AVX512 is set for this file by CMake where the compiler can.
#if defined(NUDGE_AVX512) && defined(__FMA__)  // without, sums would round differently
#endif

namespace nudge {

const std::vector<PhiloxKernel>& philox_kernels() {
  static const std::vector<PhiloxKernel> kernels = [] {
    std::vector<PhiloxKernel> found = {{"as compiled", draw_blocks, draw_normals}};
#if defined(NUDGE_AVX512) && defined(__FMA__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw")) {
      found.push_back(philox_avx512());
    }
#endif
    return found;
  }();
  return kernels;
}

const PhiloxKernel& philox_kernel() {
  static const PhiloxKernel kernel = philox_kernels().back();
  return kernel;
}

}  // namespace nudge
