// SPDX-License-Identifier: Apache-2.0
// nudge netlist: an operating point as a table and as JSON, what is wrong with a netlist, and a trained one written back.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const divider = "divider\nV1 in 0 10\nR1 in out 3k\nR2 out 0 {2*1k}\n";

/// A weighted mean of two voltages learns to weigh them otherwise.
const char* const mean = "mean\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b y 1k\nR3 y 0 10k\n";
const char* const config =
    "estimator = 'ep'\nbeta = 1e-3\nprecision = 'double'\n[network]\nkind = 'netlist'\n[netlist]\nfile = 'mean.cir'\n"
    "inputs = ['va', 'vb']\noutputs = ['y']\n[circuit]\nread_voltage = '1 V'\n[task]\nkind = "
    "'regression'\n[data]\nfile = "
    "'mean.csv'\nlabels = 'y'\nscaling = 'none'\n[relaxation]\nsolver = 'direct'\n[train]\nsteps = 400\nbatch = "
    "4\nlearning_rate = 2e-2\n";

std::string samples() {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    const double a = std::sin(1.3 * i), b = std::cos(2.1 * i);
    text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(0.5 * a + 0.2 * b) + "\n";
  }
  return text;
}

}  // namespace

namespace {

std::string refused(const Folder& folder, const std::string& arguments, int code) {
  const Outcome run = run_nudge(folder, arguments);
  CHECK(run.exit_code == code);
  return run.errors;
}

}  // namespace

TEST_CASE("netlist: an operating point as JSON and as a table", "[apps]") {
  const Folder folder;
  folder.write("d.cir", divider);
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist d.cir --op --json").output);
  CHECK(json["nodes"]["out"].get<double>() == Approx(4).epsilon(1e-14));
  CHECK(json["currents_A"]["v1"].get<double>() == Approx(-2e-3).epsilon(1e-14));
  CHECK(json["residual_A"].get<double>() < 1e-15);
  CHECK_THAT(run_nudge(folder, "netlist d.cir --op").output, Contains("v(out)") && Contains("4 V"));
  CHECK_THAT(run_nudge(folder, "netlist d.cir").output, Contains("3 elements, 2 nodes"));
}

TEST_CASE("netlist: the noise of a voltage, by an option and by the card", "[apps]") {
  const Folder folder;
  folder.write("n.cir", "t\nV1 a 0 1\nR1 a b 1k\nR2 b 0 3k\n.temp 76.85\n.noise v(b) V1 dec 1 1 1k\n");
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist n.cir --noise .noise --json").output);
  const double density = 4 * 1.380649e-23 * 350 * 750;  // 4 k T R of both in parallel
  REQUIRE(json["density_V2_per_Hz"].size() == 4);
  CHECK(json["density_V2_per_Hz"][2].get<double>() == Approx(density).epsilon(1e-9));
  CHECK(json["power_V2"].get<double>() == Approx(density * 999).epsilon(1e-9));
  CHECK(json["elements"]["r1"]["power_V2"].get<double>() == Approx(0.75 * density * 999).epsilon(1e-9));
  CHECK_THAT(run_nudge(folder, "netlist n.cir --noise \"v(b) lin 2 1 1000\"").output,
             Contains("r1") && Contains("75 %") && Contains("at 350 K"));
  CHECK_THAT(refused(folder, "netlist n.cir --noise \"v(c) dec 1 1 10\"", 2), Contains("no node c"));
  CHECK_THAT(refused(folder, "netlist n.cir --noise \"b dec 1 1 10\"", 2), Contains("v(out) dec 10 1 1meg"));
  CHECK_THAT(refused(folder, "netlist n.cir --noise \"v(b) lin 2 0 10\"", 2), Contains("above 0 Hz"));
}

TEST_CASE("netlist: what cannot be read ends with 2, what cannot be solved with 3", "[apps]") {
  const Folder folder;
  folder.write("q.cir", "t\nZ1 a b c m\n");
  folder.write("open.cir", "t\nV1 a 0 1\nR1 a 0 1\nR2 b 0 1\nR3 b 0 -1\n");
  CHECK_THAT(refused(folder, "netlist q.cir --op", 2), Contains("q.cir:2:1: Z1: MESFETs"));
  CHECK_THAT(refused(folder, "netlist none.cir", 2), Contains("no such file"));
  CHECK_THAT(refused(folder, "netlist", 2), Contains("FILE.cir is missing"));
  CHECK_THAT(refused(folder, "netlist open.cir --op", 3), Contains("singular at v(b)"));
}

