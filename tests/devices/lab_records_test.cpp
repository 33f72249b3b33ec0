// SPDX-License-Identifier: Apache-2.0
// Records as labs keep them: LTP and LTD apart, one direction alone, missing readings, counters that begin anew, dates.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/io/time_stamp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

constexpr double low_uS = 2, high_uS = 20, rise = 0.05, fall = 0.07, noise_uS = 0.05;

/// Soft bounds, written out: rising .05 (20 − g) a pulse, falling .07 (g − 2), reads of .05 uS.
struct Ramps {
  double g = low_uS;
  int drawn = 0;
  std::vector<double> draws = std::vector<double>(4000);
  Ramps() { fill_normal<double>({17, Purpose::probe, 0}, 0, 0, std::span<double>(draws)); }

  double read() { return g + noise_uS * draws[static_cast<std::size_t>(drawn++)]; }
  void pulse(bool up) { g += up ? rise * (high_uS - g) : -fall * (g - low_uS); }
};

/// Rows of a ramp of 60 pulses: cycle, pulse, conductance, direction.
std::string ramp(Ramps& cell, int cycle, bool up, const char* row) {
  std::string text;
  for (int n = 0; n <= 60; ++n) {
    if (n > 0) cell.pulse(up);
    text += fmt::format(fmt::runtime(row), cycle, n, cell.read(), n == 0 ? "" : up ? "up" : "down") + "\n";
  }
  return text;
}

/// Rising and falling ramps as records of their own; between them the conductance drops by 30 %.
std::string split(const char* row = "{0},{1},{2:.4f},{3}") {
  Ramps cell;
  std::string text;
  for (int k = 0; k < 4; ++k) {
    text += ramp(cell, k + 1, k % 2 == 0, row);
    if (k % 2 == 0) cell.g = low_uS + 0.7 * (cell.g - low_uS);
  }
  return text;
}

std::vector<PulseRecord> pulses_of(const std::vector<LabRecord>& records) {
  std::vector<PulseRecord> all;
  for (const LabRecord& one : records) all.push_back(one.pulses);
  return all;
}

std::string notes_of(const TableLook& look) {
  std::string all;
  for (const Understood& one : look.understood) {
    for (const std::string& note : one.notes) all += note + "\n";
  }
  return all;
}

/// 242 reads of .05 uS leave both bounds to .05/√(reads near them) ≈ .02 uS; six of those.
constexpr double bound_S = 0.12e-6;

void check_bounds(const DeviceSpec& spec) {
  CHECK(std::abs(spec.g_min_S - 1e-6 * low_uS) < bound_S);
  CHECK(std::abs(spec.g_max_S - 1e-6 * high_uS) < bound_S);
}

}  // namespace

TEST_CASE("LTP and LTD as records of their own give the device that both ramps have", "[measured]") {
  const std::string head = "cycle,pulse,conductance_uS,direction\n";
  TableLook look;
  const std::vector<LabRecord> records = parse_lab_csv(head + split(), "split.csv", {}, &look);
  REQUIRE(records.size() == 4);
  CHECK(notes_of(look).empty());
  const PulseFit fit = fit_records(pulses_of(records), "soft_bounds");
  check_bounds(fit.spec);
  CHECK(!fit.unmeasured);
  // The same without a column of directions: each ramp goes one way.
  TableLook ways;
  const auto told = parse_lab_csv("cycle,pulse,conductance_uS\n" + split("{0},{1},{2:.4f}"), "w.csv", {}, &ways);
  REQUIRE(told.size() == 4);
  CHECK(told[0].pulses.direction[5] == Direction::up);
  CHECK(told[1].pulses.direction[5] == Direction::down);
  CHECK_THAT(notes_of(ways), Contains("2 records rise") && Contains("2 fall"));
  // The same as two files, and with a count that begins anew.
  const test::TemporaryDirectory dir;
  const std::string ltp = dir.path() / "ltp.csv", ltd = dir.path() / "ltd.csv";
  Ramps cell;
  std::ofstream(ltp) << "pulse,conductance_uS,direction\n" << ramp(cell, 1, true, "{1},{2:.4f},{3}");
  std::ofstream(ltd) << "pulse,conductance_uS,direction\n" << ramp(cell, 1, false, "{1},{2:.4f},{3}");
  const auto two = read_lab_files({ltp, ltd}, {});
  REQUIRE(two.size() == 2);
  check_bounds(fit_records(pulses_of(two), "soft_bounds").spec);
  // A lab's own names: the columns are said, and two such files are not taken for CrossSim's.
  std::ofstream(ltp) << "Zelle;Puls;Leitwert\n" << ramp(cell, 1, true, "A1;{1};{2:.4f}");
  std::ofstream(ltd) << "Zelle;Puls;Leitwert\n" << ramp(cell, 1, false, "A1;{1};{2:.4f}");
  TableLook said{"device=Zelle,pulse=Puls,g=Leitwert uS"};
  check_bounds(fit_records(pulses_of(read_lab_files({ltp, ltd}, {}, &said)), "soft_bounds").spec);
  TableLook anew;
  const auto counted =
      parse_lab_csv("pulse,conductance_uS,direction\n" + split("{1},{2:.4f},{3}"), "anew.csv", {}, &anew);
  CHECK(counted.size() == 4);
  CHECK_THAT(notes_of(anew), Contains("counted anew 3 times"));
}

