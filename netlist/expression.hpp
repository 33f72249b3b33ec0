// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Reads a number of SPICE ("10kOhm", "5V", "100nF", "4.7kΩ"): digits with an optional exponent, a factor, and letters that are ignored.
/// Factors are T G MEG K MIL M U µ N P F in any case. False: the text does not begin with a number or goes on with something else.
/// `used` is the count of bytes in the number and its letters.
bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used);

/// Function that gives the value of a parameter; throws if there is none of that name.
using LookUp = std::function<double(const std::string& name, const Place& place)>;

/// Use of a function in an expression.
struct FunctionUse {
  std::string name;
  std::vector<double> values;  ///< values of its arguments
  Place place;
};

/// Function that gives the value of a user's function; false: there is none of that name.
using UserFunction = std::function<bool(const FunctionUse& use, double& value)>;

/// Value of an expression: numbers of SPICE, parameters, + - * / ^ **, comparisons, && || !, c ? a : b, and functions of the user.
/// Known functions: abs, sqrt, exp, ln, log (natural, as in ngspice), log10, pow, pwr (of the magnitude). Also min, max, sin, cos, tan, asin, acos, atan,
/// atan2, sinh, cosh, tanh, asinh, acosh, atanh, floor, ceil, int, nint, sgn, ternary_fcn.
/// UserError at the place of an error; the value is finite.
double evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up,
                           const UserFunction& user = {});

/// Text of an error, "f() takes 2 arguments, not 3".
std::string argument_count_text(const std::string& function, std::size_t takes, std::size_t given);

}  // namespace nudge
