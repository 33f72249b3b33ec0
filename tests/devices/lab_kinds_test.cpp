// SPDX-License-Identifier: Apache-2.0
// Kinds of files that were read in the wrong way, or refused without their cause: settings that differ between devices, failed readings,
// compact clocks, numbers without a unit, reversed voltages, counts that begin anew.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <functional>

#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/time_stamp.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Reading behind pulse n of a ramp of `half` pulses up and as many down, without noise.
double ramp_uS(int n, int half, double top = 50) {
  double g = 4;
  for (int k = 1; k <= n; ++k) g += k <= half ? 0.05 * (top - g) : -0.08 * (g - 3);
  return g;
}

const char* way(int n, int half) { return n == 0 ? "" : n <= half ? "up" : "down"; }

/// Three records of 24 pulses; `front` writes further cells of a row from its record.
std::string three(const std::string& head, const std::function<std::string(int)>& front) {
  std::string text = head + ",pulse,conductance_uS,direction\n";
  for (int r = 0; r < 3; ++r) {
    for (int n = 0; n <= 24; ++n) {
      text += fmt::format("{},{},{:.4f},{}\n", front(r), n, ramp_uS(n, 12, 50 + 20 * r), way(n, 12));
    }
  }
  return text;
}

std::vector<LabRecord> records_of(const std::string& text, TableLook& look) {
  return parse_lab_csv(text, "a.csv", {}, &look);
}
std::vector<LabRecord> records_of(const std::string& text, const std::string& columns = "") {
  TableLook look{columns};
  return records_of(text, look);
}

std::string notes_of(const TableLook& look) { return look.understood.at(0).text(""); }

/// Records of 120 pulses; write() gives the cell of the reading of a record and pulse.
std::string long_records(int records, const std::function<std::string(int, int, double)>& write) {
  std::string text = "cycle,pulse,conductance_uS,direction\n";
  for (int r = 0; r < records; ++r) {
    for (int n = 0; n <= 120; ++n) {
      const double read = ramp_uS(n, 60) + 0.15 * std::sin(7.0 * n * n + r);
      text += fmt::format("{},{},{},{}\n", r, n, write(r, n, read), way(n, 60));
    }
  }
  return text;
}

std::string plain(double read) { return fmt::format("{:.4f}", read); }

}  // namespace

TEST_CASE("a setting or a date that changes where records begin is asked about", "[columns]") {
  for (const char* name : {"thickness_nm", "T_C", "T (K)", "gate_V", "Vread_mV", "humidity_%"}) {
    CAPTURE(name);
    const std::string text = three(name, [](int r) { return fmt::format("{}", 5 * (1 + r)); });
    CHECK_THROWS_WITH(records_of(text),
                      Contains(fmt::format("a.csv:27: pulse begins anew where column \"{0}\" changes: "
                                           "does it name devices, or cycles? Say --columns "
                                           "\"device={0}\", \"cycle={0}\" or \"aside={0}\"",
                                           name)));
    CHECK(records_of(text, fmt::format("device={}", name))[2].device == "15");
    CHECK(records_of(text, fmt::format("aside={}", name))[2].device.empty());
  }
  CHECK_THROWS_WITH(records_of(three("date", [](int r) { return fmt::format("2026-01-0{}", 1 + r); })),
                    Contains("column \"date\" changes"));
  // One device at two temperatures; several such columns are asked about together.
  const auto two = [](int r) { return fmt::format("A,{},{}", 300 + 10 * r, r); };
  CHECK_THROWS_WITH(records_of(three("device,T_K,what", two)), Contains("columns") &&
                                                                   Contains("\"device=device+T_K+what\"") &&
                                                                   Contains("\"aside=T_K,aside=what\""));
  TableLook cycles;
  records_of(three("cycle,T_K", [](int r) { return fmt::format("{},{}", r, 300 + r); }), cycles);
  CHECK_THAT(notes_of(cycles), Contains("column T_K changes with cycle: if it names devices, say --columns"));
  TableLook own;
  records_of(three("device,T_K", [](int r) { return fmt::format("{},{}", r, 300 + r); }), own);
  CHECK_THAT(notes_of(own), Contains("column T_K differs between devices: one population holds them all"));
  TableLook same;
  records_of(three("device,T_K", [](int r) { return fmt::format("{},300", r); }), same);
  CHECK(same.understood.at(0).notes.empty());
}

