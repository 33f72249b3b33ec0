// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "netlist/card_reader.hpp"
#include "netlist/expression.hpp"

namespace nudge {

/// Function of expressions, ".func f(x, y) {…}".
struct ParameterFunction {
  std::string name;
  std::vector<std::string> arguments;
  Word body;
};

/// Reads the card ".func f(x, y) {…}", also with = before the body.
ParameterFunction read_function(const Card& card);

/// Parameters of a netlist or of one instance of a .subckt, as ngspice 39 looks them up (numparam's stack of symbols). A scope asks the
/// instance that it stands in for what it lacks, and so on up to the netlist. Functions are looked up where they are written: in the .subckt,
/// in the one around it, in the netlist. The parameters in their bodies belong to the place that calls them. The order of definitions does
/// not matter: each is evaluated when it is asked for, in its own scope; of two, the last counts.
class ParameterScope {
 public:
  ParameterScope() = default;
  /// Makes the scope of an instance in `caller`, of a .subckt whose cards stand within the cards of `around`.
  ParameterScope(ParameterScope& caller, ParameterScope& around) : caller_(&caller), around_(&around) {}
  ParameterScope(const ParameterScope&) = delete;
  ParameterScope& operator=(const ParameterScope&) = delete;

  /// Defines a parameter that is evaluated in this scope; its own name in its value is the caller's. A value fixed by set() stays. True if
  /// it replaces another definition.
  bool define(const Assignment& parameter);
  void define(ParameterFunction function);
  void set(const std::string& name, double value) { values_[name] = value; }

  bool has(const std::string& name) const;
  /// Value of a parameter. UserError for an unknown name and for parameters that need each other.
  double value(const std::string& name, const Place& place);

  /// Number that a word stands for: a number of SPICE, an expression in {} or '', or a parameter's name.
  double number(const Word& word);
  /// Number that the value of an assignment stands for; the marks {} or '' may be left out.
  double assigned(const Word& word);
  /// Value of an argument of an instance that stands in this scope, a number or an expression.
  double argument(const Word& word);
  /// True if a value names one of `names`, parameters of a .subckt, that this scope does not have: xschem writes ad='W/nf*0.29'.
  bool lacks(const Word& value, const std::vector<std::string>& names) const;
  /// Value of an assignment with the parameters of `inner`, an instance within this one, but for the name `own`.
  double assigned_within(const Word& word, const std::string& own, ParameterScope& inner);
  /// Makes an expression of the circuit's quantities into operations of the builder's formula.
  Operand built(const Word& word, FormulaBuilder& builder);

 private:
  std::vector<std::string> names() const;
  Operand evaluated(const Word& word, const LookUp& look_up, FormulaBuilder* builder = nullptr);
  bool call(const ParameterScope* from, const FunctionUse& use, FormulaBuilder* builder, Operand& value);

  ParameterScope *caller_ = nullptr, *around_ = nullptr;
  std::map<std::string, Word> pending_;
  std::map<std::string, double> values_;
  std::map<std::string, ParameterFunction> functions_;
  std::vector<std::string> asked_;
  int depth_ = 0, calls_ = 0;  ///< of functions, in the expression that is being evaluated
};

}  // namespace nudge
