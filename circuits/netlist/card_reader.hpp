// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

/// UserError "file:line:column: what".
[[noreturn]] void refuse(const Place& place, const std::string& what);

/// A word of a card: in lower case, as it was written, or "=". An expression in {} or '' is one word without these marks.
struct Word {
  std::string text;  ///< in lower case
  std::string raw;   ///< as written
  Place place;
  bool expression = false;  ///< stood in {} or ''
};

/// A card of a netlist: an element or a command with its words, continuation lines joined.
using Card = std::vector<Word>;

/// Text of an included file: its name as written, and the file that includes it. What it throws is passed on.
using ReadInclude = std::function<std::string(const std::string& name, const std::string& from, std::string& path)>;

struct CardList {
  std::string title;
  std::vector<Card> cards;
};

/// The cards of a netlist in ngspice's dialect. The first line is the title; lines that begin with * are comments, as is what follows
/// ; or // or "$ "; + continues a card; blanks, commas and parentheses separate words, but in .param, whose words blanks and =
/// separate; .include FILE (.inc) is replaced by what the file has; .control … .endc is left out; .end ends. UserError with the place of a
/// broken rule, and for files that include each other.
CardList read_cards(const std::string& name, const std::string& text, const ReadInclude& include);

/// A number of SPICE: digits with an optional exponent, then a factor T G MEG K MIL M U N P F (in any case), then letters that count
/// for nothing ("10kOhm", "5V", "100nF"). False: the text does not begin with a number or goes on with something else. `used` is
/// how many characters the number and its letters have.
bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used);

/// The value of a parameter; throws where there is none of that name.
using LookUp = std::function<double(const std::string& name, const Place& place)>;

/// The value of an expression: numbers of SPICE, parameters, + - * / ^ **, comparisons, && || !, c ? a : b, and the functions abs, sqrt,
/// exp, ln, log (natural, as in ngspice), log10, pow, min, max, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, floor, ceil, int,
/// sgn. UserError at the place of what is wrong; the value is finite.
double evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up);

/// A value that is assigned to a name: "name = word".
struct Assignment {
  Word name;
  Word value;
};

/// "a = 1 b = {2*a}" from word number `first` on. UserError where a name or a value is missing.
std::vector<Assignment> assignments(const Card& card, std::size_t first);

/// The parameters of a netlist or of one instance of a .subckt. Their order does not matter: each is evaluated when it is asked for.
/// What a scope has not it asks of its parent.
class ParameterScope {
 public:
  explicit ParameterScope(ParameterScope* parent = nullptr) : parent_(parent) {}
  ParameterScope(const ParameterScope&) = delete;
  ParameterScope& operator=(const ParameterScope&) = delete;

  /// To be evaluated here; UserError where the name is defined here already, but for what set() has fixed.
  void define(const Assignment& parameter);
  void set(const std::string& name, double value) { values_[name] = value; }

  /// UserError for an unknown name and for parameters that need each other.
  double value(const std::string& name, const Place& place);

  /// The number of a word: a number of SPICE, or an expression in {} or ''.
  double number(const Word& word);
  /// Of the value of an assignment, where marks may be left out.
  double assigned(const Word& word);

 private:
  std::vector<std::string> names() const;

  ParameterScope* parent_;
  std::map<std::string, Word> pending_;
  std::map<std::string, double> values_;
  std::vector<std::string> asked_;
};

// Private to circuits/netlist: cards of elements and of models.

/// A .model card: its parameters are numbers of the scope that it stands in.
struct ModelCard {
  std::string type;  ///< "d", "nmos", "pmos"
  std::map<std::string, double> values;
  Place place;
};

/// The card ".model NAME TYPE (name=value …)". UserError for a type or a parameter that is not simulated.
ModelCard read_model(const Card& card, ParameterScope& scope);

/// What an element card is read with.
struct CardContext {
  ParameterScope& scope;
  std::function<int(const Word& name)> node;                ///< number of a node
  std::function<const ModelCard&(const Word& name)> model;  ///< UserError for an unknown one
  std::function<int(const std::string& name)> new_node;     ///< one that no card names
  std::function<void(Element element)> add;
  /// The voltage source that controls the element, a word to be looked up when all are known.
  std::function<void(const Word& source)> controlled_by;
  std::string prefix;  ///< of the instance, "x1."
  double thermal_V;    ///< kT/q
};

/// Adds the element of a card whose first letter says what it is, X excepted. UserError naming the place.
void read_element(const Card& card, const CardContext& context);

}  // namespace nudge
