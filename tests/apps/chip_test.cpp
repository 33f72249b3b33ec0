// SPDX-License-Identifier: Apache-2.0
// Section [chip]: what a described chip costs, by laws and counts worked out by hand, and designs that cannot be.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

// One matrix of 64 x 10 on pairs of devices that write at 1.4 V, read by converters of 6 bits in both directions.
const char* config = R"(estimator = 'ep'
[network]
kind = 'hopfield'
[task]
kind = 'classification'
[hopfield]
hidden = []
cost = 'squared_error'
[device]
model = 'soft_bounds'
endurance = 1e6
pulse_voltage_up = 1.4
pulse_voltage_down = 1.4
pulse_width_up = '100 ns'
pulse_width_down = '100 ns'
[crossbar]
forward_dac_bits = 6
forward_adc_bits = 6
transposed_dac_bits = 6
transposed_adc_bits = 6
[relaxation]
free_steps = 10
[chip]
node = '130 nm'
supply = '1.5 V'
[train]
steps = 3
batch = 2
)";

nlohmann::json card_of(const Folder& folder, const std::string& training, const std::string& reading = "") {
  static int runs = 0;
  const std::string file = fmt::format("r{}.h5", ++runs);
  const Outcome run = run_nudge(folder, fmt::format("train c.toml {} --out {}", training, file));
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  const Outcome card = run_nudge(folder, fmt::format("info {} --card --json {}", file, reading));
  INFO(card.errors);
  REQUIRE(card.exit_code == 0);
  return nlohmann::json::parse(card.output);
}

double of(const nlohmann::json& card, const std::string& name, const char* what) {
  for (const auto& one : card["parts"]) {
    if (one["part"] == name) return one[what].is_null() ? -1 : one[what].get<double>();
  }
  return -2;
}

}  // namespace

TEST_CASE("chip: tiles have converters and adders of their own, and cost what hand arithmetic says", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto whole = card_of(folder, ""), cut = card_of(folder, "--set crossbar.tile_rows=16");
  // 64 x 10 uncut: 10 columns and 64 rows, 8 lines at an ADC: 2 + 8. In 4 tiles of 16 rows: 4 * 2 + 4 * 2.
  CHECK(whole["tiles"] == 1);
  CHECK(whole["adcs"] == 2 + 8);
  CHECK(cut["tiles"] == 4);
  CHECK(cut["adcs"] == 4 * 2 + 4 * 2);
  // Converters at 8 lines a read. E and A as in tests/circuits/part_laws_test.cpp, of 6 bits at 130 nm.
  const double rate = whole["adc_rate_Hz"].get<double>();
  CHECK(rate * whole["read_s"].get<double>() == Approx(8).epsilon(1e-12));
  const double sndr = 20 * 6 * std::log10(2.0) + 10 * std::log10(1.5);
  const double fom = std::min(128.3068287 + 3.22051151 * 6, 213.7806687 - 2.87190304 * std::log(rate));
  const double adc_pJ = 0.5 * std::pow(10, (sndr - fom) / 10) * std::exp(26.0496216 - 1.4702022) *
                        std::pow(130.0, 1.8800369) * std::pow(6.0, -2.8291256);
  const double adc_um2 =
      std::exp(1.3461916) * std::pow(130.0, 0.99327947) * std::pow(rate, 0.18071538) * std::pow(adc_pJ, 0.29912426);
  // Eight digits of the coefficients, times ln 130 and less: 1e-6.
  CHECK(of(whole, "ADCs", "area_m2") == Approx(1e-12 * 10 * adc_um2).epsilon(1e-6));
  CHECK(of(cut, "ADCs", "area_m2") == Approx(1e-12 * 16 * adc_um2).epsilon(1e-6));
  // An inference: 10 steps and a read of the outputs. Steps convert 10 columns forward (whole) or 40 (cut), and 64 rows back where the
  // network drives them, as many in both. The difference is 30 conversions for each forward read.
  const double more = (of(cut, "ADCs", "inference_J") - of(whole, "ADCs", "inference_J")) / (1e-12 * adc_pJ);
  CHECK(more == Approx(30 * std::round(more / 30)).epsilon(1e-6));
  CHECK(more > 0);
  // Adders: the numbers of 4 tiles of 6 bits make 8 bits, 0.1 pJ of 32 bits at 45 nm and 0.9 V. As many additions as conversions more.
  const double adder_J = 0.1e-12 * 8 / 32 * 130 / 45 * std::pow(1.5 / 0.9, 2);
  CHECK(of(cut, "adders of partial sums", "inference_J") == Approx(more * adder_J).epsilon(1e-6));
  CHECK(of(cut, "adders of partial sums", "area_m2") ==
        Approx(3 * 2 * 137e-12 * 8 / 32 * std::pow(130.0 / 45, 2)).epsilon(1e-9));
  CHECK(of(whole, "adders of partial sums", "area_m2") == -2);  // none
  // DACs: 0.5 fF, 1.5 V, 6 bits: 0.5 * 2.25 * 4095/384 fJ. One for each driven line of a tile.
  const double dac_J = 0.5e-15 * 2.25 * 4095 / 384;
  const double dacs = of(whole, "DACs", "inference_J") / dac_J;
  CHECK(dacs == Approx(std::round(dacs)).epsilon(1e-9));
  CHECK_THAT(cut["left_out"].dump(), Contains("each tile by itself") && Contains("chip.capacitor_density"));
  CHECK_THAT(whole["left_out"].dump(), !Contains("each tile by itself"));
}

