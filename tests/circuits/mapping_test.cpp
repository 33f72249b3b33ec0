// SPDX-License-Identifier: Apache-2.0
// What a weight is compared with: closed forms of every mapping, their errors, energy and reads.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

constexpr MappingKind kinds[] = {MappingKind::differential, MappingKind::reference_column, MappingKind::offset};

CrossbarSpec spec_of(MappingKind kind) {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.mapping.kind = kind;
  return spec;
}

const Matrix<double>& weights() {
  static const Matrix<double> w = test::random_matrix<double>(12, 7, 1, 0.3);
  return w;
}

}  // namespace

TEST_CASE("mapping: conductances that hold a weight", "[mapping]") {
  const CrossbarSpec pair_spec;
  const double middle = 0.5 * (pair_spec.device.g_min_S + pair_spec.device.g_max_S);
  for (const MappingKind kind : kinds) {
    const Crossbar<double> array(spec_of(kind), weights(), 0, 1);
    // The largest weight takes half of the window (headroom 2): k = window/w_max for a pair, half of it for one device.
    const double w_max = 2 * weights().cwiseAbs().maxCoeff();
    const double share = kind == MappingKind::differential ? 1 : 0.5;
    CHECK(array.w_max() == Approx(w_max));
    CHECK(array.siemens_per_weight() == Approx(share * pair_spec.device.window_S() / w_max));
    const double k = array.siemens_per_weight();
    const double per_device = kind == MappingKind::differential ? k / 2 : k;
    CHECK(array.plus().conductance()(3, 4) == Approx(middle + per_device * weights()(3, 4)));
    CHECK(test::relative_error(array.weights(), weights()) < 1e-13);  // four roundings of numbers 10 times larger
    if (kind == MappingKind::differential) {
      CHECK(array.minus().conductance()(3, 4) == Approx(middle - per_device * weights()(3, 4)));
    } else if (kind == MappingKind::reference_column) {
      CHECK(array.minus().conductance().cols() == 1);
      CHECK(array.minus().conductance()(3, 0) == Approx(middle));
    } else {
      CHECK(array.minus().conductance().size() == 0);
    }
  }
}

TEST_CASE("mapping: updates move the weight by what is asked, and no reference device", "[mapping]") {
  for (const MappingKind kind : kinds) {
    Crossbar<double> array(spec_of(kind), weights(), 0, 1);
    const Matrix<double> minus = array.minus().conductance();
    const Matrix<double> delta = test::random_matrix<double>(12, 7, 2, 0.01);
    array.apply_update(delta);
    CHECK(test::relative_error(array.weights() - weights(), delta) < 1e-10);  // linear devices, far from their bounds
    CHECK((array.minus().conductance() == minus) == (kind != MappingKind::differential));
    array.program(weights());
    CHECK(test::relative_error(array.weights(), weights()) < 1e-13);
  }
}

TEST_CASE("mapping: the error of a reference device is common to its row", "[mapping][statistics]") {
  CrossbarSpec spec = spec_of(MappingKind::reference_column);
  spec.device.programming_error = 0.02;
  const Matrix<double> w = test::random_matrix<double>(4000, 2, 3, 0.1);
  const Crossbar<double> array(spec, w, 0, 1);
  const double sigma = 0.02 * spec.device.window_S() / array.siemens_per_weight();
  const Matrix<double> error = (array.weights() - w) / sigma;
  // Unit variance for the device and for its reference: variance 2 and covariance 1. Standard errors over 4000 rows:
  // 2 √(2/n) and √((4 + 1)/n); 5 of them.
  CHECK(std::abs(error.col(0).squaredNorm() / 4000 - 2) <= 5 * 2 * std::sqrt(2.0 / 4000));
  CHECK(std::abs(error.col(0).dot(error.col(1)) / 4000 - 1) <= 5 * std::sqrt(5.0 / 4000));
  const Matrix<double> expected =
      (array.plus().conductance().colwise() - array.minus().conductance().col(0)) / array.siemens_per_weight();
  CHECK(test::relative_error(array.weights(), expected) < 1e-12);
}

