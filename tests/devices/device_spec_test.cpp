// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config_load.hpp"

using namespace nudge;
using Catch::Matchers::Contains;

TEST_CASE("an invalid device is refused with field, value and rule", "[devices]") {
  DeviceSpec spec;
  CHECK_NOTHROW(spec.validate());
  SECTION("window upside down") {
    spec.g_min_S = 30e-6;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.g_min = 3e-05 S") && Contains("must be < device.g_max"));
  }
  SECTION("empty window") {
    spec.g_min_S = spec.g_max_S;
    CHECK_THROWS_AS(spec.validate(), UserError);
  }
  SECTION("negative conductance") {
    spec.g_min_S = -1e-6;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.g_min = -1e-06") && Contains(">= 0"));
  }
  SECTION("negative noise") {
    spec.read_noise = -0.1;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.read_noise = -0.1") && Contains(">= 0"));
  }
  SECTION("not a number") {
    spec.pulses = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(spec.validate(), Contains("device.pulses = nan"));
  }
  SECTION("more levels than the window can hold") {
    spec.pulses = 1e8;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.pulses = 1e+08") && Contains("more levels than the window"));
    spec.pulses = 1000;
    spec.g_min_S = spec.g_max_S * (1 - 1e-6);
    CHECK_THROWS_WITH(spec.validate(), Contains("more levels than the window"));
  }
  SECTION("faults, fits and lists") {
    spec.faults = {0.5, 0.4, 0.2};
    CHECK_THROWS_WITH(spec.validate(), Contains("stuck_low + stuck_high + stuck_random = 1.1"));
    spec.faults = {};
    spec.retention.drift_fit.numbers = {1, 2, 3};
    CHECK_THROWS_WITH(spec.validate(), Contains("device.drift_fit must be [a, b, lowest, highest]"));
    spec.retention.drift_fit.numbers = {1, 2, 3, 2};
    CHECK_THROWS_WITH(spec.validate(), Contains("lowest <= highest"));
    spec.retention.drift_fit.numbers = {};
    spec.programming.fit_S = {1e-6, std::numeric_limits<double>::infinity()};
    CHECK_THROWS_WITH(spec.validate(), Contains("device.programming_fit must be finite"));
    spec.programming.fit_S = {};
    spec.flicker.noise = 0.01;
    spec.flicker.slowest_s = 1e-9;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.flicker_slowest = 1e-09"));
  }
  SECTION("asymmetry that turns a direction off") {
    spec.asymmetry = 1;
    CHECK_THROWS_WITH(spec.validate(), Contains("device.asymmetry = 1") && Contains("in (-1, 1)"));
  }
  SECTION("unknown model, closest name offered") {
    spec.model = "soft_bound";
    CHECK_THROWS_WITH(spec.validate(), Contains("\"soft_bound\"") && Contains("did you mean soft_bounds?"));
    spec.model = "digtal";
    CHECK_THROWS_WITH(spec.validate(), Contains("did you mean digital?"));
  }
  SECTION("parameter of another model") {
    spec.shape["gamma_up"] = 0.1;
    CHECK_THROWS_WITH(spec.validate(), Contains("gamma_up") && Contains("soft_bounds has no such parameter"));
    spec.model = "linear_step";
    CHECK_NOTHROW(spec.validate());
    spec.shape["gamma_up"] = 1.5;
    CHECK_THROWS_WITH(spec.validate(), Contains("gamma_up = 1.5") && Contains("in [0, 1]"));
    spec.shape = {{"gama_up", 0.1}};
    CHECK_THROWS_WITH(spec.validate(), Contains("did you mean gamma_up?"));
  }
}

