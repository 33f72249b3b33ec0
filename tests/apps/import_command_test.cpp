// SPDX-License-Identifier: Apache-2.0
// `nudge devices import`: a VTEAM in Verilog-A against the built-in one, and what is refused. With the package openvaf-py alone, which
// NUDGE_OPENVAF_PYTHON names an interpreter of.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

std::string interpreter() {
  const char* named = std::getenv("NUDGE_OPENVAF_PYTHON");
  return named == nullptr ? "python3" : named;
}

bool openvaf_installed() {
  const bool found = std::system((interpreter() + " -c 'import openvaf_py' >/dev/null 2>&1").c_str()) == 0;
  if (!found) std::cout << "SKIPPED: the Python package openvaf-py is not installed\n";
  return found;
}

const char* const vteam_source = R"(`include "disciplines.vams"
module vteam(p, n, x);
  inout p, n, x;
  electrical p, n, x;
  parameter real k_up = 1e5;
  parameter real k_down = 1e5;
  parameter real r_on = 5e4;
  parameter real r_off = 1e6;
  real u, v, f;
  analog begin
    v = V(p, n);
    u = V(x);
    f = 0;
    if (v > 0.5) f = k_up * pow(v / 0.5 - 1, 3) * (1 - u);
    if (v < -0.5) f = -k_down * pow(v / -0.5 - 1, 3) * u;
    I(p, n) <+ v / (r_off + u * (r_on - r_off));
    I(x) <+ ddt(V(x)) - f;
  end
endmodule
)";

/// Cell of a linear ion drift memristor between p and m, and what is between m and n.
std::string cell_source(const std::string& declared, const std::string& below) {
  return "`include \"disciplines.vams\"\nmodule one_t(p, n, x);\n  inout p, n, x;\n  electrical p, n, x, m;\n" +
         declared +
         "  analog begin\n    I(p, m) <+ V(p, m) * (1e-5 + 9e-5 * V(x));\n"
         "    I(x) <+ ddt(V(x)) - 1e6 * V(p, m);\n" +
         below + "  end\nendmodule\n";
}

/// Device that an import makes of a source, or its messages.
struct Imported {
  Outcome run;
  DeviceSpec spec;
};
Imported imported(const std::string& source, const std::string& options) {
  const Folder folder;
  folder.write("cell.va", source);
  Imported out{
      run_nudge(folder, "devices import cell.va --volts \"-1 V,1 V\" --levels 33 --width \"100 ns\" --out cell.toml " +
                            options + " --python " + interpreter()),
      {}};
  if (out.run.exit_code == 0) out.spec = device_spec(load_program_config(folder.file("cell.toml"), {}));
  return out;
}

}  // namespace

// An inner node is where Kirchhoff's law puts it: a memristor of 10 to 100 uS above a resistance r is g/(1 + g r), and sees 1/(1 + g r)
// of the voltage. A node that was held at 0 V left the resistance out.
TEST_CASE("import: inner nodes of a cell are solved", "[apps]") {
  if (!openvaf_installed()) return;
  for (const double r : {3e4, 3e2}) {
    const auto [run, spec] = imported(cell_source("  parameter real r = 1;\n", "    I(m, n) <+ V(m, n) / r;\n"),
                                      fmt::format("--parameter r={}", r));
    CAPTURE(run.errors);
    REQUIRE(run.exit_code == 0);
    const auto cell = [r](double g) { return g / (1 + g * r); };
    // A linear circuit takes Newton one step: rounding of a table that is printed with 17 digits.
    CHECK(spec.g_min_S == Approx(cell(1e-5)).epsilon(1e-12));
    CHECK(spec.g_max_S == Approx(cell(1e-4)).epsilon(1e-12));
    const std::vector<double> volts = spec.table("volts"), rate = spec.table("rate");
    const std::size_t states = rate.size() / volts.size();
    // du/dt at the lower end: dg_cell/dg dg/dx dx/dt over the window.
    const double slope = 9e-5 / std::pow(1 + 1e-5 * r, 2) / (spec.g_max_S - spec.g_min_S);
    // The table takes dg/dx at its end from 33 states of a curve, to second order of a 32nd: 1 %.
    CHECK(rate[(volts.size() - 1) * states] == Approx(slope * 1e6 / (1 + 1e-5 * r)).epsilon(0.01));
  }
}

