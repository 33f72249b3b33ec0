// SPDX-License-Identifier: Apache-2.0
// nudge info --card: what a run on devices costs, against what is counted by hand.
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

// Three arrays of pairs: 4 x (3 4 + 3), 4 x 4 and 4 x the letters of the text.
const char* config =
    "[model]\nchannels = 4\ntokens = 2\nmemories = 3\nheads = 2\n[device]\nmodel = 'vteam'\nendurance = 1e6\n[train]\n"
    "steps = 3\nbatch = 2\n";

nlohmann::json json_of(const Folder& folder, const std::string& arguments) {
  const Outcome run = run_nudge(folder, arguments + " --json");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(run.output);
}

const nlohmann::json& part(const nlohmann::json& card, const std::string& name) {
  for (const auto& one : card["parts"]) {
    if (one["part"] == name) return one;
  }
  throw std::runtime_error("no part " + name);
}

void train(const Folder& folder, const std::string& settings, const std::string& out) {
  const Outcome run = run_nudge(folder, "train c.toml " + settings + " --out " + out);
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
}

const char* priced =
    "--set crossbar.forward_dac_bits=8 --set crossbar.forward_adc_bits=8 --set crossbar.transposed_dac_bits=8 --set "
    "crossbar.transposed_adc_bits=8 --set circuit.dac_energy='{} pJ' --set circuit.adc_energy='{} pJ' --set "
    "circuit.amplifier_power='1 uW' --set circuit.line_capacitance='1 fF' --set circuit.digital_energy='{} pJ'";

}  // namespace

TEST_CASE("cost card: areas and operations are those of the arrays, energies those of their keys", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  train(folder, fmt::format(fmt::runtime(priced), 1, 2, 3), "a.h5");
  const auto card = json_of(folder, "info a.h5 --card");
  double devices = 0, lines = 0, weights = 0;
  const auto arrays = json_of(folder, "crossbar c.toml");
  for (const auto& array : arrays["arrays"]) {
    devices += array["devices"].get<double>();
    lines += array["rows"].get<double>() + array["columns"].get<double>();
    weights += array["rows"].get<double>() * array["columns"].get<double>();
  }
  // A few roundings of 2^-53 each.
  // No chip is described: energies by their keys alone, and no areas.
  CHECK(card["node_m"].is_null());
  CHECK(card["area_m2"] == 0);
  CHECK_THAT(card["left_out"].dump(), Contains("chip.node"));
  const auto sized = json_of(folder,
                             "info a.h5 --card --set chip.node='32 nm' --set chip.dac_area=0.166 --set "
                             "chip.adc_area=1200 --set chip.lines_per_adc=1");
  CHECK(part(sized, "arrays")["area_m2"].get<double>() == Approx(devices * 4 * 32e-9 * 32e-9).epsilon(1e-14));
  CHECK(part(sized, "DACs")["area_m2"].get<double>() == Approx(lines * 0.166e-12).epsilon(1e-14));
  CHECK(part(sized, "ADCs")["area_m2"].get<double>() == Approx(lines * 1200e-12).epsilon(1e-14));
  // Prices of keys come before laws.
  CHECK(part(sized, "ADCs")["inference_J"] == part(card, "ADCs")["inference_J"]);
  CHECK(card["operations"] == 2 * weights * 2);  // two tokens
  CHECK(card["tops_per_watt"].get<double>() ==
        Approx(1e-12 * 2 * weights * 2 / card["inference_J"].get<double>()).epsilon(1e-14));
  double sum = 0;
  for (const auto& one : card["parts"]) {
    INFO(one.dump());
    if (one["inference_J"].is_null()) continue;
    sum += one["inference_J"].get<double>();
    // Two examples a step, which are read for more than their free phases.
    CHECK(one["inference_J"].get<double>() > 0);
    CHECK(one["step_J"].get<double>() > 2 * one["inference_J"].get<double>());
  }
  CHECK(card["inference_J"].get<double>() == Approx(sum).epsilon(1e-14));
  CHECK(card["step_phases_s"].get<double>() > 2 * card["inference_s"].get<double>());
  // The same run at other prices takes the same reads.
  train(folder, fmt::format(fmt::runtime(priced), 10, 4, 9), "b.h5");
  const auto dear = json_of(folder, "info b.h5 --card");
  for (const char* of : {"inference_J", "step_J"}) {
    const auto ratio = [&](const char* name) {
      return part(dear, name)[of].get<double>() / part(card, name)[of].get<double>();
    };
    // Differences of sums of floats in double: rounding alone.
    CHECK(ratio("DACs") == Approx(10).epsilon(1e-9));
    CHECK(ratio("ADCs") == Approx(2).epsilon(1e-9));
    CHECK(ratio("digital") == Approx(3).epsilon(1e-9));
    CHECK(ratio("arrays") == Approx(1).epsilon(1e-9));
  }
  // Other sizes of what the run is finished with.
  const auto small = json_of(folder, "info a.h5 --card --set chip.node='16 nm' --set chip.cell_area=48");
  CHECK(part(small, "arrays")["area_m2"].get<double>() == Approx(devices * 48 * 16e-9 * 16e-9).epsilon(1e-14));
  const Outcome text = run_nudge(folder, "info a.h5 --card");
  CHECK_THAT(text.output, Contains("TOPS/W") && Contains("left out: "));
  const Outcome page = run_nudge(folder, "report a.h5 -o a.html");
  CHECK(page.exit_code == 0);
  CHECK_THAT(read_file(folder.file("a.html")), Contains("Cost card: ") && Contains("TOPS/W"));
}

