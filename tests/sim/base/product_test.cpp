// SPDX-License-Identifier: Apache-2.0
#include "sim/base/product.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "sim/base/parallel.hpp"

namespace {

using nudge::Index;
using nudge::Matrix;
using nudge::ProductKernel;
using nudge::Store;

/// Back to the default choice when a test ends, however it ends.
struct RestoreKernel {
  ~RestoreKernel() { nudge::set_product_kernel(ProductKernel::automatic); }
};

/// x (n, k) times w (k, m). Heads of attention, projections of a block, reads of an array, odd sizes, one row, tiny, tall.
struct Shape {
  Index n, k, m;
};
const std::vector<Shape> kShapes{{64, 32, 64},   {64, 64, 32},    {64, 128, 512}, {64, 512, 128}, {128, 128, 384},
                                 {37, 51, 65},   {1, 128, 512},   {512, 300, 1},  {2, 128, 512},  {3, 1, 7},
                                 {8, 8, 8},      {16, 1568, 100}, {33, 257, 63},  {600, 129, 17}, {5, 0, 4},
                                 {64, 512, 512}, {256, 48, 33},   {16, 128, 2048}};

/// A matrix of the given size inside a larger one, as heads lie in projections: rows further apart than they are long.
struct Strided {
  Matrix<float> whole;
  Index rows, cols;
  Strided(Index height, Index columns, std::uint32_t seed)
      : whole(std::max<Index>(1, height), columns + 5), rows(height), cols(columns) {
    std::uint32_t state =
        seed;  // numbers in (-1, 1) that do not depend on the thread, by the generator of Numerical Recipes
    for (Index i = 0; i < whole.size(); ++i) {
      state = 1664525U * state + 1013904223U;
      whole.data()[i] = static_cast<float>(state >> 8U) * 0x1p-23F - 1.0F;
    }
  }
  auto block() { return whole.block(0, 3, rows, cols); }
};

/// Products of one shape: x w, then y wᵀ, then xᵀ y, each stored, added and subtracted.
struct Products {
  std::vector<Matrix<float>> results;
  bool operator==(const Products& other) const {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto bytes = sizeof(float) * static_cast<std::size_t>(results[i].size());
      if (bytes > 0 && std::memcmp(results[i].data(), other.results[i].data(), bytes) != 0) return false;
    }
    return results.size() == other.results.size();
  }
};

Products form(const Shape& s) {
  Strided x(s.n, s.k, 1), w(s.k, s.m, 2), y(s.n, s.m, 3);
  Products out;
  for (const Store store : {Store::assign, Store::add, Store::subtract}) {
    Strided a(s.n, s.m, 4), b(s.n, s.k, 5), c(s.k, s.m, 6);
    nudge::multiply<float>(x.block(), w.block(), a.block(), store);
    nudge::multiply_transposed<float>(y.block(), w.block(), b.block(), store);
    nudge::multiply_outer<float>(x.block(), y.block(), 0.5F, c.block(), store);
    for (Strided* result : {&a, &b, &c}) out.results.push_back(result->whole);
  }
  return out;
}

/// Largest deviation of the products of `got` from those in double, over the bound of its rounding errors. A sum of k products
/// of numbers in (-1, 1) deviates by at most k u (sum of |products|) <= k² u to first order, u = 2^-24, whatever its order, with
/// or without fused multiplications; one more rounding for the sum with what was there, and one for the scale.
double worst_deviation(const Shape& s, const Products& got) {
  double worst = 0;
  std::size_t at = 0;
  Strided x(s.n, s.k, 1), w(s.k, s.m, 2), y(s.n, s.m, 3);
  const auto xd = x.block().cast<double>().eval(), wd = w.block().cast<double>().eval(),
             yd = y.block().cast<double>().eval();
  const std::vector<Matrix<double>> exact{xd * wd, yd * wd.transpose(), 0.5 * xd.transpose() * yd};
  const std::vector<Index> lengths{s.k, s.m, s.n};
  for (const Store store : {Store::assign, Store::add, Store::subtract}) {
    for (std::size_t p = 0; p < 3; ++p, ++at) {
      Strided before(exact[p].rows(), exact[p].cols(), 4 + static_cast<std::uint32_t>(p));
      Matrix<double> expected = before.whole.cast<double>();
      const double keep = store == Store::assign ? 0 : 1;
      auto inner = expected.block(0, 3, exact[p].rows(), exact[p].cols());
      inner = keep * inner + (store == Store::subtract ? -1 : 1) * exact[p];
      const auto length = static_cast<double>(lengths[p]) + 2;
      const double bound = length * length * std::ldexp(1.0, -24);
      if (expected.size() == 0) continue;
      worst = std::max(worst, (got.results[at].cast<double>() - expected).cwiseAbs().maxCoeff() / bound);
    }
  }
  return worst;
}

TEST_CASE("products of blocks agree with double, stored, added and subtracted, and touch nothing beside", "[product]") {
  const RestoreKernel restore;
  for (const ProductKernel kernel : {ProductKernel::automatic, ProductKernel::portable}) {
    nudge::set_product_kernel(kernel);
    CAPTURE(nudge::product_kernel_name());
    for (const Shape& s : kShapes) {
      CAPTURE(s.n, s.k, s.m);
      CHECK(worst_deviation(s, form(s)) <= 1);
    }
  }
}

