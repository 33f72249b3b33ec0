// SPDX-License-Identifier: Apache-2.0
#include "circuits/correction_path.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "circuits/crossbar/crossbar.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Sums of some hundred products, each rounded.
constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();

const BlockSize kSize{5, 6, 2, 9};

/// Both forms of the nudged force through a path, and what they are made of, at two copies around a point.
struct Probe {
  Probe(TinyBlock<double>& tiny, const Matrix<double>& z0, CorrectionFilter<double>* filter = nullptr)
      : v(random_matrix<double>(2 * kSize.tokens, kSize.channels, 52, 0.1)),
        z(z0.replicate(2, 1) + v),
        corrected(z.rows(), z.cols()),
        transposed(corrected),
        force(corrected),
        conservative(corrected),
        jv(corrected),
        jtv(corrected) {
    Linearization<double>& at = tiny.dynamics.linearize(z0);
    tiny.dynamics.force(z, force);
    tiny.dynamics.force(z, conservative, Part::conservative);
    at.jvp(v, jv, Part::nonconservative);
    at.vjp(v, jtv, Part::nonconservative);
    NudgedLaw<double> law;
    const NudgedPoint<double> point{&tiny.dynamics, &at, &z0, filter};
    law.corrected(point, z, corrected);
    law.transposed(point, z, transposed);
  }
  Matrix<double> v, z, corrected, transposed, force, conservative, jv, jtv;
};

CorrectionPath<double> path_of(TinyBlock<double>& tiny, const CorrectionSpec& spec) {
  return {kSize.tokens, kSize.channels, spec, 2, 7, tiny.dynamics.read()};
}

}  // namespace

TEST_CASE("an ideal correction path changes nothing", "[correction]") {
  TinyBlock<double> tiny(kSize);
  CorrectionPath<double> path = path_of(tiny, {});
  const Matrix<double> z0 = random_matrix<double>(kSize.tokens, kSize.channels, 51);
  const Probe through(tiny, z0, &path);
  const Probe direct(tiny, z0);
  CHECK(relative_error(through.corrected, direct.corrected) < kRounding);
  CHECK(relative_error(through.transposed, direct.transposed) < kRounding);
}

TEST_CASE("gain error and offset of the correction path are its formula", "[correction]") {
  TinyBlock<double> tiny(kSize);
  const Matrix<double> z0 = random_matrix<double>(kSize.tokens, kSize.channels, 51);
  const Probe ideal(tiny, z0);
  CorrectionSpec spec;
  spec.gain_error = -0.25;
  CorrectionPath<double> gain = path_of(tiny, spec);
  const Probe scaled(tiny, z0, &gain);
  CHECK(relative_error(scaled.corrected, ideal.force - 0.75 * (ideal.jv - ideal.jtv)) < kRounding);
  CHECK(relative_error(scaled.transposed, ideal.conservative + 0.75 * ideal.jtv) < kRounding);

  // What iterates on products by themselves (linear_adjoint) passes the same path.
  NudgedLaw<double> law;
  Linearization<double>& at = tiny.dynamics.linearize(z0);
  Matrix<double> all(ideal.v), conservative(ideal.v);
  law.vjp({&tiny.dynamics, &at, &z0, &gain}, ideal.v, all);
  at.vjp(ideal.v, conservative, Part::conservative);
  CHECK(relative_error(all, conservative + 0.75 * ideal.jtv) < kRounding);

  spec = {};
  spec.offset = 0.3;
  CorrectionPath<double> shifted = path_of(tiny, spec);
  const Probe moved(tiny, z0, &shifted);
  const Matrix<double> offset = moved.transposed - ideal.transposed;
  // Static per node: the same in both copies, and again in the next linearisation.
  CHECK((offset.topRows(kSize.tokens) - offset.bottomRows(kSize.tokens)).norm() < kRounding);
  CHECK((Probe(tiny, z0, &shifted).transposed - moved.transposed).norm() < kRounding);
  // 30 normal numbers of deviation 0.3: their rms is off by 0.3/√60 per standard error; 4 of them.
  const double rms = offset.topRows(kSize.tokens).norm() / std::sqrt(30.0);
  CHECK(std::abs(rms - 0.3) < 4 * 0.3 / std::sqrt(60.0));
}

TEST_CASE("a delayed correction sees the displacement of some steps ago", "[correction]") {
  TinyBlock<double> tiny(kSize);
  CorrectionSpec spec;
  spec.delay = 0.5;
  CorrectionPath<double> path = path_of(tiny, spec);
  tiny.dynamics.set_read_timing({0.25, 0.25});  // two steps
  const Matrix<double> z0 = random_matrix<double>(kSize.tokens, kSize.channels, 51);
  auto& at = tiny.dynamics.linearize(z0);
  NudgedLaw<double> law;
  for (int phase = 0; phase < 2; ++phase) {  // the second begins as the first did
    path.restart();
    std::vector<Matrix<double>> v;
    for (std::uint64_t n = 0; n < 5; ++n) {
      v.push_back(random_matrix<double>(2 * kSize.tokens, kSize.channels, 60 + n, 0.1));
      const Matrix<double> z = z0.replicate(2, 1) + v.back();
      Matrix<double> f(z), expected(z), back = Matrix<double>::Zero(z.rows(), z.cols());
      law.transposed({&tiny.dynamics, &at, &z0, &path}, z, f);
      tiny.dynamics.force(z, expected, Part::conservative);
      if (n >= 2) at.vjp(v[n - 2], back, Part::nonconservative);
      CHECK(relative_error(f, expected + back) < kRounding);
    }
  }
}

