// SPDX-License-Identifier: Apache-2.0
#include "netlist/card_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Parameters that change no direct current: capacitances, transit times, overlaps.
const std::set<std::string> kDynamicOnly = {"cjo",  "cj0", "tt", "vj",   "m",    "fc", "tnom", "cgso", "cgdo",
                                            "cgbo", "cj",  "mj", "cjsw", "mjsw", "pb", "cbd",  "cbs"};
const std::set<std::string> kDiodeParameters = {"is", "js", "n", "rs", "level", "kf", "af"};
const std::set<std::string> kMosfetParameters = {"level", "vto", "vt0", "kp", "lambda", "is", "n", "kf", "af", "tox"};

const std::map<char, const char*>& unknown_letters() {
  static const std::map<char, const char*> letters = {{'a', "XSPICE code models"},
                                                      {'b', "behavioural sources"},
                                                      {'j', "JFETs"},
                                                      {'k', "coupled inductors"},
                                                      {'l', "inductors"},
                                                      {'n', "Verilog-A models"},
                                                      {'o', "lossy lines"},
                                                      {'p', "coupled lines"},
                                                      {'q', "bipolar transistors"},
                                                      {'s', "switches"},
                                                      {'t', "lines"},
                                                      {'u', "RC lines"},
                                                      {'w', "switches"},
                                                      {'y', "lines"},
                                                      {'z', "MESFETs"}};
  return letters;
}

/// Card of an element that is being read.
class ElementCard {
 public:
  ElementCard(const Card& card, const CardContext& context) : card_(card), context_(context) {
    element_.name = context.prefix + card.front().text;
    element_.place = card.front().place;
  }

  void read() {
    switch (card_.front().text.front()) {
      case 'r': return resistor();
      case 'c': return capacitor();
      case 'v': return source(ElementKind::voltage);
      case 'i': return source(ElementKind::current);
      case 'd': return diode();
      case 'e': return by_voltage(ElementKind::vcvs);
      case 'g': return by_voltage(ElementKind::vccs);
      case 'f': return by_current(ElementKind::cccs);
      case 'h': return by_current(ElementKind::ccvs);
      case 'm': return mosfet();
      default: break;
    }
    const auto known = unknown_letters().find(card_.front().text.front());
    refuse(card_.front().place, fmt::format("{}: {} are not simulated (R C V I D E F G H M X are)", card_.front().raw,
                                            known == unknown_letters().end() ? "such elements" : known->second));
  }

 private:
  [[noreturn]] void fail(std::size_t word, const std::string& what) const {
    refuse(card_[std::min(word, card_.size() - 1)].place, fmt::format("{}: {}", card_.front().raw, what));
  }

  void nodes(std::size_t count, const char* form) {
    if (card_.size() <= count) fail(card_.size(), fmt::format("words are missing: {}", form));
    for (std::size_t i = 1; i <= count; ++i) element_.nodes.push_back(context_.node(card_[i]));
  }

  /// Reads the word at `at`, or the value that "name =" gives there; nothing else may follow but the names of `ignored`.
  /// form: the card's form, for errors.
  double only_value(std::size_t at, const char* name, const std::set<std::string>& ignored, const char* form) {
    if (card_.size() <= at) fail(at, fmt::format("its value is missing: {}", form));
    std::size_t next = at + 1;
    if (at + 2 < card_.size() && card_[at + 1].text == "=") {
      if (card_[at].text != name) fail(at, fmt::format("{} is not simulated: {}", card_[at].raw, form));
      at += 2;
      next = at + 1;
    }
    const double value = context_.scope.number(card_[at]);
    for (const Assignment& more : assignments(card_, next)) {
      if (ignored.count(more.name.text) == 0) {
        refuse(more.name.place, fmt::format("{}: {} is not simulated: {}", card_.front().raw, more.name.raw, form));
      }
    }
    return value;
  }

  void add() { context_.add(std::move(element_)); }

