// SPDX-License-Identifier: Apache-2.0
// Noise that is common to all devices of a line: gains of sensed lines and voltages of driven ones, against closed forms.
#include <cmath>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

constexpr Index kIn = 6, kOut = 4, kReads = 8000;
constexpr double kInterval = 0.3, kDriver_V = 4e-9, kGain = 0.03;

CrossbarSpec spec_of(MappingKind kind, double driver_V, double gain) {
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
    port->driver_noise_V = driver_V;
    port->amplifier.gain_noise = gain;
  }
  return spec;
}

Matrix<double> read_of(const Crossbar<double>& array, bool forward, const Matrix<double>& x, ReadContext& read,
                       Store store = Store::assign) {
  Matrix<double> y = Matrix<double>::Zero(x.rows(), forward ? kOut : kIn);
  array.read(forward ? ReadDirection::forward : ReadDirection::transposed, x, y, array.all_columns(), store, read);
  return y;
}

ReadContext context() {
  ReadContext read;
  read.seed = 5;
  read.relaxation = {kInterval, kInterval};
  return read;
}

Matrix<double> ideal(const Crossbar<double>& array, bool forward, const Matrix<double>& x) {
  return forward ? Matrix<double>(x * array.weights()) : Matrix<double>(x * array.weights().transpose());
}

/// A line's share of the matrix that the noise of drivers passes: weights, and the pedestal that the digital side takes off.
Matrix<double> passed(const Crossbar<double>& array, bool forward) {
  Matrix<double> w = array.weights().array() + static_cast<double>(array.view().pedestal);
  return forward ? w : Matrix<double>(w.transpose());
}

/// Standard deviation of a sample covariance of n pairs of variances a and b: at most √(2 a b/n); five of them.
double margin(double a, double b) { return 5 * std::sqrt(2 * a * b / kReads); }

}  // namespace

