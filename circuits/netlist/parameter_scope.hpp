// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "circuits/netlist/card_reader.hpp"

namespace nudge {

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

}  // namespace nudge
