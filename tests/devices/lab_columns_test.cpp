// SPDX-License-Identifier: Apache-2.0
// Columns that tell devices apart, units and readings that are told twice, grouped digits, clocks, and readings that no device makes.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "devices/fit/device_columns.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/iv_sweep.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/number_marks.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Three devices of 12 pulses, named by `front` in each row.
std::string three(const std::string& head, const std::function<std::string(int)>& front) {
  std::string text = head + ",pulse,conductance_uS,direction\n";
  for (int device = 0; device < 3; ++device) {
    for (int n = 0; n <= 12; ++n) {
      const double top = 20 + 30 * device, g = n <= 6 ? top * (n + 1) / 8 : top * (14 - n) / 8;
      text += fmt::format("{},{},{:.4f},{}\n", front(device), n, g, n == 0 ? "" : n <= 6 ? "up" : "down");
    }
  }
  return text;
}

std::vector<std::string> devices_of(const std::string& text, const std::string& columns = "") {
  TableLook look{columns};
  std::vector<std::string> devices;
  for (const LabRecord& one : parse_lab_csv(text, "a.csv", {}, &look)) devices.push_back(one.device);
  return devices;
}

/// Microsiemens of one record whose readings are written by `write`.
std::vector<double> record_uS(const std::string& text, const std::string& columns = "", TableLook* seen = nullptr) {
  TableLook look{columns};
  std::vector<double> out;
  const std::vector<LabRecord> records = parse_lab_csv(text, "a.csv", {}, &look);
  for (const double g : records.at(0).pulses.conductance_S) out.push_back(1e6 * g);
  if (seen != nullptr) *seen = look;
  return out;
}

std::string semicolons(const std::vector<std::string>& readings) {
  std::string text = "pulse;conductance_nS\n";
  for (std::size_t n = 0; n < readings.size(); ++n) text += fmt::format("{};{}\n", n, readings[n]);
  return text;
}

std::string notes_of(const TableLook& look) {
  std::string all;
  for (const Understood& one : look.understood) all += one.text("");
  return all;
}

}  // namespace

