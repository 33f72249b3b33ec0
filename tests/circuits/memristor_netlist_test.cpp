// SPDX-License-Identifier: Apache-2.0
// Memristors in netlists: which devices their cards name, at which conductance they rest, and what is said of cards that are wrong.
#include <cmath>
#include <fstream>

#include "devices/presets.hpp"
#include "tests/circuits/drawn_devices.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

double siemens_of(const std::string& card) {
  const Netlist netlist = drawn_devices("t\nV1 a 0 1\n.param k=2\n.model ec memristor(preset=ecram)\n" + card + "\n");
  return 1 / netlist.elements.back().value;
}

}  // namespace

TEST_CASE("memristors: cards name a device and its state", "[netlist][memristor]") {
  const DeviceSpec& ecram = device_preset("ecram").spec;
  CHECK(siemens_of("Y1 a 0 ec") == Approx(ecram.g_reference_S()).epsilon(1e-14));
  CHECK(siemens_of("Y1 a 0 ec g=5u") == Approx(5e-6).epsilon(1e-14));
  CHECK(siemens_of("Y1 a 0 ec r={k*100k}") == Approx(5e-6).epsilon(1e-14));
  CHECK(siemens_of("Y1 a 0 ec x=0.25") == Approx(ecram.g_min_S + 0.25 * ecram.window_S()).epsilon(1e-14));
  CHECK(siemens_of("Y1 a 0 preset=ecram x=1") == Approx(ecram.g_max_S).epsilon(1e-14));
  // Settings of the card win over those of its model, and numbers may be expressions.
  CHECK(siemens_of("Y1 a 0 ec g_max={k*20u} x=1") == Approx(40e-6).epsilon(1e-14));
  // A parameter of the model's own, in the case of the key.
  const Netlist netlist = drawn_devices("t\nV1 a 0 1\nY1 a 0 model=yakopcic A_up=3000 b=0.1 g=10u\n");
  CHECK_THAT(netlist.elements.back().memristor->settings, Contains("A_up = 3000"));
  CHECK(netlist.elements.back().memristor->name == "model yakopcic");
}

TEST_CASE("memristors: a device of a file, as devices import and devices fit write it", "[netlist][memristor]") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "dev.toml")
      << "[device]\nmodel = 'memristor_table'\ng_min = 1e-6\ng_max = 1e-4\n"
         "[device.memristor_table]\nvolts = [-1, 0, 1]\nrate = [-1e5, -1e5, 0, 0, 1e5, 1e5]\n"
         "current = [-1e-6, -1e-4, 0, 0, 1e-6, 1e-4]\ntemperature = 350\n"
         "[circuit]\ntemperature = '350 K'\n";
  std::ofstream(folder / "m.cir") << "m\nV1 a 0 1\nR1 a b 10k\nY1 b 0 tab x=0.5\n.model tab memristor(file=dev.toml)\n";
  const Netlist read = read_device_netlist(folder / "m.cir");
  CHECK(solved_volts(read)[1] == Approx(1 / (1 + 10e3 * 50.5e-6)).epsilon(1e-12));
  CHECK_THAT(read.elements.back().memristor->settings, Contains("temperature = 350"));
  std::ofstream(folder / "n.cir") << "m\nV1 a 0 1\nY1 a 0 file=none.toml\n";
  CHECK_THROWS_WITH(read_device_netlist(folder / "n.cir"), Contains("n.cir:3:1: file = none.toml: no such file"));
}

TEST_CASE("memristors: a circuit is that of resistors, in ngspice too", "[netlist][memristor][ngspice]") {
  if (!ngspice_installed()) return;
  const Netlist netlist = drawn_devices(
      "bridge\nV1 a 0 0.3\nY1 a b ec g=4u\nY2 b 0 ec g=9u\nY3 a c ec g=20u\nXh c 0 half\nY4 b c ec\nD1 b c dd\n"
      ".subckt half p n\nY1 p n ec x=0.9\n.ends\n.model ec memristor(preset=ecram)\n.model dd d(is=1n)\n");
  const std::vector<double> volts = solved_volts(netlist);
  const std::string text = netlist_text(netlist, "written");
  CHECK_THAT(text, Contains("* r_xh.y1: a memristor, preset ecram\nr_xh.y1 c 0 "));
  for (const std::string node : {"b", "c"}) {
    // ngspice's k/q is 3.4e-7 below ours, which moves the diode's voltage by as much; it iterates to 1e-9.
    const int number = find_node(netlist, node);
    CHECK(volts[static_cast<std::size_t>(number)] == Approx(spice_volts(text, node)).epsilon(1e-6));
  }
}

TEST_CASE("memristors: cards that are wrong are named with their place", "[netlist][memristor]") {
  const auto refused = [](const std::string& card) {
    const Netlist made = drawn_devices("t\nV1 a 0 1\n" + card + "\n.model ec memristor(preset=ecram)\n.model dd d\n");
    FAIL(card << " was read");
    static_cast<void>(made);
  };
  CHECK_THROWS_WITH(refused("Y1 a 0"), Contains("t.cir:3:1: a memristor without a device"));
  CHECK_THROWS_WITH(refused("Y1 a 0 preset=ecran"),
                    Contains("t.cir:3:1: device.preset = \"ecran\"") && Contains("did you mean ecram"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec g=1m"),
                    Contains("t.cir:3:13: Y1: 0.001 S is outside of the window of preset ecram"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec r=0"), Contains("outside of the window"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec g=5u x=0.5"), Contains("g and x both say its state"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec pulse=3"), Contains("no setting pulse") && Contains("pulses"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec g_max=-1u"), Contains("t.cir:3:1: device.g_max = "));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec iv_sinh=-0.3"), Contains("iv_sinh"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec selector=threshold"), Contains("jumps") && Contains("two switches S"));
  CHECK_THROWS_WITH(refused("Y1 a 0 ec m=2"), Contains("draw them one by one"));
  CHECK_THROWS_WITH(refused("Y1 a 0 dd"), Contains("its model dd is d (must be MEMRISTOR)"));
  CHECK_THROWS_WITH(refused("Y1 a 0 model=digital"), Contains("names no device"));
  const auto no_files = [](const auto&, const auto&, auto&) { return std::string(); };
  CHECK_THROWS_WITH(parse_netlist("t.cir", "t\nV1 a 0 1\nY1 a 0 preset=ecram\n", no_files), Contains("has no devices"));
}