TEST_CASE("letters tell devices in pairs, beside a conductance they are no readings", "[columns]") {
  for (const char* head : {"r,c", "i,j", "R,C"}) {
    CAPTURE(head);
    const auto records = records_of(three(head, [](int r) { return fmt::format("{},{}", r / 2, r % 2); }));
    REQUIRE(records.size() == 3);
    CHECK(records[1].device == "0, 1");
  }
}

TEST_CASE("a column of LTP and LTD is the direction, whatever its name", "[columns]") {
  std::string text = three("run", [](int r) { return fmt::format("{}", r); });
  const std::vector<LabRecord> expected = records_of(text);
  boost::replace_all(text, "direction", "phase");
  boost::replace_all(text, "up", "potentiation");
  const std::vector<LabRecord> got = records_of(text);
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k].pulses.direction == expected[k].pulses.direction);
}

TEST_CASE("words for directions are one list, with a number too", "[columns]") {
  const auto named = [](const char* name, const std::function<std::string(int, int)>& word) {
    std::string text = fmt::format("pulse,{},conductance_uS\n", name);
    for (int r = 0; r < 3; ++r) {
      for (int n = 0; n <= 24; ++n) text += fmt::format("{},{},{:.4f}\n", n, word(r, n), ramp_uS(n, 12));
    }
    return records_of(text);
  };
  const auto check = [](const std::vector<LabRecord>& got) {
    REQUIRE(got.size() == 3);
    for (const LabRecord& one : got) {
      CHECK(one.device == got[0].device);
      CHECK(one.pulses.pulses() == 24);
      CHECK(one.pulses.direction[12] == Direction::up);
      CHECK(one.pulses.direction[13] == Direction::down);
    }
  };
  check(named("Op", [](int, int n) { return n <= 12 ? "P" : "D"; }));
  check(named("phase", [](int, int n) { return n <= 12 ? "pos" : "neg"; }));
  check(named("Block", [](int r, int n) { return fmt::format("{}{}", n <= 12 ? "LTP" : "LTD", r + 1); }));
  check(named("Block", [](int r, int n) { return fmt::format("{} #{}", n <= 12 ? "Set" : "Reset", r + 1); }));
  // 1 and + are numbers and signs in a column of another name.
  CHECK_THROWS_WITH(named("what", [](int, int n) { return n <= 12 ? "+" : "-"; }), Contains("goes both ways"));
}

TEST_CASE("blank rows of a spreadsheet are left out, and a name in two lines is one", "[measured]") {
  const std::string rows = long_records(1, [](int, int, double g) { return plain(g); });
  const std::vector<double> expected = records_of(rows)[0].pulses.conductance_S;
  const std::size_t head = rows.find('\n') + 1, middle = rows.find('\n', rows.size() / 2) + 1;
  const std::string names = rows.substr(0, head), first = rows.substr(head, middle - head),
                    second = rows.substr(middle);
  for (const std::string& text :
       {"Sample:,AB-12,,\n,,,\n" + rows, ",,,\n,,,\n" + rows, names + ",,,\n" + first + second,
        names + first + ",,,\n,,,\n" + second, rows + ",,,\n", rows + ",,,\nMean,,25.3,\nMax,,46,\n",
        rows + ",,,\nMean,,25.3,\n,,,\n"}) {
    for (const char separator : {',', ';', '\t'}) {
      std::string own = text;
      std::replace(own.begin(), own.end(), ',', separator);
      CAPTURE(own.substr(0, 80), separator);
      TableLook look;
      const auto got = records_of(own, look);
      REQUIRE(got.size() == 1);
      CHECK(got[0].pulses.conductance_S == expected);
      CHECK(look.understood.at(0).missing_lines.empty());
    }
  }
  TableLook look;
  CHECK(records_of(boost::replace_first_copy(rows, "conductance_uS", "\"Conductance\n(uS)\""), look)[0]
            .pulses.conductance_S == expected);
  CHECK_THAT(notes_of(look), Contains("conductance = \"Conductance (uS)\" in uS"));
}