TEST_CASE("chip: bits, node, lines at a converter and a pump move the card as their laws say", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto six = card_of(folder, ""), eight = card_of(folder,
                                                        "--set crossbar.forward_adc_bits=8 --set "
                                                        "crossbar.transposed_adc_bits=8");
  CHECK(of(eight, "ADCs", "inference_J") > 1.3 * of(six, "ADCs", "inference_J"));
  CHECK(of(eight, "ADCs", "area_m2") > 1.05 * of(six, "ADCs", "area_m2"));
  const auto walden = [&](int bits) {
    return of(card_of(folder, fmt::format("--set crossbar.forward_adc_bits={0} --set crossbar.transposed_adc_bits={0} "
                                          "--set chip.adc_step_energy='10 fJ'",
                                          bits)),
              "ADCs", "inference_J");
  };
  CHECK(walden(8) / walden(4) == Approx(16).epsilon(1e-9));
  const auto small = card_of(folder, "", "--set chip.node='65 nm'");
  CHECK(of(small, "arrays", "area_m2") / of(six, "arrays", "area_m2") == Approx(0.25).epsilon(1e-12));
  CHECK(of(small, "drivers", "inference_J") / of(six, "drivers", "inference_J") == Approx(0.5).epsilon(1e-9));
  CHECK(of(small, "ADCs", "inference_J") / of(six, "ADCs", "inference_J") ==
        Approx(std::pow(0.5, 1.8800369)).epsilon(1e-6));
  const auto alone = card_of(folder, "", "--set chip.lines_per_adc=1");
  CHECK(alone["adcs"] == 74);
  CHECK(alone["adc_rate_Hz"].get<double>() == Approx(six["adc_rate_Hz"].get<double>() / 8).epsilon(1e-12));
  const auto pumped = card_of(folder, "--set chip.supply='1.1 V' --set chip.pump_efficiency=0.5");
  CHECK(of(pumped, "writes", "step_J") == Approx(2 * of(six, "writes", "step_J")).epsilon(1e-9));
  // Endurance: 1e6 pulses, the busiest device's pulses over 3 steps, 1e4 steps a day.
  const auto used = card_of(folder, "--set chip.steps_per_day=1e4");
  CHECK(used["endurance_years_least"].get<double>() ==
        Approx(1e6 / (used["device_pulses_max"].get<double>() / 3 * 1e4 * 365.25)).epsilon(1e-12));
  // A part without a source is no number, and is named.
  CHECK(of(six, "DACs", "area_m2") == -1);
  CHECK_THAT(six["left_out"].dump(), Contains("chip.control_power") && Contains("chip.leakage_power") &&
                                         Contains("chip.buffer_energy") && Contains("chip.decoder_area"));
  // The survey begins at 4 bits: fewer cost as much, and the card says so.
  const auto few = card_of(folder, "--set crossbar.forward_adc_bits=3 --set crossbar.transposed_adc_bits=3");
  const auto four = card_of(folder, "--set crossbar.forward_adc_bits=4 --set crossbar.transposed_adc_bits=4");
  CHECK(of(few, "ADCs", "inference_J") == of(four, "ADCs", "inference_J"));
  CHECK_THAT(few.dump(), Contains("3 bits at the price of 4, the fewest of the survey"));
}