TEST_CASE("mapping: the pedestal of an offset array passes the converter and is taken off digitally", "[mapping]") {
  CrossbarSpec spec = spec_of(MappingKind::offset);
  spec.periphery.forward.adc = {8, 40.0};
  spec.periphery.transposed.adc = {9, 50.0};
  const Crossbar<double> array(spec, weights(), 0, 1);
  const double middle = 0.5 * (spec.device.g_min_S + spec.device.g_max_S);
  const double pedestal = middle / array.siemens_per_weight();
  const Matrix<double> x = test::random_matrix<double>(5, 12, 4, 0.5);
  Matrix<double> y(5, 7);
  ReadContext read;
  array.forward(x, y, array.all_columns(), Store::assign, read);
  Matrix<double> sensed = x * array.weights();
  sensed.colwise() += pedestal * x.rowwise().sum();
  convert<double>({8, 40.0}, sensed);
  sensed.colwise() -= pedestal * x.rowwise().sum();
  CHECK(test::relative_error(y, sensed) < 1e-12);
  CHECK(test::relative_error(y, Matrix<double>(x * array.weights())) >
        0.01);  // the converter sees the large common part
  const Matrix<double> u = test::random_matrix<double>(5, 7, 5, 0.5);
  Matrix<double> v(5, 12);
  array.transposed(u, v, array.all_columns(), Store::assign, read);
  Matrix<double> back = u * array.weights().transpose();
  back.colwise() += pedestal * u.rowwise().sum();
  convert<double>({9, 50.0}, back);
  back.colwise() -= pedestal * u.rowwise().sum();
  CHECK(test::relative_error(v, back) < 1e-12);
}

TEST_CASE("mapping: write-verify and pulse trains work on every mapping", "[mapping]") {
  for (const MappingKind kind : kinds) {
    CrossbarSpec spec = spec_of(kind);
    spec.device.step_spread = 0.2;
    spec.programming.scheme = ProgrammingScheme::write_verify;
    spec.programming.update = UpdateScheme::coincidence;
    Crossbar<double> array(spec, weights(), 0, 1);
    // Every device within the tolerance of the window; two devices of opposite error at worst.
    const double tolerance = spec.programming.tolerance * spec.device.window_S() / array.siemens_per_weight();
    CHECK((array.weights() - weights()).cwiseAbs().maxCoeff() <= 2 * tolerance * (1 + 1e-9));
    CHECK(array.writes().failures == 0);
    // One outer product of ones, asked for 40 mean pulses of weight on every device.
    const Matrix<double> before = array.weights();
    const Matrix<double> reference = array.minus().conductance();
    const double pulse = 2 * array.w_max() / spec.device.pulses;
    const FactorPair<double> pair = {{0, 7}, 1, Matrix<double>::Ones(1, 12), Matrix<double>::Ones(1, 7)};
    for (int n = 0; n < 10; ++n) array.apply_factors({pair}, -4 * pulse);
    // The mean over 84 weights of pulses with a device spread of 0.2 and the rounding of the trains: within 20 %.
    CHECK((array.weights() - before).mean() == Approx(40 * pulse).epsilon(0.2));
    CHECK((array.minus().conductance() == reference) == (kind != MappingKind::differential));
  }
}