TEST_CASE("common noise: a driver's noise reaches all outputs by their weights", "[noise][statistics]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  CAPTURE(static_cast<int>(kind), forward);
  const CrossbarSpec spec = spec_of(kind, kDriver_V, 0);
  const Crossbar<double> array(spec, test::random_matrix<double>(kIn, kOut, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, forward ? kIn : kOut, 2, 0.7).replicate(kReads, 1);
  ReadContext read = context();
  const Matrix<double> noise = read_of(array, forward, x, read) - ideal(array, forward, x);
  // e_d² per hertz over the time of a read Δτ: e_d²/(2 Δ τ), in units of V_read².
  const double volts = spec.circuit.read_voltage_V;
  const double variance = kDriver_V * kDriver_V / (2 * kInterval * spec.circuit.time_constant_s * volts * volts);
  const Matrix<double> w = passed(array, forward);
  const Matrix<double> expected = variance * w.transpose() * w;
  const Matrix<double> found = noise.transpose() * noise / kReads;
  double correlated = 0;
  for (Index j = 0; j < noise.cols(); ++j) {
    for (Index l = 0; l <= j; ++l) {
      CHECK(std::abs(found(j, l) - expected(j, l)) <= margin(expected(j, j), expected(l, l)));
      if (l < j) correlated = std::max(correlated, std::abs(expected(j, l)) / margin(expected(j, j), expected(l, l)));
    }
    CHECK(std::abs(noise.col(j).mean()) <= 5 * std::sqrt(expected(j, j) / kReads));
  }
  CHECK(correlated > 3);  // the outputs do share it
}

TEST_CASE("common noise: a gain's noise is a share of its own line's output", "[noise][statistics]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  CAPTURE(static_cast<int>(kind), forward);
  const Crossbar<double> array(spec_of(kind, 0, kGain), test::random_matrix<double>(kIn, kOut, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, forward ? kIn : kOut, 2, 0.7).replicate(kReads, 1);
  ReadContext read = context();
  const Matrix<double> noise = read_of(array, forward, x, read) - ideal(array, forward, x);
  const Matrix<double> signal = x.row(0) * passed(array, forward);
  const Matrix<double> found = noise.transpose() * noise / kReads;
  for (Index j = 0; j < noise.cols(); ++j) {
    const double of_j = kGain * kGain / kInterval * signal(0, j) * signal(0, j);
    CHECK(std::abs(found(j, j) - of_j) <= margin(of_j, of_j));
    for (Index l = 0; l < j; ++l) {
      CHECK(std::abs(found(j, l)) <= margin(of_j, kGain * kGain / kInterval * signal(0, l) * signal(0, l)));
    }
  }
  // Without a drive there is nothing to amplify.
  CHECK(read_of(array, forward, Matrix<double>::Zero(3, x.cols()), read).isZero(0));
}

TEST_CASE("common noise: it is that of the read's place, whatever else is read, summed or averaged", "[noise]") {
  const Crossbar<double> array(spec_of(MappingKind::differential, kDriver_V, kGain),
                               test::random_matrix<double>(kIn, kOut, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(3, kIn, 2, 0.7);
  ReadContext first = context(), again = context(), later = context();
  const Matrix<double> y = read_of(array, true, x, first);
  read_of(array, false, test::random_matrix<double>(5, kOut, 3), later);
  CHECK(read_of(array, true, x, again) == y);
  CHECK(read_of(array, true, x, again) != y);  // the next read is another
  CHECK(first.read == 1);
  ReadContext sum = context();
  Matrix<double> total = Matrix<double>::Ones(3, kOut);
  array.forward(x, total, array.all_columns(), Store::subtract, sum);
  CHECK((total - Matrix<double>::Ones(3, kOut) + y).norm() < 1e-14 * y.norm());
  ReadContext silent = context();
  silent.policy = ReadPolicy::all_ideal();
  CHECK((read_of(array, true, x, silent) - ideal(array, true, x)).norm() < 1e-14 * y.norm());
  CHECK(array.traits().noisy);
  // Half the variance of a read twice as long; the mean of 4 reads has a quarter.
  const Matrix<double> many = x.row(0).replicate(kReads, 1);
  const auto variance = [&](int reads, double interval) {
    ReadContext read = context();
    read.relaxation = {interval, interval};
    read.policy.of(read.kind).reads = reads;
    return (read_of(array, true, many, read) - ideal(array, true, many)).squaredNorm();
  };
  CHECK(variance(4, kInterval) / variance(1, kInterval) == Approx(0.25).epsilon(5 * std::sqrt(4.0 / kReads)));
  CHECK(variance(1, 2 * kInterval) / variance(1, kInterval) == Approx(0.5).epsilon(5 * std::sqrt(4.0 / kReads)));
}

TEST_CASE("common noise: it costs no energy, and none changes no bit", "[noise]") {
  const Matrix<double> w = test::random_matrix<double>(kIn, kOut, 1, 0.4), x = test::random_matrix<double>(3, kIn, 2);
  const Crossbar<double> quiet(spec_of(MappingKind::offset, 0, 0), w, 0, 1);
  const Crossbar<double> loud(spec_of(MappingKind::offset, kDriver_V, kGain), w, 0, 1);
  ReadMeter of_quiet, of_loud;
  ReadContext a = context(), b = context();
  a.meter = &of_quiet;
  b.meter = &of_loud;
  CHECK((read_of(quiet, true, x, a) - ideal(quiet, true, x)).isZero(0));
  CHECK(read_of(loud, true, x, b) != ideal(loud, true, x));
  CHECK(of_quiet.total().array_J == of_loud.total().array_J);
  CHECK(of_quiet.total().reads == of_loud.total().reads);
  CHECK_FALSE(quiet.traits().noisy);
}

// Behind the amplifiers' pole τ_a reads of h correlate by ρ = e^{−h/τ_a} and have the variance tanh(h/2τ_a) of white noise.
TEST_CASE("common noise: it passes the pole of the amplifiers", "[noise][statistics]") {
  const bool drivers = GENERATE(true, false);
  CrossbarSpec spec = spec_of(MappingKind::differential, drivers ? kDriver_V : 0, drivers ? 0 : kGain);
  spec.circuit.amplifier_bandwidth_Hz = 1 / (2 * 3.14159265358979 * 0.5 * spec.circuit.time_constant_s);  // 0.5 τ
  const Crossbar<double> array(spec, test::random_matrix<double>(kIn, kOut, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, kIn, 2, 0.7).replicate(kReads, 1);
  ReadMemory memory;
  ReadContext read = context();
  read.memory = &memory;
  const Matrix<double> exact = ideal(array, true, x);
  const Matrix<double> one = read_of(array, true, x, read) - exact, two = read_of(array, true, x, read) - exact;
  ReadContext white = context();
  const Matrix<double> without = read_of(array, true, x, white) - exact;
  const double h = kInterval / 0.5;
  // Correlations of 8000 pairs of 4 outputs that share at most 6 drivers: five standard deviations of one output alone.
  CHECK((one.cwiseProduct(two)).sum() / one.squaredNorm() == Approx(std::exp(-h)).margin(5 / std::sqrt(kReads)));
  CHECK(one.squaredNorm() / without.squaredNorm() == Approx(std::tanh(h / 2)).epsilon(5 * std::sqrt(4.0 / kReads)));
}

}  // namespace nudge
