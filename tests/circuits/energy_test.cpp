// SPDX-License-Identifier: Apache-2.0
// Physical units: seconds, watts and joules of reads, clamps, conversions and pulses.
#include "circuits/energy.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "sim/base/errors.hpp"
#include "sim/settle.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {

TEST_CASE("energy: the heat of a crossbar's pulses is that of both its arrays", "[energy]") {
  CrossbarSpec spec;
  spec.device.model = "vteam";  // whose pulses have volts and a width
  Crossbar<double> crossbar(spec, Matrix<double>::Constant(2, 3, 0.1), 0, 1);
  const auto heat = [&crossbar] {
    for (const MapReading& reading : crossbar.readings()) {
      if (reading.name == "write_energy") return reading.value;
    }
    return -1.0;
  };
  CHECK(heat() == 0);  // programmed by the statistics of some programming: no pulses
  crossbar.apply_update(Matrix<double>::Constant(2, 3, 0.01));
  CHECK(heat() > 0);
  CHECK(heat() == crossbar.plus().pulse_heat().total_J() + crossbar.minus().pulse_heat().total_J());
}

TEST_CASE("energy: clamps, kT/C and seconds", "[energy]") {
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
  spec.circuit.adc_energy_J = {1e-12, 7e-12};
  spec.circuit.dac_energy_J = {5e-12, 5e-12};
  Crossbar<double> array(spec, test::random_matrix<double>(4, 6, 2, 0.1), 0, 1);
  const Circuit<double> block = test::one_node_circuit<double>(
      4, [](auto& shared) { shared.template place<HopfieldMemory<double>>(6); }, 0, array, {1.0, 0.0});
  CircuitDynamics<double> dynamics(block, 2, 1);
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
  CHECK(meter.total().adc_conversions.forward == 10 * 12);
  CHECK(meter.total().dac_conversions.total() == 0);
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
  CHECK(report.conversions_J() == Approx(120e-12));
  CHECK(report.total_J() == Approx(joules + 123e-12));
}

TEST_CASE("energy: lines, amplifiers and digital work are counted beside the heat of a read", "[energy]") {
  for (const MappingKind kind : {MappingKind::differential, MappingKind::reference_column, MappingKind::offset}) {
    CrossbarSpec spec;
    spec.mapping.kind = kind;
    spec.circuit.amplifier_power_W = 2e-6;
    spec.circuit.line_capacitance_F = 1e-16;
    spec.circuit.digital_energy_J = 1e-12;
    const Crossbar<double> array(spec, test::random_matrix<double>(4, 6, 2, 0.1), 0, 1);
    const bool reference = kind == MappingKind::reference_column;
    const double devices = kind == MappingKind::differential ? 2 : 1;
    ReadMeter meter;
    ReadContext read;
    read.meter = &meter;
    read.relaxation = {0.3, 0.3};
    const Matrix<double> x = test::random_matrix<double>(3, 4, 3);
    const Matrix<double> y = test::random_matrix<double>(3, 2, 4);
    Matrix<double> out(3, 2);
    Matrix<double> back(3, 4);
    const Columns part{1, 2};
    array.forward(x, out, part, Store::assign, read);
    array.transposed(y, back, part, Store::assign, read);
    read.work(100);
    const ReadTotals all = meter.total();
    CHECK(all.driven == 3U * 4 + 3U * 2 + (reference ? 3U : 0U));
    CHECK(all.sensed == 3U * 2 + 3U * 4 + (reference ? 3U : 0U));
    // A row line has all 6 columns' devices on it, a column line 4; V = 0.2 V. The reference column is driven by -sum y.
    const double rows = 0.04 * x.squaredNorm() * (6 * devices + (reference ? 1 : 0));
    const double columns = 0.04 * y.squaredNorm() * 4 * devices;
    const double reference_line = reference ? 0.04 * 4 * y.rowwise().sum().squaredNorm() : 0;
    CHECK(all.cell_V2 == Approx(rows + columns + reference_line));
    CHECK(all.amplifier_s == Approx(static_cast<double>(all.sensed) * 0.3 * 25e-9));
    const EnergyReport report = energy_report(all, spec.circuit);
    CHECK(report.drivers_J == Approx(1e-16 * all.cell_V2));
    CHECK(report.amplifiers_J == Approx(2e-6 * all.amplifier_s));
    CHECK(report.digital_J == Approx(1e-10));
    CHECK(report.conversions_J() == 0);
    CHECK(report.total_J() == Approx(report.arrays_J + report.drivers_J + report.amplifiers_J + report.digital_J));
  }
}

TEST_CASE("energy: verify reads and transfers are counted", "[energy]") {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.periphery.forward.adc.bits = 8;
  spec.circuit.adc_energy_J = {1e-12, 7e-12};
  const auto reading = [](const LinearMap<double>& map, const std::string& name) {
    for (const MapReading& one : map.readings()) {
      if (one.name == name) return one.value;
    }
    return -1.0;
  };
  const Matrix<double> w = test::random_matrix<double>(4, 6, 2, 0.1);
  SECTION("verify: V² G t and a conversion for each") {
    spec.programming.scheme = ProgrammingScheme::write_verify;
    spec.programming.read_time = 2;
    const Crossbar<double> array(spec, w, 0, 1);
    const double reads = reading(array, "verify_reads");
    REQUIRE(reads >= 48);  // both devices of 24 pairs at least once
    const double heat = 0.04 * reading(array, "conductance_mean") * 2 * 25e-9;
    CHECK(reading(array, "verify_energy") == Approx(reads * (heat + 1e-12)));
  }
  SECTION("transfer: one column driven by 1 for one tau, and kept by a checkpoint") {
    spec.programming.update = UpdateScheme::tiki_taka;
    spec.rule.zero_shift = 0;
    spec.rule.columns = 2;
    RuledMap<float> map(spec, w.cast<float>(), 0, 1);
    map.apply_update(test::random_matrix<float>(4, 6, 5, 0.02));
    const auto value = [](const RuledMap<float>& of, const std::string& name) {
      for (const MapReading& one : of.readings()) {
        if (one.name == name) return one.value;
      }
      return -1.0;
    };
    CHECK(value(map, "transfer_reads") == 2);
    const double siemens = static_cast<double>(map.arrays().all.back()->plus().conductance().leftCols(2).sum() +
                                               map.arrays().all.back()->minus().conductance().leftCols(2).sum());
    // Sums of conductances in float.
    CHECK(value(map, "transfer_energy") == Approx(0.04 * siemens * 25e-9).epsilon(1e-5));  // a transposed read: no ADC
    RuledMap<float> other(spec, w.cast<float>(), 0, 1);
    auto saved = map.state();
    auto restored = other.state();
    for (std::size_t i = 0; i < saved.size(); ++i) *restored[i].values = *saved[i].values;
    other.state_restored();
    for (auto* m : {&map, &other}) m->apply_update(test::random_matrix<float>(4, 6, 6, 0.02));
    CHECK(value(other, "transfer_energy") == value(map, "transfer_energy"));
    CHECK(value(map, "transfer_reads") == 4);
    // The next column is an index: what a damaged file makes of it is refused.
    for (const float next : {-1.0f, 6.0f, 0.5f, std::nanf("")}) {
      auto damaged = other.state();
      (*damaged.back().values)(0, 1) = next;
      CHECK_THROWS_AS(other.state_restored(), UserError);
    }
  }
}

}  // namespace nudge
