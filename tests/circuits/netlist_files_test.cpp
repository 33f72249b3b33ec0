// SPDX-License-Identifier: Apache-2.0
// Netlists as KiCad, LTspice, xschem and PSpice write them: libraries, encodings, names, counts in parallel, temperatures, and what is left aside.
#include <cmath>
#include <fstream>
#include <vector>

#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Netlist parsed(const std::string& text) {
  return parse_netlist("t.cir", "title\n" + text,
                       [](const auto&, const auto&, auto&) -> std::string { throw UserError("no files here"); });
}

double voltage(const Netlist& netlist, const std::string& node) {
  const NodalEquations equations(netlist);
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(solver.solve(equations.values(), {}, x).status == Status::converged);
  const int at = find_node(netlist, node);
  REQUIRE(at >= 0);
  return x[static_cast<std::size_t>(at)];
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string utf16(const std::string& text) {
  std::string out = "\xFF\xFE";
  for (const char c : text) out += {c, '\0'};
  return out;
}

/// Voltage across 1 V behind 1 kOhm and what the cards draw between o and 0.
double drawn(const std::string& cards) { return voltage(parsed("v1 in 0 1\nr0 in o 1k\n" + cards), "o"); }

}  // namespace

TEST_CASE("netlist: sections of libraries", "[netlist]") {
  const test::TemporaryDirectory folder;
  const auto file = folder.path() / "top.cir";
  write(folder.path() / "corners.lib",
        "* two corners\n.lib tt\n.param rsheet=100\n.lib \"corners.lib\" mos\n.endl tt\n.LIB FF\n.param "
        "rsheet=80\n.endl\n"
        ".lib mos\n.model dcorner d(is=1e-14 n=1.1)\n.endl mos\n");
  write(file, "corners\n.lib \"corners.lib\" TT\nv1 in 0 2\nr1 in a {rsheet*10}\nd1 a 0 dcorner\n");
  CHECK(voltage(read_netlist(file), "a") == Approx(0.727486).epsilon(1e-5));  // ngspice 39 prints six digits
  write(file, "corners\n.lib 'corners.lib' ff\nv1 in 0 2\nr1 in a {rsheet*10}\nr2 a 0 800\n");
  CHECK(voltage(read_netlist(file), "a") == Approx(1));
  write(file, "corners\n.lib corners.lib fff\nv1 in 0 2\nr1 in 0 1\n");
  CHECK_THROWS_WITH(read_netlist(file), Contains("top.cir:2:6: corners.lib has no section fff (did you mean ff?)"));
  write(file, "corners\n.lib none.lib ff\nv1 in 0 2\nr1 in 0 1\n");
  CHECK_THROWS_WITH(read_netlist(file), Contains("no such file"));
  // LTspice names its own libraries: what is needed of one that is not there is missing by name.
  write(file, "* C:\\draft.asc\nv1 in 0 2\nr1 in 0 1\n.lib C:\\LTspice\\standard.dio\n.backanno\n.end\n");
  const Netlist read = read_netlist(file);
  REQUIRE(read.notes.size() == 1);
  CHECK(read.notes.front() ==
        "left aside, as no part of the circuit: .lib C:\\LTspice\\standard.dio (no such file), .backanno");
  std::filesystem::create_directory(folder.path() / "models");
  write(folder.path() / "models" / "all.lib", ".model dx d(n=2)\n.lib more.lib\n");
  write(folder.path() / "models" / "more.lib", ".subckt half a\nr1 a 0 1k\n.ends\n");
  write(file, "t\nv1 in 0 2\nr1 in a 1k\nx1 a half\n.lib models\\all.lib\n");
  CHECK(voltage(read_netlist(file), "a") == Approx(1));
}

TEST_CASE("netlist: UTF-16 of LTspice, Latin-1, and the micro sign", "[netlist]") {
  const test::TemporaryDirectory folder;
  const auto file = folder.path() / "draft.net";
  const std::string text = "* draft\r\nV1 N001 0 5\r\nR1 N001 N002 10k\r\nR2 N002 0 {\xB5}\r\n.backanno\r\n.end\r\n";
  const auto with = [&](const std::string& value) { return std::string(text).replace(text.find("{\xB5}"), 3, value); };
  write(file, utf16(with("10k")));
  CHECK(voltage(read_netlist(file), "n002") == Approx(2.5));
  write(file, with("10000000000\xB5"));  // Latin-1
  CHECK(voltage(read_netlist(file), "n002") == Approx(2.5));
  write(file, "\xEF\xBB\xBF" + with("10000000000\xC2\xB5\xCE\xA9"));  // UTF-8, and ohms
  CHECK(voltage(read_netlist(file), "n002") == Approx(2.5));
  write(file, with("10000000000\xCE\xBC"));  // the Greek letter
  CHECK(voltage(read_netlist(file), "n002") == Approx(2.5));
}

