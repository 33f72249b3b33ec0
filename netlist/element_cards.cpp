// SPDX-License-Identifier: Apache-2.0
#include "netlist/element_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/base/units.hpp"

namespace nudge {

ElementCard::ElementCard(const Card& of, const CardContext& with) : card(of), context(with) {
  element.name = context.prefix + card.front().text;
  element.place = card.front().place;
}

void ElementCard::fail(std::size_t word, const std::string& what) const {
  refuse(card[std::min(word, card.size() - 1)].place, fmt::format("{}: {}", card.front().raw, what));
}

void ElementCard::nodes(std::size_t count, const char* form) {
  if (card.size() <= count) fail(card.size(), fmt::format("words are missing: {}", form));
  for (std::size_t i = 1; i <= count; ++i) element.nodes.push_back(context.node(card[i]));
}

void ElementCard::settings(std::size_t from, const char* form, const Take& take) {
  for (std::size_t i = from; i < card.size();) {
    if (card[i].text == "off") {
      ++i;
      continue;
    }
    const bool listed = assigns(card, i) && (card[i].text == "ic" || card[i].text == "tc");
    std::size_t end = i + 3;
    while (listed && end < card.size() && !assigns(card, end) && card[end].text != "off") ++end;
    const Card one(card.begin() + static_cast<std::ptrdiff_t>(i),
                   card.begin() + static_cast<std::ptrdiff_t>(std::min(i + 3, card.size())));
    const Assignment read = assignments(one, 0).front();
    setting(read, form, take);
    for (std::size_t more = i + 3; more < end; ++more) {
      if (read.name.text != "tc") continue;
      if (more > i + 3) fail(more, "tc takes two numbers");
      take({{"tc2", "tc2", card[more].place}, card[more]});
    }
    i = end;
  }
}

void ElementCard::setting(const Assignment& one, const char* form, const Take& take) {
  if (one.name.text == "m") {
    multiplier = number(one.value);
    if (!(multiplier > 0)) refuse(one.value.place, fmt::format("m = {:g} (must be > 0)", multiplier));
  } else if (one.name.text != "ic" && !take(one)) {
    refuse(one.name.place, fmt::format("{}: {} is not simulated: {}", card.front().raw, one.name.raw, form));
  }
}

double ElementCard::value_at(std::size_t at, const char* name, const char* form, const Take& take) {
  if (card.size() <= at) fail(at, fmt::format("its value is missing: {}", form));
  std::optional<double> value;
  if (!assigns(card, at)) value = number(card[at++]);
  settings(at, form, [&](const Assignment& one) {
    if (value || one.name.text != name) return take(one);
    value = number(one.value);
    return true;
  });
  if (!value) fail(at, fmt::format("its value is missing: {}", form));
  return *value;
}

namespace {

const std::map<char, const char*>& unknown_letters() {
  static const std::map<char, const char*> letters = {{'a', "XSPICE code models"},
                                                      {'n', "Verilog-A models"},
                                                      {'o', "lossy lines"},
                                                      {'p', "coupled lines"},
                                                      {'t', "lines"},
                                                      {'u', "RC lines"},
                                                      {'z', "MESFETs"}};
  return letters;
}

/// Reads the cards of passive elements and sources.
class PlainCard : public ElementCard {
 public:
  using ElementCard::ElementCard;

  void read() {
    switch (card.front().text.front()) {
      case 'r':
      case 'c':
      case 'l': return read_passive(*this);
      case 'v': return source(ElementKind::voltage);
      case 'i': return source(ElementKind::current);
      case 'b': return read_behavioural(*this);
      case 's':
      case 'w': return read_switch(*this);
      case 'd': return read_diode(*this);
      case 'q': return read_bipolar(*this);
      case 'm': return read_mosfet(*this);
      case 'j': return read_jfet(*this);
      case 'y': return read_memristor(*this);
      case 'e': return by_voltage(ElementKind::vcvs);
      case 'g': return by_voltage(ElementKind::vccs);
      case 'f': return by_current(ElementKind::cccs);
      case 'h': return by_current(ElementKind::ccvs);
      default: break;
    }
    const auto known = unknown_letters().find(card.front().text.front());
    refuse(card.front().place,
           fmt::format("{}: {} are not simulated (R C L K V I D E F G H B S W M J Q X Y are)", card.front().raw,
                       known == unknown_letters().end() ? "such elements" : known->second));
  }