TEST_CASE("chip: the converters of each port have the price of their own bits", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  // Walden's law: 2^bits steps of 10 fJ. W1 is 64 x 6, W2 is 6 x 10; outputs drive the columns of W2 back.
  const std::string both =
      "--set hopfield.hidden=[6] --set chip.adc_step_energy='10 fJ' --set chip.capacitor_density=1 ";
  const auto ports = [&](int forward, int transposed) {
    return card_of(folder, both + fmt::format("--set crossbar.forward_adc_bits={0} --set crossbar.forward_dac_bits={0} "
                                              "--set crossbar.transposed_adc_bits={1} --set "
                                              "crossbar.transposed_dac_bits={1}",
                                              forward, transposed));
  };
  const auto alike = ports(8, 8), coarse_forward = ports(4, 8), coarse_back = ports(8, 4);
  const auto adc = [](const nlohmann::json& card, const char* what) { return of(card, "ADCs", what); };
  const auto dac = [](const nlohmann::json& card, const char* what) { return of(card, "DACs", what); };
  for (const char* what : {"inference_J", "step_J"}) {
    // n forward and m transposed conversions: E(4, 8) + E(8, 4) = (n + m) (2^4 + 2^8) steps, E(8, 8) = (n + m) 2^8.
    CHECK(adc(coarse_forward, what) + adc(coarse_back, what) == Approx(adc(alike, what) * 272 / 256).epsilon(1e-12));
    CHECK(adc(coarse_forward, what) < adc(alike, what));
    CHECK(adc(coarse_back, what) < adc(alike, what));
    // C V^2 (4^B - 1)/(6 2^B) of a DAC.
    const double four = 255.0 / 16, eight = 65535.0 / 256;
    CHECK(dac(coarse_forward, what) + dac(coarse_back, what) ==
          Approx(dac(alike, what) * (four + eight) / eight).epsilon(1e-12));
    CHECK(dac(coarse_forward, what) < dac(alike, what));
    CHECK(dac(coarse_back, what) < dac(alike, what));
  }
  // An inference reads W2 back in each of its steps: six rows are sensed. What is saved at that port is 240 steps for each.
  const double saved = (adc(alike, "inference_J") - adc(coarse_back, "inference_J")) / (240 * 10e-15);
  CHECK(saved == Approx(6 * std::round(saved / 6)).epsilon(1e-9));
  CHECK(saved > 0);
  // 64 + 6 rows and 6 + 10 columns are driven: 2^bits units of 0.5 fF each, at 1 fF/um^2.
  CHECK(dac(coarse_forward, "area_m2") == Approx(0.5e-12 * (70 * 16 + 16 * 256)).epsilon(1e-12));
  CHECK(dac(coarse_back, "area_m2") == Approx(0.5e-12 * (70 * 256 + 16 * 16)).epsilon(1e-12));
  CHECK(adc(coarse_forward, "area_m2") != adc(coarse_back, "area_m2"));
  CHECK_THAT(coarse_back.dump(), Contains("forward reads: 2.56 pJ a conversion (chip.adc_step_energy), 8 bits") &&
                                     Contains("transposed reads: 160 fJ a conversion"));
  CHECK_THAT(alike.dump(), !Contains("transposed reads: "));
}

TEST_CASE("chip: an ADC has no more lines than its tile, and is no faster than these ask for", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  // Tiles of 4 rows and 2 columns: 2 lines take turns in a forward read, 4 in a transposed one.
  const std::string tiles = "--set crossbar.tile_rows=4 --set crossbar.tile_columns=2 ";
  const auto card = card_of(folder, tiles + "--set circuit.time_constant='25 ns'");
  CHECK(card["adc_rate_Hz"].get<double>() * card["read_s"].get<double>() == Approx(4).epsilon(1e-12));
  CHECK_THAT(card.dump(), Contains("one for 2 sensed lines") && Contains("one for 4 sensed lines"));
  CHECK(card["adcs"] == 16 * 5 + 5 * 16);
}

