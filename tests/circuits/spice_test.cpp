// SPDX-License-Identifier: Apache-2.0
// Exported netlists against Debian's ngspice: a crossbar with wires (DC) and a relaxing block (transient).
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "circuits/block_dynamics.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/spice/block_netlist.hpp"
#include "circuits/spice/crossbar_netlist.hpp"
#include "circuits/terms/causal_attention.hpp"
#include "circuits/terms/coupling.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "circuits/wires/line_solver.hpp"
#include "sim/base/rng.hpp"
#include "tests/circuits/ngspice.hpp"

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
  std::vector<std::unique_ptr<ForceTerm<double>>> terms;
  terms.push_back(std::make_unique<CausalAttention<double>>(channels, 2, 1.0, 1, output));
  terms.push_back(std::make_unique<Coupling<double>>(channels));
  terms.push_back(std::make_unique<HopfieldMemory<double>>(memories));
  const EquilibriumBlock<double> block(channels, std::move(terms), 0, input, {1.0, 1.0});
  BlockNetlist spec;
  spec.drive = normals(tokens, channels, 0.5, 6);
  spec.start = Matrix<double>::Zero(tokens, channels);
  const test::TemporaryDirectory folder;
  test::run_ngspice(folder.path(), block_netlist(block, 2, output, spec, "states.data"));

  // The same trajectory by Euler with a step of τ/2000 (first order: error below 1e-3 of the way).
  BlockDynamics<double> dynamics(block, tokens, 1);
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

}  // namespace nudge
