// SPDX-License-Identifier: Apache-2.0
// Tables as spreadsheets and scripts lay them out: below each other, side by side, under comments.
#include "devices/fit/fit_endurance.hpp"
#include "sim/io/measured_text.hpp"
#include "tests/devices/lab_ramps.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::lab;
using Catch::Contains;

TEST_CASE("tables below each other are told apart by their titles", "[devices]") {
  std::string said;
  const std::vector<LabRecord> devices =
      read("Device 1\n" + ramp(names, 50) + "\nDevice 2,,\n" + ramp(names, 80), "", &said);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].device == "Device 1");
  CHECK(devices[1].device == "Device 2");
  CHECK(devices[1].pulses.conductance_S[1] == Approx(1e-6 * up_uS(1, 80)));
  CHECK_THAT(said, Contains("device = \"Device\""));
  // Titles without the names again.
  std::string bare = ramp(names, 80);
  bare = bare.substr(bare.find('\n') + 1);
  CHECK(read("Chip 3\n" + ramp(names, 50) + "Chip 4\n" + bare)[1].device == "Chip 4");
  // Titles that tell directions.
  const auto both = [](const char* up, const char* down) {
    return fmt::format("{},\nPulse,G (uS)\n", up) +
           rows([](int n) { return fmt::format("{},{:.6f}", n, up_uS(n)); }, 0) + fmt::format("\n{},\n", down) +
           "Pulse,G (uS)\n" + rows([](int n) { return fmt::format("{},{:.6f}", n, down_uS(n)); });
  };
  for (const auto& [up, down] : {std::pair{"LTP", "LTD"}, {"Potentiation", "Depression"}, {"SET", "RESET"}}) {
    const std::vector<LabRecord> one = read(both(up, down));
    REQUIRE(one.size() == 1);
    REQUIRE(one[0].pulses.direction.size() == 2 * pulses + 1);
    CHECK(one[0].pulses.direction[pulses] == Direction::up);
    CHECK(one[0].pulses.direction[pulses + 1] == Direction::down);
  }
  CHECK_THROWS_WITH(read("LTP,\nPulse,G (uS)\n0,4\n1,5\nLTD,\nPulse,G (nS)\n1,4000\n"),
                    Contains("a.csv:6: names of columns that differ from those of line 2"));
}

TEST_CASE("tables below each other without titles are of devices, or of cycles: the user is asked", "[devices]") {
  const std::string text = ramp(names, 50) + "\n" + ramp(names, 80);
  CHECK_THROWS_WITH(read(text), Contains("does it name devices, or cycles?") && Contains("\"device=tables\"") &&
                                    Contains("\"cycle=tables\""));
  CHECK(read(text, "device=tables")[1].device == "2");
  const std::vector<LabRecord> cycles = read(text, "cycle=tables");
  CHECK(cycles[0].device == cycles[1].device);
  CHECK(cycles[1].cycle == "2");
  // Names of devices in the file tell more.
  const auto named = [](const char* device, double top) {
    std::string out = "device,pulse,direction,G (uS)\n", body = ramp(names, top);
    body = body.substr(body.find('\n') + 1);
    for (std::size_t at = 0; at < body.size(); at = body.find('\n', at) + 1) {
      out += std::string(device) + "," + body.substr(at, body.find('\n', at) + 1 - at);
    }
    return out;
  };
  CHECK(read(named("a", 50) + named("b", 80)).size() == 2);
  // A row of numbers whose first cell is none stays a row.
  CHECK(read_measured_text("NA,1,2\n3,4,5\n6,7,8\n9,1,2\n", "s.csv").size() == 4);
  // Samples of a task are no tables: a row of words among numbers is an error there, not a title.
  CHECK(read_measured_text("x,y\n1,2\nword,\n3,4\n", "s.csv").size() == 3);
}