TEST_CASE("cost card: writes of devices with volts and widths of their own are counted, and endurance", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  train(folder, "--set circuit.amplifier_power=unknown", "a.h5");
  const auto card = json_of(folder, "info a.h5 --card");
  const H5Reader file(folder.file("a.h5"));
  double heat = 0, most = 0;
  for (const std::string array : {"Winput", "Wo", "Wh"}) {
    const std::string at = "device/" + array + "/";
    heat += file.reals<double>(at + "write_energy").back() - file.reals<double>(at + "programming_energy").back();
    most = std::max(most, file.reals<double>(at + "device_pulses_max").back());
  }
  CHECK(heat > 0);
  CHECK(part(card, "writes")["step_J"].get<double>() == Approx(heat / 3).epsilon(1e-12));
  CHECK(card["step_writes_at_most_s"].get<double>() > 0);
  CHECK(card["device_pulses_max"] == most);
  CHECK(card["endurance_spent_max"].get<double>() == Approx(most / 1e6).epsilon(1e-14));
  // What has no price is in no sum and is named.
  CHECK(part(card, "amplifiers")["inference_J"].is_null());
  const std::string left = card["left_out"].dump();
  for (const char* key : {"circuit.amplifier_power", "circuit.line_capacitance", "circuit.digital_energy",
                          "crossbar.forward_adc_bits", "chip.node", "leakage"}) {
    CHECK_THAT(left, Contains(key));
  }
  train(folder, "--set device.model=soft_bounds", "unknown.h5");
  const auto unknown = json_of(folder, "info unknown.h5 --card");
  CHECK(part(unknown, "writes")["step_J"].is_null());
  CHECK_THAT(unknown["left_out"].dump(), Contains("device.pulse_voltage_up"));
}

TEST_CASE("cost card: what has none is refused", "[apps]") {
  const Folder folder;
  folder.write("c.toml", config);
  train(folder, "--set device.model=digital --set device.endurance=0", "digital.h5");
  for (const auto& [arguments, what] :
       {std::pair{"digital.h5 --card", "its weights are digital"}, std::pair{"absent.h5 --card", "absent.h5"},
        std::pair{"digital.h5 --set chip.node='16 nm'", "--set is for --card"},
        std::pair{"digital.h5 --card --set train.steps=5", "so only keys of [chip] can change"}}) {
    const Outcome run = run_nudge(folder, fmt::format("info {}", arguments));
    INFO(arguments);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.errors, Contains(what));
  }
}

TEST_CASE("info --card: what learns by circuits is no digital work, and its circuits are named", "[apps]") {
  const Folder folder;
  folder.write("c.toml",
               "estimator = 'ep'\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\n[hopfield]\nhidden = "
               "[6]\n[device]\n"
               "preset = 'ecram'\n[circuit]\ndigital_energy = '1 pJ'\n[train]\nsteps = 3\nbatch = 2\n");
  train(folder, "--set hardware.level=local", "local.h5");
  train(folder, "--set train.optimizer=sgd", "mixed.h5");
  const auto local = json_of(folder, "info local.h5 --card"), mixed = json_of(folder, "info mixed.h5 --card");
  // A product and a sum for each of the weights 64 x 6 + 6 x 10 and biases 16, and two samples: correlations alone, what clips and steps beside.
  CHECK(part(mixed, "digital")["step_J"].get<double>() > 2 * 2 * (384 + 60 + 16) * 1e-12);
  CHECK(part(local, "digital")["step_J"] == 0);
  CHECK_THAT(local["left_out"].dump(), Contains("the multiplier and the capacitor of every weight"));
  CHECK_THAT(mixed["left_out"].dump(), !Contains("multiplier and the capacitor"));
}
