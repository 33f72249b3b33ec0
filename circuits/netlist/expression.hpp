// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

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

}  // namespace nudge
