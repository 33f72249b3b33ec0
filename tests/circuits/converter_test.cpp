// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/converter.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <set>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {

TEST_CASE("converter: a fixed full scale has 2^bits - 1 equidistant levels and clips", "[converter]") {
  Matrix<double> x(1, 4001);
  for (Index i = 0; i < x.cols(); ++i) x(0, i) = -2 + 0.001 * static_cast<double>(i);
  const Matrix<double> original = x;
  const ConverterSpec spec{4, 1.5};
  convert<double>(spec, x);
  const std::set<double> levels(x.data(), x.data() + x.size());
  CHECK(levels.size() == 15);
  CHECK(x.maxCoeff() == 1.5);
  CHECK(x.minCoeff() == -1.5);
  CHECK(levels.count(0.0) == 1);
  const double half_step = 1.5 / 14;  // Δ/2 with Δ = 2R/(2^4 − 2)
  for (Index i = 0; i < x.cols(); ++i) {
    if (std::abs(original(0, i)) <= 1.5) CHECK(std::abs(x(0, i) - original(0, i)) <= half_step * (1 + 1e-12));
  }
}

// A comparator: two levels, the middles of the halves of the range, so that no value within it is off by more than half of it.
TEST_CASE("converter: one bit is a comparator", "[converter]") {
  Matrix<double> x(2, 5);
  x << -4, -0.1, 0, 0.1, 3, 0, 0, 0, 0, 0;
  Matrix<double> fixed = x, ranged = x;
  CHECK(convert<double>({1, 1.5}, fixed) == 2);
  CHECK(fixed.row(0) == (Matrix<double>(1, 5) << -0.75, -0.75, 0.75, 0.75, 0.75).finished());
  convert<double>({1, 0}, ranged);
  CHECK(ranged.row(0) == (Matrix<double>(1, 5) << -2, -2, 2, 2, 2).finished());
  CHECK(ranged.row(1).isZero(0));  // nothing to range by
  CHECK_NOTHROW(ConverterSpec{1, 0}.validate("crossbar.forward_adc"));
  CHECK_THROWS_WITH((ConverterSpec{-1, 0}.validate("crossbar.forward_adc")),
                    Catch::Contains("crossbar.forward_adc_bits = -1"));
}

TEST_CASE("converter: autoranging keeps the relative error of small signals", "[converter]") {
  const Matrix<double> x = test::random_matrix<double>(3, 500, 1, 1.0);
  for (const double scale : {1.0, 1e-6}) {
    Matrix<double> ranged = scale * x;
    convert<double>({8, 0}, ranged);
    Matrix<double> fixed = scale * x;
    convert<double>({8, 4.0}, fixed);
    // Uniform rounding error Δ/√12 with Δ = 2 max|x|/254 and max|x| ≈ 3.3 rms: 0.75 % of the rms; bounded by twice that.
    CHECK((ranged - scale * x).norm() / (scale * x).norm() < 0.015);
    if (scale < 1e-3) CHECK(fixed.norm() == 0);  // below half a step of the fixed full scale nothing is left
  }
}

TEST_CASE("converter: rounding noise of a read is that of uniform errors", "[converter]") {
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.periphery.forward.adc = {6, 3.0};
  const Matrix<double> w = test::random_matrix<double>(64, 64, 2, 0.125);
  const Crossbar<double> quantised(spec, w, 0, 1);
  spec.periphery.forward.adc = {};
  const Crossbar<double> exact(spec, w, 0, 1);
  const Matrix<double> x = test::random_matrix<double>(200, 64, 3, 0.5);
  Matrix<double> a = Matrix<double>::Zero(200, 64);
  Matrix<double> b = a;
  ReadContext read;
  quantised.forward(x, a, quantised.all_columns(), Store::assign, read);
  exact.forward(x, b, exact.all_columns(), Store::assign, read);
  const double step = 2 * 3.0 / 62;
  // 12800 errors, uniform in ±Δ/2: the mean square is Δ²/12 with relative standard deviation √(4/5/12800) = 0.8 %; 5 sigma.
  CHECK((a - b).squaredNorm() / 12800 == Approx(step * step / 12).epsilon(0.04));
  Matrix<double> sum = b;
  quantised.forward(x, sum, quantised.all_columns(), Store::add, read);
  CHECK((sum - b - a).norm() < 1e-12 * b.norm());
}

TEST_CASE("converter: without rounding a full scale still clips", "[converter]") {
  const Matrix<double> x = test::random_matrix<double>(3, 50, 4, 2.0);
  Matrix<double> clipped = x;
  convert<double>({0, 1.5}, clipped);
  CHECK(clipped == Matrix<double>(x.cwiseMax(-1.5).cwiseMin(1.5)));
  CHECK(clipped != x);
  convert<double>({0, 0}, clipped);
  CHECK(clipped.cwiseAbs().maxCoeff() == 1.5);
  // Nothing is converted, so nothing is paid for.
  CrossbarSpec spec;
  spec.periphery.forward.adc = {0, 1.5};
  const Crossbar<double> array(spec, test::random_matrix<double>(50, 4, 5), 0, 1);
  ReadMeter meter;
  ReadContext read;
  read.meter = &meter;
  Matrix<double> y(3, 4);
  array.forward(x, y, array.all_columns(), Store::assign, read);
  CHECK(y.cwiseAbs().maxCoeff() == 1.5);
  CHECK(meter.total().adc_conversions.total() == 0);
}

TEST_CASE("converter: bad input", "[converter]") {
  CHECK_THROWS_AS((ConverterSpec{25, 0}.validate("crossbar.forward_adc")), UserError);
  CHECK_THROWS_WITH((ConverterSpec{30, 0}.validate("crossbar.forward_adc")),
                    Catch::Contains("crossbar.forward_adc_bits = 30"));
  CHECK_THROWS_AS((ConverterSpec{8, -1}.validate("crossbar.forward_dac")), UserError);
}

TEST_CASE("converter: the rows of the config allow what the converter takes, and nothing else", "[converter]") {
  int rows = 0;
  for (const ParamRow& row : crossbar_section().rows()) {
    if (row.key.find("_bits") == std::string::npos) continue;
    ++rows;
    CHECK(describe_values(row) == "ideal or whole number in [1, 24]");
    for (int bits = -1; bits <= 26; ++bits) {
      CAPTURE(row.key, bits);
      bool taken = true;
      try {
        ConverterSpec{bits, 0}.validate(row.key);
      } catch (const UserError&) {
        taken = false;
      }
      CHECK(contains(row.range, bits) == taken);
    }
  }
  CHECK(rows == 5);  // both directions of an array, and the states of the phases
}

}  // namespace nudge
