// SPDX-License-Identifier: Apache-2.0
// Physical units: seconds, watts and joules of reads, clamps, conversions and pulses.
#include "circuits/energy.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "circuits/block_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "sim/settle.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {

TEST_CASE("energy: pulses, clamps, kT/C and seconds", "[energy]") {
  // 1000 pulses of 2 V and 10 ns on 5 uS: 1000 · 4 · 5e-6 · 1e-8 J.
  CHECK(write_energy_J({600, 400}, {2, 10e-9}, {2, 10e-9}, 5e-6) == Approx(2e-10));
  CHECK(write_energy_J({600, 400}, {}, {}, 5e-6) == 0);
  CircuitSpec circuit;
  circuit.temperature_K = 300;
  circuit.node_capacitance_F = 100e-15;
  CHECK(node_noise_V(circuit) == Approx(0.2035e-3).epsilon(1e-3));  // 0.203 mV at 100 fF and 300 K
  CHECK(clamp_conductance_S(circuit) == Approx(4e-6));              // 100 fF/25 ns
  CHECK(seconds(24 * 0.35, circuit) == Approx(210e-9));
  const Matrix<double> z = Matrix<double>::Constant(2, 3, 0.5);
  const Matrix<double> x = Matrix<double>::Zero(2, 3);
  CHECK(clamp_power_W<double>(circuit, z, x) == Approx(4e-6 * 0.04 * 6 * 0.25));
}

TEST_CASE("energy: unit drives take V² times all conductance", "[energy]") {
  for (const MappingKind kind : {MappingKind::differential, MappingKind::reference_column, MappingKind::offset}) {
    CrossbarSpec spec;
    spec.mapping.kind = kind;
    const Crossbar<float> array(spec, test::random_matrix<float>(20, 30, 1), 0, 1);
    const double sum = static_cast<double>(array.plus().conductance().sum() + array.minus().conductance().sum());
    const auto k = static_cast<double>(array.siemens_per_weight());
    CHECK(unit_drive_power_W(array.view(), k, spec.circuit) == Approx(0.04 * sum).epsilon(1e-4));  // sums in float
  }
}

TEST_CASE("energy: a metered relaxation adds up its reads", "[energy]") {
  CrossbarSpec spec;
  spec.periphery.forward.adc.bits = 8;
  spec.circuit.adc_energy_J = 1e-12;
  spec.circuit.dac_energy_J = 5e-12;
  Crossbar<double> array(spec, test::random_matrix<double>(4, 6, 2, 0.1), 0, 1);
  std::vector<std::unique_ptr<ForceTerm<double>>> terms;
  terms.push_back(std::make_unique<HopfieldMemory<double>>(6));
  const EquilibriumBlock<double> block(4, std::move(terms), 0, array, {1.0, 0.0});
  BlockDynamics<double> dynamics(block, 2, 1);
  ReadMeter meter;
  ReadContext read;
  read.meter = &meter;
  dynamics.bind(test::random_matrix<double>(2, 4, 3), read);
  Matrix<double> z = Matrix<double>::Zero(2, 4);
  SettleOptions options;
  options.step = 0.25;
  options.max_steps = 10;
  options.final_residual = false;
  SettleWorkspace<double> scratch;
  settle<double>(dynamics, z, options, scratch);
  // Each step reads forward (2 tokens, 6 outputs converted) and backward (ideal converters).
  CHECK(meter.total().reads == 10 * (2 + 2));
  CHECK(meter.total().adc_conversions == 10 * 12);
  CHECK(meter.total().dac_conversions == 0);
  // Against the same steps by hand: energy of each drive over −ln(1 − ε) τ, which a step of ε takes with a leak of 1.
  const double duration = -std::log(0.75);
  const Matrix<double> g = array.plus().conductance() + array.minus().conductance();
  const auto watts = [&](const Matrix<double>& drive, const Matrix<double>& load) {
    return 0.04 * (drive.array().square().matrix() * load).sum();
  };
  ReadMeter again;
  double joules = 0;
  Matrix<double> state = Matrix<double>::Zero(2, 4);
  Matrix<double> f(2, 4);
  Matrix<double> h(2, 6);
  dynamics.read().meter = &again;
  for (int n = 0; n < 10; ++n) {
    ReadContext quiet;
    array.forward(state, h, array.all_columns(), Store::assign, quiet);
    joules += watts(state, g.rowwise().sum()) * duration * 25e-9;
    const Matrix<double> back = 2 * h.cwiseMax(0);  // −∂E/∂h of E = −Σ relu(h)²
    joules += watts(back, g.colwise().sum().transpose()) * duration * 25e-9;
    dynamics.force(state, f);
    state += 0.25 * f;
  }
  CHECK(meter.total().array_J == Approx(joules));
  CHECK(again.total().array_J == Approx(joules));
  const EnergyReport report = energy_report(meter.total(), spec.circuit, 3e-12);
  CHECK(report.conversions_J == Approx(120e-12));
  CHECK(report.total_J() == Approx(joules + 123e-12));
}

}  // namespace nudge
