// SPDX-License-Identifier: Apache-2.0
// Slow noise of devices that moves from read to read: its share of the variance, and its correlation over the reads of a
// phase against the process.
#include <cmath>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/read_noise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

constexpr Index kIn = 6;
constexpr Index kOut = 3;
constexpr Index kRows = 4000;

/// 1/f noise of 5 processes, 0.1 µs to 1 ms, of which 0.1 µs and 1 µs move.
CrossbarSpec flicker_spec(MappingKind kind) {
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.device.flicker.noise = 0.02;
  spec.device.flicker.fastest_s = 1e-7;
  spec.device.flicker.slowest_s = 1e-3;
  spec.circuit.noise_within_phases_s = 5e-6;
  return spec;
}

Matrix<double> weights() { return test::random_matrix<double>(kIn, kOut, 1, 0.4); }

/// Noise of consecutive reads, a matrix (kRows, outputs) each.
std::vector<Matrix<double>> record(const Crossbar<double>& array, bool forward, const Matrix<double>& x,
                                   double duration, int reads) {
  const Matrix<double> many = x.replicate(kRows, 1);
  const Matrix<double> w = forward ? array.weights() : Matrix<double>(array.weights().transpose());
  const Matrix<double> exact = many * w;
  ReadMemory memory;
  ReadContext read;
  read.seed = 3;
  read.memory = &memory;
  read.relaxation = {0.5, duration};
  std::vector<Matrix<double>> all;
  for (int n = 0; n < reads; ++n) {
    Matrix<double> y(kRows, exact.cols());
    if (forward) {
      array.forward(many, y, array.all_columns(), Store::assign, read);
    } else {
      array.transposed(many, y, array.all_columns(), Store::assign, read);
    }
    all.push_back(y - exact);
  }
  return all;
}

/// Σ over the devices that an output sees of g² x², over k²; `common` is that of the reference devices.
Matrix<double> squares(const Crossbar<double>& array, MappingKind kind, bool forward, const Matrix<double>& x,
                       double& common) {
  const double k2 = array.siemens_per_weight() * array.siemens_per_weight();
  const Matrix<double> first = array.plus().cells().g.cwiseAbs2() / k2;
  const Matrix<double> second = array.minus().cells().g.cwiseAbs2() / k2;
  const Matrix<double> x2 = x.cwiseAbs2();
  const Matrix<double> both = kind == MappingKind::differential ? Matrix<double>(first + second) : first;
  Matrix<double> out = forward ? Matrix<double>(x2 * both) : Matrix<double>(x2 * both.transpose());
  common = 0;
  if (kind == MappingKind::reference_column && forward) common = (x2 * second)(0, 0);
  if (kind == MappingKind::reference_column && !forward) out += x.sum() * x.sum() * second.transpose();
  return out;
}

}  // namespace

TEST_CASE("moving noise: the variance and correlation over reads are those of the process", "[noise][statistics]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  const CrossbarSpec spec = flicker_spec(kind);
  const Crossbar<double> array(spec, weights(), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, forward ? kIn : kOut, 2, 0.7);
  double common = 0;
  const Matrix<double> of_devices = squares(array, kind, forward, x, common);
  const double q2 = 0.02 * 0.02 * std::log(10.0);  // Q² h, of each process
  constexpr int reads = 9;
  for (const double duration : {1.0, 12.0}) {  // 25 ns and 300 ns
    CAPTURE(duration);
    const auto noise = record(array, forward, x, duration, reads);
    // Means over one read of T: variance 2 (r − 1 + e^{−r})/r², covariance of reads m apart ((1 − e^{−r})/r)² e^{−(m−1)r}.
    std::vector<double> covariance(reads, 0);
    for (const double time : {1e-7, 1e-6}) {
      const double r = duration * spec.circuit.time_constant_s / time;
      covariance[0] += 2 * (r - 1 + std::exp(-r)) / (r * r);
      for (int m = 1; m < reads; ++m) {
        covariance[static_cast<std::size_t>(m)] += std::pow((1 - std::exp(-r)) / r, 2) * std::exp(-(m - 1) * r);
      }
    }
    for (Index j = 0; j < of_devices.cols(); ++j) {
      const double total = q2 * (of_devices(0, j) + common);
      for (const int m : {0, 1, 4, 8}) {
        // kRows pairs of correlated normals: standard deviation of a covariance √((1 + ρ²)/n) ≤ √(2/n) of the variance.
        const double measured = noise[0].col(j).dot(noise[static_cast<std::size_t>(m)].col(j)) / kRows;
        CHECK(std::abs(measured / total - covariance[static_cast<std::size_t>(m)]) <=
              5 * covariance[0] * std::sqrt(2.0 / kRows));
      }
    }
    // Outputs share what the reference devices add, and nothing else.
    const double cross = noise[8].col(0).dot(noise[8].col(1)) / kRows;
    const double largest = q2 * covariance[0] * (of_devices.maxCoeff() + common);
    CHECK(std::abs(cross - q2 * covariance[0] * common) <= 5 * largest * std::sqrt(2.0 / kRows));
  }
}