TEST_CASE("columns of directions are read, for each device and cycle", "[devices]") {
  std::string said;
  const std::vector<LabRecord> one =
      read("Cycle,Pulse,G_LTP (uS),G_LTD (uS)\n" + rows([](int n) {
             return fmt::format("1,{},{:.6f},{:.6f}", n, up_uS(n), down_uS(n));
           }) + rows([](int n) { return fmt::format("2,{},{:.6f},{:.6f}", n, up_uS(n), down_uS(n)); }),
           "", &said);
  REQUIRE(one.size() == 4);  // two directions of two cycles
  CHECK(one[0].device == one[3].device);
  CHECK(one[0].pulses.direction.back() == Direction::up);
  CHECK(one[3].pulses.direction.back() == Direction::down);
  CHECK_THAT(said, Contains("direction = \"directions of columns\""));
  const std::vector<LabRecord> two = read("Pulse,D1 LTP (uS),D1 LTD (uS),D2 LTP (uS),D2 LTD (uS)\n" + rows([](int n) {
                                            return fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f}", n, up_uS(n),
                                                               down_uS(n), up_uS(n, 80), down_uS(n, 80));
                                          }));
  REQUIRE(two.size() == 4);
  CHECK(two[3].device == "D2");
  CHECK(two[3].pulses.conductance_S[0] == Approx(1e-6 * down_uS(1, 80)));
  // A mean beside its deviation tells no device.
  CHECK_THROWS_WITH(read("Pulse,LTP mean (uS),LTP std (uS),LTD mean (uS),LTD std (uS)\n1,2,3,4,5\n2,3,4,5,6\n"),
                    Contains("column \"conductance\" is missing"));
}

TEST_CASE("letters tell devices behind a word for them", "[devices]") {
  const auto wide = [](const char* a, const char* b) {
    return fmt::format("pulse,direction,{},{}\n0,,4,4\n", a, b) +
           rows([](int n) { return fmt::format("{},up,{:.6f},{:.6f}", n, up_uS(n), up_uS(n, 80)); });
  };
  CHECK(read(wide("Device A (uS)", "Device B (uS)"))[1].device == "Device B (uS)");
  CHECK(read(wide("cell_a (uS)", "cell_b (uS)")).size() == 2);
  CHECK_THROWS(read(wide("Phase A (uS)", "Phase B (uS)")));
}

TEST_CASE("endurance may have two columns for each device", "[endurance_fit]") {
  std::string text = "Cycles,LRS_D1 (kOhm),HRS_D1 (kOhm),LRS_D2 (kOhm),HRS_D2 (kOhm)\n";
  for (const int cycle : {1, 10, 100, 1000}) text += fmt::format("{},10,200,11,{}\n", cycle, cycle > 50 ? 12 : 210);
  TableLook look;
  bool counts = true;
  const std::vector<CycledDevice> devices = parse_endurance(text, "e.csv", look, counts);
  REQUIRE(devices.size() == 2);
  CHECK(fit_endurance(devices, counts).failed == 1);
  // The columns may stand in any order, and be conductances.
  std::string other = "Cycles,HRS 1 (uS),LRS 1 (uS),HRS 2 (uS),LRS 2 (uS)\n";
  for (const int cycle : {1, 10, 100}) other += fmt::format("{},5,100,4,90\n", cycle);
  CHECK(fit_endurance(parse_endurance(other, "e.csv", look, counts), counts).first_ratio == Approx(21.25));
}

TEST_CASE("names and units may stand in comments", "[devices]") {
  const std::string body = ramp(names, 50).substr(names.size() + 1);
  CHECK(read("# measured in May\n# pulse,direction,G (uS)\n" + body)[0].pulses.pulses() == 2 * pulses);
  CHECK(read("pulse,direction,G\n#,,uS\n" + body)[0].pulses.conductance_S[0] == Approx(4e-6));
  std::string said;
  const std::vector<LabRecord> blanks = read(
      "# pulse  V(V)  G(S)\n" + rows([](int n) { return fmt::format(" {}  +1.2  {:.4e}", n, 1e-6 * up_uS(n)); }, 0), "",
      &said);
  CHECK(blanks[0].pulses.pulses() == pulses);
  CHECK_THAT(said, Contains("names in line 1"));
  // A comment that is none of names stays one.
  CHECK_THROWS_WITH(read("# lot,wafer,operator\n" + body), Contains("a table without names"));
}

