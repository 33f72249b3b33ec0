// SPDX-License-Identifier: Apache-2.0
// Arrays as labs write and read them: pulses that grow, lines that float, selectors.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/programming/write_devices.hpp"
#include "circuits/spice/exports.hpp"
#include "circuits/wires/solvers.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Matrix<double> conductances(Index rows, Index cols) {
  Matrix<double> g(rows, cols);
  fill_uniform<double>({5, Purpose::probe, 0}, 0, 0, std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return (2e-6 + 40e-6 * g.array()).matrix();
}

/// Read of the cell (0, M − 1) with all other lines open.
OpenLines others_open(Index rows, Index cols) {
  OpenLines open{std::vector<bool>(static_cast<std::size_t>(rows), true),
                 std::vector<bool>(static_cast<std::size_t>(cols), true)};
  open.rows.front() = false;
  open.columns.back() = false;
  return open;
}

/// A slow device whose state moves at constant speed: k (v/v_th − 1) per second.
DeviceSpec linear_vteam() {
  DeviceSpec spec;
  spec.model = "vteam";
  spec.g_min_S = 1e-6;
  spec.g_max_S = 4e-6;
  spec.pulses = 1000;
  spec.shape = {{"window", 0},   {"alpha_up", 1},   {"alpha_down", 1},    {"k_up", 1e5},
                {"k_down", 1e5}, {"pulse_up", 0.6}, {"pulse_down", -0.6}, {"pulse_width", 1e-8}};
  return spec;
}

}  // namespace

TEST_CASE("pulses that grow: amplitude and width of round k are those of the staircase", "[circuits]") {
  const DeviceSpec spec = linear_vteam();
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::write_verify;
  how.step_V = 0.1;
  how.step_width = 1.25;
  how.steps = 6;
  how.tolerance = 0.01;
  how.validate(spec);
  DeviceArray<double> array(spec, 1, 1, {});
  const auto state = [&](double g) { return (1 / g - 1 / spec.g_min_S) / (1 / spec.g_max_S - 1 / spec.g_min_S); };
  const double target = 2e-6;
  std::uint64_t operation = 0;
  const Matrix<double> targets = Matrix<double>::Constant(1, 1, target);
  const WriteReport report = write_array(array, targets, how, 0, operation);
  CHECK(report.failures == 0);
  // By hand: x += k (V_k/v_th − 1) t_k, V_k = 0.6 + 0.1 k, t_k = 10 ns 1.25^k, k at most 5, until within 1 % of 3 µS; past it
  // the other way from k = 0 again.
  double x = 0, seconds = 0;
  int rounds = 0, k = 0, before = 0;
  for (;; ++rounds) {
    const double g = 1 / (1 / spec.g_min_S + x * (1 / spec.g_max_S - 1 / spec.g_min_S));
    if (std::abs(target - g) <= 0.01 * 3e-6) break;
    const int way = target > g ? 1 : -1;
    k = way == before ? std::min(k + 1, 5) : 0;
    before = way;
    const double width = 1e-8 * std::pow(1.25, k);
    x += way * 1e5 * ((0.6 + 0.1 * k) / 0.5 - 1) * width;
    seconds += width;
    REQUIRE(rounds < 1000);
  }
  CHECK(rounds > 10);  // it has come to the last step
  CHECK(report.pulses.up + report.pulses.down == static_cast<std::uint64_t>(rounds));
  CHECK(report.reads == static_cast<std::uint64_t>(rounds) + 1);
  CHECK(state(array.conductance()(0, 0)) == Approx(x).epsilon(1e-8));
  CHECK(array.pulse_heat().total_s() == Approx(seconds).epsilon(1e-12));
}

TEST_CASE("pulses that grow reach devices that single small pulses leave slow", "[circuits]") {
  DeviceSpec spec = linear_vteam();
  spec.step_log_spread = 1;  // the slowest in 400 is 20 times slower
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::write_verify;
  how.burst = 0;
  const Matrix<double> target = Matrix<double>::Constant(20, 20, 2.5e-6);
  const auto reads = [&](double step_V) {
    how.step_V = step_V;
    DeviceArray<double> array(spec, 20, 20, {3, 1, 0});
    std::uint64_t operation = 0;
    const WriteReport report = write_array(array, target, how, 0, operation);
    CHECK(report.reads >= 400);
    return std::pair(report.reads, report.failures);
  };
  const auto flat = reads(0), rising = reads(0.05);
  CHECK(rising.first * 3 < flat.first);
  CHECK(rising.second <= flat.second);
}

TEST_CASE("what pulses that grow need", "[circuits]") {
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::write_verify;
  how.step_V = 0.1;
  CHECK_THROWS_WITH(how.validate(DeviceSpec{}), Contains("neither volts nor width"));
  how.scheme = ProgrammingScheme::open_loop_error;
  CHECK_THROWS_WITH(how.validate(linear_vteam()), Contains("nothing reads it"));
  how = {};
  how.lines = VerifyLines::floating;
  how.scheme = ProgrammingScheme::write_verify;
  CHECK_NOTHROW(how.validate(linear_vteam()));
  DeviceSpec gated = linear_vteam();
  gated.selector.kind = SelectorKind::transistor;
  CHECK_THROWS_WITH(how.validate(gated), Contains("so there are no sneak paths"));
}