TEST_CASE("mapping: a metered read takes the power of every device", "[mapping]") {
  for (const MappingKind kind : kinds) {
    CrossbarSpec spec = spec_of(kind);
    spec.circuit.read_voltage_V = 0.3;
    spec.circuit.time_constant_s = 40e-9;
    const Crossbar<double> array(spec, weights(), 0, 1);
    const auto& first = array.plus().conductance();
    const auto& second = array.minus().conductance();
    const Matrix<double> x = test::random_matrix<double>(3, 12, 5);
    const Matrix<double> y = test::random_matrix<double>(3, 4, 6);
    ReadMeter meter;
    ReadContext read;
    read.meter = &meter;
    read.relaxation = {0.7, 0.7};
    Matrix<double> out(3, 7);
    array.forward(x, out, array.all_columns(), Store::assign, read);
    double forward = 0;
    double transposed = 0;
    for (Index n = 0; n < 3; ++n) {
      for (Index i = 0; i < 12; ++i) {
        forward += x(n, i) * x(n, i) * (first.row(i).sum() + second.row(i).sum());
        for (Index j = 0; j < 4; ++j) {
          transposed += y(n, j) * y(n, j) * first(i, 2 + j);
          if (kind == MappingKind::differential) transposed += y(n, j) * y(n, j) * second(i, 2 + j);
        }
        const double sum = y.row(n).sum();
        if (kind == MappingKind::reference_column) transposed += sum * sum * second(i, 0);  // driven by −Σ y
      }
    }
    const double scale = 0.3 * 0.3 * 0.7 * 40e-9;
    CHECK(meter.total().array_J == Approx(scale * forward));
    CHECK(meter.total().reads == 3);
    Matrix<double> back(3, 12);
    array.transposed(y, back, {2, 4}, Store::assign, read);
    CHECK(meter.total().array_J == Approx(scale * (forward + transposed)));
    CHECK(meter.total().adc_conversions.total() + meter.total().dac_conversions.total() == 0);
    spec.periphery.forward.adc = {8, 0};
    spec.periphery.forward.dac = {8, 0};
    const Crossbar<double> quantised(spec, weights(), 0, 1);
    quantised.forward(x, out, array.all_columns(), Store::assign, read);
    CHECK(meter.total().adc_conversions.total() == 21);
    CHECK(meter.total().dac_conversions.total() == 36);
  }
}

TEST_CASE("mapping: a transposed read over the other line ends is that circuit's, not the transpose", "[mapping]") {
  for (const MappingKind kind : kinds) {
    CrossbarSpec spec = spec_of(kind);
    spec.wires = {30, 50, 100, 200, LineEnds::one, LineEnds::one};
    spec.periphery.path = TransposedPath::opposite_ends;
    const Crossbar<double> array(spec, weights(), 0, 1);
    const Matrix<double> y = test::random_matrix<double>(3, 7, 7);
    Matrix<double> x(3, 12);
    ReadContext read;
    array.transposed(y, x, array.all_columns(), Store::assign, read);
    // Columns driven at i = 0, rows sensed at j = M − 1: the transposed array with its ordinary ends.
    const WireSpec turned = {50, 30, 200, 100, LineEnds::one, LineEnds::one};
    const auto seen = [&](const Matrix<double>& g) -> Matrix<double> {
      return LineSolver(g.transpose(), turned).effective_matrix(1e-12);
    };
    Matrix<double> expected = seen(array.plus().conductance());
    const double middle = 0.5 * (spec.device.g_min_S + spec.device.g_max_S);
    if (kind == MappingKind::differential) expected -= seen(array.minus().conductance());
    if (kind == MappingKind::reference_column) {
      expected.rowwise() -= seen(array.minus().conductance()).row(0);
    }
    if (kind == MappingKind::offset) expected.array() -= middle;
    expected /= array.siemens_per_weight();
    // The effective matrix is solved to 1e-8 of conductances that are some times larger than their differences.
    CHECK(test::relative_error(x, Matrix<double>(y * expected)) < 1e-6);
    CHECK(test::relative_error(x, Matrix<double>(y * array.weights().transpose())) > 1e-4);
  }
}

TEST_CASE("mapping: an array beyond memory is refused before it is built", "[mapping]") {
  CHECK(array_memory_bytes(1000, 1000, MappingKind::differential, 4) == Approx(60e6));
  CHECK_NOTHROW(check_array_memory(1000, 1000, MappingKind::differential, 4, 61e6));
  CHECK_NOTHROW(check_array_memory(1000, 1000, MappingKind::differential, 4, 0));
  CHECK_THROWS_WITH(check_array_memory(100000, 200000, MappingKind::offset, 8, 16e9),
                    Catch::Contains("100000 x 200000") && Catch::Contains("needs 1.28e+03 GB"));
}

