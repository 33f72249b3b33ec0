// SPDX-License-Identifier: Apache-2.0
#include "bench/fastest_product.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "sim/base/parallel.hpp"

#ifdef NUDGE_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#endif

namespace nudge::bench {
namespace {

using detail::FloatProduct;
using In = Eigen::Map<const Matrix<float>, 0, Eigen::OuterStride<>>;
using Out = Eigen::Map<Matrix<float>, 0, Eigen::OuterStride<>>;

template <class A, class B>
void store(const FloatProduct& p, const A& a, const B& b, Out& c) {
  if (p.beta == 0) {
    c.noalias() = p.alpha * (a * b);
  } else {
    c.noalias() += p.alpha * (a * b);
  }
}

void by_eigen(const FloatProduct& p) {
  Out c(p.c, p.n, p.m, Eigen::OuterStride<>(p.c_ld));
  const In a(p.a, p.a_transposed ? p.k : p.n, p.a_transposed ? p.n : p.k, Eigen::OuterStride<>(p.a_ld));
  const In b(p.b, p.b_transposed ? p.m : p.k, p.b_transposed ? p.k : p.m, Eigen::OuterStride<>(p.b_ld));
  if (p.a_transposed) {
    store(p, a.transpose(), b, c);
  } else if (p.b_transposed) {
    store(p, a, b.transpose(), c);
  } else {
    store(p, a, b, c);
  }
}

#ifdef NUDGE_ONEDNN
void by_onednn(const FloatProduct& p) {
  const OneThread one;
  dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.n, p.m, p.k, p.alpha, p.a, p.a_ld, p.b, p.b_ld,
             p.beta, p.c, p.c_ld);
}
#endif

/// Seconds of one product: the mean of as many as take 20 us.
double seconds_of(const ProductLibrary& library, const FloatProduct& p) {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::duration<double> taken{};
  int count = 0;
  while (taken.count() < 20e-6) {
    library.form(p);
    ++count;
    taken = std::chrono::steady_clock::now() - start;
  }
  return taken.count() / count;
}

std::size_t fastest_for(FloatProduct p) {
  std::vector<float> scratch(static_cast<std::size_t>(p.n * p.c_ld), 0.0F);  // the result stays as it is
  p.c = scratch.data();
  const auto& libraries = product_libraries();
  std::vector<double> seconds(libraries.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < 7; ++round) {
    for (std::size_t i = 0; i < libraries.size(); ++i) seconds[i] = std::min(seconds[i], seconds_of(libraries[i], p));
  }
  return static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
}

using Key = std::tuple<bool, bool, Index, Index, Index, Index, Index, Index, bool>;
std::mutex mutex;
std::map<Key, std::size_t> choices;

void fastest(const FloatProduct& p) {
  const Key key{p.a_transposed, p.b_transposed, p.n, p.k, p.m, p.a_ld, p.b_ld, p.c_ld, p.beta == 0};
  thread_local std::vector<std::pair<Key, std::size_t>> known;  // few shapes: found faster here than in a map
  for (const auto& [shape, library] : known) {
    if (shape == key) return product_libraries()[library].form(p);
  }
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = choices.find(key);
  const std::size_t library = at != choices.end() ? at->second : choices.emplace(key, fastest_for(p)).first->second;
  known.emplace_back(key, library);
  product_libraries()[library].form(p);
}

float keep(Store store) { return store == Store::assign ? 0.0F : 1.0F; }
float sign(Store store) { return store == Store::subtract ? -1.0F : 1.0F; }

}  // namespace

const std::vector<ProductLibrary>& product_libraries() {
  static const std::vector<ProductLibrary> libraries = [] {
    set_product_kernel(ProductKernel::portable);
    const std::string eigen = product_kernel_name();
    set_product_kernel(ProductKernel::automatic);
    std::vector<ProductLibrary> list{{eigen, by_eigen}};
#ifdef NUDGE_ONEDNN
    const std::string both = product_kernel_name();
    list.push_back({both.substr(0, both.find(';')), by_onednn});
#endif
    return list;
  }();
  return libraries;
}

void fastest_multiply(ConstMatrixRef<float> x, ConstMatrixRef<float> w, MatrixRef<float> y, Store store) {
  fastest({false, false, y.rows(), y.cols(), x.cols(), sign(store), x.data(), x.outerStride(), w.data(),
           w.outerStride(), keep(store), y.data(), y.outerStride()});
}

void fastest_transposed(ConstMatrixRef<float> y, ConstMatrixRef<float> w, MatrixRef<float> x, Store store) {
  fastest({false, true, x.rows(), x.cols(), y.cols(), sign(store), y.data(), y.outerStride(), w.data(), w.outerStride(),
           keep(store), x.data(), x.outerStride()});
}

void fastest_outer(ConstMatrixRef<float> x, ConstMatrixRef<float> y, float scale, MatrixRef<float> g, Store store) {
  fastest({true, false, g.rows(), g.cols(), x.rows(), scale * sign(store), x.data(), x.outerStride(), y.data(),
           y.outerStride(), keep(store), g.data(), g.outerStride()});
}

std::string fastest_libraries() {
  const std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  for (std::size_t i = product_libraries().size(); i-- > 0;) {
    const auto count = std::count_if(choices.begin(), choices.end(), [i](const auto& c) { return c.second == i; });
    if (count > 0) text += fmt::format("{}{}: {} shapes", text.empty() ? "" : "; ", product_libraries()[i].name, count);
  }
  return text;
}

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
