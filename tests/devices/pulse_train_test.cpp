// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "devices/pulse_train.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

template <class S>
struct Counts {
  Matrix<S> up, down;
  TrainReport report;
};

template <class S>
Counts<S> count(const Matrix<S>& x, const Matrix<S>& y, double c, int max_length, int threads = 1,
                std::uint32_t first = 0) {
  Counts<S> out{Matrix<S>::Zero(x.cols(), y.cols()), Matrix<S>::Zero(x.cols(), y.cols()), {}};
  out.report = count_coincidences<S>(x, y, c, max_length, {5, 1, 9, first}, threads, out.up, out.down);
  return out;
}

template <class S>
Matrix<S> uniform(Index rows, Index cols, std::uint32_t which) {
  Matrix<S> out(rows, cols);
  fill_uniform<S>({2, Purpose::synthetic_data, which}, 0, 0, {out.data(), static_cast<std::size_t>(out.size())});
  return (S(2) * out.array() - S(1)).matrix();
}

}  // namespace

TEMPLATE_TEST_CASE("trains that always fire count exactly, with the sign of the product", "[devices]", float, double) {
  using S = TestType;
  // 150 samples fill two blocks and a part, 13 columns a word and a part; 41 slots are six byte planes, so that counts
  // of 150 · 41 pass through the byte sums many times.
  const Matrix<S> x = (uniform<S>(150, 5, 0).array() > 0).select(Matrix<S>::Ones(150, 5), -Matrix<S>::Ones(150, 5));
  const Matrix<S> y = (uniform<S>(150, 13, 1).array() > 0).select(Matrix<S>::Ones(150, 13), -Matrix<S>::Ones(150, 13));
  for (const double c : {41.0, -41.0}) {
    const Counts<S> counts = count<S>(x, y, c, 64);
    const Matrix<S> net = static_cast<S>(c) * x.transpose() * y;
    CHECK((counts.up - counts.down == net));
    CHECK((counts.up + counts.down == Matrix<S>::Constant(5, 13, S(150 * 41))));
    CHECK(counts.report.samples == 150);
    CHECK(counts.report.slots == 150 * 41);
    CHECK(counts.report.clipped == 0);
  }
}

TEST_CASE("the mean number of pulses is the product, its variance binomial", "[devices][statistics]") {
  // One sample value, many draws: x = (1, 0.5, −0.25), y = (0.8, −0.4), c = 8 / 0.8 = 10: BL = 8 slots, A max x = 1.
  constexpr Index draws = 20000;
  Matrix<double> x(draws, 3);
  x.rowwise() = Eigen::RowVector3d(1, 0.5, -0.25);
  Matrix<double> y(draws, 2);
  y.rowwise() = Eigen::RowVector2d(0.8, -0.4);
  const Counts<double> counts = count<double>(x, y, 10, 31);
  CHECK(counts.report.slots == 8 * draws);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 2; ++j) {
      const double p = std::abs(x(0, i) * y(0, j)) / 0.8;
      const double mean = 8 * p * draws;
      const double got = x(0, i) * y(0, j) > 0 ? counts.up(i, j) : counts.down(i, j);
      CHECK((x(0, i) * y(0, j) > 0 ? counts.down(i, j) : counts.up(i, j)) == 0);
      // 5 standard errors (p = 1: exact).
      CHECK(std::abs(got - mean) <= 5 * std::sqrt(mean * (1 - p)));
    }
  }
  // Variance: 20000 groups of one sample each.
  double sum = 0, squares = 0;
  for (std::uint32_t n = 0; n < 2000; ++n) {
    const double k = count<double>(x.topRows(1), y.topRows(1), 10, 31, 1, 100000 + n).down(1, 1);
    sum += k;
    squares += k * k;
  }
  const double variance = squares / 2000 - sum * sum / 4e6;
  // Binomial(8, 1/4): 1.5; the standard error of a variance is about √(2/2000) of it.
  CHECK(variance == Approx(1.5).epsilon(5 * std::sqrt(2.0 / 2000)));
}

TEST_CASE("devices of a row share its train", "[devices]") {
  // Columns that fire in every slot copy the row's train: equal counts along a row, different from row to row.
  const Matrix<float> x = Matrix<float>::Constant(40, 6, 0.5F);
  Matrix<float> wide = x;
  wide.col(0).setOnes();  // sets the scale: p = 1 there, 1/2 elsewhere
  const Matrix<float> y = Matrix<float>::Ones(40, 20);
  const Counts<float> counts = count<float>(wide, y, 16, 31);
  for (Index i = 0; i < 6; ++i) CHECK((counts.up.row(i).array() == counts.up(i, 0)).all());
  CHECK(counts.up(0, 0) == 40 * 16);
  CHECK(counts.up(1, 0) != counts.up(2, 0));
  // Binomial(640, 1/2): within 6 standard deviations of 320.
  CHECK(std::abs(counts.up(1, 0) - 320) < 6 * 12.7F);
}

TEST_CASE("counts are the same for any number of threads and any cut into calls", "[devices]") {
  const Matrix<float> x = uniform<float>(200, 40, 3);
  const Matrix<float> y = uniform<float>(200, 33, 4);
  const Counts<float> one = count<float>(x, y, 10, 31, 1);
  const Counts<float> three = count<float>(x, y, 10, 31, 3);
  CHECK((one.up == three.up));
  CHECK((one.down == three.down));
  Matrix<float> up = Matrix<float>::Zero(40, 33);
  Matrix<float> down = up;
  for (Index n = 0; n < 200; n += 50) {
    const auto part = count<float>(x.middleRows(n, 50), y.middleRows(n, 50), 10, 31, 1, static_cast<std::uint32_t>(n));
    up += part.up;
    down += part.down;
  }
  CHECK((up == one.up));
  CHECK((down == one.down));
}

TEST_CASE("trains that are too short are reported, zeros and NaN", "[devices]") {
  const Matrix<double> x = Matrix<double>::Ones(3, 2);
  Counts<double> counts = count<double>(x, x, 100, 31);
  CHECK(counts.report.clipped == 3);
  CHECK((counts.up == Matrix<double>::Constant(2, 2, 93)));
  counts = count<double>(Matrix<double>::Zero(3, 2), x, 100, 31);
  CHECK(counts.report.slots == 0);
  CHECK(counts.up.isZero(0));
  Matrix<double> bad = x;
  bad(1, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(count<double>(bad, x, 10, 31).up(0, 0)));
}
