// SPDX-License-Identifier: Apache-2.0
#include "netlist/element_cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/base/units.hpp"

namespace nudge {
namespace {

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

  /// Reads "name=value" from word `from` on. m and off are those of all elements, the rest is for `take`, false for a name that it does not
  /// know. Start values (off, ic=) change no operating point but that of a circuit with several, which .nodeset chooses.
  void settings(std::size_t from, const char* form, const std::function<bool(const Assignment&)>& take) {
    for (std::size_t i = from; i < card_.size();) {
      if (card_[i].text == "off") {
        ++i;
        continue;
      }
      const bool listed = assigns(card_, i) && (card_[i].text == "ic" || card_[i].text == "tc");
      std::size_t end = i + 3;
      while (listed && end < card_.size() && !assigns(card_, end) && card_[end].text != "off") ++end;
      const Card one(card_.begin() + static_cast<std::ptrdiff_t>(i),
                     card_.begin() + static_cast<std::ptrdiff_t>(std::min(i + 3, card_.size())));
      const Assignment setting = assignments(one, 0).front();
      if (setting.name.text == "m") {
        multiplier_ = context_.scope.number(setting.value);
        if (!(multiplier_ > 0)) refuse(setting.value.place, fmt::format("m = {:g} (must be > 0)", multiplier_));
      } else if (setting.name.text != "ic" && !take(setting)) {
        refuse(setting.name.place,
               fmt::format("{}: {} is not simulated: {}", card_.front().raw, setting.name.raw, form));
      }
      for (std::size_t more = i + 3; more < end; ++more) {
        if (setting.name.text != "tc") continue;
        if (more > i + 3) fail(more, "tc takes two numbers");
        take({{"tc2", "tc2", card_[more].place}, card_[more]});
      }
      i = end;
    }
  }

  /// Reads the word at `at` as a value, or the one that "name=" gives; and the settings of the rest.
  double value_at(
      std::size_t at, const char* name, const char* form,
      const std::function<bool(const Assignment&)>& take = [](const Assignment&) { return false; }) {
    if (card_.size() <= at) fail(at, fmt::format("its value is missing: {}", form));
    std::optional<double> value;
    if (!assigns(card_, at)) value = context_.scope.number(card_[at++]);
    settings(at, form, [&](const Assignment& one) {
      if (value || one.name.text != name) return take(one);
      value = context_.scope.number(one.value);
      return true;
    });
    if (!value) fail(at, fmt::format("its value is missing: {}", form));
    return *value;
  }

  /// Factors of the temperature on a resistance or capacitance, 1 + TC1 (T − TNOM) + TC2 (T − TNOM)² (ngspice manual, "Resistors").
  struct Thermal {
    double linear = 0, square = 0, celsius = 0, scale = 1;
    double factor(double nominal_C) const {
      const double change = celsius - nominal_C;
      return scale * (1 + linear * change + square * change * change);
    }
  };

  /// Value with its temperature coefficients and scale.
  double thermal_value(const char* name, const char* form) {
    Thermal thermal;
    thermal.celsius = context_.options.celsius;
    const double value = value_at(3, name, form, [&](const Assignment& one) {
      const std::string& what = one.name.text;
      const bool known = what == "tc1" || what == "tc2" || what == "tc" || what == "temp" || what == "dtemp" ||
                         what == "scale" || what == "ac";
      if (!known) return false;
      const double number = context_.scope.number(one.value);
      if (what == "tc1" || what == "tc") thermal.linear = number;
      if (what == "tc2") thermal.square = number;
      if (what == "temp") thermal.celsius = number;
      if (what == "dtemp") thermal.celsius = context_.options.celsius + number;
      if (what == "scale") thermal.scale = number;
      return true;
    });
    return value * thermal.factor(context_.options.nominal_C);
  }

