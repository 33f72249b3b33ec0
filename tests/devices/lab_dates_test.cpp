// SPDX-License-Identifier: Apache-2.0
// Dates with the day or the month first, tables without names, files given twice, and currents of LTP beside LTD.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/fit_noise.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/time_stamp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Times of a table with these cells in its column of times.
std::vector<double> times_of(const std::vector<std::string>& cells, TableLook& look) {
  std::string text = "cell;timestamp;G (uS)\n";
  for (const std::string& cell : cells) text += "1;" + cell + ";5\n";
  return parse_long_table(
             text, "t.csv",
             {{"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {}, look)
      .columns[1];
}

std::vector<double> times_of(const std::vector<std::string>& cells) {
  TableLook look;
  return times_of(cells, look);
}

}  // namespace

TEST_CASE("a date with the year last is read where a day above 12 tells its order", "[dates]") {
  TableLook look;
  CHECK(times_of({"05/01/2026 10:00:00", "31/01/2026 10:00:01"}, look) == std::vector<double>{0, 26 * 86400 + 1});
  CHECK_THAT(look.understood.at(0).text(""), Contains("dates are day, month, year: line 3 tells"));
  CHECK(times_of({"1/5/2026 11:59:59 PM", "1/31/2026 12:00:00 AM"}) == std::vector<double>{0, 25 * 86400 + 1});
  CHECK(times_of({"31.1.2026 9:05", "1.2.2026 9:06"}) == std::vector<double>{0, 86460});  // points: the day is first
  CHECK(times_of({"02.01.2026 9:05:00,5", "03.01.2026 9:05:00"}) == std::vector<double>{0, 86399.5});
  CHECK_THROWS_WITH(
      times_of({"05/01/2026 10:00:00", "06/01/2026 10:00:01"}),
      Contains("t.csv:2") && Contains("month 5 and day 1, or month 1 and day 5") && Contains("2026-01-31 14:05:09"));
  CHECK_THROWS_WITH(times_of({"13/01/2026 10:00", "01/13/2026 10:01"}),
                    Contains("t.csv:3") && Contains("in another order than line 2"));
  CHECK_THROWS_WITH(times_of({"31/01/2026", "31/01/2026"}), Contains("t.csv:2") && Contains("2026-01-31 14:05:09"));
  CHECK_THROWS_WITH(times_of({"31/02/2026 10:00", "13/01/2026 10:01"}), Contains("t.csv:2"));
  CHECK(date_front("31/01/2026 10:00")->first == 31);
  CHECK(!date_front("2026-01-31 10:00"));
  CHECK(!date_front("3.14"));
  CHECK(!date_front("1/2/3"));
}

TEST_CASE("every column of dates has an order of its own", "[dates]") {
  const auto times = [](const std::string& rows, TableLook& look) {
    return parse_long_table("programmed at;timestamp;G (uS)\n" + rows, "t.csv",
                            {{"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {}, look)
        .columns[0];
  };
  TableLook iso;
  CHECK(times("31/01/2026 14:05:00;2026-01-31 14:05:01;5\n31/01/2026 14:05:00;2026-01-31 14:05:10;5\n", iso) ==
        std::vector<double>{1, 10});
  CHECK_THAT(iso.understood.at(0).text(""), Contains("dates are day, month, year: line 2 tells"));
  TableLook both;
  CHECK(times("31/01/2026 14:05:00;1/31/2026 2:05:01 PM;5\n", both) == std::vector<double>{1});
  CHECK_THAT(both.understood.at(0).text(""), Contains("dates are day, month, year: line 2 tells") &&
                                                 Contains("dates are month, day, year: line 2 tells"));
  TableLook other;  // 1 February of a table whose other dates have the day first
  CHECK(times("31/01/2026 14:05:00;01/02/2026 14:05:00;5\n", other) == std::vector<double>{86400});
  TableLook none;
  CHECK_THROWS_WITH(times("01/02/2026 14:05:00;2026-02-01 14:05:01;5\n", none),
                    Contains("t.csv:2") && Contains("may be"));
}

TEST_CASE("places in a table without names are what --columns speaks of", "[columns]") {
  std::string table;
  for (int cell = 0; cell < 40; ++cell) {
    for (const int t : {1, 100}) table += fmt::format("x{0},{0},{1},{2},7\n", cell, t, 5 + 0.01 * cell * std::sqrt(t));
  }
  const std::vector<LongColumn> known = {
      {"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}};
  const std::vector<std::string> bare = {"cell", "time", "conductance"};
  TableLook look{"cell=COL2,time=COL3 ms,g=COL4 uS"};
  const LongTable read = parse_long_table(table, "t.csv", known, bare, look);
  CHECK(read.columns[1][1] == Approx(0.1));
  CHECK(read.columns[2][0] == Approx(5e-6));
  CHECK_THAT(look.understood.at(0).text(""), Contains("no header") && Contains("columns left aside: COL1, COL5"));
  TableLook none;
  CHECK_THROWS_WITH(parse_long_table(table, "t.csv", known, bare, none),
                    Contains("t.csv:1: 5 columns without a header") && Contains("--columns"));
  TableLook beyond{"g=COL9 uS"};
  CHECK_THROWS_WITH(parse_long_table(table, "t.csv", known, bare, beyond),
                    Contains("t.csv: --columns: there is no column \"COL9\""));  // lines count from 1
  TableLook twice{"cell=COL2,time=COL2 s,g=COL4 uS"};
  CHECK_THROWS_WITH(parse_long_table(table, "t.csv", known, bare, twice),
                    Contains("column \"COL2\" is both cell and time"));
  TableLook doubled{"cell=COL2,time=COL3,g=COL4 uS,g=COL5 uS"};
  CHECK_THROWS_WITH(parse_long_table(table, "t.csv", known, bare, doubled),
                    Contains("conductance is both \"COL4\" and \"COL5\""));
  TableLook pulses{"pulse=COL1,g=COL2 uS"};
  const auto records = parse_lab_csv("0,1.5\n1,2.5\n2,3.25\n3,3.75\n4,4\n", "p.csv", {}, &pulses);
  CHECK(records.at(0).pulses.conductance_S[1] == Approx(2.5e-6));
  std::string reads;
  for (int n = 0; n < 300; ++n) reads += fmt::format("{},{},a,b,c\n", 0.01 * n, 10 + 0.1 * ((n * 7) % 11));
  TableLook of_reads{"time=COL1 s,g=COL2 uS"};
  CHECK(parse_read_records(reads, "r.csv", 0, of_reads).at(0).conductance_S[1] == Approx(10.7e-6));
}

TEST_CASE("a file given twice is refused, under its name and under another", "[twice]") {
  const test::TemporaryDirectory folder;
  const auto written = [&folder](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string text = "pulse,conductance_uS\n0,1\n1,2\n2,2.5\n3,2.7\n4,2.8\n";
  const std::string a = written("a.csv", text), b = written("b.csv", text),
                    c = written("c.csv", "pulse,conductance_uS\n0,2.8\n1,2\n2,1.5\n3,1.2\n4,1.1\n");
  CHECK_THROWS_WITH(read_lab_files({a, a}, {}), Contains("the same file is given twice"));
  CHECK_THROWS_WITH(read_lab_files({a, b}, {}), Contains("a.csv") && Contains("b.csv: both hold the same bytes"));
  CHECK(read_lab_files({a, c}, {}).size() == 2);
  CHECK_THROWS_WITH(fit_bake({a, b}, {}), Contains("both hold the same bytes"));
}

TEST_CASE("LTP and LTD side by side may be currents", "[currents]") {
  const std::string rows = "0,0.1,0.4\n1,0.2,0.3\n2,0.3,0.2\n3,0.4,0.1\n";
  CsvScale scale;
  scale.read_voltage_V = 0.1;
  const auto g = [&](const std::string& text, const CsvScale& by) {
    return parse_lab_csv(text, "l.csv", by).at(0).pulses.conductance_S;
  };
  const std::vector<double> expected = g("pulse,LTP (uS),LTD (uS)\n0,1,4\n1,2,3\n2,3,2\n3,4,1\n", {});
  const std::vector<double> read = g("pulse,LTP (uA),LTD (uA)\n" + rows, scale);
  REQUIRE(read.size() == expected.size());
  for (std::size_t k = 0; k < read.size(); ++k) CHECK(read[k] == Approx(expected[k]).epsilon(1e-9));
  CHECK_THROWS_WITH(g("pulse,LTP (uA),LTD (uA)\n" + rows, {}),
                    Contains("l.csv:2") && Contains("at which voltage were they read?"));
  CHECK_THROWS_WITH(g("pulse,LTP (uS),LTD (uS)\n" + rows, scale), Contains("l.csv:2") && Contains("current"));
}

TEST_CASE("a device that overflows to its end has failed there", "[endurance_fit]") {
  const auto fit = [](const std::string& text, TableLook& look) {
    bool pulses = false;
    const std::vector<CycledDevice> devices = parse_endurance(text, "e.csv", look, pulses);
    return fit_endurance(devices, pulses);
  };
  TableLook look;
  const EnduranceFit burnt =
      fit("device,cycle,LRS_kOhm,HRS_kOhm\na,1,5,100\na,1000,5,100\na,10000,9.91E+37,9.91E+37\na,100000,OVLD,OVLD\n"
          "b,1,5,100\nb,1000,5,9.91E+37\nb,10000,5,100\nc,1,5,100\nc,1000,5,100\nc,10000,---,---\n",
          look);
  REQUIRE(burnt.lives.size() == 3);
  CHECK(burnt.failed == 1);
  // Devices named by words are in the order of the file from the last one on.
  CHECK(burnt.lives[2].alive == 1000);
  CHECK(burnt.lives[2].died == 10000);
  CHECK(!burnt.lives[1].failed());  // an off state beyond the range is a wide window
  CHECK(!burnt.lives[0].failed());  // dashes are no reading
  CHECK_THAT(look.understood.at(0).text(""), Contains("1 devices end with an overflow of their on state"));
  // A reading that comes back was a failed reading.
  TableLook back;
  CHECK(fit("cycle,LRS_kOhm,HRS_kOhm\n1,5,100\n10,9.9E37,9.9E37\n100,5,100\n", back).failed == 0);
}

TEST_CASE("a device that overflows from its first row on is counted or named", "[endurance_fit]") {
  const auto fit = [](const std::string& text, TableLook& look) {
    bool pulses = false;
    const std::vector<CycledDevice> devices = parse_endurance(text, "e.csv", look, pulses);
    return fit_endurance(devices, pulses);
  };
  TableLook dead;
  const EnduranceFit first =
      fit("device,cycle,LRS_kOhm,HRS_kOhm\n1,1,9.91E+37,9.91E+37\n1,100,9.91E+37,9.91E+37\n2,1,10,100\n2,100,10,100\n",
          dead);
  CHECK_THAT(endurance_text(first), Contains("2 devices, 1 failed"));
  CHECK_THAT(dead.understood.at(0).text(""), Contains("1 devices end with an overflow of their on state"));
  CHECK(first.lives.back().alive == 0);
  CHECK(first.lives.back().died == 1);
  CHECK_THAT(endurance_text(first), !Contains("lasted"));
  // Both off readings of device 1 are beyond the range; device 3 is dead before its first cycle.
  TableLook off;
  const EnduranceFit wide = fit(
      "device,cycle,LRS_kOhm,HRS_kOhm\n1,1,10,9.9E37\n1,100,10,9.9E37\n2,1,10,100\n2,100,10,100\n3,0,9.9E37,9.9E37\n",
      off);
  CHECK(wide.lives.size() == 1);
  CHECK_THAT(off.understood.at(0).text(""), Contains("2 devices are left out") && Contains("they begin in lines 2, 6"));
}

TEST_CASE("a spread at the end of its search is not printed", "[endurance_fit]") {
  const auto text = [](const std::string& table) {
    TableLook look;
    bool pulses = false;
    const std::vector<CycledDevice> devices = parse_endurance(table, "e.csv", look, pulses);
    return endurance_toml(fit_endurance(devices, pulses), "e.csv");
  };
  for (const char* table :
       {"device,cycle,LRS (uS),HRS (uS)\n1,1,100,10\n1,100,100,10\n1,1000,20,18\n2,1,100,10\n2,100,100,10\n"
        "2,10000,20,18\n",
        "device,cycle,LRS_kOhm,HRS_kOhm\n1,0,10,100\n1,1,50,60\n2,0,10,100\n2,1,50,60\n"}) {
    CHECK_THAT(text(table), Contains("spread       not determined") && Contains("look more often") &&
                                !Contains("cycle longer") && !Contains("endurance_spread"));
  }
}