TEST_CASE("chip: a design that cannot be is refused with its inequality, by check and run alike", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  for (const auto& [settings, what] :
       {std::pair{"--set chip.supply='1.1 V'", "1.4 V > 1.1 V"},
        std::pair{"--set chip.write_current='1 uA'", "chip.write_current = 1 uA (must be >= "},
        std::pair{"--set chip.write_current='1 mA' --set device.pulse_voltage_up='0 V' --set "
                  "device.pulse_voltage_down='0 V'",
                  "the voltage of a write pulse is not known"},
        std::pair{"--set circuit.read_voltage='2 V'", "must be <= chip.supply = 1.5 V"},
        std::pair{"--set crossbar.forward_saturation=10", "must be <= chip.supply / circuit.read_voltage = 7.5"},
        std::pair{"--set chip.adc_rate='1 kHz'", "ask for more conversions"},
        std::pair{"--set chip.lines_per_adc=65", "must be <= 64, the lines of the largest tile"},
        std::pair{"--set circuit.time_constant='1 ps'", "8 lines in a forward read"},
        std::pair{"--set circuit.time_constant='1 ps'", "the fastest of the survey"},
        std::pair{"--set crossbar.tile_rows=128", "must be <= 64, the rows of the largest array"},
        std::pair{"--set crossbar.tile_columns=11", "must be <= 10, the columns of the largest array"},
        std::pair{"--set chip.pulse_width='1 s'", "last longer than a read"},
        std::pair{"--set chip.gate_capacitance='2 fF'", "the cells have no gates"},
        std::pair{"--set chip.gate_voltage='2.2 V'", "2.2 V > 1.5 V"},
        std::pair{"--set chip.gate_voltage='2.2 V'", "chip.gate_supply"},
        std::pair{"--set chip.gate_voltage='2.2 V' --set chip.gate_supply='2 V'", "must be <= chip.gate_supply = 2 V"},
        std::pair{"--set chip.gate_voltage='1 V' --set chip.gate_closed_voltage='1 V'", "never opens"}}) {
    INFO(settings);
    const Outcome check = run_nudge(folder, fmt::format("config check c.toml {}", settings));
    CHECK(check.exit_code == 2);
    CHECK_THAT(check.errors, Contains(what));
    const Outcome run = run_nudge(folder, fmt::format("train c.toml {} --out bad.h5", settings));
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.errors, Contains(what));
  }
  const Outcome old = run_nudge(folder, "config check c.toml --set cost.node='22 nm'");
  CHECK(old.exit_code == 2);
  CHECK_THAT(old.errors, Contains("chip.node"));
}

