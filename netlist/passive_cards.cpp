// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

#include "netlist/element_card.hpp"

namespace nudge {
namespace {

/// What LTspice says of a part that is bought: its tolerance, ratings and names.
const std::set<std::string> kOfBoughtPart = {"tol", "pwr", "irms", "ipk", "v", "mfg", "pn", "type"};

/// Reads a resistor, capacitor or inductor.
class PassiveCard {
 public:
  explicit PassiveCard(ElementCard& of) : of_(of), letter_(of.card.front().text.front()) {
    form_ = fmt::format("{}name n1 n2 VALUE [MODEL] [m= tc1= tc2= temp= dtemp= scale=]",
                        static_cast<char>(std::toupper(static_cast<unsigned char>(letter_))));
  }

  void read() {
    of_.nodes(2, form_.c_str());
    const double value = thermal_value();
    Element& e = of_.element;
    if (letter_ == 'c') {
      e.kind = ElementKind::capacitor;
      e.value = value * of_.parallel();
    } else {
      e.kind = letter_ == 'r' ? ElementKind::resistor : ElementKind::inductor;
      e.value = value / of_.parallel();
    }
    if (letter_ == 'r' && e.value == 0)
      of_.fail(3, "a resistance of 0 (take a voltage source of 0 V, or leave it out)");
    if (!std::isfinite(e.value)) of_.fail(3, "its value is not finite");
    if (letter_ == 'l' && !(e.value > 0)) of_.fail(3, fmt::format("an inductance of {:g} H (must be > 0)", e.value));
    of_.add();
  }

 private:
  bool plain(std::size_t at) const { return at < of_.card.size() && !assigns(of_.card, at); }
  bool is_model(std::size_t at) const {
    return plain(at) && of_.context.has_model(of_.card[at]) && !of_.context.scope.has(of_.card[at].text);
  }

  void read_model_at(std::size_t at) {
    model_ = &of_.context.model(of_.card[at]);
    const char* other = letter_ == 'r' ? "res" : letter_ == 'c' ? "cap" : "ind";
    if (model_->type != std::string(1, letter_) && model_->type != other)
      of_.fail(at, fmt::format("its model {} is {} (must be {})", of_.card[at].raw, model_->type, other));
    linear_ = model_->at("tc1", 0);
    square_ = model_->at("tc2", 0);
    nominal_C_ = model_->at("tnom", nominal_C_);
  }

  /// Reads one setting; false: another name.
  bool take(const Assignment& one) {
    const std::string& what = one.name.text;
    if (kOfBoughtPart.count(what) > 0) return true;
    if (what == std::string(1, letter_) && !value_) {
      value_ = of_.number(one.value);
      return true;
    }
    if (take_parasitic(of_, one)) return true;
    const std::set<std::string> known = {"tc1", "tc2", "tc", "temp", "dtemp", "scale", "ac", "l", "w"};
    if (known.count(what) == 0) return false;
    const double number = of_.context.scope.number(one.value);
    if (what == "tc1" || what == "tc") linear_ = number;
    if (what == "tc2") square_ = number;
    if (what == "temp") celsius_ = above_zero_kelvin(number, one.value.place);
    if (what == "dtemp") celsius_ = above_zero_kelvin(of_.context.options.celsius + number, one.value.place);
    if (what == "scale") scale_ = number;
    if (what == "l") length_m_ = number;
    if (what == "w") width_m_ = number;
    return true;
  }