TEST_CASE("failed readings at a start and several in a row are named", "[outliers]") {
  TableLook calm;
  records_of(long_records(3, [](int, int, double g) { return plain(g); }), calm);
  CHECK(calm.understood.at(0).notes.empty());
  const auto bad = [](int record, int from, int to, double value) {
    return long_records(3,
                        [=](int r, int n, double g) { return plain(r == record && n >= from && n <= to ? value : g); });
  };
  for (const double value : {0.0001, 40.0}) {
    CAPTURE(value);
    TableLook look;
    records_of(bad(1, 0, 0, value), look);  // lines 123 to 243 are record 1
    CHECK_THAT(notes_of(look), Contains("1 readings are far") && Contains("lines 123\n"));
  }
  CHECK_THROWS_WITH(records_of(bad(1, 28, 31, 0.01)), Contains("a.csv:151: a reading of 0.01 uS") &&
                                                          Contains("lines with such readings: 151, 152, 153, 154"));
  CHECK_THROWS_WITH(records_of(bad(0, 70, 84, 4e4)), Contains("a.csv:72: a reading of 4e+04 uS"));
  TableLook middle;
  records_of(bad(2, 50, 54, 25), middle);
  CHECK_THAT(notes_of(middle), Contains("5 readings are far") && Contains("lines 294, 295, 296, 297, 298"));
  // The same state at every start is the device's, and so are abrupt pulses.
  TableLook fresh;
  records_of(long_records(3, [](int, int n, double g) { return plain(n == 0 ? 0.5 : g); }), fresh);
  CHECK(fresh.understood.at(0).notes.empty());
}

TEST_CASE("a missing reading may be written in many ways", "[measured]") {
  for (const char* mark : {"NaN", "#N/A", "inf", "-", "", "overload", "****", "Over Range", "OVLD", "9.9E37"}) {
    CAPTURE(mark);
    TableLook look;
    const auto records =
        records_of(long_records(1, [&](int, int n, double g) { return n == 30 ? mark : plain(g); }), look);
    REQUIRE(records.size() == 2);
    CHECK(records[0].pulses.conductance_S.size() == 30);
    CHECK(records[1].pulses.conductance_S.size() == 90);
    CHECK(look.understood.at(0).missing_lines == std::vector<int>{32});
  }
}

