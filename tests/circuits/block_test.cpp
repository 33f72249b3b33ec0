// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <limits>

#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/count_allocations.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Sums of some hundred products, each rounded: a few tens of ε of the summands, which are of the size of the result.
constexpr double kRounding = 100 * kEpsilon;

const std::vector<BlockSize> kSizes{{5, 6, 2, 9},   // the founding note's block
                                    {1, 6, 3, 4},   // one token
                                    {7, 4, 4, 11},  // one channel per head
                                    {5, 6, 0, 9},   // conservative
                                    {5, 6, 1, 0}};  // no memory

Matrix<double> force_of(TinyBlock<double>& tiny, const Matrix<double>& z, Part part = Part::all) {
  Matrix<double> f(z.rows(), z.cols());
  tiny.dynamics.force(z, f, part);
  return f;
}

Matrix<double> state(const BlockSize& size, std::uint64_t seed, Index copies = 1) {
  return random_matrix<double>(copies * size.tokens, size.channels, seed);
}

}  // namespace

TEST_CASE("the block's force is its formula", "[block]") {
  const BlockSize size{5, 6, 1, 9};
  TinyBlock<double> tiny(size);
  const Matrix<double> z = state(size, 31);
  const Matrix<double> w = tiny.input.weights(), wm = w.rightCols(9);
  const Matrix<double> q = z * w.leftCols(6), k = z * w.middleCols(6, 6), v = z * w.middleCols(12, 6);
  Matrix<double> p = (q * k.transpose() / std::sqrt(6.0)).array().exp().matrix();
  p = Matrix<double>(p.triangularView<Eigen::Lower>());
  for (Index i = 0; i < 5; ++i) p.row(i) /= p.row(i).sum();
  const Matrix<double> attention = p * v * tiny.output.weights();
  const Matrix<double> expected =
      tiny.drive - z + 2 * (z * wm).cwiseMax(0.0) * wm.transpose() + 0.8 * (attention - 0.7 * z);
  CHECK(relative_error(force_of(tiny, z), expected) < kRounding);
}

TEST_CASE("the parts of the block's force and Jacobian add up", "[block]") {
  for (const BlockSize& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads, size.memories);
    TinyBlock<double> tiny(size);
    const Matrix<double> z = state(size, 32), v = state(size, 33);
    const Matrix<double> all = force_of(tiny, z);
    CHECK((force_of(tiny, z, Part::conservative) + force_of(tiny, z, Part::nonconservative) - all).norm() <
          kRounding * all.norm());
    auto& at = tiny.dynamics.linearize(z);
    Matrix<double> one(z), two(z), whole(z);
    at.force(one, Part::conservative);
    CHECK(relative_error(one, force_of(tiny, z, Part::conservative)) < kRounding);
    at.force(two, Part::nonconservative);
    CHECK((one + two - all).norm() < kRounding * all.norm());
    at.force(whole);
    CHECK(relative_error(whole, all) < kRounding);
    for (const bool forward : {true, false}) {
      const auto apply = [&](Matrix<double>& out, Part part) { forward ? at.jvp(v, out, part) : at.vjp(v, out, part); };
      apply(one, Part::conservative);
      apply(two, Part::nonconservative);
      apply(whole, Part::all);
      CHECK((one + two - whole).norm() < kRounding * whole.norm());
    }
    if (size.heads == 0) CHECK((two.array() == 0).all());
  }
}

TEMPLATE_TEST_CASE("the block's vjp is the transpose of its jvp", "[block]", float, double) {
  for (const BlockSize& size : kSizes) {
    TinyBlock<TestType> tiny(size);
    auto& at = tiny.dynamics.linearize(random_matrix<TestType>(size.tokens, size.channels, 34));
    for (const Part part : {Part::all, Part::conservative, Part::nonconservative}) {
      check_adjoint(at, size.tokens, size.channels, part);
    }
  }
}

TEST_CASE("the block's jvp is what central differences give", "[block]") {
  for (const BlockSize& size : kSizes) {
    CAPTURE(size.tokens, size.channels, size.heads, size.memories);
    TinyBlock<double> tiny(size);
    const Matrix<double> z = state(size, 35), v = state(size, 36);
    Matrix<double> jv(z);
    tiny.dynamics.linearize(z).jvp(v, jv);
    // See central_difference(): 3.7e-11 times the ratios of F''' and F to Jv, of order 10 each.
    CHECK(relative_error(central_difference(tiny.dynamics, z, v), jv) < 1e-8);
  }
}