// A diode above the memristor has i = I0 (exp(v/V0) - 1): v + i/g = V, solved by bisection here.
TEST_CASE("import: inner nodes behind an exponential converge", "[apps]") {
  if (!openvaf_installed()) return;
  const auto [run, spec] = imported(
      cell_source("", "    I(m, n) <+ 1e-9 * (exp(V(m, n) / 0.03) - 1) + 1e-6 * V(m, n);\n"), "--read \"1 V\"");
  CAPTURE(run.errors);
  REQUIRE(run.exit_code == 0);
  double low = 0, high = 1;
  for (int k = 0; k < 60; ++k) {
    const double m = 0.5 * (low + high);
    (1e-9 * (std::exp(m / 0.03) - 1) + 1e-6 * m < 1e-4 * (1 - m) ? low : high) = m;
  }
  CHECK(spec.g_max_S == Approx(1e-4 * (1 - low)).epsilon(1e-9));  // Newton stops at 1e-8 of a step, squared by the next
}

// A node of heat beside the state: --state holds it where it settles, P R_th above $temperature, and says so; a pulse too short for
// that is refused.
TEST_CASE("import: a node of heat settles, or is refused", "[apps]") {
  if (!openvaf_installed()) return;
  const auto source = [](double heat_capacity) {
    return cell_source("  electrical t;\n",
                       fmt::format("    I(m, n) <+ V(m, n) / 10 * (1 + V(t) / $temperature);\n"
                                   "    I(t) <+ ddt({} * V(t)) + V(t) / 1e6 - V(p, n) * I(p, m);\n",
                                   heat_capacity));
  };
  const auto unnamed = imported(source(1e-15), "");
  CHECK(unnamed.run.exit_code == 2);
  CHECK_THAT(unnamed.run.errors, Contains("(x, t)") && Contains("held where they settle"));
  const auto fast = imported(source(1e-15), "--state x");
  CAPTURE(fast.run.errors);
  REQUIRE(fast.run.exit_code == 0);
  CHECK_THAT(fast.run.output, Contains("inner nodes t"));
  const auto slow =
      imported(source(1e-12), "--state x");  // 1 MOhm-like 1e6 K/W times 1e-12 J/K: 1 us of a pulse of 100 ns
  CHECK(slow.run.exit_code == 2);
  CHECK_THAT(slow.run.errors, Contains("settle with a time constant of") && Contains("--width"));
}

TEST_CASE("import: the tables hold at one temperature", "[apps]") {
  if (!openvaf_installed()) return;
  const std::string source = cell_source("", "    I(m, n) <+ V(m, n) / (100 * $temperature);\n");
  const auto [run, spec] = imported(source, "--temperature \"350 K\"");
  CAPTURE(run.errors);
  REQUIRE(run.exit_code == 0);
  CHECK(spec.g_max_S == Approx(1e-4 / (1 + 1e-4 * 35000)).epsilon(1e-12));
  CHECK(spec.shape_value("temperature") == 350);
  const Folder folder;
  folder.write("cell.va", source);
  REQUIRE(run_nudge(folder,
                    "devices import cell.va --volts \"-1 V,1 V\" --temperature \"350 K\" --out cell.toml --python " +
                        interpreter())
              .exit_code == 0);
  CHECK(run_nudge(folder, "devices characterize cell.toml --devices 2").exit_code == 0);
  const auto warm = run_nudge(folder, "config check cell.toml --set circuit.temperature='300 K'");
  CHECK(warm.exit_code == 2);
  CHECK_THAT(warm.errors,
             Contains("device.memristor_table.temperature = 350 K") && Contains("circuit.temperature is 300 K"));
  CHECK_THAT(run_nudge(folder, "devices import cell.va --temperature \"0 K\"").errors, Contains("must be above 0 K"));
}