TEST_CASE("the correction path's noise has the stated size and falls with the read interval", "[correction]") {
  TinyBlock<double> tiny(kSize);
  CorrectionSpec spec;
  spec.noise = 0.05;
  CorrectionPath<double> path = path_of(tiny, spec);
  tiny.dynamics.set_read_timing({0.25, 0.25});
  const Matrix<double> z0 = random_matrix<double>(kSize.tokens, kSize.channels, 51);
  const Probe ideal(tiny, z0);
  auto& at = tiny.dynamics.linearize(z0);
  NudgedLaw<double> law;
  double sum = 0;
  constexpr int reads = 400;
  for (int n = 0; n < reads; ++n) {
    Matrix<double> f(ideal.z);
    law.transposed({&tiny.dynamics, &at, &z0, &path}, ideal.z, f);
    sum += (f - ideal.transposed).squaredNorm();
  }
  // Variance of a node: (σ/√dt)² rms(Jᵀv)². 400 reads of 60 nodes: relative error of a variance √(2/24000) = 0.009; 4 of them.
  const double expected = 0.05 * 0.05 / 0.25 * ideal.jtv.squaredNorm() / 60.0;
  CHECK(std::abs(sum / (reads * 60.0) / expected - 1) < 4 * std::sqrt(2.0 / (60.0 * reads)));
  // The next example does not repeat it, the same example does.
  Matrix<double> first(ideal.z), again(ideal.z);
  path.bind();
  law.transposed({&tiny.dynamics, &at, &z0, &path}, ideal.z, first);
  path.bind();
  law.transposed({&tiny.dynamics, &at, &z0, &path}, ideal.z, again);
  CHECK(first == again);
}

TEST_CASE("arrays driven with the difference alone give the same force, and keep its digits through converters",
          "[correction]") {
  const auto transposed_error = [](NudgedDrive drive, int bits, double size) {
    const Matrix<double> z0 = random_matrix<double>(kSize.tokens, kSize.channels, 51);
    const Matrix<double> v = random_matrix<double>(2 * kSize.tokens, kSize.channels, 52, size);
    const Matrix<double> z = z0.replicate(2, 1) + v;
    TinyBlock<double> tiny(kSize);
    Matrix<double> exact(z), at_rest(z0), f(z), f0(z0);
    auto& reference = tiny.dynamics.linearize(z0);
    reference.law(NudgedForm::transposed, z, exact);
    reference.force(at_rest, Part::conservative);
    exact -= at_rest.replicate(2, 1);
    CrossbarSpec spec;
    spec.device.model = "ideal";
    for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) port->dac.bits = port->adc.bits = bits;
    Crossbar<double> input(spec, tiny.input.weights(), 0, 1), output(spec, tiny.output.weights(), 1, 1);
    const auto place = [&](SharedArray<double>& array) {
      array.place<CausalAttention<double>>(3 * kSize.channels, kSize.heads, kSize.gain, 1, output);
      array.place<HopfieldMemory<double>>(kSize.memories);
    };
    Circuit<double> block = one_node_circuit<double>(kSize.channels, place, 0, input, {kSize.gain, kSize.damping});
    block.set_nudged_drive(drive);
    CircuitDynamics<double> dynamics(block, kSize.tokens, 2);
    dynamics.bind(tiny.drive, ReadContext{});
    auto& at = dynamics.linearize(z0);
    at.law(NudgedForm::transposed, z, f);
    at.force(f0, Part::conservative);
    return (f - f0.replicate(2, 1) - exact).norm() / exact.norm();
  };
  // Without converters the two are one force; subtracting F(z₀) loses ‖F‖/‖v‖ ~ 100 of the digits.
  CHECK(transposed_error(NudgedDrive::state, 0, 0.01) < 100 * kRounding);
  CHECK(transposed_error(NudgedDrive::difference, 0, 0.01) < 100 * kRounding);
  // 8 bits, autoranged: a step is 1/127 of the largest entry of a drive, z of order 3 or v of order 0.003. Driven by z the
  // rounding errors are a thousand times larger than those of v: beyond the signal. Driven by v they stay near a percent.
  CHECK(transposed_error(NudgedDrive::state, 8, 0.001) > 1);
  CHECK(transposed_error(NudgedDrive::difference, 8, 0.001) < 0.03);
}

TEST_CASE("impossible correction paths are refused", "[correction]") {
  CorrectionSpec spec;
  spec.delay = -1;
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("correction.delay = -1"));
  spec = {};
  spec.gain_error = -1;
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("correction.gain_error = -1"));
}
