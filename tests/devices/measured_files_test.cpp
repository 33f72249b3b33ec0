// SPDX-License-Identifier: Apache-2.0
// One record in the clothes that instruments, spreadsheets and people give it: the same pulses come out, or a message says why not.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "devices/fit/fit_bake.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Six pulses, as `write` puts each row of (pulse, microsiemens, direction).
template <class Write>
std::string record(const std::string& head, Write&& write) {
  std::string text = head;
  const double g[] = {2.0173, 2.9411, 3.7715, 4.5021, 3.25, 2.5, 2.25};
  for (int n = 0; n < 7; ++n) text += write(n, g[n], n == 0 ? "" : n < 4 ? "up" : "down") + "\n";
  return text;
}

std::string row(int n, double g, const char* direction) { return fmt::format("{},{},{}", n, g, direction); }

std::string comma(double g) { return boost::replace_all_copy(fmt::format("{}", g), ".", ","); }

std::vector<double> plain() {
  return parse_lab_csv(record("pulse,conductance_uS,direction\n", row), "a.csv").at(0).pulses.conductance_S;
}

std::vector<double> read(const std::string& text, const CsvScale& scale = {}, TableLook* look = nullptr) {
  return parse_lab_csv(text, "a.csv", scale, look).at(0).pulses.conductance_S;
}

template <class Read>
std::string problem(Read&& one) {
  try {
    one();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string utf16(const std::string& text, bool mark) {
  std::string out = mark ? "\xFF\xFE" : "";
  for (const char c : text) out += {c, '\0'};
  return out;
}

}  // namespace

TEST_CASE("a record of pulses is the same in every layout", "[measured]") {
  const std::vector<double> expected = plain();
  const auto european = [](int n, double g, const char* d) { return fmt::format("{};{};{}", n, comma(g), d); };
  const auto tabs = [](int n, double g, const char* d) { return fmt::format("{}\t{}\t{}", n, comma(g), d); };
  const auto trailing = [](int n, double g, const char* d) { return fmt::format("{},{},{},", n, g, d); };
  const auto more = [](int n, double g, const char* d) { return fmt::format("{},0.{},{},{},die 7", n, n, g, d); };
  CHECK(read(record("pulse;conductance_uS;direction\n", european)) == expected);
  CHECK(read(record("pulse\tG (uS)\tdirection\n", tabs)) == expected);
  CHECK(read(record("pulse,conductance_\u00B5S,direction\n", row)) == expected);
  CHECK(read(record("pulse,conductance [\u03BCS],direction\n", row)) == expected);
  CHECK(read(record("pulse,conductance_\xB5S,direction\n", row)) == expected);  // Latin-1
  CHECK(read(record("Pulse #,G/uS,Polarity\n", row)) == expected);
  CHECK(read(record("pulse,conductance_uS,direction,\n", trailing)) == expected);
  CHECK(read(record("pulse,conductance_uS,direction\n", trailing)) == expected);
  CHECK(read(record("pulse,time_s,conductance_uS,direction,comment\n", more)) == expected);
  CHECK(read(record("pulse,conductance,direction\n1,uS,-\n", row)) == expected);  // a row of units
  CHECK(read(record("Keithley 4200\nOperator: K., 2026-01-02\n\npulse,conductance_uS,direction\n", row) +
             "End of test\n") == expected);
  CHECK(read(utf16(record("pulse,conductance_uS,direction\n", row), true)) == expected);
  CHECK(read(utf16(record("pulse,conductance_uS,direction\r\n", row), false)) == expected);
  CHECK(read(boost::replace_all_copy(record("pulse,conductance_uS,direction\n", row), "\n", "\r")) == expected);
}

TEST_CASE("a conductance may stand as a resistance, or as a current with its read voltage", "[measured]") {
  const std::vector<double> expected = plain();
  const auto close = [&](const std::vector<double>& got) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t n = 0; n < got.size(); ++n) CHECK(got[n] == Approx(expected[n]).epsilon(1e-12));  // some roundings
  };
  const auto ohms = [](int n, double g, const char* d) { return fmt::format("{},{:.17g},{}", n, 1e3 / g, d); };
  const auto amperes = [](int n, double g, const char* d) { return fmt::format("{},{:.17g},{}", n, 0.1 * g, d); };
  const auto both = [](int n, double g, const char* d) { return fmt::format("{},{:.17g},100,{}", n, 0.1 * g, d); };
  close(read(record("pulse,resistance_kOhm,direction\n", ohms)));
  close(read(record("pulse,R (k\u03A9),direction\n", ohms)));
  close(read(record("pulse,current_uA,direction\n", amperes), CsvScale{0, 0, 0.1}));
  close(read(record("pulse,I_uA,V_read_mV,direction\n", both)));
  CHECK_THAT(problem([&] { read(record("pulse,current_uA,direction\n", amperes)); }), Contains("--read-voltage"));
}