TEST_CASE("compact dates are dates, and HHMMSS is asked about", "[dates]") {
  CHECK(compact_stamp_s("20260304T000140Z") == time_stamp_s("2026-03-04 00:01:40"));
  CHECK(compact_stamp_s("20260304000140.5") == Approx(*time_stamp_s("2026-03-04 00:01:40.5")));
  CHECK(compact_stamp_s("202603040001") == time_stamp_s("2026-03-04 00:01"));
  CHECK(time_stamp_s("04-Mar-2026 23:59:31") == time_stamp_s("2026-03-04 23:59:31"));
  for (const char* none : {"20261304000140", "20260230000140", "20260304250140", "1772668780000", "2026030400", "12"}) {
    CAPTURE(none);
    CHECK(!compact_stamp_s(none));
  }
  const auto times = [](const std::string& name, const std::vector<std::string>& cells,
                        const std::string& columns = "") {
    std::string text = "cell," + name + ",G (uS)\n";
    for (const std::string& cell : cells) text += "1," + cell + ",5\n";
    TableLook look{columns};
    return parse_long_table(
               text, "t.csv",
               {{"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {},
               look)
        .columns[1];
  };
  const std::vector<double> hundred = {0, 100};
  CHECK(times("time", {"20260303235959", "20260304000139"}) == hundred);
  CHECK(times("time", {"20260303T235959", "20260304T000139"}) == hundred);
  CHECK(times("time", {"03.03.26 23:59:59", "04.03.26 0:01:39"}) == hundred);
  CHECK(times("time_us", {"20260303235959", "20260304000139"})[0] == Approx(20260303.235959));  // a unit: a number
  CHECK_THROWS_WITH(times("time", {"000001", "000140"}),
                    Contains("t.csv:2: time 000001 may be a time of day, 00:00:01, or seconds") &&
                        Contains("--columns \"time=time s\""));
  CHECK(times("time", {"000001", "000140"}, "time=time s")[1] == 140);
  CHECK_THROWS_WITH(times("t", {"235931", "235940", "235951", "235959"}), Contains("23:59:31"));
  CHECK(times("t", {"10", "100", "1000", "10000", "100000"})[4] == 100000);  // decades of seconds
  CHECK_THROWS_WITH(times("time", {"23:59:31", "23:59:40"}),
                    Contains("t.csv:2") && Contains("write its date before it"));
}

TEST_CASE("a number without a unit that would make a wire is asked about", "[units]") {
  const auto text = [](const char* name, double times) {
    return boost::replace_first_copy(
        long_records(1, [=](int, int, double g) { return fmt::format("{:.8g}", times > 0 ? times * g : 1e3 / g); }),
        "conductance_uS", name);
  };
  CHECK_THROWS_WITH(records_of(text("G", 1e-3)), Contains("column G has no unit. In S this is a conductance of 47") &&
                                                     Contains("\"conductance=G S\"") &&
                                                     Contains("\"conductance=G uS\""));
  CHECK(records_of(text("G", 1e-3), "conductance=G mS")[0].pulses.conductance_S[0] == Approx(4e-6).epsilon(0.04));
  CHECK(records_of(text("G", 1e-6))[0].pulses.conductance_S[0] == Approx(4e-6).epsilon(0.04));
  CHECK_THROWS_WITH(records_of(text("R", 0)), Contains("\"resistance=R Ohm\"") && Contains("\"resistance=R kOhm\""));
  CHECK(records_of(text("R", 0), "g=R kOhm")[0].pulses.conductance_S[0] == Approx(4e-6).epsilon(0.04));
}

TEST_CASE("a line beside the table that tells a unit is no comment", "[units]") {
  const std::string rows = long_records(1, [](int, int, double g) { return fmt::format("{:.6f}", g / 1e5); });
  const std::string bare = boost::replace_first_copy(rows, "conductance_uS", "G");
  CHECK_THROWS_WITH(records_of(bare + "unit: mS\n"),
                    Contains("a.csv:123: this line tells mS, and column G has no unit") &&
                        Contains("--columns \"conductance=G mS\""));
  CHECK_THROWS_WITH(records_of("Unit = nS\n" + rows), Contains("a.csv:1: this line tells nS") && Contains("is in uS"));
  CHECK_NOTHROW(records_of("unit: uS\n" + rows));
  CHECK(records_of(bare + "unit: mS\n", "conductance=G mS")[0].pulses.conductance_S[0] == Approx(4e-8).epsilon(0.04));
}

TEST_CASE("reversed voltages are named, and can be turned", "[measured]") {
  std::string text = "pulse,voltage_V,width_us,conductance_uS\n";
  for (int n = 0; n <= 24; ++n) {
    text += fmt::format("{},{},1,{:.4f}\n", n, n == 0 ? "0" : n <= 12 ? "-1.2" : "1.4", ramp_uS(n, 12));
  }
  CHECK_THROWS_WITH(records_of(text), Contains("100 % of what the pulses change goes against their direction") &&
                                          Contains("--columns \"polarity=reversed\""));
  const PulseRecord turned = records_of(text, "polarity=reversed").at(0).pulses;
  CHECK(turned.direction[1] == Direction::up);
  CHECK(turned.volts[1] == 1.2);
  CHECK(turned.volts[24] == -1.4);
}

TEST_CASE("rows of 0 V are reads, and counts go on behind a turn", "[measured]") {
  std::string text = "n,V,width_us,conductance_uS\n", turns = "pulse,conductance_uS,direction\n";
  for (int n = 0; n <= 48; ++n) {
    const int own = n % 25;
    text += fmt::format("{},{},1,{:.4f}\n", n, own == 0 ? "0" : own <= 12 ? "1" : "-1", ramp_uS(own, 12));
    if (n <= 24) turns += fmt::format("{},{:.4f},{}\n", n <= 12 ? n : n - 12, ramp_uS(n, 12), way(n, 12));
  }
  TableLook look;
  CHECK(records_of(text, look).size() == 2);
  CHECK_THAT(notes_of(look), Contains("1 rows of 0 V are reads: each begins a record"));
  TableLook again;
  const std::vector<LabRecord> one = records_of(turns, again);
  REQUIRE(one.size() == 1);
  CHECK(one[0].pulses.pulses() == 24);
  CHECK_THAT(notes_of(again), Contains("counted anew 1 times without a start"));
}

TEST_CASE("rows of Origin, repeated names, sums and units in words are read", "[measured]") {
  const std::string rows = long_records(1, [](int, int, double g) { return plain(g); });
  const std::vector<double> expected = records_of(rows)[0].pulses.conductance_S;
  const auto same = [&](const std::string& text) {
    CAPTURE(text.substr(0, 120));
    CHECK(records_of(text)[0].pulses.conductance_S == expected);
  };
  const std::string names = "cycle,pulse,conductance_uS,direction\n", body = rows.substr(names.size());
  same("A,B,C,D\ncycle,pulse,conductance,direction\n,,uS,\nfirst,x,y,z\n" + body);
  const std::size_t half = body.find('\n', body.size() / 2) + 1;
  same(names + body.substr(0, half) + names + body.substr(half));
  same(rows + "Mean,,25.3,\nStd,,11.2,\n");
  for (const char* name : {"G in uS", "G (10^-6 S)", "G (uA/V)", "G (umho)", "G [\u00B5Siemens]"}) {
    if (std::string(name).find("Siemens") == std::string::npos)
      same(boost::replace_first_copy(rows, "conductance_uS", name));
  }
  CHECK(named_unit("R (Mohms)").unit == "MOhm");
  CHECK(named_unit("time (hours)").unit == "h");
  CHECK(named_unit("t_sec").unit == "s");
  CHECK(named_unit("pulse_day").unit.empty());
  CHECK_THROWS_WITH(records_of(boost::replace_first_copy(rows, "conductance_uS", "G (ms)")),
                    Contains("\"ms\" is seconds") && Contains("The table has: cycle, pulse, G (ms), direction"));
}

TEST_CASE("relaxation without a start counts from a cell's first reading, and a start may be a resistance",
          "[measured]") {
  std::string none = "cell,time_s,conductance_uS\n", ohms = "cell,time_s,R_kOhm,start_kOhm\n",
              siemens = "cell,time_s,conductance_uS,start_uS\n", amps = "cell,time_s,current_uA,start_uS\n";
  for (int cell = 0; cell < 200; ++cell) {
    const double first = 10 + 0.3 * std::sin(1.7 * cell * cell);
    for (const int t : {1, 10, 100}) {
      const double g = first + (t == 1 ? 0 : 0.2 * std::sin(1.0 * cell * cell + t));
      none += fmt::format("{},{},{:.5f}\n", cell, t, g);
      siemens += fmt::format("{},{},{:.9f},{:.9f}\n", cell, t, g, 10.0);
      amps += fmt::format("{},{},{:.9f},{:.9f}\n", cell, t, 0.2 * g, 10.0);
      ohms += fmt::format("{},{},{:.9f},{:.9f}\n", cell, t, 1e3 / g, 1e3 / 10.0);
    }
  }
  TableLook look;
  const RelaxationFit own = parse_and_fit_relaxation(none, "r.csv", &look);
  CHECK(own.spec.time_s == std::vector<double>{10, 100});
  CHECK_THAT(notes_of(look), Contains("no column start"));
  const RelaxationFit a = parse_and_fit_relaxation(siemens, "r.csv"), b = parse_and_fit_relaxation(ohms, "r.csv");
  REQUIRE(a.spec.level_S.size() == b.spec.level_S.size());
  for (std::size_t k = 0; k < a.spec.level_S.size(); ++k)
    CHECK(b.spec.level_S[k] == Approx(a.spec.level_S[k]).epsilon(1e-6));
  // Currents read at 0.2 V; the option is for currents alone.
  TableLook volts{"", {}, 0.2}, untold, needless{"", {}, 0.2};
  CHECK(parse_and_fit_relaxation(amps, "r.csv", &volts).spec.spread_S[0] == Approx(a.spec.spread_S[0]).epsilon(1e-4));
  CHECK_THROWS_WITH(parse_and_fit_relaxation(amps, "r.csv", &untold), Contains("r.csv:2: at which voltage"));
  CHECK_THROWS_WITH(parse_and_fit_relaxation(siemens, "r.csv", &needless), Contains("--read-voltage is for a column"));
}
