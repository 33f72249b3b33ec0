// SPDX-License-Identifier: Apache-2.0
// nudge crossbar of what a lab brings: measured conductances, weights of a file, stuck devices.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr double volts = 0.1;  // --volts

std::string floats_of(const std::vector<float>& values) {
  std::string out(sizeof(float) * values.size(), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

nlohmann::json json_of(const Folder& folder, const std::string& arguments) {
  const Outcome run = run_nudge(folder, "crossbar " + arguments + " --json");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(run.output);
}

std::vector<double> currents_of(const nlohmann::json& json) {
  return json["netlist"]["currents_A"].get<std::vector<double>>();
}

void check_error(const Folder& folder, const std::string& arguments, const std::string& what) {
  const Outcome run = run_nudge(folder, "crossbar " + arguments);
  INFO(arguments);
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.errors, Contains(what));
}

const char* small =
    "[model]\nchannels = 4\ntokens = 2\nmemories = 3\nheads = 2\n[device]\nmodel = 'soft_bounds'\n[circuit]\n"
    "read_voltage = '0.1 V'\n";

}  // namespace

TEST_CASE("measured conductances are held as they are: currents are Ohm's law", "[apps]") {
  const Folder folder;
  folder.write("g.csv", "1,2\n3,4.5\n0,26\n");
  // An array of 1 V reads; the window and the errors of a device would change what is held: none of them may.
  const auto json = json_of(folder, "--conductances g.csv --spice a.cir");
  const auto& array = json["arrays"].at(0);
  CHECK(array["rows"] == 3);
  CHECK(array["columns"] == 2);
  CHECK(array["devices"] == 3 * 2);
  // Sums of a few products: a few roundings of 2^-53.
  CHECK(array["mean_conductance_S"].get<double>() == Approx(36.5e-6 / 6).epsilon(1e-14));
  CHECK(array["siemens_per_weight"].get<double>() == Approx(26e-6).epsilon(1e-14));
  CHECK(array["weight_error"].get<double>() < 1e-15);
  const auto currents = currents_of(json);
  CHECK(currents.at(0) == Approx(volts * 4e-6).epsilon(1e-14));
  CHECK(currents.at(1) == Approx(volts * 32.5e-6).epsilon(1e-14));
  CHECK_THAT(read_file(folder.file("a.cir")), Contains("rg2_1 in2 out1 38461.53846153"));
  // Devices of a config give the window, and none of their errors.
  const auto noisy = json_of(folder,
                             "--conductances g.csv --spice b.cir --set device.preset=taox_sandia --set "
                             "device.programming_error=0.1 --set device.stuck_low=0.3");
  CHECK(currents_of(noisy) == currents);
}

TEST_CASE("measured conductances behind resistances: one device against the closed form", "[apps]") {
  const Folder folder;
  folder.write("one.csv", "20\n");
  const auto json = json_of(folder,
                            "--conductances one.csv --spice a.cir --set crossbar.row_resistance='100 Ohm' --set "
                            "crossbar.column_resistance='200 Ohm' --set crossbar.driver_resistance='300 Ohm' --set "
                            "crossbar.sense_resistance='400 Ohm'");
  // 0.1 V over driver, a segment of the row, 50 kohm, a segment of the column and amplifier: 51 kohm.
  CHECK(currents_of(json).at(0) == Approx(volts / 51000).epsilon(1e-12));
  CHECK(json["netlist"]["ideal_A"].at(0).get<double>() == Approx(volts / 50000).epsilon(1e-14));
  // What wires take is the error of the weight: 1/51 of it.
  CHECK(json["arrays"].at(0)["weight_error"].get<double>() == Approx(1 / 51.0).epsilon(1e-12));
}

// 2 x 2 devices of 100 uS behind drivers of 1 kOhm at 0.2 V: 2 V G/(1 + R_d 2 G) = 33.3333 uA per column. Wires of R change
// that by R/R_d at most, and rounding does not, however short they are.
TEST_CASE("drivers without wires, and wires as short as can be", "[apps]") {
  const Folder folder;
  folder.write("g22.csv", "100,100\n100,100\n");
  for (const std::string ohm : {"0", "1e-3", "1e-9", "1e-13", "1e-14", "1e-16"}) {
    CAPTURE(ohm);
    const auto json =
        json_of(folder, "--conductances g22.csv --spice a" + ohm + ".cir --volts 0.2 --set crossbar.row_resistance='" +
                            ohm + " Ohm' --set crossbar.driver_resistance='1 kOhm'");
    for (const double current : currents_of(json)) CHECK(current == Approx(100e-6 / 3).epsilon(2e-6));
    CHECK(json["arrays"].at(0)["power_W"].get<double>() > 0);
  }
}

