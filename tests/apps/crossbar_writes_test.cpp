// SPDX-License-Identifier: Apache-2.0
// nudge crossbar: what programming took, sneak currents of every input form, and conductances in files.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* config =
    "[model]\nchannels = 8\ntokens = 2\nmemories = 6\nheads = 2\n[device]\nmodel = 'soft_bounds'\npulses = 100\ng_min "
    "= "
    "'10 uS'\ng_max = '100 uS'\npulse_voltage_up = 1.4\npulse_voltage_down = 1.4\npulse_width_up = '100 "
    "ns'\npulse_width_down = '100 ns'\n[crossbar]\nprogramming = 'write_verify'\nverify_tolerance = 0.01\nverify_time "
    "= "
    "2\n[circuit]\nread_voltage = '0.1 V'\ntime_constant = '50 ns'\n";

nlohmann::json json_of(const Folder& folder, const std::string& arguments) {
  const Outcome run = run_nudge(folder, "crossbar " + arguments + " --json");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(run.output);
}

/// Matrix of equal conductances, in uS.
std::string equal_cells(int rows, int columns) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) text += j == 0 ? "100" : ",100";
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("crossbar says what writing a whole array took", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto json = json_of(folder, "c.toml --array Wo --out x.h5");
  const auto& array = json["arrays"].at(0);
  const auto& w = array["writes"];
  const double devices = array["devices"].get<double>(), pulses = w["pulses"].get<double>();
  CHECK(w["verified"] == devices);
  CHECK(w["failures"].get<double>() <= devices);
  CHECK(pulses > devices);
  // Pulses one after another, of 100 ns; reads of 2 tau = 100 ns: products of whole numbers.
  CHECK(w["pulses_s"].get<double>() == Approx(pulses * 100e-9).epsilon(1e-12));
  const double reads = w["verify_reads"].get<double>();
  CHECK(reads >= devices);
  CHECK(w["verify_s"].get<double>() == Approx(reads * 100e-9).epsilon(1e-12));
  // Heat n V^2 t G of a pulse, with G within the window; of a read at the mean conductance.
  const double each = 1.4 * 1.4 * 100e-9;
  CHECK(w["pulses_J"].get<double>() > pulses * each * 10e-6);
  CHECK(w["pulses_J"].get<double>() < pulses * each * 100e-6);
  CHECK(w["verify_J"].get<double>() ==
        Approx(reads * 0.01 * array["mean_conductance_S"].get<double>() * 100e-9).epsilon(1e-12));
  // Every device that did not fail is within 1 % of the window of its target, by reads without noise.
  if (w["failures"] == 0) CHECK(w["error_rms"].get<double>() <= 0.01);
  const Outcome text = run_nudge(folder, "crossbar c.toml --array Wo");
  CHECK_THAT(text.output, Contains("pulses and") && Contains("devices failed") && Contains("writing the whole array"));
  // The file has the same numbers, and the conductances whose mean the command prints.
  const H5Reader file(folder.file("x.h5"));
  CHECK(file.reals<double>("arrays/write_pulses").at(0) == pulses);
  CHECK(file.reals<double>("arrays/verify_energy").at(0) == w["verify_J"].get<double>());
  double sum = 0, count = 0;
  for (const char* which : {"conductance/Wo/positive", "conductance/Wo/negative"}) {
    for (const double g : file.matrix<double>(which).reshaped()) {
      sum += g;
      ++count;
      CHECK((g >= 10e-6 * (1 - 1e-12) && g <= 100e-6 * (1 + 1e-12)));
    }
  }
  CHECK(count == devices);
  CHECK(sum / count == Approx(array["mean_conductance_S"].get<double>()).epsilon(1e-12));
}

TEST_CASE("crossbar says when no pulses are simulated, and when their volts are not known", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const Outcome blind = run_nudge(folder, "crossbar c.toml --array Wo --set crossbar.programming=open_loop_error");
  CHECK_THAT(blind.output, Contains("no pulses are simulated"));
  const auto unknown = json_of(folder,
                               "c.toml --array Wo --set device.pulse_voltage_up=0 --set "
                               "device.pulse_width_up='0 s' --set device.pulse_voltage_down=0 --set "
                               "device.pulse_width_down='0 s'");
  CHECK(unknown["arrays"][0]["writes"]["pulses_J"].is_null());
  CHECK(unknown["arrays"][0]["writes"]["pulses"].get<double>() > 0);
}

TEST_CASE("sneak currents of floating lines are printed for measured conductances too", "[apps]") {
  const Folder folder;
  folder.write("g.csv", equal_cells(5, 7));
  const std::string floating = "--conductances g.csv --set crossbar.verify_lines=floating";
  const auto json = json_of(folder, floating);
  // Equal cells: G N M/(N + M - 1) between a row and a column (circuits/wires/tiled_array.hpp). Wires of 1 mOhm at 100 uS, 12 of them: 1e-6.
  CHECK(json["arrays"][0]["sneak"].get<double>() == Approx(35.0 / 11 - 1).epsilon(1e-5));
  CHECK_THAT(run_nudge(folder, "crossbar " + floating).output, Contains("one cell alone"));
  CHECK_FALSE(json_of(folder, "--conductances g.csv")["arrays"][0].contains("sneak"));
  // A line without conductance floats at no voltage: nothing to compare.
  folder.write("g.csv", "100,100\n0,0\n100,100\n");
  const Outcome open = run_nudge(folder, "crossbar " + floating);
  CHECK(open.exit_code == 0);
  CHECK_THAT(open.errors, Contains("without conductance"));
  CHECK_THAT(open.output, !Contains("one cell alone"));
}