TEST_CASE("netlist: names of KiCad", "[netlist]") {
  const Netlist net = parsed(
      "V1 VCC 0 DC 5\nR5 VCC Net-(R5-Pad1) 1Meg\nR6 Net-(R5-Pad1) 0 1Meg\nR7 /sub/A.B Net-(R5-Pad1) 1k\n"
      "R8 /sub/A.B unconnected-(J1-Pin_3) 1k\nV2 q 0 PULSE(1 2 3 1 1 1)\nR9 q 0 1\n");
  CHECK(net.nodes == std::vector<std::string>{"vcc", "net-(r5-pad1)", "/sub/a.b", "unconnected-(j1-pin_3)", "q"});
  CHECK(voltage(net, "Net-(R5-Pad1)") == Approx(2.5));
  const std::string written = netlist_text(net, "again");
  const Netlist again = parsed(written.substr(written.find('\n') + 1));
  CHECK(again.nodes == net.nodes);
}

TEST_CASE("netlist: cards that change nothing are left aside in one note", "[netlist]") {
  const Netlist net = parsed(
      "V1 a 0 1\nR1 a 0 1\n.tran 1m\n.probe v(a)\n.plot tran v(a)\n.print tran v(a)\n.save all\n.meas tran x max v(a)\n"
      ".csparam k=1\n.options plotwinsize=0 reltol=1e-4 noinit\n.control\nrun\nR1 is no card\n.endc\n.tran "
      "2m\n.op\n.end\n");
  REQUIRE(net.notes.size() == 1);
  CHECK(net.notes.front() ==
        "left aside, as no part of the circuit: .control, option plotwinsize, option reltol, option noinit, .probe, "
        ".plot, .print, .save, .meas, .csparam");
  CHECK(parsed("V1 a 0 1\nR1 a 0 1\n.op\n").notes.empty());
  CHECK_THROWS_WITH(parsed("V1 a 0 1\nR1 a 0 1\n.foo\n"), Contains("t.cir:4:1: .foo is not understood"));
  CHECK_THROWS_WITH(parsed("V1 a 0 1\nR1 a 0 1\n.options cshunt=1p\n"), Contains("cshunt is not simulated"));
}

TEST_CASE("netlist: what no element uses is not judged", "[netlist]") {
  CHECK(parsed("V1 a 0 1\nR1 a 0 1\n.model q2n3904 npn(bf=300)\n.model dz d(bv=5 foo={nope})\n.model dz d\n"
               ".subckt amp a\nQ1 a b c q2n3904\nB1 a 0 v=1\nR1 a 0 {nope}\n.ends\n.subckt amp a b\n.ends\n")
            .elements.size() == 2);
  CHECK_THROWS_WITH(parsed("V1 a 0 1\nD1 a 0 dz\n.model dz d(jtun=5)\n"), Contains("parameter jtun is not simulated"));
}

TEST_CASE("netlist: m is a count in parallel, of elements and of instances", "[netlist]") {
  const std::string models =
      ".model n nmos(vto=0.5 kp=100u lambda=0.02 kf=1e-25 af=1.3)\n.model dm d(rs=100)\nvg g 0 2\n";
  const auto same = [&](const std::string& counted, const std::string& drawn_out) {
    INFO(counted);
    // Newton's last step is below 1e-9 of each unknown + 1e-12.
    CHECK(drawn(models + counted) == Approx(drawn(models + drawn_out)).epsilon(1e-8));
  };
  same("r1 o 0 6k m=2\n", "r1 o 0 6k\nr2 o 0 6k\n");
  same("d1 o 0 dm m=2\n", "d1 o 0 dm\nd2 o 0 dm\n");
  same("d1 o 0 dm 3 off ic=0.3 m=2\n", "d1 o 0 dm area=6\n");
  same("m1 o g 0 0 n w=1u l=2u nrd=0.1 nrs=.1 off ic=1,2,0 m=2 temp=27\n",
       "m1 o g 0 0 n w=1u l=2u\nm2 o g 0 0 n w=1u l=2u\n");
  same("i1 0 o 0.1m m=2\nr1 o 0 1k\n", "i1 0 o 0.2m\nr1 o 0 1k\n");
  same("g1 o 0 in 0 0.1m m=2\nr1 o 0 1k\n", "g1 o 0 in 0 0.2m\nr1 o 0 1k\n");
  same("vs in q 0\nr9 q 0 1k\nf1 0 o vs 0.1 m=2\nr1 o 0 1k\n", "vs in q 0\nr9 q 0 1k\nf1 0 o vs 0.2\nr1 o 0 1k\n");
  // F and H follow a source within their instance, whose current is that of all; ngspice 39 counts F twice.
  const std::string cell =
      ".subckt s a b g\nv1 p b 0.1\nr1 a p 6k m=2\nr2 p b 1k\nc1 a b 1n\ne1 e b a b 0.5\nr5 e a 3k\ni1 a b 10u\ng1 a b "
      "a b 0.1m\n"
      "vs a y 0\nr6 y b 9k\nf1 a b vs 0.5\nh1 z b vs 100\nr7 z a 2k\nm1 a g b b n w=1u l=2u\nd1 a b dm\nx1 a b t "
      "m=2\n.ends\n"
      ".subckt t a b\nr1 a b 7k\n.ends\n";
  same(cell + "x1 o 0 g s m=3\n", cell + "x1 o 0 g s\nx2 o 0 g s\nx3 o 0 g s\n");
  // A parameter of that name is no count.
  CHECK(drawn(".subckt s a m=1\nr1 a 0 {6k/m}\n.ends\nx1 o s m=3\n") == Approx(2.0 / 3));
  CHECK_THROWS_WITH(drawn("r1 o 0 1 m=0\n"), Contains("m = 0 (must be > 0)"));
  CHECK_THROWS_WITH(drawn("e1 o 0 in 0 1 m=2\n"), Contains("is not simulated"));
  // n transistors that share a current I: n KF |I/n|^AF.
  const auto flicker = [&](const std::string& card) {
    return parsed("v1 o 0 1\n" + models + card).elements.back().flicker.factor;
  };
  CHECK(flicker("m1 o g 0 0 n m=4\n") / flicker("m1 o g 0 0 n\n") == Approx(std::pow(4, -0.3)));
}