TEST_CASE("units and orders of a measured matrix", "[apps]") {
  const Folder folder;
  folder.write("u.csv", "1,2\n3,4\n");
  folder.write("n.csv", "1000,2000\n3000,4000\n");
  folder.write("f.npy", npy("<f4", "(2, 2)", floats_of({1, 3, 2, 4}), true));
  const auto in_uS = currents_of(json_of(folder, "--conductances u.csv --spice a.cir"));
  CHECK(currents_of(json_of(folder, "--conductances f.npy --spice b.cir")) == in_uS);
  const auto in_nS = currents_of(json_of(folder, "--conductances n.csv --unit nS --spice c.cir"));
  for (std::size_t j = 0; j < 2; ++j) CHECK(in_nS.at(j) == Approx(in_uS.at(j)).epsilon(1e-14));
  check_error(folder, "--conductances u.csv --unit kS", "--unit");
}

TEST_CASE("one matrix of weights is an array of its own", "[apps]") {
  const Folder folder;
  folder.write("w.csv", "0.5,-1\n0.25,2\n");
  // G = middle + k w, k half of the window over w_max: 12.625 uS and 12.375 uS/4.
  const auto json = json_of(folder,
                            "--weights w.csv --spice a.cir --set device.model=ideal --set crossbar.mapping=offset "
                            "--set crossbar.w_max=4");
  const double middle = 12.625e-6, k = 12.375e-6 / 4;
  CHECK(currents_of(json).at(0) == Approx(volts * (2 * middle + 0.75 * k)).epsilon(1e-13));
  CHECK(currents_of(json).at(1) == Approx(volts * (2 * middle + 1.0 * k)).epsilon(1e-13));
  check_error(folder, "--weights w.csv", "device.model is digital");
  check_error(folder, "--weights w.csv --array Wo --set device.model=ideal", "--array is of a network");
}

TEST_CASE("weights of a run file go into the arrays of its network, by name", "[apps]") {
  const Folder folder;
  folder.write("c.toml", small);
  const Outcome run = run_nudge(folder, "train c.toml --set train.steps=2 --set train.batch=2 --out r.h5");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  const auto again = json_of(folder, "--weights r.h5");
  REQUIRE(again["arrays"].size() == 3);
  const auto beside = json_of(folder, "c.toml --weights r.h5");
  CHECK(again["arrays"] == beside["arrays"]);
  // Other weights than those of the start: another largest weight, hence another scale.
  const auto start = json_of(folder, "c.toml");
  CHECK(again["arrays"].at(0)["w_max"] != start["arrays"].at(0)["w_max"]);
  // On ideal devices the arrays hold them up to rounding of doubles in k.
  const auto ideal = json_of(folder, "--weights r.h5 --set device.model=ideal");
  for (const auto& array : ideal["arrays"]) CHECK(array["weight_error"].get<double>() < 1e-14);
  check_error(folder, "--weights absent.npz", "CONFIG is required");
  check_error(folder, "", "CONFIG is required");
}

