// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

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
    CHECK_THROWS_WITH(spec.validate(),
                      Contains("device.pulses = 1e+08") && Contains("below the resolution of a conductance"));
    spec.pulses = 1000;
    spec.g_min_S = spec.g_max_S * (1 - 1e-6);
    CHECK_THROWS_WITH(spec.validate(), Contains("below the resolution of a conductance"));
  }
  SECTION("faults, fits and lists") {
    spec.faults = {0.5, 0.4, 0.2};
    CHECK_THROWS_WITH(spec.validate(), Contains("device.stuck_low + device.stuck_high + device.stuck_random = 1.1"));
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

TEST_CASE("presets are valid and documented", "[devices]") {
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    CHECK_NOTHROW(preset.spec.validate());
    CHECK(!preset.citation.empty());
    CHECK(!preset.note.empty());
  }
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
