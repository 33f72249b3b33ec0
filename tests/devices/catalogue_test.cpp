// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "devices/device_config.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

TEST_CASE("the catalogue lists and shows every model and preset", "[devices]") {
  const auto list = nlohmann::json::parse(device_list_json());
  CHECK(list["models"].size() == device_models().size());
  CHECK(list["presets"].size() == device_presets().size());
  for (const DeviceModel& model : device_models()) {
    CAPTURE(model.name);
    CHECK_THAT(device_list_text(), Contains(model.name));
    CHECK_THAT(device_show_text(model.name), Contains(model.equation) && Contains("g_max") && Contains(model.source));
    const auto shown = nlohmann::json::parse(device_show_json(model.name));
    CHECK(shown["kind"] == "model");
    CHECK(shown["parameters"].size() ==
          device_parameters().size() + device_lists().size() + model.shape.size() + model.tables.size());
  }
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    CHECK_THAT(device_list_text(), Contains(preset.name));
    CHECK_THAT(device_show_text(preset.name), Contains(preset.citation) && Contains(preset.note));
    CHECK(nlohmann::json::parse(device_show_json(preset.name))["model"] == preset.spec.model);
  }
  CHECK_THAT(device_list_text(), Contains("stochastic_bit"));
  CHECK_THAT(device_show_text("stochastic_bit"),
             Contains("sampler") && Contains("offset_spread") && Contains("1610.00377"));
  CHECK_THROWS_WITH(device_show_text("soft_bonds"), Contains("did you mean soft_bounds?"));
}