TEST_CASE("stuck devices of a map are in the arrays that it names", "[apps]") {
  const Folder folder;
  folder.write("c.toml", small);
  const std::string row = "5,5,5,5\n";
  folder.write("all.csv", row + row + row + row);
  folder.write("free.csv", ",,,\n,,,\n,,,\n,,,\n");
  folder.write("short.csv", row);
  folder.write("negative.csv", row + row + "5,-1,5,5\n" + row);
  const auto map = [](const std::string& entry) { return "--set device.stuck_map='[\"" + entry + "\"]'"; };
  const std::string wo = "c.toml --array Wo --spice ";
  const auto plain = json_of(folder, wo + "a.cir");
  CHECK(json_of(folder, wo + "b.cir " + map("Wo=free.csv")).at("arrays") == plain.at("arrays"));
  const auto stuck = json_of(folder, wo + "c.cir " + map("Wo=all.csv"));
  for (const double current : currents_of(stuck)) CHECK(current == Approx(volts * 4 * 5e-6).epsilon(1e-14));
  // The negative devices alone: the positive ones are as without.
  const auto minus = json_of(folder, wo + "d.cir " + map("Wo.minus=all.csv"));
  CHECK(currents_of(minus) == currents_of(plain));
  CHECK(minus["arrays"] != plain["arrays"]);
  const auto negative = json_of(folder, wo + "e.cir --negative " + map("Wo.minus=all.csv"));
  for (const double current : currents_of(negative)) CHECK(current == Approx(volts * 4 * 5e-6).epsilon(1e-14));
  // The array of the command.
  folder.write("g.csv", "1,2\n3,4\n");
  folder.write("s.csv", "10,\n,\n");
  const auto lone =
      json_of(folder, "--conductances g.csv --spice f.cir --set device.model=soft_bounds " + map("s.csv"));
  CHECK(currents_of(lone).at(0) == Approx(volts * 13e-6).epsilon(1e-14));
  CHECK(currents_of(lone).at(1) == Approx(volts * 6e-6).epsilon(1e-14));
  check_error(folder, wo + "x.cir " + map("Wx=all.csv"), "unknown array Wx");
  check_error(folder, wo + "x.cir " + map("all.csv"), "a network has arrays by name");
  check_error(folder, wo + "x.cir " + map("Wo=short.csv"), "1 x 4 (must be 4 x 4");
  check_error(folder, wo + "x.cir " + map("Wo=negative.csv"),
              "line 3, field 2: -1 uS (device.stuck_map: must be in [0, ");
  folder.write("siemens.csv", row + row + "5,5,5e6,5\n" + row);  // pS, say
  check_error(folder, wo + "x.cir " + map("Wo=siemens.csv"), "times device.g_max; the file is read in uS)");
  check_error(folder, wo + "x.cir --set device.programming_error=5", "device.programming_error = 5 (must be");
  check_error(folder, wo + "x.cir " + map("Wo=absent.csv"), "absent.csv");
  check_error(folder, wo + "x.cir --set crossbar.mapping=offset " + map("Wo.minus=all.csv"),
              "no negative or reference");
}

TEST_CASE("a measured matrix that cannot be one is refused with its place", "[apps]") {
  const Folder folder;
  folder.write("nan.csv", "1,2\nnan,4\n");
  folder.write("negative.csv", "1,2\n3,-4\n");
  folder.write("zero.csv", "0,0\n");
  folder.write("g.csv", "1,2\n");
  check_error(folder, "--conductances nan.csv", "nan.csv\", line 2, field 1: nan (must be a finite number)");
  check_error(folder, "--conductances negative.csv", "line 2, field 2: -4 uS (a conductance must be at least 0)");
  check_error(folder, "--conductances zero.csv", "all conductances are 0");
  folder.write("overflow.csv", "10,9.91E+37\n20,30\n");
  check_error(folder, "--conductances overflow.csv", "line 1, field 2: 9.91e+37 uS (above 0.1 S");
  check_error(folder, "--conductances absent.csv", "absent.csv");
  check_error(folder, "--conductances g.csv --weights g.csv", "the one or the other");
  check_error(folder, "--weights g.csv --unit nS --set device.model=ideal", "--unit is the unit of --conductances");
  check_error(folder, "--conductances g.csv --block b.cir", "--block is of a network");
}

