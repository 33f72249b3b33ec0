// SPDX-License-Identifier: Apache-2.0
// Devices of a curved current over voltage in reads: closed form with ideal wires, Newton's method behind wires.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;

namespace {

CrossbarSpec curved(MappingKind kind, CurrentCurve curve) {
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.device.curve = curve;
  return spec;
}

Matrix<double> read(const Crossbar<double>& array, const Matrix<double>& drive, bool forward) {
  Matrix<double> out(drive.rows(), forward ? array.outputs() : array.inputs());
  ReadContext context;
  if (forward) {
    array.forward(drive, out, array.all_columns(), Store::assign, context);
  } else {
    array.transposed(drive, out, array.all_columns(), Store::assign, context);
  }
  return out;
}

}  // namespace

TEST_CASE("curved devices: a read sums their currents, both ways, for every mapping", "[curve]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const CurrentCurve curve{0.15, 2.0};
  const CrossbarSpec spec = curved(kind, curve);
  const Matrix<double> w = test::random_matrix<double>(20, 30, 1, 0.2);
  const Crossbar<double> array(spec, w, 0, 1);
  const double volts = spec.circuit.read_voltage_V;
  const double k = array.siemens_per_weight();
  const auto current = [&](double x) { return 0.15 * std::sinh(x * volts / 0.15) + 2.0 * std::pow(x * volts, 3); };
  for (const bool forward : {true, false}) {
    const Matrix<double> drive = test::random_matrix<double>(4, forward ? 20 : 30, 2);
    const Matrix<double> bent = drive.unaryExpr([&](double x) { return current(x) / volts; });
    Matrix<double> g = array.plus().conductance();
    if (kind == MappingKind::differential) g -= array.minus().conductance();
    if (kind == MappingKind::reference_column) g.colwise() -= array.minus().conductance().col(0);
    Matrix<double> expected = bent * (forward ? g : Matrix<double>(g.transpose())) / k;
    if (kind == MappingKind::offset) {  // taken off digitally, where the curve is not known
      const double middle = 0.5 * (spec.device.g_min_S + spec.device.g_max_S) / k;
      expected.colwise() -= middle * drive.rowwise().sum();
    }
    CHECK(test::relative_error(read(array, drive, forward), expected) < 1e-12);
    // Small signals see straight devices.
    CHECK(
        test::relative_error(
            read(array, Matrix<double>(1e-5 * drive), forward),
            Matrix<double>(1e-5 * drive * (forward ? array.weights() : Matrix<double>(array.weights().transpose())))) <
        1e-6);  // (1e-5 · 4 · 0.2/0.15)²/6 of each term, cancelling at most 1e3 times
  }
}

TEST_CASE("curved devices behind wires: a read misses only curvature times voltage drop", "[curve]") {
  const CurrentCurve curve{0, 3.0};
  double before = 0;
  for (const double ohm : {1.0, 0.5}) {
    CrossbarSpec spec = curved(MappingKind::offset, curve);
    spec.device.g_min_S = 1e-6;
    spec.device.g_max_S = 100e-6;
    spec.wires = {ohm, ohm};
    const Crossbar<double> array(spec, test::random_matrix<double>(32, 32, 3, 0.2), 0, 1);
    const double volts = spec.circuit.read_voltage_V;
    const double k = array.siemens_per_weight();
    const Matrix<double> ones = Matrix<double>::Ones(1, 32);
    Matrix<double> seen = read(array, ones, true);
    seen.array() += 32 * 0.5 * (spec.device.g_min_S + spec.device.g_max_S) / k;  // the pedestal back
    const auto exact = NonlinearSolver(array.plus().conductance(), curve, spec.wires).solve(volts * ones);
    REQUIRE(exact.status == Status::converged);
    const double missed = test::relative_error(seen, Matrix<double>(exact.currents_A / (volts * k)));
    // About (f' − f/V) = 2 c V² = 0.24 of a voltage drop of 3 % (32 x 32, 1 ohm, 50 uS): 0.8 %.
    CHECK(missed < 0.02);
    if (before > 0) CHECK(missed / before == Approx(0.5).epsilon(0.1));  // first order in the wires
    before = missed;
  }
}

TEST_CASE("curved devices: a curve too steep for the read voltage is refused", "[curve]") {
  CrossbarSpec spec = curved(MappingKind::differential, {0.005, 0});
  CHECK_THROWS_WITH(spec.validate(), Catch::Contains("device.iv_sinh = 0.005 V") && Catch::Contains("read_voltage"));
}