TEST_CASE("a drop between two ramps of one record is pointed at", "[measured]") {
  Ramps cell;
  std::string text = "pulse,conductance_uS,direction\n" + ramp(cell, 1, true, "{1},{2:.4f},{3}");
  cell.g = low_uS + 0.7 * (cell.g - low_uS);
  for (int n = 61; n <= 120; ++n) {
    cell.pulse(false);
    text += fmt::format("{},{:.4f},down\n", n, cell.read());
  }
  TableLook look;
  parse_lab_csv(text, "drop.csv", {}, &look);
  // Without the drop the pulse at the top is .07 · 17 uS = 1.2 uS; with it 6 uS go at once.
  CHECK_THAT(notes_of(look), Contains("line 63: the first pulse down changes 6") && Contains("a cycle of its own"));
  TableLook whole;
  Ramps calm;
  std::string both = "pulse,conductance_uS,direction\n" + ramp(calm, 1, true, "{1},{2:.4f},{3}");
  for (int n = 61; n <= 120; ++n) {
    calm.pulse(false);
    both += fmt::format("{},{:.4f},down\n", n, calm.read());
  }
  parse_lab_csv(both, "whole.csv", {}, &whole);
  CHECK(notes_of(whole).empty());
}

TEST_CASE("one direction alone is fitted, and the other is named as not measured", "[measured]") {
  for (const std::string model : {"soft_bounds", "linear_step", "piecewise", "exponential_step", "label_curve"}) {
    CAPTURE(model);
    Ramps cell;
    const std::string text = "pulse,conductance_uS,direction\n" + ramp(cell, 1, true, "{1},{2:.4f},{3}");
    PulseFit fit = fit_records(pulses_of(parse_lab_csv(text, "ltp.csv")), model);
    CHECK(fit.unmeasured == Direction::down);
    CHECK(fit.spec.asymmetry == 0);
    CHECK_THAT(fit.warnings().at(0), Contains("pulses down were not measured"));
    for (const FitNumber& number : fit.likelihood.coordinates.numbers)
      CHECK(number.name.find("down") == std::string::npos);
    CHECK(fit.curve_residual < 0.01);  // reads of .05 of 17 uS are .3 %
    if (model == "soft_bounds") CHECK(std::abs(fit.spec.g_max_S - 1e-6 * high_uS) < bound_S);
  }
  CHECK_THROWS_WITH(parse_lab_csv("pulse,conductance_uS\n0,1\n1,2\n2,3\n3,2\n4,1\n", "b.csv"),
                    Contains("b.csv:2: column \"direction\" is missing, and this record goes both ways"));
}

