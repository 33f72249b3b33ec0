// SPDX-License-Identifier: Apache-2.0
#include "sim/base/units.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "sim/base/errors.hpp"

using nudge::Unit;

namespace {

std::string problem(const std::string& text, Unit unit) { return nudge::read_quantity(text, unit).problem; }

}  // namespace

TEST_CASE("a quantity is read to the double nearest to its decimal value") {
  // Exact comparisons on purpose: the prefix shifts the decimal exponent, so there is one rounding, as in a literal.
  CHECK(nudge::parse_quantity("25 uS", Unit::siemens) == 25e-6);
  CHECK(nudge::parse_quantity("25uS", Unit::siemens) == 25e-6);
  CHECK(nudge::parse_quantity("  0.1 \u00b5S ", Unit::siemens) == 0.1e-6);
  CHECK(nudge::parse_quantity("0.1 \u03bcS", Unit::siemens) == 0.1e-6);
  CHECK(nudge::parse_quantity("100 ns", Unit::second) == 100e-9);
  CHECK(nudge::parse_quantity("1e-3 V", Unit::volt) == 1e-3);
  CHECK(nudge::parse_quantity("-1.5e+2 mV", Unit::volt) == -0.15);
  CHECK(nudge::parse_quantity("+3 kOhm", Unit::ohm) == 3000.0);
  CHECK(nudge::parse_quantity("3 k\u03a9", Unit::ohm) == 3000.0);
  CHECK(nudge::parse_quantity("3 M\u2126", Unit::ohm) == 3e6);
  CHECK(nudge::parse_quantity("2 Gohm", Unit::ohm) == 2e9);
  CHECK(nudge::parse_quantity("7 fJ", Unit::joule) == 7e-15);
  CHECK(nudge::parse_quantity("10 pF", Unit::farad) == 10e-12);
  CHECK(nudge::parse_quantity("300 K", Unit::kelvin) == 300.0);
  CHECK(nudge::parse_quantity("85 C", Unit::kelvin) == Approx(358.15));
  CHECK(nudge::parse_quantity("-40 degC", Unit::kelvin) == Approx(233.15));
  CHECK(nudge::parse_quantity("25\u00b0C", Unit::kelvin) == Approx(298.15));
  CHECK(problem("85 C", Unit::second) != "");
  CHECK(nudge::parse_quantity("1.5 h", Unit::second) == 5400.0);
  CHECK(nudge::parse_quantity("2 d", Unit::second) == 172800.0);
  CHECK(nudge::parse_quantity("5 min", Unit::second) == 300.0);
  CHECK(problem("5 h", Unit::volt) != "");
  CHECK(nudge::parse_quantity("50 nm", Unit::metre) == 50e-9);
  CHECK(nudge::parse_quantity("5 m", Unit::metre) == 5.0);
  CHECK(nudge::parse_quantity("5 mm", Unit::metre) == 5e-3);
  CHECK(nudge::parse_quantity("1 MHz", Unit::hertz) == 1e6);
  CHECK(nudge::parse_quantity("1 mW", Unit::watt) == 1e-3);
  CHECK(nudge::parse_quantity("1 uA", Unit::ampere) == 1e-6);
}

TEST_CASE("a bare number is in SI units and a pure number may be a percentage") {
  CHECK(nudge::parse_quantity("0.3", Unit::none) == 0.3);
  CHECK(nudge::parse_quantity("0.3 1", Unit::none) == 0.3);
  CHECK(nudge::parse_quantity("5 %", Unit::none) == 0.05);
  CHECK(nudge::parse_quantity(".5", Unit::second) == 0.5);
  CHECK(nudge::parse_quantity("25e-6", Unit::siemens) == 25e-6);
}

TEST_CASE("a wrong unit is named together with the expected one and an example") {
  CHECK(problem("25 us", Unit::siemens) == "\"us\" is seconds (s); expected siemens (S), like \"25 uS\"");
  CHECK(problem("25 uX", Unit::siemens) == "unknown unit \"uX\"; expected siemens (S), like \"25 uS\"");
  CHECK(problem("5 %", Unit::volt) == "\"%\" is a pure number; expected volts (V), like \"200 mV\"");
  CHECK(problem("fast", Unit::second) == "not a number; expected seconds (s), like \"100 ns\"");
  CHECK(problem("", Unit::second) == "not a number; expected seconds (s), like \"100 ns\"");
  CHECK(problem("3 V", Unit::none) == "\"V\" is volts (V); expected a pure number, like \"0.3\" or \"5 %\"");
  CHECK(problem("1e999 s", Unit::second) ==
        "too large or too small for a number; expected seconds (s), like \"100 ns\"");
  CHECK_FALSE(problem("nan S", Unit::siemens).empty());
  CHECK_FALSE(problem("1.2.3 S", Unit::siemens).empty());
  CHECK_FALSE(problem("1 uuS", Unit::siemens).empty());
  CHECK_THROWS_AS(nudge::parse_quantity("25 us", Unit::siemens), nudge::UserError);
  CHECK_THROWS_WITH(nudge::parse_quantity("25 us", Unit::siemens), Catch::StartsWith("\"25 us\": "));
}

TEST_CASE("a quantity is written with the engineering prefix") {
  CHECK(nudge::format_quantity(25e-6, Unit::siemens) == "25 uS");
  CHECK(nudge::format_quantity(100e-9, Unit::second) == "100 ns");
  CHECK(nudge::format_quantity(1e-3, Unit::volt) == "1 mV");
  CHECK(nudge::format_quantity(0.0, Unit::volt) == "0 V");
  CHECK(nudge::format_quantity(-2.5, Unit::volt) == "-2.5 V");
  CHECK(nudge::format_quantity(123456.0, Unit::ohm) == "123.456 kOhm");
  CHECK(nudge::format_quantity(1e-18, Unit::second) == "1e-18 s");
  CHECK(nudge::format_quantity(3e15, Unit::hertz) == "3e15 Hz");
  CHECK(nudge::format_quantity(1e-4 / 3, Unit::siemens, 3) == "33.3 uS");
  CHECK(nudge::format_quantity(0.0012345, Unit::none) == "0.0012345");
  CHECK(nudge::format_quantity(1e-4, Unit::none) == "0.0001");
  CHECK(nudge::format_quantity(1e-5, Unit::none) == "1e-5");
  CHECK(nudge::format_quantity(1500.0, Unit::none) == "1500");
  CHECK(nudge::format_quantity(2.5e7, Unit::none) == "2.5e7");
}

TEST_CASE("what is written is read back as the same double") {
  const Unit unit = GENERATE(Unit::none, Unit::siemens, Unit::second, Unit::metre);
  // Irregular mantissas over 80 decades, and the ends of the normal range.
  double value = 1.0 / 3.0 * 1e-40;
  for (int i = 0; i < 500; ++i) {
    value *= 1.4459;
    REQUIRE(nudge::parse_quantity(nudge::format_quantity(value, unit), unit) == value);
    REQUIRE(nudge::parse_quantity(nudge::format_quantity(-value, unit), unit) == -value);
  }
  for (const double extreme : {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 0.0}) {
    CHECK(nudge::parse_quantity(nudge::format_quantity(extreme, unit), unit) == extreme);
  }
}
