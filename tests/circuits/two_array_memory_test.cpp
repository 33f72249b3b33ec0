// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/hopfield_memory.hpp"
#include "tests/support/catch.hpp"

#include <limits>

#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr Index kTokens = 4, kChannels = 6, kMemories = 9, kHeads = 2;
constexpr double kGain = 0.8, kDamping = 0.7;
/// Sums of some hundred products, each rounded.
constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();

/// A block whose memory sits on two arrays; `mismatch` is how far the return array is from W_mᵀ.
struct TwoArrayBlock {
  TwoArrayBlock(double mismatch, CorrectionScope scope)
      : input(random_matrix<double>(kChannels, 3 * kChannels + kMemories, 1, 0.2)),
        output(random_matrix<double>(kChannels, kChannels, 2, 0.4)),
        back(input.weights().rightCols(kMemories).transpose() +
             mismatch * random_matrix<double>(kMemories, kChannels, 3, 0.2)),
        block(one_node_circuit<double>(kChannels, [&](SharedArray<double>& array) { place(array, scope); }, 0, input,
                                       {kGain, kDamping})),
        dynamics(block, kTokens, 2) {
    dynamics.bind(random_matrix<double>(kTokens, kChannels, 4), ReadContext{});
  }

  void place(SharedArray<double>& array, CorrectionScope scope) {
    array.place<CausalAttention<double>>(3 * kChannels, kHeads, kGain, 1, output);
    array.place<TwoArrayMemory<double>>(kMemories, 2, back, scope);
  }

  DigitalMatrix<double> input, output, back;
  Circuit<double> block;
  CircuitDynamics<double> dynamics;
};

const Matrix<double> z0 = random_matrix<double>(kTokens, kChannels, 5);

}  // namespace

TEST_CASE("a memory on two matching arrays is the memory on one", "[two-array memory]") {
  for (const CorrectionScope scope : {CorrectionScope::attention, CorrectionScope::full}) {
    TwoArrayBlock two(0, scope);
    const auto place = [&](SharedArray<double>& array) {
      array.place<CausalAttention<double>>(3 * kChannels, kHeads, kGain, 1, two.output);
      array.place<HopfieldMemory<double>>(kMemories);
    };
    Circuit<double> block = one_node_circuit<double>(kChannels, place, 0, two.input, {kGain, kDamping});
    CircuitDynamics<double> one(block, kTokens, 2);
    one.bind(random_matrix<double>(kTokens, kChannels, 4), ReadContext{});
    const Matrix<double> v = random_matrix<double>(2 * kTokens, kChannels, 6, 0.1);
    const Matrix<double> z = z0.replicate(2, 1) + v;
    Matrix<double> a(z), b(z), rest(z0);
    auto& at_two = two.dynamics.linearize(z0);
    auto& at_one = one.linearize(z0);
    two.dynamics.force(z, a);
    one.force(z, b);
    CHECK(relative_error(a, b) < kRounding);
    at_two.jvp(v, a);
    at_one.jvp(v, b);
    CHECK(relative_error(a, b) < kRounding);
    at_two.vjp(v, a);
    at_one.vjp(v, b);
    CHECK(relative_error(a, b) < kRounding);
    at_two.law(NudgedForm::corrected, z, a);
    at_one.law(NudgedForm::corrected, z, b);
    CHECK(relative_error(a, b) < kRounding);
    if (scope == CorrectionScope::full) continue;  // else the memory itself is only its transpose
    at_two.law(NudgedForm::transposed, z, a);
    at_one.law(NudgedForm::transposed, z, b);
    CHECK(relative_error(a, b) < kRounding);
  }
}

TEST_CASE("derivatives of a block with a memory on two arrays", "[two-array memory]") {
  TwoArrayBlock two(0.5, CorrectionScope::full);
  auto& at = two.dynamics.linearize(z0);
  for (const Part part : {Part::all, Part::conservative, Part::nonconservative}) {
    check_adjoint(at, kTokens, kChannels, part);
  }
  const Matrix<double> v = random_matrix<double>(kTokens, kChannels, 6);
  Matrix<double> jv(v), f(v);
  at.jvp(v, jv);
  // See central_difference(): 3.7e-11 times ratios of order 10.
  CHECK(relative_error(central_difference(two.dynamics, z0, v), jv) < 1e-8);
  const Matrix<double> a = random_matrix<double>(kTokens, kChannels, 7);
  SummingSink<double> sink({&two.input, &two.output, &two.back});
  two.dynamics.linearize(z0).accumulate_parameter_gradient(a, 1.0, sink);
  const auto value = [&] {
    two.dynamics.force(z0, f);
    return a.cwiseProduct(f).sum();
  };
  // Truncation h² and rounding ε/h per entry of order 1 with h = 1e-5: 1e-10 and 6e-10.
  CHECK(relative_error(sink.sums[0], difference_quotients(two.input, 1e-5, value)) < 1e-8);
  CHECK(relative_error(sink.sums[2], difference_quotients(two.back, 1e-5, value)) < 1e-8);
}

TEST_CASE("only a correction of full scope turns the Jacobian of a mismatched memory into its transpose",
          "[two-array memory]") {
  const auto mismatch_of = [](CorrectionScope scope) {
    TwoArrayBlock two(0.5, scope);
    auto& at = two.dynamics.linearize(z0);
    const Matrix<double> v = random_matrix<double>(kTokens, kChannels, 6);
    const double h = 1e-5;
    const Matrix<double> ahead = z0 + h * v, behind = z0 - h * v;
    Matrix<double> f(z0), g(z0), jtv(z0);
    at.law(NudgedForm::corrected, ahead, f);
    at.law(NudgedForm::corrected, behind, g);
    at.vjp(v, jtv);
    return relative_error((f - g) / (2 * h), jtv);
  };
  CHECK(mismatch_of(CorrectionScope::full) < 1e-8);       // central differences, as above
  CHECK(mismatch_of(CorrectionScope::attention) > 0.02);  // the antisymmetric part of the memory stays
}
