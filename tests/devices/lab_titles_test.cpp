// SPDX-License-Identifier: Apache-2.0
// Titles and names of columns that tell devices, cycles and directions at once; tables beside each other; statistics; what is asked.
#include <fmt/format.h>

#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/iv_sweep.hpp"
#include "devices/fit/labels.hpp"
#include "sim/io/measured_text.hpp"
#include "tests/devices/lab_ramps.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::lab;
using Catch::Contains;

namespace {

/// Tables below each other, each under its title and the names.
std::string below(const std::vector<std::pair<std::string, std::string>>& tables, const std::string& head) {
  std::string out;
  for (const auto& [title, body] : tables) out += title + "\n" + head + "\n" + body + "\n";
  return out;
}

/// Device and cycle of each record.
std::vector<std::pair<std::string, std::string>> whose(const std::vector<LabRecord>& records) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const LabRecord& one : records) out.emplace_back(one.device, one.cycle);
  return out;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string body(double top) {
  const std::string whole = ramp("", top);
  return whole.substr(1);
}

}  // namespace

TEST_CASE("a title tells device, cycle and direction at once", "[titles]") {
  for (const auto& [a, b, c, d] :
       {std::tuple{"Device 1 cycle 1", "Device 1 cycle 2", "Device 2 cycle 1", "Device 2 cycle 2"},
        {"Device 1, cycle 1", "Device 1, cycle 2", "Device 2, cycle 1", "Device 2, cycle 2"},
        {"cycle #1 of Device 1", "cycle #2 of Device 1", "cycle #1 of Device 2", "cycle #2 of Device 2"},
        {"Device 1: 1st cycle", "Device 1: 2nd cycle", "Device 2: 1st cycle", "Device 2: 2nd cycle"},
        {"Device_1_run_1", "Device_1_run_2", "Device_2_run_1", "Device_2_run_2"}}) {
    CAPTURE(a);
    std::string said;
    const std::vector<LabRecord> got =
        read(below({{a, body(50)}, {b, body(60)}, {c, body(70)}, {d, body(80)}}, names), "", &said);
    REQUIRE(got.size() == 4);
    CHECK(got[0].device == got[1].device);
    CHECK(got[1].device != got[2].device);
    CHECK(got[2].device == got[3].device);
    CHECK(got[0].cycle == "1");
    CHECK(got[3].cycle == "2");
    CHECK(got[3].pulses.conductance_S[1] == Approx(1e-6 * up_uS(1, 80)));
    CHECK_THAT(said, Contains("cycle = \"cycles of tables\""));
  }
  // A device stands above its cycles, and a cycle above its directions.
  CHECK(whose(read(below({{"Device 1\ncycle 1", body(50)}, {"cycle 2", body(60)}, {"Device 2\ncycle 1", body(70)}},
                         names))) == Pairs{{"Device 1", "1"}, {"Device 1", "2"}, {"Device 2", "1"}});
  const std::string head = "Pulse,G (uS)";
  const std::vector<LabRecord> all = read(below({{"Device 1 cycle 1 LTP", half(true, 50)},
                                                 {"Device 1 cycle 1 LTD", half(false, 50, 1)},
                                                 {"Device 1 cycle 2 LTP", half(true, 60)},
                                                 {"Device 1 cycle 2 LTD", half(false, 60, 1)}},
                                                head));
  REQUIRE(all.size() == 2);
  CHECK(all[0].device == all[1].device);
  CHECK(all[1].cycle == "2");
  CHECK(all[1].pulses.direction[pulses + 1] == Direction::down);
  // A cell of a bake has no cycle: each is a cell of its own.
  TableLook look;
  const LongTable bake = parse_long_table(
      below({{"Cell 1 cycle 1", "1,5\n2,4"}, {"Cell 1 cycle 2", "1,6\n2,5"}}, "t (s),G (uS)"), "b.csv",
      {{"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {}, look);
  CHECK(bake.columns[0][0] != bake.columns[0][2]);
}

TEST_CASE("numbered directions are cycles, and a device may be called a set", "[titles]") {
  const std::string head = "Pulse,G (uS)";
  for (const auto& [up, down] : {std::pair{"LTP", "LTD"}, {"Potentiation", "Depression"}, {"Write", "Erase"}}) {
    const std::vector<LabRecord> cycles = read(below({{fmt::format("{} 1", up), half(true, 50)},
                                                      {fmt::format("{} 1", down), half(false, 50, 1)},
                                                      {fmt::format("{} 2", up), half(true, 60)},
                                                      {fmt::format("{} 2", down), half(false, 60, 1)}},
                                                     head));
    CHECK(whose(cycles) == Pairs{{"", "1"}, {"", "2"}});
    CHECK(cycles[1].pulses.direction.back() == Direction::down);
  }
  const auto sets = below({{"Set A set", half(true, 50)},
                           {"Set A reset", half(false, 50, 1)},
                           {"Set B set", half(true, 80)},
                           {"Set B reset", half(false, 80, 1)}},
                          head);
  CHECK_THROWS_WITH(read(sets), Contains("\"device=tables\""));
  const std::vector<LabRecord> two = read(sets, "device=tables");
  CHECK(whose(two) == Pairs{{"Set A", ""}, {"Set B", ""}});
  CHECK(two[1].pulses.direction.back() == Direction::down);
  // Data sets are no pulses up.
  CHECK_THROWS_WITH(read(below({{"Set 1", body(50)}, {"Set 2", body(80)}}, names)),
                    Contains("does it name devices, or cycles?"));
  // The same titles again: of another device or cycle.
  CHECK_THROWS_WITH(
      read(below(
          {{"LTP", half(true, 50)}, {"LTD", half(false, 50, 1)}, {"LTP", half(true, 60)}, {"LTD", half(false, 60, 1)}},
          head)),
      Contains("\"cycle=tables\""));
  CHECK(read_measured_text("x,y\n1,2\n", "x.csv").part_tables().empty());
}

TEST_CASE("units in titles and lines of units again are checked", "[titles]") {
  const std::string bare = "pulse,direction,G";
  CHECK(whose(read(below({{"Device 1 (uS)", body(50)}, {"Device 2 (uS)", body(80)}}, names))) ==
        Pairs{{"Device 1", ""}, {"Device 2", ""}});
  CHECK(read(below({{"Device 1, G in uS", body(50)}, {"Device 2, G in uS", body(80)}}, names))[1].device == "Device 2");
  CHECK_THROWS_WITH(read(below({{"Device 1 (uS)", body(50)}, {"Device 2 (nS)", body(80)}}, names)),
                    Contains("this line tells nS, and column G (uS) is in uS"));
  CHECK_THROWS_WITH(read(below({{"Device 1 (uS)", body(50)}, {"Device 2 (uS)", body(80)}}, bare)),
                    Contains("this line tells uS, and column G has no unit"));
  const std::string units = "pulse,direction,G\n,,uS";
  const std::vector<LabRecord> same = read(below({{"Device 1", body(50)}, {"Device 2", body(80)}}, units));
  REQUIRE(same.size() == 2);
  CHECK(same[1].pulses.conductance_S[1] == Approx(1e-6 * up_uS(1, 80)));
  CHECK_THROWS_WITH(read("Device 1\n" + units + "\n" + body(50) + "Device 2\npulse,direction,G\n,,nS\n" + body(80)),
                    Contains("other units than in line 3"));
}

TEST_CASE("tables beside each other are tables", "[titles]") {
  const auto wide = [](const std::string& titles, const std::string& head, int shorter = 0) {
    std::string out = titles + head + "\n";
    for (int n = 0; n <= 2 * pulses; ++n) {
      const auto cells = [&](double top) {
        return n == 0 ? fmt::format("0,,{:.6f}", up_uS(0, top))
                      : fmt::format("{},{},{:.6f}", n, n <= pulses ? "up" : "down",
                                    n <= pulses ? up_uS(n, top) : down_uS(n - pulses, top));
      };
      const bool ended = n > 2 * pulses - shorter;
      out += cells(50) + ",," + (ended ? ",," : cells(80)) + "\n";
    }
    return out;
  };
  const std::string twice = names + ",," + names;
  for (const int shorter : {0, 5}) {
    const std::vector<LabRecord> devices = read(wide("Device 1,,,,Device 2,,\n", twice, shorter));
    CHECK(whose(devices) == Pairs{{"Device 1", ""}, {"Device 2", ""}});
    CHECK(devices[0].pulses.pulses() == 2 * pulses);
    CHECK(devices[1].pulses.pulses() == 2 * pulses - static_cast<std::size_t>(shorter));
    CHECK(devices[1].pulses.conductance_S[1] == Approx(1e-6 * up_uS(1, 80)));
  }
  CHECK(whose(read(wide("Device 1 cycle 1,,,,Device 1 cycle 2,,\n", twice))) == Pairs{{"", "1"}, {"", "2"}});
  CHECK_THROWS_WITH(read(wide("", twice)), Contains("\"device=tables\"") && Contains("\"cycle=tables\""));
  CHECK(read(wide("", twice), "device=tables").size() == 2);
  CHECK(read(wide("", names + ",,pulse.1,direction.1,G (uS).1"), "device=tables")[1].pulses.conductance_S[1] ==
        Approx(1e-6 * up_uS(1, 80)));
  CHECK_THROWS_WITH(read(wide("", names + ",," + names + "\n,,uS,,,,nS")),
                    Contains("a.csv:2") && Contains("other units"));
  // A directory of pairs: LTP beside LTD.
  std::string ways = "LTP,,LTD,\nPulse,G (uS),Pulse,G (uS)\n";
  ways += rows([](int n) { return fmt::format("{},{:.6f},{},{:.6f}", n, up_uS(n), n, down_uS(n)); }, 0);
  const std::vector<LabRecord> both = read(ways);
  REQUIRE(both.size() == 2);
  CHECK(both[1].pulses.conductance_S[0] == Approx(1e-6 * down_uS(0)));
  CHECK(both[1].pulses.direction.back() == Direction::down);
  // Names that stand twice below a line of titles, beside one count of pulses.
  std::string shared = ",Device 1,,Device 2,\nPulse,LTP (uS),LTD (uS),LTP (uS),LTD (uS)\n";
  shared += rows([](int n) {
    return fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f}", n, up_uS(n), down_uS(n), up_uS(n, 80), down_uS(n, 80));
  });
  const std::vector<LabRecord> named = read(shared);
  REQUIRE(named.size() == 4);
  CHECK(named[3].device == "Device 2");
  CHECK(named[3].pulses.direction.back() == Direction::down);
}

TEST_CASE("columns tell device, cycle and direction at once, and none is left out in silence", "[titles]") {
  const auto wide = [](const std::string& columns, std::size_t count) {
    std::string out = "pulse,direction," + columns + "\n";
    return out + rows(
                     [&](int n) {
                       std::string row = fmt::format("{},up", n);
                       for (std::size_t k = 0; k < count; ++k)
                         row += fmt::format(",{:.6f}", up_uS(n, 50 + 10.0 * static_cast<double>(k)));
                       return row;
                     },
                     0);
  };
  CHECK(whose(read(wide("D1 cycle 1 (uS),D1 cycle 2 (uS),D2 cycle 1 (uS),D2 cycle 2 (uS)", 4))) ==
        Pairs{{"D1", "1"}, {"D1", "2"}, {"D2", "1"}, {"D2", "2"}});
  const std::vector<LabRecord> cells = read(wide("Cell 1 (uS),Cell 2 (uS),Cell 3b (uS)", 3));
  REQUIRE(cells.size() == 3);
  CHECK(cells[2].device == "Cell 3b (uS)");
  CHECK(read(wide("Cell1 (uS),Cell2 (uS),Cell3b (uS)", 3)).size() == 3);
  CHECK_THROWS_WITH(
      read(wide("Cell 1 (uS),Cell 2 (uS),Reference (uS)", 3)),
      Contains("column \"Reference (uS)\" is one more conductance") &&
          Contains("\"conductance=Cell 1 (uS)+Cell 2 (uS)+Reference (uS) uS\" or \"aside=Reference (uS)\""));
  CHECK(read(wide("Cell 1 (uS),Cell 2 (uS),Reference (uS)", 3), "aside=Reference (uS)").size() == 2);
  CHECK(read(wide("Cell 1 (uS),Cell 2 (uS),Reference (uS)", 3), "conductance=Cell 1 (uS)+Cell 2 (uS)+Reference (uS) uS")
            .size() == 3);
  CHECK_THROWS_WITH(read(wide("G (uS),Target (uS)", 2)), Contains("\"aside=Target (uS)\""));
}

TEST_CASE("statistics beside readings are no devices", "[titles]") {
  const auto devices = [](const std::string& columns, std::size_t count) {
    const std::string text = "pulse,direction," + columns + "\n" +
                             rows(
                                 [&](int n) {
                                   std::string row = fmt::format("{},up", n);
                                   for (std::size_t k = 0; k < count; ++k) row += fmt::format(",{:.6f}", up_uS(n, 50));
                                   return row;
                                 },
                                 0);
    std::string said;
    const std::size_t out = read(text, "", &said).size();
    CHECK_THAT(said, Contains("left aside"));
    return out;
  };
  for (const char* pair :
       {"q25 (uS),q75 (uS)", "sigma (uS),sd (uS)", "stderr (uS),median (uS)", "mean (uS),std (uS)", "P5 (uS),P95 (uS)",
        "Q1 (uS),Q3 (uS)", "std err (uS),variance (uS)", "sd1 (uS),sd2 (uS)", "G min (uS),G max (uS)"}) {
    CAPTURE(pair);
    CHECK(devices(std::string("G (uS),") + pair, 3) == 1);
    CHECK(devices(std::string("D1 (uS),D2 (uS),") + pair, 4) == 2);
  }
  CHECK(statistics_among({"P1 (uS)", "P2 (uS)", "P5 (uS)"}) == std::vector<bool>{false, false, false});
}

TEST_CASE("directions of devices keep the state that they begin from", "[titles]") {
  for (const int from : {0, 1}) {
    const std::vector<LabRecord> got = read("Pulse,D1 LTP (uS),D1 LTD (uS),D2 LTP (uS),D2 LTD (uS)\n" +
                                            rows(
                                                [](int n) {
                                                  return fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f}", n, up_uS(n),
                                                                     down_uS(n), up_uS(n, 80), down_uS(n, 80));
                                                },
                                                from));
    REQUIRE(got.size() == 4);
    for (std::size_t k = 0; k < 4; ++k) {
      const double top = k < 2 ? 50 : 80;
      CHECK(got[k].pulses.conductance_S.size() == static_cast<std::size_t>(pulses + 1 - from));
      CHECK(got[k].pulses.conductance_S[0] == Approx(1e-6 * (k % 2 == 0 ? up_uS(from, top) : down_uS(from, top))));
      CHECK(got[k].pulses.direction.back() == (k % 2 == 0 ? Direction::up : Direction::down));
    }
  }
}

