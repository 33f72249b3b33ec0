// SPDX-License-Identifier: Apache-2.0
// Physical read noise: thermal and shot noise in closed form, per device against at the output, and kT/C of a node.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/digital_matrix.hpp"
#include "sim/read_timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {
namespace {

constexpr Index kIn = 8;
constexpr Index kOut = 5;
constexpr Index kReads = 4000;
constexpr double kT = 1.380649e-23 * 350;

CrossbarSpec spec_of(MappingKind kind, bool thermal, bool shot, double read_noise) {
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.device.g_min_S = 1e-9;
  spec.device.g_max_S = 1e-7;
  spec.device.read_noise = read_noise;
  spec.circuit.temperature_K = 350;
  spec.circuit.read_voltage_V = 0.1;
  spec.circuit.time_constant_s = 10e-9;
  spec.circuit.thermal_noise = thermal;
  spec.circuit.shot_noise = shot;
  return spec;
}

Matrix<double> weights() { return test::random_matrix<double>(kIn, kOut, 1, 0.4); }

/// The noise of kReads reads of one drive, a row each.
Matrix<double> sample(const Crossbar<double>& array, bool forward, const Matrix<double>& x, double interval) {
  const Matrix<double> many = x.replicate(kReads, 1);
  Matrix<double> out(kReads, forward ? kOut : kIn);
  ReadContext read;
  read.seed = 9;
  read.relaxation = {interval, interval};
  if (forward) {
    array.forward(many, out, array.all_columns(), Store::assign, read);
    return out - many * array.weights();
  }
  array.transposed(many, out, array.all_columns(), Store::assign, read);
  return out - many * array.weights().transpose();
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

/// The same noise drawn device by device: conductance, thermal and shot currents of every device, summed by Kirchhoff.
Matrix<double> device_by_device(const Crossbar<double>& array, const CrossbarSpec& spec, bool forward,
                                const Matrix<double>& x, double interval) {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  const double volts = spec.circuit.read_voltage_V;
  const double dt = interval * spec.circuit.time_constant_s;
  const double root = 1 / std::sqrt(interval);
  const double q = 1.602176634e-19;
  const auto current = [&](double g, double v) {  // fluctuation of the current of one device, averaged over dt
    double i = v * root * spec.device.read_sigma_S(g) * normal(engine);
    if (spec.circuit.thermal_noise) i += std::sqrt(4 * kT * g / (2 * dt)) * normal(engine);
    if (spec.circuit.shot_noise) i += std::sqrt(2 * q * std::abs(g * v) / (2 * dt)) * normal(engine);
    return i;
  };
  const auto& first = array.plus().conductance();
  const auto& second = array.minus().conductance();
  // The feedback conductance k of every amplifier, at the output; one amplifier more senses the reference column.
  const auto feedback = [&]() {
    return spec.circuit.thermal_noise ? std::sqrt(4 * kT * array.siemens_per_weight() / (2 * dt)) * normal(engine)
                                      : 0.0;
  };
  Matrix<double> out = Matrix<double>::Zero(kReads, forward ? kOut : kIn);
  for (Index r = 0; r < kReads; ++r) {
    for (Index i = 0; i < kIn; ++i) {
      for (Index j = 0; j < kOut; ++j) {
        const double v = volts * x(0, forward ? i : j);
        double& y = out(r, forward ? j : i);
        y += current(first(i, j), v);
        if (spec.mapping.kind == MappingKind::differential) y -= current(second(i, j), v);
      }
      if (spec.mapping.kind != MappingKind::reference_column) continue;
      if (forward) {
        if (i == 0) out.row(r).array() -= feedback();
        out.row(r).array() -= current(second(i, 0), volts * x(0, i));
      } else {
        out(r, i) -= current(second(i, 0), volts * x.sum());
      }
    }
    for (Index j = 0; j < out.cols(); ++j) out(r, j) += feedback();
  }
  return out / (array.siemens_per_weight() * volts);
}

}  // namespace

TEST_CASE("noise: each kind has its closed form, for every mapping and direction", "[noise][statistics]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  const Matrix<double> x = test::random_matrix<double>(1, forward ? kIn : kOut, 3, 0.7);
  struct Strength {
    double thermal, shot, device, of_state_S, table_S;
  };
  for (const Strength& on :
       {Strength{1, 0, 0, 0, 0}, Strength{0, 1, 0, 0, 0}, Strength{0, 0, 0.03, 0, 0}, Strength{0, 0, 0, 2e-9, 0},
        Strength{0, 0, 0, 0, 2e-9}, Strength{0, 0, 0.01, 1e-9, 1e-9}}) {
    CrossbarSpec spec = spec_of(kind, on.thermal > 0, on.shot > 0, on.device);
    spec.device.read_saturating_S = on.of_state_S;
    spec.device.read_scale_S = 3e-8;  // bends within the window of 1 to 100 nS
    if (on.table_S > 0) {
      spec.device.noise.level_S = {0, 1e-7};
      spec.device.noise.white_S = {on.table_S, 2 * on.table_S};
    }
    const Crossbar<double> array(spec, weights(), 0, 1);
    const auto& first = array.plus().conductance();
    const auto& second = array.minus().conductance();
    const double interval = 0.3;
    const double dt = interval * spec.circuit.time_constant_s;
    const double volts = spec.circuit.read_voltage_V;
    const double sigma_S = on.device * spec.device.window_S();
    const auto variance = [&](double g, double drive) {  // A², of one device
      return on.thermal * 4 * kT * g / (2 * dt) +
             on.shot * 2 * 1.602176634e-19 * std::abs(g * volts * drive) / (2 * dt) +
             (sigma_S * sigma_S + std::pow(on.of_state_S * (1 - std::exp(-g / 3e-8)), 2) +
              std::pow(on.table_S * (1 + g / 1e-7), 2)) *
                 volts * drive * volts * drive / interval;
    };
    const double feedback = on.thermal * 4 * kT * array.siemens_per_weight() / (2 * dt);  // of one amplifier
    const Matrix<double> noise = sample(array, forward, x, interval);
    double common = kind == MappingKind::reference_column && forward ? feedback : 0;
    for (Index i = 0; i < kIn && kind == MappingKind::reference_column && forward; ++i) {
      common += variance(second(i, 0), x(0, i));
    }
    const double unit = std::pow(array.siemens_per_weight() * volts, 2);
    std::vector<double> total(static_cast<std::size_t>(noise.cols()), common + feedback);
    for (Index i = 0; i < kIn; ++i) {
      for (Index j = 0; j < kOut; ++j) {
        const double drive = x(0, forward ? i : j);
        double v = variance(first(i, j), drive);
        if (kind == MappingKind::differential) v += variance(second(i, j), drive);
        total[static_cast<std::size_t>(forward ? j : i)] += v;
      }
      if (kind == MappingKind::reference_column && !forward) {
        total[static_cast<std::size_t>(i)] += variance(second(i, 0), x.sum());
      }
    }
    // χ² of 4000 draws: 5 √(2/n) for a variance (false alarm 6e-7), 5 √((1 + ρ²)/n) for a correlation ρ ≤ 1.
    for (Index j = 0; j < noise.cols(); ++j) {
      const double tj = total[static_cast<std::size_t>(j)] / unit;
      CHECK(std::abs(noise.col(j).squaredNorm() / kReads / tj - 1) <= 5 * std::sqrt(2.0 / kReads));
      CHECK(std::abs(noise.col(j).mean()) <= 5 * std::sqrt(tj / kReads));
      for (Index l = 0; l < j; ++l) {
        const double tl = total[static_cast<std::size_t>(l)] / unit;
        CHECK(std::abs(noise.col(j).dot(noise.col(l)) / kReads - common / unit) <= 5 * std::sqrt(2 * tj * tl / kReads));
      }
    }
  }
}

TEST_CASE("noise: drawn at the output it is distributed as drawn device by device", "[noise][statistics]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  CrossbarSpec spec = spec_of(kind, true, true, 0.02);
  spec.device.read_saturating_S = 1e-9;
  spec.device.read_scale_S = 3e-8;
  const Crossbar<double> array(spec, weights(), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, forward ? kIn : kOut, 4, 0.7);
  const Matrix<double> drawn = sample(array, forward, x, 0.5);
  const Matrix<double> naive = device_by_device(array, spec, forward, x, 0.5);
  // Two-sample Kolmogorov–Smirnov: P(D √(n/2) > c) → 2 exp(−2c²); c = 2.69 has a false-alarm rate of 1e-6. Besides every
  // output the sum of two, which sees their correlation.
  const auto agree = [&](const auto& a, const auto& b) {
    const Eigen::VectorXd left = a;
    const Eigen::VectorXd right = b;
    const double distance = ks_distance({left.data(), left.data() + kReads}, {right.data(), right.data() + kReads});
    CHECK(distance * std::sqrt(kReads / 2.0) <= 2.69);
    // Ratio of two χ² of 4000: standard deviation √(4/n); 5 of them.
    CHECK(std::abs(left.squaredNorm() / right.squaredNorm() - 1) <= 5 * std::sqrt(4.0 / kReads));
  };
  for (Index j = 0; j < drawn.cols(); ++j) agree(drawn.col(j), naive.col(j));
  agree(drawn.col(0) + drawn.col(1), naive.col(0) + naive.col(1));
}

TEST_CASE("noise: a node relaxing through a noisy conductance holds kT/C, whatever the step", "[noise][statistics]") {
  // One pair with G+ = 0 and G- = g: the node discharges through g with τ = C/g, and the thermal noise of g charges it, and so
  // does that of the feedback conductance k = g of the amplifier between them: an active node, at twice kT/C.
  CrossbarSpec spec = spec_of(MappingKind::differential, true, false, 0);
  spec.device.model = "ideal";
  spec.device.g_min_S = 0;
  spec.device.g_max_S = 1e-6;
  spec.mapping.headroom = 1;
  spec.circuit.temperature_K = GENERATE(77.0, 300.0, 400.0);  // fluctuation and dissipation: the variance follows T
  const double here = boltzmann_J_per_K * spec.circuit.temperature_K;
  const Crossbar<double> array(spec, Matrix<double>::Constant(1, 1, -1.0), 0, 1);
  REQUIRE(array.plus().conductance()(0, 0) == Approx(0).margin(1e-20));
  REQUIRE(array.siemens_per_weight() == Approx(1e-6));
  const double capacitance_F = spec.circuit.time_constant_s * 1e-6;
  const double volts = spec.circuit.read_voltage_V;
  constexpr Index copies = 20000;
  for (const double step : {0.05, 0.35, 0.7, 0.9}) {
    CAPTURE(step);
    Matrix<double> z = Matrix<double>::Zero(copies, 1);
    Matrix<double> f(copies, 1);
    ReadContext read;
    read.relaxation = euler_timing(step, 1);
    double squares = 0;
    const int apart = static_cast<int>(8 / step);  // 8 τ: e⁻¹⁶ of the covariance is left
    for (int n = 1; n <= 5 * apart; ++n) {
      array.forward(z, f, {0, 1}, Store::assign, read);
      z += step * f;
      if (n % apart == 0) squares += z.squaredNorm();
    }
    const double expected = 2 * here / capacitance_F / (volts * volts);
    CHECK(std::abs(squares / (5.0 * copies) / expected - 1) <= 5 * std::sqrt(2.0 / (5.0 * copies)));
  }
}

TEST_CASE("noise: the input noise of amplifiers is amplified by the load of their line", "[noise][statistics]") {
  // 254 rows of pairs between 0 and the window, w_max = 1: G+ + G- = k at every cross point, a load of 254.
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.device.g_min_S = 0;
  spec.mapping.w_max = 1;
  spec.periphery.forward.amplifier.noise_V = 5e-9;
  spec.periphery.transposed.amplifier.noise_V = 3e-9;
  CHECK(spec.periphery.forward.ideal());  // noise is no error of the path: the mean of n reads is still drawn at once
  const Crossbar<double> array(spec, test::random_matrix<double>(254, 3, 1, 0.1), 0, 1);
  REQUIRE(static_cast<double>(array.view().column_load(0)) == Approx(254));
  REQUIRE(static_cast<double>(array.view().row_load(0)) == Approx(3));
  const Matrix<double> x = Matrix<double>::Zero(kReads, 254);
  Matrix<double> y(kReads, 3);
  ReadContext read;
  read.relaxation = {0.5, 0.5};
  array.forward(x, y, array.all_columns(), Store::assign, read);
  // e_n (1 + L)/(V √(2τ)) = 5 nV/√Hz · 255/(0.2 V · √50 ns) = 2.85e-2 per √τ.
  const double margin = 5 * std::sqrt(2.0 / kReads);
  for (Index j = 0; j < 3; ++j) {
    CHECK(std::sqrt(0.5 * y.col(j).squaredNorm() / kReads) == Approx(2.8507e-2).epsilon(margin));
  }
  Matrix<double> back(kReads, 254);
  array.transposed(y, back, array.all_columns(), Store::assign, read);
  const Matrix<double> noise = back - y * array.weights().transpose();
  const double one = 3e-9 * 4 / (0.2 * std::sqrt(2 * 25e-9));
  CHECK(0.5 * noise.squaredNorm() / double(noise.size()) ==
        Approx(one * one).epsilon(5 * std::sqrt(2.0 / double(noise.size()))));
}

TEST_CASE("noise: clamp and damping alone hold every node at kT/C, whatever the step", "[noise][statistics]") {
  CircuitSpec circuit;
  CHECK(clamp_noise(circuit) == 0);
  circuit.thermal_noise = true;
  CHECK(clamp_noise(circuit) == Approx(1.439e-3).epsilon(1e-3));  // per √τ: √(2 kT/C)/V at 300 K, 100 fF, 0.2 V
  DigitalMatrix<double> none(Matrix<double>::Zero(50, 0));
  Circuit<double> block = test::one_node_circuit<double>(50, [](auto&) {}, 0, none, {0.8, 0.7});  // 1 + s c = 1.56
  CHECK_FALSE(block.noisy());
  block.set_node_noise(clamp_noise(circuit));
  CHECK(block.noisy());
  constexpr Index copies = 1000;
  CircuitDynamics<double> dynamics(block, 1, copies);
  dynamics.bind(Matrix<double>::Zero(1, 50), ReadContext{});
  const double variance = boltzmann_J_per_K * 300 / 100e-15 / 0.04;  // kT/C in units of V²
  for (const double share : {0.1, 0.7}) {
    CAPTURE(share);
    const double step = share / 1.56;
    dynamics.set_read_timing(euler_timing(step, dynamics.leak()));
    Matrix<double> z = Matrix<double>::Zero(copies, 50);
    Matrix<double> f(copies, 50);
    for (int n = 0; n < 8 / share; ++n) {
      dynamics.force(z, f);
      z += step * f;
    }
    CHECK(z.squaredNorm() / double(z.size()) / variance == Approx(1).epsilon(5 * std::sqrt(2.0 / double(z.size()))));
  }
}

TEST_CASE("noise: physical noise off draws nothing and changes no bit", "[noise]") {
  const CrossbarSpec spec = spec_of(MappingKind::differential, false, false, 0);
  const Crossbar<double> array(spec, weights(), 0, 1);
  CHECK(array.view().total.size() == 0);
  const Matrix<double> x = test::random_matrix<double>(3, kIn, 5);
  Matrix<double> y(3, kOut);
  Matrix<double> exact(3, kOut);
  ReadContext read;
  array.forward(x, y, array.all_columns(), Store::assign, read);
  multiply<double>(x, array.weights(), exact);
  CHECK(y == exact);
  CHECK(read.read == 1);
}

}  // namespace nudge