namespace {

/// Pulses of three columns of readings under these names; the column k reaches 50 + 20 k uS.
std::string wide(const std::string& names, const char* down = "down", const char* up = "up") {
  std::string text = "pulse,direction," + names + "\n";
  std::array<double, 3> g{4, 4, 4};
  for (int n = 0; n <= 24; ++n) {
    text += fmt::format("{},{}", n, n == 0 ? "" : n <= 12 ? up : down);
    for (int k = 0; k < 3; ++k) {
      double& own = g[static_cast<std::size_t>(k)];
      if (n > 0) own += n <= 12 ? 0.05 * (50 + 20 * k - own) : -0.08 * (own - 3);
      text += fmt::format(",{:.4f}", own);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a table with a column for each device, or for each cycle, has their records", "[devices]") {
  for (const char* names : {"dev1 (uS),dev2 (uS),dev3 (uS)", "G1_uS,G2_uS,G3_uS",
                            "Cell #1 [uS],Cell #2 [uS],Cell #3 [uS]", "#1 (uS),#2 (uS),#3 (uS)",
                            "die 07 (uS),die 08 (uS),die 12 (uS)", "D1 (uS),D2 (uS),D3 (uS)", "S1_uS,S2_uS,S3_uS"}) {
    CAPTURE(names);
    TableLook look;
    const std::vector<LabRecord> records = parse_lab_csv(wide(names), "a.csv", {}, &look);
    REQUIRE(records.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(records[k].pulses.conductance_S.size() == 25);
      CHECK(records[k].pulses.conductance_S[1] == Approx(1e-6 * (4 + 0.05 * (46 + 20.0 * static_cast<double>(k)))));
    }
    CHECK(records[0].device != records[2].device);
    CHECK_THAT(look.understood.at(0).text(""), Contains("device = \"names of columns\"") && Contains(" to "));
  }
  TableLook look;
  const std::vector<LabRecord> cycles =
      parse_lab_csv(wide("cycle 1 (uS),cycle 2 (uS),cycle 3 (uS)"), "a.csv", {}, &look);
  REQUIRE(cycles.size() == 3);
  CHECK(cycles[0].device == cycles[2].device);
  TableLook told{"conductance=first+third uS"};
  CHECK(parse_lab_csv(wide("first,second,third"), "a.csv", {}, &told).size() == 2);
  CHECK_THAT(told.understood.at(0).text(""), Contains("left aside: second"));
  // Mean and deviation, two voltages of a read, two terminals are no devices.
  for (const char* names :
       {"mean (uS),std (uS),n", "G 0.1V (uS),G 0.2V (uS),n", "I1 (uA),I2 (uA),n", "LRS (kOhm),HRS (kOhm),n"}) {
    CAPTURE(names);
    TableLook asked;
    CHECK_THROWS_AS(parse_lab_csv(wide(names), "a.csv", {}, &asked), UserError);
  }
}

TEST_CASE("letters beyond ASCII belong to a name", "[columns]") {
  // A difference, a deviation, a root and a square are no conductance, whatever their unit.
  for (const char* name : {"ΔG (uS)", "Δ G (uS)", "σG (uS)", "√G (uS)", "G² (uS)", "Gσ (uS)"}) {
    CAPTURE(name);
    TableLook look;
    CHECK_THROWS_WITH(parse_lab_csv(wide(std::string(name) + ",a,b"), "a.csv", {}, &look),
                      Contains("column \"conductance\" is missing") && Contains("\"resistance=NAME kOhm\"") &&
                          Contains("\"current=NAME uA\""));
  }
  for (const char* name : {"G (µS)", "G\u00A0(uS)", "Conductance [μS]"}) {
    CAPTURE(name);
    CHECK(record_uS(wide(std::string(name) + ",a,b")).size() == 25);
  }
}

TEST_CASE("columns below each other share a unit", "[units]") {
  const auto refused = [](const std::string& names, const std::string& columns, const std::string& first,
                          const std::string& second) {
    CAPTURE(names, columns);
    TableLook look{columns};
    CHECK_THROWS_WITH(parse_lab_csv(wide(names), "a.csv", {}, &look),
                      Contains("a.csv:1") && Contains(first) && Contains(second) && Contains("have one unit"));
  };
  refused("A (uS),B (kOhm),C", "conductance=A (uS)+B (kOhm)", "tells uS", "kOhm");
  refused("A (uS),B (kOhm),C", "conductance=COL3+COL4 uS", "--columns tells uS", "kOhm");
  refused("A (uS),B (nS),C", "conductance=COL3+COL4", "tells uS", "nS");
  refused("A (uS),B (uS),C", "conductance=COL3+COL4 nS", "tells nS", "uS");
  refused("A,B (uS),C", "conductance=COL3+COL4", "no unit", "uS");
  std::string below = wide("A,B,C");
  below.insert(below.find('\n') + 1, ",,uS,nS,\n");
  TableLook units{"conductance=A+B uS"};
  CHECK_THROWS_WITH(parse_lab_csv(below, "a.csv", {}, &units), Contains("tells uS") && Contains("nS"));
  TableLook named{"conductance=Device A (uS)+Device C (uS)"};
  const auto records = parse_lab_csv(wide("Device A (uS),Device B (uS),Device C (uS)"), "a.csv", {}, &named);
  REQUIRE(records.size() == 2);
  CHECK(records[1].device == "Device C (uS)");
  CHECK(records[1].pulses.conductance_S[0] == Approx(4e-6));
  TableLook cycles{"conductance=cycle 1 (uS)+cycle 2 (uS)"};
  const auto counted = parse_lab_csv(wide("cycle 1 (uS),cycle 2 (uS),cycle 3 (uS)"), "a.csv", {}, &cycles);
  REQUIRE(counted.size() == 2);
  CHECK(counted[0].device == counted[1].device);
  CHECK(counted[0].cycle != counted[1].cycle);
}

TEST_CASE("directions may be 1 and 0, unless something else is among them", "[devices]") {
  TableLook look;
  const std::vector<LabRecord> records = parse_lab_csv(wide("conductance_uS,a,b", "0", "1"), "a.csv", {}, &look);
  REQUIRE(records.size() == 1);
  CHECK(records[0].pulses.direction[12] == Direction::up);
  CHECK(records[0].pulses.direction[13] == Direction::down);
  CHECK_THAT(look.understood.at(0).text(""), Contains("direction 1 is up, 0 is down"));
  std::string mixed = wide("conductance_uS,a,b", "0", "1");
  mixed.replace(mixed.rfind(",0,"), 3, ",-1,");
  CHECK_THROWS_WITH(parse_lab_csv(mixed, "a.csv", {}, &look), Contains("direction \"0\" must be up or down"));
  // The other way round the conductance says so.
  CHECK_THROWS_AS(parse_lab_csv(wide("conductance_uS,a,b", "1", "0"), "a.csv", {}, &look), UserError);
}

TEST_CASE("columns that tell devices apart make devices, whatever they are called", "[columns]") {
  for (const char* head :
       {"row,col", "WL,BL", "word line,bit line", "X,Y", "wafer,die", "ID,note", "pad,sub", "sample,note", "addr,x",
        "DUT no,x", "device no.,x", "chip,x", "Device #,x", "memristor,x", "site,x"}) {
    CAPTURE(head);
    const std::vector<std::string> told = devices_of(three(head, [](int d) { return fmt::format("{},7", d); }));
    CHECK(told == std::vector<std::string>{"0", "1", "2"});
  }
  // Two columns that both differ: cells (0, 1), (1, 0) and (1, 1).
  const std::string both = three("row,col", [](int d) { return d == 0 ? "0,1" : d == 1 ? "1,0" : "1,1"; });
  CHECK(devices_of(both) == std::vector<std::string>{"0, 1", "1, 0", "1, 1"});
  CHECK(devices_of(both, "device=row+col") == devices_of(both));
  CHECK(devices_of(both, "device=col+row").at(0) == "1, 0");
  CHECK_THROWS_WITH(devices_of(both, "device=row+cell"), Contains("there is no column \"row+cell\""));
}

TEST_CASE("a count of rows or pulses is no device", "[columns]") {
  std::string text = "sample,id,pulse,conductance_uS,direction\n";
  for (int n = 0; n <= 12; ++n) text += fmt::format("{},{},{},{},up\n", n, 100 + n, n, 1 + n);
  CHECK(devices_of(text) == std::vector<std::string>{""});
  CHECK(!tells_devices("comment"));
  CHECK(!tells_devices("T (K)"));
  CHECK(tells_devices("Pad No."));
  CHECK(tells_devices("Die X"));
  CHECK(!tells_devices("cell temperature"));
}

TEST_CASE("a column of any name is asked about where the count begins anew with it", "[columns]") {
  const std::string text =
      three("what,x", [](int d) { return fmt::format("{},7", std::string(1, static_cast<char>('a' + d))); });
  CHECK_THROWS_WITH(devices_of(text), Contains("a.csv:15: pulse begins anew where column \"what\" changes") &&
                                          Contains("--columns \"device=what\", \"cycle=what\" or \"aside=what\""));
  CHECK(devices_of(text, "device=what") == std::vector<std::string>{"a", "b", "c"});
  CHECK(devices_of(text, "cycle=what") == std::vector<std::string>{"", "", ""});
  CHECK(devices_of(text, "aside=what") == std::vector<std::string>{"", "", ""});
  CHECK_THROWS_WITH(devices_of(three("chip,cell", [](int d) { return d == 1 ? "B,1" : "A,1"; })),
                    Contains("of chip \"B\" here") && Contains("--columns \"device=cell+chip\""));
}

TEST_CASE("digits in groups of three are read where something tells that they are", "[marks]") {
  for (const char* grouped : {"4'306", "1.234.567", "1,234.5", "1.234,56", "12 345", "4\u202F306"}) {
    CAPTURE(grouped);
    CHECK(is_grouped_number(grouped));
  }
  for (const char* plain : {"4,306", "4.306", "12345", "1.23e4", "31.01.2026", "0'5", "1234,567", "-", "a,bcd"}) {
    CAPTURE(plain);
    CHECK(!is_grouped_number(plain));
  }
  const std::vector<double> expected = {0.5, 0.75, 0.95, 1.085, 1.24, 1.5};  // uS; the file has nS
  for (const char* mark : {".", ",", "'", " "}) {
    CAPTURE(mark);
    const std::vector<double> got =
        record_uS(semicolons({"500", "750", "950", std::string("1") + mark + "085", std::string("1") + mark + "240",
                              std::string("1") + mark + "500"}));
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] == Approx(expected[k]));
  }
  // Fractions of three digits beside whole numbers of their size are fractions.
  CHECK(record_uS(semicolons({"1,125", "2", "3,375", "4", "5,125"}))[2] == Approx(3.375e-3));
  CHECK(record_uS(semicolons({"1.234,5", "1.334,5", "1.434,5", "1.534,5", "1.634,5"}))[1] == Approx(1.3345));
  const std::string open = semicolons({"4.000", "5.125", "6.250", "7.375", "8.500"});
  CHECK_THROWS_WITH(record_uS(open), Contains("a.csv:2: \"4.000\" is 4.000 (a decimal point) or 4000"));
  CHECK(record_uS(open, "decimal=point")[1] == Approx(5.125e-3));
  CHECK(record_uS(open, "decimal=comma")[1] == Approx(5.125));
  CHECK(record_uS(open, "g=COL2 nS,decimal=comma")[1] == Approx(5.125));  // told of the table, wherever it stands
  TableLook look;
  const std::string commas = semicolons({"4,000", "5,125", "6,250", "7,375", "8,500"});
  CHECK(record_uS(commas, "", &look)[1] == Approx(5.125e-3));
  CHECK_THAT(notes_of(look), Contains("\"4,000\" in line 2 is read as 4.000, with a decimal comma. If it is 4000, say "
                                      "--columns \"decimal=point\""));
  CHECK(record_uS(commas, "decimal=point")[1] == Approx(5.125));
  CHECK(record_uS("pulse,conductance_uS\n0,4.000\n1,5.125\n2,6.250\n3,7.375\n4,8.500\n")[1] == Approx(5.125));
}

TEST_CASE("units and readings that contradict are refused with both", "[units]") {
  const std::string rows = "0,1000\n1,2000\n2,3000\n3,3500\n4,3800\n";
  CHECK_THROWS_WITH(record_uS("pulse,conductance_uS\n,nS\n" + rows),
                    Contains("a.csv:2: column \"conductance_uS\" is in uS by its name and in nS by this line") &&
                        Contains("--columns \"conductance=conductance_uS nS\""));
  CHECK(record_uS("pulse,conductance_uS\n,nS\n" + rows, "g=conductance_uS nS")[0] == Approx(1));
  CHECK(record_uS("pulse,G (nS)\n,nS\n" + rows)[0] == Approx(1));
  const auto both = [](double ohms) {
    std::string text = "pulse,G (uS),R (Ohm)\n";
    for (int n = 0; n < 6; ++n) text += fmt::format("{},{},{:.6f}\n", n, 10 + n, ohms / (10 + n));
    return text;
  };
  CHECK_THROWS_WITH(record_uS(both(1e3)),
                    Contains("a.csv:2: \"10\" of column G (uS) is 10 uS, but \"100.000000\" of column R "
                             "(Ohm) is 1e+04 uS") &&
                        Contains("\"aside=R (Ohm)\""));
  TableLook look;
  CHECK(record_uS(both(1e6), "", &look)[1] == Approx(11));
  CHECK_THAT(notes_of(look), Contains("column R (Ohm) is not used"));
  CHECK(record_uS(both(1e3), "aside=R (Ohm)")[1] == Approx(11));
  TableLook none;
  CHECK_THROWS_WITH(parse_iv("voltage_V,I\n0,0\n0.5,100\n1,200\n0.5,100\n0,0\n", "i.csv", 0, none),
                    Contains("i.csv:3: 100 A at 0.5 V are 200 S, a wire"));
  CHECK_THROWS_WITH(parse_iv("V,current_uA\n0,0\n500,1\n1000,2\n500,1\n0,0\n", "i.csv", 0, none),
                    Contains("1000 V") || Contains("500 V"));
}

TEST_CASE("clocks of computers are times, and days of calendars are asked about", "[dates]") {
  const std::vector<LongColumn> known = {
      {"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}};
  const auto times = [&](const std::string& columns, const std::vector<std::string>& cells, TableLook& look) {
    std::string text = "cell,time,G (uS)\n";
    for (const std::string& cell : cells) text += "1," + cell + ",5\n";
    look.columns = columns;
    return parse_long_table(text, "t.csv", known, {}, look).columns[1];
  };
  TableLook look;
  CHECK(times("", {"1772668770000", "1772668780500"}, look) == std::vector<double>{0, 10.5});
  CHECK_THAT(notes_of(look), Contains("times are Unix time in milliseconds"));
  TableLook own[6];
  CHECK(times("", {"1772668770000000", "1772668771000000"}, own[0])[1] == Approx(1));
  CHECK(times("", {"1772668770000000000", "1772668771000000000"}, own[1])[1] == Approx(1).margin(1e-6));
  CHECK(times("", {"134171423700000000", "134171423710000000"}, own[2])[1] == Approx(1).margin(1e-4));
  // 1 s of a spreadsheet's days, written to 1e-8 day: 0.9 ms.
  const std::vector<std::string> days = {"46085.99965278", "46085.99966435"};
  CHECK_THROWS_WITH(times("", days, own[3]),
                    Contains("t.csv:2: time 46085.99965278 may be days of a spreadsheet, or seconds") &&
                        Contains("\"time=time d\" or \"time=time s\""));
  CHECK(times("time=time d", days, own[4])[1] == Approx(1).margin(1e-3));
  CHECK(times("time=time s", days, own[5])[1] == Approx(46085.99966435));
}

TEST_CASE("a reading that no device makes is named by its line", "[outliers]") {
  const auto ramp = [](int at, double times) {
    std::string text = "pulse,conductance_uS,direction\n";
    double g = 4;
    for (int n = 0; n <= 120; ++n) {
      if (n > 0) g += n <= 60 ? 0.05 * (50 - g) : -0.08 * (g - 3);
      const double read = g + 0.15 * std::sin(7.0 * n * n);
      text += fmt::format("{},{:.4f},{}\n", n, n == at ? times * read : read, n == 0 ? "" : n <= 60 ? "up" : "down");
    }
    return text;
  };
  TableLook calm;
  record_uS(ramp(-1, 1), "", &calm);
  CHECK(calm.understood.at(0).notes.empty());
  CHECK_THROWS_WITH(record_uS(ramp(30, 100)), Contains("a.csv:32: a reading of") && Contains("Write ---"));
  CHECK_THROWS_WITH(record_uS(ramp(30, 10)), Contains("a.csv:32"));
  CHECK_THROWS_WITH(record_uS(ramp(30, 0)), Contains("a.csv:32: a reading of 0 uS beside"));
  CHECK_THROWS_WITH(record_uS(ramp(30, 0.01)), Contains("a.csv:32"));
  CHECK_THROWS_WITH(record_uS(ramp(0, 100)), Contains("a.csv:2: a reading of"));
  CHECK_THROWS_WITH(record_uS(ramp(120, 1000)), Contains("a.csv:122"));
  TableLook noted;
  record_uS(ramp(60, 0.3), "", &noted);
  CHECK_THAT(notes_of(noted), Contains("1 readings are far") && Contains("lines 62"));
  std::string table = "cell,time_s,conductance_uS,start_uS\n";
  for (int cell = 0; cell < 100; ++cell) {
    for (const int t : {1, 10, 100}) {
      const double g = 10 + 0.3 * std::sin(1.0 * cell * cell + t) * std::log10(10.0 * t);
      table += fmt::format("{},{},{:.4f},10\n", cell, t, cell == 7 && t == 100 ? 100 * g : g);
    }
  }
  TableLook look;
  parse_and_fit_relaxation(table, "r.csv", &look);
  CHECK_THAT(notes_of(look), Contains("1 readings are far from their level: lines 25"));
}
