// SPDX-License-Identifier: Apache-2.0
#include "circuits/sample_hold.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr Index kRows = 200, kCols = 50;

Matrix<double> ones() { return Matrix<double>::Ones(1, kCols); }

double mean_square(const Matrix<double>& m) { return m.squaredNorm() / static_cast<double>(m.size()); }

/// Five standard deviations of the mean square of 10⁴ normal numbers, √(2/N): one false alarm in 10⁶.
const double kFiveSigma = 5 * std::sqrt(2.0 / (kRows * kCols));

}  // namespace

TEST_CASE("a held state has the noise kT/C of its capacitor, and that of its node once per sample", "[hold]") {
  CircuitSpec circuit;
  circuit.temperature_K = 300;
  circuit.read_voltage_V = 0.2;
  // kT/C of 100 fF at 300 K: √(1.380649e-23·300/1e-13) = 203.5 µV
  CHECK(sampled_noise(circuit, 100e-15) * 0.2 == Approx(203.5e-6).epsilon(1e-3));
  const ReadContext read;
  SampleHold<double> hold(kRows, ones(), {.noise = 0.3, .node_noise = 0.4}, 7, read);
  Matrix<double> z = Matrix<double>::Zero(kRows, kCols);
  hold.take(z, 1);
  CHECK(mean_square(z) == Approx(0.25).epsilon(kFiveSigma));
  Matrix<double> averaged = Matrix<double>::Zero(kRows, kCols);
  hold.take(averaged, 4);
  CHECK(mean_square(averaged) == Approx(0.09 + 0.16 / 4).epsilon(kFiveSigma));
  // Fresh: the two have nothing in common but chance, 1/√N of it.
  CHECK(std::abs(z.cwiseProduct(averaged).sum()) / (z.norm() * averaged.norm()) < 5 / std::sqrt(kRows * kCols));
}

TEST_CASE("the offset of a hold is the same in every phase and falls out of their difference", "[hold]") {
  const ReadContext read;
  SampleHold<double> hold(kRows, 2 * ones(), {.offset = 0.1}, 7, read);
  const Matrix<double> before = random_matrix<double>(2 * kRows, kCols, 1);
  Matrix<double> z = before;
  hold.take(z, 1);
  const Matrix<double> offset = z - before;
  CHECK(mean_square(offset) == Approx(0.04).epsilon(std::sqrt(2.0) * kFiveSigma));
  CHECK((offset.topRows(kRows) - offset.bottomRows(kRows)).norm() <= 1e-14 * before.norm());
}

TEST_CASE("an example's holds are a function of its place, and a converter rounds them", "[hold]") {
  ReadContext read;
  read.step = 3;
  SampleHold<float> hold(4, Matrix<float>::Ones(1, 3), {.noise = 0.1, .adc = {4, 2.0}}, 7, read);
  Matrix<float> first = Matrix<float>::Constant(4, 3, 0.5F), again = first, other = first;
  hold.take(first, 1);
  hold.take(other, 1);
  hold.bind();
  hold.take(again, 1);
  CHECK(first == again);
  CHECK(first != other);
  const Matrix<float> steps = first * 3.5F;  // Δ = 2R/(2^bits − 2) = 2/7
  CHECK((steps.array() - steps.array().round()).abs().maxCoeff() < 1e-5F);
}