TEST_CASE("sneak paths: equal devices have a closed form, others are a network of lines", "[circuits]") {
  // G N M/(N + M − 1): one device and three resistances in series.
  const Matrix<double> equal = sneak_conductance(Matrix<double>::Constant(6, 9, 1e-5));
  CHECK((equal.array() - 1e-5 * 6 * 9 / 14.0).abs().maxCoeff() < 1e-17);
  const Matrix<double> g = conductances(5, 4);
  const Matrix<double> seen = sneak_conductance(g);
  CHECK((seen - g).minCoeff() > 0);
  // The wires' solver with open lines: 1 mOhm against 25 kOhm and 9 lines, 4e-7.
  const WireSpec thin{1e-3, 1e-3};
  Matrix<double> volts = Matrix<double>::Zero(1, 5);
  volts(0, 0) = 0.2;
  const auto found = LineSolver(g, thin, DeviceSign::positive, others_open(5, 4)).solve(volts, 1e-13);
  CHECK(found.converged);
  CHECK(found.currents_A(0, 3) / 0.2 == Approx(seen(0, 3)).epsilon(1e-6));
  CHECK(sneak_share(g, CellLaw({}, {}), {}, 0.2) == Approx(seen(0, 3) / g(0, 3) - 1).epsilon(1e-5));
  // Tiles are arrays of their own.
  CHECK(sneak_conductance(g, {3, 2}).topLeftCorner(3, 2) == sneak_conductance(g.topLeftCorner(3, 2)));
}

TEST_CASE("verification with floating lines puts devices below their targets by what sneaks", "[circuits]") {
  const DeviceSpec spec = linear_vteam();
  ProgrammingSpec how;
  how.scheme = ProgrammingScheme::write_verify;
  how.lines = VerifyLines::floating;
  how.limit = 4000;
  const Matrix<double> target = Matrix<double>::Constant(3, 3, 3e-6);
  DeviceArray<double> array(spec, 3, 3, {});
  std::uint64_t operation = 0;
  const WriteReport report = write_array(array, target, how, 0, operation);
  CHECK(report.failures == 0);
  // Nine equal devices G with 9/5 G = 3 µS: G = 1.667 µS. All move alike (no spreads).
  const double expected = 3e-6 / (9.0 / 5);
  CHECK((array.conductance().array() - expected).abs().maxCoeff() < 0.01 * spec.window_S());
}

TEST_CASE("reads behind transistors see g/(1 + g R), and weights are of cells", "[circuits]") {
  CrossbarSpec spec;
  spec.device.selector = {SelectorKind::transistor, 1e4};
  spec.programming.scheme = ProgrammingScheme::write_verify;
  spec.programming.tolerance = 1e-3;
  Matrix<double> w(3, 4);
  w << 0.1, -0.4, 0.3, 0.9, -0.8, 0.2, 0.05, -0.6, 0.7, -0.1, 0.5, -1;
  const Crossbar<double> array(spec, w, 0, 1);
  const auto cell = [](double g) { return g / (1 + 1e4 * g); };
  const Matrix<double> seen = array.plus().conductance().unaryExpr(cell) - array.minus().conductance().unaryExpr(cell);
  CHECK((array.weights() * array.siemens_per_weight() - seen).cwiseAbs().maxCoeff() < 1e-18);
  // Written to 1e-3 of the window by devices: at most twice that of the window of weights, 2 w_max, times the steepest dc/dg = 1.
  const double window = cell(spec.device.g_max_S) - cell(spec.device.g_min_S);
  CHECK((array.weights() - w).cwiseAbs().maxCoeff() <
        2 * 1e-3 * spec.device.window_S() / window * array.w_max() + 1e-12);
  CHECK(array.siemens_per_weight() == Approx(window / array.w_max()));
  // Behind wires: the straight network of the cells.
  spec.wires = {2, 3};
  const Crossbar<double> wired(spec, w, 0, 1);
  const Matrix<double> lines =
      LineSolver(wired.plus().conductance().unaryExpr(cell), spec.wires).effective_matrix(1e-12) -
      LineSolver(wired.minus().conductance().unaryExpr(cell), spec.wires).effective_matrix(1e-12);
  CHECK((wired.weights() * wired.siemens_per_weight() - lines).norm() < 1e-7 * lines.norm());
}

TEST_CASE("spice: a 4 x 4 array of cells with selectors, wires and floating lines", "[spice]") {
  if (!test::ngspice_installed()) return;
  const Matrix<double> g = conductances(4, 4);
  const WireSpec wires{3, 5, 20, 30};
  const SelectorSpec none;
  for (const SelectorSpec& selector : {none, SelectorSpec{SelectorKind::transistor, 8e3, 0, 0},
                                       SelectorSpec{SelectorKind::exponential, 0, 0.05, 2e-8}}) {
    for (const bool floats : {false, true}) {
      const OpenLines open = floats ? others_open(4, 4) : OpenLines{};
      Matrix<double> volts(1, 4);
      volts << 0.5, 0.3, -0.2, 0.4;
      const auto found = NonlinearSolver(g, CellLaw({}, selector), wires, open).solve(volts);
      REQUIRE(found.status == Status::converged);
      const test::TemporaryDirectory folder;
      const std::string printed =
          test::run_ngspice(folder.path(), crossbar_netlist(g, wires, volts, {}, selector, open));
      for (Index j = floats ? 3 : 0; j < 4; ++j) {
        // ngspice's own reltol of 1e-9 on nonlinear circuits, its gmin of 1e-12 S beside 1e-6 S of a device.
        CHECK(test::printed_current(printed, j) ==
              Approx(found.currents_A(0, j)).margin(1e-6 * found.currents_A.cwiseAbs().maxCoeff()));
      }
    }
  }
}
