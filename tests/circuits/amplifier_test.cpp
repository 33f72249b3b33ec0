// SPDX-License-Identifier: Apache-2.0
// Amplifiers at the lines of an array: offset, gain, finite open-loop gain, saturation, each direction for itself.
#include <cmath>

#include "circuits/crossbar/amplifier_kinds.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

struct Reads {
  Matrix<double> forward, transposed;
};

Reads read_both(const Crossbar<double>& array, const Matrix<double>& x, const Matrix<double>& y) {
  Reads out{Matrix<double>(x.rows(), array.outputs()), Matrix<double>(y.rows(), array.inputs())};
  ReadContext read;
  array.forward(x, out.forward, array.all_columns(), Store::assign, read);
  array.transposed(y, out.transposed, array.all_columns(), Store::assign, read);
  return out;
}

const Matrix<double>& weights() {
  static const Matrix<double> w = test::random_matrix<double>(40, 30, 1, 0.2);
  return w;
}

}  // namespace

TEST_CASE("amplifier: finite open-loop gain costs (1 + load)/A0, in its direction only", "[amplifier]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.periphery.forward.amplifier.open_loop_gain = 1000;
  spec.periphery.forward.amplifier.gain_error = 0.01;
  const Crossbar<double> array(spec, weights(), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(6, 40, 2);
  const Matrix<double> y = test::random_matrix<double>(6, 30, 3);
  const Reads out = read_both(array, x, y);
  Matrix<double> ideal = x * array.weights();
  const double k = array.siemens_per_weight();
  const double pedestal =
      kind == MappingKind::offset ? 0.5 * (spec.device.g_min_S + spec.device.g_max_S) / k : 0;  // amplified as well
  ideal.colwise() += pedestal * x.rowwise().sum();
  for (Index j = 0; j < 30; ++j) {
    double load = array.plus().conductance().col(j).sum() / k;
    if (kind == MappingKind::differential) load += array.minus().conductance().col(j).sum() / k;
    ideal.col(j) *= 1.01 / (1 + (1 + load) / 1000);
  }
  ideal.colwise() -= pedestal * x.rowwise().sum();
  CHECK(test::relative_error(out.forward, ideal) < 1e-12);
  CHECK(test::relative_error(out.transposed, Matrix<double>(y * array.weights().transpose())) < 1e-13);
}

TEST_CASE("amplifier: offsets are static, load with their line, and have the given spread", "[amplifier][statistics]") {
  CrossbarSpec spec;
  spec.periphery.forward.amplifier.offset_V = 1e-3;
  spec.periphery.transposed.amplifier.offset_V = 2e-3;
  const Matrix<double> w = test::random_matrix<double>(300, 400, 4, 0.2);
  const Crossbar<double> array(spec, w, 0, 1);
  const Reads out = read_both(array, Matrix<double>::Zero(2, 300), Matrix<double>::Zero(2, 400));
  CHECK(out.forward.row(0) == out.forward.row(1));
  const double k = array.siemens_per_weight();
  const Matrix<double> g = array.plus().conductance() + array.minus().conductance();
  const auto spread = [&](const Eigen::ArrayXd& output, const Eigen::ArrayXd& load, double sigma_V) {
    const Eigen::ArrayXd drawn = output / (1 + load / k) * spec.circuit.read_voltage_V / sigma_V;
    CHECK(std::abs(drawn.square().mean() - 1) <= 5 * std::sqrt(2.0 / static_cast<double>(drawn.size())));  // χ², 6e-7
    CHECK(std::abs(drawn.mean()) <= 5 / std::sqrt(static_cast<double>(drawn.size())));
  };
  spread(out.forward.row(0).transpose(), g.colwise().sum().transpose(), 1e-3);
  spread(out.transposed.row(0).transpose(), g.rowwise().sum(), 2e-3);
  // Reads of a block of columns meet the amplifiers of these columns.
  Matrix<double> part(2, 5);
  ReadContext read;
  array.forward(Matrix<double>::Zero(2, 300), part, {17, 5}, Store::assign, read);
  CHECK(part == out.forward.middleCols(17, 5));
  // Another array, another draw; the same array again, the same.
  const Crossbar<double> other(spec, w, 1, 1);
  const Crossbar<double> again(spec, w, 0, 1);
  CHECK(read_both(other, Matrix<double>::Zero(2, 300), Matrix<double>::Zero(2, 400)).forward != out.forward);
  CHECK(read_both(again, Matrix<double>::Zero(2, 300), Matrix<double>::Zero(2, 400)).forward == out.forward);
}

TEST_CASE("amplifier: gain spread is static and multiplies", "[amplifier][statistics]") {
  CrossbarSpec spec;
  spec.periphery.transposed.amplifier.gain_spread = 0.05;
  const Matrix<double> w = test::random_matrix<double>(1000, 8, 5, 0.2);
  const Crossbar<double> array(spec, w, 0, 1);
  const Matrix<double> y = test::random_matrix<double>(2, 8, 6);
  const Reads out = read_both(array, Matrix<double>::Zero(1, 1000), y);
  const Matrix<double> exact = y * array.weights().transpose();
  const Eigen::ArrayXd gain = out.transposed.row(0).array() / exact.row(0).array();
  const Eigen::ArrayXd second = out.transposed.row(1).array() / exact.row(1).array();
  CHECK((gain - second).abs().maxCoeff() < 1e-9);  // a quotient of sums that may cancel to 1e-5 of their terms
  CHECK(std::abs((gain - 1).square().mean() / 0.0025 - 1) <= 5 * std::sqrt(2.0 / 1000));
}

TEST_CASE("amplifier: saturation bounds the output, with unit slope at 0", "[amplifier]") {
  const auto shape = GENERATE(Saturation::tanh, Saturation::clip);
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.periphery.forward.amplifier.saturation = 0.8;
  spec.periphery.forward.amplifier.shape = shape;
  const Crossbar<double> array(spec, weights(), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(20, 40, 7, 2.0);
  const Matrix<double> exact = x * array.weights();
  const Reads out = read_both(array, x, Matrix<double>::Zero(1, 30));
  const Matrix<double> expected = shape == Saturation::clip ? Matrix<double>(exact.cwiseMax(-0.8).cwiseMin(0.8))
                                                            : Matrix<double>(0.8 * (exact.array() / 0.8).tanh());
  CHECK(test::relative_error(out.forward, expected) < 1e-12);
  const Reads small = read_both(array, 1e-6 * x, Matrix<double>::Zero(1, 30));
  CHECK(test::relative_error(small.forward, Matrix<double>(1e-6 * exact)) < 1e-9);  // (y/s)²/3 of 1e-5
}

TEST_CASE("amplifier: bad input names its key", "[amplifier]") {
  CrossbarSpec spec;
  spec.periphery.transposed.amplifier.offset_V = -1;
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("crossbar.transposed_offset = -1"));
  spec = {};
  spec.periphery.forward.adc.bits = 25;
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("crossbar.forward_adc_bits = 25"));
  spec = {};
  spec.circuit.read_voltage_V = 0;
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("circuit.read_voltage = 0"));
}

