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

}  // namespace

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