  /// Takes the setting temp= or dtemp= of a junction: true if it is the temperature of its model, which alone is simulated.
  bool nominal_temperature(const Assignment& one) const {
    if (one.name.text != "temp" && one.name.text != "dtemp") return false;
    const double celsius = context_.scope.number(one.value) + (one.name.text == "temp" ? 0 : context_.options.celsius);
    if (celsius != context_.options.nominal_C) refuse_temperature(one.value.place, celsius);
    return true;
  }
  void check_temperature() const {
    if (context_.options.celsius != context_.options.nominal_C)
      refuse_temperature(card_.front().place, context_.options.celsius);
  }
  [[noreturn]] void refuse_temperature(const Place& place, double celsius) const {
    refuse(place,
           fmt::format("{}: temp = {:g} and tnom = {:g} must be one temperature: models of junctions are not taken "
                       "from one to another",
                       card_.front().raw, celsius, context_.options.nominal_C));
  }

  /// Count of elements in parallel: m of the element and of the instances around it.
  double parallel() const { return multiplier_ * context_.instances; }

  void add() { context_.add(std::move(element_)); }

  void resistor() {
    const char* form = "Rname n1 n2 VALUE [m= tc1= tc2= temp= dtemp= scale=]";
    element_.kind = ElementKind::resistor;
    nodes(2, form);
    element_.value = thermal_value("r", form) / parallel();
    if (element_.value == 0) fail(3, "a resistance of 0 (take a voltage source of 0 V, or leave it out)");
    if (!std::isfinite(element_.value)) fail(3, "its resistance is not finite");
    add();
  }