  void resistor() {
    const char* form = "Rname n1 n2 VALUE";
    element_.kind = ElementKind::resistor;
    nodes(2, form);
    element_.value = only_value(3, "r", {}, form);
    if (element_.value == 0) fail(3, "a resistance of 0 (take a voltage source of 0 V, or leave it out)");
    add();
  }

  void capacitor() {
    const char* form = "Cname n1 n2 VALUE";
    element_.kind = ElementKind::capacitor;
    nodes(2, form);
    element_.value = only_value(3, "c", {"ic"}, form);
    add();
  }

  /// Reads a source: its DC value; else the first value of its function of time; else 0. AC values belong to another analysis.
  void source(ElementKind kind) {
    element_.kind = kind;
    nodes(2, "Vname n+ n- [DC] VALUE");
    bool direct = false;
    std::size_t at = 3;
    const auto is_number = [&](std::size_t i) {
      double value = 0;
      std::size_t used = 0;
      return i < card_.size() && (card_[i].expression || read_spice_number(card_[i].text, 0, value, used));
    };
    while (at < card_.size()) {
      const std::string& word = card_[at].text;
      if (word == "dc" || is_number(at)) {
        if (direct) fail(at, "a second value");
        at += word == "dc" ? 1 : 0;
        if (at < card_.size() && card_[at].text == "=") ++at;
        if (at >= card_.size()) fail(at, "the value of DC is missing");
        element_.value = context_.scope.number(card_[at++]);
        direct = true;
      } else if (word == "ac") {
        for (++at; is_number(at);) ++at;
      } else if (word == "pulse" || word == "sin" || word == "exp" || word == "pwl") {
        const std::size_t first = at + (word == "pwl" ? 2 : 1);
        if (!is_number(first)) fail(at, fmt::format("{} has no value at time 0", card_[at].raw));
        if (!direct) element_.value = context_.scope.number(card_[first]);
        direct = true;
        at = waveform(at, is_number);
      } else {
        fail(at, fmt::format("\"{}\" is not simulated (DC VALUE, PULSE, SIN, EXP, PWL and AC are understood)",
                             card_[at].raw));
      }
    }
    add();
  }

  /// Reads a function of time and its numbers; returns the place of the word behind them.
  std::size_t waveform(std::size_t at, const std::function<bool(std::size_t)>& is_number) {
    using Kind = Waveform::Kind;
    const std::string& word = card_[at].text;
    element_.wave.kind = word == "pulse" ? Kind::pulse
                         : word == "sin" ? Kind::sine
                         : word == "exp" ? Kind::exponential
                                         : Kind::lines;
    std::vector<double>& numbers = element_.wave.numbers;
    numbers.clear();
    const std::size_t begin = at + 1;
    for (at = begin; is_number(at); ++at) {
      numbers.push_back(context_.scope.number(card_[at]));
      const bool falls = word == "pwl" && numbers.size() % 2 == 1 && numbers.size() > 2 &&
                         !(numbers.back() > numbers[numbers.size() - 3]);
      if (falls) fail(at, "the times of PWL must rise");
    }
    if (word == "pwl" && numbers.size() % 2 == 1) fail(at - 1, "PWL has a time without a value");
    return at;
  }

  void by_voltage(ElementKind kind) {
    const char* form = "Ename n+ n- nc+ nc- GAIN";
    element_.kind = kind;
    for (const Word& word : card_) {
      for (const char* other : {"poly", "value", "table", "vol", "cur", "laplace"}) {
        if (word.text == other)
          refuse(word.place, fmt::format("{}: {} is not simulated: {}", card_.front().raw, word.raw, form));
      }
    }
    nodes(4, form);
    element_.value = only_value(5, "gain", {}, form);
    add();
  }

  void by_current(ElementKind kind) {
    const char* form = "Fname n+ n- VSOURCE GAIN";
    element_.kind = kind;
    nodes(2, form);
    if (card_.size() < 4) fail(3, fmt::format("words are missing: {}", form));
    if (card_[3].text == "poly") fail(3, fmt::format("POLY is not simulated: {}", form));
    element_.value = only_value(4, "gain", {}, form);
    context_.controlled_by(card_[3]);
    add();
  }