TEST_CASE("cells of scripts and spreadsheets: floats that count, minus signs, NaN, titles with numbers", "[devices]") {
  const std::string floats =
      "pulse,direction,G (uS)\n0.0,NaN,4\n" + rows([](int n) { return fmt::format("{}.0,inc,{:.6f}", n, up_uS(n)); }) +
      rows([](int n) { return fmt::format("{}.0,dec,{:.6f}", pulses + n, down_uS(n)); }) + "Mean,,25\nN,,25\n";
  CHECK(read(floats)[0].pulses.pulses() == 2 * pulses);
  CHECK_THROWS_WITH(read("pulse,direction,G (uS)\n0,,4\n1.5,up,5\n"), Contains("pulse \"1.5\" is not a whole number"));
  const std::string minus = "Read voltage,0.1 V,\npulse,V (V),G (uS)\n0,0,4\n" +
                            rows([](int n) { return fmt::format("{},1.5,{:.6f}", n, up_uS(n)); }) +
                            rows([](int n) { return fmt::format("{},\u22121.5,{:.6f}", pulses + n, down_uS(n)); });
  CHECK(read(minus)[0].pulses.direction.back() == Direction::down);
}

TEST_CASE("retention may have a row for each cell and a column for each time", "[devices]") {
  const std::vector<LongColumn> known{
      {"cell", Unit::none, false}, {"time", Unit::second, true}, {"conductance", Unit::siemens, true}};
  const auto table = [&](const std::string& names) {
    TableLook look;
    const std::string text = "cell," + names + "\n1,20.1,20.0,19.7\n2,10.1,10.0,9.7\n";
    return parse_long_table(text, "r.csv", known, {}, look);
  };
  for (const char* each : {"1 s (uS),10 s (uS),1 h (uS)", "t=1s (uS),t = 10 s (uS),t=60 min (uS)",
                           "G_1s (uS),G_10s (uS),G_1h (uS)", "G(1s) [uS],G(10s) [uS],G(1h) [uS]"}) {
    const LongTable out = table(each);
    REQUIRE(out.lines == std::vector<int>{2, 3, 2, 3, 2, 3});
    CHECK(out.columns[1] == std::vector<double>{1, 1, 10, 10, 3600, 3600});
    CHECK(out.columns[2][5] == Approx(9.7e-6));
  }
  CHECK(table("1 s (kOhm),10 s (kOhm),1 h (kOhm)").columns[2][0] == Approx(1 / 20.1e3));
  CHECK_THROWS_WITH(table("1 s,10 s,1 h"), Contains("in which unit are the readings?"));
  CHECK_THROWS_WITH(table("T1 (uS),T2 (uS),T3 (uS)"), Contains("column \"time\" is missing"));
}

TEST_CASE("the first large step of a device is no failed reading, and a reversed sign is told of saturated ramps",
          "[devices]") {
  std::string said;
  read(ramp(names, 80), "", &said);
  CHECK_THAT(said, !Contains("far from"));
  // Read noise of the size of the last steps: half of those pulses go the other way.
  const auto noisy = [](int n, const char* volts, double g) {
    return fmt::format("{},{},{:.6f}", n, volts, g + (n % 2 == 0 ? 0.3 : -0.3));
  };
  const std::string table = "pulse,V (V),G (uS)\n0,0,4\n" + rows([&](int n) { return noisy(n, "-1", up_uS(3 * n)); }) +
                            rows([&](int n) { return noisy(pulses + n, "1", up_uS(3 * pulses) * std::pow(0.73, n)); });
  CHECK_THROWS_WITH(read(table), Contains("against their direction") && Contains("polarity=reversed"));
  CHECK(read(table, "polarity=reversed")[0].pulses.pulses() == 2 * pulses);
}