TEST_CASE("a table of places, and a matrix with a title, are the array that they tell", "[apps]") {
  const Folder folder;
  folder.write("g.csv", "16,20\n25,50\n80,40\n");
  const auto expected = json_of(folder, "--conductances g.csv");
  const auto same = [&](const std::string& name, const std::string& text, const std::string& more = "") {
    CAPTURE(text);
    folder.write(name, text);
    const auto json = json_of(folder, "--conductances " + name + more);
    CHECK(json["arrays"][0]["rows"] == 3);
    CHECK(json["arrays"][0]["columns"] == 2);
    // Resistances are written to 5e-7 of their value.
    CHECK(json["arrays"][0]["mean_conductance_S"].get<double>() ==
          Approx(expected["arrays"][0]["mean_conductance_S"].get<double>()).epsilon(1e-6));
    CHECK(json["understood"].size() == 1);
  };
  same("l.csv", "row,col,G (uS)\n0,0,16\n0,1,20\n1,0,25\n1,1,50\n2,0,80\n2,1,40\n");
  same("s.csv", "BL;WL;R (kOhm)\n0;0;62,5\n1;0;50\n0;1;40\n1;1;20\n0;2;12,5\n1;2;25\n");
  same("a.csv", "x,y,what\n0,0,16\n1,0,20\n0,1,25\n1,1,50\n0,2,80\n1,2,40\n", " --columns 'row=y,column=x,g=what uS'");
  same("r.csv", "R (kOhm)\n62.5,50.0\n40.0,20.0\n12.5,25.0\n");
  same("n.csv", "row,BL0,BL1\n,nS,nS\n0,16000,20000\n1,25000,50000\n2,80000,40000\n");
  same("u.csv", "uS,BL0,BL1\nWL0,16,20\nWL1,25,50\nWL2,80,40\n");
  same("t.csv", "16,20,\n25,50,\n80,40,\n");
  same("f.csv", "0.016,0.02\n0.025,0.05\n0.08,0.04\nunit: mS\n");
  same("p.csv", "row,col,G\n0,0,16\n0,1,20\n1,0,25\n1,1,50\n2,0,80\n2,1,40\n");
  same("q.csv", "y,x,what\n0,0,16\n0,1,20\n1,0,25\n1,1,50\n2,0,80\n2,1,40\n", " --columns 'row=y,column=x,g=what'");
  same("o.csv", "62.5,50\n40,20\n12.5,25\n", " --unit kOhm");
  const auto refused = [&](const std::string& text, const std::string& what, const std::string& more = "") {
    folder.write("x.csv", text);
    check_error(folder, "--conductances x.csv" + more, what);
  };
  refused("row,col,G (uS)\n0,0,16\n0,1,20\n1,0,25\n", "has no reading");
  refused("row,col,G (uS)\n0,0,16\n0,1,20\n0,1,25\n", "x.csv:4: row 0, column 1 stands in line 3 too");
  refused("0,0,16.5\n0,1,20\n1,0,25\n1,1,50\n", "x.csv:1: the first two columns count through 2 rows and 2 columns");
  refused("1.6e-5,2e-5\n2.5e-5,5e-5\n", "are these siemens? Say --unit S");
  refused("row,col,G\n0,0,1.6e-5\n0,1,2e-5\n", "are these siemens? Say --columns \"conductance=G S\"");
  refused("Resistance\n62.5,50.5\n40.5,20.5\n", "without a unit");
  refused("G (nS)\n62.5,50.5\n40.5,20.5\n", "nS here, --unit says uS", " --unit uS");
  refused("R\n62.5,50.5\n40.5,20.5\n", "without a unit");
  refused("I (uA)\n62.5,50.5\n40.5,20.5\n", "currents in uA");
  folder.write("zero.csv", "0,0\n0,0\n");
  const auto zero = json_of(folder, "--weights zero.csv --set device.preset=ecram --set crossbar.w_max=1");
  CHECK(zero["arrays"][0]["devices"] == 8);
  check_error(folder, "--weights zero.csv --set device.preset=ecram", "set crossbar.w_max");
}

TEST_CASE("what is no device of a measured matrix is refused, and comments tell its unit", "[apps]") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const std::string& what) {
    folder.write("m.csv", text);
    check_error(folder, "--conductances m.csv", what);
  };
  refused("\"8,073\",\"8,386\"\n\"7,185\",\"20,952\"\n", "no row of numbers");
  refused("1u,2u\n3u,4u\n", "no row of numbers");
  refused(",BL1,BL2,Mean\nWL1,8.1,9.2,8.65\nWL2,7.1,6.2,6.65\n", "\"Mean\" sums up the others");
  refused(",BL1,BL2\nWL1,8.1,9.2\nWL2,7.1,6.2\nStd,0.7,2.1\n", "m.csv:4: \"Std\"");
  refused("temperature (K),B1,B2\n300,8.1,9.2\n300,7.1,6.2\n", "is in K, no conductance");
  refused("V_row,B1,B2\n0.2,8.1,9.2\n0.2,7.1,6.2\n", "\"V_row\" has another name than the others");
  refused("0,1,2\n8.1,9.2,3.3\n7.1,6.2,4.4\n", "the first row counts the columns");
  refused("8.1,9.2\n7.1,6.2\n\n3.1,4.2\n5.1,6.2\n", "m.csv:4: rows follow an empty line");
  refused("input,output,G (uS)\n0,0,8.1\n0,1,9.2\n1,0,7.1\n1,1,6.2\n", "count through 2 rows and 2 columns");
  folder.write("c.csv", "# G in nS\n8100,9200\n7100,6200\n");
  folder.write("u.csv", "8.1,9.2\n7.1,6.2\n");
  const auto currents = [&](const std::string& name) {
    return currents_of(json_of(folder, fmt::format("--conductances {0}.csv --spice {0}.cir", name)));
  };
  const std::vector<double> expected = currents("u");
  CHECK(currents("c").at(1) == Approx(expected.at(1)).epsilon(1e-14));  // 1e-9 and 1e-6 are rounded
  // Places in pairs, rows by their number, and labels that are no counts.
  folder.write("ij.csv", "i,j,G (uS)\n1,0,7.1\n0,0,8.1\n1,1,6.2\n0,1,9.2\n");
  CHECK(currents("ij") == expected);
  folder.write("wl.csv", "WL,BL,G (uS)\nWL10,BL0,7.1\nWL2,BL0,8.1\nWL10,BL1,6.2\nWL2,BL1,9.2\n");
  CHECK(currents("wl") == expected);
  folder.write("label.csv", "WL,B1,B2\n4,8.1,9.2\n8,7.1,6.2\n");
  CHECK(currents("label") == expected);
}