  double value_of(const ModelCard& model, const char* name, double otherwise) const {
    const auto found = model.values.find(name);
    return found == model.values.end() ? otherwise : found->second;
  }

  void diode() {
    const char* form = "Dname anode cathode MODEL [AREA]";
    element_.kind = ElementKind::diode;
    nodes(2, form);
    if (card_.size() < 4) fail(3, fmt::format("its model is missing: {}", form));
    const ModelCard& model = context_.model(card_[3]);
    if (model.type != "d") fail(3, fmt::format("its model {} is {} (must be D)", card_[3].raw, model.type));
    double area = 1;
    if (card_.size() > 4) area = only_value(4, "area", {"ic"}, form);
    if (!(area > 0)) fail(4, fmt::format("area = {:g} (must be > 0)", area));
    element_.junction.saturation_A = area * value_of(model, "is", value_of(model, "js", 1e-14));
    element_.junction.thermal_V = value_of(model, "n", 1) * context_.thermal_V;
    element_.flicker = {value_of(model, "kf", 0), value_of(model, "af", 1)};
    const double series = value_of(model, "rs", 0) / area;
    if (series > 0) {
      Element resistor;
      resistor.name = element_.name + "#rs";
      resistor.place = element_.place;
      resistor.value = series;
      resistor.nodes = {element_.nodes[0], context_.new_node(element_.name + "#internal")};
      element_.nodes[0] = resistor.nodes[1];
      context_.add(std::move(resistor));
    }
    add();
  }

  void mosfet() {
    const char* form = "Mname drain gate source bulk MODEL [W=… L=…]";
    element_.kind = ElementKind::mosfet;
    nodes(4, form);
    if (card_.size() < 6) fail(5, fmt::format("its model is missing: {}", form));
    const ModelCard& model = context_.model(card_[5]);
    if (model.type == "d") fail(5, fmt::format("its model {} is D (must be NMOS or PMOS)", card_[5].raw));
    double width = 1e-4, length = 1e-4;
    for (const Assignment& one : assignments(card_, 6)) {
      const std::string& name = one.name.text;
      if (name == "w" || name == "l") {
        (name == "w" ? width : length) = context_.scope.number(one.value);
        if (!(std::min(width, length) > 0))
          refuse(one.value.place, fmt::format("{}: {} (must be > 0)", card_.front().raw, name));
      } else if (name != "ad" && name != "as" && name != "pd" &&
                 name != "ps") {  // of capacitances, as JS is not simulated
        refuse(one.name.place, fmt::format("{}: {} is not simulated: {}", card_.front().raw, one.name.raw, form));
      }
    }
    MosfetLaw& law = element_.mosfet;
    law.sign = model.type == "pmos" ? -1 : 1;
    law.threshold_V = value_of(model, "vto", value_of(model, "vt0", 0));
    law.beta_A_per_V2 = value_of(model, "kp", 2e-5) * width / length;
    law.modulation_per_V = value_of(model, "lambda", 0);
    if (model.values.count("tox") > 0 && model.values.count("kp") == 0)
      refuse(model.place, "tox without kp: a transconductance that follows from the oxide is not simulated (give kp)");
    element_.flicker = {value_of(model, "kf", 0) / gate_F2(width, length, value_of(model, "tox", kDefaultOxide_m)),
                        value_of(model, "af", 1)};
    law.body.saturation_A = value_of(model, "is", 1e-14);
    law.body.thermal_V = value_of(model, "n", 1) * context_.thermal_V;
    add();
  }

  const Card& card_;
  const CardContext& context_;
  Element element_;
};

void check_model_value(const Assignment& one, double value) {
  const std::string& name = one.name.text;
  if (name == "level" && value != 1) refuse(one.value.place, fmt::format("level = {:g} (must be 1)", value));
  const bool positive = name == "is" || name == "js" || name == "n" || name == "kp" || name == "af" || name == "tox";
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
    if (kDynamicOnly.count(one.name.text) > 0) continue;
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

void read_element(const Card& card, const CardContext& context) { ElementCard(card, context).read(); }

}  // namespace nudge