TEST_CASE("import: a VTEAM of Verilog-A moves as the built-in one", "[apps]") {
  if (!openvaf_installed()) return;
  const Folder folder;
  folder.write("vteam.va", vteam_source);
  const auto run =
      run_nudge(folder,
                "devices import vteam.va --volts \"-1 V,1 V\" --levels 257 --width \"100 ns\" --out device.toml "
                "--parameter k_down=2e5 --python " +
                    interpreter());
  REQUIRE(run.exit_code == 0);
  DeviceSpec spec = device_spec(load_program_config(folder.file("device.toml"), {}));
  CHECK(spec.g_min_S == Approx(1e-6).epsilon(1e-9));
  CHECK(spec.g_max_S == Approx(20e-6).epsilon(1e-9));
  DeviceSpec own;
  own.model = "vteam";
  own.g_min_S = 1e-6;
  own.g_max_S = 20e-6;
  own.pulses = spec.pulses;
  own.shape = {{"k_down", 2e5}};
  for (const double g0 : {2e-6, 8e-6}) {
    for (const double n : {3.0, -3.0}) {
      DeviceArray<double> exact(own, 1, 1, {}), table(spec, 1, 1, {});
      exact.cells().g(0, 0) = table.cells().g(0, 0) = g0;
      exact.pulse(Matrix<double>::Constant(1, 1, n), 0);
      table.pulse(Matrix<double>::Constant(1, 1, n), 0);
      // The bend of 1/r between 257 states (tests/devices/table_memristor_test.cpp): (h/g)^2 (1 + 1/4x) with h = 19/256 uS and x = 0.5: 0.8 % at 1 uS.
      const double way = std::abs(exact.conductance()(0, 0) - g0);
      CHECK(way > 1e-3 * own.window_S());
      CHECK(std::abs(table.conductance()(0, 0) - exact.conductance()(0, 0)) < 0.008 * way);
    }
  }
  CHECK(run_nudge(folder, "devices characterize device.toml --devices 4").exit_code == 0);
}

// SkyWater's cell (google/skywater-pdk-libs-sky130_fd_pr_reram, cells/reram_cell; Apache-2.0), which NUDGE_SKYWATER_RERAM is the path of: its
// equations once more, by hand.
TEST_CASE("import: SkyWater's ReRAM cell is its equations", "[apps]") {
  const char* model = std::getenv("NUDGE_SKYWATER_RERAM");
  if (model == nullptr || !openvaf_installed()) {
    std::cout << "SKIPPED: NUDGE_SKYWATER_RERAM or openvaf-py\n";
    return;
  }
  constexpr double oxide = 5e-9, reference = 4.7249e-9, thin = 3.3e-9, thick = 4.89e-9, temperature = 450;
  constexpr double kT_eV = 1.380649e-23 / 1.602176634e-19 * temperature;
  const auto current = [](double filament, double v) {
    return 6.14e-5 * std::exp(-(oxide - filament) / (oxide - reference)) * std::sinh(v / 0.43);
  };
  const auto speed = [](double filament, double v) {
    const double gap_nm = (oxide - filament) / 1e-9;
    const double field = (16.5 - 1.25 * gap_nm * gap_nm * gap_nm) * 0.25e-9 / oxide * v;
    return 150 * (std::exp((field - 1.501) / kT_eV) - std::exp((-field - 1.5) / kT_eV));
  };
  const Folder folder;
  const auto run =
      run_nudge(folder, fmt::format("devices import {} --state Tfilament_0 --states \"3.3e-9,4.89e-9\" --volts "
                                    "\"-1.6 V,1.6 V\" --width \"100 ns\" --levels 257 --read \"0.1 V\" "
                                    "--parameter Temperature_0={} --out cell.toml --python {}",
                                    model, temperature, interpreter()));
  CAPTURE(run.errors);
  REQUIRE(run.exit_code == 0);
  DeviceSpec spec = device_spec(load_program_config(folder.file("cell.toml"), {}));
  CHECK(spec.g_min_S == Approx(current(thin, 0.1) / 0.1).epsilon(1e-6));
  CHECK(spec.g_max_S == Approx(current(thick, 0.1) / 0.1).epsilon(1e-6));
  for (const double direction : {1.0, -1.0}) {
    const double g0 = 0.5 * (spec.g_min_S + spec.g_max_S);
    double filament = oxide + (oxide - reference) * std::log(g0 * 0.1 / (6.14e-5 * std::sinh(0.1 / 0.43)));
    DeviceArray<double> table(spec, 1, 1, {});
    table.cells().g(0, 0) = g0;
    // Pulses until a tenth of the window has been passed, in Euler's steps of a thousandth of a pulse.
    for (int pulse = 0; pulse < 2000; ++pulse) {
      table.pulse(Matrix<double>::Constant(1, 1, direction), static_cast<std::uint64_t>(pulse));
      for (int step = 0; step < 1000; ++step) {
        filament = std::clamp(filament + 1e-10 * speed(filament, 1.6 * direction), thin, thick);
      }
      if (std::abs(current(filament, 0.1) / 0.1 - g0) > 0.1 * spec.window_S()) break;
    }
    const double exact = current(filament, 0.1) / 0.1;
    CAPTURE(direction, exact, table.conductance()(0, 0));
    CHECK(std::abs(exact - g0) > 0.05 * spec.window_S());
    // Between 257 states of equal steps of the conductance its derivative bends by (h/g)^2/8, h a 257th of the window, and the model's own
    // first step, by which its speed is measured, is 1e-3 of what follows: 2 % is ten times of both.
    CHECK(std::abs(table.conductance()(0, 0) - exact) < 0.02 * std::abs(exact - g0));
  }
}

