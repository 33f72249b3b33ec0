// SPDX-License-Identifier: Apache-2.0
#include "sim/base/product.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <atomic>
#include <new>
#include <vector>

#include "sim/base/build_info.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/machine_memory.hpp"
#include "sim/base/out_of_memory.hpp"
#include "sim/base/parallel.hpp"

// NUDGE_ONEDNN is set for this file by CMake where the library was found.
#ifdef NUDGE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace nudge {
namespace {

std::atomic<ProductKernel> chosen{ProductKernel::automatic};

std::string eigen_name() {
  const std::string& arch = build_info().architecture;
  return fmt::format("Eigen {}.{}.{} ({})", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION,
                     arch.empty() ? "default target" : arch);
}

#ifdef NUDGE_ONEDNN
/// Instruction set that the library found, by the names of its documentation; "" for one that the documentation gives by number only.
std::string instruction_set() {
  switch (static_cast<unsigned>(dnnl_get_effective_cpu_isa())) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
    default: return fmt::format("isa {:#x}", static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
  }
}

/// True if the library's code is its code for AVX2.
bool code_is_avx2() {
  static const bool is = [] {
    const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    return isa == dnnl_cpu_isa_avx2 || isa == dnnl_cpu_isa_avx2_vnni;
  }();
  return is;
}

/// Address space that the library must find for its code. It does not check its allocation: without memory it writes to address 0, a
/// SIGSEGV (oneDNN 2.6; seen between 95 and 99 MB of `ulimit -v`). All code of make_code() takes 6 to 8 MB; this is four times that.
constexpr double kCodeBytes = 32e6;

void expect_room_for_code() {
  const FreeMemory free = free_memory();
  if (free.bytes >= kCodeBytes) return;
  throw OutOfMemory(
      fmt::format("oneDNN needs {} for the code of its products, and {} are free. Use product.kernel = portable, "
                  "which needs none",
                  bytes_text(kCodeBytes), free.text()));
}

/// Runs one product of every kind once (either operand transposed, stored or added; few and many rows), so that all code exists.
void make_code() {
  static std::atomic<bool> made{false};
  if (made.load()) return;
  expect_room_for_code();
  if (made.exchange(true)) return;
  const Index large = 128;
  const std::vector<float> a(static_cast<std::size_t>(large * large), 1.0F);
  std::vector<float> c(a.size());
  for (const Index n : {Index{2}, large}) {
    for (const bool left : {false, true}) {
      for (const bool right : {false, true}) {
        for (const float beta : {0.0F, 1.0F}) {
          detail::multiply_by_library(
              {left, right, n, large, large, 1.0F, a.data(), large, a.data(), large, beta, c.data(), large});
        }
      }
    }
  }
}
#endif

}  // namespace

ProductKernel product_kernel_of(const std::string& text) {
  NUDGE_EXPECT(text == "auto" || text == "portable");
  return text == "portable" ? ProductKernel::portable : ProductKernel::automatic;
}

void set_product_kernel(ProductKernel kernel) {
  chosen.store(kernel, std::memory_order_relaxed);
#ifdef NUDGE_ONEDNN
  if (kernel == ProductKernel::automatic) make_code();
#endif
}

std::string product_kernel_name() {
#ifdef NUDGE_ONEDNN
  if (chosen.load(std::memory_order_relaxed) == ProductKernel::automatic) {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{} ({}); {}", version->major, version->minor, version->patch, instruction_set(),
                       eigen_name());
  }
#endif
  return eigen_name();
}

namespace detail {

bool library_forms([[maybe_unused]] const FloatProduct& p) {
#ifdef NUDGE_ONEDNN
  return chosen.load(std::memory_order_relaxed) != ProductKernel::portable && library_takes(p.n, p.k, p.m) &&
         !(code_is_avx2() && reads_badly(p));
#else
  return false;
#endif
}

bool multiply_by_library([[maybe_unused]] const FloatProduct& p) {
#ifdef NUDGE_ONEDNN
  if (!library_forms(p)) return false;
  const OneThread one;  // outside parallel loops the library would split the product, and its bits with it
  const dnnl_status_t status = dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.n, p.m, p.k,
                                          p.alpha, p.a, p.a_ld, p.b, p.b_ld, p.beta, p.c, p.c_ld);
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  NUDGE_EXPECT(status == dnnl_success);
  return status == dnnl_success;
#else
  return false;
#endif
}

}  // namespace detail

}  // namespace nudge