TEST_CASE("RESET ramps of growing voltage alone tell where a device begins to move", "[measured]") {
  // VTEAM by Euler steps of 1 ns: 50 kOhm to 1 MOhm, −.7 V, k 6e5 1/s, power 2, window power 1; pulses of 1 us.
  std::string text = "cycle,pulse,conductance_uS,pulse_amplitude_V,width_us\n";
  std::vector<double> draws(1000);
  fill_normal<double>({5, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  std::size_t drawn = 0;
  for (int cycle = 1; cycle <= 3; ++cycle) {
    double x = 0.98;
    for (int n = 0; n <= 40; ++n) {
      const double volts = n == 0 ? 0 : -0.5 - 0.035 * n;
      for (int k = 0; k < 1000 && volts < -0.7; ++k) x -= 1e-9 * 6e5 * std::pow(volts / -0.7 - 1, 2) * x;
      const double uS = 1e6 / (1e6 + x * (50e3 - 1e6)) * (1 + 0.003 * draws[drawn++]);
      text += fmt::format("{},{},{:.6f},{:.3f},1\n", cycle, n, uS, volts);
    }
  }
  const std::vector<PulseRecord> records = pulses_of(parse_lab_csv(text, "reset.csv"));
  PulseFit fit = fit_records(records, "vteam");
  add_intervals(fit, records);
  CHECK(fit.unmeasured == Direction::up);
  const double threshold = fit.spec.shape_value("threshold_down");
  CHECK(threshold == Approx(-0.7).margin(0.02));  // half a step of the ramp, .0175 V
  CHECK(fit.spec.shape_value("alpha_down") == Approx(2).margin(0.2));
  CHECK(fit.spec.shape_value("threshold_up") == -threshold);
  CHECK(fit.curve_residual < 0.005);  // reads of .3 %
}

TEST_CASE("an instrument's overflow is a missing reading, counted and named", "[measured]") {
  const std::string head = "pulse,conductance_uS,direction\n";
  TableLook look;
  const auto records = parse_lab_csv(
      head + "0,1,\n1,2,up\n2,3,up\n3,9.91E+37,up\n4,5,up\n5,4,down\n6,OVLD,down\n7,---,down\n8,1.5,down\n9,1,down\n",
      "o.csv", {}, &look);
  REQUIRE(records.size() == 3);
  CHECK(records[0].pulses.conductance_S.size() == 3);
  CHECK(records[1].pulses.conductance_S == std::vector<double>{5e-6, 4e-6});
  CHECK(look.understood.at(0).missing_lines == std::vector<int>{5, 8, 9});
  CHECK_THAT(look.understood[0].text(""), Contains("3 readings are missing") && Contains("lines 5, 8, 9"));
  std::string bake = "cell,time_h,resistance_kOhm,temperature_C\n";
  for (int cell = 0; cell < 40; ++cell) {
    for (const int celsius : {85, 125}) {
      bake += fmt::format("c{0},0,{1},{2}\nc{0},2,{3},{2}\n", cell, 200 + cell, celsius, 204 + cell + cell % 7);
    }
  }
  bake += "c0,4,9.9E37,85\n";
  TableLook seen;
  const BakeData data = parse_bake({bake}, {"b.csv"}, 300, seen);
  CHECK(seen.understood.at(0).missing_lines == std::vector<int>{162});
  REQUIRE(data.cells.size() == 1);
  // 200 kOhm is 5 uS, and 204 kOhm 4.902 uS: resistances and names of cells are read as they are.
  CHECK(data.cells[0][0].starts_S[0] == Approx(5e-6).epsilon(1e-12));
  CHECK(data.cells[0][0].changes_S[0] == Approx(1 / 204e3 - 5e-6).epsilon(1e-9));
}

TEST_CASE("times may be dates or Unix seconds, with or without the time of programming", "[measured]") {
  CHECK(time_stamp_s("1970-01-02T00:00:01.5Z") == 86401.5);
  CHECK(time_stamp_s("2026/01/31 14:05") == time_stamp_s("2026-01-31T15:05:00+01:00"));
  for (const char* no : {"2026-02-30 10:00", "31/01/2026 10:00", "2026-01-31", "12.5", "", "2026-01-31 25:00"}) {
    CAPTURE(no);
    CHECK(!time_stamp_s(no));
  }
  const std::vector<LongColumn> known = {
      {"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}};
  const auto times = [&](const std::string& text) {
    TableLook look;
    return parse_long_table(text, "t.csv", known, {}, look).columns[1];
  };
  const std::string head = "cell,timestamp,G (uS)";
  CHECK(times(head +
              "\na,2026-01-31 10:00:00,5\na,2026-01-31 10:00:10.5,5\nb,2026-01-31 11:00,6\nb,2026-01-31 11:01,6\n") ==
        std::vector<double>{0, 10.5, 0, 60});
  CHECK(times(head + "\n1,1769853600,5\n1,1769853610,5\n") == std::vector<double>{0, 10});
  CHECK(times(head + ",programmed at\n1,2026-01-31 10:00:01,5,2026-01-31 10:00:00\n") == std::vector<double>{1});
  CHECK_THROWS_WITH(times(head + "\n1,2026-01-31 10:00:01,5\n1,12,5\n"), Contains("t.csv:3: time 12 s is not a date"));
  CHECK_THROWS_WITH(times(head + ",programmed at\n1,2026-01-31 10:00:01,5,2026-01-31 11:00:00\n"),
                    Contains("t.csv:2") && Contains("before its programming_time"));
}