TEST_CASE("a user says what columns hold, and is told what was read", "[measured]") {
  const auto odd = [](int n, double g, const char* d) { return fmt::format("x;{};{};{}", comma(g), d, n); };
  TableLook look{"g=COL2 uS, pulse = k, direction=COL3"};
  CHECK(read(record("who;value;sense;k\n", odd), {}, &look) == plain());
  REQUIRE(look.understood.size() == 1);
  const std::string said = look.understood[0].text("# ");
  CHECK_THAT(said, Contains("separated by \";\", decimal comma; names in line 1, 7 rows in lines 2 to 8") &&
                       Contains("conductance = \"value\" in uS") && Contains("columns left aside: who"));
  TableLook wrong{"g=COL9"};
  CHECK_THAT(problem([&] { read(record("who;value;sense;k\n", odd), {}, &wrong); }), Contains("no column \"COL9\""));
  TableLook unknown{"colour=COL1"};
  CHECK_THAT(problem([&] { read(record("who;value;sense;k\n", odd), {}, &unknown); }),
             Contains("write NAME=COLUMN UNIT"));
}

TEST_CASE("a further column that tells devices apart is no comment", "[measured]") {
  const auto chips = [](const char* second) {
    std::string text = "chip,device,pulse,conductance_uS,direction\n";
    for (const char* device : {"1", "2"}) {
      const std::string chip = std::string(device) == "1" ? "A" : second;
      text += record(
          "", [&](int n, double g, const char* d) { return fmt::format("{},{},{},{},{}", chip, device, n, g, d); });
    }
    return text;
  };
  CHECK(parse_lab_csv(chips("B"), "a.csv").size() == 2);  // left aside: every device has a name of its own
  std::string table = "chip,cell,time_s,conductance_uS\n";
  for (const char* chip : {"A", "B"}) {
    for (int cell = 0; cell < 40; ++cell)
      table += fmt::format("{0},{1},0,5\n{0},{1},1,5.{1}\n{0},{1},10,5.{1}\n", chip, cell);
  }
  CHECK_THAT(problem([&] { parse_and_fit_relaxation(table, "r.csv"); }),
             Contains("r.csv:122") && Contains("of chip \"B\" here") && Contains("name of its own"));
  const std::string bake = "cell,t/s,G (uS),T (K),temperature_K\n1,1,5,300,300\n";
  CHECK_THAT(problem([&] { parse_and_fit_bake({bake}, {"b.csv"}); }), Contains("one temperature"));  // T is no time
}

TEST_CASE("what cannot be read is named: workbooks, two readings, slips", "[measured]") {
  CHECK_THAT(problem([] { read(std::string("PK\x03\x04", 4) + "xl/worksheets"); }),
             Contains("Excel") && Contains("CSV"));
  CHECK_THAT(problem([] { read(std::string("a\0b,1\n", 6)); }), Contains("is not a text (it has NUL bytes)"));
  CHECK_THAT(problem([] { read("12,500\n7,100\n5,250\n"); }),
             Contains("a.csv:1") && Contains("12 and 500") && Contains("12.500"));
  CHECK_NOTHROW(read_measured_text("100,100\n100,100\n", "g.csv").refuse_two_readings());  // a matrix of two columns
  CHECK_NOTHROW(read_measured_text("7, 1\n12, 5\n", "g.csv").refuse_two_readings());
  CHECK_THROWS_AS(read_measured_text("7,1\n12,5\n", "g.csv").refuse_two_readings(), UserError);
  CHECK_THAT(problem([] { read(record("pusle,conductance_uS,direction\n", row)); }), Contains("did you mean pulse?"));
  CHECK_THAT(problem([] { read(record("pulse,conductance_uV,direction\n", row)); }),
             Contains("column \"conductance_uV\""));
}

