// SPDX-License-Identifier: Apache-2.0
// Laws of the parts of a chip, and the counts of tiles, against hand arithmetic and sums over all codes.
#include "circuits/chip/part_laws.hpp"

#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/energy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {

TEST_CASE("ADC law: the regression of arXiv:2404.06553 by hand, and ISAAC's converter beside it", "[chip]") {
  // 8 bits, 1.28 GHz, 32 nm. SNDR = 8 * 6.0206 + 1.7609 = 49.926 dB. FOM by rate: 213.7807 - 2.8719 ln(1.28e9) = 213.7807 - 2.8719 *
  // 20.9701 = 153.5567 dB, below the 154.07 dB by bits. Bound: 0.5 * 10^(-10.36307) = 2.1672e-11. ln of the factor: 26.0496 - 1.4702 +
  // 1.88004 ln 32 - 2.82913 ln 8 = 24.5794 + 6.51571 - 5.88300 = 25.2121, so 8.902e10: 1.9293 pJ. Five digits of each: 1e-3.
  const auto energy = survey_adc_energy_J(8, 1.28e9, 32e-9);
  REQUIRE(energy);
  CHECK(*energy == Approx(1.9293e-12).epsilon(1e-3));
  // ISAAC, Table I: 16 mW and 0.0096 mm2 for 8 converters at 1.28 GHz: 1.5625 pJ and 1200 um2. The law knows neither.
  CHECK(*energy / 1.5625e-12 == Approx(1).margin(0.5));
  // Area by hand: ln A = 1.34619 + 0.99328 * 3.46574 + 0.180715 * 20.9701 + 0.299124 * ln 1.9293 = 8.77488: 6470 um2.
  const auto area = survey_adc_area_m2(8, 1.28e9, 32e-9, *energy);
  REQUIRE(area);
  CHECK(*area == Approx(6470e-12).epsilon(2e-3));
  // At low rates the bits set the bound: a factor 10^(0.60206 - 0.32205) = 1.9055 a bit, times (B/(B+1))^2.82913.
  CHECK(*survey_adc_energy_J(9, 1e6, 32e-9) / *survey_adc_energy_J(8, 1e6, 32e-9) ==
        Approx(1.90552 * std::pow(8.0 / 9, 2.82913)).epsilon(1e-4));
  // At high ones the rate: 4 a bit, and 10^(0.28719 ln f) = f^0.66128 at equal bits.
  CHECK(*survey_adc_energy_J(9, 8e9, 32e-9) / *survey_adc_energy_J(8, 8e9, 32e-9) ==
        Approx(4 * std::pow(8.0 / 9, 2.82913)).epsilon(1e-4));
  CHECK(*survey_adc_energy_J(8, 8e9, 32e-9) / *survey_adc_energy_J(8, 4e9, 32e-9) ==
        Approx(std::pow(2, 0.66128)).epsilon(1e-4));
  CHECK(*survey_adc_energy_J(8, 1e6, 130e-9) / *survey_adc_energy_J(8, 1e6, 65e-9) ==
        Approx(std::pow(2, 1.88004)).epsilon(1e-4));
  for (const auto& [bits, rate] : {std::pair{3, 1e6}, std::pair{8, 2e10}, std::pair{8, 0.0}}) {
    CHECK_FALSE(survey_adc_energy_J(bits, rate, 32e-9));
    CHECK_FALSE(survey_adc_area_m2(bits, rate, 32e-9, 1e-12));
  }
  CHECK(walden_adc_energy_J(6, 10e-15) == Approx(640e-15).epsilon(1e-14));
}

TEST_CASE("ADC law: how far published parts are from it, as docs/reference/chip.md says", "[chip]") {
  // Harpe et al., IEEE JSSC 46:1585: 8 bits, 10.24 MS/s, 90 nm, 26.3 uW, 228 um x 240 um.
  const auto energy = survey_adc_energy_J(8, 10.24e6, 90e-9);
  REQUIRE(energy);
  CHECK(*energy / (26.3e-6 / 10.24e6) == Approx(4.66).epsilon(5e-3));
  CHECK(*survey_adc_area_m2(8, 10.24e6, 90e-9, *energy) / (228e-6 * 240e-6) == Approx(0.238).epsilon(5e-3));
  // HERMES core: 256 ADCs, 14 nm, 10.5 TOPS/W, 1.59 TOPS/mm2; 64 such cores make 63.1 TOPS: a product of 256 x 256 takes 133 ns.
  const double operations = 2.0 * 256 * 256, product_s = operations / (63.1e12 / 64);
  CHECK(product_s == Approx(133e-9).epsilon(5e-3));
  const auto one = survey_adc_energy_J(8, 1 / product_s, 14e-9);
  REQUIRE(one);
  CHECK(256 * *one / (operations / 10.5e12) == Approx(0.0074).epsilon(0.01));
  CHECK(256 * *survey_adc_area_m2(8, 1 / product_s, 14e-9, *one) / (1e-6 * operations / product_s / 1.59e12) ==
        Approx(0.282).epsilon(0.01));
}

TEST_CASE("DAC law: the mean of all codes, each the charge of its series capacitors", "[chip]") {
  for (const int bits : {1, 4, 6, 8}) {
    const double unit = 0.5e-15, volts = 1.2;
    const int n = 1 << bits;
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      // k units at V in series with n - k units at 0 V; a code of 0 charges nothing.
      const double top = k * unit, bottom = (n - k) * unit;
      sum += volts * volts * top * bottom / (top + bottom);
    }
    CHECK(dac_energy_J(bits, unit, volts) == Approx(sum / n).epsilon(1e-13));
    CHECK(dac_area_m2(bits, unit, 2e-3) == Approx(n * unit / 2e-3).epsilon(1e-14));
  }
}

