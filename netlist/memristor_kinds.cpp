// SPDX-License-Identifier: Apache-2.0
#include "netlist/memristor_kinds.hpp"

#include <fmt/format.h>

#include <optional>

#include "netlist/element_card.hpp"

namespace nudge {

DeviceSetting device_setting(const Assignment& one, ParameterScope& scope) {
  double number = 0;
  std::size_t used = 0;
  const Word& value = one.value;
  const bool counts = value.expression || scope.has(value.text) || read_spice_number(value.text, 0, number, used);
  return {one.name.raw, counts ? fmt::format("{}", scope.number(value)) : value.raw};
}

std::shared_ptr<const MemristorLaw> MemristorKinds::of(const std::vector<DeviceSetting>& settings, const Place& place) {
  if (!source_) refuse(place, "memristors are not simulated here: this reader has no devices");
  std::string key = *place.file;
  for (const DeviceSetting& one : settings) key += "\n" + one.name + "=" + one.value;
  std::shared_ptr<const MemristorLaw>& law = made_[key];
  if (!law) law = std::make_shared<const MemristorLaw>(source_(settings, place));
  return law;
}

void read_memristor(ElementCard& of) {
  const char* form = "Yname n1 n2 [MODEL] [g=|r=|x=] [preset=NAME name=value …]";
  of.element.kind = ElementKind::resistor;
  of.nodes(2, form);
  std::vector<DeviceSetting> device;
  std::size_t at = 3;
  if (at < of.card.size() && !assigns(of.card, at)) {
    const ModelCard& model = of.context.model(of.card[at]);
    if (model.type != "memristor")
      of.fail(at, fmt::format("its model {} is {} (must be MEMRISTOR)", of.card[at].raw, model.type));
    device = model.device;
    ++at;
  }
  std::optional<Assignment> state;
  for (const Assignment& one : assignments(of.card, at)) {
    const std::string& name = one.name.text;
    if (name == "m") {
      of.setting(one, form, ElementCard::take_none);
    } else if (name != "g" && name != "r" && name != "x") {
      device.push_back(device_setting(one, of.context.scope));
    } else if (state) {
      refuse(one.name.place,
             fmt::format("{}: {} and {} both say its state", of.card.front().raw, state->name.raw, one.name.raw));
    } else {
      state = one;
    }
  }
  if (of.parallel() != 1) of.fail(0, "m: each memristor is a device of its own (draw them one by one)");
  const std::shared_ptr<const MemristorLaw> law = of.context.memristors.of(device, of.element.place);
  double siemens = law->rest_S;
  if (state) {
    const double number = of.number(state->value);
    siemens = state->name.text == "g"   ? number
              : state->name.text == "r" ? 1 / number
                                        : law->min_S + number * (law->max_S - law->min_S);
    constexpr double kRounding = 1e-9;  // of a bound that is written in decimal
    if (!(siemens >= law->min_S * (1 - kRounding) && siemens <= law->max_S * (1 + kRounding)) || !(siemens > 0)) {
      refuse(state->value.place,
             fmt::format("{}: {:g} S is outside of the window of {}, {:g} S to {:g} S{}", of.card.front().raw, siemens,
                         law->name, law->min_S, law->max_S, law->min_S > 0 ? "" : " (a memristor must conduct)"));
    }
  }
  if (law->curve) of.element.kind = ElementKind::curved_resistor;
  of.element.value = 1 / siemens;
  of.element.memristor = law;
  of.add();
}

}  // namespace nudge
