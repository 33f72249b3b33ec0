// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "netlist/element_card.hpp"

namespace nudge {
namespace {

/// Makes the formula of a source from expressions of its card.
class FormulaCard {
 public:
  explicit FormulaCard(ElementCard& of) : of_(of) {
    builder_.quantity = [this](char kind, const std::vector<std::string>& words, const Place& place) {
      std::vector<Word> names;
      for (const std::string& word : words) names.push_back({word, word, place});
      return kind == 'v' ? voltage(of_.context.node(names[0]), words.size() > 1 ? of_.context.node(names[1]) : kGround)
                         : current(names[0]);
    };
  }

  /// Voltage between two nodes, as an operand.
  Operand voltage(int plus, int minus) {
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (pairs_[k].plus == plus && pairs_[k].minus == minus) return pairs_[k].operand;
    }
    of_.element.nodes.insert(of_.element.nodes.end(), {plus, minus});
    pairs_.push_back({plus, minus, input(static_cast<int>(pairs_.size()))});
    return pairs_.back().operand;
  }

  /// Current of a voltage source: where the instance stands for several, that of one.
  Operand current(const Word& source) {
    for (const Source& one : sources_) {
      if (one.name == source.text) return one.operand;
    }
    of_.context.controlled_by(source, static_cast<int>(sources_.size()));
    const Operand all = input(-1 - static_cast<int>(sources_.size()));
    const Operand operand = of_.context.instances == 1 ? all : combine("/", all, of_.context.instances);
    sources_.push_back({source.text, operand});
    return operand;
  }

  Operand combine(const char* symbol, const Operand& a, const Operand& b) {
    return apply(operator_of(symbol, true), {a, b});
  }
  Operand apply(const FormulaFunction& function, const std::vector<Operand>& operands) {
    Operand result;
    if (!builder_.formula.apply(function, operands, result)) of_.fail(0, "its expression is too long");
    return result;
  }

  Operand expression(const Word& word) { return of_.context.scope.built(word, builder_); }

  /// Adds the source: v₊ − v₋ = y, or the current y. One with a linear formula of one voltage or of none is a plain source.
  void finish(bool voltage, Operand y) {
    Element& e = of_.element;
    if (voltage && of_.multiplier != 1) of_.fail(0, "m of a voltage source is not simulated");
    if (!voltage && of_.parallel() != 1) y = combine("*", y, of_.parallel());
    builder_.formula.set_result(y);
    const auto linear = builder_.formula.linear();
    const std::size_t inputs = inputs_.size();
    if (linear && inputs == 0) {
      e.kind = voltage ? ElementKind::voltage : ElementKind::current;
      e.value = linear->front();
    } else if (linear && inputs == 1 && inputs_[0] == 0 && linear->front() == 0) {
      e.kind = voltage ? ElementKind::vcvs : ElementKind::vccs;
      e.value = linear->back();
    } else {
      e.kind = voltage ? ElementKind::formula_voltage : ElementKind::formula_current;
      e.formula = std::make_shared<const FormulaLaw>(
          FormulaLaw{std::move(builder_.formula), std::move(inputs_), std::move(switched)});
    }
    if (e.formula == nullptr && !std::isfinite(e.value)) of_.fail(0, "its value is not finite");
    of_.add();
  }

  int inputs() const { return static_cast<int>(inputs_.size()); }
  /// Number of an operand among the inputs.
  int input_of(const Operand& operand) const {
    const auto same = [&](const Operand& one) { return one.operation == operand.operation; };
    return static_cast<int>(std::find_if(operands_.begin(), operands_.end(), same) - operands_.begin());
  }

  std::shared_ptr<const SwitchLaw> switched;  ///< of a switch

 private:
  struct Pair {
    int plus, minus;
    Operand operand;
  };
  struct Source {
    std::string name;
    Operand operand;
  };
  Operand input(int which) {
    inputs_.push_back(which);
    operands_.push_back(builder_.formula.variable(static_cast<int>(inputs_.size()) - 1));
    return operands_.back();
  }