TEST_CASE("a stored product does not read what was there", "[product]") {
  for (const Shape& s : kShapes) {
    CAPTURE(s.n, s.k, s.m);
    const Matrix<float> x = Matrix<float>::Random(s.n, s.k), w = Matrix<float>::Random(s.k, s.m);
    Matrix<float> y = Matrix<float>::Constant(s.n, s.m, std::numeric_limits<float>::quiet_NaN());
    nudge::multiply<float>(x, w, y);
    CHECK(y.allFinite());
  }
}

TEST_CASE("products have the same bits at the top level and in loops of any number of threads", "[product]") {
  const RestoreKernel restore;
  for (const ProductKernel kernel : {ProductKernel::automatic, ProductKernel::portable}) {
    nudge::set_product_kernel(kernel);
    CAPTURE(nudge::product_kernel_name());
    for (const Shape& s : kShapes) {
      CAPTURE(s.n, s.k, s.m);
      const Products expected = form(s);
      CHECK(form(s) == expected);
    }
    for (const int threads : {1, 2, 3}) {
      CAPTURE(threads);
      std::vector<Products> all(3 * kShapes.size());
      nudge::parallel_for(static_cast<Index>(all.size()), threads, [&](Index i, int) {
        const auto at = static_cast<std::size_t>(i);
        all[at] = form(kShapes[at % kShapes.size()]);
      });
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Shape& s = kShapes[i % kShapes.size()];
        CAPTURE(s.n, s.k, s.m);
        CHECK(all[i] == form(s));
      }
    }
  }
}

// oneDNN splits these over the threads at hand when it may, and adds up in another order: contiguous operands, a long sum.
TEST_CASE("a long product has the same bits outside and inside a parallel loop", "[product]") {
  const Matrix<float> x = Matrix<float>::Random(16, 2048), w = Matrix<float>::Random(128, 2048);
  const auto product = [&] {
    Matrix<float> y(16, 128);
    nudge::multiply_transposed<float>(x, w, y);
    return y;
  };
  const Matrix<float> outside = product();
  std::vector<Matrix<float>> inside(4);
  nudge::parallel_for(4, 2, [&](Index i, int) { inside[static_cast<std::size_t>(i)] = product(); });
  for (const Matrix<float>& y : inside) CHECK((y.array() == outside.array()).all());
}

TEST_CASE("the portable kernel is Eigen alone, and the name says which kernel is in use", "[product]") {
  const RestoreKernel restore;
  nudge::set_product_kernel(ProductKernel::portable);
  CHECK_THAT(nudge::product_kernel_name(), Catch::StartsWith("Eigen 3."));
  const Matrix<float> x = Matrix<float>::Random(64, 512), w = Matrix<float>::Random(512, 128);
  Matrix<float> y(64, 128);
  nudge::multiply<float>(x, w, y);
  const Matrix<float> expected = x * w;
  CHECK((y.array() == expected.array()).all());
  nudge::set_product_kernel(ProductKernel::automatic);
  CHECK_THAT(nudge::product_kernel_name(), Catch::Contains("Eigen 3."));
  CHECK(nudge::product_kernel_of("auto") == ProductKernel::automatic);
  CHECK(nudge::product_kernel_of("portable") == ProductKernel::portable);
}

TEST_CASE("a library takes a product by its shape alone", "[product]") {
  CHECK(nudge::library_takes(64, 32, 64));
  CHECK(nudge::library_takes(2, 128, 512));
  CHECK_FALSE(nudge::library_takes(1, 512, 512));
  CHECK_FALSE(nudge::library_takes(512, 512, 1));
  CHECK_FALSE(nudge::library_takes(16, 16, 16));
  CHECK_FALSE(nudge::library_takes(64, 0, 64));
}

TEST_CASE("what AVX2 code of the library reads badly is told by row distances and size", "[product]") {
  const auto badly = [](bool a_transposed, bool b_transposed, Index n, Index m, Index a_ld, Index b_ld) {
    return nudge::detail::reads_badly(
        {a_transposed, b_transposed, n, m, 128, 1.0F, nullptr, a_ld, nullptr, b_ld, 0.0F, nullptr, m});
  };
  CHECK(badly(false, false, 64, 512, 128, 512));
  CHECK(badly(false, false, 64, 128, 128, 1024));  // a part of a wider matrix
  CHECK_FALSE(badly(false, false, 64, 512, 128, 520));
  CHECK_FALSE(badly(false, false, 64, 256, 128, 256));
  CHECK_FALSE(badly(false, false, 8, 512, 128, 512));
  CHECK_FALSE(badly(false, false, 2048, 512, 128, 512));
  CHECK_FALSE(badly(false, true, 64, 128, 512, 512));  // both are read along their rows
  CHECK(badly(true, false, 2048, 128, 2048, 128));
  CHECK_FALSE(badly(true, false, 2048, 512, 2048, 512));
}

}  // namespace
