// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512 (sim/CMakeLists.txt) without precompiled headers; runs where the processor has it.
#include "sim/base/philox_blocks.hpp"

#include "sim/base/philox_kernel.hpp"

namespace nudge {

PhiloxKernel philox_avx512() { return {"avx512", draw_blocks, draw_normals}; }

}  // namespace nudge