TEST_CASE("titles above titles tell tables apart, with words for directions in them", "[devices]") {
  const auto table = [](bool up, double top) { return "Pulse,G (uS)\n" + half(up, top, up ? 0 : 1); };
  // What is said of all tables tells none apart.
  const std::vector<LabRecord> meta =
      read("Device 1\nVread: 0.1 V\n" + ramp(names, 50) + "Device 2\nVread: 0.1 V\n" + ramp(names, 80));
  REQUIRE(meta.size() == 2);
  CHECK(meta[1].device == "Device 2");
  for (const char* sub : {"", "Device 1 "}) {  // "Device 1", "LTP", ..., "LTD"; or "Device 1 LTP", ...
    const std::string first = *sub == 0 ? "Device 1\n" : "", second = *sub == 0 ? "Device 2\n" : "";
    const std::string other = *sub == 0 ? "" : "Device 2 ";
    const std::vector<LabRecord> one =
        read(first + sub + "LTP\n" + table(true, 50) + sub + "LTD\n" + table(false, 50) + second + other + "LTP\n" +
             table(true, 80) + other + "LTD\n" + table(false, 80));
    REQUIRE(one.size() == 2);
    CHECK(one[1].device == "Device 2");
    CHECK(one[1].pulses.direction.back() == Direction::down);
  }
  // Devices that have the same numbers below another title.
  const std::string numbered = "device,pulse,direction,G (uS)\n";
  const auto wafer = [&](double top) {
    std::string out = numbered;
    for (int device = 1; device < 3; ++device) {
      out += fmt::format("{},0,,4\n", device) +
             rows([&](int n) { return fmt::format("{},{},up,{:.6f}", device, n, up_uS(n, top)); });
    }
    return out;
  };
  const std::string wafers = "Wafer 1\n" + wafer(50) + "Wafer 2\n" + wafer(80);
  CHECK_THROWS_WITH(read(wafers), Contains("\"device=device+Wafer\""));
  CHECK(read(wafers, "device=device+Wafer").size() == 4);
}

TEST_CASE("no device and no row is left out in silence", "[devices]") {
  const auto two = [](const std::string& head) {
    return head + "\n" + rows([](int n) { return fmt::format("{},up,{:.6f},{:.6f}", n, up_uS(n), up_uS(n, 80)); }, 0);
  };
  CHECK_THROWS_WITH(read(two("pulse,direction,G (uS),G (uS).1")), Contains("\"conductance=G (uS)+G (uS).1 uS\""));
  CHECK(read(two("pulse,direction,G (uS),G2 (uS)"), "conductance=G (uS)+G2 (uS) uS").size() == 2);
  const std::vector<LabRecord> same = read(two("pulse,direction,x (uS),x (uS)"), "conductance=COL3+COL4 uS");
  REQUIRE(same.size() == 2);
  CHECK(same[0].device != same[1].device);
  std::string joined = ramp(names, 50);
  for (int n = 0; n < 5; ++n) joined += fmt::format("{};up;{}\n", n, up_uS(n));
  CHECK_THROWS_WITH(read(joined),
                    Contains("rows of numbers with another separator than the table's") && Contains("(5 lines)"));
  // Rows are counted where nothing counts pulses.
  const std::vector<LabRecord> uncounted =
      read("LTP1 (uS),LTD1 (uS),LTP2 (uS),LTD2 (uS)\n" + rows([](int n) {
             return fmt::format("{:.6f},{:.6f},{:.6f},{:.6f}", up_uS(n), down_uS(n), up_uS(n), down_uS(n));
           }));
  CHECK(uncounted.size() == 4);  // two directions of two cycles
  CHECK(read("LTD (kOhm),LTP (kOhm)\n" +
             rows([](int n) { return fmt::format("{:.6f},{:.6f}", 1e3 / down_uS(n), 1e3 / up_uS(n)); }))[0]
            .pulses.conductance_S[1] == Approx(1e-6 * up_uS(2)));
}

TEST_CASE("one reversed device among others is named", "[devices]") {
  std::string text = "device,pulse,V (V),G (uS)\n";
  for (int device = 0; device < 4; ++device) {
    text += fmt::format("{},0,0,4\n", device) +
            rows([&](int n) { return fmt::format("{},{},{},{:.6f}", device, n, device == 2 ? -1 : 1, up_uS(n)); });
  }
  CHECK_THROWS_WITH(read(text), Contains("device 2") && Contains("against their direction"));
}
