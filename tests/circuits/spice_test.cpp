// SPDX-License-Identifier: Apache-2.0
// Exported netlists against Debian's ngspice: a crossbar with wires (DC) and a relaxing block (transient).
#include <cmath>
#include <fstream>
#include <sstream>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/spice/exports.hpp"
#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/coupling.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/rng.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {
namespace {

Matrix<double> normals(Index rows, Index cols, double scale, std::uint32_t entity) {
  Matrix<double> x(rows, cols);
  fill_normal<double>({1, Purpose::probe, entity}, 0, 0,
                      std::span<double>(x.data(), static_cast<std::size_t>(x.size())));
  return scale * x;
}

}  // namespace

TEST_CASE("spice: ngspice solves an exported 32 x 32 crossbar with wires to the same currents", "[spice]") {
  if (!test::ngspice_installed()) return;
  Matrix<double> g(32, 32);
  fill_uniform<double>({2, Purpose::probe, 0}, 0, 0, std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  g = (1e-6 + 99e-6 * g.array()).matrix();
  const Matrix<double> volts = normals(1, 32, 0.2, 3);
  const WireSpec wires{1, 2, 10, 20, LineEnds::one, LineEnds::one};
  const Matrix<double> expected = LineSolver(g, wires).solve(volts, 1e-12).currents_A;
  const test::TemporaryDirectory folder;
  const std::string printed = test::run_ngspice(folder.path(), crossbar_netlist(g, wires, volts));
  for (Index j = 0; j < 32; ++j) {
    // 1e-6 of full scale, the largest current: ngspice's relative tolerance is 1e-3 for nonlinear circuits, but a linear one
    // is solved directly; what remains is its gmin of 1e-12 S per node.
    CHECK(test::printed_current(printed, j) == Approx(expected(0, j)).margin(1e-6 * expected.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("spice: ngspice relaxes an exported block to the same equilibrium in the same time", "[spice]") {
  if (!test::ngspice_installed()) return;
  constexpr Index tokens = 2;
  constexpr Index channels = 4;
  constexpr Index memories = 6;
  Matrix<double> weights = normals(channels, 4 * channels + memories, 0.4, 4);
  weights.rightCols(memories) *= 0.25;  // 2 ‖W_m‖₂² well below the clamp: bounded energy
  DigitalMatrix<double> input(weights);
  DigitalMatrix<double> output(normals(channels, channels, 0.5, 5));
  const auto place = [&](SharedArray<double>& array) {
    array.place<CausalAttention<double>>(3 * channels, 2, 1.0, 1, output);
    array.place<Coupling<double>>(channels);
    array.place<HopfieldMemory<double>>(memories);
  };
  const Circuit<double> block = test::one_node_circuit<double>(channels, place, 0, input, {1.0, 1.0});
  BlockNetlist spec;
  spec.drive = normals(tokens, channels, 0.5, 6);
  spec.start = Matrix<double>::Zero(tokens, channels);
  const test::TemporaryDirectory folder;
  test::run_ngspice(folder.path(), block_netlist(block, 2, output, spec, "states.data"));

  // The same trajectory by Euler with a step of τ/2000 (first order: error below 1e-3 of the way).
  CircuitDynamics<double> dynamics(block, tokens, 1);
  dynamics.bind(spec.drive, ReadContext{});
  const double step = 1.0 / 2000;
  std::vector<Matrix<double>> trajectory{spec.start};
  Matrix<double> z = spec.start;
  Matrix<double> f(tokens, channels);
  for (int n = 0; n < 2000 * 20; ++n) {
    dynamics.force(z, f);
    z += step * f;
    trajectory.push_back(z);
  }
  const auto settled_at = [&](auto distance,
                              std::size_t count) {  // first time after which 1 % of the way is left for good
    std::size_t last = 0;
    for (std::size_t i = 0; i < count; ++i) last = distance(i) > 0.01 * z.norm() ? i : last;
    return last + 1;
  };
  std::vector<double> times;
  std::vector<Matrix<double>> spice;
  std::ifstream data(folder.path() / "states.data");
  for (std::string text; std::getline(data, text);) {
    std::istringstream line(text);
    double t = 0;
    Matrix<double> row(tokens, channels);
    if (!(line >> t)) continue;
    for (Index i = 0; i < row.size(); ++i) line >> row.data()[i];
    times.push_back(t);
    spice.push_back(row);
  }
  REQUIRE(spice.size() > 100);
  CHECK((spice.back() - z).norm() / z.norm() <
        1e-5);  // 20 τ leave e⁻²⁰ of a mode of rate 1/τ; ngspice's reltol is 1e-6
  const auto ours = settled_at([&](std::size_t i) { return (trajectory[i] - z).norm(); }, trajectory.size());
  const auto theirs = settled_at([&](std::size_t i) { return (spice[i] - z).norm(); }, spice.size());
  // 1 %: the print step is 1 ns of about 500 ns, the Euler error 0.1 %.
  CHECK(times[theirs] == Approx(static_cast<double>(ours) * step * spec.time_constant_s).epsilon(0.01));
}

namespace {

/// The node voltages (T, C) that a transient of an exported block ends with.
Matrix<double> last_voltages(const std::filesystem::path& file, Index tokens, Index channels) {
  Matrix<double> z = Matrix<double>::Zero(tokens, channels);
  std::ifstream data(file);
  for (std::string text; std::getline(data, text);) {
    std::istringstream line(text);
    double time = 0;
    if (!(line >> time)) continue;
    for (Index i = 0; i < z.size(); ++i) line >> z.data()[i];
  }
  return z;
}

}  // namespace

TEST_CASE("spice: a whole EP step of a block of curved devices, node voltages and gradient", "[spice]") {
  if (!test::ngspice_installed()) return;
  constexpr Index tokens = 2, channels = 5, memories = 8;
  constexpr double beta = 0.1;
  CrossbarSpec arrays;
  arrays.device.curve = {0.3, 1.0};  // 7 % and 4 % more current than straight devices at a drive of 1
  arrays.device.programming_error = 0.01;
  Matrix<double> weights = normals(channels, 3 * channels + memories, 0.3, 14);
  weights.rightCols(memories) *= 0.3;
  Crossbar<double> input(arrays, weights, 0, 1);
  Crossbar<double> output(arrays, normals(channels, channels, 0.4, 15), 1, 1);
  const auto place = [&](SharedArray<double>& array) {
    array.place<CausalAttention<double>>(3 * channels, 1, 0.7, 1, output);
    array.place<HopfieldMemory<double>>(memories);
  };
  const Circuit<double> block = test::one_node_circuit<double>(channels, place, 0, input, {0.7, 0.5});
  const Matrix<double> drive = normals(tokens, channels, 0.5, 16);
  const Matrix<double> cost = normals(tokens, channels, 0.3, 17);  // ∂C/∂z of a linear cost

  const test::TemporaryDirectory folder;
  const auto simulated = [&](double sign) {
    BlockNetlist spec;
    spec.drive = drive;
    spec.start = Matrix<double>::Zero(tokens, channels);
    spec.nudge = -sign * beta * cost;
    spec.curve = arrays.device.curve;
    spec.read_voltage_V = arrays.circuit.read_voltage_V;
    spec.stop_s = 40 * spec.time_constant_s;
    spec.print_step_s = 0.1 * spec.time_constant_s;
    test::run_ngspice(folder.path(), block_netlist(block, 1, output, spec, "states.data"));
    return last_voltages(folder.path() / "states.data", tokens, channels);
  };
  CircuitDynamics<double> dynamics(block, tokens, 1);
  dynamics.bind(drive, ReadContext{});
  const auto settled = [&](double sign) {
    Matrix<double> z = Matrix<double>::Zero(tokens, channels);
    Matrix<double> f(tokens, channels);
    for (int n = 0; n < 2000; ++n) {  // decays of at most 0.9 per step: to rounding
      dynamics.force(z, f);
      z += 0.2 * (f - sign * beta * cost);
    }
    return z;
  };
  const Matrix<double> free = settled(0), plus = settled(1), minus = settled(-1);
  // reltol 1e-6 of every step's solution, and e⁻²⁰ of the transient.
  for (const double sign : {0.0, 1.0, -1.0}) {
    CAPTURE(sign);
    const Matrix<double> ours = sign == 0 ? free : sign > 0 ? plus : minus;
    CHECK((simulated(sign) - ours).norm() < 1e-5 * ours.norm());
  }
  const Matrix<double> a = (minus - plus) / (2 * beta);
  const Matrix<double> spice_a = (simulated(-1) - simulated(1)) / (2 * beta);
  // The local rule ⟨a, ∂F/∂W⟩ at the free state, with a of either.
  Linearization<double>& at = dynamics.linearize(free);
  const auto gradient = [&](const Matrix<double>& adjoint) {
    struct Sink final : GradientSink<double> {
      Matrix<double> in, out;
      void accumulate(int p, Columns c, double s, ConstMatrixRef<double> x, ConstMatrixRef<double> y) override {
        (p == 0 ? in : out).middleCols(c.begin, c.count) += s * x.transpose() * y;
      }
      void accumulate(int /*p*/, double /*s*/, ConstMatrixRef<double> /*g*/) override {}
    } sink;
    sink.in = Matrix<double>::Zero(channels, 3 * channels + memories);
    sink.out = Matrix<double>::Zero(channels, channels);
    at.accumulate_parameter_gradient(adjoint, 1.0, sink);
    Matrix<double> all(channels, 4 * channels + memories);
    all << sink.in, sink.out;
    return all;
  };
  // The difference of two states magnifies 1e-6 ‖z‖ by 1/(2β ‖a‖): about 1e-4 of the gradient.
  CHECK((gradient(spice_a) - gradient(a)).norm() < 2e-4 * gradient(a).norm());
}

}  // namespace nudge
