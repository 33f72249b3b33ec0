// SPDX-License-Identifier: Apache-2.0
// nudge crossbar: the array that is asked for, its currents beside ngspice's, and the IR drop as a file and a picture.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const char* config =
    "[model]\nchannels = 8\ntokens = 2\nmemories = 6\nheads = 2\n[device]\npreset = 'ecram'\n[circuit]\nread_voltage = "
    "'0.1 V'\n[crossbar]\nrow_resistance = '20 Ohm'\ncolumn_resistance = '20 Ohm'\n";

}  // namespace

TEST_CASE("crossbar solves one array where one is asked for, and is quiet in a pipe", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto all = nlohmann::json::parse(run_nudge(folder, "crossbar c.toml --json").output);
  CHECK(all["arrays"].size() == 3);
  const Outcome run = run_nudge(folder, "crossbar c.toml --array Wo --json");
  CHECK(run.errors.empty());
  const auto one = nlohmann::json::parse(run.output);
  REQUIRE(one["arrays"].size() == 1);
  // The same devices, whatever is left out.
  CHECK(one["arrays"][0] == all["arrays"][1]);
  CHECK(one["arrays"][0]["name"] == "Wo");
}

TEST_CASE("crossbar prints the currents of the exported netlist, and reads ngspice's beside them", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto json =
      nlohmann::json::parse(run_nudge(folder, "crossbar c.toml --array Wo --spice wo.cir --json").output)["netlist"];
  REQUIRE(json["currents_A"].size() == 8);
  // What ngspice would print, the third number 1 % off.
  const auto printed = [&](int columns, double factor) {
    std::string text = "Note: nothing\n";
    for (int j = 0; j < columns; ++j) {
      const double current = j < 8 ? json["currents_A"][static_cast<std::size_t>(j)].get<double>() : 1;
      text += fmt::format("i(vs{}) = {:.15e}\n", j, j == 2 ? factor * current : current);
    }
    return text;
  };
  folder.write("same.out", printed(8, 1));
  folder.write("off.out", printed(8, 1.01));
  const Outcome same = run_nudge(folder, "crossbar c.toml --array Wo --ngspice same.out");
  CHECK_THAT(same.output, Contains(fmt::format("i(vs7) = {:.15e}", json["currents_A"][7].get<double>())) &&
                              Contains("off ideal wires"));
  const auto off =
      nlohmann::json::parse(run_nudge(folder, "crossbar c.toml --array Wo --ngspice off.out --json").output)["netlist"];
  const double third = json["currents_A"][2].get<double>();
  double largest = 0;
  for (const auto& current : json["currents_A"]) largest = std::max(largest, current.get<double>());
  CHECK(off["deviation"].get<double>() == Approx(0.01 * third / largest));
  for (const auto& [name, text, what] :
       {std::tuple{"short.out", printed(7, 1), "no line \"i(vs7) = ...\""},
        std::tuple{"long.out", printed(9, 1), "long.out:10: i(vs8): the array has 8 columns"},
        std::tuple{"twice.out", printed(8, 1) + "i(vs3) = 1\n", "i(vs3) occurs twice"},
        std::tuple{"nan.out", std::string("i(vs0) = nan\n"), "nan.out:1: i(vs0): not a finite number"}}) {
    folder.write(name, text);
    const Outcome bad = run_nudge(folder, fmt::format("crossbar c.toml --array Wo --ngspice {}", name));
    CHECK(bad.exit_code == 2);
    CHECK_THAT(bad.errors, Contains(what));
  }
  CHECK(run_nudge(folder, "crossbar c.toml --array Wo --ngspice absent.out").exit_code == 2);
  if (std::system("command -v ngspice >/dev/null 2>&1") != 0) return;
  REQUIRE(std::system(fmt::format("cd '{}' && ngspice -b wo.cir > wo.out 2>&1 < /dev/null", folder.file("")).c_str()) ==
          0);
  const auto beside =
      nlohmann::json::parse(run_nudge(folder, "crossbar c.toml --array Wo --ngspice wo.out --json").output)["netlist"];
  // Both solve 128 nodes; our iteration stops at 1e-10, ngspice factorises.
  CHECK(beside["deviation"].get<double>() < 1e-9);
}

TEST_CASE("crossbar stores the IR drop at every device, and report draws it", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const Outcome run = run_nudge(folder, "crossbar c.toml --array Wo --out wo.h5");
  REQUIRE(run.exit_code == 0);
  const H5Reader file(folder.file("wo.h5"));
  CHECK(file.text_attribute("kind") == "crossbar");
  CHECK(file.texts("arrays/name") == std::vector<std::string>{"Wo"});
  const Matrix<double> drop = file.matrix<double>("ir_drop/Wo/positive", H5Shape{8, 8});
  CHECK(file.text_attribute("role", "ir_drop/Wo/positive") == "map");
  // Driven from the left, sensed below: least at the lower left corner, most at the opposite one.
  CHECK(drop(7, 0) == drop.minCoeff());
  CHECK(drop.minCoeff() > 0);
  CHECK(drop(0, 7) > drop(7, 0));
  // Kirchhoff: the ideal current less what the drop takes of it, with the conductances of the mean; the file has the sums.
  const auto own = file.reals<double>("current/Wo/positive"), ideal = file.reals<double>("current/Wo/positive_ideal");
  for (std::size_t j = 0; j < own.size(); ++j) {
    CHECK(own[j] > ideal[j] * (1 - drop.col(static_cast<Index>(j)).maxCoeff()));
    CHECK(own[j] < ideal[j] * (1 - drop.col(static_cast<Index>(j)).minCoeff()));
  }
  CHECK(run_nudge(folder, "report wo.h5 -o wo.html").exit_code == 0);
  const std::string page = read_file(folder.file("wo.html"));
  CHECK_THAT(page, Contains("lose most to wires") && Contains("IR drop at the positive devices of Wo") &&
                       Contains("lost of the read voltage (%)") && Contains("<g class=\"bar\">") &&
                       Contains("Column currents of Wo"));
  REQUIRE(run_nudge(folder, "export wo.h5 --csv out").exit_code == 0);
  CHECK_THAT(read_file(folder.file("out/current.Wo.csv")),
             StartsWith("column,negative,negative_ideal,positive,positive_ideal\n0,"));
  CHECK_THAT(run_nudge(folder, "info wo.h5").output, Contains("ir_drop/Wo/positive"));
  // Ideal wires: nothing is lost, and the page says so. A file is never overwritten.
  CHECK(run_nudge(folder,
                  "crossbar c.toml --set crossbar.row_resistance='0 Ohm' --set crossbar.column_resistance='0 Ohm' "
                  "--set crossbar.mapping=reference_column --out ideal.h5")
            .exit_code == 0);
  CHECK(H5Reader(folder.file("ideal.h5")).matrix<double>("ir_drop/Wo/negative", H5Shape{8, 1}).norm() == 0);
  CHECK(run_nudge(folder, "report ideal.h5 -o ideal.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("ideal.html")), Contains("every device sees the whole read voltage"));
  const Outcome again = run_nudge(folder, "crossbar c.toml --out wo.h5");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.errors, Contains("wo.h5: exists already"));
}
