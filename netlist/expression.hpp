// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "netlist/formula.hpp"
#include "netlist/netlist.hpp"

namespace nudge {

/// Reads a number of SPICE ("10kOhm", "5V", "100nF", "4.7kΩ"): digits with an optional exponent, a factor, and letters that are ignored.
/// Factors are T G MEG K MIL M U µ N P F in any case. False: the text does not begin with a number or goes on with something else.
/// `used` is the count of bytes in the number and its letters.
bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used);

/// Function that gives the value of a parameter; throws if there is none of that name.
using LookUp = std::function<Operand(const std::string& name, const Place& place)>;

/// Use of a function in an expression.
struct FunctionUse {
  std::string name;
  std::vector<Operand> values;  ///< values of its arguments
  Place place;
};

/// Function that gives the value of a user's function; false: there is none of that name.
using UserFunction = std::function<bool(const FunctionUse& use, Operand& value)>;

/// Function that gives a quantity of the circuit, "v(a, b)" or "i(v1)": its name, v or i, and the words between its parentheses.
using CircuitQuantity = std::function<Operand(char kind, const std::vector<std::string>& words, const Place& place)>;

/// Builder of the formula that an expression of the circuit's quantities stands for. Constants are folded as they are read.
struct FormulaBuilder {
  Formula formula;
  CircuitQuantity quantity;
};

/// Value of an expression: numbers of SPICE, parameters, + - * / ^ **, comparisons, && || !, c ? a : b, and functions of the user.
/// netlist/formula.cpp has the table of the functions that are known. With a `builder` the expression belongs to a B source of ngspice:
/// v() and i() are quantities of the circuit. There ^, ** and pow() take the magnitude of their base, and pwr() its sign too. The value
/// may then be an operation of the builder's formula. UserError at the place of an error; a constant is finite.
Operand evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up,
                            const UserFunction& user = {}, FormulaBuilder* builder = nullptr);

/// Text of an error, "f() takes 2 arguments, not 3".
std::string argument_count_text(const std::string& function, std::size_t takes, std::size_t given);

}  // namespace nudge