TEST_CASE("an auto-zeroed offset is kT/C, and sampling it takes the time that the amplifier needs", "[amplifier]") {
  CircuitSpec circuit;
  CHECK(input_offset_V(circuit, 5e-3) == 5e-3);
  circuit.auto_zero = true;
  // sqrt(1.380649e-23 * 300 / 1e-12) V.
  CHECK(input_offset_V(circuit, 5e-3) == Approx(6.4358e-5).epsilon(1e-4));
  CHECK(input_offset_V(circuit, 0) == 0);  // nothing to sample
  circuit.zero_capacitance_F = 4e-12;
  CHECK(input_offset_V(circuit, 5e-3) == Approx(6.4358e-5 / 2).epsilon(1e-4));
  CHECK(auto_zero_s(circuit, 5e-3) == 0);  // an infinite bandwidth settles at once
  circuit.amplifier_bandwidth_Hz = 1e6;
  // A pole of 1 MHz has a time constant of 159.155 ns, and 5 mV become 32.179 uV in ln(155.38) of them.
  CHECK(auto_zero_s(circuit, 5e-3) == Approx(159.155e-9 * std::log(5e-3 / 3.2179e-5)).epsilon(1e-4));
}

TEST_CASE("the amplifiers of an array keep of their offset what auto-zero leaves", "[amplifier]") {
  const Matrix<double> w = Matrix<double>::Constant(40, 400, 0.1);
  const auto spread = [&](bool zeroed) {
    CrossbarSpec spec;
    spec.device.model = "ideal";
    spec.mapping.w_max = 1;
    spec.periphery.forward.amplifier.offset_V = 1e-3;
    spec.circuit.auto_zero = zeroed;
    const Crossbar<double> array(spec, w, 0, 3);
    Matrix<double> y(1, 400);
    ReadContext read;
    array.forward(Matrix<double>::Zero(1, 40), y, {0, 400}, Store::assign, read);
    // V_os (1 + L)/V_read of every line, at one load: the same draws in both.
    return std::sqrt(y.squaredNorm() / 400) * spec.circuit.read_voltage_V / (1 + array.view().column_load.mean());
  };
  // The deviation of 400 draws is known to 1/sqrt(800) of itself; four standard errors.
  CHECK(spread(false) == Approx(1e-3).epsilon(4 / std::sqrt(800.0)));
  CHECK(spread(true) / spread(false) == Approx(6.4358e-5 / 1e-3).epsilon(1e-4));
}

TEST_CASE("an amplifier's power follows what asks most of its transconductance", "[amplifier]") {
  const AmplifierKind& kind = default_amplifier();
  CHECK(find_amplifier(kind.name) == &kind);
  CHECK(find_amplifier("none") == nullptr);
  CHECK(kind.scaled_power_W(kind.gain_bandwidth_Hz, kind.noise_V) == kind.power_W);
  CHECK(kind.scaled_power_W(3 * kind.gain_bandwidth_Hz, kind.noise_V) == Approx(3 * kind.power_W));
  CHECK(kind.scaled_power_W(kind.gain_bandwidth_Hz, kind.noise_V / 2) == Approx(4 * kind.power_W));
  for (const AmplifierKind& one : amplifier_kinds()) {
    CAPTURE(one.name);
    CHECK(one.gain_bandwidth_Hz > 0);
    CHECK(one.power_W > 0);
    CHECK(one.citation.size() > 20);
  }
}

}  // namespace nudge