TEST_CASE("empty lines within a matrix are left out, and two arrays in a file are asked about", "[apps]") {
  const Folder folder;
  folder.write("u.csv", "8.1,9.2\n7.1,6.2\n3.1,4.2\n");
  const auto currents = [&](const std::string& name) {
    return currents_of(json_of(folder, fmt::format("--conductances {0}.csv --spice {0}.cir", name)));
  };
  const std::vector<double> expected = currents("u");
  int file = 0;
  for (const char* text : {"8.1,9.2\n7.1,6.2\n\n3.1,4.2\n", "8.1,9.2\n\n\n7.1,6.2\n3.1,4.2\n\n",
                           "8.1,9.2\n\n7.1,6.2\n\n3.1,4.2\n", "BL0,BL1\n\n8.1,9.2\n7.1,6.2\n3.1,4.2\n\n\n"}) {
    CAPTURE(text);
    const std::string name = fmt::format("e{}", file++);
    folder.write(name + ".csv", text);
    CHECK(currents(name) == expected);
  }
  CHECK(json_of(folder, "--conductances e0.csv")["understood"][0]["notes"].dump().find("above line 4") !=
        std::string::npos);
  folder.write("two.csv", "8.1,9.2\n7.1,6.2\n\n\n3.1,4.2\n5.1,6.2\n");
  check_error(folder, "--conductances two.csv", "two.csv:5: rows follow an empty line: 2 arrays of 2 rows?");
  folder.write("again.csv", "BL0,BL1\n8.1,9.2\n7.1,6.2\nBL0,BL1\n3.1,4.2\n");
  check_error(folder, "--conductances again.csv", "again.csv:4: the names stand here again");
}

TEST_CASE("weights of one array are read as conductances are", "[apps]") {
  const Folder folder;
  const std::string device = " --set device.model=ideal --set crossbar.mapping=offset --set crossbar.w_max=4";
  folder.write("w.csv", "0.5,-1\n0.25,2\n");
  const auto of = [&](const std::string& name, const std::string& more = "") {
    return json_of(folder, fmt::format("--weights {0}.csv --spice {0}.cir{1}{2}", name, device, more));
  };
  const auto expected = of("w");
  CHECK(expected["understood"][0]["columns"][0]["meaning"] == "weight");
  const auto same = [&](const std::string& name, const std::string& text, const std::string& more = "") {
    CAPTURE(text);
    folder.write(name + ".csv", text);
    CHECK(currents_of(of(name, more)) == currents_of(expected));
  };
  same("l", "row,col,weight\n0,0,0.5\n0,1,-1\n1,0,0.25\n1,1,2\n");
  same("c", "i,j,w\n1,0,0.25\n0,0,0.5\n1,1,2\n0,1,-1\n");
  same("k", "a,b,x\n0,0,0.5\n0,1,-1\n1,0,0.25\n1,1,2\n", " --columns 'row=a,column=b,weight=x'");
  same("e", "WL,B1,B2\n4,0.5,-1\n8,0.25,2\n");
  same("t", "0.5,-1,\n0.25,2,\n");
  const auto refused = [&](const std::string& text, const std::string& what) {
    folder.write("x.csv", text);
    check_error(folder, "--weights x.csv" + device, what);
  };
  refused(",B1,B2\nW1,0.5,-1\nMean,0.25,2\n", "\"Mean\" sums up the others");
  refused("B1,B2,sigma\n0.5,-1,0.1\n0.25,2,0.2\n", "\"sigma\" sums up the others");
  refused("0.5,-1\n0.25,2\n\n0.5,-1\n0.25,2\n", "x.csv:4: rows follow an empty line");
  refused("w (uS)\n0.5,1\n0.25,2\n", "uS here, and a weight has no unit. Give conductances with --conductances");
  refused("row,col,weight\n0,0,0.5\n0,1,-1\n1,0,0.25\n", "has no reading");
  const Outcome plain = run_nudge(folder, "crossbar --weights w.csv" + device);
  CHECK(plain.output.find("# columns: weight") != std::string::npos);
}