TEST_CASE("chip: a card of one product is the array's heat, its lines and its laws, by hand", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  const auto product = [&](const std::string& settings) {
    const Outcome run = run_nudge(folder, "crossbar c.toml --card --json " + settings);
    INFO(run.errors);
    REQUIRE(run.exit_code == 0);
    return nlohmann::json::parse(run.output);
  };
  const std::string cell = "--set device.selector=transistor --set device.selector_resistance='1 mOhm' ";
  const auto all = product(cell + "--set chip.supply='1.8 V'");
  const auto of_array = [](const nlohmann::json& answer) { return answer["cards"].begin().value(); };  // there is one
  const auto card = of_array(all);
  const auto& array = all["arrays"][0];
  CHECK(card["operations"] == 2 * 64 * 10);
  CHECK(card["inference_s"] == card["read_s"]);
  CHECK(card["step_J"] == 0);
  // 64 driven and 10 sensed lines: DACs take C V^2 (4^6 - 1)/(6 2^6) each.
  CHECK(of(card, "DACs", "inference_J") == Approx(64 * 0.5e-15 * 1.8 * 1.8 * 4095 / 384).epsilon(1e-12));
  CHECK_THAT(card["left_out"].dump(), Contains("chip.gate_capacitance"));
  // Inputs even in [-1, 1] have a mean square of 1/3. Of 256 x 64 random ones the mean would scatter by sqrt(4/45/16384)/(1/3) = 0.7 %;
  // an equidistributed sequence scatters less. Six bits round by 1/63 at most: squares by 1e-4.
  const double volts = array["power_W"].get<double>();  // V^2 times the conductances of all devices
  CHECK(of(card, "arrays", "inference_J") == Approx(volts / 3 * card["read_s"].get<double>()).epsilon(0.01));
  // Gates: 1280 devices, three pulses, from 0.9 V to 2.2 V out of 2.2 V.
  const std::string opened =
      cell +
      "--set chip.supply='1.8 V' --set chip.gate_capacitance='2 fF' --set chip.gate_voltage='2.2 V' --set "
      "chip.gate_closed_voltage='0.9 V' --set chip.input_pulses=3 ";
  const std::string gates = opened + "--set chip.gate_supply='2.2 V' ";
  const auto pulsed = of_array(product(gates));
  CHECK(of(pulsed, "word lines", "inference_J") == Approx(1280 * 3 * 2e-15 * 1.3 * 2.2).epsilon(1e-12));
  // A charge pump in place of a supply of their own takes more, as for writes.
  const auto pumped = of_array(product(opened + "--set chip.pump_efficiency=0.5"));
  CHECK(of(pumped, "word lines", "inference_J") == Approx(2 * of(pulsed, "word lines", "inference_J")).epsilon(1e-12));
  // Half of the lines are on in a pulse, at the whole voltage: a quarter of all inputs is 1, a quarter -1. Drivers charge them three times.
  CHECK(of(pulsed, "arrays", "inference_J") == Approx(volts / 2 * card["read_s"].get<double>()).epsilon(0.01));
  CHECK(of(pulsed, "drivers", "inference_J") == Approx(4.5 * of(card, "drivers", "inference_J")).epsilon(0.02));
  const auto brief = of_array(product(gates + "--set chip.pulse_width='1 ns'"));
  CHECK(of(brief, "arrays", "inference_J") ==
        Approx(of(pulsed, "arrays", "inference_J") * 3e-9 / card["read_s"].get<double>()).epsilon(1e-12));
  // Every read of a run opens the gates of all devices, and senses the same ten lines as a product does.
  const auto trained = card_of(folder, gates);
  const auto products = [&](const char* part, const char* of_what) {
    return of(trained, part, of_what) / of(pulsed, part, "inference_J");
  };
  CHECK(products("word lines", "inference_J") == Approx(products("ADCs", "inference_J")).epsilon(1e-12));
  CHECK(products("word lines", "step_J") == Approx(products("ADCs", "step_J")).epsilon(1e-12));
  CHECK(products("word lines", "inference_J") > 1);
}

TEST_CASE("chip: a product on a core of NeuRRAM is within a factor of two of its measured energy", "[apps]") {
  // Wan et al., Nature 608:504 (2022), extended data figure 12b, in fJ an operation times 65,536: word lines, neurons, pulses. A published
  // chip, not made for this model: the factor is what docs/reference/chip_compared.md claims, and no tolerance of rounding.
  const Folder folder;
  const std::string core =
      fmt::format("crossbar {}/examples/chip_neurram.toml --array W2 --card --json", NUDGE_SOURCE_DIR);
  const auto within = [](double card, double measured) { return card < 2 * measured && card > measured / 2; };
  struct Measured {
    const char* settings;
    double lines_fJ, neurons_fJ, pulses_fJ;
  };
  for (const Measured& one :
       {Measured{"", 21.76, 29.11, 11.51},
        Measured{" --set crossbar.forward_adc_bits=8 --set chip.input_pulses=5 --set circuit.time_constant='6.25 us'",
                 37.22, 52.48, 19.24},
        Measured{" --set crossbar.forward_adc_bits=10 --set chip.input_pulses=7 --set circuit.time_constant='9.9 us'",
                 50.52, 75.86, 27.51}}) {
    const Outcome run = run_nudge(folder, core + one.settings);
    INFO(run.errors);
    REQUIRE(run.exit_code == 0);
    const auto card = nlohmann::json::parse(run.output)["cards"]["W2"];
    const double scale = 65536e-15;
    CHECK(within(card["inference_J"].get<double>(), scale * (one.lines_fJ + one.neurons_fJ + one.pulses_fJ)));
    CHECK(within(of(card, "word lines", "inference_J"), scale * one.lines_fJ));
    CHECK(within(of(card, "arrays", "inference_J") + of(card, "drivers", "inference_J"), scale * one.pulses_fJ));
  }
}