TEST_CASE("adders and lines scale with the node as lengths do", "[chip]") {
  CHECK(adder_energy_J(32, 45e-9, 0.9) == Approx(0.1e-12).epsilon(1e-14));
  CHECK(adder_energy_J(8, 90e-9, 1.8) == Approx(0.25 * 2 * 4 * 0.1e-12).epsilon(1e-14));
  CHECK(adder_energy_J(8, 90e-9, 0) == Approx(0.25 * 2 * 0.1e-12).epsilon(1e-14));
  CHECK(adder_area_m2(16, 90e-9) == Approx(0.5 * 4 * 137e-12).epsilon(1e-14));
  CHECK(sum_bits(8, 1) == 8);
  CHECK(sum_bits(8, 2) == 9);
  CHECK(sum_bits(8, 5) == 11);
  // 1T1R of 48 F^2 at 130 nm: a pitch of 6.928 F = 0.9007 um, 0.2 fF/um.
  CHECK(line_capacitance_F(48, 130e-9, 0.2e-9) == Approx(0.18013e-15).epsilon(1e-4));
}

TEST_CASE("tiles have lines, converters and adders of their own", "[chip]") {
  // 100 x 40 in tiles of 64 x 16: 2 below each other (64, 36), 3 side by side (16, 16, 8), 8 lines at a converter.
  const TileLines cut = tile_lines(100, 40, {64, 16}, 1, 8);
  CHECK(cut.tiles == 6);
  CHECK(cut.row_lines == 300);
  CHECK(cut.column_lines == 80);
  CHECK(cut.adcs.forward == 2 * (2 + 2 + 1));
  CHECK(cut.adcs.transposed == 3 * (8 + 5));
  CHECK(cut.adders.forward == 5);
  CHECK(cut.adders.transposed == 2 * (8 + 5));
  CHECK(cut.most_terms == PerPort<long>{2, 3});
  CHECK(cut.most_lines == PerPort<Index>{16, 64});
  const TileLines whole = tile_lines(100, 40, {}, 2, 8);
  CHECK(whole.tiles == 2);
  CHECK(whole.most_lines == PerPort<Index>{40, 100});
  CHECK(whole.row_lines + whole.column_lines == 2 * 140);
  CHECK(whole.adcs.forward == 2 * 5);
  CHECK(whole.adcs.transposed == 2 * 13);
  CHECK(whole.adders.total() == 0);
}

TEST_CASE("reads of tiles count every tile's lines and conversions, whichever columns are read", "[chip]") {
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.tiles = {3, 4};
  for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
    port->dac.bits = 8;
    port->adc.bits = 8;
  }
  const Crossbar<double> array(spec, test::random_matrix<double>(7, 10, 2, 0.1), 0, 1);  // 3 x 3 tiles
  const auto reading = [&](bool forward, Columns columns) {
    ReadMeter meter;
    ReadContext read;
    read.relaxation = {0.3, 0.3};
    read.meter = &meter;
    const Matrix<double> x = test::random_matrix<double>(2, forward ? 7 : columns.count, 5, 1.0);
    Matrix<double> out(2, forward ? columns.count : 7);
    if (forward) {
      array.forward(x, out, columns, Store::assign, read);
    } else {
      array.transposed(x, out, columns, Store::assign, read);
    }
    return meter.total();
  };
  const ReadTotals all = reading(true, {0, 10});
  CHECK(all.dac_conversions.forward == 2 * 7 * 3);
  CHECK(all.dac_conversions.transposed + all.adc_conversions.transposed + all.partial_sums.transposed == 0);
  CHECK(all.driven == 2 * 7 * 3);
  CHECK(all.adc_conversions.forward == 2 * 10 * 3);
  CHECK(all.sensed == 2 * 10 * 3);
  CHECK(all.partial_sums.forward == 2 * 10 * 2);
  CHECK(all.cells == 2 * 2 * 7 * 10);             // inputs, devices of a pair
  const ReadTotals part = reading(true, {3, 2});  // the last column of the first tile and the first of the second
  CHECK(part.dac_conversions.forward == 2 * 7 * 2);
  CHECK(part.adc_conversions.forward == 2 * 2 * 3);
  CHECK(part.cells == 2 * 2 * 7 * 2);
  const ReadTotals back = reading(false, {3, 2});
  CHECK(back.dac_conversions.transposed == 2 * 2 * 3);
  CHECK(back.adc_conversions.transposed == 2 * 7 * 2);
  CHECK(back.partial_sums.transposed == 2 * 7 * 1);
  CHECK(back.dac_conversions.forward + back.adc_conversions.forward + back.partial_sums.forward == 0);
  CHECK(back.cells == part.cells);
  // Each conversion at the price of the port that made it.
  CircuitSpec circuit;
  circuit.adc_energy_J = {1e-12, 100e-12};
  circuit.dac_energy_J = {2e-12, 300e-12};
  ReadTotals both = part;
  both += back;
  const EnergyReport report = energy_report(both, circuit);
  CHECK(report.adc_J == Approx(2 * 2 * 3 * 1e-12 + 2 * 7 * 2 * 100e-12).epsilon(1e-14));
  CHECK(report.dac_J == Approx(2 * 7 * 2 * 2e-12 + 2 * 2 * 3 * 300e-12).epsilon(1e-14));
}

}  // namespace nudge