TEST_CASE("mapping: a restored conductance that is no number is refused", "[mapping]") {
  Crossbar<double> array(spec_of(MappingKind::differential), weights(), 6, 1);
  (*array.state()[0].values)(1, 2) = std::nan("");
  CHECK_THROWS_WITH(array.state_restored(), Catch::Contains("crossbar 6"));
}

TEST_CASE("mapping: a bare device is its conductance, between those of its window", "[mapping]") {
  CrossbarSpec spec = spec_of(MappingKind::single);
  spec.device.g_min_S = 1e-6;
  spec.device.g_max_S = 21e-6;
  spec.mapping.w_max = 0.7;
  Matrix<double> w = weights().cwiseAbs();
  w(0, 0) = 0;    // an open resistor: there is none below g_min
  w(1, 1) = 2.0;  // beyond the window
  Crossbar<double> array(spec, w, 0, 1);
  CHECK(array.w_max() == Approx(0.7).epsilon(1e-14));
  const double k = array.siemens_per_weight();
  CHECK(k == Approx(21e-6 / 0.7).epsilon(1e-14));
  const Matrix<double> expected = (k * w).cwiseMax(1e-6).cwiseMin(21e-6);
  CHECK(test::relative_error(array.plus().conductance(), expected) < 1e-13);
  CHECK(array.minus().conductance().size() == 0);
  CHECK(test::relative_error(array.weights(), expected / k) < 1e-13);
  CHECK(array.view().pedestal == 0);
  const Matrix<double> x = test::random_matrix<double>(5, 12, 4, 0.5), u = test::random_matrix<double>(5, 7, 5, 0.5);
  const Matrix<double> before = array.weights();
  Matrix<double> y(5, 7), v(5, 12);
  ReadContext read;
  array.forward(x, y, array.all_columns(), Store::assign, read);
  array.transposed(u, v, array.all_columns(), Store::assign, read);
  CHECK(test::relative_error(y, Matrix<double>(x * array.weights())) < 1e-13);
  CHECK(test::relative_error(v, Matrix<double>(u * array.weights().transpose())) < 1e-13);
  // Heat of a drive of 1 at 1 of weight for τ; devices within 1 % of a bound are reported as saturated.
  CHECK(array.traits().unit_heat_J ==
        Approx(k * std::pow(spec.circuit.read_voltage_V, 2) * spec.circuit.time_constant_s));
  for (const MapReading& reading : array.readings()) {
    const auto g = expected.array();
    if (reading.name == "saturated")
      CHECK(reading.value == Approx(static_cast<double>((g < 1.2e-6 || g > 20.8e-6).count()) / 84));
    if (reading.name == "devices") CHECK(reading.value == 84);
  }
  const Matrix<double> up = (before.array() + 0.01).cwiseMin(0.7).matrix();  // linear devices, and their upper bound
  array.apply_update(Matrix<double>::Constant(12, 7, 0.01));
  CHECK(test::relative_error(array.weights(), up) < 1e-10);
}

TEST_CASE("mapping: the digital copy of a bare device stays in its window", "[mapping]") {
  CrossbarSpec spec = spec_of(MappingKind::single);
  spec.mapping.w_max = 1;
  spec.programming.update = UpdateScheme::write_verify;
  Crossbar<double> array(spec, Matrix<double>::Constant(2, 2, 0.5), 0, 1);
  const double least = spec.device.g_min_S / spec.device.g_max_S;
  array.apply_update(Matrix<double>::Constant(2, 2, -5.0));  // far below: what is lost there is not owed
  const double tolerance = spec.programming.tolerance * spec.device.window_S() / array.siemens_per_weight();
  CHECK((array.weights().array() - least).abs().maxCoeff() <= tolerance * (1 + 1e-9));
  array.apply_update(Matrix<double>::Constant(2, 2, 0.25));
  CHECK((array.weights().array() - least - 0.25).abs().maxCoeff() <= tolerance * (1 + 1e-9));
}

}  // namespace nudge