  void capacitor() {
    const char* form = "Cname n1 n2 VALUE [m= tc1= tc2= temp= dtemp= scale=]";
    element_.kind = ElementKind::capacitor;
    nodes(2, form);
    element_.value = thermal_value("c", form) * parallel();
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
      if (i >= card_.size() || assigns(card_, i)) return false;
      return card_[i].expression || read_spice_number(card_[i].text, 0, value, used) ||
             context_.scope.has(card_[i].text);
    };
    const std::set<std::string> shapes = {"pulse", "sin", "exp", "pwl"};
    while (at < card_.size()) {
      const std::string& word = card_[at].text;
      if (word == "dc" || (shapes.count(word) == 0 && word != "ac" && is_number(at))) {
        if (direct) fail(at, "a second value");
        at += word == "dc" ? 1 : 0;
        if (at < card_.size() && card_[at].text == "=") ++at;
        if (at >= card_.size()) fail(at, "the value of DC is missing");
        element_.value = context_.scope.number(card_[at++]);
        direct = true;
      } else if (word == "ac") {
        for (++at; is_number(at);) ++at;
      } else if (kind == ElementKind::current && word == "m" && assigns(card_, at)) {
        settings(at, "Iname n+ n- [DC] VALUE [m=]", [](const Assignment&) { return false; });
        at = card_.size();
      } else if (shapes.count(word) > 0) {
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
    if (kind == ElementKind::current) scale_current(parallel());
    add();
  }

  /// Multiplies a current and its waveform: V1 V2, VO VA, or every second number of PWL.
  void scale_current(double factor) {
    element_.value *= factor;
    std::vector<double>& numbers = element_.wave.numbers;
    const bool lines = element_.wave.kind == Waveform::Kind::lines;
    for (std::size_t i = lines ? 1 : 0; i < numbers.size() && (lines || i < 2); i += lines ? 2 : 1)
      numbers[i] *= factor;
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
    element_.value = value_at(5, "gain", form);
    // A voltage is the same of any number of sources in parallel.
    if (kind == ElementKind::vccs) element_.value *= parallel();
    if (kind == ElementKind::vcvs && multiplier_ != 1) fail(5, "m of a voltage source is not simulated");
    add();
  }

  void by_current(ElementKind kind) {
    const char* form = "Fname n+ n- VSOURCE GAIN";
    element_.kind = kind;
    nodes(2, form);
    if (card_.size() < 4) fail(3, fmt::format("words are missing: {}", form));
    if (card_[3].text == "poly") fail(3, fmt::format("POLY is not simulated: {}", form));
    element_.value = value_at(4, "gain", form);
    // The source that controls it stands in the same instance: its current is that of all instances in parallel.
    element_.value *= kind == ElementKind::cccs ? multiplier_ : 1 / context_.instances;
    if (kind == ElementKind::ccvs && multiplier_ != 1) fail(4, "m of a voltage source is not simulated");
    context_.controlled_by(card_[3]);
    add();
  }

  /// Factor on KF |I|^AF of n junctions in parallel that share the current I: n |I/n|^AF.
  double shared_flicker(const ModelCard& model) const {
    return model.at("kf", 0) * std::pow(parallel(), 1 - model.at("af", 1));
  }

  void diode() {
    const char* form = "Dname anode cathode MODEL [AREA] [m= area=]";
    element_.kind = ElementKind::diode;
    nodes(2, form);
    if (card_.size() < 4) fail(3, fmt::format("its model is missing: {}", form));
    const ModelCard& model = context_.model(card_[3]);
    if (model.type != "d") fail(3, fmt::format("its model {} is {} (must be D)", card_[3].raw, model.type));
    check_temperature();
    const bool plain = card_.size() > 4 && !assigns(card_, 4) && card_[4].text != "off";
    double area = plain ? context_.scope.number(card_[4]) : 1;
    settings(plain ? 5 : 4, form, [&](const Assignment& one) {
      if (one.name.text == "area") area = context_.scope.number(one.value);
      return one.name.text == "area" || one.name.text == "pj" || nominal_temperature(one);
    });
    if (!(area > 0)) fail(4, fmt::format("area = {:g} (must be > 0)", area));
    area *= parallel();
    element_.junction.saturation_A = area * model.at("is", model.at("js", 1e-14));
    element_.junction.thermal_V = model.at("n", 1) * context_.options.thermal_V();
    element_.flicker = {shared_flicker(model), model.at("af", 1)};
    const double series = model.at("rs", 0) / area;
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
    const char* form = "Mname drain gate source bulk MODEL [W=… L=… m=…]";
    element_.kind = ElementKind::mosfet;
    nodes(4, form);
    if (card_.size() < 6) fail(5, fmt::format("its model is missing: {}", form));
    const ModelCard& model = context_.model(card_[5]);
    if (model.type == "d") fail(5, fmt::format("its model {} is D (must be NMOS or PMOS)", card_[5].raw));
    check_temperature();
    const ElementOptions& options = context_.options;  // as ngspice has it, scale is no factor on its defaults
    double width = model.values.count("w") > 0 ? model.at("w", 0) * options.scale : options.width_m;
    double length = model.values.count("l") > 0 ? model.at("l", 0) * options.scale : options.length_m;
    // Areas and squares of resistances count with JS, CJ and RSH, which are not simulated.
    const std::set<std::string> without_effect = {"ad", "as", "pd", "ps", "nrd", "nrs"};
    settings(6, form, [&](const Assignment& one) {
      const std::string& name = one.name.text;
      if (name != "w" && name != "l") return without_effect.count(name) > 0 || nominal_temperature(one);
      (name == "w" ? width : length) = context_.scope.number(one.value) * options.scale;
      if (!(std::min(width, length) > 0))
        refuse(one.value.place, fmt::format("{}: {} (must be > 0)", card_.front().raw, name));
      return true;
    });
    MosfetLaw& law = element_.mosfet;
    law.sign = model.type == "pmos" ? -1 : 1;
    law.threshold_V = model.at("vto", model.at("vt0", 0));
    law.beta_A_per_V2 = model.at("kp", 2e-5) * width / length * parallel();
    law.modulation_per_V = model.at("lambda", 0);
    if (model.values.count("tox") > 0 && model.values.count("kp") == 0)
      refuse(model.place, "tox without kp: a transconductance that follows from the oxide is not simulated (give kp)");
    element_.flicker = {shared_flicker(model) / gate_F2(width, length, model.at("tox", kDefaultOxide_m)),
                        model.at("af", 1)};
    law.body.saturation_A = model.at("is", 1e-14) * parallel();
    law.body.thermal_V = model.at("n", 1) * options.thermal_V();
    add();
  }

  const Card& card_;
  const CardContext& context_;
  Element element_;
  double multiplier_ = 1;  ///< m of the card
};

}  // namespace

double ElementOptions::thermal_V() const {
  constexpr double kStandard_C = 27;  // of kSpiceThermal_V
  if (celsius == kStandard_C) return kSpiceThermal_V;
  return kSpiceThermal_V * (celsius + zero_celsius_K) / (kStandard_C + zero_celsius_K);
}

void read_element(const Card& card, const CardContext& context) { ElementCard(card, context).read(); }

}  // namespace nudge