TEST_CASE("all parameter gradients of the block agree with central differences", "[block]") {
  const BlockSize size{5, 6, 2, 9};
  TinyBlock<double> tiny(size);
  const Matrix<double> z = state(size, 37), a = state(size, 38);
  SummingSink<double> sink({&tiny.input, &tiny.output});
  tiny.dynamics.linearize(z).accumulate_parameter_gradient(a, 1.0, sink);
  const auto value = [&] { return a.cwiseProduct(force_of(tiny, z)).sum(); };
  // As for attention alone (attention_test.cpp): 1e-10 truncation and 6e-10 rounding per entry of order 1.
  CHECK(relative_error(sink.sums[0], difference_quotients(tiny.input, 1e-5, value)) < 1e-8);
  CHECK(relative_error(sink.sums[1], difference_quotients(tiny.output, 1e-5, value)) < 1e-8);
}

TEST_CASE("the conservative part is a gradient: force, symmetric Jacobian, falling energy", "[block]") {
  const BlockSize size{5, 6, 2, 9};
  TinyBlock<double> tiny(size);
  Matrix<double> z = state(size, 39);
  const auto energy = [&](const Matrix<double>& at) { return tiny.dynamics.energy(at).value(); };

  const Matrix<double> v = state(size, 40);
  constexpr double h = 1e-5;  // truncation 0 between gate flips, rounding ε |E|/h ~ 2e-16 · 50/1e-5 = 1e-9
  const double slope = (energy(z + h * v) - energy(z - h * v)) / (2 * h);
  CHECK(slope == Approx(-v.cwiseProduct(force_of(tiny, z, Part::conservative)).sum()).margin(1e-8));

  const Matrix<double> jacobian = dense_jacobian(tiny.dynamics.linearize(z), 5, 6, Part::conservative);
  CHECK((jacobian - jacobian.transpose()).norm() < kRounding * jacobian.norm());
  const Matrix<double> attention = dense_jacobian(tiny.dynamics.linearize(z), 5, 6, Part::nonconservative);
  CHECK((attention - attention.transpose()).norm() > 0.1 * attention.norm());  // and attention's is not

  // Descent lemma: the Hessian is at most 1 + s c = 1.56, so a step ε ≤ 1/1.56 lowers E by at least ε/2 ‖F‖², up to the
  // rounding of E.
  constexpr double step = 0.1;
  for (int n = 0; n < 200; ++n) {
    const Matrix<double> f = force_of(tiny, z, Part::conservative);
    const double before = energy(z);
    z += step * f;
    CHECK(energy(z) <= before - 0.5 * step * f.squaredNorm() + 10 * kEpsilon * std::abs(before));
  }
  // The slowest mode decays as 1 − ε (1.56 − 2‖W_m‖²) with 2‖W_m‖² ≈ 0.4 … 0.8: below 0.93^200 = 5e-7.
  CHECK(force_of(tiny, z, Part::conservative).norm() < 1e-5 * z.norm());
}

TEST_CASE("stacked copies of a sequence do not see each other", "[block]") {
  const BlockSize size{5, 6, 2, 9};
  TinyBlock<double> tiny(size);
  const Matrix<double> z0 = state(size, 41), stack = state(size, 42, 4);
  auto& at = tiny.dynamics.linearize(z0);
  enum { force, jvp, vjp, corrected, transposed, count };
  for (int what = 0; what < count; ++what) {
    CAPTURE(what);
    const auto apply = [&](const Matrix<double>& z, Matrix<double>& out) {
      switch (what) {
        case force: return tiny.dynamics.force(z, out);
        case jvp: return at.jvp(z, out);
        case vjp: return at.vjp(z, out);
        case corrected: REQUIRE(at.law(NudgedForm::corrected, z, out)); return;
        default: REQUIRE(at.law(NudgedForm::transposed, z, out)); return;
      }
    };
    Matrix<double> together(20, 6), alone(5, 6), changed(20, 6);
    apply(stack, together);
    Matrix<double> other = stack;
    other.bottomRows(5) *= -3.0;
    apply(other, changed);
    CHECK((changed.topRows(15) == together.topRows(15)));
    for (Index k = 0; k < 4; ++k) {
      apply(stack.middleRows(5 * k, 5), alone);
      // Only the blocking of the products may differ.
      CHECK(relative_error(together.middleRows(5 * k, 5), alone) < kRounding);
    }
  }
}