TEST_CASE("netlist: what was learnt is written back as a netlist", "[apps]") {
  const Folder folder;
  folder.write("mean.cir", mean);
  folder.write("mean.csv", samples());
  folder.write("c.toml", config);
  REQUIRE(run_nudge(folder, "train c.toml --out run.h5").exit_code == 0);
  CHECK_THAT(refused(folder, "netlist --trained run.h5", 2), Contains("needs -o"));
  REQUIRE(run_nudge(folder, "netlist --trained run.h5 -o trained.cir").exit_code == 0);
  CHECK_THAT(refused(folder, "netlist --trained run.h5 -o trained.cir", 2), Contains("trained.cir"));
  const std::string again = read_file(folder.file("trained.cir"));
  // Its output is 0.5 a + 0.2 b, as far as 400 steps go.
  const auto at = again.find("va a 0 DC 0");
  REQUIRE(at != std::string::npos);
  folder.write("one.cir", std::string(again).replace(at, 11, "va a 0 DC 1"));
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist one.cir --op --json").output);
  CHECK(json["nodes"]["y"].get<double>() == Approx(0.5).margin(0.01));

  // ngspice -b solves it as it is, and prints the output as it is here.
  CHECK_THAT(again, Contains(".op\n.control\nset numdgt=15\nrun\nprint v(y)\n.endc\n"));
  CHECK_THAT(run_nudge(folder, "netlist one.cir --op").errors,
             Contains("note: one.cir: left aside") && Contains(".control"));
  if (ngspice_installed()) {
    std::filesystem::create_directory(folder.file("spice"));
    const std::string printed = run_ngspice(folder.file("spice"), read_file(folder.file("one.cir")));
    const auto value = printed.find("v(y) = ");
    REQUIRE(value != std::string::npos);
    // A linear circuit: both are rounding from the solution.
    CHECK(std::stod(printed.substr(value + 7)) == Approx(json["nodes"]["y"].get<double>()).epsilon(1e-12));
  }

  // The report draws it: resistors as they were drawn, and as they have become.
  REQUIRE(run_nudge(folder, "report run.h5 -o run.html").exit_code == 0);
  const std::string page = read_file(folder.file("run.html"));
  const auto before = page.find("The circuit before training"), after = page.find("The circuit after training");
  REQUIRE(after > before);
  CHECK(page.find("r1,a,y,1,0.001", before) < after);
  const auto row = page.find("r1,a,y,1,", after);
  const auto r1 = again.find("r1 a y ");
  REQUIRE(r1 != std::string::npos);
  CHECK(std::stod(page.substr(row + 9)) == Approx(1 / std::stod(again.substr(r1 + 7))).epsilon(1e-5));  // six digits
  CHECK_THAT(page, Contains("r3,y,0,1,") && Contains("Where its power goes"));
  std::filesystem::remove(folder.file("mean.cir"));
  REQUIRE(run_nudge(folder, "report run.h5 -o gone.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("gone.html")), Contains("Its circuit is not drawn: ") && Contains("mean.cir"));
}

TEST_CASE("netlist: a training that loses its operating point ends with 3, names the node and keeps its file",
          "[apps]") {
  // The follower e1 holds the far end of rf at v(y): only r1 sets v(y), and weight decay takes it away (tests/training/netlist_training_test.cpp).
  const Folder folder;
  folder.write("mean.cir",
               "follower\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b 0 1k\nE1 f 0 y 0 1\nRf f y 1k\n.options rshunt=1e20\n");
  folder.write("mean.csv", samples());
  folder.write("c.toml", config);
  const std::string lost =
      "train c.toml --out run.h5 --set estimator=adjoint --set 'netlist.learn=[\"r1\"]' --set train.optimizer=sgd "
      "--set "
      "train.learning_rate=0.5 --set train.warmup=0 --set train.weight_decay=1 --set 'gradcheck.estimators=[\"ep\"]'";
  CHECK_THAT(refused(folder, lost, 3), Contains("singular at v(f)") && Contains("events in run.h5"));
  CHECK(run_nudge(folder, "info run.h5").exit_code == 0);
  CHECK_THAT(refused(folder, "train --resume run.h5", 3), Contains("stopped"));
  CHECK(run_nudge(folder, "netlist --trained run.h5 -o last.cir").exit_code == 0);
}

TEST_CASE("netlist: sources follow their waveforms where that is asked for", "[apps]") {
  const Folder folder;
  folder.write("rc.cir", "rc\nV1 a 0 PULSE(0 1 0 1n 1n 1 2)\nR1 a b 1k\nC1 b 0 1n\n");
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist rc.cir --tran 1us --waves --json").output);
  CHECK(json["nodes"]["b"].back().get<double>() == Approx(1 - std::exp(-1.0)).margin(1e-3));  // 1 ns of rise is 4e-4
  CHECK_FALSE(json.contains("settled_s"));
  CHECK_THAT(run_nudge(folder, "netlist rc.cir --tran 1us --waves").output, Contains("at the end"));
  CHECK_THAT(refused(folder, "netlist rc.cir --waves", 2), Contains("goes with --tran"));
  CHECK_THAT(refused(folder, "netlist rc.cir -o new.cir", 2), Contains("-o goes with --trained"));
}

TEST_CASE("netlist: an oscillator is said to have no rest, and .ic holds where a course begins", "[apps]") {
  const Folder folder;
  folder.write("o.cir",
               "o\nvdd vdd 0 5\nr1 vdd c 10k\nc1 c 0 10n\ns1 c 0 c 0 sw1\n.model sw1 sw(vt=2 vh=1 ron=100 "
               "roff=1e12)\n.ic v(c)=1.5\n.tran 1u 1m\n");
  CHECK_THAT(refused(folder, "netlist o.cir --op", 3), Contains("nudge netlist --tran follows it"));
  const Outcome settling = run_nudge(folder, "netlist o.cir --tran 1ms");
  CHECK_THAT(settling.errors, Contains("o.cir:5:1: s1 turns itself back at rest: no operating point"));
  CHECK(settling.output.find("operating point") == std::string::npos);
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist o.cir --tran 1ms --json").output);
  CHECK(json["end"].is_null());
  CHECK(json["settled_s"].is_null());
  CHECK(json["status"] == "max_steps");
  const auto held = nlohmann::json::parse(run_nudge(folder, "netlist o.cir --tran .tran --json").output);
  CHECK(held["nodes"]["c"][0].get<double>() == Approx(1.5).epsilon(1e-6));
  CHECK(held["end"]["c"].get<double>() == held["nodes"]["c"].back().get<double>());
}

TEST_CASE("netlist: a balance that no circuit keeps is named where a transient stays in it", "[apps]") {
  const Folder folder;
  folder.write(
      "latch.cir",
      "two equal inverters\n.model en nmos (vto=0.42 kp=400e-6 lambda=0.02)\n.model ep pmos (vto=-0.42 "
      "kp=120e-6 lambda=0.02)\nMP0 qb q vdd vdd ep w=0.7u l=0.1u\nMN0 qb q 0 0 en w=0.45u l=0.1u\nMP1 q qb "
      "vdd vdd ep w=0.7u l=0.1u\nMN1 q qb 0 0 en w=0.45u l=0.1u\nVdd vdd 0 1.2\nC1 q 0 1p\nC2 qb 0 1p\n.end\n");
  const std::string words = "So no circuit stays there. --tran TIME shows where it goes if nodes are unequal";
  for (const char* way : {"--op", "--tran '1 us'", "--tran '1 us' --waves"})
    CHECK_THAT(run_nudge(folder, std::string("netlist latch.cir ") + way).errors, Contains(words));
  // Followed, the advice leads to one of the two states that circuits keep: a node at the supply, the other at 0.
  const auto left = nlohmann::json::parse(
      run_nudge(folder, "netlist latch.cir --json --tran '1 us' --capacitance 'q=2 pF'").output)["nodes"];
  const double q = left["q"].back(), qb = left["qb"].back();
  CHECK(std::abs(q - qb) > 1.1);
}

TEST_CASE("netlist: memristors with a curve are solved, and noise of reads is said to be left out", "[apps]") {
  const Folder folder;
  folder.write("m.cir", "m\nV1 a 0 0.6\nR1 a b 100k\nY1 b 0 preset=ecram g=10u iv_sinh=0.2 read_noise=0.01\n.end\n");
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist m.cir --op --json").output);
  const double v = json["nodes"]["b"].get<double>();
  CHECK((0.6 - v) / 100e3 == Approx(10e-6 * 0.2 * std::sinh(v / 0.2)).epsilon(1e-9));
  CHECK_THAT(run_nudge(folder, "netlist m.cir --noise 'v(b) dec 1 1 10'").errors,
             Contains("m.cir:4:1: the noise of reads of y1 is left out"));
}

TEST_CASE("netlist: cards of analyses and small signals", "[apps]") {
  const Folder folder;
  folder.write(
      "rlc.cir",
      "t\nV1 a 0 0 AC 1 PULSE(0 1 0 1n 1n 9u)\nR1 a b 50\nL1 b c 100u\nC1 c 0 1n\n.tran 1n 2u\n.ac lin 2 0 1k\n");
  const auto ac = nlohmann::json::parse(run_nudge(folder, "netlist rlc.cir --ac .ac --json").output);
  CHECK(ac["frequency_Hz"] == std::vector<double>{0, 1000});
  CHECK(ac["nodes"]["c"]["real"][0].get<double>() == Approx(1).epsilon(1e-12));
  // i = jwC of 1 V, but for w²LC = 4e-6 of it.
  CHECK(ac["currents_A"]["l1"]["imag"][1].get<double>() == Approx(2e3 * 3.14159265358979 * 1e-9).epsilon(1e-5));
  const auto tran = nlohmann::json::parse(run_nudge(folder, "netlist rlc.cir --tran .tran --json").output);
  CHECK(tran["time_s"].back().get<double>() == Approx(2e-6));
  CHECK(tran["nodes"].size() == 3);  // without those that stand for currents
  CHECK(tran["currents_A"]["l1"].size() == tran["time_s"].size());
  CHECK_THAT(refused(folder, "netlist rlc.cir --ac fast", 2), Contains("must be a sweep"));
  folder.write("plain.cir", "t\nV1 a 0 1\nR1 a 0 1\n");
  CHECK_THAT(refused(folder, "netlist plain.cir --ac .ac", 2), Contains("no source has an AC amplitude"));
  CHECK_THAT(refused(folder, "netlist plain.cir --tran .tran", 2), Contains("no .tran card"));
}

TEST_CASE("netlist: a transient of nodes that sources set follows the sources", "[apps]") {
  const Folder folder;
  folder.write("set.cir", "set\nV1 a 0 SIN(0 1 1meg)\nR1 a 0 1\nC1 a 0 1p\n");
  const auto json = nlohmann::json::parse(run_nudge(folder, "netlist set.cir --tran 0.25us --waves --json").output);
  CHECK(json["end"]["a"].get<double>() == Approx(1).epsilon(1e-12));  // sin(pi/2)
  CHECK(run_nudge(folder, "netlist set.cir --tran 1us").exit_code == 0);
}

TEST_CASE("netlist: too many elements are refused by count, of the command and of a config", "[apps]") {
  const Folder folder;
  std::string text = "doubling\nva a 0 0\nvb b 0 0\nxtop a y s0\nr2 b y 1k\n";
  for (int k = 0; k < 29; ++k) text += fmt::format(".subckt s{0} p q\nx1 p m s{1}\nx2 m q s{1}\n.ends\n", k, k + 1);
  folder.write("mean.cir", text + ".subckt s29 p q\nr1 p q 1\n.ends\n");
  folder.write("mean.csv", samples());
  folder.write("c.toml", config);
  CHECK_THAT(refused(folder, "netlist mean.cir", 2),
             Contains("mean.cir:4:1: xtop: its .subckt stands for 1610612735 elements") &&
                 Contains("--elements-limit = 1000000") && Contains("raise --elements-limit"));
  CHECK_THAT(refused(folder, "config check c.toml", 2),
             Contains("mean.cir:4:1: xtop: ") && Contains("netlist.elements_limit = 1000000"));
  CHECK_THAT(refused(folder, "train c.toml --out run.h5", 2), Contains("raise netlist.elements_limit"));
  folder.write("mean.cir", mean);
  CHECK(run_nudge(folder, "netlist mean.cir --elements-limit 5").exit_code == 0);
  CHECK_THAT(refused(folder, "netlist mean.cir --elements-limit 4", 2), Contains("mean.cir:6:1: R3: with it"));
  CHECK_THAT(refused(folder, "config check c.toml --set netlist.elements_limit=4", 2), Contains("mean.cir:6:1: R3"));
}
