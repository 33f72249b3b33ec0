// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Throws UserError "file:line:column: what".
[[noreturn]] void refuse(const Place& place, const std::string& what);

/// Word of a card: in lower case, as it was written, or "=". An expression in {} or '' is one word without these marks.
struct Word {
  std::string text;  ///< word in lower case
  std::string raw;   ///< word as written
  Place place;
  bool expression = false;  ///< true if it stood in {} or ''
};

/// A card of a netlist: an element or a command with its words, continuation lines joined.
using Card = std::vector<Word>;

/// Function that gives the text of an included file: its name as written, and the file that includes it. Its exceptions are passed on.
using ReadInclude = std::function<std::string(const std::string& name, const std::string& from, std::string& path)>;

struct CardList {
  std::string title;
  std::vector<Card> cards;
};

/// Cards of a netlist in ngspice's dialect. The first line is the title. Lines that begin with * are comments, as is the rest
/// of a line after ; or // or "$ ". + continues a card. Blanks, commas and parentheses separate words; in .param only blanks
/// and = do. .include FILE (.inc) is replaced by the file's text; .control … .endc is left out; .end ends. UserError with the
/// place of a broken rule, and for files that include each other.
CardList read_cards(const std::string& name, const std::string& text, const ReadInclude& include);

/// Reads a number of SPICE: digits with an optional exponent, then a factor T G MEG K MIL M U N P F (in any case), then
/// letters that are ignored ("10kOhm", "5V", "100nF"). False: the text does not begin with a number or goes on with something
/// else. `used` is the count of characters in the number and its letters.
bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used);

/// Function that gives the value of a parameter; throws if there is none of that name.
using LookUp = std::function<double(const std::string& name, const Place& place)>;

/// Value of an expression: numbers of SPICE, parameters, + - * / ^ **, comparisons, && || !, c ? a : b, and the functions
/// abs, sqrt, exp, ln, log (natural, as in ngspice), log10, pow, min, max, sin, cos, tan, asin, acos, atan, atan2, sinh,
/// cosh, tanh, floor, ceil, int, sgn. UserError at the place of an error; the value is finite.
double evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up);

/// Assignment of a value to a name: "name = word".
struct Assignment {
  Word name;
  Word value;
};

/// Assignments "a = 1 b = {2*a}" from word number `first` on. UserError where a name or a value is missing.
std::vector<Assignment> assignments(const Card& card, std::size_t first);

/// Parameters of a netlist or of one instance of a .subckt. Their order does not matter: each is evaluated when it is asked
/// for. A scope asks its parent for parameters that it does not have.
class ParameterScope {
 public:
  explicit ParameterScope(ParameterScope* parent = nullptr) : parent_(parent) {}
  ParameterScope(const ParameterScope&) = delete;
  ParameterScope& operator=(const ParameterScope&) = delete;

  /// Defines a parameter that is evaluated in this scope. UserError if the name is defined here already; a value fixed by set() stays.
  void define(const Assignment& parameter);
  void set(const std::string& name, double value) { values_[name] = value; }

  /// Value of a parameter. UserError for an unknown name and for parameters that need each other.
  double value(const std::string& name, const Place& place);

  /// Number that a word stands for: a number of SPICE, or an expression in {} or ''.
  double number(const Word& word);
  /// Number that the value of an assignment stands for; the marks {} or '' may be left out.
  double assigned(const Word& word);

 private:
  std::vector<std::string> names() const;

  ParameterScope* parent_;
  std::map<std::string, Word> pending_;
  std::map<std::string, double> values_;
  std::vector<std::string> asked_;
};

// Private to netlist/: cards of elements and of models.

/// Model of a .model card: its parameters are numbers of the scope that it stands in.
struct ModelCard {
  std::string type;  ///< "d", "nmos", "pmos"
  std::map<std::string, double> values;
  Place place;
};

/// Reads the card ".model NAME TYPE (name=value …)". UserError for a type or a parameter that is not simulated.
ModelCard read_model(const Card& card, ParameterScope& scope);

/// Functions with which an element card is read.
struct CardContext {
  ParameterScope& scope;
  std::function<int(const Word& name)> node;                ///< number of a node
  std::function<const ModelCard&(const Word& name)> model;  ///< model of that name; UserError for an unknown one
  std::function<int(const std::string& name)> new_node;     ///< number of a new node that no card names
  std::function<void(Element element)> add;
  /// Sets the voltage source that controls the element, a word to be looked up when all sources are known.
  std::function<void(const Word& source)> controlled_by;
  std::string prefix;  ///< prefix of the instance, "x1."
  double thermal_V;    ///< kT/q
};

/// Adds the element of a card; its first letter tells the kind, X excepted. UserError naming the place.
void read_element(const Card& card, const CardContext& context);

}  // namespace nudge