TEST_CASE("netlist: temperature coefficients, temperatures and scale", "[netlist]") {
  // Values of ngspice 39 but for the two numbers of TC, which are PSpice's.
  CHECK(drawn(".temp 127\nr1 o 0 1k tc1=1m tc2=1u\n") == Approx(1110.0 / 2110));
  CHECK(drawn(".options temp=127 tnom=77\nr1 o 0 1k tc1=1m tc2=1u\n") == Approx(1052.5 / 2052.5));
  CHECK(drawn("r1 o 0 1k tc1=1m temp=127\n") == Approx(1100.0 / 2100));
  CHECK(drawn("r1 o 0 1k tc1=1m dtemp=50\n") == Approx(1050.0 / 2050));
  CHECK(drawn(".temp 127\nr1 o 0 1k TC=1m,1u\n") == Approx(1110.0 / 2110));
  CHECK(drawn("r1 o 0 2.2k TC=0,0\n") == Approx(2.2 / 3.2));
  CHECK(drawn("r1 o 0 1k scale=3\n") == Approx(0.75));
  CHECK(drawn(".temp 127\nr1 o 0 {temper*10}\n") == Approx(1270.0 / 2270));
  CHECK_THROWS_WITH(drawn(".temp 127\n.temp 50\nr1 o 0 1\n"), Contains("t.cir:5:1: the temperature is given twice"));
  CHECK_THROWS_WITH(drawn(".temp 27 50\nr1 o 0 1\n"), Contains("one temperature"));
  CHECK_THROWS_WITH(drawn(".temp 127\nm1 o o 0 0 n\n.model n nmos\n"),
                    Contains("t.cir:5:1: m1: temp = 127 and tnom = 27"));
  CHECK_THROWS_WITH(drawn("m1 o o 0 0 n temp=50\n.model n nmos\n"), Contains("temp = 50 and tnom = 27"));
  CHECK_THROWS_WITH(drawn("r1 o 0 1k tc=1,2,3\n"), Contains("tc takes two numbers"));
  // Resistances that ngspice 39 prints for these transistors at this point, six digits.
  const auto ohms = [](const std::string& cards) {
    const double v = drawn("vg g 0 2\n" + cards);
    return 1000 * v / (1 - v);
  };
  const std::string model = ".model n nmos(vto=0.5 kp=100u lambda=0.02)\n";
  CHECK(ohms(model + ".option scale=1u\nm1 o g 0 0 n w=2 l=3\n") == Approx(14257.6).epsilon(1e-5));
  CHECK(ohms(model + ".option scale=1u\nm1 o g 0 0 n l=2\n") == Approx(138.636).epsilon(1e-5));
  const std::string own = ".model n nmos(vto=0.5 kp=100u w=2u l=6u gamma=0 phi=0.9)\n";
  CHECK(ohms(own + "m1 o g 0 0 n\n") == Approx(29516.4).epsilon(1e-5));
  CHECK(ohms(".model n nmos(vto=0.5 kp=100u)\n.option defw=2u defl=6u\nm1 o g 0 0 n\n") ==
        Approx(29516.4).epsilon(1e-5));
}
