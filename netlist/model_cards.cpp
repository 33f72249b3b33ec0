// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "netlist/element_cards.hpp"

namespace nudge {
namespace {

/// Parameters that change no direct current: capacitances, transit times, overlaps, the surface potential of a transistor without body effect;
/// and what LTspice says of a part: its maker and ratings.
const std::set<std::string> kWithoutEffect = {"cjo",  "cj0",  "tt",  "vj",   "m",    "fc",   "tnom", "cgso",
                                              "cgdo", "cgbo", "cj",  "mj",   "pb",   "cjsw", "mjsw", "cbd",
                                              "cbs",  "phi",  "mfg", "type", "iave", "vpk",  "irms", "diss"};
const std::set<std::string> kDiodeParameters = {"is", "js", "n", "rs", "level", "kf", "af"};
const std::set<std::string> kMosfetParameters = {"level", "vto", "vt0", "kp", "lambda", "is",   "n",
                                                 "kf",    "af",  "tox", "w",  "l",      "gamma"};

void check_model_value(const Assignment& one, double value) {
  const std::string& name = one.name.text;
  if (name == "level" && value != 1) refuse(one.value.place, fmt::format("level = {:g} (must be 1)", value));
  if (name == "gamma" && value != 0)
    refuse(one.value.place, fmt::format("gamma = {:g}: the body effect is not simulated (must be 0)", value));
  const bool positive = name == "is" || name == "js" || name == "n" || name == "kp" || name == "w" || name == "l" ||
                        name == "af" || name == "tox";
  if (positive && !(value > 0)) refuse(one.value.place, fmt::format("{} = {:g} (must be > 0)", name, value));
  const bool not_negative = name == "rs" || name == "lambda" || name == "cjo" || name == "kf";
  if (not_negative && value < 0) refuse(one.value.place, fmt::format("{} = {:g} (must be >= 0)", name, value));
}

}  // namespace

ModelCard read_model(const Card& card, ParameterScope& scope) {
  if (card.size() < 3) refuse(card.front().place, "words are missing: .model NAME TYPE (name=value …)");
  ModelCard model{card[2].text, {}, card.front().place};
  if (model.type != "d" && model.type != "nmos" && model.type != "pmos") {
    refuse(card[2].place,
           fmt::format(".model {}: type {} is not simulated (D, NMOS and PMOS are)", card[1].raw, card[2].raw));
  }
  const std::set<std::string>& known = model.type == "d" ? kDiodeParameters : kMosfetParameters;
  for (const Assignment& one : assignments(card, 3)) {
    if (kWithoutEffect.count(one.name.text) > 0) continue;
    if (known.count(one.name.text) == 0) {
      refuse(one.name.place, fmt::format(".model {}: parameter {} is not simulated ({} are)", card[1].raw, one.name.raw,
                                         fmt::join(known, ", ")));
    }
    const double value = scope.number(one.value);
    check_model_value(one, value);
    if (!model.values.emplace(one.name.text, value).second) {
      refuse(one.name.place, fmt::format(".model {}: {} is given twice", card[1].raw, one.name.raw));
    }
  }
  return model;
}

}  // namespace nudge