TEST_CASE("presets are valid and hold the published numbers", "[devices]") {
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    CHECK_NOTHROW(preset.spec.validate());
    CHECK(!preset.citation.empty());
    CHECK(!preset.note.empty());
  }
  // (w_max − w_min)/dw_min and −w_min/(w_max − w_min) of the sources.
  CHECK(device_preset("reram_es").spec.pulses == Approx(1481.48).epsilon(1e-5));
  CHECK(device_preset("ecram").spec.pulses == Approx(1000).epsilon(1e-12));
  CHECK(device_preset("ecram").spec.reference == Approx(0.4138).epsilon(1e-12));
  CHECK(device_preset("ecram_mo").spec.shape_value("gamma_down") == 0.7342);
  CHECK(device_preset("gokmen_vlasov").spec.pulses == Approx(1250).epsilon(1e-12));
  CHECK(device_preset("pcm").spec.programming.sigma_S(12.5e-6, 25e-6) ==
        Approx((0.26348 + 1.9650 / 2 - 1.1731 / 4) * 1e-6).epsilon(1e-12));
  CHECK(device_preset("pcm").spec.retention.mean_exponent(0.5) == 0.049);  // 0.0351 is below the published range
  CHECK(device_preset("hermes_1").spec.retention.mean_exponent(0.5) == Approx(0.0736 - 0.0063 - 0.0109).epsilon(1e-12));
  CHECK(device_preset("pcm_joshi").spec.programming.sigma_S(10e-6, 25e-6) ==
        Approx((-0.178767 + 0.7585724 + 0.28638599) * 1e-6).epsilon(1e-12));
  CHECK(device_preset("rram_milo").spec.programming.sigma_S(100e-6, 225e-6) == Approx(3.871621e-6).epsilon(1e-12));
  CHECK(device_preset("cmo_hfox_2").spec.programming.sigma_S(50e-6, 88.19e-6) ==
        Approx((0.0112185391 + 0.01129027418 * 50) * 1e-6).epsilon(1e-12));
  // 3.2 uA at 16 uS: sigma_I = 19.89 nA (1 - exp(-3200/176.3)).
  CHECK(device_preset("sonos_0").spec.programming.sigma_S(16e-6, 16e-6) * 0.2 == Approx(19.89e-9).epsilon(1e-7));
  CHECK(device_preset("ag_asi").spec.pulse_down.voltage_V == 2.8);
  CHECK(device_preset("ag_asi").spec.pulse_up.width_s == 300e-6);
  CHECK(device_preset("ag_asi").spec.update_noise == Approx(0.035 * 97).epsilon(1e-12));
  CHECK(device_preset("reram_array_om").spec.pulses == Approx(21.07).epsilon(1e-3));
  CHECK_THROWS_WITH(device_preset("ecran"), Contains("did you mean ecram?"));
}

TEST_CASE("the configuration section is made from the registry", "[devices]") {
  ConfigSchema schema;
  schema.table = device_param_rows();
  const Config standard = parse_config(schema, "run.toml", "");
  const DeviceSpec digital = device_spec(standard);
  CHECK(digital.model == "digital");
  CHECK(digital.g_max_S == DeviceSpec{}.g_max_S);
  CHECK(digital.pulses == DeviceSpec{}.pulses);

  const Config config = parse_config(
      schema, "run.toml",
      "[device]\nmodel = 'linear_step'\ng_max = '30 uS'\nread_noise = '1 %'\n[device.linear_step]\ngamma_down = 0.5\n");
  const DeviceSpec spec = device_spec(config);
  CHECK(spec.model == "linear_step");
  CHECK(spec.g_max_S == 30e-6);
  CHECK(spec.read_noise == 0.01);
  CHECK(spec.shape.at("gamma_down") == 0.5);
  CHECK(spec.shape.at("gamma_up") == 0.05);
  CHECK_THROWS_WITH(parse_config(schema, "run.toml", "[device]\npulses = 1\n"), Contains("pulses"));

  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    const DeviceSpec read = device_spec(parse_config(schema, "preset", device_preset_toml(preset.name)));
    CHECK(read.model == preset.spec.model);
    CHECK(read.update == preset.spec.update);
    CHECK(read.tables == preset.spec.tables);
    for (const auto& [key, value] : preset.spec.shape) CHECK(read.shape.at(key) == value);
    for (const DeviceList& row : device_lists()) CHECK(row.value(read) == row.value(preset.spec));
    for (const DeviceParameter& row : device_parameters()) CHECK(row.value(read) == row.value(preset.spec));
  }
}