  ElementCard& of_;
  FormulaBuilder builder_;
  std::vector<int> inputs_;
  std::vector<Operand> operands_;  ///< of the inputs
  std::vector<Pair> pairs_;
  std::vector<Source> sources_;
};

/// Σ p_k Π x, the products in SPICE's order: 1, a, b, a², ab, b², a³, … (ngspice manual, "POLY").
Operand polynomial(FormulaCard& made, const std::vector<Operand>& x, const std::vector<double>& p) {
  std::vector<std::size_t> factors;  // ascending
  Operand sum = p.front();
  for (std::size_t k = 1; k < p.size(); ++k) {
    std::size_t last = factors.size();
    while (last > 0 && factors[last - 1] + 1 == x.size()) --last;
    if (last == 0) {
      factors.assign(factors.size() + 1, 0);
    } else {
      std::fill(factors.begin() + static_cast<std::ptrdiff_t>(last) - 1, factors.end(), factors[last - 1] + 1);
    }
    Operand product = p[k];
    for (const std::size_t of : factors) product = made.combine("*", product, x[of]);
    if (p[k] != 0) sum = made.combine("+", sum, product);
  }
  return sum;
}

constexpr int kMostDimensions = 100;

/// Reads "POLY(n) controls p0 p1 …" from word 3 on.
void read_poly(ElementCard& of, bool voltage, bool by_current) {
  FormulaCard made(of);
  const double count = of.card.size() > 4 ? of.number(of.card[4]) : 0;
  if (!(count >= 1 && count <= kMostDimensions && count == std::floor(count)))
    of.fail(4, "POLY takes a count of controls: POLY(2)");
  const auto n = static_cast<std::size_t>(count), per = static_cast<std::size_t>(by_current ? 1 : 2);
  const std::size_t first = 5 + n * per;
  if (of.card.size() <= first) of.fail(of.card.size(), "POLY: controls or coefficients are missing");
  std::vector<Operand> x;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t at = 5 + k * per;
    x.push_back(by_current ? made.current(of.card[at])
                           : made.voltage(of.context.node(of.card[at]), of.context.node(of.card[at + 1])));
  }
  std::vector<double> p;
  std::size_t at = first;
  while (at < of.card.size() && !assigns(of.card, at)) p.push_back(of.number(of.card[at++]));
  of.settings(at, "POLY(n) controls p0 p1 …", ElementCard::take_none);
  made.finish(voltage, polynomial(made, x, p));
}

/// Adds a source with a table: its points stand from word `from` on.
void finish_table(ElementCard& of, FormulaCard& made, bool voltage, const Operand& x, std::size_t from) {
  std::vector<Operand> points = {x};
  for (std::size_t k = from; k < of.card.size(); ++k) points.emplace_back(of.number(of.card[k]));
  for (std::size_t k = 3; k < points.size(); k += 2) {
    if (!(points[k].value > points[k - 2].value)) of.fail(from - 1 + k, "the first numbers of a TABLE must rise");
  }
  made.finish(voltage, made.apply(*find_function("table", true), points));
}

/// Reads "TABLE {expression} = (x1, y1) (x2, y2) …" from word 3 on.
void read_table(ElementCard& of, bool voltage) {
  FormulaCard made(of);
  if (of.card.size() < 10 || of.card.size() % 2 == 1 || of.card[5].text != "=")
    of.fail(3, "TABLE {expression} = (x1, y1) (x2, y2) … is expected, two points or more");
  finish_table(of, made, voltage, made.expression(of.card[4]), 6);
}

/// Reads LTspice's "nc+ nc- TABLE=(x1, y1, x2, y2, …)" from word 3 on.
void read_control_table(ElementCard& of, bool voltage) {
  if (of.card.size() < 11 || of.card.size() % 2 == 0)
    of.fail(5, "TABLE=(x1, y1, x2, y2, …) is expected, two points or more");
  FormulaCard made(of);
  finish_table(of, made, voltage, made.voltage(of.context.node(of.card[3]), of.context.node(of.card[4])), 7);
}

}  // namespace