TEST_CASE("moving noise: no process is counted twice", "[noise][statistics]") {
  CrossbarSpec spec = flicker_spec(MappingKind::differential);
  const Matrix<double> zero = Matrix<double>::Zero(100, 100);
  // All pairs stand at the middle of the window: what is seen deviates by Q √h per process and device.
  const double g = 0.5 * (spec.device.g_min_S + spec.device.g_max_S);
  for (const double split : {0.0, 5e-6, 1.0}) {
    CAPTURE(split);
    spec.circuit.noise_within_phases_s = split;
    const Crossbar<double> array(spec, zero, 0, 1);
    const double q2 = 0.02 * 0.02 * std::log(10.0);
    const double standing = (array.plus().conductance().array() / g - 1).square().mean() / q2;
    const auto& moving = array.view().moving;
    const double faster = moving.empty() ? 0 : static_cast<double>(moving[0].times_s.size());
    CHECK(faster == (split == 0 ? 0 : split == 1.0 ? 5 : 2));
    // 10⁴ devices, 5 − faster processes of variance Q² h each.
    CHECK(std::abs(standing - (5 - faster)) <= 5 * (5 - faster) * std::sqrt(2.0 / 1e4) + 1e-9);  // rounding of g
    if (moving.empty()) continue;
    const double of_pair = 2 * q2 * g * g / (array.siemens_per_weight() * array.siemens_per_weight());
    CHECK(moving[0].variance.minCoeff() == Approx(of_pair));
    CHECK(moving[0].variance.maxCoeff() == Approx(of_pair));
  }
}

TEST_CASE("moving noise: traps faster than a phase are Gaussian sums of their variances", "[noise][statistics]") {
  CrossbarSpec spec;
  spec.device.telegraph = {0.5, 0.1, 0.2, 2e-6, 1e-6, 0};
  spec.circuit.noise_within_phases_s = 10e-6;
  const Crossbar<double> array(spec, weights(), 0, 1);
  REQUIRE(array.view().moving.size() == 1);
  CHECK(array.view().moving[0].times_s == std::vector<double>{1 / (1 / 2e-6 + 1 / 1e-6)});
  CHECK(array.plus().conductance() == array.plus().cells().g);  // nothing of it stands still
  // The same devices with all of it standing: amplitudes a (s − p) of each trap, p = 2/3, so that a = |deviation|/(1/3 or 2/3).
  spec.circuit.noise_within_phases_s = 0;
  const Crossbar<double> still(spec, weights(), 0, 1);
  const double k2 = array.siemens_per_weight() * array.siemens_per_weight();
  for (Index i = 0; i < kIn; ++i) {
    for (Index j = 0; j < kOut; ++j) {
      double expected = 0;
      for (const auto* devices : {&still.plus(), &still.minus()}) {
        const double g = devices->cells().g(i, j);
        const double deviation = devices->conductance()(i, j) / g - 1;
        const double a = deviation > 0 ? deviation * 3 : -deviation * 1.5;
        expected += g * g * a * a * (2.0 / 9) / k2;
      }
      CHECK(array.view().moving[0].variance(i, j) == Approx(expected).margin(1e-15));
    }
  }
  const auto noise = record(array, true, test::random_matrix<double>(1, kIn, 2, 0.7), 4, 2);
  const double r = 4 * 25e-9 / (2e-6 / 3);
  const double expected = std::pow((1 - std::exp(-r)) / r, 2) / (2 * (r - 1 + std::exp(-r)) / (r * r));
  const double measured = noise[0].col(0).dot(noise[1].col(0)) / noise[0].col(0).squaredNorm();
  CHECK(std::abs(measured - expected) <= 5 * (1 - expected * expected) / std::sqrt(double(kRows)) + 1e-3);
}

TEST_CASE("moving noise: means over a read add up to the mean over both", "[noise]") {
  // a, b, c of a read of r: two reads of r/2 in a row have the same joint law of their mean and end as one of r.
  for (const double r : {1e-6, 1e-4, 0.9e-3, 1.1e-3, 0.1, 1.0, 30.0}) {
    CAPTURE(r);
    const ReadAverage whole(r);
    const ReadAverage half(r / 2);
    const double fresh = std::sqrt(1 - half.rho * half.rho);
    // Mean = ½ (A₁ + A₂), A₂ from x₁ = ρ x + fresh N: coefficients of x, N₁, N₂, N₃, N₄.
    const double of_x = (half.a + half.a * half.rho) / 2;
    const double of_n1 = (half.b + half.a * fresh) / 2;
    const double rest = (half.b * half.b + 2 * half.c * half.c) / 4;
    CHECK(of_x == Approx(whole.a).epsilon(1e-9));
    // The series below 1e-3 has an error of order r⁴; above it the difference of numbers of size 1 leaves 1e-16/r³ of r/6.
    CHECK(of_n1 * of_n1 + rest == Approx(whole.b * whole.b + whole.c * whole.c).epsilon(1e-6));
    CHECK(whole.rho == Approx(half.rho * half.rho).epsilon(1e-14));
  }
}

TEST_CASE("moving noise: ideal reads and reads that are computed have none", "[noise]") {
  const Crossbar<double> array(flicker_spec(MappingKind::differential), weights(), 0, 1);
  CHECK(array.noisy());
  const Matrix<double> x = test::random_matrix<double>(2, kIn, 5);
  Matrix<double> y(2, kOut);
  ReadContext read;
  read.policy = ReadPolicy::all_ideal();
  array.forward(x, y, array.all_columns(), Store::assign, read);
  Matrix<double> exact(2, kOut);
  multiply<double>(x, array.weights(), exact);
  CHECK(y == exact);
}

}  // namespace nudge
