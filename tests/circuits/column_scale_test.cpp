// SPDX-License-Identifier: Apache-2.0
// A scale per column: small columns keep their digits, both directions read one matrix, gradients are those of it.
#include <cmath>

#include "circuits/crossbar/column_scale.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/linear_map_factory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using Catch::Contains;
using test::random_matrix;
using test::relative_error;

namespace {

constexpr Index kRows = 40, kCols = 4;

/// Columns of rms 1, 0.1, 0.01 and 0.001.
Matrix<double> falling_columns() {
  Matrix<double> w = random_matrix<double>(kRows, kCols, 1, 1);
  for (Index j = 0; j < kCols; ++j) w.col(j) *= std::pow(10.0, -static_cast<double>(j));
  return w;
}

CrossbarSpec spec_with(ScalePolicy scale) {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.mapping.scale = scale;
  return spec;
}

class Sum final : public GradientSink<double> {
 public:
  Matrix<double> gradient = Matrix<double>::Zero(kRows, kCols);
  void accumulate(int, Columns columns, double scale, ConstMatrixRef<double> x, ConstMatrixRef<double> y) override {
    gradient.middleCols(columns.begin, columns.count) += scale * (x.transpose() * y);
  }
  void accumulate(int, double scale, ConstMatrixRef<double> all) override { gradient += scale * all; }
};

Matrix<double> read_of(const LinearMap<double>& map, ReadDirection way, const Matrix<double>& x) {
  ReadContext context;
  Matrix<double> out(x.rows(), way == ReadDirection::forward ? kCols : kRows);
  map.read(way, x, out, map.all_columns(), Store::assign, context);
  return out;
}

}  // namespace

TEST_CASE("column scale: a programming error is one of every column, not of the largest", "[circuits]") {
  const Matrix<double> w = falling_columns();
  const auto column_errors = [&](ScalePolicy scale) {
    CrossbarSpec spec = spec_with(scale);
    spec.device.programming_error = 0.02;
    const auto map = make_linear_map<double>(spec, w, 0, 7);
    return Eigen::ArrayXd((map->weights() - w).colwise().norm().array().transpose() /
                          w.colwise().norm().array().transpose());
  };
  const Eigen::ArrayXd one = column_errors(ScalePolicy::keep), own = column_errors(ScalePolicy::column);
  // An error of 2 % of the window of either device of a pair is one of 2 % sqrt(2) w_max of the weight, w_max twice the
  // largest of 40 normal weights, about 2.3 rms: 13 % of the rms of a column, and 1000 times of the last one's with one scale.
  CHECK(one(kCols - 1) > 30);
  CHECK(own.maxCoeff() < 0.3);
  CHECK(own.minCoeff() > 0.03);
}

TEST_CASE("column scale: reads and gradients are those of the matrix that it shows", "[circuits]") {
  CrossbarSpec spec = spec_with(ScalePolicy::column);
  spec.device.curve.sinh_V = 0.3;  // curved devices
  spec.periphery.forward.amplifier.saturation = 3;
  spec.periphery.transposed.amplifier.saturation = 2;
  const Matrix<double> w = falling_columns();
  const auto array = make_linear_map<double>(spec, w, 0, 7);
  const auto circuit = array->noise_free();
  CHECK(relative_error(array->weights(), w) < 1e-12);
  for (const ReadDirection way : {ReadDirection::forward, ReadDirection::transposed}) {
    const bool forward = way == ReadDirection::forward;
    CAPTURE(forward);
    const Matrix<double> x = random_matrix<double>(3, forward ? kRows : kCols, 2, 0.3);
    const Matrix<double> u = random_matrix<double>(3, forward ? kCols : kRows, 3);
    CHECK(relative_error(read_of(*circuit, way, x), read_of(*array, way, x)) < 1e-13);
    ReadContext exact;
    exact.exact = true;
    // D v and its adjoint, against central differences of the read: h^2 and epsilon/h are below 1e-9 at h = 1e-5.
    const double h = 1e-5;
    const Matrix<double> v = random_matrix<double>(3, x.cols(), 4);
    Matrix<double> jvp(3, u.cols()), vjp(3, x.cols());
    array->derivative(way, Derivative::jvp, x, v, jvp, array->all_columns(), Store::assign, exact);
    array->derivative(way, Derivative::vjp, x, u, vjp, array->all_columns(), Store::assign, exact);
    const Matrix<double> moved = (read_of(*circuit, way, x + h * v) - read_of(*circuit, way, x - h * v)) / (2 * h);
    CHECK(relative_error(jvp, moved) < 1e-8);
    CHECK((jvp.cwiseProduct(u)).sum() == Approx(vjp.cwiseProduct(v).sum()).epsilon(1e-12));
    // The gradient along a change of every column, of the size of that column.
    Sum sum;
    array->correlate(way, x, u, array->all_columns(), 1, 0, sum, exact);
    Matrix<double> change = random_matrix<double>(kRows, kCols, 5);
    for (Index j = 0; j < kCols; ++j) change.col(j) *= std::pow(10.0, -static_cast<double>(j));
    const auto cost = [&](double share) {
      const auto other = array->noise_free();
      other->program(w + share * change);
      return read_of(*other, way, x).cwiseProduct(u).sum();
    };
    const double slope = (cost(h) - cost(-h)) / (2 * h);
    CHECK(sum.gradient.cwiseProduct(change).sum() == Approx(slope).epsilon(1e-8));
  }
}

TEST_CASE("column scale: straight gradients are exact, updates reach every column", "[circuits]") {
  const Matrix<double> w = falling_columns();
  CrossbarSpec spec = spec_with(ScalePolicy::column);
  spec.device.model = "ideal";
  const auto array = make_linear_map<double>(spec, w, 0, 7);
  const Matrix<double> x = random_matrix<double>(3, kRows, 2), u = random_matrix<double>(3, kCols, 3);
  for (const ReadDirection way : {ReadDirection::forward, ReadDirection::transposed}) {
    Sum sum;
    const bool forward = way == ReadDirection::forward;
    array->correlate(way, forward ? x : u, forward ? u : x, array->all_columns(), 1, 0, sum, {});
    CHECK(relative_error(sum.gradient, x.transpose() * u) < 1e-14);
  }
  // Ideal devices take a change exactly, to rounding of the conductance.
  const Matrix<double> delta = 0.01 * w;
  array->apply_update(delta);
  for (Index j = 0; j < kCols; ++j) CHECK(relative_error(array->weights().col(j), 1.01 * w.col(j)) < 1e-12);
}

TEST_CASE("column scale: what it does not go with is refused", "[circuits]") {
  CrossbarSpec spec = spec_with(ScalePolicy::column);
  CHECK_THROWS_WITH(Crossbar<double>(spec, falling_columns(), 0, 1), Contains("crossbar.scale = column"));
  spec.mapping.w_max = 2;
  CHECK_THROWS_WITH(spec.validate(), Contains("crossbar.w_max = 2"));
  spec.mapping.w_max = 0;
  spec.periphery.directions = Directions::simultaneous;
  CHECK_THROWS_WITH(spec.validate(), Contains("sequential"));
  Matrix<double> zero = Matrix<double>::Zero(3, 2);
  CHECK(column_scales(zero) == Matrix<double>::Ones(1, 2));
  zero(1, 0) = -4;
  CHECK(column_scales(zero) == Matrix<double>::Constant(1, 2, 4));
}