TEST_CASE("a negative conductance that no offset explains is refused by relaxation and bake", "[measured]") {
  std::string text = "cell,time_s,conductance_uS,start_uS,level\n",
              bake = "cell,time_s,conductance_uS,start_uS,temperature_C\n";
  for (int cell = 0; cell < 60; ++cell) {
    for (const int t : {1, 10}) {
      const double g = 5 + 0.01 * ((37 * cell + t) % 60);
      text += fmt::format("{},{},{},5,0\n", cell, t, g);
      bake += fmt::format("{},{},{},5,{}\n", cell, 7200, cell == 33 && t == 10 ? -1.0 : g, t == 1 ? 85 : 125);
    }
  }
  CHECK_NOTHROW(parse_and_fit_relaxation(text, "r.csv"));
  boost::replace_first(text, "\n30,1,", "\n30,1,-");
  CHECK_THAT(problem([&] { parse_and_fit_relaxation(text, "r.csv"); }), Contains("r.csv:62") && Contains("negative"));
  CHECK_THAT(problem([&] { parse_and_fit_bake({bake}, {"b.csv"}); }), Contains("b.csv:69") && Contains("negative"));
}

TEST_CASE("files of laboratories give the values that are known of them", "[measured]") {
  const auto ok = test::shared_file("reports/devices/ok.csv");
  if (!ok) return;
  const std::vector<LabRecord> expected = read_lab_files({ok->string()}, {});
  const auto file = [&](const std::string& name) { return (ok->parent_path() / name).string(); };
  for (const char* name : {"euro.csv", "utf8mu.csv", "trail.csv", "time.csv", "resistance.csv", "current.csv"}) {
    INFO(name);
    const bool currents = std::string(name) == "current.csv";
    const std::vector<LabRecord> got = read_lab_files({file(name)}, CsvScale{0, 0, currents ? 0.1 : 0.0});
    REQUIRE(got.size() == expected.size());
    for (std::size_t r = 0; r < got.size(); ++r) {
      REQUIRE(got[r].pulses.conductance_S.size() == expected[r].pulses.conductance_S.size());
      for (std::size_t n = 0; n < got[r].pulses.conductance_S.size(); ++n) {
        // Resistances and currents are rounded to four decimals of kOhm and uA: 5e-5 of 0.2.
        CHECK(got[r].pulses.conductance_S[n] == Approx(expected[r].pulses.conductance_S[n]).epsilon(3e-4));
      }
    }
  }
  CHECK_THAT(problem([&] { read_lab_files({file("ok.xlsx")}, {}); }), Contains("ok.xlsx: is an Excel"));
  CHECK_THAT(problem([&] { fit_relaxation(file("rx_neg.csv")); }), Contains("rx_neg.csv:") && Contains("negative"));
  CHECK_THAT(problem([&] { fit_bake({file("bk.csv")}); }), Contains("bk.csv:") && Contains("negative"));
  CHECK(relaxation_toml(fit_relaxation(file("rx_euro.csv")), "f") ==
        relaxation_toml(fit_relaxation(file("rx.csv")), "f"));
}

TEST_CASE("every number of a fit of one device is of one estimate", "[measured]") {
  const auto path = test::shared_file("reports/devices/vteam_ispp.csv");
  if (!path) return;
  const std::vector<LabRecord> records = read_lab_files({path->string()}, {});
  PopulationFit fit = fit_population(records, "vteam");
  add_intervals(fit, records);
  const auto g_max = std::find_if(fit.common.intervals.begin(), fit.common.intervals.end(),
                                  [](const FittedNumber& n) { return n.name == "g_max"; });
  REQUIRE(g_max != fit.common.intervals.end());
  CHECK(g_max->value == Approx(fit.g_max_S.mean).epsilon(1e-9));
  CHECK(fit.common.spec.g_max_S == Approx(fit.g_max_S.mean).epsilon(1e-9));
}
