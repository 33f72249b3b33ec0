// SPDX-License-Identifier: Apache-2.0
// Netlists that are read, and those that are refused, with the place and the reason.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "netlist/expression.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/point_stability.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;

namespace {

Netlist parsed(const std::string& text) {
  return parse_netlist("t.cir", text, [](const std::string&, const std::string&, std::string&) -> std::string {
    throw UserError("no files here");
  });
}

std::string refusal(const std::string& text) {
  try {
    parsed("title\n" + text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

void check_refused(const std::string& text, const std::string& place, const std::string& reason) {
  const std::string what = refusal(text);
  INFO(text << "\n" << what);
  CHECK(what.rfind(place, 0) == 0);
  CHECK(what.find(reason) != std::string::npos);
}

double value_of(const std::string& expression) {
  return evaluate_expression(expression, {}, [](const std::string&, const Place&) { return 7.0; }).value;
}

}  // namespace

TEST_CASE("netlist: numbers of SPICE", "[netlist]") {
  // Decimal numbers times a power of ten: one rounding more than the literal has.
  const auto number = [](const std::string& text) {
    double value = 0;
    std::size_t used = 0;
    REQUIRE(read_spice_number(text, 0, value, used));
    CHECK(used == text.size());
    return value;
  };
  constexpr double kRounding = 4e-16;
  CHECK(number("4.7kohm") == Approx(4700).epsilon(kRounding));
  CHECK(number("1meg") == Approx(1e6).epsilon(kRounding));
  CHECK(number("1m") == Approx(1e-3).epsilon(kRounding));
  CHECK(number("2mil") == Approx(50.8e-6).epsilon(kRounding));
  CHECK(number("100nf") == Approx(1e-7).epsilon(kRounding));
  CHECK(number("5f") == Approx(5e-15).epsilon(kRounding));
  CHECK(number("5a") == 5);  // amperes, as ngspice reads it
  CHECK(number("10\xC2\xB5"
               "f") == Approx(1e-5).epsilon(kRounding));             // the micro sign, as LTspice writes it
  CHECK(number("4.7k\xCE\xA9") == Approx(4700).epsilon(kRounding));  // ohms
  CHECK(number("-1.5e-3u") == Approx(-1.5e-9).epsilon(kRounding));
  CHECK(number("+.5t") == Approx(5e11).epsilon(kRounding));
  double value = 0;
  std::size_t used = 0;
  CHECK_FALSE(read_spice_number("x1", 0, value, used));
  CHECK_FALSE(read_spice_number("nan", 0, value, used));
  CHECK_FALSE(read_spice_number("1e999", 0, value, used));
}

TEST_CASE("netlist: expressions", "[netlist]") {
  CHECK(value_of("1+2*3-4/2") == 5);
  CHECK(value_of("-2^2+10") == 6);
  CHECK(value_of("2^3^2") == 64);  // as ngspice has it
  CHECK(value_of("2**-1") == 0.5);
  CHECK(value_of("(1+x)*2k") == 16000);
  CHECK(value_of("x>=7 ? max(1, 2) : min(1,2)") == 2);
  CHECK(value_of("!(1<0) && 0 || 1!=1") == 0);
  CHECK(value_of("atan2(1,1)") == Approx(std::atan(1.0)));
  CHECK_THROWS_WITH(value_of("1/0"), Catch::Contains("division by 0"));
  CHECK_THROWS_WITH(value_of("sqrt(-1)"), Catch::Contains("not a finite number"));
  CHECK_THROWS_WITH(value_of("1+"), Catch::Contains("ends too early"));
  CHECK_THROWS_WITH(value_of("(1"), Catch::Contains("\")\" is missing"));
  CHECK_THROWS_WITH(value_of("sqr(2)"), Catch::Contains("did you mean sqrt?"));
  CHECK_THROWS_WITH(value_of("pow(2)"), Catch::Contains("takes 2 arguments"));
  CHECK_THROWS_WITH(value_of(std::string(5000, '(') + "1"), Catch::Contains("too deep"));
  CHECK_THROWS_WITH(value_of(std::string(5000, '-') + "1"), Catch::Contains("too deep"));
}

TEST_CASE("netlist: what is read", "[netlist]") {
  const Netlist net = parsed(
      "a title\n.subckt half in out params: r=1k\nR1 in out {r}\nR2 out 0 {r}\n.ends\nV1 A 0 dc 2\nX1 a b half "
      "r={2*500}\n"
      "D1 b 0 dd\n.model dd D(is=1f n=2 rs=3)\n");
  CHECK(net.title == "a title");
  CHECK(net.nodes == std::vector<std::string>{"a", "b", "d1#internal"});
  REQUIRE(net.elements.size() == 5);
  CHECK(net.elements[1].name == "x1.r1");
  CHECK(net.elements[1].value == 1000);
  CHECK(to_string(net.elements[1].place) == "t.cir:3:1");
  CHECK(net.elements[3].name == "d1#rs");
  CHECK(net.elements[3].nodes == std::vector<int>{1, 2});
  CHECK(net.elements[4].nodes == std::vector<int>{2, kGround});
  CHECK(net.elements[4].junction.thermal_V == Approx(2 * kSpiceThermal_V));
  CHECK(find_node(net, "B") == 1);
  CHECK(find_element(net, "X1.R2") == 2);
  CHECK(find_element(net, "r2") == -1);
}

TEST_CASE("netlist: files include files beside them", "[netlist]") {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path() / "parts");
  std::ofstream(folder.path() / "top.cir") << "top\nV1 a 0 1\n.include parts/one.inc\n";
  std::ofstream(folder.path() / "parts" / "one.inc") << "R1 a b 1\n.inc \"two parts.inc\"\n.end\n";
  std::ofstream(folder.path() / "parts" / "two parts.inc") << "R2 b 0 1\n";
  CHECK(read_netlist(folder.path() / "top.cir").elements.size() == 3);
  std::ofstream(folder.path() / "parts" / "two parts.inc") << ".include one.inc\n";
  CHECK_THROWS_WITH(read_netlist(folder.path() / "top.cir"), Catch::Contains("include each other"));
  CHECK_THROWS_WITH(read_netlist(folder.path() / "none.cir"), Catch::Contains("no such file"));
  CHECK_THROWS_WITH(read_netlist(folder.path()), Catch::Contains("no regular file"));
}

TEST_CASE("netlist: cards that are refused", "[netlist]") {
  const std::string rest = "\nV9 z 0 1\nR9 z 0 1\n";
  check_refused("R1 a 0" + rest, "t.cir:2:6:", "its value is missing");
  check_refused("R1 a 0 x" + rest, "t.cir:2:8:", "\"x\" is not a number");
  check_refused("R1 a 0 0" + rest, "t.cir:2:8:", "resistance of 0");
  check_refused("R1 a 0 1k tce=1" + rest, "t.cir:2:11:", "tce is not simulated");
  check_refused("T1 a 0 b 0 z0=50" + rest, "t.cir:2:1:", "lines are not simulated");
  check_refused("J1 a b c jj" + rest, "t.cir:2:10:", "no .model jj");
  check_refused("J1 z z 0 jj\n.model jj njf(b=0.5)" + rest, "t.cir:3:1:", "tails off");
  check_refused("R1 z 0 cc\n.model cc c" + rest, "t.cir:2:8:", "its model cc is c (must be res)");
  check_refused("C1 z 0 1n Rser=-1" + rest, "t.cir:2:16:", "must be >= 0");
  check_refused("E1 a 0 z 0 table=(0 1, 0 2)" + rest, "t.cir:2:24:", "must rise");
  check_refused("Q1 z z 0 qq\n.model qq npn(rb=1 rbm=2)" + rest, "t.cir:3:1:", "rbm above rb");
  check_refused("M1 z z 0 0 nn l=1u\n.model nn nmos(ld=1u)" + rest, "t.cir:2:12:", "must be > 0");
  check_refused("M1 z z 0 0 nn\n.model nn nmos(tox=10n nsub=1e9)" + rest, "t.cir:3:1:", "pure silicon");
  check_refused("V1 a 0 sin(0 1 1k) m=2" + rest, "t.cir:2:20:", "m of a voltage source");
  check_refused("L1 a 0 0" + rest, "t.cir:2:8:", "an inductance of 0 H (must be > 0)");
  check_refused("Q1 a b c qq" + rest, "t.cir:2:10:", "no .model qq");
  check_refused("B1 a 0 w=1" + rest, "t.cir:2:8:", "w is not simulated: Bname");
  check_refused("B1 a 0 v=sin(time)" + rest, "t.cir:2:14:", "functions of time and frequency");
  check_refused("B1 a 0 i=v(z)*i(R9)" + rest, "t.cir:2:15:", "not a voltage source");
  check_refused("B1 a 0 i=v(z)*sqr(2)" + rest, "t.cir:2:15:", "did you mean sqrt?");
  check_refused("B1 a 0 i=v(z,0,0)" + rest, "t.cir:2:10:", "v() takes one node or two");
  check_refused("B1 a 0 v=pwl(v(z),0,1,0,2)" + rest, "t.cir:2:10:", "rising x");
  check_refused("E1 a 0 POLY(2) z 0 1" + rest, "t.cir:2:", "controls or coefficients are missing");
  check_refused("G1 a 0 value=1" + rest, "t.cir:2:14:", "takes an expression in braces");
  check_refused("S1 a 0 z 0 ss\n.model ss sw(vh=-1)" + rest, "t.cir:3:17:", "opens gradually");
  check_refused("K1 L1 L2 0.5" + rest, "t.cir:2:4:", "L1 is no inductor");
  check_refused("L1 a 0 1\nK1 L1 L1 0.5" + rest, "t.cir:3:7:", "stands twice");
  check_refused("F1 a 0 R9 1" + rest, "t.cir:2:8:", "not a voltage source");
  check_refused("D1 a 0 dd" + rest, "t.cir:2:8:", "no .model dd");
  check_refused("D1 a 0 ddx\n.model dddx D" + rest, "t.cir:2:8:", "did you mean dddx?");
  check_refused("D1 a 0 dd\n.model dd D(jtun=5)" + rest, "t.cir:3:13:", "parameter jtun is not simulated");
  check_refused("D1 a 0 dd\n.model dd D(is=0)" + rest, "t.cir:3:16:", "must be > 0");
  check_refused("M1 a b 0 0 nn\n.model nn NMOS(level=3)" + rest, "t.cir:3:22:", "must be 1, or 26 for EKV");
  check_refused("M1 a b 0 0 nn\n.model nn D" + rest, "t.cir:2:12:", "must be NMOS or PMOS");
  check_refused("M1 a b 0 0 nn w=-1u\n.model nn NMOS" + rest, "t.cir:2:17:", "must be > 0");
  check_refused("M1 a b 0 0 nn\n.model nn VDMOS" + rest, "t.cir:3:11:", "type VDMOS is not simulated");
  check_refused("V1 a 0 SFFM(1 2)" + rest, "t.cir:2:8:", "\"SFFM\" is not simulated");
  check_refused("V1 a 0 1 2" + rest, "t.cir:2:10:", "a second value");
  check_refused("R1 a 0 {1+" + rest, "t.cir:2:8:", "not closed");
  check_refused("R1 a 0 {2*foo}\n.param bar=1" + rest, "t.cir:2:11:", "unknown parameter foo");
  check_refused(".param a={b} b={2*a}\nR1 a 0 {a}" + rest, "t.cir:2:", "needs its own value");
  check_refused(".param a = b c = 2\nR1 a 0 {a}" + rest, "t.cir:2:12:", "unknown parameter b");
  check_refused(".param a 1" + rest, "t.cir:2:8:", "name = value is expected");
  check_refused("X1 a 0 s r=1 + 2\n.subckt s a b r=1\n.ends" + rest, "t.cir:2:14:", "stands in {}");
  check_refused("M1 a z 0 0 nn\n.model nn nmos\n.temp 50" + rest, "t.cir:2:1:", "must be one temperature");
  check_refused(".options temp=-300" + rest, "t.cir:2:15:", "above 0 K");
  const std::string diode = "\n.model dd d\n.model qq npn" + rest;
  for (const char* card : {"D1 z 0 dd temp=-300", "D1 z 0 dd dtemp=-400", "Q1 z z 0 qq temp=-300",
                           "R1 z 0 1k temp=-500 tc1=2m", "C1 z 0 1n dtemp=-500"}) {
    check_refused(card + diode, "t.cir:2:", "must be above 0 K");
  }
  for (const char* nominal : {"-300", "-273.15"})
    check_refused(fmt::format("D1 z 0 dd\n.model dd d(tnom={})", nominal) + rest, "t.cir:3:18:", "must be above 0 K");
  // 1e300 A times the exponentials of the law, and exp(-1.11 eV / kT) at 1 K, are no numbers of 64 bits.
  check_refused("D1 z 0 dd\n.model dd d(is=1e300)" + rest, "t.cir:2:1:", "outside the range of numbers");
  check_refused("D1 z 0 dd temp=-272" + diode, "t.cir:2:1:", "outside the range of numbers");
  check_refused("Q1 z z 0 qq\n.model qq npn(is=1e300)" + rest, "t.cir:2:1:", "outside the range of numbers");
  check_refused(".lib x y z" + rest, "t.cir:2:1:", "takes a file name and a section");
  check_refused(".endl" + rest, "t.cir:2:1:", ".endl without .lib");
  check_refused("+ R1 a 0 1" + rest, "t.cir:2:1:", "must follow a card");
}

TEST_CASE("netlist: circuits that are refused", "[netlist]") {
  check_refused("R1 a b 1\nR2 b a 1\n", "t.cir:", "no element is on ground");
  check_refused("\n", "t.cir:", "no element");
  check_refused("V1 a 0 1\nR1 a 0 1\nC1 a b 1n\nI1 b c 1\nR2 c d 1\n", "t.cir:", "nodes b, c, d to ground");
  check_refused("V1 a 0 1\nR1 b 0 1\nE1 a b 0 b 2\nV2 b 0 1\n",
                "t.cir:5:1:", "v2 closes a loop of voltage sources with");
  check_refused("V1 a 0 1\nR1 a 0 1\nV2 a 0 1\n", "t.cir:4:1:", "with v1");
  check_refused("V1 a 0 1\nR1 a 0 1\nL1 a 0 1m\n", "t.cir:4:1:", "l1 closes a loop of voltage sources with v1");
  check_refused("V1 a a 1\nR1 a 0 1\n", "t.cir:2:1:", "shorted");
  check_refused("R1 a 0 1\nV1 a 0 1\nr1 a 0 2\n", "t.cir:4:1:", "a second element r1 (the first: t.cir:2:1)");
  check_refused(".subckt s a\nR1 a 0 1\n.ends\nX1 a b s\n", "t.cir:5:1:", "2 nodes (.subckt s has 1)");
  check_refused(".subckt s a\nR1 a 0 1\n.ends\nX1 a s q=1\n", "t.cir:5:8:", "no parameter q");
  check_refused(".subckt s a\nX1 a s\n.ends\nX1 a s\n", "t.cir:3:1:", "within itself");
  check_refused(".subckt s a\nR1 a 0 1\n", "t.cir:2:1:", "no .ends");
  check_refused("R1 a 0 1\nX1 a res\n.subckt rest a\n.ends\n", "t.cir:3:6:", "did you mean rest?");
}

TEST_CASE("netlist: what cannot be solved names its place", "[netlist]") {
  const auto failure = [](const std::string& text) {
    const NodalEquations equations(parsed("title\n" + text));
    OperatingPointSolver solver(equations);
    std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
    const OperatingPoint found = solver.solve(equations.values(), {}, x);
    CHECK(found.status == Status::stalled);
    for (const double value : x) CHECK(value == 0);  // as it was
    return describe_failure(equations, found);
  };
  // Two resistances that cancel leave b and c to nothing.
  CHECK_THAT(failure("V1 a 0 1\nR1 a 0 1\nR2 b 0 1\nR3 b 0 -1\n"), Catch::Contains("singular at v(b)"));
  // I_s (exp(v/V_t) - 1) - v + 10 has no zero: the line falls to the left and the exponential rises to the right of its minimum.
  const std::string held = failure("I1 a 0 10\nG1 0 a a 0 1\nD1 a 0 dd\n.model dd D\n");
  CHECK_THAT(held, Catch::Contains("did not converge"));
  CHECK_THAT(held, Catch::Contains("residual"));
  // At a million degrees IS is 1.7e15 A: at the 5e-17 V that carry 1 mA the exponential is 1 to the last bit.
  CHECK_THAT(failure("I1 0 b 1m\nD1 b 0 dd temp=1e6\n.model dd D\n"),
             Catch::Contains("net current at v(b)") && Catch::Contains("1 mA"));
  // Resistors between a and b are 1e-24 of 1/gmin.
  CHECK_THAT(failure("V1 c 0 1\nD1 c a dd\nR1 a b 1e-12\nD2 b 0 dd\nD3 0 b dd\n.model dd D\n"),
             Catch::Contains("r1 (t.cir:4:1) of") && Catch::Contains("make it larger"));
  CHECK_THAT(failure("I1 0 a 1\nR1 a 0 1\nB1 b 0 v=ln(v(a)-9)\nR2 b 0 1\n"),
             Catch::Contains("the expression of b1 (t.cir:4:1) is not finite"));
}

namespace {

/// Instances of two of the next, `depth` levels of them, with two resistors in the last.
std::string doubling(int depth) {
  std::string text = "doubling\nv1 a 0 1\nxtop a 0 s0\n";
  for (int k = 0; k + 1 < depth; ++k) {
    text += fmt::format(".subckt s{0} p q\nx1 p m s{1}\nx2 m q s{1}\n.ends\n", k, k + 1);
  }
  return text + fmt::format(".subckt s{} p q\nr1 p m 1\nr2 m q 1\n.ends\n", depth - 1);
}

std::string limited(const std::string& text, std::size_t most) {
  try {
    const auto none = [](const auto&, const auto&, auto&) { return std::string(); };
    return fmt::format("{} elements", parse_netlist("t.cir", text, none, {most, "the limit"}).elements.size());
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("netlist: what its instances stand for is counted before it is made", "[netlist]") {
  // 2^d resistors and 2^d − 1 instances of d levels, and the source.
  CHECK(limited(doubling(5), 64) == "33 elements");
  CHECK(
      limited(doubling(5), 63) ==
      "t.cir:3:1: xtop: its .subckt stands for 63 elements, and with it the netlist has 64 elements or more, instances "
      "of .subckt included (the limit = 63). Use fewer instances within instances, or raise the limit: an element "
      "takes "
      "about 1 kB of memory");
  CHECK_THAT(limited(doubling(30), NetlistLimit::standard),
             Catch::Contains("t.cir:3:1: xtop: ") && Catch::Contains("has 2147483648 elements or more"));
  CHECK_THAT(limited(doubling(32), NetlistLimit::standard), Catch::Contains("or more"));
  CHECK_THAT(limited(doubling(33), NetlistLimit::standard), Catch::Contains("instances are more than 32 deep"));
  CHECK_THAT(limited("t\nx1 a s\n.subckt s p\nx1 p s\nx2 p s\n.ends\n", 100),
             Catch::Contains("t.cir:4:1: x1: instances are more than 32 deep (a .subckt within itself?)"));
  // Empty instances have nodes all the same.
  CHECK_THAT(limited("t\nr1 a 0 1\nx1 a s\nx2 a s\n.subckt s p\n.ends\n", 2), Catch::Contains("t.cir:4:1: x2: "));
  // A card that is more than one element: a diode with a series resistance.
  const std::string diode = "t\nv1 a 0 1\nd1 a 0 m\n.model m d rs=1\n";
  CHECK(limited(diode, 3) == "3 elements");
  CHECK_THAT(limited(diode, 2), Catch::Contains("t.cir:3:1: d1") && Catch::Contains("the limit = 2"));
}

TEST_CASE("an operating point that no circuit keeps is known by the rate at which it is left", "[netlist]") {
  const auto growth = [](const std::string& text) {
    const NodalEquations equations(parsed("title\n" + text));
    OperatingPointSolver solver(equations);
    std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
    REQUIRE(solver.solve(equations.values(), {}, x).status == Status::converged);
    return growth_rate(equations, x).value();
  };
  // 2 mS discharge 1 pF, and 5 pF where 4 pF are drawn.
  CHECK(growth("V1 a 0 1\nR1 a b 1k\nR2 b 0 1k\n") == Approx(-2e9).epsilon(1e-9));
  CHECK(growth("V1 a 0 1\nR1 a b 1k\nR2 b 0 1k\nC1 b 0 4p\n") == Approx(-0.4e9).epsilon(1e-9));
  // Two nodes that drive each other by g through r: -1/r +- g over C.
  const std::string latch = "R1 a 0 1k\nR2 b 0 1k\nG1 a 0 b 0 {}\nG2 b 0 a 0 {}\n";
  CHECK(growth(fmt::format(fmt::runtime(latch), "3m", "3m")) == Approx(2e9).epsilon(1e-9));
  CHECK(growth(fmt::format(fmt::runtime(latch), "0.5m", "0.5m")) == Approx(-0.5e9).epsilon(1e-9));
  // A doubler leaks through gmin at 1e-6/s; 1 S on 1 pF rounds it by 1e-3/s.
  const NodalEquations doubler(
      parsed("t\nV1 in 0 0\nC1 in a 1u\nD1 0 a dd\nD2 a b dd\nC2 b 0 1u\n.model dd D(is=1e-14 rs=1)\n"));
  CHECK_FALSE(growth_rate(doubler, std::vector<double>(static_cast<std::size_t>(doubler.unknowns()), 0.0)));
}
