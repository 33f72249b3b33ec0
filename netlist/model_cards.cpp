// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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
      {"level", "vto", "vt0",  "kp",   "lambda", "is",  "n",   "kf",   "af",  "tox",  "w",    "l",
       "gamma", "phi", "cgso", "cgdo", "cgbo",   "cbd", "cbs", "cj",   "mj",  "cjsw", "mjsw", "pb",
       "fc",    "rd",  "rs",   "rsh",  "ld",     "uo",  "u0",  "nsub", "nss", "tpg"},
      {"tnom"}};
  static const ModelType jfet = {
      {"vto", "vt0", "beta", "lambda", "is", "n", "rd", "rs", "cgs", "cgd", "pb", "m", "fc", "kf", "af", "b", "level"},
      {"tnom", "betatce", "vtotc", "xti", "eg", "alpha", "vk", "isr", "nr"}};
  static const ModelType passive = {
      {"tc1", "tc2", "rsh", "narrow", "short", "defw", "cj", "cjsw", "tnom", "r", "res", "cap"}, {"kf", "af"}};
  static const ModelType bipolar = {
      {"is",  "bf",  "br", "nf",    "nr",  "vaf", "va",  "var", "vb",  "ikf",  "ik",   "ikr", "ise", "isc",
       "ne",  "nc",  "rb", "rbm",   "rc",  "re",  "xti", "eg",  "xtb", "tnom", "cje",  "vje", "mje", "cjc",
       "vjc", "mjc", "fc", "level", "irb", "tf",  "tr",  "xtf", "vtf", "itf",  "xcjc", "kf",  "af"},
      {"ptf", "cjs", "vjs", "mjs"}};
  static const std::map<std::string, ModelType> types = {
      {"d",
       {{"is",  "js", "n",    "rs",  "level", "kf", "af", "bv", "ibv", "nbv", "ikf", "ik",
         "xti", "eg", "tnom", "cjo", "cj0",   "vj", "m",  "fc", "tt",  "isr", "nr"},
        {}}},
      {"nmos", transistor},
      {"pmos", transistor},
      {"npn", bipolar},
      {"pnp", bipolar},
      {"njf", jfet},
      {"pjf", jfet},
      {"r", passive},
      {"res", passive},
      {"c", passive},
      {"cap", passive},
      {"l", passive},
      {"ind", passive},
      {"sw", {{"vt", "vh", "ron", "roff"}, {}}},
      {"csw", {{"it", "ih", "ron", "roff"}, {}}}};
  return types;
}

/// Parameters that are above 0, and those that are not below.
const std::set<std::string> kPositive = {"is", "js", "n",   "kp",   "w",   "l",  "af",   "tox", "phi",
                                         "pb", "vj", "vje", "vjc",  "nbv", "nf", "nr",   "ne",  "nc",
                                         "bf", "br", "ron", "roff", "uo",  "u0", "nsub", "defw"};
const std::set<std::string> kNotNegative = {
    "rs",   "lambda", "cjo", "cj0", "kf",   "gamma", "bv",   "ibv",  "ikf", "ik",     "tt",  "cgso", "cgdo",
    "cgbo", "cbd",    "cbs", "cj",  "cjsw", "rd",    "rb",   "rc",   "re",  "vaf",    "va",  "var",  "vb",
    "ikr",  "ise",    "isc", "cje", "cjc",  "m",     "mj",   "mjsw", "mje", "mjc",    "rbm", "irb",  "tf",
    "tr",   "xtf",    "vtf", "itf", "rsh",  "ld",    "beta", "cgs",  "cgd", "narrow", "isr"};

void check_model_value(const Assignment& one, double value) {
  const std::string& name = one.name.text;
  if (kPositive.count(name) > 0 && !(value > 0))
    refuse(one.value.place, fmt::format("{} = {:g} (must be > 0)", name, value));
  if (kNotNegative.count(name) > 0 && value < 0)
    refuse(one.value.place, fmt::format("{} = {:g} (must be >= 0)", name, value));
  if (name == "tnom") above_zero_kelvin(value, one.value.place);
  if (name == "xcjc" && !(value >= 0 && value <= 1))
    refuse(one.value.place, fmt::format("xcjc = {:g} (must be from 0 to 1)", value));
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
    refuse(card[2].place, fmt::format(".model {}: type {} is not simulated (D, NMOS, PMOS, NJF, PJF, NPN, PNP, SW, "
                                      "CSW, R, C, L and MEMRISTOR are)",
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

ModelCard with_process(ModelCard model, double nominal_C) {
  const auto given = [&model](const char* name) { return model.values.count(name) > 0; };
  if (!given("tox") || model.at("level", 1) != 1) return model;
  constexpr double kPerCubicCentimeter = 1e6, kPerSquareCentimeter = 1e4;
  constexpr double kCharge_C = 1.602176634e-19, kVacuum_F_per_m = 8.854214871e-12, kSilicon = 11.7,
                   kIntrinsic_per_m3 = 1.45e16;
  const double oxide = kOxide_F_per_m / model.at("tox", 0), sign = model.type == "pmos" ? -1 : 1;
  const auto fill = [&model](const char* name, double value) { model.values.emplace(name, value); };
  fill("kp", model.at("uo", model.at("u0", 600)) / kPerSquareCentimeter * oxide);
  const double doping = model.at("nsub", 0) * kPerCubicCentimeter;
  if (!given("nsub")) return model;
  if (!(doping > kIntrinsic_per_m3))
    refuse(model.place, fmt::format("nsub = {:g} (must be above that of pure silicon, 1.45e10)", model.at("nsub", 0)));
  fill("phi", std::max(0.1, 2 * thermal_voltage_V(nominal_C) * std::log(doping / kIntrinsic_per_m3)));
  const double kelvin = nominal_C + 273.15, gap = 1.16 - 7.02e-4 * kelvin * kelvin / (kelvin + 1108),
               phi = model.at("phi", 0);
  const double gate = model.at("tpg", 1);  // of the other type than the bulk, of the same (-1), of metal (0)
  const double gate_V = gate == 0 ? 3.2 : 3.25 + gap / 2 - sign * gate * gap / 2;
  const double bulk_V = 3.25 + gap / 2 + sign * phi / 2;
  fill("gamma", std::sqrt(2 * kSilicon * kVacuum_F_per_m * kCharge_C * doping) / oxide);
  const double flat_V = gate_V - bulk_V - model.at("nss", 0) * kPerSquareCentimeter * kCharge_C / oxide;
  if (!given("vt0")) fill("vto", flat_V + sign * (model.at("gamma", 0) * std::sqrt(phi) + phi));
  return model;
}

}  // namespace nudge