TEST_CASE("sweeps of several devices below each other are told apart, or asked about", "[iv_fit]") {
  const auto loop = [](double on) {
    std::string out;
    for (int k = 0; k <= 40; ++k) {
      const double v = 1 - std::abs(k - 20) / 20.0;
      out += fmt::format("{:.3f},{:.8f}\n", v, v * (k > 15 ? on : 1e-6) * 1e6);
    }
    return out;
  };
  const auto sweeps = [&](const std::string& a, const std::string& b, const std::string& columns = "") {
    TableLook look{columns};
    return parse_iv(below({{a, loop(1e-4)}, {b, loop(2e-4)}}, "V (V),I (uA)"), "i.csv", 0, look).sweeps;
  };
  const std::vector<IvSweep> devices = sweeps("Device 1", "Device 2");
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].device != devices[1].device);
  CHECK(sweeps("Cycle 1", "Cycle 2")[1].cycle == 2);
  CHECK(sweeps("Sweep 1", "Sweep 2")[1].cycle == 2);
  for (const auto& [a, b] : {std::pair{"fresh", "aged"}, {"T = 300 K", "T = 350 K"}, {"", ""}}) {
    CAPTURE(a);
    CHECK_THROWS_WITH(sweeps(a, b), Contains("a sweep begins anew where column \"tables\" changes") &&
                                        Contains("\"device=tables\", \"cycle=tables\""));
    CHECK(sweeps(a, b, "device=tables").size() == 2);
  }
}