  /// Value that a model gives: of its sheet, R = RSH (L − 2 SHORT)/(W − 2 NARROW), or C = CJ A + CJSW P of a plate with the sides L − SHORT and
  /// W − NARROW, as ngspice 39 has them; else its own.
  std::optional<double> by_model() const {
    if (model_ == nullptr) return {};
    const double sides = letter_ == 'r' ? 2 : 1, sheet = model_->at("rsh", 0), bottom = model_->at("cj", 0);
    const double length = length_m_ - sides * model_->at("short", 0), edge = model_->at("cjsw", 0);
    const double width = (width_m_ > 0 ? width_m_ : model_->at("defw", 1e-5)) - sides * model_->at("narrow", 0);
    const bool drawn = length > 0 && width > 0;
    if (drawn && letter_ == 'r' && sheet > 0) return sheet * length / width;
    if (drawn && letter_ == 'c' && bottom + edge > 0) return bottom * length * width + 2 * edge * (length + width);
    double own = 0;
    if (letter_ == 'r') own = model_->at("r", model_->at("res", 0));
    if (letter_ == 'c') own = model_->at("cap", 0);
    return own > 0 ? std::optional(own) : std::nullopt;
  }

  /// Value at its temperature, times 1 + TC1 (T − TNOM) + TC2 (T − TNOM)² (ngspice manual, "Resistors").
  double thermal_value() {
    celsius_ = of_.context.options.celsius;
    nominal_C_ = of_.context.options.nominal_C;
    std::size_t at = 3;
    if (plain(at) && !is_model(at)) value_ = of_.number(of_.card[at++]);
    if (is_model(at)) read_model_at(at++);
    of_.settings(at, form_.c_str(), [this](const Assignment& one) { return take(one); });
    if (!value_) value_ = by_model();
    if (!value_) of_.fail(3, fmt::format("its value is missing: {}", form_));
    const double change = celsius_ - nominal_C_;
    return *value_ * scale_ * (1 + linear_ * change + square_ * change * change);
  }

  ElementCard& of_;
  char letter_;
  std::string form_;
  const ModelCard* model_ = nullptr;
  std::optional<double> value_;
  double linear_ = 0, square_ = 0, celsius_ = 0, nominal_C_ = 0, scale_ = 1;
  double length_m_ = 0, width_m_ = 0;
};

}  // namespace

void read_passive(ElementCard& card) { PassiveCard(card).read(); }

bool take_parasitic(ElementCard& card, const Assignment& one) {
  double ElementCard::Parasitics::*const parts[] = {
      &ElementCard::Parasitics::series_Ohm, &ElementCard::Parasitics::series_H, &ElementCard::Parasitics::parallel_Ohm,
      &ElementCard::Parasitics::parallel_F};
  const char* const names[] = {"rser", "lser", "rpar", "cpar"};
  for (std::size_t k = 0; k < std::size(names); ++k) {
    if (one.name.text != names[k]) continue;
    const double value = card.number(one.value);
    if (!(value >= 0 && std::isfinite(value)))
      refuse(one.value.place, fmt::format("{}: {} = {:g} (must be >= 0)", card.card.front().raw, one.name.raw, value));
    card.parasitics.*parts[k] = value;
    return true;
  }
  return false;
}

void ElementCard::add() {
  const auto part = [this](const char* name, ElementKind kind, double value, int from, int to) {
    Element made;
    made.name = element.name + name;
    made.place = element.place;
    made.kind = kind;
    made.nodes = {from, to};
    made.value = value;
    context.add(std::move(made));
  };
  const double n = parallel();
  const int outer = element.nodes.empty() ? kGround : element.nodes[0];
  const auto in_series = [&](const char* name, ElementKind kind, double value) {
    const int inner = context.new_node(element.name + name + "#inner");
    part(name, kind, value / n, element.nodes[0], inner);
    element.nodes[0] = inner;
  };
  if (parasitics.parallel_Ohm > 0)
    part("#rpar", ElementKind::resistor, parasitics.parallel_Ohm / n, outer, element.nodes[1]);
  if (parasitics.parallel_F > 0)
    part("#cpar", ElementKind::capacitor, parasitics.parallel_F * n, outer, element.nodes[1]);
  if (parasitics.series_Ohm > 0) in_series("#rser", ElementKind::resistor, parasitics.series_Ohm);
  if (parasitics.series_H > 0) in_series("#lser", ElementKind::inductor, parasitics.series_H);
  context.add(std::move(element));
}

}  // namespace nudge