void read_behavioural(ElementCard& of) {
  const char* form = "Bname n+ n- v={expression} or i={expression} [m=]";
  of.nodes(2, form);
  FormulaCard made(of);
  std::optional<Assignment> law;
  for (const Assignment& one : open_assignments(of.card, 3)) {
    const std::string& name = one.name.text;
    if ((name == "v" || name == "i") && !law) {
      law = one;
    } else if (name == "m") {
      of.setting(one, form, ElementCard::take_none);
    } else {
      refuse(one.name.place, fmt::format("{}: {} is not simulated: {}", of.card.front().raw, one.name.raw, form));
    }
  }
  if (!law) of.fail(3, fmt::format("its expression is missing: {}", form));
  made.finish(law->name.text == "v", made.expression(law->value));
}

bool read_nonlinear_source(ElementCard& of) {
  const char letter = of.card.front().text.front();
  const bool voltage = letter == 'e' || letter == 'h', by_current = letter == 'f' || letter == 'h';
  if (of.card.size() < 5) return false;
  const std::string& word = of.card[3].text;
  if (word == "laplace") of.fail(3, "LAPLACE is not simulated");
  if (!by_current && of.card[4].text != "=" && assigns(of.card, 5) &&
      (of.card[5].text == "table" || of.card[5].text == "tbl")) {
    of.nodes(2, "Ename n+ n- nc+ nc- TABLE=(x1, y1, …)");
    read_control_table(of, voltage);
    return true;
  }
  const bool expression = !by_current && (word == "value" || word == (voltage ? "vol" : "cur"));
  if (!expression && word != "poly" && (by_current || word != "table")) return false;
  of.nodes(2, "Ename n+ n- VALUE={expression}");
  if (word == "poly") {
    read_poly(of, voltage, by_current);
  } else if (word == "table") {
    read_table(of, voltage);
  } else {
    FormulaCard made(of);
    const std::size_t at = of.card[4].text == "=" ? 5 : 4;
    if (at >= of.card.size() || !of.card[at].expression)
      of.fail(at, fmt::format("{} takes an expression in braces: {}={{…}}", of.card[3].raw, of.card[3].raw));
    of.settings(at + 1, "Ename n+ n- VALUE={expression} [m=]", ElementCard::take_none);
    made.finish(voltage, made.expression(of.card[at]));
  }
  return true;
}

void read_switch(ElementCard& of) {
  const bool by_current = of.card.front().text.front() == 'w';
  const char* form = by_current ? "Wname n+ n- VSOURCE MODEL [ON]" : "Sname n+ n- nc+ nc- MODEL [ON]";
  const std::size_t at = by_current ? 4 : 5;
  of.nodes(2, form);
  if (of.card.size() <= at) of.fail(at, fmt::format("its model is missing: {}", form));
  const ModelCard& model = of.context.model(of.card[at]);
  if (model.type != (by_current ? "csw" : "sw"))
    of.fail(at, fmt::format("its model {} is {} (must be {})", of.card[at].raw, model.type, by_current ? "CSW" : "SW"));
  const bool on = of.card.size() > at + 1 && of.card[at + 1].text == "on";
  of.settings(on ? at + 2 : at + 1, form, ElementCard::take_none);
  FormulaCard made(of);
  const Operand across = made.voltage(of.element.nodes[0], of.element.nodes[1]);
  const Operand control =
      by_current ? made.current(of.card[3]) : made.voltage(of.context.node(of.card[3]), of.context.node(of.card[4]));
  const int input = by_current ? made.inputs() - 1 : made.input_of(control);
  // Between the two thresholds a switch keeps its state: at rest the one that the card says, off where it says none.
  const double middle = model.at("vt", model.at("it", 0)), half = model.at("vh", model.at("ih", 0));
  const double on_S = 1 / model.at("ron", 1), off_S = 1 / model.at("roff", 1e12), n = of.parallel();
  const Operand closed = made.combine(">=", control, on ? middle - half : middle + half);
  const Operand siemens = made.apply(*find_function("ternary_fcn", true), {closed, on_S, off_S});
  const double share = by_current ? 1 / of.context.instances : 1;
  made.switched =
      std::make_shared<const SwitchLaw>(SwitchLaw{middle + half, middle - half, n * on_S, n * off_S, on, share, input});
  made.finish(false, made.combine("*", siemens, across));
}

}  // namespace nudge