TEST_CASE("a column that is missing is named before columns that may tell devices", "[columns]") {
  CHECK_THROWS_WITH(read("step no,what,G (uS)\n" +
                         rows([](int n) { return fmt::format("{},{},{:.6f}", n, n < 6 ? "a" : "b", up_uS(n)); })),
                    Contains("column \"pulse\" is missing"));
}

TEST_CASE("endurance may have a row for each state", "[endurance_fit]") {
  const auto table = [](const char* on, const char* off, const char* name) {
    std::string out = fmt::format("cycle,{},R (kOhm)\n", name);
    for (const int cycle : {1, 10, 100, 1000}) {
      out += fmt::format("{},{},{}\n{},{},{}\n", cycle, off, cycle > 500 ? 15 : 200, cycle, on, 10);
    }
    return out;
  };
  for (const auto& [on, off, name] :
       {std::tuple{"LRS", "HRS", "state"}, {"on", "off", "State"}, {"Set", "Reset", "what"}}) {
    CAPTURE(on);
    TableLook look;
    bool counts = true;
    const std::vector<CycledDevice> devices = parse_endurance(table(on, off, name), "e.csv", look, counts);
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].cycles == std::vector<double>{1, 10, 100, 1000});
    CHECK(devices[0].on_S[0] == Approx(1e-4));
    CHECK(devices[0].off_S[3] == Approx(1 / 15e3));
    const EnduranceFit fit = fit_endurance(devices, counts);
    CHECK(fit.failed == 1);
    CHECK(fit.first_ratio == Approx(20));
  }
  TableLook look;
  bool counts = true;
  CHECK(parse_endurance(table("LRS", "HRS", "state") + "2000,LRS,11\n", "e.csv", look, counts)[0].cycles.size() == 4);
  CHECK_THAT(look.understood.at(0).text(""), Contains("1 cycles have a reading of one state alone"));
  // An overflow of the on state to the end is a failure.
  TableLook over;
  const std::vector<CycledDevice> dead =
      parse_endurance(table("LRS", "HRS", "state") + "2000,LRS,9.9E37\n2000,HRS,300\n", "e.csv", over, counts);
  CHECK(dead[0].lost == 2000);
  CHECK_THROWS_WITH(parse_endurance(table("LRS", "HRS", "state") + "1,LRS,11\n", "e.csv", look, counts),
                    Contains("e.csv:10: cycle 1 has two readings of one state"));
}

