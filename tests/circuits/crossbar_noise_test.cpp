// SPDX-License-Identifier: Apache-2.0
// Read noise drawn at the output against the closed form and against noise drawn per device.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr Index kIn = 8;
constexpr Index kOut = 5;
constexpr int kReads = 4000;

CrossbarSpec noisy() {
  CrossbarSpec spec;
  spec.device.read_noise = 0.02;
  return spec;
}

Matrix<double> weights() {
  Matrix<double> w(kIn, kOut);
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = std::sin(static_cast<double>(i));
  return w;
}

Matrix<double> drive(Index n, Index width) {
  Matrix<double> x(n, width);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = std::cos(0.3 * static_cast<double>(i));
  return x;
}

/// kReads noise vectors, one per row: noisy minus exact read.
Matrix<double> sample(const Crossbar<double>& crossbar, bool transposed, double interval) {
  const Index width = transposed ? kOut : kIn;
  const Index sensed = transposed ? kIn : kOut;
  const Matrix<double> x = drive(1, width);
  Matrix<double> out(kReads, sensed);
  ReadContext read{};
  read.seed = 42;
  read.relaxation = {interval, interval};
  Matrix<double> y(1, sensed);
  for (int r = 0; r < kReads; ++r) {
    if (transposed) {
      crossbar.transposed(x, y, {0, kOut}, Store::assign, read);
      out.row(r) = y - x * crossbar.weights().transpose();
    } else {
      crossbar.forward(x, y, {0, kOut}, Store::assign, read);
      out.row(r) = y - x * crossbar.weights();
    }
  }
  return out;
}

/// Kolmogorov–Smirnov distance of two samples of equal size.
double ks_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double distance = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    (a[i] < b[j] ? i : j) += 1;
    distance =
        std::max(distance, std::abs(static_cast<double>(i) - static_cast<double>(j)) / static_cast<double>(a.size()));
  }
  return distance;
}

}  // namespace

TEST_CASE("read noise has the variance of independent device noise, both ways", "[circuits][statistics]") {
  const Crossbar<double> crossbar(noisy(), weights(), 0, 1);
  const double per_weight = std::sqrt(2.0) * 0.02 * crossbar.w_max();
  for (const bool transposed : {false, true}) {
    for (const double interval : {1.0, 0.25, 4.0}) {
      const Matrix<double> noise = sample(crossbar, transposed, interval);
      const double sigma = per_weight * drive(1, transposed ? kOut : kIn).norm() / std::sqrt(interval);
      const Matrix<double> standard = noise / sigma;
      // Sums of squares are χ²: 5 standard deviations √(2/N), false alarm 6e-7 each (48 comparisons: 3e-5).
      for (Index j = 0; j < noise.cols(); ++j) {
        CHECK(std::abs(standard.col(j).squaredNorm() / kReads - 1) <= 5 * std::sqrt(2.0 / kReads));
        CHECK(std::abs(standard.col(j).mean()) <= 5 / std::sqrt(kReads));
        for (Index k = 0; k < j; ++k) {
          CHECK(std::abs(standard.col(j).dot(standard.col(k))) / kReads <= 5 / std::sqrt(kReads));
        }
      }
      // Successive reads are independent.
      const auto first = standard.col(0);
      CHECK(std::abs(first.head(kReads - 1).dot(first.tail(kReads - 1))) / kReads <= 5 / std::sqrt(kReads));
    }
  }
}

TEST_CASE("noise at the output is distributed as noise on every device", "[circuits][statistics]") {
  const Crossbar<double> crossbar(noisy(), weights(), 0, 1);
  const Matrix<double> noise = sample(crossbar, false, 1.0);
  const Matrix<double> x = drive(1, kIn);
  const double sigma_S = 0.02 * CrossbarSpec{}.device.window_S();
  std::mt19937_64 engine(17);
  std::normal_distribution<double> normal(0.0, sigma_S);
  std::vector<double> naive;
  for (int r = 0; r < kReads; ++r) {
    double current = 0;
    for (Index i = 0; i < kIn; ++i) current += x(0, i) * (normal(engine) - normal(engine));
    naive.push_back(current / crossbar.siemens_per_weight());
  }
  // Two-sample Kolmogorov–Smirnov: P(D √(N/2) > c) → 2 exp(−2c²); c = 2.69 has a false-alarm rate of 1e-6.
  for (Index j = 0; j < kOut; ++j) {
    std::vector<double> drawn;
    for (int r = 0; r < kReads; ++r) drawn.push_back(noise(r, j));
    CHECK(ks_distance(drawn, naive) * std::sqrt(kReads / 2.0) <= 2.69);
  }
}

TEST_CASE("a read is a pure function of its context", "[circuits]") {
  const Crossbar<double> crossbar(noisy(), weights(), 0, 1);
  const Crossbar<double> other_array(noisy(), weights(), 1, 1);
  const Matrix<double> x = drive(3, kIn);
  const auto read_at = [&](const Crossbar<double>& array, ReadContext context) {
    Matrix<double> y(3, kOut);
    array.forward(x, y, {0, kOut}, Store::assign, context);
    return y;
  };
  ReadContext base;
  base.seed = 3;
  base.step = 7;
  base.sequence = 2;
  base.phase = 1;
  base.read = 5;
  CHECK((read_at(crossbar, base) == read_at(crossbar, base)));
  std::vector<ReadContext> others(5, base);
  others[0].seed = 4;
  others[1].step = 8;
  others[2].sequence = 3;
  others[3].phase = 2;
  others[4].read = 6;
  std::set<double> seen = {read_at(crossbar, base)(0, 0), read_at(other_array, base)(0, 0)};
  for (const ReadContext& other : others) seen.insert(read_at(crossbar, other)(0, 0));
  CHECK(seen.size() == 7);
}

TEST_CASE("noise off: exact reads, and the stream stays aligned", "[circuits]") {
  const Crossbar<double> crossbar(noisy(), weights(), 0, 1);
  const Matrix<double> x = drive(3, kIn);
  Matrix<double> y(3, kOut);
  ReadContext quiet;
  quiet.policy = ReadPolicy::all_ideal();
  crossbar.forward(x, y, {0, kOut}, Store::assign, quiet);
  CHECK(quiet.read == 1);
  Matrix<double> exact(3, kOut);
  multiply<double>(x, crossbar.weights(), exact);
  CHECK((y == exact));
  Matrix<double> second(3, kOut);
  Matrix<double> expected(3, kOut);
  quiet.policy = {};
  crossbar.forward(x, second, {0, kOut}, Store::assign, quiet);
  ReadContext loud;
  crossbar.forward(x, expected, {0, kOut}, Store::assign, loud);
  crossbar.forward(x, expected, {0, kOut}, Store::assign, loud);
  CHECK((second == expected));
}

TEST_CASE("Store::add keeps what was there", "[circuits]") {
  const Crossbar<double> crossbar(noisy(), weights(), 0, 1);
  const Matrix<double> x = drive(3, kIn);
  Matrix<double> y(3, kOut);
  Matrix<double> sum = Matrix<double>::Constant(3, kOut, 2.0);
  ReadContext a;
  ReadContext b;
  crossbar.forward(x, y, {0, kOut}, Store::assign, a);
  crossbar.forward(x, sum, {0, kOut}, Store::add, b);
  CHECK((sum.array() - 2 - y.array()).abs().maxCoeff() <= 1e-14);  // two roundings of numbers below 30
}
