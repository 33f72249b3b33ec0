// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "netlist/element_cards.hpp"

namespace nudge {
namespace {

/// What a model card may say of one type. Parameters without effect are those of charges and of gates' oxides that are not simulated, of
/// noise, and what LTspice says of a part: its maker and ratings.
struct ModelType {
  std::set<std::string> known, without_effect;
};
const std::set<std::string> kOfParts = {"mfg", "type", "iave", "vpk", "irms", "diss", "vceo", "icrating"};

const std::map<std::string, ModelType>& model_types() {
  static const ModelType transistor = {
      {"level", "vto",  "vt0",  "kp",  "lambda", "is", "n",  "kf",   "af",   "tox", "w",  "l",  "gamma", "phi",
       "cgso",  "cgdo", "cgbo", "cbd", "cbs",    "cj", "mj", "cjsw", "mjsw", "pb",  "fc", "rd", "rs"},
      {"tnom"}};
  static const ModelType bipolar = {
      {"is", "bf",  "br", "nf", "nr",  "vaf", "va",  "var",  "vb",  "ikf", "ik",  "ikr", "ise", "isc", "ne", "nc",
       "rb", "rbm", "rc", "re", "xti", "eg",  "xtb", "tnom", "cje", "vje", "mje", "cjc", "vjc", "mjc", "fc", "level"},
      {"tf", "tr", "xtf", "vtf", "itf", "ptf", "xcjc", "cjs", "vjs", "mjs", "kf", "af"}};
  static const std::map<std::string, ModelType> types = {
      {"d",
       {{"is", "js",  "n",  "rs",   "level", "kf",  "af", "bv", "ibv", "nbv", "ikf",
         "ik", "xti", "eg", "tnom", "cjo",   "cj0", "vj", "m",  "fc",  "tt"},
        {}}},
      {"nmos", transistor},
      {"pmos", transistor},
      {"npn", bipolar},
      {"pnp", bipolar},
      {"sw", {{"vt", "vh", "ron", "roff"}, {}}},
      {"csw", {{"it", "ih", "ron", "roff"}, {}}}};
  return types;
}

/// Parameters that are above 0, and those that are not below.
const std::set<std::string> kPositive = {"is",  "js",  "n",   "kp", "w",  "l",  "af", "tox", "phi", "pb",  "vj",
                                         "vje", "vjc", "nbv", "nf", "nr", "ne", "nc", "bf",  "br",  "ron", "roff"};
const std::set<std::string> kNotNegative = {"rs",  "lambda", "cjo",  "cj0",  "kf",   "gamma", "bv",   "ibv", "ikf",
                                            "ik",  "tt",     "cgso", "cgdo", "cgbo", "cbd",   "cbs",  "cj",  "cjsw",
                                            "rd",  "rb",     "rc",   "re",   "vaf",  "va",    "var",  "vb",  "ikr",
                                            "ise", "isc",    "cje",  "cjc",  "m",    "mj",    "mjsw", "mje", "mjc"};

void check_model_value(const Assignment& one, double value) {
  const std::string& name = one.name.text;
  if (kPositive.count(name) > 0 && !(value > 0))
    refuse(one.value.place, fmt::format("{} = {:g} (must be > 0)", name, value));
  if (kNotNegative.count(name) > 0 && value < 0)
    refuse(one.value.place, fmt::format("{} = {:g} (must be >= 0)", name, value));
  if (name == "tnom") above_zero_kelvin(value, one.value.place);
  if (name == "fc" && !(value >= 0 && value < 1))
    refuse(one.value.place, fmt::format("fc = {:g} (must be from 0 to below 1)", value));
  if ((name == "vh" || name == "ih") && value < 0) {
    refuse(one.value.place,
           fmt::format("{} = {:g}: a switch that opens gradually, as in LTspice, is not simulated (must be >= 0; a B "
                       "source can say how it opens)",
                       name, value));
  }
}

void check_level(const std::string& type, const Assignment& one, double value) {
  const bool transistor = type == "nmos" || type == "pmos";
  if (one.name.text != "level" || value == 1 || (transistor && value == kEkvLevel)) return;
  refuse(one.value.place, transistor ? fmt::format("level = {:g} (must be 1, or {} for EKV)", value, kEkvLevel)
                                     : fmt::format("level = {:g} (must be 1)", value));
}

}  // namespace

ModelCard read_model(const Card& card, ParameterScope& scope) {
  if (card.size() < 3) refuse(card.front().place, "words are missing: .model NAME TYPE (name=value …)");
  ModelCard model{card[2].text, {}, card.front().place};
  if (model.type == "memristor") {
    for (const Assignment& one : assignments(card, 3)) model.device.push_back(device_setting(one, scope));
    return model;
  }
  const auto type = model_types().find(model.type);
  if (type == model_types().end()) {
    refuse(card[2].place,
           fmt::format(".model {}: type {} is not simulated (D, NMOS, PMOS, NPN, PNP, SW, CSW and MEMRISTOR are)",
                       card[1].raw, card[2].raw));
  }
  const ModelType& of = type->second;
  for (const Assignment& one : assignments(card, 3)) {
    if (of.without_effect.count(one.name.text) > 0 || kOfParts.count(one.name.text) > 0) continue;
    if (of.known.count(one.name.text) == 0) {
      refuse(one.name.place, fmt::format(".model {}: parameter {} is not simulated ({} are)", card[1].raw, one.name.raw,
                                         fmt::join(of.known, ", ")));
    }
    const double value = scope.number(one.value);
    check_model_value(one, value);
    check_level(model.type, one, value);
    if (!model.values.emplace(one.name.text, value).second) {
      refuse(one.name.place, fmt::format(".model {}: {} is given twice", card[1].raw, one.name.raw));
    }
  }
  return model;
}

}  // namespace nudge