TEST_CASE("letters are directions, and a date may stand beside its time", "[columns]") {
  for (const auto& [up, down] : {std::pair{"W", "E"}, {"U", "D"}, {"P", "E"}, {"write", "erase"}}) {
    const std::vector<LabRecord> one =
        read("Pulse,Op,G (uS)\n" + rows([u = up](int n) { return fmt::format("{},{},{:.6f}", n, u, up_uS(n)); }, 0) +
             rows([d = down](int n) { return fmt::format("{},{},{:.6f}", pulses + n, d, down_uS(n)); }));
    REQUIRE(one.size() == 1);
    CHECK(one[0].pulses.direction[pulses] == Direction::up);
    CHECK(one[0].pulses.direction[pulses + 1] == Direction::down);
  }
  const auto times = [](const std::string& text) {
    TableLook look;
    return parse_long_table(
               text, "t.csv",
               {{"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {},
               look)
        .columns[1];
  };
  const std::vector<double> hundred = {0, 100};
  CHECK(times("cell,Date,Time,G (uS)\n1,2026-03-03,23:59:59,5\n1,2026-03-04,00:01:39,6\n") == hundred);
  CHECK(times("cell,Date,Time,G (uS)\n1,31.03.2026,23:59:59,5\n1,01.04.2026,00:01:39,6\n") == hundred);
  CHECK(times("cell,Day,Time,G (uS)\n1,3/31/2026,11:59:59 PM,5\n1,4/1/2026,12:01:39 AM,6\n") == hundred);
  CHECK(times("cell,Datum,Zeit,G (uS)\n1,2026-03-03,9:59:59,5\n1,2026-03-03,10:01:39,6\n") == hundred);
}

TEST_CASE("a device without readings is a row, not a title", "[columns]") {
  TableLook look;
  const LongTable out = parse_long_table(
      "cell,time_s,G (uS)\nC1,1,5\nC1,10,4\nC2,,\nC3,1,6\nC3,10,5\n", "t.csv",
      {{"cell", Unit::none, true}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}}, {}, look);
  CHECK(out.lines == std::vector<int>{2, 3, 5, 6});
  CHECK(look.understood.at(0).missing_lines == std::vector<int>{4});
  std::string text = "device,pulse,direction,G (uS)\n";
  for (const char* device : {"A", "B", "C"}) {
    if (*device == 'B') {
      text += "B,,,\n";
      continue;
    }
    text += fmt::format("{},0,,4\n", device) +
            rows([&](int n) { return fmt::format("{},{},up,{:.6f}", device, n, up_uS(n)); });
  }
  std::string said;
  CHECK(whose(read(text, "", &said)) == Pairs{{"A", ""}, {"C", ""}});
  CHECK_THAT(said, Contains("1 readings are missing") && Contains("lines 15"));
}