 private:
  /// Reads a source: its DC value; else the first value of its function of time; else 0. "AC amplitude phase" is for small signals.
  void source(ElementKind kind) {
    element.kind = kind;
    nodes(2, "Vname n+ n- [DC] VALUE");
    bool direct = false;
    std::size_t at = 3;
    const auto is_number = [&](std::size_t i) {
      double value = 0;
      std::size_t used = 0;
      if (i >= card.size() || assigns(card, i)) return false;
      return card[i].expression || read_spice_number(card[i].text, 0, value, used) || context.scope.has(card[i].text);
    };
    const std::set<std::string> shapes = {"pulse", "sin", "sine", "exp", "pwl"};
    while (at < card.size()) {
      const std::string& word = card[at].text;
      if (word == "dc" || (shapes.count(word) == 0 && word != "ac" && is_number(at))) {
        if (direct) fail(at, "a second value");
        at += word == "dc" ? 1 : 0;
        if (at < card.size() && card[at].text == "=") ++at;
        if (at >= card.size()) fail(at, "the value of DC is missing");
        element.value = context.scope.number(card[at++]);
        direct = true;
      } else if (word == "ac") {
        element.ac = 1;
        if (is_number(++at)) element.ac = number(card[at++]);
        if (is_number(at)) element.ac_degrees = number(card[at++]);
      } else if (kind == ElementKind::current && word == "m" && assigns(card, at)) {
        settings(at, "Iname n+ n- [DC] VALUE [m=]", [](const Assignment&) { return false; });
        at = card.size();
      } else if (shapes.count(word) > 0) {
        const std::size_t first = at + (word == "pwl" ? 2 : 1);
        if (!is_number(first)) fail(at, fmt::format("{} has no value at time 0", card[at].raw));
        if (!direct) element.value = context.scope.number(card[first]);
        at = waveform(at, is_number);
      } else if (word == "distof1" || word == "distof2") {  // amplitudes of a distortion analysis
        while (is_number(++at)) {
        }
      } else if (kind == ElementKind::voltage && assigns(card, at)) {  // as the last words of a card
        settings(at, "Vname n+ n- [DC] VALUE [Rser= Cpar=]",
                 [this](const Assignment& one) { return take_parasitic(*this, one); });
        if (multiplier != 1) fail(at, "m of a voltage source is not simulated");
        at = card.size();
      } else {
        fail(at, fmt::format("\"{}\" is not simulated (DC VALUE, PULSE, SIN, EXP, PWL and AC are understood)",
                             card[at].raw));
      }
    }
    if (kind == ElementKind::current) scale_current(parallel());
    add();
  }

  /// Multiplies a current and its waveform: V1 V2, VO VA, or every second number of PWL.
  void scale_current(double factor) {
    element.value *= factor;
    element.ac *= factor;
    std::vector<double>& numbers = element.wave.numbers;
    const bool lines = element.wave.kind == Waveform::Kind::lines;
    for (std::size_t i = lines ? 1 : 0; i < numbers.size() && (lines || i < 2); i += lines ? 2 : 1)
      numbers[i] *= factor;
  }

  /// Reads a function of time and its numbers; returns the place of the word behind them.
  std::size_t waveform(std::size_t at, const std::function<bool(std::size_t)>& is_number) {
    using Kind = Waveform::Kind;
    const std::string& word = card[at].text;
    element.wave.kind = word == "pulse"           ? Kind::pulse
                        : word.starts_with("sin") ? Kind::sine
                        : word == "exp"           ? Kind::exponential
                                                  : Kind::lines;
    std::vector<double>& numbers = element.wave.numbers;
    numbers.clear();
    const std::size_t begin = at + 1;
    for (at = begin; is_number(at); ++at) {
      numbers.push_back(context.scope.number(card[at]));
      const bool falls = word == "pwl" && numbers.size() % 2 == 1 && numbers.size() > 2 &&
                         !(numbers.back() > numbers[numbers.size() - 3]);
      if (falls) fail(at, "the times of PWL must rise");
    }
    if (word == "pwl" && numbers.size() % 2 == 1) fail(at - 1, "PWL has a time without a value");
    return at;
  }

  void by_voltage(ElementKind kind) {
    const char* form = "Ename n+ n- nc+ nc- GAIN";
    element.kind = kind;
    if (read_nonlinear_source(*this)) return;
    nodes(4, form);
    element.value = value_at(5, "gain", form);
    // A voltage is the same of any number of sources in parallel.
    if (kind == ElementKind::vccs) element.value *= parallel();
    if (kind == ElementKind::vcvs && multiplier != 1) fail(5, "m of a voltage source is not simulated");
    add();
  }

  void by_current(ElementKind kind) {
    const char* form = "Fname n+ n- VSOURCE GAIN";
    element.kind = kind;
    if (read_nonlinear_source(*this)) return;
    nodes(2, form);
    if (card.size() < 4) fail(3, fmt::format("words are missing: {}", form));
    element.value = value_at(4, "gain", form);
    // The source that controls it stands in the same instance: its current is that of all instances in parallel.
    element.value *= kind == ElementKind::cccs ? multiplier : 1 / context.instances;
    if (kind == ElementKind::ccvs && multiplier != 1) fail(4, "m of a voltage source is not simulated");
    context.controlled_by(card[3], -1);
    add();
  }
};

}  // namespace

double thermal_voltage_V(double celsius) {
  constexpr double kStandard_C = 27;  // of kSpiceThermal_V
  if (celsius == kStandard_C) return kSpiceThermal_V;
  return kSpiceThermal_V * (celsius + zero_celsius_K) / (kStandard_C + zero_celsius_K);
}

double celsius_of(double thermal_V) { return thermal_V / kSpiceThermal_V * (27 + zero_celsius_K) - zero_celsius_K; }

double above_zero_kelvin(double celsius, const Place& place) {
  if (!(celsius > -zero_celsius_K && std::isfinite(celsius)))
    refuse(place, fmt::format("{:g} °C must be above 0 K", celsius));
  return celsius;
}

void read_element(const Card& card, const CardContext& context) { PlainCard(card, context).read(); }

}  // namespace nudge