TEST_CASE("import: an interpreter that says too much, nothing, or something else is given up", "[apps]") {
  const Folder folder;
  folder.write("vteam.va", vteam_source);
  const auto refused = [&](const std::string& script, const std::string& why) {
    const std::string python = folder.write("python", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    const auto start = std::chrono::steady_clock::now();
    const auto run = run_nudge(folder, "devices import vteam.va --python ./python --wait 1");
    CAPTURE(script, run.errors);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.errors, Contains("--python = ./python: ") && Contains(why));
    // A second of silence; the rest is what a busy machine takes to start and stop a program.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  };
  refused("exec yes", "has written more than the ");
  refused("exec yes >&2", "bytes of messages");
  refused("exec sleep 1000", "has written nothing for 1 s");
  refused("exec sleep 1000 >&- 2>&-", "has written nothing for 1 s");
  refused("sleep 1000 & echo 1", "has not answered with the table");  // what it leaves behind is not waited for
  refused("echo '{\"rate\": [1], \"current\": 2}'", "has not answered with the table");
  refused("echo '{\"problem\": 1}'", "has not answered with the table");
  refused("kill -9 $$", "does not run");
}

TEST_CASE("import: messages of a compiler have no colours", "[apps]") {
  const Folder folder;
  folder.write("vteam.va", vteam_source);
  const std::string python = folder.write("python",
                                          "#!/bin/sh\nprintf '\\033[1m\\033[38;5;12merror\\033[0m: here\\n' >&2\necho "
                                          "'{\"problem\": \"does not compile\"}'\n");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const auto run = run_nudge(folder, "devices import vteam.va --python ./python");
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.errors, Contains("does not compile\nerror: here"));
}

TEST_CASE("import: what cannot be had is refused with the reason", "[apps]") {
  const Folder folder;
  folder.write("vteam.va", vteam_source);
  const auto missing = run_nudge(folder, "devices import nowhere.va");
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.errors, Contains("nowhere.va"));
  const auto no_python = run_nudge(folder, "devices import vteam.va --python /nowhere/python");
  CHECK(no_python.exit_code == 2);
  CHECK_THAT(no_python.errors, Contains("--python names an interpreter"));
  CHECK_THAT(run_nudge(folder, "devices import vteam.va --volts \"1 V,2 V\"").errors, Contains("from below 0 V"));
  if (!openvaf_installed()) {
    CHECK_THAT(run_nudge(folder, "devices import vteam.va").errors, Contains("pip install openvaf-py"));
    return;
  }
  const auto refused = [&](const std::string& body, const char* why) {
    folder.write("other.va", "`include \"disciplines.vams\"\nmodule other(p, n);\n  inout p, n;\n  electrical p, n;\n" +
                                 body + "endmodule\n");
    const auto run = run_nudge(folder, "devices import other.va --python " + interpreter());
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.errors, Contains(why));
  };
  refused("integer s; analog I(p, n) <+ V(p, n) * $rdist_normal(s, 1.0, 0.1);\n", "draws random numbers ($rdist_");
  refused("parameter real g[0:1] = '{1, 2};\n analog I(p, n) <+ g[0] * V(p, n);\n", "array of parameters (g)");
  refused("analog I(p, n) <+ 1e-6 * V(p, n);\n", "has no node with a charge");
  refused("real s; analog begin s = idt(V(p, n), 0.1); I(p, n) <+ s * V(p, n); end\n", "idt()");
  refused("analog I(p, n) <+ \n", "does not compile");
  CHECK_THAT(run_nudge(folder, "devices import vteam.va --parameter k=1 --python " + interpreter()).errors,
             Contains("has no parameter k"));
}
