// SPDX-License-Identifier: Apache-2.0
// Bill and test vectors of a trained netlist against closed forms of a divider, the published series E96, and ngspice.
#include <fmt/format.h>

#include <cmath>

#include "netlist/netlist_file.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/config/netlist_bench.hpp"
#include "training/models/netlist/netlist_plan.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// A netlist that is taken as learnt, with the samples 0.25 V and 0.5 V and so on at its input.
LearntNetlist taken_as_learnt(const TemporaryDirectory& folder, const std::string& netlist, const std::string& learn,
                              std::vector<std::string> more = {}) {
  std::string csv = "a,y\n";
  for (int i = 1; i <= 20; ++i) csv += fmt::format("{},0\n", 0.25 * i);
  std::vector<std::string> all{"network.kind=netlist",
                               "task.kind=regression",
                               "netlist.file=" + write_bytes(folder / "c.cir", netlist),
                               "netlist.inputs=['va']",
                               "netlist.outputs=['y']",
                               "netlist.learn=['" + learn + "']",
                               "data.file=" + write_bytes(folder / "d.csv", csv),
                               "data.labels=y",
                               "data.scaling=none",
                               "data.test_fraction=0.2",
                               "relaxation.solver=direct",
                               "estimator=adjoint",
                               "gradcheck.estimators=['ep']"};
  all.insert(all.end(), more.begin(), more.end());
  const Config config = parse_program_config("t", "", all);
  const auto plan = netlist_plan_alone(config, "");
  std::vector<Matrix<double>> weights;
  plan->initial(1, weights);
  const Netlist drawn = plan->with_values(weights, std::vector<double>(weights.size(), 0.0));
  LearntNetlist learnt{drawn,
                       drawn,
                       plan->ports().learned[0].elements,
                       plan->ports().inputs[0].elements,
                       plan->equations().outputs(),
                       plan->ports().inputs,
                       {},
                       config};
  return learnt;
}

}  // namespace

TEST_CASE("netlist bench: E96 is the published series", "[netlist][netlist_bench]") {
  // First and last values of IEC 60063 and those whose rounding is near; in every decade.
  for (const double value :
       {1.00, 1.02, 1.05, 1.07, 1.10, 1.13, 1.87, 2.21, 2.26, 3.32, 4.75, 4.99, 6.81, 9.09, 9.31, 9.53, 9.76})
    for (const double decade : {1e-3, 1.0, 1e6})
      CHECK(nearest_e96(value * decade) == Approx(value * decade).epsilon(1e-12));
  CHECK(nearest_e96(1.008) == Approx(1.00));
  CHECK(nearest_e96(1.012) == Approx(1.02));
  CHECK(nearest_e96(9.9) == Approx(10));
  CHECK(nearest_e96(98700) == Approx(97600));
}

TEST_CASE("netlist bench: a divider's changes and spreads are those of its formula", "[netlist][netlist_bench]") {
  const TemporaryDirectory folder;
  const double r1 = 12345, r2 = 30000;
  const LearntNetlist learnt =
      taken_as_learnt(folder, fmt::format("divider\nVa a 0 0\nR1 a y {}\nR2 y 0 {}\n", r1, r2), "r*");
  const BenchSheet sheet = bench_sheet(learnt, 3);
  REQUIRE(sheet.parts.size() == 2);
  REQUIRE(sheet.vectors.size() == 3);
  const auto out = [](double a, double b) { return b / (a + b); };
  CHECK(*sheet.parts[0].nearest == Approx(12400));
  CHECK(*sheet.parts[1].nearest == Approx(30100));
  double largest = 0;
  for (const BenchVector& one : sheet.vectors) {
    const double in = one.inputs[0], share = out(r1, r2);
    largest = std::max(largest, in);
    // 1 pS from every node to ground loads 1e4 Ohm by 1e-8.
    CHECK(one.volts[1] == Approx(in * share).epsilon(1e-7));
    // ∂ ln(share)/∂ ln r₂ = 1 − share = −∂/∂ ln r₁, each of 1 %/√3.
    CHECK(one.sigma_V[0] == Approx(in * share * (1 - share) * 0.01 / std::sqrt(3.0) * std::sqrt(2.0)).epsilon(1e-6));
  }
  CHECK(sheet.parts[0].change_V == Approx(largest * std::abs(out(12400, r2) - out(r1, r2))).epsilon(1e-5));
  CHECK(sheet.all_change_V == Approx(largest * std::abs(out(12400, 30100) - out(r1, r2))).epsilon(1e-4));
  CHECK_THAT(bill_csv(learnt, sheet), Contains("name,kind,unit,before,after,nearest,change_V\nr1,resistor,Ohm,"));
  CHECK_THAT(vectors_csv(learnt, sheet), Contains("vector,va_V,output(y)_V,sigma(y)_V,v(a),v(y)\n1,"));
}

TEST_CASE("netlist bench: devices round to their levels and spread by their programming error",
          "[netlist][netlist_bench]") {
  const TemporaryDirectory folder;
  LearntNetlist learnt = taken_as_learnt(folder,
                                         "m\nVa a 0 0\nY1 a y ec g=12u\nR2 y 0 100k\n.model ec memristor(preset=ecram "
                                         "levels=8 programming_error=0.02 g_min=2u g_max=16u)\n",
                                         "y*");
  DeviceSpec device;
  device.g_min_S = 2e-6;
  device.g_max_S = 16e-6;
  device.levels = 8;  // 2, 4, …, 16 uS
  device.programming_error = 0.02;
  learnt.device = device;
  learnt.after.elements[1].value = 1 / 11.2e-6;
  const BenchSheet sheet = bench_sheet(learnt, 2);
  CHECK(*sheet.parts[0].nearest == Approx(1 / 12e-6));
  const double share = 11.2 / 21.2, slope = (1 - share) / 21.2e-6;  // of g₁/(g₁ + g₂)
  CHECK(sheet.vectors[0].sigma_V[0] == Approx(sheet.vectors[0].inputs[0] * slope * 0.02 * 14e-6).epsilon(1e-6));
  CHECK_THAT(bill_csv(learnt, sheet), Contains("y1,device,Ohm,"));
}

TEST_CASE("netlist bench: node voltages of a vector are ngspice's", "[netlist][netlist_bench][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  const LearntNetlist learnt = taken_as_learnt(
      folder, "d\nVa a 0 0\nR1 a x 1k\nR2 x y 2k\nR3 y 0 5k\nH1 h 0 Vs 500\nVs x s 0\nR4 s 0 3k\nR5 h y 9k\n", "r*");
  const BenchSheet sheet = bench_sheet(learnt, 2);
  for (const BenchVector& one : sheet.vectors) {
    Netlist netlist = learnt.after;
    netlist.elements[learnt.inputs[0]].value = one.inputs[0];
    std::string text = netlist_text(netlist, "vector");
    text.insert(text.rfind(".end"), ".control\nset numdgt=15\nop\nprint v(x)\nprint v(y)\nprint v(h)\nquit 0\n.endc\n");
    const std::string log = run_ngspice(folder.path(), text);
    for (const std::string node : {"x", "y", "h"}) {
      const auto at = log.find("v(" + node + ") = ");
      REQUIRE(at != std::string::npos);
      const int number = find_node(netlist, node);
      // Rounding of a linear solution, and ngspice's gmin of 1e-12 S beside 1e-3 S.
      CHECK(one.volts[static_cast<std::size_t>(number)] == Approx(std::stod(log.substr(at + 7))).epsilon(1e-8));
    }
  }
}