TEST_CASE("the nudged forces are their definitions", "[block]") {
  for (const BlockSize& size : kSizes) {
    for (const Index copies : {1, 2, 4}) {
      CAPTURE(size.tokens, size.channels, size.heads, size.memories, copies);
      TinyBlock<double> tiny(size);
      const Matrix<double> z0 = state(size, 43), z = z0.replicate(copies, 1) + 0.3 * state(size, 44, copies);
      const Matrix<double> dz = z - z0.replicate(copies, 1);
      auto& at = tiny.dynamics.linearize(z0);
      Matrix<double> fused(z), forward(z), backward(z);
      at.jvp(dz, forward);
      at.vjp(dz, backward);
      const Matrix<double> corrected = force_of(tiny, z) - (forward - backward);
      at.law(NudgedForm::corrected, z, fused);
      CHECK(relative_error(fused, corrected) < kRounding);
      at.vjp(dz, backward, Part::nonconservative);
      const Matrix<double> transposed = force_of(tiny, z, Part::conservative) + backward;
      at.law(NudgedForm::transposed, z, fused);
      CHECK(relative_error(fused, transposed) < kRounding);
    }
  }
}

TEST_CASE("both nudged forces have the transposed Jacobian at z0", "[block]") {
  const BlockSize size{5, 6, 2, 9};
  TinyBlock<double> tiny(size);
  const Matrix<double> z0 = state(size, 45), v = state(size, 46);
  auto& at = tiny.dynamics.linearize(z0);
  Matrix<double> jtv(5, 6), ahead(5, 6), behind(5, 6);
  at.vjp(v, jtv);
  constexpr double h = 1e-5;  // truncation (h‖v‖)²/6 · F''' ~ 1e-9, rounding ε |F|/h ~ 1e-10
  at.law(NudgedForm::corrected, z0 + h * v, ahead);
  at.law(NudgedForm::corrected, z0 - h * v, behind);
  CHECK(relative_error((ahead - behind) / (2 * h), jtv) < 1e-7);
  at.law(NudgedForm::transposed, z0 + h * v, ahead);
  at.law(NudgedForm::transposed, z0 - h * v, behind);
  CHECK(relative_error((ahead - behind) / (2 * h), jtv) < 1e-7);
}

TEST_CASE("damping can be changed between phases", "[block]") {
  TinyBlock<double> tiny({5, 6, 2, 9});
  const Matrix<double> z = random_matrix<double>(5, 6, 47);
  const Matrix<double> before = force_of(tiny, z);
  tiny.block.set_damping(1.7);
  CHECK(relative_error(before - force_of(tiny, z), Matrix<double>(0.8 * 1.0 * z)) < kRounding);
}

TEST_CASE("a phase allocates nothing after its first step", "[block]") {
  if (allocations() < 0) {
    std::printf("SKIPPED: allocations cannot be counted in a sanitizer build\n");
    return;
  }
  // The smallest, and C=128, M=512, T=64 as in training: products of it need more packing space than a small stack holds.
  const BlockSize size = GENERATE(BlockSize{5, 6, 2, 9}, BlockSize{64, 128, 4, 512, 0.8, 0.7, 2});
  TinyBlock<float> tiny(size);
  SettleWorkspace<float> scratch;
  SettleOptions options;
  Matrix<float> z = tiny.drive, stack = random_matrix<float>(2 * size.tokens, size.channels, 48), f(stack), one(z);
  const long outset = allocations();
  settle<float>(tiny.dynamics, z, options, scratch);
  CHECK(allocations() > outset);  // the first call sizes its buffers: the counter counts
  const long before = allocations();
  z = tiny.drive;
  settle<float>(tiny.dynamics, z, options, scratch);
  CHECK(allocations() == before);
  auto& at = tiny.dynamics.linearize(z);
  at.force(one);
  for (int n = 0; n < 3; ++n) {
    at.law(NudgedForm::corrected, stack, f);
    at.law(NudgedForm::transposed, stack, f);
    at.jvp(stack, f);
    at.vjp(stack, f);
  }
  CHECK(allocations() == before);
}
